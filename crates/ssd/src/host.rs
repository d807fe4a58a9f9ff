//! The processors of the machine that measured a drive, for those who drive a simulated one.
//!
//! Each I/O of a synchronous thread costs a processor the time [`BenchProfile::host_overhead_ns`]. With as many processors as threads,
//! no thread waits for another. With fewer, threads share: a thread wakes up on the processor where it ran last (Linux prefers it,
//! `select_task_rq_fair`), so each processor has its own threads and serves them in the order in which they become ready. Rates then
//! end at `processors / overhead`, whatever the drive could do, and latencies grow with the threads per processor: report D's
//! "CPU-limited".
//!
//! # Non-goals
//! No time slices (the overhead is far shorter than one), no migration, no other load.

use assay_units::Nanos;

use crate::profile::BenchProfile;

/// Processors and when each is free.
#[derive(Clone, Debug)]
pub struct HostCpus {
    overhead: Nanos,
    /// One per processor; one per thread when there is no limit.
    free: Vec<Nanos>,
}

impl HostCpus {
    /// The machine of a profile with that many threads (at least one), idle since `now`.
    pub fn new(bench: &BenchProfile, threads: u32, now: Nanos) -> HostCpus {
        let threads = threads.max(1) as usize;
        let cores = bench
            .host_cores
            .as_ref()
            .map_or(threads, |cores| usize::from(cores.value.max(1)));
        HostCpus {
            overhead: Nanos(bench.host_overhead_ns.value),
            free: vec![now; cores.min(threads)],
        }
    }

    /// A thread has an I/O's worth of work at `now`: when it is done. Call in order of time.
    #[inline]
    pub fn serve(&mut self, thread: u32, now: Nanos) -> Nanos {
        let processor = thread as usize % self.free.len();
        let free = &mut self.free[processor];
        *free = now.max(*free) + self.overhead;
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, Provenance, Sourced};

    fn cpus(cores: Option<u16>, threads: u32) -> HostCpus {
        let mut bench = Profile::builtin("samsung-951").unwrap().bench;
        bench.host_overhead_ns.value = 10;
        bench.host_cores = cores.map(|value| Sourced {
            value,
            provenance: Provenance::Assumed,
            source: "a test".to_owned(),
        });
        HostCpus::new(&bench, threads, Nanos(100))
    }

    #[test]
    fn threads_of_one_processor_wait_for_each_other() {
        let mut shared = cpus(Some(2), 4);
        let served = [0, 1, 2, 3].map(|thread| shared.serve(thread, Nanos(100)).0);
        assert_eq!(served, [110, 110, 120, 120]);
        assert_eq!(shared.serve(1, Nanos(500)).0, 510);
        let mut own = cpus(None, 4);
        let served = [0, 1, 2, 3].map(|thread| own.serve(thread, Nanos(100)).0);
        assert_eq!(served, [110; 4]);
        assert_eq!(
            own.serve(3, Nanos(105)).0,
            120,
            "one thread is one after the other"
        );
    }
}
