//! The hand-over at the end of an interval: no allocation in the I/O loop, and no effect on the
//! latency of later I/Os. A program of its own: its allocator, which counts, zeroes what others leave
//! to the kernel.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use assay_device::session::{TargetKind, TargetProperties};
use assay_io::{Completion, Io, Target, TargetError, Telemetry};
use assay_stats::{Interval, JobTotals, Recorder};
use assay_units::{Nanos, Op};
use assay_workload::io_loop::{IntervalSink, IoLoopConfig, run_io_loop};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::worker::Worker;

const LATENCY: Nanos = Nanos::from_micros(10);
const HAND_OVER: Nanos = Nanos::from_micros(70);

/// Completes every I/O after [`LATENCY`], on a clock that only moves when it waits.
struct FixedLatency {
    clock: Rc<Cell<Nanos>>,
    slots: Vec<u32>,
    lengths: Vec<u32>,
}

impl Target for FixedLatency {
    fn now(&mut self) -> Nanos {
        self.clock.get()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            self.slots.push(io.slot);
            self.lengths.push(io.len_bytes);
        }
        Ok(())
    }

    fn reap(
        &mut self,
        _min: usize,
        _until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.clock.set(self.clock.get() + LATENCY);
        for (slot, length) in self.slots.drain(..).zip(self.lengths.drain(..)) {
            let result = length as i32;
            out.push(Completion { slot, result });
        }
        Ok(())
    }

    fn buffer(&mut self, _slot: u32) -> Option<&mut [u8]> {
        None
    }
}

/// Takes [`HAND_OVER`] of the target's clock for every interval.
struct SlowSink {
    clock: Rc<Cell<Nanos>>,
    totals: JobTotals,
    intervals: u32,
}

impl IntervalSink for SlowSink {
    fn interval(
        &mut self,
        _job: usize,
        interval: Interval,
        _telemetry: Option<Telemetry>,
    ) -> Option<Interval> {
        self.clock.set(self.clock.get() + HAND_OVER);
        self.totals.add(&interval);
        self.intervals += 1;
        Some(interval)
    }
}

/// A random workload at depth 4 in intervals of 1 ms; returns the sink, and the allocations of the
/// loop.
fn run(rw: &str, runtime_ms: u32) -> (SlowSink, u64) {
    let properties = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "fixed latency".to_owned(),
        capacity_bytes: 1 << 30,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::Null,
    };
    let options = JobOptions {
        rw: Some(rw.into()),
        iodepth: Some(4),
        runtime: Some(format!("{runtime_ms}ms")),
        interval: Some("1ms".into()),
        ..JobOptions::default()
    };
    let workload = Workload::plan(&options, &properties).unwrap();
    let clock = Rc::new(Cell::new(Nanos(777)));
    let mut target = FixedLatency {
        clock: Rc::clone(&clock),
        slots: Vec::with_capacity(4),
        lengths: Vec::with_capacity(4),
    };
    let start = target.now();
    let mut workers = [Worker::new(&workload, 0, 0, start).unwrap()];
    let mut recorder = Recorder::new(start, workload.interval, workload.ramp, false);
    recorder.preallocate(&[Op::Read, Op::Write]);
    let mut sink = SlowSink { clock, totals: JobTotals::default(), intervals: 0 };
    let allocations = allocation_counter::measure(|| {
        run_io_loop(
            &mut target,
            &mut workers,
            IoLoopConfig::new(&workload),
            std::slice::from_mut(&mut recorder),
            &AtomicBool::new(false),
            &mut sink,
        )
        .unwrap();
    });
    (sink, allocations.count_total)
}

#[test]
fn the_loop_allocates_nothing_per_interval() {
    let (short, at_first) = run("randrw", 20);
    let (long, in_all) = run("randrw", 420);
    assert!(short.intervals >= 20 && long.intervals >= 420);
    assert_eq!(in_all, at_first, "allocations grow with the number of intervals");
}

/// Reads, because filling write buffers reads the clock again anyway.
#[test]
fn the_hand_over_time_is_not_latency() {
    let (sink, _) = run("randread", 50);
    let latency = sink.totals.summary(Op::Read).latency_ns;
    assert_eq!((latency.min, latency.max), (LATENCY.0, LATENCY.0));
}
