//! One host for several simulated drives: its processors and its PCIe uplink.
//!
//! # Mechanism
//! Each drive is simulated in a thread of its own and in virtual time of its own, which begins with the job. Time is cut into windows of [`WINDOW`].
//! At the end of a window the threads exchange what their drives took of the host in it (a barrier in virtual time); in the next window each drive
//! meets the load of all.
//! - *Processors* are shared equally among the threads that submit or complete an I/O (processor sharing, the limit of a fair scheduler with short
//!   time slices: L. Kleinrock, Queueing Systems II, 1976, 4.4). With more of them than processors, the processor time of an I/O takes longer by that ratio.
//! - The *uplink* is a rate that all drives share, such as the link between a chipset or PCIe switch and the processor. Transfers of a drive follow each
//!   other at its share of the rate: all of it while the demand fits, else in proportion to the demands. Their wait comes before the drive, which
//!   gives the rate and latency of one behind it.
//!
//! All sums are integers, so the results do not depend on how the threads are scheduled.
//!
//! # Limits
//! A drive meets the load of the others a window late. Run queues are not modelled one by one, as [`crate::processors`] does for a single drive.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use assay_units::Nanos;

/// Length of a window of virtual time: a few I/Os of a fast drive's thread, and far below an interval.
pub const WINDOW: Nanos = Nanos::from_micros(200);

/// Factors are in millionths.
const ONE: u64 = 1_000_000;

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostProfile {
    /// Processors (hardware threads).
    pub processors: u32,
    /// Rate of the uplink that all drives share, bytes per second; none where each drive has lanes of its own.
    pub uplink_bytes_per_second: Option<u64>,
}

/// What drives take of a host in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Demand {
    /// Time that threads spent at processors or waited for one, nanoseconds.
    at_processors_ns: u64,
    /// Bytes for the uplink, those included that still wait for it.
    uplink_bytes: u64,
}

#[derive(Debug)]
struct Barrier {
    /// Drives that still run.
    present: usize,
    arrived: usize,
    window: u64,
    sum: Demand,
    /// The sum of the window that ended last.
    last: Demand,
}

impl Barrier {
    fn complete(&mut self) {
        self.last = std::mem::take(&mut self.sum);
        self.arrived = 0;
        self.window += 1;
    }
}

/// A host that several drives share while a job runs on all of them.
#[derive(Debug)]
pub struct SharedHost {
    profile: HostProfile,
    barrier: Mutex<Barrier>,
    changed: Condvar,
}

