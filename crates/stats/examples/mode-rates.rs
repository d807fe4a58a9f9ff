//! Rates of false and of found modes, of simulated series: the tables of docs/statistics.md,
//! "Modes".
//!
//! ```text
//! cargo run --release -p assay-stats --example mode-rates
//! ```

use assay_stats::modes::modes;
use assay_units::Rng;

/// Series per figure.
const SERIES: u64 = 1000;
/// Lengths, values.
const LENGTHS: [usize; 3] = [60, 400, 2000];

/// Noise of first order with this memory around 1,000, relative standard deviation 0.2; with
/// `white`, half of its variance has no memory.
fn with_memory(memory: f64, white: bool, length: usize, rng: &mut Rng) -> Vec<f64> {
    let mut value = rng.normal();
    let mut next = || {
        value = memory * value + (1.0 - memory * memory).sqrt() * rng.normal();
        match white {
            true => (value + rng.normal()) / 2.0_f64.sqrt(),
            false => value,
        }
    };
    (0..length).map(|_| 1000.0 + 200.0 * next()).collect()
}

/// Two levels, the lower with this share of the time, `apart` standard deviations of their normal
/// noise from each other; dwell times are geometric with this mean of a cycle.
fn two_levels(share: f64, apart: f64, cycle: f64, length: usize, rng: &mut Rng) -> Vec<f64> {
    let mut low = rng.unit_f64() < share;
    let mut next = || {
        let dwell = cycle * if low { share } else { 1.0 - share };
        if rng.unit_f64() < 1.0 / dwell {
            low = !low;
        }
        let level = if low { 0.0 } else { apart };
        1000.0 + 100.0 * (level + rng.normal())
    };
    (0..length).map(|_| next()).collect()
}

/// Share of series with so many modes, percent, by length.
fn row(name: &str, wanted: impl Fn(usize) -> bool, draw: impl Fn(usize, &mut Rng) -> Vec<f64>) {
    let rate = |length: usize| {
        let counted = (0..SERIES).filter(|seed| {
            let values = draw(length, &mut Rng::stream(*seed, name));
            modes(&values).is_some_and(|found| wanted(found.len()))
        });
        format!("{:.1}", counted.count() as f64 / SERIES as f64 * 100.0)
    };
    println!("| {name} | {} |", LENGTHS.map(rate).join(" | "));
}

fn main() {
    println!("| one mode: called several, % of {SERIES} series | 60 values | 400 | 2000 |");
    println!("|---|---:|---:|---:|");
    for memory in [0.0, 0.5, 0.8, 0.9, 0.97, 0.99] {
        let name = format!("AR({memory})");
        row(&name, |n| n > 1, |length, rng| with_memory(memory, false, length, rng));
    }
    row(
        "AR(0.97) and independent noise",
        |n| n > 1,
        |length, rng| with_memory(0.97, true, length, rng),
    );
    row(
        "lognormal",
        |n| n > 1,
        |length, rng| (0..length).map(|_| 1000.0 * (0.5 * rng.normal()).exp()).collect(),
    );
    row("uniform", |n| n > 1, |length, rng| (0..length).map(|_| 1000.0 * rng.unit_f64()).collect());
    row(
        "trend of 5 standard deviations",
        |n| n > 1,
        |length, rng| {
            let value = |t: usize| 1000.0 + 100.0 * (5.0 * t as f64 / length as f64 + rng.normal());
            (0..length).map(value).collect()
        },
    );
    println!();
    println!("| two levels: called two, % of {SERIES} series | 60 values | 400 | 2000 |");
    println!("|---|---:|---:|---:|");
    for (share, apart, cycle) in [
        (0.5, 3.0, 10.0),
        (0.5, 4.0, 10.0),
        (0.5, 6.0, 10.0),
        (0.3, 6.0, 10.0),
        (0.1, 6.0, 10.0),
        (0.5, 6.0, 40.0),
        (0.3, 10.0, 40.0),
    ] {
        let name = format!(
            "{:.0} % low, {apart} standard deviations apart, a cycle of {cycle}",
            share * 100.0
        );
        row(&name, |n| n == 2, |length, rng| two_levels(share, apart, cycle, length, rng));
    }
}
