//! Attribution of rate changes: phases of a cell with their causes. [`assay_stats::change`] cuts
//! the series of rates at its change points. Detectors, one per cause, evaluate what else was
//! recorded in the same intervals and label what these data *prove*. Each [`RatePhase`] carries its
//! evidence; a change that nothing proves is [`Cause::Unexplained`], no change is
//! [`Cause::Steady`].
//!
//! | cause | evidence | detector |
//! |---|---|---|
//! | fresh | writes before a cache is full or garbage collection begins | `writes` |
//! | SLC cache exhausted | an abrupt lasting fall after N bytes, not hot, then level | `writes` |
//! | garbage collection | random writes fall to a plateau, write amplification above 1 | `writes` |
//! | thermal throttling | a fall at a temperature not reached before; hysteresis | `thermal` |
//! | rate-limited | the rate is the one that the workload asks for | `limits` |
//! | power-state limit | a lower power state, power at its maximum, nothing hot | `limits` |
//! | host-limited | no idle processor, or a worker thread that uses all of its own | `limits` |
//!
//! Drives that report only their temperature (most, through hwmon) are labelled by the shape of the
//! rate, bytes and temperature; drives with counters by those first. Precision and recall
//! (`tests/scenarios.rs`) are listed in docs/attribution.md. Of two causes at once, the one that
//! sets the rate or can be proven counts. Single slow I/Os and cells without a series have no
//! cause.

use assay_store::series::IntervalSample;
use serde::Serialize;

mod limits;
mod observe;
mod summary;
mod text;
mod thermal;
mod throttling;
mod writes;

