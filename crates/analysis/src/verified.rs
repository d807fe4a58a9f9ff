//! Verification results of several passes over the same blocks.

use assay_store::model::VerifySummary;

/// The pass with most mismatched blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstPass<'a> {
    /// Number of passes.
    pub passes: usize,
    /// Its mismatched blocks, of any kind.
    pub bad_blocks: u64,
    /// Its result.
    pub summary: &'a VerifySummary,
}

/// Mismatched blocks of one pass.
pub fn bad_blocks(summary: &VerifySummary) -> u64 {
    summary.found.values().sum()
}

/// The worst of several passes, of equal ones the one over most blocks. A block that two passes
/// found mismatched is one block, so passes are not summed.
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
