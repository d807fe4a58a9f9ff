//! Without a shared host the drives share nothing, so a drive does the same whatever the others do;
//! with one ([`assay_sim_host::shared_host`]) it meets their load, and does the same however the
//! threads are scheduled. What they measure reaches the observer in the thread of the caller, in
//! order of virtual time, then of the drives: that order is the same from run to run too. Channels
//! are bounded, so a drive that is cheap to simulate waits for the others.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use assay_integrity::finding::VerifyReport;
use assay_io::{Target, Telemetry};
use assay_sim_host::{HostProfile, SharedHost, SimTarget};
use assay_stats::Interval;

use super::{DriveOutcome, RunError, RunObserver, recorder, trace_feed};
use crate::coverage::CoverageMap;
use crate::exit::ExitGroups;
use crate::flow::FlowGroups;
use crate::io_loop::{IntervalSink, IoLoopConfig, LoopEnd, run_io_loop};
use crate::plan::Workload;
use crate::worker::{Searchers, TraceOutcome, Worker};

pub(super) struct SimulatedJob<'a> {
    pub(super) parts: Vec<(&'a Workload, &'a mut DriveOutcome)>,
    pub(super) target: &'a mut SimTarget,
}

struct Measured {
    part: usize,
    interval: Interval,
    telemetry: Option<Telemetry>,
}

const QUEUED: usize = 8;

struct DriveEnd {
    end: LoopEnd,
    /// Of each worker: its workload, and what it found.
    verify: Vec<(usize, Option<VerifyReport>)>,
    coverage: Vec<Option<Arc<CoverageMap>>>,
    traces: Vec<(usize, TraceOutcome)>,
    depths: Vec<(usize, Option<u32>)>,
    /// Share of the processors of a shared host, percent.
    host_busy_pct: Option<f64>,
}

pub(super) fn run_simulated(
    mut jobs: Vec<SimulatedJob<'_>>,
    host: Option<HostProfile>,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<(), RunError> {
    let shares = host.map(|host| SharedHost::shares(host, jobs.len()));
    for (job, share) in jobs.iter_mut().zip(shares.into_iter().flatten()) {
        job.target.share_host(share);
    }
    match <[SimulatedJob<'_>; 1]>::try_from(jobs) {
        Ok([job]) => {
            let (workloads, mut outcomes): (Vec<_>, Vec<_>) = job.parts.into_iter().unzip();
            let mut sink = CallerSink { outcomes: &mut outcomes, observer };
            let done = run_on_its_host(&workloads, job.target, stop, &mut sink)?;
            finish(&mut outcomes, done);
            Ok(())
        }
        Err(jobs) => run_in_threads(jobs, stop, observer),
    }
}

fn run_in_threads(
    jobs: Vec<SimulatedJob<'_>>,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<(), RunError> {
    thread::scope(|scope| {
        let mut drives = Vec::with_capacity(jobs.len());
        for SimulatedJob { parts, target } in jobs {
            let (workloads, outcomes): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let (sender, measured) = mpsc::sync_channel(QUEUED);
            let (recycler, recycled) = mpsc::sync_channel(QUEUED);
            let mut sink = ChannelSink { sender, recycled };
            // The sink is dropped with the closure, which ends the drive's messages.
            let thread = scope.spawn(move || run_on_its_host(&workloads, target, stop, &mut sink));
            drives.push(DriveThread { measured, recycler, next: None, outcomes, thread });
        }
        while let Some((drive, measured)) = next_in_time(&mut drives) {
            let unused = drive.outcomes[measured.part].receive(measured, observer);
            // Dropped where the thread has ended or has enough.
            let _ = drive.recycler.try_send(unused);
        }
        let mut first_error = Ok(());
        for mut drive in drives {
            match drive.thread.join() {
                Ok(Ok(done)) => finish(&mut drive.outcomes, done),
                Ok(Err(error)) => first_error = first_error.and(Err(error)),
                // A panic is a defect of the model.
                Err(panic) => resume_unwind(panic),
            }
        }
        first_error
    })
}

/// Given up also by a panic: the other drives would wait for it.
struct OnHost<'a>(&'a mut SimTarget);

impl Drop for OnHost<'_> {
    fn drop(&mut self) {
        self.0.leave_host();
    }
}

fn run_on_its_host(
    workloads: &[&Workload],
    target: &mut SimTarget,
    stop: &AtomicBool,
    sink: &mut dyn IntervalSink,
) -> Result<DriveEnd, RunError> {
    let target = OnHost(target);
    let done = run_drive(workloads, target.0, stop, sink)?;
    Ok(DriveEnd { host_busy_pct: target.0.leave_host(), ..done })
}

struct DriveThread<'scope, 'a> {
    measured: Receiver<Measured>,
    recycler: SyncSender<Interval>,
    /// Received, and not yet given to the observer.
    next: Option<Measured>,
    outcomes: Vec<&'a mut DriveOutcome>,
    thread: thread::ScopedJoinHandle<'scope, Result<DriveEnd, RunError>>,
}

fn next_in_time<'b, 'scope, 'a>(
    drives: &'b mut [DriveThread<'scope, 'a>],
) -> Option<(&'b mut DriveThread<'scope, 'a>, Measured)> {
    for drive in drives.iter_mut() {
        if drive.next.is_none() {
            drive.next = drive.measured.recv().ok();
        }
    }
    let end = |drive: &DriveThread<'_, '_>| Some(drive.next.as_ref()?.interval.end);
    let (_, index) = (drives.iter().enumerate())
        .filter_map(|(index, drive)| Some((end(drive)?, index)))
        .min()?;
    let drive = &mut drives[index];
    let measured = drive.next.take()?;
    Some((drive, measured))
}

