//! Percentile curves of single reads: no stairs, and tails as long as published ones.

use crate::common;

use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{GIB, Nanos, Op, Rng};
use common::{command, one};

const READS: usize = 20_000;

/// Sorted latencies of 4 KiB random reads, one at a time, in nanoseconds.
fn curve(drive: &mut Drive) -> Vec<u64> {
    let span = drive.identity().capacity_bytes.min(64 * GIB) / 4096;
    let mut rng = Rng::new(3);
    let mut now = Nanos::ZERO;
    let mut read = || {
        let place = rng.below(span) * 4096;
        let done = one(drive, now, command(0, Op::Read, place, 4096));
        let latency = done.at - now;
        now = done.at + Nanos(2_000);
        latency.0
    };
    let mut times: Vec<u64> = (0..READS).map(|_| read()).collect();
    times.sort_unstable();
    times
}

fn flash_drives() -> Vec<(&'static str, Drive)> {
    let drives = Profile::names().into_iter().map(|name| {
        let drive = common::drive(name, DriveOptions::default());
        (name, drive)
    });
    let has_flash = |(_, drive): &(&str, Drive)| drive.profile().in_place.is_none();
    drives.filter(has_flash).collect()
}

#[test]
fn curves_have_neither_plateaus_nor_steps() {
    for (name, mut drive) in flash_drives() {
        let times = curve(&mut drive);
        let median = times[READS / 2];
        // Plateau: many reads within a thousandth of the median.
        let plateau = times.chunk_by(|a, b| a / (median / 1000) == b / (median / 1000));
        let longest = plateau.map(<[u64]>::len).max().unwrap_or(0);
        assert!(longest < READS / 20, "{name}: {longest} reads at one latency");
        // Step: no read between two latencies, from the first to the 99th percentile.
        let middle = &times[READS / 100..READS / 100 * 99];
        let step = middle.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        assert!(step < median / 20, "{name}: a step of {step} ns at {median}");
    }
}

/// Published of the class: the P3700's p99 is 1.26 times its median, at depth 1
/// (latency_percentiles.csv, MLC). Three page types of TLC lie further apart.
#[test]
fn tails_of_single_reads_are_as_long_as_published() {
    for (name, mut drive) in flash_drives() {
        let times = curve(&mut drive);
        let at =
            |share: f64| times[(share * READS as f64) as usize] as f64 / times[READS / 2] as f64;
        let (p99, p999) = (at(0.99), at(0.999));
        assert!((1.03..1.60).contains(&p99), "{name}: p99 {p99}");
        assert!(p999 >= p99 && p999 < 3.5, "{name}: p99.9 {p999}");
        if name == "intel-p3700" {
            assert!((p99 / 1.26 - 1.0).abs() < 0.10, "{p99}");
        }
    }
}

#[test]
fn the_same_page_reads_alike_and_the_same_seed_gives_the_same_curve() {
    let drive = |seed: u64| {
        let options = DriveOptions { seed, ..DriveOptions::default() };
        common::drive("samsung-951", options)
    };
    assert_eq!(curve(&mut drive(1)), curve(&mut drive(1)));
    assert_ne!(curve(&mut drive(1)), curve(&mut drive(2)));
    let mut drive = drive(1);
    let mut now = Nanos::ZERO;
    let mut of_place = |place: u64| {
        let times = (0..200).map(|_| {
            let done = one(&mut drive, now, command(0, Op::Read, place << 30, 4096));
            let latency = done.at - now;
            now = done.at + Nanos(5_000);
            latency.0 as f64
        });
        let times: Vec<f64> = times.collect();
        let mean = times.iter().sum::<f64>() / 200.0;
        let variance = times.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 200.0;
        (mean, variance.sqrt())
    };
    let pages: Vec<(f64, f64)> = (0..40).map(|place| of_place(place * 2)).collect();
    let mean = pages.iter().map(|page| page.0).sum::<f64>() / 40.0;
    let between = pages.iter().map(|page| (page.0 - mean).powi(2)).sum::<f64>() / 40.0;
    for (_, within) in &pages {
        assert!(*within < 0.5 * between.sqrt(), "{within} {}", between.sqrt());
    }
}
