use assay_stats::confidence::{self, Estimate, LEVEL};
use assay_stats::{LatencySummary, mean};
use assay_store::model::{CellKind, CellResult, PredictiveFactors, TelemetryRecord};
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_store::series::IntervalSample;
use assay_units::text::{format_size, whole};

use super::{Definition, Least, Unit};
use crate::attribution::{self, Throttling};
use crate::estimate::{self, Estimates};
use crate::verified::worst_pass;
use crate::{power, steady_state};

mod views;

pub(super) use views::*;

#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    pub run: &'a Run,
    pub cell: &'a CellRecord,
    pub part: &'a CellDrive,
}

#[derive(Clone, Debug, Default)]
pub struct FigureInput<'a> {
    /// Cells in the order of the plan, of several runs one run after the other.
    pub cells: Vec<Measured<'a>>,
    pub with_intervals: bool,
}

#[derive(Clone, Debug, Default)]
pub struct FigureValue<'a> {
    pub value: f64,
    /// A clause for verdicts; empty where value and unit say all.
    pub text: String,
    /// Where the true value is expected, in the same unit.
    pub interval: Option<[f64; 2]>,
    /// True for a predictive interval of the real drive, false for a confidence interval of the
    /// mean.
    pub is_predictive: bool,
    /// The cell that the value is taken from, where that is not the first.
    pub of: Option<Measured<'a>>,
}

type Found<'a> = Option<FigureValue<'a>>;

impl<'a> Measured<'a> {
    /// `None` where the cell has no data of the drive.
    pub fn new(run: &'a Run, cell: &'a CellRecord, drive: usize) -> Option<Measured<'a>> {
        let part = cell.drive(drive)?;
        Some(Measured { run, cell, part })
    }

    /// Why the result is missing or incomplete, in short and in full.
    pub fn remark(self) -> Option<(&'static str, String)> {
        steady_state::remark(self.cell, self.part.result.is_some(), || {
            steady_state::not_steady_reason(self.run, self.cell, self.drive())
        })
    }

    fn result(self) -> Option<&'a CellResult> {
        self.part.result.as_ref()
    }

    fn drive(self) -> usize {
        self.part.drive
    }

    /// Factors of the rate and of latency percentiles.
    fn factors(self) -> [Option<PredictiveFactors>; 2] {
        let drive = self.run.manifest.drives.get(self.drive());
        let measured = drive.zip(self.result());
        measured
            .map_or([None, None], |(drive, result)| drive.predictive_of(&self.cell.plan, result))
    }

    fn rates(self) -> Vec<f64> {
        let samples = self.part.measured_intervals();
        samples.iter().map(IntervalSample::mib_per_s).collect()
    }

    fn phases(self) -> Vec<attribution::RatePhase> {
        attribution::of_cell(self.run, self.cell, self.drive())
    }
}

impl<'a> FigureInput<'a> {
    fn first(&self) -> Option<Measured<'a>> {
        self.cells.first().copied()
    }

    fn results(&self) -> impl Iterator<Item = &'a CellResult> {
        self.cells.iter().filter_map(|m| m.result())
    }

    /// The first cell of each run and step.
    fn steps(&self) -> impl Iterator<Item = Measured<'a>> {
        let starts = self
            .cells
            .chunk_by(|a, b| std::ptr::eq(a.run, b.run) && a.cell.plan.step == b.cell.plan.step);
        starts.map(|cells| cells[0])
    }

    /// Takes the last of equal values.
    fn largest(&self, of: impl Fn(Measured<'a>) -> Found<'a>) -> Found<'a> {
        let found = self.cells.iter().filter_map(|m| Some(FigureValue { of: Some(*m), ..of(*m)? }));
        found.max_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The interval is predictive of a simulated drive, else of the mean.
    fn rated(
        &self,
        of: Measured<'a>,
        value: f64,
        estimate: impl FnOnce() -> Option<Estimate>,
    ) -> FigureValue<'a> {
        let [rate, _] = of.factors();
        let interval = match &rate {
            Some(factors) => Some(factors.of_rate(value)),
            None if self.with_intervals => estimate().map(|e| [e.low, e.high]),
            None => None,
        };
        FigureValue { interval, is_predictive: rate.is_some(), ..FigureValue::plain(value) }
    }
}

