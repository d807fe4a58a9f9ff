//! Verification results of several passes over the same blocks.

use assay_integrity::finding::Unjudged;
use assay_store::model::VerifySummary;
use assay_units::text::group_digits;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstPass<'a> {
    pub passes: usize,
    /// Mismatched blocks of any kind.
    pub bad_blocks: u64,
    pub summary: &'a VerifySummary,
}

/// The reasons, each with its count: `716 their write failed`; `None` without any that a verdict
/// needs.
pub fn not_judged(summary: &VerifySummary) -> Option<(u64, String)> {
    let reasons = summary.not_judged.iter();
    // Blocks that a job read before it wrote them are of no interest to a verdict.
    let reasons = reasons.filter(|(key, n)| *key != Unjudged::NotWritten.name() && **n > 0);
    let blocks = reasons.clone().map(|(_, n)| n).sum();
    let text = |(key, n): (&String, &u64)| {
        let known = Unjudged::of_name(key);
        let reason = known.map_or(key.as_str(), |reason| reason.text());
        format!("{} {reason}", group_digits(*n))
    };
    let texts: Vec<String> = reasons.map(text).collect();
    (blocks > 0).then(|| (blocks, texts.join("; ")))
}

/// There were blocks to verify, and none of them could be judged: the test of the data was not
/// passed, and says nothing about the drive.
pub fn is_unverified(summary: &VerifySummary) -> bool {
    summary.blocks_checked == 0 && not_judged(summary).is_some()
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
    Some(WorstPass { passes: all.len(), bad_blocks: bad_blocks(summary), summary })
}

#[cfg(test)]
#[path = "../tests/unit/verified.rs"]
mod tests;
