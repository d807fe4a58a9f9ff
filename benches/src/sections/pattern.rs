//! In this process and thread. Processor time, not wall time: nothing here waits, and other
//! programs on the machine then disturb only through caches and memory. Copying, making and
//! checking take turns, so that these disturbances fall on all.

use std::hint::black_box;

use anyhow::{Result, ensure};
use assay_integrity::pattern::Pattern;

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{Spread, cpu_s};

/// Beyond any processor's cache, and a ring of 32 chunks of 128 KiB.
const SIZES: [(&str, usize); 2] = [("512 MiB", 512 << 20), ("4 MiB", 4 << 20)];
/// Bytes per measurement: small buffers are gone through several times.
const PER_ROUND_BYTES: usize = 2 << 30;
const CHUNK_BYTES: usize = 128 << 10;
const GOAL: f64 = 0.5;
const SEED: u64 = 0x5eed;

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "pattern",
        "The stream's pattern",
        "One core, in this process: GB (10^9 bytes) of stream per second of processor time. \
         *copy* is `memcpy` from one buffer of that size to another; *make* fills a buffer, \
         *check* compares an intact one with the stream; *by chunks* restarts at every chunk of \
         128 KiB, as workers do that process chunks in any order.",
    );
    let mut table = Table::new(&["buffer", "work", "GB/s", "of copy"]);
    for (label, bytes) in SIZES {
        let (mut buffer, mut other) = (vec![1_u8; bytes], vec![2_u8; bytes]);
        let total = if bench.quick { PER_ROUND_BYTES / 4 } else { PER_ROUND_BYTES };
        let times = (total / bytes).max(1);
        let pattern = Pattern::new(SEED);
        let mut rates: [Vec<f64>; 5] = Default::default();
        bench.repeat(&format!("pattern, {label}"), bench.rounds(), |_| {
            let mut right = true;
            let timed = |series: &mut Vec<f64>, work: &mut dyn FnMut()| {
                let from_s = cpu_s();
                (0..times).for_each(|_| work());
                series.push((times * bytes) as f64 / 1e9 / (cpu_s() - from_s));
            };
            let [copy, make, check, make_chunks, check_chunks] = &mut rates;
            timed(copy, &mut || {
                black_box(&mut other).copy_from_slice(black_box(&buffer));
            });
            timed(make, &mut || {
                pattern.at(0).fill(black_box(&mut buffer));
            });
            timed(check, &mut || {
                right &= pattern.at(0).check(black_box(&buffer)).is_ok();
            });
            let beats = |chunk: usize| (chunk * CHUNK_BYTES / 16) as u64;
            timed(make_chunks, &mut || {
                let chunks = black_box(&mut buffer).chunks_mut(CHUNK_BYTES);
                for (chunk, bytes) in chunks.enumerate().rev() {
                    pattern.at(beats(chunk)).fill(bytes);
                }
            });
            timed(check_chunks, &mut || {
                let chunks = black_box(&buffer).chunks(CHUNK_BYTES);
                for (chunk, bytes) in chunks.enumerate().rev() {
                    right &= pattern.at(beats(chunk)).check(bytes).is_ok();
                }
            });
            ensure!(
                right,
                "the pattern just generated does not match: an error of assay-integrity or of \
                 this machine's memory"
            );
            Ok(())
        })?;
        let works = ["copy", "make", "check", "make by chunks", "check by chunks"];
        for (work, series) in works.iter().zip(&rates) {
            let of_copy = Spread::new(series.iter().zip(&rates[0]).map(|(a, b)| a / b));
            let rate = Spread::new(series.iter().copied());
            table.row([&label, work, &rate.show(2), &of_copy.show(2)]);
            if bytes == SIZES[0].1 && ["make", "check"].contains(work) {
                section.goal(
                    format!("{work} the pattern at {GOAL} times the rate of copying, {label}"),
                    format!("{} times", of_copy.show(2)),
                    of_copy.median >= GOAL,
                );
            }
        }
    }
    section.tables.push(table);
    section.commands.push("assay-bench pattern".to_owned());
    Ok(section)
}
