//! Gathers the intervals of the threads, and hands them over in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use assay_device::load::HostSampler;
use assay_io::clock::Clock;
use assay_stats::Interval;
use assay_units::Nanos;

use super::super::RunObserver;
use super::{Message, Shared, ThreadedJob};

/// How long after an interval's end the collector waits for the workers' counts of it.
pub(super) const COLLECT_GRACE: Nanos = Nanos::from_millis(20);

/// How often the collector checks the stop flag when no message arrives.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct Channels<'a> {
    pub(super) messages: &'a Receiver<Message>,
    pub(super) recyclers: &'a [SyncSender<Interval>],
}

impl Channels<'_> {
    pub(super) fn recycle(&self, thread: usize, mut interval: Interval) {
        interval.clear();
        // Dropped where the thread has ended or has enough.
        let _ = self.recyclers[thread].try_send(interval);
    }
}

/// By (job, index, ramp), each in the storage of the thread that came first.
pub(super) type Gathered = BTreeMap<(usize, u32, bool), (usize, Interval)>;

pub(super) fn collect(
    jobs: &mut [ThreadedJob<'_>],
    start: Nanos,
    channels: &Channels<'_>,
    stop: &AtomicBool,
    shared: &Shared<'_>,
    stop_all: &AtomicBool,
    observer: &mut dyn RunObserver,
) {
    let clock = Clock::monotonic();
    let intervals = jobs.iter().map(|job| job.workload.interval);
    let interval = intervals.min().unwrap_or(Nanos::SECOND);
    let mut gathered = Gathered::new();
    let mut sampler = HostSampler::start();
    let grace = COLLECT_GRACE.min(Nanos(interval.0 / 4));
    let mut boundary = start + interval + grace;
    let mut index = 0;
    loop {
        if stop.load(Ordering::Relaxed) || shared.failed.load(Ordering::SeqCst) {
            stop_all.store(true, Ordering::Relaxed);
        }
        let left = boundary - clock.now();
        let wait = Duration::from_nanos(left.0).min(POLL_INTERVAL);
        match channels.messages.recv_timeout(wait) {
            Ok(Message::Interval(id, interval)) => {
                jobs[id.job].outcome.totals.add(&interval);
                let key = (id.job, interval.index, interval.ramp);
                match gathered.get_mut(&key) {
                    Some((_, merged)) => {
                        merged.merge(&interval);
                        channels.recycle(id.thread, interval);
                    }
                    None => {
                        gathered.insert(key, (id.thread, interval));
                    }
                }
            }
            Ok(Message::Ready) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Message::Done(id, end)) => {
                let outcome = &mut *jobs[id.job].outcome;
                outcome.end.merge(&end.end);
                outcome.busiest_thread_pct = outcome.busiest_thread_pct.max(end.busy_pct);
                outcome.add_verify(end.verify);
                outcome.add_depth(end.found_depth);
                outcome.trace = outcome.trace.take().or(end.trace.map(|trace| *trace));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if clock.now() < boundary {
            continue;
        }
        // A share that comes later than this (from a thread blocked in a slow I/O) is handed over
        // later, and adds to its interval.
        hand_over(&mut gathered, jobs, index, channels, observer);
        for job in jobs.iter() {
            if let Some((_, monitor)) = &job.handle
                && let Some(telemetry) = monitor.telemetry()
            {
                observer.telemetry(job.outcome.drive, boundary - grace - start, telemetry);
            }
        }
        if let Some(load) = sampler.sample() {
            observer.host(index, load);
        }
        // Saturates as the recorder's index does, after 49 days of 1 ms.
        index = u32::try_from((clock.now() - start).0 / interval.0).unwrap_or(u32::MAX);
        boundary = start + Nanos(interval.0.saturating_mul(u64::from(index) + 1)) + grace;
    }
    hand_over(&mut gathered, jobs, u32::MAX, channels, observer);
}

pub(super) fn hand_over(
    gathered: &mut Gathered,
    jobs: &[ThreadedJob<'_>],
    last: u32,
    channels: &Channels<'_>,
    observer: &mut dyn RunObserver,
) {
    let keys: Vec<_> = gathered.keys().copied().collect();
    for key in keys.into_iter().filter(|&(_, index, _)| index <= last) {
        if let Some((thread, interval)) = gathered.remove(&key) {
            let drive = jobs[key.0].outcome.drive;
            match interval.is_measured() {
                true => observer.interval(drive, &interval),
                false => observer.read_back(drive, &interval),
            }
            channels.recycle(thread, interval);
        }
    }
}
