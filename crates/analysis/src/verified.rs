//! Verification results of several passes over the same blocks.

use assay_store::model::VerifySummary;
use assay_units::text::group_digits;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstPass<'a> {
    pub passes: usize,
    /// Mismatched blocks of any kind.
    pub bad_blocks: u64,
    pub summary: &'a VerifySummary,
}

/// Why blocks with a key of [`VerifySummary::not_judged`] are not judged.
pub fn not_judged_text(key: &str) -> &str {
    match key {
        NOT_WRITTEN => "read before the job wrote them",
        "write_failed" => "their write failed",
        HOST_MEMORY => "read from the host's memory, not from the drive",
        "zeroes" => "zeroes: never written, deallocated, or lost",
        "other_data" => "not written by a verifying job, or overwritten since",
        "other_job" => "written by a job with another seed",
        "other_address" => "of a job that addressed them differently: a copy, or another partition",
        "partly_overwritten" => "overwritten in part since, or their last write was interrupted",
        "longer_than_read" => "longer than one read: use a larger --bs",
        other => other,
    }
}

/// Blocks that a job read before it wrote them: of no interest to a verdict.
pub const NOT_WRITTEN: &str = "not_written";
pub const HOST_MEMORY: &str = "host_memory";

/// The reasons, each with its count: `716 their write failed`; `None` without any that a verdict
/// needs.
pub fn not_judged(summary: &VerifySummary) -> Option<(u64, String)> {
    let reasons = summary.not_judged.iter();
    let reasons = reasons.filter(|(key, n)| key.as_str() != NOT_WRITTEN && **n > 0);
    let blocks = reasons.clone().map(|(_, n)| n).sum();
    let text = |(key, n): (&String, &u64)| format!("{} {}", group_digits(*n), not_judged_text(key));
    let texts: Vec<String> = reasons.map(text).collect();
    (blocks > 0).then(|| (blocks, texts.join("; ")))
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
