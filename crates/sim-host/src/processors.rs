//! Processors of the measuring host: submission overhead and CPU scheduling.
//!
//! Each I/O takes a processor for the time that [`HostCosts`] has for its thread: synchronous with
//! one I/O in flight, else asynchronous. A thread that slept begins [`HostCosts::wake_ns`] later.
//! With fewer processors than threads, threads share them as Linux 4.14 (the kernel of the
//! published measurements' years) schedules them, wake-ups included:
//! - Each processor runs the thread with the least virtual runtime of its run queue (CFS, the
//!   Completely Fair Scheduler: `Documentation/scheduler/sched-design-CFS.txt`). The work of one
//!   I/O is never interrupted: a waking thread preempts only one that is
//!   `sched_wakeup_granularity_ns` (4 ms on 8 processors or more) ahead of it.
//! - A waking thread keeps the virtual runtime that it is behind, up to half of `sched_latency_ns`
//!   (6 ms, times 1 + log2 of the processors, at most of 8: `place_entity` with
//!   `GENTLE_FAIR_SLEEPERS`); a migrating one keeps its offset from the run queue's minimum
//!   (`migrate_task_rq_fair`).
//! - A thread wakes on the processor where it ran last when that is idle, else on the one that
//!   takes the drive's interrupt (`wake_affine`). Searches for an idle processor give up where
//!   processors are idle for microseconds only (`select_idle_cpu` with `SIS_AVG_CPU`;
//!   `idle_balance` below `sched_migration_cost_ns`, 0.5 ms).
//!
//! So rates end near `processors / overhead` (AnandTech PBlaze5: "CPU-limited"), and saturated
//! processors give a latency tail.
//!
//! # Non-goals
//! No other load, no time slices, no periodic load balancing. Interrupts are assumed to fall on
//! processors at random (as `irqbalance` leaves them); bound to the submitting processors, threads
//! would not migrate and the tail would be short.

mod cfs;

use assay_units::Nanos;

use crate::host::HostCosts;
use cfs::CfsScheduler;

#[derive(Clone, Copy, Debug)]
struct Thread {
    /// When its processor is free, if it has its own.
    free: Nanos,
    io_ns: u64,
}

#[derive(Clone, Debug)]
pub struct HostProcessors {
    wake_ns: u64,
    kib_ns: u64,
    threads: Vec<Thread>,
    /// Where threads share processors.
    shared: Option<Box<CfsScheduler>>,
}

impl HostProcessors {
    /// At least one thread, each with `depth` I/Os in flight; all are idle since `now`.
    pub fn new(costs: &HostCosts, threads: u32, depth: u32, now: Nanos) -> HostProcessors {
        let own = HostProcessors::unscheduled(costs, threads, depth, now);
        let threads = own.threads.len();
        let shared = (costs.processors)
            .map(|processors| usize::from(processors.max(1)))
            .filter(|&processors| processors < threads)
            .map(|processors| Box::new(CfsScheduler::new(processors, threads)));
        HostProcessors { shared, ..own }
    }

    /// One processor per thread: a [shared host](crate::shared_host) divides its processors itself.
    pub fn unscheduled(costs: &HostCosts, threads: u32, depth: u32, now: Nanos) -> HostProcessors {
        let thread = Thread { free: now, io_ns: costs.io_ns(depth) };
        HostProcessors {
            wake_ns: costs.wake_ns,
            kib_ns: costs.kib_ns,
            threads: vec![thread; threads.max(1) as usize],
            shared: None,
        }
    }

    /// Another depth of one thread.
    pub fn set_depth(&mut self, thread: u32, depth: u32, costs: &HostCosts) {
        if let Some(thread) = self.threads.get_mut(thread as usize) {
            thread.io_ns = costs.io_ns(depth);
        }
    }

    /// Processor time of an I/O.
    #[inline]
    pub fn work(&self, thread: u32, bytes: u32) -> Nanos {
        Nanos(self.threads[thread as usize].io_ns + self.kib_ns * u64::from(bytes) / 1024)
    }

    /// Queue an I/O of a thread with a processor of its own; returns when it leaves the processor.
    #[inline]
    pub fn submit_for(&mut self, thread: u32, bytes: u32, now: Nanos) -> Nanos {
        let work = self.work(thread, bytes);
        let free = &mut self.threads[thread as usize].free;
        let begins = if now > *free { now + Nanos(self.wake_ns) } else { *free };
        *free = begins + work;
        *free
    }

    /// Queue an I/O, not before the last call's time; returns when it reaches the drive, or `None`
    /// when that depends on other threads and [`HostProcessors::pop`] will return it.
    #[inline]
    pub fn submit(&mut self, thread: u32, io: u32, bytes: u32, now: Nanos) -> Option<Nanos> {
        if self.shared.is_some() {
            let work = self.work(thread, bytes);
            let shared = self.shared.as_mut()?;
            shared.submit(thread, io, [work.0, self.wake_ns], now.0);
            return None;
        }
        Some(self.submit_for(thread, bytes, now))
    }

    /// I/Os of a single thread reach the drive in the order in which they are queued.
    pub fn are_in_order(&self) -> bool {
        self.threads.len() == 1 && self.shared.is_none()
    }

    /// When [`HostProcessors::pop`] may next return an I/O; [`Nanos::MAX`] when none waits.
    #[inline]
    pub fn next_event(&self) -> Nanos {
        match &self.shared {
            Some(shared) => Nanos(shared.next_ns()),
            None => Nanos::MAX,
        }
    }

    /// The next I/O, in order of time, that leaves a shared processor by `until`.
    #[inline]
    pub fn pop(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        self.shared.as_mut()?.pop(until.0)
    }
}

#[cfg(test)]
#[path = "../tests/unit/processors.rs"]
mod tests;