impl FigureValue<'_> {
    fn plain(value: f64) -> Self {
        FigureValue { value, ..FigureValue::default() }
    }

    fn with(self, text: String) -> Self {
        FigureValue { text, ..self }
    }
}

fn estimates(of: Measured<'_>) -> Estimates {
    estimate::estimate_cell(of.part)
}

pub(super) fn best_mib_per_s<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    input.largest(|m| {
        let rate = m.result()?.mib_per_s();
        let workload = &m.cell.plan.workload;
        let (size, jobs) = (workload.block_size_text(), workload.numjobs);
        let threads = if jobs == 1 { "thread" } else { "threads" };
        let text = format!("{} MiB/s ({size} blocks, {jobs} {threads})", whole(rate));
        let found = input.rated(m, rate, || estimates(m).mib_per_s.ok());
        Some(found.with(text))
    })
}

pub(super) fn single_mib_per_s<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let mut single = input.clone();
    single.cells.retain(|m| m.cell.plan.workload.numjobs == 1);
    best_mib_per_s(definition, &single)
}

pub(super) fn best_iops<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    input.largest(|m| {
        let rate = m.result()?.iops();
        let found = input.rated(m, rate, || estimates(m).iops.ok());
        Some(found.with(format!("{} IOPS", whole(rate))))
    })
}

pub(super) fn mean_us<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    let value = definition.of_result(first.result()?)?;
    let [rate, _] = first.factors();
    let interval = match &rate {
        Some(factors) => Some(factors.of_mean_latency(value)),
        None if input.with_intervals => {
            let estimate = estimates(first).latency_mean_ns.ok();
            estimate.map(|e| [e.low / 1e3, e.high / 1e3])
        }
        None => None,
    };
    Some(FigureValue { interval, is_predictive: rate.is_some(), ..FigureValue::plain(value) })
}

/// Percentile of the first cell, without a confidence interval: a run has none for it.
pub(super) fn percentile<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let first = input.first()?;
    let value = definition.of_result(first.result()?)?;
    let [_, factors] = first.factors();
    let share = definition.title.trim_start_matches('p');
    let text = format!("{share} % of I/Os within {} \u{b5}s", whole(value));
    Some(FigureValue {
        interval: factors.as_ref().map(|f| f.of_rate(value)),
        is_predictive: factors.is_some(),
        ..FigureValue::plain(value).with(text)
    })
}

fn flush_us<'a>(
    definition: &Definition,
    input: &FigureInput<'a>,
    of: fn(&LatencySummary) -> u64,
) -> Found<'a> {
    let latency = &input.first()?.result()?.flush.latency_ns;
    let enough = matches!(definition.least, Least::Ios(least) if latency.samples >= least);
    enough.then(|| FigureValue::plain(of(latency) as f64 / 1e3))
}

pub(super) fn flush_p50_us<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    flush_us(definition, input, |l| l.p50)
}

pub(super) fn flush_p99_us<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    flush_us(definition, input, |l| l.p99)
}

/// Rates of the first cell, where the intervals are enough.
fn enough_rates(definition: &Definition, input: &FigureInput<'_>) -> Option<Vec<f64>> {
    let rates = input.first()?.rates();
    let enough = matches!(definition.least, Least::Intervals(least) if rates.len() >= least);
    enough.then_some(rates)
}

/// The first and the last fifth.
fn fifths(rates: &[f64]) -> (&[f64], &[f64]) {
    let fifth = rates.len() / 5;
    (&rates[..fifth], &rates[rates.len() - fifth..])
}

pub(super) fn last_mib_per_s<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let rates = enough_rates(definition, input)?;
    let (_, last) = fifths(&rates);
    let estimate = || confidence::mean(last, LEVEL).ok();
    Some(input.rated(input.first()?, mean(last), estimate))
}

