//! From what the engine measured to the results that are recorded.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use assay_integrity::checker::examples;
use assay_stats::HostLoad;
use assay_store::model::{CellKind, CellResult, ProcessLoad, VerifySummary};
use assay_units::Op;
use assay_workload::plan::{Engine, Workload};
use assay_workload::run::{DriveOutcome, RunOutcome};

use crate::expand::Cell;

/// When a cell ended because the drive had settled: after this many seconds.
pub(super) const SETTLED_S: &str = "settled_s";
/// It ended because the drive had become as hot as it may.
pub(super) const LIMIT_REACHED: &str = "temperature_limit_reached";

/// How many findings of verification are told in words.
const EXAMPLES: usize = 5;

/// On a drive that keeps data from run to run, the blocks that an earlier run left behind must not pass for this one's: a
/// writing job gets a seed that no other has. (A simulated drive begins empty of them, and stays reproducible: there only the repetitions of
/// a cell differ.)
pub(super) fn with_verify_seed(cell: &Cell, workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    if !workload.writes() || workload.verify_bytes.is_none() {
        return workload;
    }
    if workload.engine == Engine::Sim {
        let again = cell
            .plan
            .round
            .as_ref()
            .map_or(0, |r| r.number.saturating_sub(1));
        let seed = workload.seed.wrapping_add(u64::from(again));
        workload.verify_seed = workload.verify_seed.or((again > 0).then_some(seed));
    } else {
        // The standard library keys every hasher from the system's entropy. 53 bits: JSON readers that hold numbers as floats
        // (jq, JavaScript) must give the seed back as it was.
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

/// The cell's rate beside that of the cell it is compared with, or of the drive alone.
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
