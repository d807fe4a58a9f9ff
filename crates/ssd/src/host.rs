//! The processors of the machine that measured a drive, for those who drive a simulated one.
//!
//! Each I/O of a synchronous thread costs a processor the time [`BenchProfile::host_overhead_ns`] (a change of threads and what it does
//! to the caches is part of it). With as many processors as threads, no thread waits for another. With fewer, threads share them as a
//! Linux kernel of the reports' years (4.14) lets them:
//! - Each processor has a queue of its own and runs the thread that was given the least time so far (CFS, the Completely Fair
//!   Scheduler: `sched-design-CFS.txt` of the kernel's documentation). An I/O's worth of work is never interrupted: a waking thread
//!   preempts only one that is `sched_wakeup_granularity_ns` (4 ms on 8 processors or more) ahead of it.
//! - A thread that slept keeps what it is behind, up to half of `sched_latency_ns` (6 ms, times 1 + log2 of the processors, at most of
//!   8: `place_entity` with `GENTLE_FAIR_SLEEPERS`); one that changes processors takes with it what it is ahead or behind
//!   (`migrate_task_rq_fair`).
//! - A thread wakes up where it ran last when that processor is idle, else on the processor that takes the drive's interrupt
//!   (`wake_affine`). Nobody looks for an idle one: both searches give up where processors are idle for moments only
//!   (`select_idle_cpu` with `SIS_AVG_CPU`; `idle_balance` below `sched_migration_cost_ns`, 0.5 ms).
//!
//! So rates end near `processors / overhead`, whatever the drive could do: report D's "CPU-limited". And while processors are
//! saturated, queues of some are long by chance for milliseconds, and a thread that is ahead of those it meets there waits until all
//! of them have caught up: the tail that report D saw vanish when a power limit made the drive the slower part.
//!
//! # Non-goals
//! No other load, no time slices (nothing runs that long), no periodic balancing. That interrupts fall on processors at random (as
//! `irqbalance` leaves them, or as a drive with fewer vectors than processors must) is assumed: no report says how they were bound. Bound
//! to the processors that submit, threads would stay where they are, and the tail would be short.

mod fair;

use assay_units::Nanos;

use crate::profile::BenchProfile;
use fair::Fair;

/// Processors and what they do.
#[derive(Clone, Debug)]
pub struct HostCpus {
    overhead: Nanos,
    /// Where each thread has a processor: when it is free.
    free: Vec<Nanos>,
    /// Where threads share processors.
    shared: Option<Box<Fair>>,
}

impl HostCpus {
    /// The machine of a profile with that many threads (at least one), idle since `now`.
    pub fn new(bench: &BenchProfile, threads: u32, now: Nanos) -> HostCpus {
        let threads = threads.max(1) as usize;
        let overhead = Nanos(bench.host_overhead_ns.value);
        let cores = bench.host_cores.as_ref();
        let shared = cores
            .map(|cores| usize::from(cores.value.max(1)))
            .filter(|&cores| cores < threads)
            .map(|cores| Box::new(Fair::new(overhead.0, cores, threads)));
        HostCpus {
            overhead,
            free: vec![now; threads],
            shared,
        }
    }

    /// A thread has an I/O to submit at `now` (not before that of the last call): when it has done so, or `None` when that
    /// depends on what other threads want and [`HostCpus::take`] will tell.
    #[inline]
    pub fn hand_over(&mut self, thread: u32, io: u32, now: Nanos) -> Option<Nanos> {
        if let Some(shared) = &mut self.shared {
            shared.hand_over(thread, io, now.0);
            return None;
        }
        let free = &mut self.free[thread as usize];
        *free = now.max(*free) + self.overhead;
        Some(*free)
    }

    /// When [`HostCpus::take`] next has something, [`Nanos::MAX`] when nothing waits.
    #[inline]
    pub fn next(&self) -> Nanos {
        match &self.shared {
            Some(shared) => Nanos(shared.next_ns()),
            None => Nanos::MAX,
        }
    }

    /// The next I/O handed over with `None` that is submitted by `until`, in order of time: when, and which.
    #[inline]
    pub fn take(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        self.shared.as_mut()?.take(until.0)
    }
}

#[cfg(test)]
#[path = "../tests/unit/host.rs"]
mod tests;
