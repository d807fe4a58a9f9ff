//! Consecutive workloads without a pause: the level that each settles at, and how long the change
//! takes (SNIA SSS PTS, cross stimulus recovery test).

use assay_store::model::CellView;
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_units::MIB;

/// A workload is divided into blocks of equal length.
const BLOCKS: usize = 60;
/// A level needs this number of blocks.
const MIN_BLOCKS: usize = 10;
/// The mean of the last blocks is the level.
const LEVEL_SHARE: f64 = 0.2;
/// Distance from the level, percent: half of the range that SNIA's steady-state rule allows.
pub const WITHIN_PCT: f64 = 10.0;

/// One workload of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Stimulus {
    /// Rate of the first block.
    pub first_mib_per_s: f64,
    /// Lowest rate of a block.
    pub lowest_mib_per_s: f64,
    /// Mean of the last fifth.
    pub level_mib_per_s: f64,
    /// From when on every block is within [`WITHIN_PCT`] of the level, since the start; `None`: not
    /// before the last fifth.
    pub settled_s: Option<f64>,
    /// Length of a block: the resolution of `settled_s`.
    pub block_s: f64,
}

/// `None` with too few intervals.
pub fn stimulus_of_cell(drive: &CellDrive) -> Option<Stimulus> {
    let intervals = drive.measured_intervals();
    let count = intervals.len().min(BLOCKS);
    if count < MIN_BLOCKS {
        return None;
    }
    let edge = |block: usize| block * intervals.len() / count;
    let blocks: Vec<(f64, f64)> = (0..count)
        .map(|block| {
            let inside = &intervals[edge(block)..edge(block + 1)];
            let bytes: u64 = inside.iter().map(|i| i.bytes()).sum();
            let span_s: f64 = inside.iter().map(|i| i.elapsed_s()).sum();
            let rate = bytes as f64 / MIB as f64 / span_s.max(f64::MIN_POSITIVE);
            (inside[0].start_s(), rate)
        })
        .collect();
    let last = count - (count as f64 * LEVEL_SHARE).ceil() as usize;
    let rates = |blocks: &[(f64, f64)]| blocks.iter().map(|b| b.1).collect::<Vec<f64>>();
    let level = assay_stats::mean(&rates(&blocks[last..]));
    let outside = |rate: f64| (rate - level).abs() > WITHIN_PCT / 100.0 * level;
    let settled = blocks.iter().rposition(|b| outside(b.1)).map_or(0, |at| at + 1);
    let start_s = blocks[0].0;
    Some(Stimulus {
        first_mib_per_s: blocks[0].1,
        lowest_mib_per_s: rates(&blocks).into_iter().fold(f64::MAX, f64::min),
        level_mib_per_s: level,
        settled_s: (settled <= last).then(|| blocks[settled].0 - start_s),
        block_s: (intervals[intervals.len() - 1].end_s() - start_s) / count as f64,
    })
}

/// The cell before with the same workload: the drive has had another one since.
pub fn same_before<'a>(run: &'a Run, cell: &CellRecord) -> Option<&'a CellRecord> {
    let at = run.cells.iter().position(|c| c.plan.id == cell.plan.id)?;
    let key = |c: &CellRecord| (c.plan.workload.rw.clone(), c.plan.workload.bs_bytes);
    run.cells[..at].iter().rev().find(|c| {
        c.plan.view == Some(CellView::CrossStimulus)
            && c.plan.drives == cell.plan.drives
            && key(c) == key(cell)
    })
}

/// Level relative to that of the same workload before in the sequence.
pub fn kept_pct(run: &Run, cell: &CellRecord, drive: &CellDrive) -> Option<f64> {
    let before = same_before(run, cell)?.drive(drive.drive)?;
    let before = stimulus_of_cell(before)?.level_mib_per_s;
    (before > 0.0).then_some(100.0 * stimulus_of_cell(drive)?.level_mib_per_s / before)
}

#[cfg(test)]
#[path = "../tests/unit/stimulus.rs"]
mod tests;
