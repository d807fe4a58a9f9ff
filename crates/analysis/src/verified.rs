//! Verification results of several passes over the same blocks.

use assay_store::model::VerifySummary;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstPass<'a> {
    pub passes: usize,
    /// Mismatched blocks of any kind.
    pub bad_blocks: u64,
    pub summary: &'a VerifySummary,
}

pub fn bad_blocks(summary: &VerifySummary) -> u64 {
    summary.found.values().sum()
}

/// Of equal passes the one over most blocks. A block that two passes found mismatched is one block,
/// so passes are not summed.
pub fn worst_pass<'a>(passes: impl Iterator<Item = &'a VerifySummary>) -> Option<WorstPass<'a>> {
    let all: Vec<&VerifySummary> = passes.collect();
    let worst = |summary: &&&VerifySummary| (bad_blocks(summary), summary.blocks_checked);
    let summary = all.iter().max_by_key(worst)?;
    Some(WorstPass {
        passes: all.len(),
        bad_blocks: bad_blocks(summary),
        summary,
    })
}

#[cfg(test)]
#[path = "../tests/unit/verified.rs"]
mod tests;