impl SharedHost {
    /// The shares of so many drives. Each must be used in a thread of its own, or be dropped.
    pub fn shares(profile: HostProfile, drives: usize) -> Vec<HostShare> {
        assert!(profile.processors > 0, "a host has processors");
        let host = Arc::new(SharedHost {
            profile,
            barrier: Mutex::new(Barrier {
                present: drives,
                arrived: 0,
                window: 0,
                sum: Demand::default(),
                last: Demand::default(),
            }),
            changed: Condvar::new(),
        });
        let share = |_| HostShare {
            host: Arc::clone(&host),
            window_end: None,
            own: Demand::default(),
            busy_ns: 0,
            stretch: ONE,
            rate: profile.uplink_bytes_per_second,
            uplink_free: Nanos::ZERO,
        };
        (0..drives).map(share).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Barrier> {
        // The sums are whole at every point at which a thread could panic.
        self.barrier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Add a drive's demand in its present window, wait for that of the others, and return the sum.
    fn exchange(&self, own: Demand) -> Demand {
        let mut barrier = self.lock();
        barrier.sum.at_processors_ns += own.at_processors_ns;
        barrier.sum.uplink_bytes += own.uplink_bytes;
        barrier.arrived += 1;
        if barrier.arrived == barrier.present {
            barrier.complete();
            self.changed.notify_all();
            return barrier.last;
        }
        let window = barrier.window;
        while barrier.window == window {
            barrier = (self.changed.wait(barrier)).unwrap_or_else(PoisonError::into_inner);
        }
        barrier.last
    }

    fn leave(&self) {
        let mut barrier = self.lock();
        barrier.present -= 1;
        if barrier.present > 0 && barrier.arrived == barrier.present {
            barrier.complete();
            self.changed.notify_all();
        }
    }
}

/// The share of a drive. Dropped, it takes nothing any more, and the others do not wait for it.
#[derive(Debug)]
pub struct HostShare {
    host: Arc<SharedHost>,
    /// End of the present window; none before the first I/O.
    window_end: Option<Nanos>,
    own: Demand,
    /// Processor time so far.
    busy_ns: u64,
    /// How much longer processor time takes, millionths.
    stretch: u64,
    /// Its rate at the uplink, bytes per second.
    rate: Option<u64>,
    uplink_free: Nanos,
}

/// What an I/O meets at the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Processor time, waiting included.
    pub processor: Nanos,
    /// It reaches the drive no earlier than this.
    pub not_before: Nanos,
}

impl HostShare {
    /// An I/O of `bytes` at `now`, not before that of the last call, which costs `work` of a processor.
    pub fn admit(&mut self, now: Nanos, bytes: u64, work: Nanos) -> Admission {
        let mut window_end = self.window_end.unwrap_or(now + WINDOW);
        while now >= window_end {
            self.next_window(window_end);
            window_end += WINDOW;
        }
        self.window_end = Some(window_end);
        let processor = Nanos(scaled(work.0, self.stretch));
        self.busy_ns += work.0;
        self.own.at_processors_ns += processor.0;
        let not_before = match self.rate {
            None => now,
            Some(rate) => {
                self.own.uplink_bytes += bytes;
                let span = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
                self.uplink_free = self.uplink_free.max(now) + Nanos(span as u64);
                self.uplink_free
            }
        };
        Admission {
            processor,
            not_before,
        }
    }

    fn next_window(&mut self, ends: Nanos) {
        let profile = self.host.profile;
        let mut own = std::mem::take(&mut self.own);
        if let Some(rate) = self.rate {
            // What waits for the uplink wants it in the next window too.
            let waiting = self.uplink_free.max(ends) - ends;
            own.uplink_bytes += bytes_in(waiting, rate);
        }
        let all = self.host.exchange(own);
        let capacity_ns = u64::from(profile.processors) * WINDOW.0;
        self.stretch = ratio(all.at_processors_ns, capacity_ns).max(ONE);
        if let Some(rate) = profile.uplink_bytes_per_second {
            let fits = all.uplink_bytes <= bytes_in(WINDOW, rate);
            let own_rate = match fits || own.uplink_bytes == 0 {
                true => rate,
                false => scaled(rate, ratio(own.uplink_bytes, all.uplink_bytes)).max(1),
            };
            self.rate = Some(own_rate);
        }
    }

    /// Processor time of the drive's I/Os so far, waiting not included.
    pub fn busy(&self) -> Nanos {
        Nanos(self.busy_ns)
    }

    /// Processors of the host.
    pub fn processors(&self) -> u32 {
        self.host.profile.processors
    }
}

impl Drop for HostShare {
    fn drop(&mut self) {
        self.host.leave();
    }
}

fn bytes_in(span: Nanos, bytes_per_second: u64) -> u64 {
    (u128::from(span.0) * u128::from(bytes_per_second) / 1_000_000_000) as u64
}

/// A ratio in millionths.
fn ratio(part: u64, whole: u64) -> u64 {
    (u128::from(part) * u128::from(ONE) / u128::from(whole.max(1))) as u64
}

fn scaled(value: u64, millionths: u64) -> u64 {
    (u128::from(value) * u128::from(millionths) / u128::from(ONE)) as u64
}

#[cfg(test)]
#[path = "../tests/unit/shared_host.rs"]
mod tests;