pub use observe::{observe, of_cell, throttling_of_cell};
pub use summary::{CauseSummary, summary};
pub use throttling::{SpanRate, Throttling, throttling};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObservedInterval {
    pub sample: IntervalSample,
    /// `None` where the drive does not count them.
    pub nand_bytes: Option<u64>,
    /// Composite temperature at the end of the interval.
    pub temperature_c: Option<f64>,
    pub throttled: Option<bool>,
    /// Time above the warning temperature so far.
    pub warning_time_s: Option<u64>,
    /// Mean of the interval.
    pub power_mw: Option<u64>,
    /// State at the end of the interval.
    pub power_state: Option<u8>,
    /// Share of all processors.
    pub host_idle_pct: Option<f64>,
    /// Processor time of the busiest worker thread, percent of one processor.
    pub busiest_thread_pct: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellContext {
    /// Share of the bytes moved, 0 to 1.
    pub write_share: f64,
    pub random: bool,
    pub capacity_bytes: u64,
    /// Area of the workload.
    pub span_bytes: u64,
    /// Writes since the drive was purged; `None` without a purge in the run.
    pub written_before_bytes: Option<u64>,
    /// Maximum power of the power state in force.
    pub power_cap_mw: Option<u64>,
    /// Power (milliwatts) and IOPS of the same workload in power state 0, where this is another
    /// state.
    pub unlimited: Option<(u64, f64)>,
    /// The limit of a closed loop, or the rate offered by an open one: the drive did not set that
    /// rate.
    pub asked_iops: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedCell {
    pub intervals: Vec<ObservedInterval>,
    pub context: CellContext,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// Writes to erased flash: no cache is full yet, and no garbage has to be collected.
    Fresh,
    /// The SLC cache is full: writes run at the rate of the flash behind it.
    SlcCacheExhausted {
        /// Written before the rate fell, bytes of user data.
        cache_bytes: u64,
    },
    /// Garbage collection has begun, steady state is not reached.
    #[serde(rename = "collection_onset")]
    GcOnset,
    /// Garbage collection in steady state.
    #[serde(rename = "collection_steady")]
    GcSteady {
        /// Bytes written to flash per byte written by the host, where the drive counts both.
        write_amplification: Option<f64>,
    },
    /// Thermal throttling, continuous or intermittent.
    ThermalThrottling {
        /// Composite temperature at its onset, degrees Celsius, where there is a sensor.
        onset_c: Option<f64>,
        /// Its onset, seconds since the cell's start.
        onset_s: f64,
        /// Share of the phase in the slow state, percent.
        duty_pct: f64,
        /// From one fall to the next, seconds (median), where it is intermittent.
        period_s: Option<f64>,
    },
    /// Limit of the NVMe power state.
    PowerLimited { state: u8 },
    /// The workload asks for no more.
    RateLimited {
        /// What it asks for, I/Os per second.
        iops: f64,
    },
    /// The measuring host, not the drive, set the rate.
    HostLimited,
    /// No change, and no limit other than the drive's own speed.
    Steady,
    /// The rate changed without a cause in the recorded data.
    Unexplained,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatePhase {
    pub from_s: f64,
    pub to_s: f64,
    pub cause: Cause,
    pub mean_mib_per_s: f64,
    pub mean_iops: f64,
    pub evidence: String,
}

#[derive(Clone, Debug, PartialEq)]
struct CauseSpan {
    from: usize,
    to: usize,
    cause: Cause,
    evidence: String,
}

impl CauseSpan {
    fn new(from: usize, to: usize, cause: Cause, evidence: impl Into<String>) -> CauseSpan {
        CauseSpan { from, to, cause, evidence: evidence.into() }
    }
}

/// Phases in time order and without gaps; none without intervals.
pub fn phases(observed: &ObservedCell) -> Vec<RatePhase> {
    let phase = |span: CauseSpan| {
        let intervals = &observed.intervals[span.from..span.to];
        let (first, last) = (intervals.first()?, intervals.last()?);
        let mean = |rate| RateSum::new(intervals, rate).mean().unwrap_or(0.0);
        Some(RatePhase {
            from_s: first.sample.start_s(),
            to_s: last.sample.end_s(),
            cause: span.cause,
            mean_mib_per_s: mean(IntervalSample::mib_per_s),
            mean_iops: mean(IntervalSample::iops),
            evidence: span.evidence,
        })
    };
    let mut spans = explain(observed, &rates(observed));
    // The evidence of the first neighbour is kept.
    spans.dedup_by(|span, before| {
        let same = span.cause == before.cause;
        before.to = if same { span.to } else { before.to };
        same
    });
    spans.into_iter().filter_map(phase).collect()
}

#[derive(Clone, Copy, Debug, Default)]
struct RateSum {
    span_s: f64,
    amount: f64,
}

impl RateSum {
    fn new<'a>(
        intervals: impl IntoIterator<Item = &'a ObservedInterval>,
        rate: fn(&IntervalSample) -> f64,
    ) -> RateSum {
        let mut sum = RateSum::default();
        for sample in intervals.into_iter().map(|interval| &interval.sample) {
            sum.span_s += sample.elapsed_s();
            sum.amount += rate(sample) * sample.elapsed_s();
        }
        sum
    }

    fn add(&mut self, other: RateSum) {
        self.span_s += other.span_s;
        self.amount += other.amount;
    }

    fn mean(&self) -> Option<f64> {
        (self.span_s > 0.0).then(|| self.amount / self.span_s)
    }
}

/// Bytes where any moved, else completions.
fn rates(observed: &ObservedCell) -> Vec<f64> {
    let of = |rate: fn(&IntervalSample) -> f64| -> Vec<f64> {
        observed.intervals.iter().map(|i| rate(&i.sample)).collect()
    };
    let bytes = of(IntervalSample::mib_per_s);
    match bytes.iter().any(|&rate| rate > 0.0) {
        true => bytes,
        false => of(IntervalSample::iops),
    }
}

/// Throttling comes first, because it overlays every other cause; then external limits; then
/// effects of writing, which are looked for in the whole cell, throttled spans bridged: a cache can
/// fill while the drive throttles.
fn explain(observed: &ObservedCell, rates: &[f64]) -> Vec<CauseSpan> {
    if rates.is_empty() {
        return Vec::new();
    }
    let throttled_spans = thermal::throttled_spans(observed, rates);
    let bridged = thermal::bridged(rates, &throttled_spans);
    let drive = writes::explain(observed, &bridged, 0, rates.len());
    // Without a fall each part has its own state of the flash.
    let falls = drive.len() > 1;
    let unthrottled = |from, to| {
        if from >= to {
            return Vec::new();
        }
        let host = limits::host(observed, from, to).map(|evidence| (Cause::HostLimited, evidence));
        match host.or_else(|| limits::power(observed, from, to)) {
            Some((cause, evidence)) => vec![CauseSpan::new(from, to, cause, evidence)],
            None if falls => limits::in_parts(observed, rates, (from, to), &drive),
            None => {
                let drive = writes::explain(observed, rates, from, to);
                limits::in_parts(observed, rates, (from, to), &drive)
            }
        }
    };
    let mut out = Vec::new();
    let mut at = 0;
    for throttled in throttled_spans {
        out.extend(unthrottled(at, throttled.from));
        at = throttled.to;
        out.push(throttled);
    }
    out.extend(unthrottled(at, rates.len()));
    out
}

impl Cause {
    pub fn is_gc(&self) -> bool {
        matches!(self, Cause::GcOnset | Cause::GcSteady { .. })
    }
}

#[cfg(test)]
#[path = "../tests/unit/attribution.rs"]
mod tests;
