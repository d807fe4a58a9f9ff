//! Twins of drives whose truth is known: what a twin made from the cells of the suite `twin` says
//! of cells that were not measured. The truth is a simulated drive; its profile and those of its
//! family are not among the twin's starting points, so that no candidate has its structure.
//! `make predictions PART=twins` writes `reference/twins.csv`.

use std::sync::atomic::AtomicBool;

use assay_ssd::Profile;
use assay_units::median;

use assay_calibrate::CalibrateError;
use assay_calibrate::figure_kind::FigureKind;
use assay_calibrate::measurement::{
    AccessPattern, Measurement, ReferenceMetric, ReferenceWorkload, Role, Tolerance,
};
use assay_calibrate::run_folder::P99_TOLERANCE;
use assay_calibrate::twin::{Twin, TwinProgress, TwinSettings, twin};
use assay_calibrate::twin_cells::{TwinCell, half_width};
use assay_calibrate::{Effort, simulate};

/// Drives of the DragonFly NVMe tests and of AnandTech's, each with NAND and a cache of its own.
pub const TRUTHS: [&str; 8] = [
    "samsung-951",
    "samsung-960-evo",
    "wd-black",
    "mydigitalssd-bpx",
    "toshiba-rd400",
    "plextor-m8pe-g",
    "intel-p4510",
    "memblaze-pblaze5-c916",
];
/// Threads and I/Os in flight per thread of the suite's random reads.
const MEASURED_IN_FLIGHT: [(u32, u32); 5] = [(1, 1), (4, 1), (16, 1), (16, 4), (16, 16)];
/// Threads and I/Os in flight per thread of cells that were not measured.
const UNMEASURED_IN_FLIGHT: [(u32, u32); 4] = [(1, 2), (8, 1), (8, 4), (16, 8)];
/// Error that a prediction may have.
pub const GOAL: f64 = 0.07;
/// Share of predictions that keep [`GOAL`].
pub const SHARE_GOAL: f64 = 0.95;

pub(crate) fn random(threads: u32, queue_depth: u32, kib: u32) -> ReferenceWorkload {
    let read = ReferenceWorkload::read(AccessPattern::Random, threads, kib << 10);
    ReferenceWorkload { queue_depth, ..read }
}

pub(crate) fn sequential(queue_depth: u32, kib: u32) -> ReferenceWorkload {
    let read = ReferenceWorkload::read(AccessPattern::Sequential, 1, kib << 10);
    ReferenceWorkload { queue_depth, ..read }
}

fn measured() -> Vec<Measurement> {
    let mut out = Vec::new();
    for (threads, depth) in MEASURED_IN_FLIGHT {
        for kib in [4, 8, 16, 32, 64, 128] {
            let rate = Measurement::to_simulate(random(threads, depth, kib), "truth");
            for (metric, tolerance) in [
                (ReferenceMetric::MibPerS, rate.tolerance),
                (ReferenceMetric::MedianUs, Tolerance::for_metric(ReferenceMetric::MedianUs)),
                (ReferenceMetric::P99Us, Tolerance::Relative(P99_TOLERANCE)),
            ] {
                out.push(Measurement { metric, tolerance, role: Role::Target, ..rate.clone() });
            }
        }
    }
    for depth in [1, 8, 32] {
        out.extend([64, 128].map(|kib| Measurement {
            role: Role::Target,
            ..Measurement::to_simulate(sequential(depth, kib), "truth")
        }));
    }
    out
}

/// Cells at other depths and block sizes, some of them beyond those measured.
fn unmeasured() -> Vec<Measurement> {
    let mut cells = Vec::new();
    for (threads, depth) in UNMEASURED_IN_FLIGHT {
        cells.extend([4, 8, 16, 32, 64, 128, 256].map(|kib| random(threads, depth, kib)));
    }
    cells.push(random(16, 1, 256));
    for depth in [2, 4, 16] {
        cells.extend([64, 128].map(|kib| sequential(depth, kib)));
    }
    let cells = cells.into_iter();
    cells.map(|w| Measurement::to_simulate(w, "")).collect()
}

/// A family is maker and line, the first two words of the name.
fn other_families(truth: &str) -> Vec<String> {
    let family = |name: &str| name.split('-').take(2).map(str::to_owned).collect::<Vec<_>>();
    let names = Profile::names().into_iter();
    let others = names.filter(|name| family(name) != family(truth));
    others.map(str::to_owned).collect()
}

fn figures_of(
    profile: &Profile,
    mut cells: Vec<Measurement>,
    threads: usize,
) -> Result<Vec<Measurement>, CalibrateError> {
    let figures = simulate(profile, &cells, Effort::Full, threads)?;
    for (cell, figure) in cells.iter_mut().zip(figures) {
        cell.value = figure.ok_or_else(|| CalibrateError::NoTargets {
            what: profile.name.clone(),
            why: format!("it has no {}", cell.key()),
        })?;
    }
    Ok(cells)
}

