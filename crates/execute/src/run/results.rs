use std::hash::{BuildHasher, Hasher, RandomState};

use assay_analysis::verified;
use assay_stats::HostLoad;
use assay_store::model::{
    AREA_WRITTEN_PCT, CellKind, CellResult, HOST_BUSY_PCT, LATENCY_TARGET_DEPTH, OpRecord,
    TraceCounts, TraceLag, TracePhaseRecord, TraceRecord, VerifySummary,
};
use assay_units::rng::mix;
use assay_units::{Op, Rng};
use assay_workload::plan::{Engine, Workload};
use assay_workload::run::{DriveOutcome, RunOutcome};
use assay_workload::worker::TraceOutcome;

use super::cell::Finished;
use assay_suite::expand::Cell;

/// Mean of the last intervals of a job that ended by `steadystate`.
pub(super) const STEADY_IOPS: &str = "steady_iops";
/// Value of a cell that stopped early in steady state: its length, seconds.
pub(super) const SETTLED_S: &str = "settled_s";
pub(super) const LIMIT_REACHED: &str = "temperature_limit_reached";

const EXAMPLES: usize = 5;

/// Gives a cell's writes seeds that no other job has, so that blocks left by an earlier job do not
/// pass for this one's.
pub(super) fn with_data_seeds(cell: &Cell, drive: usize, workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    if !workload.writes() {
        return workload;
    }
    workload.data_seed = match workload.engine {
        Engine::Sim => Rng::stream(mix(workload.seed, drive as u64), &cell.plan.id).next_u64(),
        // The standard library keys every hasher from the system's entropy.
        _ => RandomState::new().build_hasher().finish(),
    };
    if workload.verify_bytes.is_some() {
        // 53 bits: JSON readers that hold numbers as floats (jq, JavaScript) must give the seed
        // back as it was.
        workload.verify_seed.get_or_insert(workload.data_seed >> 11);
    }
    workload
}

pub(super) fn result_of(
    part: &DriveOutcome,
    outcome: &RunOutcome,
    host: Option<HostLoad>,
    simulated: bool,
) -> CellResult {
    let mut result = CellResult {
        drive: part.drive,
        elapsed: part.totals.elapsed(),
        read: part.totals.summary(Op::Read),
        write: part.totals.summary(Op::Write),
        discard: part.totals.summary(Op::Discard),
        flush: part.totals.summary(Op::Flush),
        host,
        process: (!simulated).then_some(outcome.host),
        busiest_thread_pct: (!simulated).then_some(part.busiest_thread_pct),
        trace: part.trace.as_ref().map(|trace| Box::new(trace_record(trace))),
        ..CellResult::default()
    };
    if let Some(written_pct) = part.area_written_pct {
        let values = &mut result.values;
        values.insert(AREA_WRITTEN_PCT.to_owned(), written_pct);
    }
    if let Some(depth) = part.found_depth {
        let values = &mut result.values;
        values.insert(LATENCY_TARGET_DEPTH.to_owned(), depth.into());
    }
    if let Some(busy_pct) = part.host_busy_pct {
        result.values.insert(HOST_BUSY_PCT.to_owned(), busy_pct);
    }
    if let Some(report) = &part.verify {
        let counts = report.found();
        let found = counts.iter().map(|(class, &n)| (class.name(), n));
        let unreadable = ("unreadable", report.unreadable_blocks);
        let found = found.chain(Some(unreadable).filter(|(_, n)| *n > 0));
        let not_judged = report.not_judged();
        let not_judged = not_judged.iter().map(|(reason, &n)| (reason.name(), n));
        let findings = report.first_findings();
        result.verify = Some(VerifySummary {
            blocks_checked: report.judged_blocks(),
            found: found.map(|(k, n)| (k.to_owned(), n)).collect(),
            not_judged: not_judged.map(|(k, n)| (k.to_owned(), n)).collect(),
            examples: (findings.iter().take(EXAMPLES)).map(ToString::to_string).collect(),
            seed: report.seed(),
        });
    }
    result
}

fn trace_record(trace: &TraceOutcome) -> TraceRecord {
    let plan = &trace.plan;
    let (counts, ios) = (trace.counts, trace.ios);
    let phases = trace.phases.iter().map(|phase| TracePhaseRecord {
        start: trace.start + phase.start,
        end: trace.start + phase.end,
        ops: (phase.ops.iter())
            .map(|(op, counts)| OpRecord { op: *op, counts: counts.clone() })
            .collect(),
    });
    TraceRecord {
        file: plan.options.source.name(),
        format: plan.survey.format.name().to_owned(),
        timing: plan.options.timing.text(),
        timed: plan.is_timed(),
        map: plan.map.text(),
        requests: plan.requests,
        whole: trace.is_whole,
        counts: TraceCounts {
            requests: counts.requests,
            ios,
            aligned: counts.aligned,
            clipped: counts.clipped,
            outside: counts.outside,
            wrapped: counts.wrapped,
            split: counts.split,
            unusable: counts.read.unusable,
            reordered: counts.read.reordered,
        },
        lag: TraceLag {
            late_ios: trace.late_ios,
            mean_ns: trace.lag_sum.0 as f64 / ios.max(1) as f64,
            max_ns: trace.longest_lag,
        },
        phases: phases.collect(),
    }
}

pub(super) fn bad_blocks(result: &CellResult) -> u64 {
    result.verify.as_ref().map_or(0, verified::bad_blocks)
}

pub(super) fn compare(cell: &Cell, drive: usize, earlier: &Finished, result: &mut CellResult) {
    let of = |id: &String| earlier.get(id)?.iter().find(|r| r.drive == drive);
    let rate = result.mib_per_s();
    if let Some(other) = cell.compare_with.as_ref().and_then(of)
        && other.mib_per_s() > 0.0
    {
        let ratio = rate / other.mib_per_s();
        result.values.insert(cell.ratio_name.clone(), ratio);
    }
    if cell.plan.kind == CellKind::Concurrent
        && let Some(alone) = cell.alone.get(&drive).and_then(of)
    {
        let values = &mut result.values;
        values.insert("mib_per_s_alone".to_owned(), alone.mib_per_s());
        values.insert("iops_alone".to_owned(), alone.iops());
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/results.rs"]
mod tests;
