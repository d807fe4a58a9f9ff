//! How far repetition alone moves a figure, from public measurements: of the same procedure on
//! several units of one model (reference data of iocost and others, docs/statistics.md), the
//! ratios between units are
//!
//! | workload | median | worst |
//! |---|---:|---:|
//! | random reads | 1.003 | 1.21 |
//! | random writes of 4 KiB | 1.02 | 1.21 |
//! | two minutes of sequential writes | 1.056 | 6.68 |
//!
//! Runs of one unit differ by less. A ratio counts as beyond repetition from the square of the
//! worst on for reads and random writes, and from the worst on for sequential writes, whose worst
//! already is a cache that was full on one side only.

use assay_stats::compare::Quantity;
use assay_store::model::CellPlan;

/// The square of 1.21, rounded up.
pub const READS: f64 = 1.5;
pub const RANDOM_WRITES: f64 = 1.5;
pub const SEQUENTIAL_WRITES: f64 = 7.0;
/// Percentiles of latencies depend on a few operations: no public figures of their repetition are
/// known, and runs of one drive gave up to twice (docs/statistics.md, "Tail percentiles").
pub const TAIL_OF_READS: f64 = 3.0;

/// `None` for workloads of which too little is known: deallocations, and tails where writes take
/// part, whose collection of garbage comes in bursts.
pub fn known(plan: &CellPlan, quantity: Quantity) -> Option<f64> {
    let mean = match plan.workload.rw.as_str() {
        "read" | "randread" => READS,
        "randwrite" | "randrw" => RANDOM_WRITES,
        "write" | "rw" => SEQUENTIAL_WRITES,
        _ => return None,
    };
    match quantity {
        Quantity::Mean => Some(mean),
        Quantity::TailPercentile if plan.workload.rw.ends_with("read") => Some(TAIL_OF_READS),
        Quantity::TailPercentile => None,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/compare/repeatability.rs"]
mod tests;