pub(super) fn held_pct<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let rates = enough_rates(definition, input)?;
    let (first, last) = fifths(&rates);
    let (first, last) = (mean(first), mean(last));
    let pct = last / first * 100.0;
    let text =
        format!("{} MiB/s at first, {} MiB/s at the end ({pct:.0} %)", whole(first), whole(last));
    (first > 0.0).then(|| FigureValue::plain(pct).with(text))
}

pub(super) fn slowest_pct<'a>(definition: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let rates = enough_rates(definition, input)?;
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let pct = slowest / mean(&rates) * 100.0;
    let text = format!("the slowest interval reached {pct:.0} % of the mean");
    Some(FigureValue::plain(pct).with(text))
}

pub(super) fn temperature_max_c<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    input.largest(|m| {
        let readings = m.part.telemetry.iter().filter_map(|t| t.temperature_c);
        let hottest = readings.reduce(f64::max)?;
        Some(FigureValue::plain(hottest).with(format!("{hottest:.0} degrees C")))
    })
}

pub(super) fn temperature_c<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let readings = input.first()?.part.telemetry.iter();
    let degrees: Vec<f64> = readings.filter_map(|t| t.temperature_c).collect();
    (!degrees.is_empty()).then(|| FigureValue::plain(mean(&degrees)))
}

pub(super) fn mib_per_joule<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    input.largest(|m| {
        let watts = power::mean_watts(m.part).filter(|w| *w > 0.0)?;
        Some(FigureValue::plain(m.result()?.mib_per_s() / watts))
    })
}

pub(super) fn power_w<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    Some(FigureValue::plain(power::mean_watts(input.first()?.part)?))
}

pub(super) fn data_ratio<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    input.largest(|m| {
        let mut values = m.result()?.values.iter();
        let ratio = values.find(|(key, _)| key.starts_with("ratio_to_"));
        ratio.map(|(_, ratio)| FigureValue::plain(*ratio))
    })
}

pub(super) fn double_write_cost<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let mut values = input.first()?.result()?.values.iter();
    let (_, ratio) = values.find(|(key, _)| key.starts_with("ratio_to_"))?;
    let cost = 2.0 / ratio;
    let text = format!("atomic writes change {cost:.2} times as many pages per second");
    (*ratio > 0.0).then(|| FigureValue::plain(cost).with(text))
}

/// The same workload of the concurrent cell's drive alone, of the same step, else of any.
fn alone<'a>(of: Measured<'a>) -> Option<&'a CellResult> {
    let w = &of.cell.plan.workload;
    let is_alone = |cell: &&CellRecord| {
        let a = &cell.plan.workload;
        cell.plan.drives.len() == 1
            && !matches!(cell.plan.kind, CellKind::Prepare | CellKind::Purge)
            && (&a.rw, a.bs_bytes, a.numjobs, a.iodepth, &a.data, a.direct)
                == (&w.rw, w.bs_bytes, w.numjobs, w.iodepth, &w.data, w.direct)
    };
    (of.cell.plan.drives.len() > 1).then_some(())?;
    let cells = || of.run.cells.iter().filter(is_alone);
    let same_step = cells().filter(|cell| cell.plan.step == of.cell.plan.step);
    let mut results =
        same_step.chain(cells()).filter_map(|cell| cell.drive(of.drive())?.result.as_ref());
    results.next()
}

pub(super) fn shared_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    input.largest(|m| {
        let alone = alone(m)?.mib_per_s();
        let shared = m.result()?.mib_per_s();
        (alone > 0.0).then(|| FigureValue::plain(100.0 * shared / alone))
    })
}

