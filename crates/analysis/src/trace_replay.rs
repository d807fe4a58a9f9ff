//! Figures of a replayed trace by phase. They are those of AnandTech's Storage Bench
//! (docs/sources.md): average data rate, mean and 99th percentile latency, and energy of the whole
//! replay; here of each phase too. Energy is the sum over power readings, each the mean since the
//! one before, of their power times their time within the phase. Where readings cover less than
//! [`COVERED_SHARE`] of a phase it has no energy; phases shorter than the distance of two readings
//! share their power.

use assay_stats::{OpInterval, OpSummary};
use assay_store::model::{TelemetryRecord, TracePhaseRecord, TraceRecord};
use assay_store::read::CellDrive;
use assay_units::{Nanos, Op};
use serde::Serialize;

/// Power readings must cover this share of a phase.
pub const COVERED_SHARE: f64 = 0.95;

/// Figures of a phase, or of the whole replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TracePhaseFigures {
    /// Time since the cell's start.
    pub start_ns: Nanos,
    /// Time from the first due time (of a closed loop: submission) to the last completion.
    pub elapsed_ns: Nanos,
    /// Reads, writes and discards that completed.
    pub ios: u64,
    /// Reads and writes together, 10^6 bytes per second.
    pub mb_per_s: f64,
    pub read: OpSummary,
    pub write: OpSummary,
    #[serde(skip_serializing_if = "OpSummary::is_unused")]
    pub discard: OpSummary,
    #[serde(skip_serializing_if = "OpSummary::is_unused")]
    pub flush: OpSummary,
    /// `None` without power readings over the phase.
    pub energy_j: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TraceFigures {
    pub total: TracePhaseFigures,
    pub phases: Vec<TracePhaseFigures>,
}

/// `None` where the drive replayed no trace.
pub fn figures(part: &CellDrive) -> Option<TraceFigures> {
    let trace = part.result.as_ref()?.trace.as_deref()?;
    let of = |phase: &TracePhaseRecord| phase_figures(phase, &part.telemetry);
    Some(TraceFigures { total: of(&whole(trace)), phases: trace.phases.iter().map(of).collect() })
}

fn whole(trace: &TraceRecord) -> TracePhaseRecord {
    let starts = trace.phases.iter().map(|phase| phase.start);
    let ends = trace.phases.iter().map(|phase| phase.end);
    let mut all = TracePhaseRecord {
        start: starts.min().unwrap_or_default(),
        end: ends.max().unwrap_or_default(),
        ops: Vec::new(),
    };
    for record in trace.phases.iter().flat_map(|phase| &phase.ops) {
        match all.ops.iter_mut().find(|known| known.op == record.op) {
            Some(known) => known.counts.merge(&record.counts),
            None => all.ops.push(record.clone()),
        }
    }
    all
}

fn phase_figures(phase: &TracePhaseRecord, telemetry: &[TelemetryRecord]) -> TracePhaseFigures {
    let elapsed = phase.end - phase.start;
    let counts = |op: Op| phase.ops.iter().find(|record| record.op == op);
    let summary = |op: Op| {
        let counts = counts(op).map(|record| &record.counts);
        counts
            .map_or_else(OpSummary::default, |counts: &OpInterval| OpSummary::new(counts, elapsed))
    };
    let [read, write, discard, flush] = [Op::Read, Op::Write, Op::Discard, Op::Flush].map(summary);
    let bytes = read.bytes + write.bytes;
    TracePhaseFigures {
        start_ns: phase.start,
        elapsed_ns: elapsed,
        ios: read.ios + write.ios + discard.ios,
        mb_per_s: match elapsed > Nanos::ZERO {
            true => bytes as f64 / 1e6 / elapsed.as_secs_f64(),
            false => 0.0,
        },
        energy_j: energy_j(phase.start, phase.end, telemetry),
        read,
        write,
        discard,
        flush,
    }
}

fn energy_j(start: Nanos, end: Nanos, telemetry: &[TelemetryRecord]) -> Option<f64> {
    let (mut energy_mj, mut covered, mut last) = (0.0, Nanos::ZERO, Nanos::ZERO);
    let readings = telemetry.iter().filter_map(|t| Some((t.at, t.power_mw?)));
    for (at, power_mw) in readings {
        let within = at.min(end) - last.max(start);
        energy_mj += power_mw as f64 * within.as_secs_f64();
        covered += within;
        last = at;
    }
    let elapsed_s = (end - start).as_secs_f64();
    let share = covered.as_secs_f64() / elapsed_s;
    // What is not covered has the mean power of what is.
    (energy_mj > 0.0 && share >= COVERED_SHARE).then(|| energy_mj / 1e3 / share)
}

#[cfg(test)]
#[path = "../tests/unit/trace_replay.rs"]
mod tests;
