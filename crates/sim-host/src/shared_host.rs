//! One host for several simulated drives: its processors and its PCIe uplink.
//!
//! # Mechanism
//! Each drive is simulated in a thread and virtual time of its own. Time is cut into windows of
//! [`WINDOW`]. At the end of each the threads exchange what their drives demanded of the host in it
//! (a barrier in virtual time); that decides what a drive may use in the next one.
//! - *Processors*: an I/O takes a processor for the time that the drive's profile says.
//! - *Uplink*: a rate that all drives share, such as the link between a PCIe switch or chipset and
//!   the processor. The wait for it comes before the drive.
//!
//! Both are divided by max-min fairness (D. Bertsekas, R. Gallager, Data Networks, 1992, 6.5.2;
//! what round-robin arbitration of the ports of a switch gives): while all demands fit, each drive
//! can use what the others leave, else no drive more than the level at which they fill the
//! resource.
//!
//! All quantities are integers and drives are sorted by them, so the results do not depend on how
//! the threads are scheduled.
//!
//! # Limits
//! A drive meets the load of the others a window late. Processors are shared by drives, not by
//! threads, and run queues are not modelled one by one.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use assay_units::Nanos;

/// A few I/Os of a fast drive's thread, and far below an interval.
pub const WINDOW: Nanos = Nanos::from_micros(200);

/// Windows over which the demands of a drive are averaged.
const SMOOTHING: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostProfile {
    /// Hardware threads.
    pub processors: u32,
    /// Uplink that all drives share; none where each drive has lanes of its own.
    pub uplink_bytes_per_second: Option<u64>,
}

/// Per window: nanoseconds of processors, bytes of the uplink.
type Wants = [u64; 2];

#[derive(Debug)]
struct Barrier {
    /// Drives that still run.
    present: usize,
    window: u64,
    arrived: Vec<Wants>,
    /// Demands of the window that ended last.
    last: Arc<[Wants]>,
}

impl Barrier {
    fn complete(&mut self) {
        self.last = std::mem::take(&mut self.arrived).into();
        self.window += 1;
    }
}

#[derive(Debug)]
pub struct SharedHost {
    profile: HostProfile,
    barrier: Mutex<Barrier>,
    changed: Condvar,
}

