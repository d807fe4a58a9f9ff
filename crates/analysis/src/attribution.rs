//! Why the rate of a drive changed, or did not: phases of a cell with their causes.
//!
//! # Mechanism
//! [`assay_stats::change`] cuts the series of rates at its change points. Detectors, one per cause, then look at what else is known of
//! the same seconds (temperature, the drive's own words on throttling, bytes written by the host and to the flash, power, the host's
//! load) and label what they can *show*. A label rests on physics, and each [`Phase`] carries its evidence in words; what nothing shows is
//! [`Cause::Unexplained`] where the rate changed and [`Cause::Steady`] where it did not. Nothing is guessed.
//!
//! | cause | what shows it | detector |
//! |---|---|---|
//! | fresh | writes before a cache is full or collection begins; nothing was moved yet | `writes` |
//! | SLC cache exhausted | an abrupt lasting fall of a write rate after N bytes, not hot, steady afterwards | `writes` |
//! | collection | random writes fall to a plateau after about the spare area was used up, more is written to flash than sent | `writes` |
//! | thermal throttling | the fall begins at a temperature not reached before, or the drive says so; hysteresis | `heat` |
//! | power-state limit | a lower power state, power at its cap, nothing hot | `limits` |
//! | host-limited | no idle processor, or one thread that takes all of its own | `limits` |
//!
//! Drives that say nothing but their temperature (most, through hwmon) are labelled by shape, bytes and temperature; drives with
//! counters by those first. How often each label is right, both ways, is measured in `tests/scenarios.rs` on drives whose truth is
//! known, and told in docs/attribution.md.
//!
//! # Non-goals
//! No cause for single slow I/Os (latency tails), none for cells without a series. One cause per span of time: of two at once the
//! one named is that which sets the rate, or that which can be shown.
//!
//! # Key constants
//! Limits of each detector are constants in its module, with what they lean on.

use serde::Serialize;

mod heat;
mod limits;
mod of_run;
mod throttling;
mod words;
mod writes;

pub use of_run::{Summary, of_cell, summary, throttling_of_cell, watched};
pub use throttling::{Stretch, Throttling, throttling};

/// One interval of a drive with all that is known of it; usually a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Where it starts, seconds since the cell's start.
    pub start_s: f64,
    /// How long it was, seconds.
    pub elapsed_s: f64,
    /// Completions per second.
    pub iops: f64,
    /// MiB (2^20 bytes) per second.
    pub mib_per_s: f64,
    /// Mean latency, nanoseconds; 0 where nothing completed.
    pub latency_mean_ns: f64,
    /// Bytes written in it.
    pub written_bytes: u64,
    /// Bytes written to the flash in it, where the drive counts them.
    pub nand_bytes: Option<u64>,
    /// Composite temperature at its end, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Does the drive say that it holds itself back for heat?
    pub throttled: Option<bool>,
    /// Seconds above the warning temperature so far.
    pub warning_time_s: Option<u64>,
    /// Mean power in it, milliwatts.
    pub power_mw: Option<u64>,
    /// NVMe power state at its end.
    pub power_state: Option<u8>,
    /// Idle share of all processors, percent.
    pub host_idle_pct: Option<f64>,
    /// What the busiest worker thread used of one processor, percent.
    pub busiest_thread_pct: Option<f64>,
}

/// What is known of a cell as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Share of writes among the bytes moved, 0 to 1.
    pub write_share: f64,
    /// Random offsets?
    pub random: bool,
    /// What the host can address, bytes.
    pub capacity_bytes: u64,
    /// What the workload touches, bytes.
    pub span_bytes: u64,
    /// Bytes written before it since the drive was purged; `None` where nobody knows when that was.
    pub written_before_bytes: Option<u64>,
    /// Maximum power of the state it ran in, milliwatts, where known.
    pub power_cap_mw: Option<u64>,
    /// Power (milliwatts) and rate (I/Os per second) of the same workload in power state 0, where this is another state.
    pub unlimited: Option<(u64, f64)>,
    /// Open loop: the rate is what was offered, and says nothing of the drive until it falls short.
    pub offered_iops: Option<f64>,
}

/// A drive in a cell as the detectors see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// In time order.
    pub moments: Vec<Moment>,
    /// Of the cell as a whole.
    pub facts: Facts,
}

