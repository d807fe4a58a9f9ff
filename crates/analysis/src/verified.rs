//! What verification found, of cells that looked at the same blocks.

use assay_store::model::VerifySummary;

/// The pass over a drive's blocks that found most of them wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstPass<'a> {
    /// How many passes there were.
    pub passes: usize,
    /// Blocks that it found wrong, of any kind.
    pub bad_blocks: u64,
    /// What it found.
    pub summary: &'a VerifySummary,
}

/// Blocks that one pass found wrong.
pub fn bad_blocks(summary: &VerifySummary) -> u64 {
    summary.found.values().sum()
}

/// The worst of several passes, of equally bad ones the one over most blocks. Each cell that verifies is a pass over its blocks: a block that
/// two of them found wrong is one, and no sum of them means anything.
pub fn worst_pass<'a>(passes: impl Iterator<Item = &'a VerifySummary>) -> Option<WorstPass<'a>> {
    let all: Vec<&VerifySummary> = passes.collect();
    let summary = all
        .iter()
        .max_by_key(|summary| (bad_blocks(summary), summary.blocks_checked))?;
    Some(WorstPass {
        passes: all.len(),
        bad_blocks: bad_blocks(summary),
        summary,
    })
}

#[cfg(test)]
#[path = "../tests/unit/verified.rs"]
mod tests;
