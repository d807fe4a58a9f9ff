//! Prints `crates/stats/src/cohort/limits.rs`: the 95th percentile of the largest distance from the
//! median over Q_n in clean cohorts.
//!
//! ```sh
//! cargo run --release -p assay-stats --example outlier-limits > crates/stats/src/cohort/limits.rs
//! ```
//!
//! Cohorts are normal and seeded by their size: the output is the same on every machine with the
//! same mathematical library.

use std::io::Write as _;

use assay_stats::cohort::FALSE_ALARM;
use assay_stats::cohort::spread::qn;
use assay_stats::median;
use assay_units::Rng;

/// Values drawn per size: large cohorts vary less.
const DRAWS: usize = 4_000_000;
/// Bounds of the number of cohorts per size.
const COHORTS: (usize, usize) = (4_000, 200_000);

/// Sizes of the table: each up to 30, where even and odd sizes differ, then wider.
fn sizes() -> Vec<usize> {
    let wide = [
        35, 40, 45, 50, 60, 70, 80, 90, 100, 125, 150, 200, 250, 300, 400, 500, 700, 1000, 1500,
        2000, 3000, 5000,
    ];
    (6..=30).chain(wide).collect()
}

fn largest_distance(rng: &mut Rng, drives: usize) -> f64 {
    let values: Vec<f64> = (0..drives).map(|_| rng.normal()).collect();
    let (middle, scale) = (median(&values), qn(&values));
    let far = values.iter().map(|v| (v - middle).abs() / scale);
    far.fold(0.0, f64::max)
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "//! Outlier limits by number of drives. Generated: `cargo run --release -p assay-stats \
         --example outlier-limits`.\n\n/// (drives, limit in units of Q_n): 95 % of clean cohorts \
         have no drive beyond it.\npub const LIMITS: [(usize, f64); {}] = [",
        sizes().len()
    )?;
    for drives in sizes() {
        let mut rng = Rng::stream(drives as u64, "outlier-limits");
        let cohorts = (DRAWS / drives).clamp(COHORTS.0, COHORTS.1);
        let mut largest: Vec<f64> =
            (0..cohorts).map(|_| largest_distance(&mut rng, drives)).collect();
        largest.sort_by(f64::total_cmp);
        let at = ((1.0 - FALSE_ALARM) * cohorts as f64) as usize;
        writeln!(out, "    ({drives}, {:.3}),", largest[at])?;
    }
    writeln!(out, "];")
}
