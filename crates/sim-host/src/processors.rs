//! Processors of the measuring host: submission overhead and CPU scheduling.
//!
//! Each I/O of a synchronous thread costs a processor [`BenchProfile::host_overhead_ns`]. With
//! fewer processors than threads, threads share them as Linux 4.14 (the kernel of the published
//! measurements' years) schedules them:
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

use assay_ssd::profile::BenchProfile;
use assay_units::Nanos;

use cfs::CfsScheduler;

#[derive(Clone, Debug)]
pub struct HostProcessors {
    overhead: Nanos,
    /// Per thread with a processor of its own: when the processor is free.
    free: Vec<Nanos>,
    /// Where threads share processors.
    shared: Option<Box<CfsScheduler>>,
}

impl HostProcessors {
    /// At least one thread; all are idle since `now`.
    pub fn new(bench: &BenchProfile, threads: u32, now: Nanos) -> HostProcessors {
        let own = HostProcessors::unscheduled(bench, threads, now);
        let threads = own.free.len();
        let cores = bench.host_cores.as_ref();
        let shared = cores
            .map(|cores| usize::from(cores.value.max(1)))
            .filter(|&cores| cores < threads)
            .map(|cores| Box::new(CfsScheduler::new(own.overhead.0, cores, threads)));
        HostProcessors { shared, ..own }
    }

    /// One processor per thread: a [shared host](crate::shared_host) divides its processors itself.
    pub fn unscheduled(bench: &BenchProfile, threads: u32, now: Nanos) -> HostProcessors {
        HostProcessors {
            overhead: Nanos(bench.host_overhead_ns.value),
            free: vec![now; threads.max(1) as usize],
            shared: None,
        }
    }

    pub fn overhead(&self) -> Nanos {
        self.overhead
    }

    /// Queue an I/O of a thread with a processor of its own; returns when it leaves the processor.
    #[inline]
    pub fn submit_for(&mut self, thread: u32, now: Nanos) -> Nanos {
        let free = &mut self.free[thread as usize];
        *free = now.max(*free) + self.overhead;
        *free
    }

    /// Queue an I/O, not before the last call's time; returns when it reaches the drive, or `None`
    /// when that depends on other threads and [`HostProcessors::pop`] will return it.
    #[inline]
    pub fn submit(&mut self, thread: u32, io: u32, now: Nanos) -> Option<Nanos> {
        if let Some(shared) = &mut self.shared {
            shared.submit(thread, io, now.0);
            return None;
        }
        Some(self.submit_for(thread, now))
    }

    /// I/Os of a single thread reach the drive in the order in which they are queued.
    pub fn are_in_order(&self) -> bool {
        self.free.len() == 1 && self.shared.is_none()
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
