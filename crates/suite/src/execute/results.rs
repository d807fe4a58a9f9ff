//! Conversion of a job's outcome to the recorded cell result.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use assay_integrity::checker::examples;
use assay_stats::HostLoad;
use assay_store::model::{CellKind, CellResult, ProcessLoad, VerifySummary};
use assay_units::Op;
use assay_workload::plan::{Engine, Workload};
use assay_workload::run::{DriveOutcome, RunOutcome};

use crate::expand::Cell;

/// Value of a cell that stopped early in steady state: its length, seconds.
pub(super) const SETTLED_S: &str = "settled_s";
/// Value of a cell that stopped early at the temperature limit.
pub(super) const LIMIT_REACHED: &str = "temperature_limit_reached";

/// Verification findings quoted in the result.
const EXAMPLES: usize = 5;

/// A writing job on a real drive gets a unique verification seed, so that blocks of an earlier run do not pass verification. A
/// simulated drive starts without such blocks; to stay reproducible, only the repetitions of a cell differ in their seed.
pub(super) fn with_verify_seed(cell: &Cell, workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    if !workload.writes() || workload.verify_bytes.is_none() {
        return workload;
    }
    if workload.engine == Engine::Sim {
        // Rounds count from 1.
        let repetition = cell.plan.round.as_ref().map_or(0, |r| r.number - 1);
        let seed = workload.seed.wrapping_add(u64::from(repetition));
        workload.verify_seed = workload.verify_seed.or((repetition > 0).then_some(seed));
    } else {
        // RandomState is keyed from the system's entropy. 53 bits: JSON readers with float numbers (jq, JavaScript) keep the value.
        let fresh = || RandomState::new().build_hasher().finish() >> 11;
        workload.verify_seed = workload.verify_seed.or_else(|| Some(fresh()));
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
        host,
        process: (!simulated).then_some(ProcessLoad {
            cpu_user_pct: outcome.host.cpu_user_pct,
            cpu_system_pct: outcome.host.cpu_system_pct,
        }),
        busiest_thread_pct: (!simulated).then_some(part.busiest_thread_pct),
        ..CellResult::default()
    };
    if let Some(report) = &part.verify {
        let counts = &report.findings.counts;
        let found = [
            ("corrupt", counts.corrupt),
            ("torn", counts.torn),
            ("misplaced", counts.misplaced),
            ("stale", counts.stale),
            ("lost", counts.lost),
            ("unreadable", report.unreadable_blocks),
        ];
        result.verify = Some(VerifySummary {
            blocks_checked: report.findings.blocks_checked,
            found: found
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .map(|(k, n)| (k.to_owned(), n))
                .collect(),
            examples: examples(&report.findings.first, EXAMPLES),
            seed: report.seed,
        });
    }
    result
}

pub(super) fn bad_blocks(part: &DriveOutcome) -> u64 {
    part.verify
        .as_ref()
        .map_or(0, |r| r.findings.counts.total() + r.unreadable_blocks)
}

/// Add the ratio to the cell it is compared with, and the rates of the drive measured alone.
pub(super) fn compare(
    cell: &Cell,
    drive: usize,
    earlier: &BTreeMap<String, Vec<CellResult>>,
    result: &mut CellResult,
) {
    let of = |id: &String| earlier.get(id)?.iter().find(|r| r.drive == drive);
    let rate = result.mib_per_s();
    if let Some(other) = cell.compare_with.as_ref().and_then(of)
        && other.mib_per_s() > 0.0
    {
        let ratio = rate / other.mib_per_s();
        result.values.insert(cell.ratio_name.clone(), ratio);
    }
    if cell.plan.kind == CellKind::AllAboard
        && let Some(alone) = cell.alone.get(&drive).and_then(of)
    {
        result
            .values
            .insert("mib_per_s_alone".to_owned(), alone.mib_per_s());
        result.values.insert("iops_alone".to_owned(), alone.iops());
    }
}