/// Rate with most threads relative to that with fewest, at the block size where it is largest.
pub(super) fn scaling_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let point = |m: &Measured<'_>| {
        let w = &m.cell.plan.workload;
        Some((w.bs_bytes, w.numjobs, m.result()?.mib_per_s()))
    };
    let points: Vec<(u64, u32, f64)> = input.cells.iter().filter_map(point).collect();
    let fewest = points.iter().map(|p| p.1).min()?;
    let most = points.iter().map(|p| p.1).max()?;
    if fewest == most {
        return None;
    }
    let rate = |bs: u64, jobs: u32| {
        let point = points.iter().find(|p| (p.0, p.1) == (bs, jobs));
        point.map(|p| p.2)
    };
    let (pct, bs) = points
        .iter()
        .filter_map(|&(bs, ..)| Some((rate(bs, most)? / rate(bs, fewest)? * 100.0, bs)))
        .filter(|(pct, _)| pct.is_finite())
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let size = format_size(bs);
    let text = format!("{most} threads reach {pct:.0} % of the rate of {fewest} at {size} blocks");
    Some(FigureValue::plain(pct).with(text))
}

/// The observed time, too; `None` without a temperature sensor or throttling status.
fn throttling(input: &FigureInput<'_>) -> Option<(Option<Throttling>, f64)> {
    let first = input.first()?;
    let is_thermal = |t: &TelemetryRecord| t.temperature_c.is_some() || t.throttled.is_some();
    if !first.part.telemetry.iter().any(is_thermal) {
        return None;
    }
    let observed = attribution::observe(first.run, first.cell, first.drive())?;
    let phases = attribution::phases(&observed);
    let (start, end) = (phases.first()?, phases.last()?);
    let found = attribution::throttling(&observed, &phases);
    Some((found, end.to_s - start.from_s))
}

fn throttling_text(found: &Throttling) -> String {
    let at = match found.onset_c {
        Some(celsius) => format!("{celsius:.0} degrees C"),
        None => format!("second {:.0}", found.onset_s),
    };
    let period = found.period_s;
    let again = period.map_or(String::new(), |s| format!(", again every {s:.0} s"));
    let duty = found.duty_pct;
    format!("throttled from {at} on, slow for {duty:.0} % of the time{again}")
}

pub(super) fn throttled_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let (found, seen_s) = throttling(input)?;
    Some(match found {
        Some(found) => FigureValue::plain(found.duty_pct).with(throttling_text(&found)),
        None => FigureValue::plain(0.0).with(format!("never throttled in {seen_s:.0} s")),
    })
}

pub(super) fn throttled_rate_pct<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let (found, seen_s) = throttling(input)?;
    let Some(found) = found else {
        let text = format!("never throttled in {seen_s:.0} s");
        return Some(FigureValue::plain(100.0).with(text));
    };
    let before = found.before.map(|before| before.mib_per_s);
    let before = before.filter(|rate| *rate > 0.0)?;
    let after = found.after_mib_per_s;
    let pct = after / before * 100.0;
    let text = format!(
        "{} MiB/s until it throttled, {} MiB/s on average while it did ({pct:.0} %)",
        whole(before),
        whole(after)
    );
    Some(FigureValue::plain(pct).with(text))
}

pub(super) fn errors<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let errors: u64 = input.results().map(CellResult::errors).sum();
    let measured = errors > 0 || input.results().any(|r| r.ios() > 0);
    measured.then(|| FigureValue::plain(errors as f64).with(format!("{errors} failed")))
}

pub(super) fn bad_blocks<'a>(_: &Definition, input: &FigureInput<'a>) -> Found<'a> {
    let passes = input.results().filter_map(|r| r.verify.as_ref());
    let worst = worst_pass(passes.filter(|v| v.blocks_checked > 0))?;
    let (bad, checked) = (worst.bad_blocks, worst.summary.blocks_checked);
    let which = match worst.passes {
        1 => String::new(),
        n => format!(", in the worst of {n} passes"),
    };
    let text = format!("{bad} of {checked} blocks did not come back as written{which}");
    Some(FigureValue::plain(bad as f64).with(text))
}

impl FigureValue<'_> {
    pub fn text_or_value(&self, unit: Unit) -> String {
        if !self.text.is_empty() {
            return self.text.clone();
        }
        let value = match self.value.abs() < 100.0 {
            true => format!("{:.1}", self.value),
            false => whole(self.value),
        };
        format!("{value} {}", unit.text())
    }
}
