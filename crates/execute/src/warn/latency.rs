//! What a job that looks for a depth did not find.

use assay_store::model::Warning;
use assay_store::model::warning::code;
use assay_workload::worker::LatencyTarget;

use super::{nothing_measured, warning};

/// `found`: I/Os in flight that the target allows; `None` where the job ended before it was known.
pub(crate) fn latency_target(target: LatencyTarget, found: Option<u32>) -> Option<Warning> {
    match found {
        Some(0) => Some(warning(
            code::LATENCY_TARGET_MISSED,
            format!(
                "with one I/O in flight already, fewer than {} % of the I/Os took at most {}",
                target.percentile, target.limit
            ),
            "the figures are those of one I/O in flight; give a longer --latency_target or a lower \
             --latency_percentile",
        )),
        Some(_) => None,
        None => Some(nothing_measured(
            &format!(
                "the job ended while it looked for a depth, each of which takes {}",
                target.window
            ),
            "give a longer --runtime or a shorter --latency_window",
        )),
    }
}
