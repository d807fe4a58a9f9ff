//! The rate by which a section is judged: operations of small blocks, bytes of large ones.

use assay_analysis::estimate::{Estimates, MeanEstimate};
use assay_store::model::CellResult;

use crate::grid::Section;

/// Rates of blocks up to this size are operations per second; of larger ones, bytes.
const SMALL_BYTES: u64 = 16 << 10;

/// True when rates are operations per second.
pub fn small_blocks(section: &Section<'_>) -> bool {
    let all = section.points.iter().map(|p| p.plan().workload.bs_bytes);
    all.max().is_some_and(|largest| largest <= SMALL_BYTES)
}

/// Unit of a section's rates.
pub fn rate_unit(section: &Section<'_>) -> &'static str {
    if small_blocks(section) { "IOPS" } else { "MiB/s" }
}

/// A result's rate in [`rate_unit`].
pub fn rate_of(section: &Section<'_>, result: &CellResult) -> f64 {
    if small_blocks(section) { result.iops() } else { result.mib_per_s() }
}

/// Confidence interval of the rate, and one unit of the rate in its units.
pub fn rate_estimate(section: &Section<'_>, estimates: &Estimates) -> (MeanEstimate, f64) {
    if small_blocks(section) { (estimates.iops, 1.0) } else { (estimates.mib_per_s, 1.0) }
}