/// Why a span of time was as fast as it was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// Writes find room ready: no cache is full yet, and nothing has to be moved for them.
    Fresh,
    /// The SLC cache is full: writes go at the pace of the flash behind it.
    SlcCacheExhausted {
        /// What went in before the rate fell, bytes of user data.
        cache_bytes: u64,
    },
    /// Garbage collection has begun and the rate is on its way to the steady state.
    CollectionOnset,
    /// Garbage collection keeps pace with writes: the steady state.
    CollectionSteady {
        /// Bytes written to flash per byte of the host, where the drive counts both.
        write_amplification: Option<f64>,
    },
    /// The drive holds itself back for heat, all of the time or part of it.
    ThermalThrottling {
        /// Composite temperature at which it first did, degrees Celsius, where there is a sensor.
        onset_c: Option<f64>,
        /// When it first did, seconds since the cell's start.
        onset_s: f64,
        /// Share of the phase in the slow state, percent.
        duty_pct: f64,
        /// From one fall to the next, seconds (median), where it comes and goes.
        period_s: Option<f64>,
    },
    /// The NVMe power state's limit.
    PowerLimited {
        /// The state.
        state: u8,
    },
    /// The measuring machine, not the drive, set the rate.
    HostLimited,
    /// No change, and nothing that shows a limit other than the drive's own speed.
    Steady,
    /// The rate changed, and nothing shows why.
    Unexplained,
}

/// A span of a cell with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Its start, seconds since the cell's start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// Why.
    pub cause: Cause,
    /// Mean rate in it, MiB/s.
    pub mean_mib_per_s: f64,
    /// Mean rate in it, completions per second.
    pub mean_iops: f64,
    /// What shows the cause, in words with figures.
    pub evidence: String,
}

/// What a detector says of a span of moments, `from` the first and `to` behind the last.
#[derive(Clone, Debug, PartialEq)]
struct Finding {
    from: usize,
    to: usize,
    cause: Cause,
    evidence: String,
}

/// The phases of a cell, in time order and without gaps; none without moments.
pub fn phases(watched: &Watched) -> Vec<Phase> {
    let rates = rates(watched);
    let findings = explain(watched, &rates);
    let mut phases: Vec<Phase> = Vec::with_capacity(findings.len());
    for finding in joined(findings) {
        let moments = &watched.moments[finding.from..finding.to];
        let (Some(first), Some(last)) = (moments.first(), moments.last()) else {
            continue;
        };
        let span_s: f64 = moments.iter().map(|m| m.elapsed_s).sum();
        let mean = |of: fn(&Moment) -> f64| {
            let sum: f64 = moments.iter().map(|m| of(m) * m.elapsed_s).sum();
            if span_s > 0.0 { sum / span_s } else { 0.0 }
        };
        phases.push(Phase {
            from_s: first.start_s,
            to_s: last.start_s + last.elapsed_s,
            cause: finding.cause,
            mean_mib_per_s: mean(|m| m.mib_per_s),
            mean_iops: mean(|m| m.iops),
            evidence: finding.evidence,
        });
    }
    phases
}

/// The series that is cut: bytes where any moved, else completions.
fn rates(watched: &Watched) -> Vec<f64> {
    let bytes: Vec<f64> = watched.moments.iter().map(|m| m.mib_per_s).collect();
    if bytes.iter().any(|&rate| rate > 0.0) {
        return bytes;
    }
    watched.moments.iter().map(|m| m.iops).collect()
}

/// Neighbours with the same cause become one; the first one's evidence stands for both.
fn joined(findings: Vec<Finding>) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    for finding in findings {
        match out.last_mut() {
            Some(last) if last.cause == finding.cause => last.to = finding.to,
            _ => out.push(finding),
        }
    }
    out
}

/// Causes of all moments, in order: heat first, because it overlays everything; then the limits from outside; then what writing does.
fn explain(watched: &Watched, rates: &[f64]) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut at = 0;
    for hot in heat::spells(watched, rates) {
        explain_cool(watched, rates, at, hot.from, &mut out);
        at = hot.to;
        out.push(hot);
    }
    explain_cool(watched, rates, at, rates.len(), &mut out);
    out
}

/// Causes of moments in which heat has no part.
fn explain_cool(watched: &Watched, rates: &[f64], from: usize, to: usize, out: &mut Vec<Finding>) {
    if from >= to {
        return;
    }
    let finding = |(cause, evidence)| Finding {
        from,
        to,
        cause,
        evidence,
    };
    if let Some(evidence) = limits::host(watched, from, to) {
        out.push(finding((Cause::HostLimited, evidence)));
        return;
    }
    if let Some(limited) = limits::power(watched, from, to) {
        out.push(finding(limited));
        return;
    }
    out.extend(writes::explain(watched, rates, from, to));
}

impl Cause {
    /// Garbage collection, on its way or steady?
    pub fn is_collection(&self) -> bool {
        matches!(
            self,
            Cause::CollectionOnset | Cause::CollectionSteady { .. }
        )
    }
}

#[cfg(test)]
#[path = "../tests/unit/attribution.rs"]
mod tests;
