//! A simulation of the tool as a whole, in this process: a run folder, a report and a replayed
//! stream on a file system that fails, fills up, writes short or loses its power, on simulated
//! drives with faults, with signals, stops and a date that jumps, all at once, and each from one
//! seed. Then the tool is started again without faults.
//!
//! # Architecture
//! [`schedule`] draws what goes wrong; [`tool`] does what the commands do; [`checks`] says what must
//! hold. The file system is that of `e2e/power_loss.rs`, served by a thread of this process: a
//! change is an event of the schedule, so that a seed repeats the same events.
//! The journal of several drives is in the same order in each run, whatever their threads do.
//!
//! # Non-goals
//! Real drives and the engine's system calls: `workload/tests/clockwork`, `e2e`.

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

#[path = "../e2e/fuse.rs"]
mod fuse;
#[allow(dead_code, reason = "shared with the end-to-end tests, which use the rest")]
#[path = "../e2e/power_fail_fs/mod.rs"]
mod power_fail_fs;

mod checks;
mod schedule;
mod tool;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use checks::{Counts, Simulation};

/// Seeds of rare schedules: a write fails between the last checkpoint and a stop, so that all that
/// was durable comes back and more is missing.
const KEPT: [u64; 3] = [5818, 6844, 9025];

/// Simulates these seeds on all processors; the first failures, with their seeds, are printed.
fn simulate(seeds: Range<u64>) {
    let repeated = std::env::var("ASSAY_SIMULATION_SEED").ok();
    let repeated: Option<u64> = repeated.map(|seed| seed.parse().unwrap());
    let seeds: Vec<u64> = match repeated {
        Some(seed) => vec![seed],
        None => KEPT.into_iter().chain(seeds).collect(),
    };
    let Some(simulation) = Simulation::new() else {
        return;
    };
    let (next, counts) = (AtomicU64::new(0), Mutex::new(Counts::default()));
    let failed = Mutex::new(Vec::new());
    let work = || {
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let schedule = simulation.schedule(seed);
            let simulated = catch_unwind(AssertUnwindSafe(|| simulation.simulate(&schedule)));
            match simulated {
                Ok(of_one) => counts.lock().unwrap().add(of_one),
                Err(_) => failed.lock().unwrap().push(schedule),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    println!("{} schedules: {:?}", seeds.len(), counts.lock().unwrap());
    let failed = failed.into_inner().unwrap();
    for schedule in failed.iter().take(10) {
        println!("FAILED: {schedule}");
    }
    assert!(failed.is_empty(), "{} of {} failed", failed.len(), seeds.len());
}

#[test]
fn whatever_fails_what_was_finished_is_there_once_and_the_rest_can_be_done() {
    simulate(0..300);
}

#[test]
#[ignore = "10,000 schedules: minutes; make test-long"]
fn ten_thousand_schedules() {
    simulate(0..10_000);
}