pub fn study(
    truth: &str,
    threads: usize,
    progress: &mut dyn FnMut(TwinProgress<'_>),
) -> Result<(Twin, Vec<TwinCell>), CalibrateError> {
    let mut profile = Profile::builtin(truth)?;
    // The twin's figures are measured by assay, which sends the pieces of an I/O at once.
    profile.bench.max_io_bytes = None;
    let measured = figures_of(&profile, measured(), threads)?;
    let settings = TwinSettings {
        name: format!("{truth}-twin"),
        label: format!("cells of {truth}"),
        capacity_bytes: Some(profile.identity.capacity_bytes.value),
        bases: other_families(truth),
        threads,
    };
    let found = twin(&measured, &settings, &AtomicBool::new(false), progress)?;
    let found = found.expect("nothing stops the search");
    let at = Profile::from_toml(&found.fit.text)?;
    let spread_of = |kind: FigureKind| {
        let mut all = at.fit.spreads().into_iter();
        let mine = all.find(|(name, _)| *name == kind.name());
        mine.map_or(f64::NAN, |(_, spread)| spread)
    };
    let actual = figures_of(&profile, unmeasured(), threads)?;
    let predicted = figures_of(&at, unmeasured(), threads)?;
    let cells = actual.iter().zip(&predicted).map(|(actual, predicted)| TwinCell {
        truth: truth.to_owned(),
        nearest: found.nearest.clone(),
        kind: FigureKind::from_measurement(actual),
        key: actual.key(),
        unit: actual.metric.unit().to_owned(),
        actual: actual.value,
        predicted: predicted.value,
        spread: spread_of(FigureKind::from_measurement(actual)),
    });
    let cells = cells.collect();
    Ok((found, cells))
}

pub fn share_within(cells: &[TwinCell]) -> f64 {
    let within = cells.iter().filter(|c| c.error().abs() <= GOAL).count();
    within as f64 / cells.len().max(1) as f64
}

/// Share of the cells within their 90 % interval, and the median half-width as a share; each
/// truth's intervals come from the other truths. `None` for a single truth.
pub fn coverage(cells: &[TwinCell]) -> Option<(f64, f64)> {
    let (mut inside, mut widths) = (0, Vec::new());
    for cell in cells {
        let is_other = |c: &&TwinCell| c.kind == cell.kind && c.truth != cell.truth;
        let others: Vec<&TwinCell> = cells.iter().filter(is_other).collect();
        let width = half_width(&others)?;
        inside += usize::from(cell.in_spreads().abs() <= width);
        widths.push((width * cell.spread).exp_m1());
    }
    let share = inside as f64 / widths.len().max(1) as f64;
    Some((share, median(widths)?))
}

pub fn markdown(cells: &[TwinCell]) -> String {
    let mut out = String::from(
        "## Twins\n\nA twin is made from ten minutes of reading (`assay run twin`, `assay fit \
         auto`). Here the measured drive is a simulated one, whose truth\nis known; its own \
         profile and those of its family are not among the profiles from which the search begins, \
         so none has its structure.\nShown are the errors at cells that were not measured: other \
         depths, and blocks up to twice the longest measured one.\n`make predictions PART=twins` \
         repeats it.\n\n| truth | twin began from | cells | within 7 % | worst \
         |\n|---|---|--:|--:|--:|\n",
    );
    let mut truths: Vec<&str> = cells.iter().map(|c| c.truth.as_str()).collect();
    truths.dedup();
    let mut line = |title: &str, nearest: &str, here: &[TwinCell]| {
        let worst = here.iter().map(|c| 100.0 * c.error().abs()).fold(0.0, f64::max);
        let share = 100.0 * share_within(here);
        let count = here.len();
        out.push_str(&format!("| {title} | {nearest} | {count} | {share:.0} % | {worst:.0} % |\n"));
    };
    for truth in truths {
        let here: Vec<TwinCell> = cells.iter().filter(|c| c.truth == truth).cloned().collect();
        line(truth, &here[0].nearest, &here);
    }
    line("**all**", "", cells);
    let met = if share_within(cells) >= SHARE_GOAL { "met" } else { "**not met**" };
    out.push_str(&format!("\nGoal: 95 % of the cells within 7 %: {met}.\n"));
    if let Some((share, width)) = coverage(cells) {
        out.push_str(&format!(
            "\nThe 90 % intervals of a twin's figures are multiples of its distance from the \
             measured figures; the multiples are such that 90 % of\nthese errors lie within. With \
             those of the other truths, {:.0} % of the cells lie within theirs, whose median \
             half-width is {:.0} %.\n",
            100.0 * share,
            100.0 * width
        ));
    }
    out
}

#[cfg(test)]
#[path = "../tests/unit/twins.rs"]
mod tests;
