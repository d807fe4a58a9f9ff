//! A drive with known latencies, on a clock that advances only in waits, and the I/O loop on it.
#![allow(clippy::unwrap_used, dead_code, missing_docs, reason = "each test file uses its part")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::session::{TargetKind, TargetProperties};
use assay_io::{Completion, Io, Target, TargetError, Telemetry};
use assay_stats::{Interval, JobTotals, OpSummary, Recorder};
use assay_units::{Nanos, Op};
use assay_workload::io_loop::{IntervalSink, IoLoopConfig, LoopEnd, run_io_loop};
use assay_workload::options::JobOptions;
use assay_workload::plan::{Pacing, Workload};
use assay_workload::worker::Worker;

/// Serves up to `servers` I/Os at once, each in `latency`; fails every `fail_every`-th, or nearly
/// all from one on; never answers any after `hang_after`.
pub struct Clockwork {
    pub now: Nanos,
    pub latency: Nanos,
    free_at: Vec<Nanos>,
    done: BinaryHeap<Reverse<(Nanos, u64, u32, i32)>>,
    pub seen: Vec<Io>,
    /// How often the loop has waited.
    pub reaps: u64,
    pub fail_every: Option<usize>,
    pub hang_after: usize,
    /// From this I/O on all fail, except every n-th.
    pub fail_from: usize,
    pub works_every: usize,
}

impl Clockwork {
    pub fn new(latency: Nanos, servers: usize) -> Clockwork {
        Clockwork {
            now: Nanos(12_345),
            latency,
            free_at: vec![Nanos::ZERO; servers],
            done: BinaryHeap::new(),
            seen: Vec::new(),
            reaps: 0,
            fail_every: None,
            hang_after: usize::MAX,
            fail_from: usize::MAX,
            works_every: usize::MAX,
        }
    }
}

impl Target for Clockwork {
    fn now(&mut self) -> Nanos {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            self.seen.push(*io);
            let n = self.seen.len();
            if n > self.hang_after {
                continue;
            }
            let server = self.free_at.iter_mut().min().unwrap();
            *server = self.now.max(*server) + self.latency;
            let fails = self.fail_every.is_some_and(|every| n.is_multiple_of(every));
            let fails = fails || n >= self.fail_from && !n.is_multiple_of(self.works_every);
            let result = if fails { -5 } else { io.len_bytes as i32 };
            self.done.push(Reverse((*server, n as u64, io.slot, result)));
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.reaps += 1;
        let before = out.len();
        while out.len() - before < min {
            match self.done.peek() {
                Some(&Reverse((at, _, slot, result))) if at <= until => {
                    self.now = self.now.max(at);
                    self.done.pop();
                    out.push(Completion { slot, result });
                }
                _ => {
                    assert!(until < Nanos::MAX, "would wait for ever");
                    self.now = self.now.max(until);
                    break;
                }
            }
        }
        Ok(())
    }

    fn buffer(&mut self, _slot: u32) -> Option<&mut [u8]> {
        None
    }
}

#[derive(Default)]
pub struct Collected {
    pub totals: JobTotals,
    pub intervals: Vec<Interval>,
    pub stop: AtomicBool,
    pub stop_after_intervals: Option<usize>,
}

/// Sets the run's stop flag after this number of intervals.
pub struct Stopper<'a>(&'a AtomicBool, &'a mut Collected);

impl IntervalSink for Stopper<'_> {
    fn interval(
        &mut self,
        _job: usize,
        interval: Interval,
        _telemetry: Option<Telemetry>,
    ) -> Option<Interval> {
        let Stopper(stop, collected) = self;
        collected.totals.add(&interval);
        collected.intervals.push(interval);
        if collected.stop_after_intervals == Some(collected.intervals.len()) {
            stop.store(true, Ordering::Relaxed);
        }
        None
    }
}

pub fn run(
    target: &mut Clockwork,
    options: &JobOptions,
    collected: Collected,
) -> (Collected, LoopEnd) {
    run_for(target, options, collected, Nanos::MAX)
}

pub fn planned(options: &JobOptions) -> Workload {
    let facts = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "clockwork".to_owned(),
        capacity_bytes: 1 << 30,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::Simulated,
    };
    Workload::plan(options, &facts).unwrap()
}

/// [`run`], with the timeout without completions.
pub fn run_for(
    target: &mut Clockwork,
    options: &JobOptions,
    mut collected: Collected,
    io_timeout: Nanos,
) -> (Collected, LoopEnd) {
    let workload = planned(options);
    let start = target.now;
    let mut workers: Vec<Worker> = (0..workload.numjobs)
        .map(|i| Worker::new(&workload, i, i * workload.iodepth, start).unwrap())
        .collect();
    let open = matches!(workload.pacing, Pacing::Open { .. });
    let mut recorder = Recorder::new(start, workload.interval, workload.ramp, open);
    let stop = AtomicBool::new(collected.stop.load(Ordering::Relaxed));
    let end = run_io_loop(
        target,
        &mut workers,
        IoLoopConfig { io_timeout, ..IoLoopConfig::new(&workload) },
        std::slice::from_mut(&mut recorder),
        &stop,
        &mut Stopper(&stop, &mut collected),
    )
    .unwrap();
    (collected, end)
}

pub fn go(target: &mut Clockwork, options: &JobOptions) -> Collected {
    run(target, options, Collected::default()).0
}

pub fn read_of(target: &mut Clockwork, options: &JobOptions) -> OpSummary {
    go(target, options).totals.summary(Op::Read)
}

pub fn reading(runtime: &str) -> JobOptions {
    JobOptions {
        rw: Some("randread".into()),
        runtime: Some(runtime.into()),
        ..JobOptions::default()
    }
}

pub const LATENCY: Nanos = Nanos::from_micros(100);