impl DriveOutcome {
    /// Count what was measured and pass it on; returns the storage.
    fn receive(&mut self, measured: Measured, observer: &mut dyn RunObserver) -> Interval {
        let Measured { interval, telemetry, .. } = measured;
        self.totals.add(&interval);
        if !interval.is_measured() {
            observer.read_back(self.drive, &interval);
        } else if interval.end > interval.start || !interval.is_empty() {
            observer.interval(self.drive, &interval);
            if let Some(telemetry) = telemetry {
                observer.telemetry(self.drive, interval.end, telemetry);
            }
        }
        interval
    }
}

fn finish(outcomes: &mut [&mut DriveOutcome], done: DriveEnd) {
    for outcome in outcomes.iter_mut() {
        outcome.end = done.end;
        outcome.host_busy_pct = done.host_busy_pct;
    }
    for (outcome, coverage) in outcomes.iter_mut().zip(done.coverage) {
        outcome.area_written_pct = coverage.map(|map| map.written_pct());
    }
    for (part, depth) in done.depths {
        outcomes[part].add_depth(depth);
    }
    for (part, trace) in done.traces {
        outcomes[part].trace = Some(trace);
    }
    for (part, report) in done.verify {
        outcomes[part].add_verify(report);
    }
}

struct CallerSink<'a, 'b> {
    outcomes: &'a mut [&'b mut DriveOutcome],
    observer: &'a mut dyn RunObserver,
}

impl IntervalSink for CallerSink<'_, '_> {
    fn interval(
        &mut self,
        part: usize,
        interval: Interval,
        telemetry: Option<Telemetry>,
    ) -> Option<Interval> {
        let measured = Measured { part, interval, telemetry };
        Some(self.outcomes[part].receive(measured, self.observer))
    }
}

struct ChannelSink {
    sender: SyncSender<Measured>,
    recycled: Receiver<Interval>,
}

impl IntervalSink for ChannelSink {
    fn interval(
        &mut self,
        part: usize,
        interval: Interval,
        telemetry: Option<Telemetry>,
    ) -> Option<Interval> {
        // The caller receives until the drive has ended.
        let _ = self.sender.send(Measured { part, interval, telemetry });
        self.recycled.try_recv().ok()
    }
}

fn run_drive(
    workloads: &[&Workload],
    target: &mut SimTarget,
    stop: &AtomicBool,
    sink: &mut dyn IntervalSink,
) -> Result<DriveEnd, RunError> {
    let most = |of: fn(&Workload) -> u32| workloads.iter().map(|w| of(w)).max().unwrap_or(1);
    // Every worker has as many slots as the deepest one.
    let depth = most(|w| w.iodepth);
    let numjobs = workloads.iter().map(|w| w.numjobs).sum();
    target.begin_job(numjobs, depth, most(|w| w.access.max_bytes()))?;
    let start = target.now();
    let flows = FlowGroups::new(workloads.iter().copied());
    let exits = ExitGroups::new(workloads.iter().copied());
    let coverage: Vec<_> = workloads.iter().map(|w| CoverageMap::for_workload(w, false)).collect();
    let zones = super::zones::tables(workloads.iter().map(|&workload| (0, workload, None)))?;
    let mut workers = Vec::with_capacity(numjobs as usize);
    for (part, workload) in workloads.iter().enumerate() {
        let searchers = Searchers::new(workload);
        for index in 0..workload.numjobs {
            let first_slot = workers.len() as u32 * depth;
            let number = workers.len() as u32;
            if let Some(ids) = workload.placement_ids(index) {
                target.place_writes(number, ids);
            }
            target.set_depth(number, workload.iodepth);
            let worker = Worker::new(workload, index, first_slot, start)?;
            let worker = worker.of_job(part).with_flow(flows.share(workload));
            let worker = worker.with_coverage(coverage[part].clone());
            let worker = worker.with_zones(zones[part].clone());
            let worker = worker.with_searchers(searchers.clone());
            let worker = worker.with_trace(trace_feed(workload)?, workload.start_delay);
            workers.push(worker.with_exit(exits.share(workload)));
        }
    }
    let mut recorders: Vec<_> = workloads.iter().map(|w| recorder(w, start)).collect();
    let config = IoLoopConfig {
        depth,
        // One loop reaps for all: none waits longer than it asks for.
        batch_complete_min: (workloads.iter().map(|w| w.batch_complete_min)).min().unwrap_or(1),
        ..IoLoopConfig::new(workloads[0])
    };
    let end = run_io_loop(target, &mut workers, config, &mut recorders, stop, sink)?;
    let mut traces = Vec::new();
    for worker in &mut workers {
        if let Some(failure) = worker.take_failure() {
            return Err(failure.into());
        }
        let job = worker.job();
        traces.extend(worker.trace_outcome()?.map(|trace| (job, trace)));
    }
    Ok(DriveEnd {
        end,
        traces,
        depths: (workers.iter()).map(|worker| (worker.job(), worker.found_depth())).collect(),
        host_busy_pct: None,
        verify: (workers.iter()).map(|worker| (worker.job(), worker.verify_report())).collect(),
        coverage,
    })
}
