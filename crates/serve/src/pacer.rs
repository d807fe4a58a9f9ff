//! Virtual time paced by the wall clock.
//!
//! *Real*: virtual time is the wall clock's since power-on. A command that arrives at wall time `t`
//! is submitted to the model at `t`, and its completion is delivered as soon as the wall clock has
//! reached the model's completion time, never before. *Free*: the clock jumps. What is in flight
//! completes at once, in the model's order and at the model's times.
//!
//! A client sees the model's latency and the server's round-trip overhead. The overhead of the host
//! that measured the published figures (`assay_ssd::profile::BenchProfile`) is not added: a
//! client's own host has one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_io::clock::Clock;
use assay_sim_host::event_loop::{EventLoop, TieOrder, prefer_huge_tables};
use assay_ssd::{Command, Completion, Drive};
use assay_units::{Nanos, Op};

/// How virtual time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With the wall clock.
    Real,
    /// As fast as possible.
    Free,
}

/// When there is something to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing is in flight.
    Idle,
    /// A completion may be due now.
    Now,
    /// Nothing for this long.
    For(Nanos),
}

/// A virtual clock that threads can share: copies are the same clock. At [`Pace::Free`] it advances
/// with the wall clock too, and also jumps ahead.
#[derive(Clone, Debug)]
pub struct ModelClock {
    clock: Clock,
    start: Nanos,
    /// How it passes.
    pub(crate) pace: Pace,
    ahead_ns: Arc<AtomicU64>,
}

impl ModelClock {
    /// A clock that reads 0 now.
    pub fn new(pace: Pace) -> ModelClock {
        let clock = Clock::monotonic();
        ModelClock {
            clock,
            start: clock.now(),
            pace,
            ahead_ns: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Virtual time.
    #[inline]
    pub fn now(&self) -> Nanos {
        let ahead = Nanos(self.ahead_ns.load(Ordering::Acquire));
        (self.clock.now() - self.start) + ahead
    }

    /// Time left until an instant; 0 when it has passed.
    #[inline]
    pub fn left(&self, until: Nanos) -> Nanos {
        until - self.now()
    }

    /// Jump to an instant; `false` at [`Pace::Real`].
    pub fn jump(&self, to: Nanos) -> bool {
        if self.pace == Pace::Real {
            return false;
        }
        let left = self.left(to);
        self.ahead_ns.fetch_add(left.0, Ordering::AcqRel);
        true
    }
}

/// How late completions were delivered, or a controller's events processed, against the model's
/// times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Completions, or events.
    pub count: u64,
    /// Sum, in nanoseconds.
    pub total_ns: u64,
    /// The worst, in nanoseconds.
    pub max_ns: u64,
}

impl Lateness {
    /// Count one that was due at an instant and processed at another.
    #[inline]
    pub fn add(&mut self, due: Nanos, processed: Nanos) {
        let late_ns = (processed - due).0;
        self.count += 1;
        self.total_ns += late_ns;
        self.max_ns = self.max_ns.max(late_ns);
    }

    pub fn mean_ns(&self) -> u64 {
        self.total_ns.checked_div(self.count).unwrap_or(0)
    }
}

/// A simulated drive paced by a clock.
#[derive(Debug)]
pub struct Pacer {
    events: EventLoop,
    clock: ModelClock,
    /// Commands whose completions have not been taken.
    pub in_flight: usize,
    /// How late completions were so far; 0 at [`Pace::Free`].
    pub lateness: Lateness,
}

impl Pacer {
    /// A drive, powered on now.
    pub fn new(drive: Drive, pace: Pace) -> Pacer {
        prefer_huge_tables(&drive);
        Pacer {
            events: EventLoop::new(drive, TieOrder::Submission),
            clock: ModelClock::new(pace),
            in_flight: 0,
            lateness: Lateness::default(),
        }
    }

    pub fn drive(&self) -> &Drive {
        self.events.drive()
    }

    /// The drive, out of the pacer.
    pub fn into_drive(self) -> Drive {
        self.events.into_drive()
    }

    /// Virtual time.
    #[inline]
    pub fn now(&self) -> Nanos {
        match self.clock.pace {
            Pace::Real => self.clock.now(),
            Pace::Free => self.events.now(),
        }
    }

    /// Submit a command that arrived at [`Pacer::now`]. A write comes with its bytes.
    #[inline]
    pub fn submit(&mut self, now: Nanos, command: Command, payload: &[u8]) {
        self.in_flight += 1;
        let drive = self.events.drive_mut();
        if command.op == Op::Write {
            drive.submit_write(now, command, payload);
        } else {
            drive.submit(now, command);
        }
    }

    /// When to call [`Pacer::take`] again.
    #[inline]
    pub fn wait(&self) -> Wait {
        if self.in_flight == 0 {
            return Wait::Idle;
        }
        match (self.clock.pace, self.events.next_event()) {
            (Pace::Free, _) => Wait::Now,
            (Pace::Real, Nanos::MAX) => Wait::Idle,
            (Pace::Real, at) => match at - self.now() {
                Nanos::ZERO => Wait::Now,
                left => Wait::For(left),
            },
        }
    }

    /// Append what has completed by now, in the drive's order; at [`Pace::Free`], everything that
    /// is in flight.
    pub fn take(&mut self, out: &mut Vec<Completion>) {
        if self.in_flight == 0 {
            return;
        }
        let before = out.len();
        match self.clock.pace {
            Pace::Real => {
                let now = self.now();
                self.events.advance_drive(now, out);
                for done in &out[before..] {
                    self.lateness.add(done.at, now);
                }
            }
            Pace::Free => self.events.complete(self.in_flight, out),
        }
        let left = self.in_flight.checked_sub(out.len() - before);
        self.in_flight = left.expect("only what was submitted completes");
    }
}
