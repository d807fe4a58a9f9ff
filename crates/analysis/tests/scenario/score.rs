//! Precision and recall of labels.

use assay_analysis::attribution::{Cause, ObservedCell, RatePhase, phases, throttling};

use super::{Label, Scenario, Truth};

/// Tally of one label.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub right: usize,
    pub false_label: usize,
    pub missed: usize,
    /// Seconds off, of those that are right.
    pub onset_off_s: Vec<f64>,
    /// Share off, of those that have a size.
    pub size_off: Vec<f64>,
    /// Percentage points off, of those that have a duty.
    pub duty_off: Vec<f64>,
}

impl Tally {
    pub fn join(&mut self, other: &Tally) {
        self.right += other.right;
        self.false_label += other.false_label;
        self.missed += other.missed;
        self.onset_off_s.extend(&other.onset_off_s);
        self.size_off.extend(&other.size_off);
        self.duty_off.extend(&other.duty_off);
    }

    pub fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.false_label).max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }
}

fn label_of(cause: &Cause) -> Option<Label> {
    match cause {
        Cause::Fresh => Some(Label::Fresh),
        Cause::SlcCacheExhausted { .. } => Some(Label::Slc),
        Cause::GcOnset | Cause::GcSteady { .. } => Some(Label::Collection),
        Cause::ThermalThrottling { .. } => Some(Label::Thermal),
        Cause::PowerLimited { .. } => Some(Label::Power),
        Cause::HostLimited => Some(Label::Host),
        Cause::RateLimited { .. } => Some(Label::Rate),
        Cause::Steady | Cause::Unexplained => None,
    }
}

/// Tolerance of an onset: some seconds, or a share of the time until then; more for gradual causes.
fn tolerance_s(truth: &Truth) -> f64 {
    match truth.label {
        Label::Collection => (truth.from_s * 0.25).max(10.0),
        // A state of the drive, not an event: it may become visible only after another cause ends.
        Label::Fresh => f64::MAX,
        _ => (truth.from_s * 0.1).max(4.0),
    }
}

/// Adds a scenario to the tallies (in [`Label::ALL`]'s order); `blind` excludes undetectable
/// causes. Returns the errors.
pub fn add(
    tallies: &mut [Tally; 7],
    scenario: &Scenario,
    observed: &ObservedCell,
    blind: bool,
) -> Option<String> {
    let mut wrong = String::new();
    let phases = &phases(observed);
    for (label, tally) in Label::ALL.into_iter().zip(tallies) {
        let truth = scenario.truths.iter().find(|truth| truth.label == label);
        let first = |label| {
            let of_label = |phase: &&RatePhase| label_of(&phase.cause) == Some(label);
            phases.iter().find(of_label)
        };
        let as_right = |truth: &Truth| first(truth.or?);
        let named = first(label).or_else(|| truth.and_then(as_right));
        let excused = scenario.truths.iter().filter(|t| t.or == Some(label));
        if truth.is_none() && excused.count() > 0 {
            continue;
        }
        // Without a power meter a power limit is not detectable, and a fresh drive under one is
        // still fresh.
        let powered = scenario.truths.iter().any(|truth| truth.label == Label::Power);
        let unseen = label == Label::Power || (powered && label == Label::Fresh);
        if blind && (unseen || truth.is_some_and(|truth| !truth.visible)) {
            continue;
        }
        if truth.is_some_and(|truth| truth.optional) {
            continue;
        }
        match (truth, named) {
            (None, None) => {}
            (Some(truth), Some(phase))
                if (phase.from_s - truth.from_s).abs() <= tolerance_s(truth) =>
            {
                tally.right += 1;
                tally.onset_off_s.push((phase.from_s - truth.from_s).abs());
                if let Cause::SlcCacheExhausted { cache_bytes } = phase.cause {
                    tally
                        .size_off
                        .push((cache_bytes as f64 / truth.cache_bytes as f64 - 1.0).abs());
                }
                if let Some((true_pct, hot)) = truth.duty_pct.zip(throttling(observed, phases)) {
                    tally.duty_off.push((hot.duty_pct - true_pct).abs());
                }
            }
            (truth, named) => {
                tally.missed += usize::from(truth.is_some());
                tally.false_label += usize::from(named.is_some());
                wrong += &format!(
                    " {label:?}: truth {:?}, named {:?};",
                    truth.map(|t| t.from_s),
                    named.map(|n| n.from_s)
                );
            }
        }
    }
    (!wrong.is_empty()).then(|| format!("{} {}:{wrong}", scenario.seed, scenario.name))
}

/// The tallies as a table.
pub fn table(title: &str, tallies: &[Tally; 7]) -> String {
    let mut out = format!(
        "{title}\n{:12} {:>6} {:>6} {:>6} {:>10} {:>7} {:>13} {:>9} {:>9}\n",
        "label",
        "right",
        "false",
        "missed",
        "precision",
        "recall",
        "onset off, s",
        "size off",
        "duty off"
    );
    for (label, tally) in Label::ALL.into_iter().zip(tallies) {
        let percent = |off: &[f64], scale: f64| match off.len() {
            0 => String::new(),
            _ => format!("{:.1} %", assay_stats::median(off) * scale),
        };
        out += &format!(
            "{:12} {:>6} {:>6} {:>6} {:>10.3} {:>7.3} {:>13.1} {:>9} {:>9}\n",
            format!("{label:?}"),
            tally.right,
            tally.false_label,
            tally.missed,
            tally.precision(),
            tally.recall(),
            assay_stats::median(&tally.onset_off_s),
            percent(&tally.size_off, 100.0),
            percent(&tally.duty_off, 1.0)
        );
    }
    out
}