impl SharedHost {
    /// Each share must be used in a thread of its own, or be dropped.
    pub fn shares(profile: HostProfile, drives: usize) -> Vec<HostShare> {
        assert!(profile.processors > 0, "a host has processors");
        let host = Arc::new(SharedHost {
            profile,
            barrier: Mutex::new(Barrier {
                present: drives,
                window: 0,
                arrived: Vec::new(),
                last: Arc::new([]),
            }),
            changed: Condvar::new(),
        });
        let share = |_| HostShare {
            host: Arc::clone(&host),
            window_end: None,
            busy_ns: 0,
            processors: Pipe::new(u64::from(profile.processors) * Nanos::SECOND.0),
            uplink: profile.uplink_bytes_per_second.map(Pipe::new),
        };
        (0..drives).map(share).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Barrier> {
        // The barrier is consistent at every point at which a thread could panic.
        self.barrier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Add a drive's demands of its present window, wait for the others, and return all.
    fn exchange(&self, own: Wants) -> Arc<[Wants]> {
        let mut barrier = self.lock();
        barrier.arrived.push(own);
        if barrier.arrived.len() == barrier.present {
            barrier.complete();
            self.changed.notify_all();
        } else {
            let window = barrier.window;
            while barrier.window == window {
                barrier = (self.changed.wait(barrier)).unwrap_or_else(PoisonError::into_inner);
            }
        }
        Arc::clone(&barrier.last)
    }

    fn leave(&self) {
        let mut barrier = self.lock();
        barrier.present -= 1;
        if barrier.present > 0 && barrier.arrived.len() == barrier.present {
            barrier.complete();
            self.changed.notify_all();
        }
    }
}

/// A divided resource as one drive sees it: first come, first served, at a rate.
#[derive(Debug)]
struct Pipe {
    /// Of the whole resource, units per second.
    capacity: u64,
    /// What the drive may use in this window, units per second.
    rate: u64,
    /// When all that was admitted has passed.
    free: Nanos,
    admitted: u64,
    /// Mean of the units admitted per window, the latest with a weight of 1 in [`SMOOTHING`]: a
    /// drive with an I/O in every second window needs half of it in each.
    mean_admitted: u64,
}

impl Pipe {
    fn new(capacity: u64) -> Pipe {
        assert!(capacity > 0, "a shared resource has a capacity");
        Pipe { capacity, rate: capacity, free: Nanos::ZERO, admitted: 0, mean_admitted: 0 }
    }

    fn admit(&mut self, now: Nanos, units: u64) -> Nanos {
        self.admitted += units;
        self.free = self.free.max(now) + span(units, self.rate);
        self.free
    }

    fn waiting(&self, at: Nanos) -> u64 {
        passed(self.free.max(at) - at, self.rate)
    }

    fn demand(&mut self, ends: Nanos) -> u64 {
        self.mean_admitted = (self.mean_admitted * (SMOOTHING - 1) + self.admitted) / SMOOTHING;
        self.mean_admitted + self.waiting(ends)
    }

    /// Begin a window, for which all drives demand `demands`, this one `own` of them.
    fn divide(&mut self, at: Nanos, own: u64, demands: &mut [u64]) {
        let waiting = self.waiting(at);
        let units = passed(WINDOW, self.capacity);
        let of_others = demands.iter().sum::<u64>() - own;
        let usable = fair_level(demands, units).unwrap_or_else(|| units - of_others);
        let rate = u128::from(usable) * u128::from(Nanos::SECOND.0) / u128::from(WINDOW.0);
        self.rate = (rate as u64).clamp(1, self.capacity);
        if waiting > 0 {
            self.free = at + span(waiting, self.rate);
        }
        self.admitted = 0;
    }
}

/// The level up to which demands are met by `units`; `None` where they are met whole.
fn fair_level(demands: &mut [u64], units: u64) -> Option<u64> {
    demands.sort_unstable();
    let (mut left, mut drives) = (units, demands.len() as u64);
    for &demand in demands.iter() {
        if demand > left / drives {
            return Some(left / drives);
        }
        left -= demand;
        drives -= 1;
    }
    None
}

fn span(units: u64, rate: u64) -> Nanos {
    let span = u128::from(units) * u128::from(Nanos::SECOND.0) / u128::from(rate);
    Nanos(u64::try_from(span).unwrap_or(u64::MAX / 4))
}

fn passed(span: Nanos, rate: u64) -> u64 {
    (u128::from(span.0) * u128::from(rate) / u128::from(Nanos::SECOND.0)) as u64
}

/// The share of a drive. Once dropped, the others do not wait for it.
#[derive(Debug)]
pub struct HostShare {
    host: Arc<SharedHost>,
    /// End of the present window; none before the first I/O.
    window_end: Option<Nanos>,
    busy_ns: u64,
    processors: Pipe,
    uplink: Option<Pipe>,
}

impl HostShare {
    /// When an I/O may reach the drive; `work` is its processor time. Calls come in order of `now`.
    pub fn admit(&mut self, now: Nanos, bytes: u64, work: Nanos) -> Nanos {
        let mut window_end = self.window_end.unwrap_or(now + WINDOW);
        while now >= window_end {
            self.next_window(window_end);
            window_end += WINDOW;
        }
        self.window_end = Some(window_end);
        self.busy_ns += work.0;
        let processed = self.processors.admit(now, work.0).max(now + work);
        match &mut self.uplink {
            None => processed,
            Some(uplink) => processed.max(uplink.admit(now, bytes)),
        }
    }

    fn next_window(&mut self, at: Nanos) {
        let uplink = self.uplink.as_mut().map_or(0, |uplink| uplink.demand(at));
        let own = [self.processors.demand(at), uplink];
        let all = self.host.exchange(own);
        let demands =
            |resource: usize| -> Vec<u64> { all.iter().map(|demands| demands[resource]).collect() };
        self.processors.divide(at, own[0], &mut demands(0));
        if let Some(uplink) = &mut self.uplink {
            uplink.divide(at, own[1], &mut demands(1));
        }
    }

    /// Processor time of the drive's I/Os so far, waiting not included.
    pub fn busy(&self) -> Nanos {
        Nanos(self.busy_ns)
    }

    pub fn processors(&self) -> u32 {
        self.host.profile.processors
    }
}

impl Drop for HostShare {
    fn drop(&mut self) {
        self.host.leave();
    }
}

#[cfg(test)]
#[path = "../tests/unit/shared_host.rs"]
mod tests;
