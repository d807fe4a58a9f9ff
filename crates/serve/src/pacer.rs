//! Virtual time paced by the wall clock. *Real*: virtual time is the wall clock's since power-on. A
//! command that arrives at wall time `t` is submitted to the model at `t`, and its completion is
//! delivered as soon as the wall clock has reached the model's completion time, never before.
//! *Free*: the clock jumps, and what is in flight completes at once, in the model's order and at
//! the model's times. A client sees the model's latency and the server's round-trip overhead,
//! without the overhead of the host that measured the published figures
//! (`assay_ssd::profile::BenchProfile`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_io::clock::Clock;
use assay_sim_host::event_loop::{EventLoop, TieOrder, prefer_huge_tables};
use assay_ssd::{Command, Completion, Drive};
use assay_units::{Nanos, Op};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Real,
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing is in flight.
    Idle,
    /// A completion may be due now.
    Now,
    /// Nothing happens for this long.
    For(Nanos),
}

/// Copies are the same clock, for several threads. At [`Pace::Free`] it advances with the wall
/// clock too, and also jumps ahead.
#[derive(Clone, Debug)]
pub struct ModelClock {
    clock: Clock,
    start: Nanos,
    pub(crate) pace: Pace,
    ahead_ns: Arc<AtomicU64>,
}

impl ModelClock {
    /// Reads 0 now.
    pub fn new(pace: Pace) -> ModelClock {
        let clock = Clock::monotonic();
        ModelClock { clock, start: clock.now(), pace, ahead_ns: Arc::new(AtomicU64::new(0)) }
    }

    #[inline]
    pub fn now(&self) -> Nanos {
        let ahead = Nanos(self.ahead_ns.load(Ordering::Acquire));
        (self.clock.now() - self.start) + ahead
    }

    #[inline]
    pub fn left(&self, until: Nanos) -> Nanos {
        until - self.now()
    }

    /// `false` at [`Pace::Real`].
    pub fn jump(&self, to: Nanos) -> bool {
        if self.pace == Pace::Real {
            return false;
        }
        let left = self.left(to);
        self.ahead_ns.fetch_add(left.0, Ordering::AcqRel);
        true
    }
}

/// Delay of completions, or of a controller's events, against the model's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Completions, or events.
    pub count: u64,
    pub total_ns: u64,
    pub max_ns: u64,
}

impl Lateness {
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

#[derive(Debug)]
pub struct Pacer {
    events: EventLoop,
    clock: ModelClock,
    /// Commands whose completions have not been taken.
    pub in_flight: usize,
    /// Delay of completions so far; 0 at [`Pace::Free`].
    pub lateness: Lateness,
}

impl Pacer {
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

    pub fn into_drive(self) -> Drive {
        self.events.into_drive()
    }

    #[inline]
    pub fn now(&self) -> Nanos {
        match self.clock.pace {
            Pace::Real => self.clock.now(),
            Pace::Free => self.events.now(),
        }
    }

    /// The command arrived at [`Pacer::now`]; a write comes with its bytes.
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

    /// Completions by now, in the drive's order; at [`Pace::Free`], everything that is in flight.
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
