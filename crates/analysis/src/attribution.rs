//! Attribution of rate changes: phases of a cell with their causes.
//!
//! # Mechanism
//! [`assay_stats::change`] cuts the series of rates at its change points. Detectors, one per cause,
//! evaluate what else was recorded in the same intervals (temperature, throttle status, bytes
//! written by the host and to the flash, power, host load) and label what these data *prove*. Each
//! [`RatePhase`] carries its evidence; a change that nothing proves is [`Cause::Unexplained`], no
//! change is [`Cause::Steady`].
//!
//! | cause | evidence | detector |
//! |---|---|---|
//! | fresh | writes before a cache is full or garbage collection begins; nothing was relocated yet | `writes` |
//! | SLC cache exhausted | an abrupt lasting fall of a write rate after N bytes, not hot, level afterwards | `writes` |
//! | garbage collection | random writes fall to a plateau after about the over-provisioning was used up, write amplification above 1 | `writes` |
//! | thermal throttling | the fall begins at a temperature not reached before, or the drive reports it; hysteresis | `thermal` |
//! | rate-limited | the rate is the one that the workload asks for: its limit, or the rate offered by an open loop | `limits` |
//! | power-state limit | a lower power state, power at its maximum, nothing hot | `limits` |
//! | host-limited | no idle processor, or a worker thread that uses all of its own; of a simulated host by its model | `limits` |
//!
//! Drives that report only their temperature (most, through hwmon) are labelled by the shape of the
//! rate, bytes and temperature; drives with counters by those first. Precision and recall
//! (`tests/scenarios.rs`) are listed in docs/attribution.md.
//!
//! # Non-goals
//! Single slow I/Os (latency tails); cells without a series. Of two causes at once, the one that
//! sets the rate or can be proven counts.

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

/// One interval of a drive with everything recorded in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObservedInterval {
    /// What completed.
    pub sample: IntervalSample,
    /// Bytes written to the flash, where the drive counts them.
    pub nand_bytes: Option<u64>,
    /// Composite temperature at its end, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Throttle status reported by the drive.
    pub throttled: Option<bool>,
    /// Seconds above the warning temperature so far.
    pub warning_time_s: Option<u64>,
    /// Mean power, milliwatts.
    pub power_mw: Option<u64>,
    /// NVMe power state at its end.
    pub power_state: Option<u8>,
    /// Idle share of all processors, percent.
    pub host_idle_pct: Option<f64>,
    /// Processor time of the busiest worker thread, percent of one processor.
    pub busiest_thread_pct: Option<f64>,
}

/// Properties of a cell as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellContext {
    /// Share of writes among the bytes moved, 0 to 1.
    pub write_share: f64,
    /// Random offsets?
    pub random: bool,
    pub capacity_bytes: u64,
    /// Area of the workload, bytes.
    pub span_bytes: u64,
    /// Bytes written before it since the drive was purged; `None` without a purge in the run.
    pub written_before_bytes: Option<u64>,
    /// Maximum power of the power state it ran in, milliwatts, where known.
    pub power_cap_mw: Option<u64>,
    /// Power (milliwatts) and rate (I/Os per second) of the same workload in power state 0, where
    /// this is another state.
    pub unlimited: Option<(u64, f64)>,
    /// Rate that the workload asks for, I/Os per second: the limit of a closed loop, or the rate
    /// offered by an open one. Where the rate is this one, the drive did not set it.
    pub asked_iops: Option<f64>,
}

/// Input of the detectors: a drive in a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedCell {
    /// In time order.
    pub intervals: Vec<ObservedInterval>,
    /// Of the cell as a whole.
    pub context: CellContext,
}

/// What set the rate in a phase.
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

/// A span of a cell with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatePhase {
    /// Its start, seconds since the cell's start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    pub cause: Cause,
    pub mean_mib_per_s: f64,
    /// Mean rate in it, completions per second.
    pub mean_iops: f64,
    /// Evidence for the cause, with figures.
    pub evidence: String,
}

/// A cause that a detector assigns to the intervals `from..to`.
#[derive(Clone, Debug, PartialEq)]
struct CauseSpan {
    from: usize,
    to: usize,
    cause: Cause,
    evidence: String,
}

impl CauseSpan {
    fn new(from: usize, to: usize, cause: Cause, evidence: impl Into<String>) -> CauseSpan {
        CauseSpan {
            from,
            to,
            cause,
            evidence: evidence.into(),
        }
    }
}

/// The phases of a cell, in time order and without gaps; none without intervals.
pub fn phases(observed: &ObservedCell) -> Vec<RatePhase> {
    let phase = |span: CauseSpan| {
        let intervals = &observed.intervals[span.from..span.to];
        let (first, last) = (intervals.first()?, intervals.last()?);
        let mean = |rate| RateSum::of(intervals, rate).mean().unwrap_or(0.0);
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
    // Neighbours with the same cause become one; the evidence of the first is kept.
    spans.dedup_by(|span, before| {
        let same = span.cause == before.cause;
        before.to = if same { span.to } else { before.to };
        same
    });
    spans.into_iter().filter_map(phase).collect()
}

/// A rate over time, summed.
#[derive(Clone, Copy, Debug, Default)]
struct RateSum {
    span_s: f64,
    amount: f64,
}

impl RateSum {
    fn of<'a>(
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

/// The series that is cut: bytes where any moved, else completions.
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

/// Causes of all intervals, in order: throttling first, because it overlays every other cause; then
/// external limits; then effects of writing. Those are looked for in the whole cell, throttled
/// spans bridged: a cache can fill while the drive throttles.
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
    /// Garbage collection, onset or steady?
    pub fn is_gc(&self) -> bool {
        matches!(self, Cause::GcOnset | Cause::GcSteady { .. })
    }
}

#[cfg(test)]
#[path = "../tests/unit/attribution.rs"]
mod tests;
