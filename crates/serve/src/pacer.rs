//! The one place where the model's time and the wall clock meet.
//!
//! # Pace
//! *Real*: the model's time is the wall clock's since the drive was switched on. A command that arrives at wall time `t` is submitted to
//! the model at `t`, and its completion is handed out as soon as the wall clock has reached the instant at which the model completes it,
//! never before. *Free*: the clock jumps. What is in flight completes at once, in the model's order and at the model's times.
//!
//! What somebody outside sees is the model's latency and what the way to it and back costs (the front's floor). The cost of the machine
//! that measured the published figures (`assay_ssd::profile::BenchProfile`) is not added: whoever uses the drive brings a machine of
//! their own.
//!
//! One thread owns a pacer. It decides when to look ([`Pacer::wait`]), so that several fronts can wait each in their way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_io::clock::Clock;
use assay_sim_host::prefer_huge_tables;
use assay_ssd::{Command, Completion, Drive};
use assay_units::{Nanos, Op};

/// How the model's time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With the wall clock.
    Real,
    /// As fast as possible.
    Free,
}

/// When something is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing is under way.
    Idle,
    /// Something can be handed out now.
    Now,
    /// Nothing before so long from now.
    For(Nanos),
}

/// The model's clock for a front whose drive lives in something else than a [`Pacer`], and whose threads share it. Copies are the same clock.
///
/// Where time runs free it goes with the wall clock too, and jumps ahead when it is told to.
#[derive(Clone, Debug)]
pub struct ModelClock {
    clock: Clock,
    start: Nanos,
    pace: Pace,
    ahead_ns: Arc<AtomicU64>,
}

impl ModelClock {
    /// It is 0 now.
    pub fn new(pace: Pace) -> ModelClock {
        let clock = Clock::monotonic();
        ModelClock {
            clock,
            start: clock.now(),
            pace,
            ahead_ns: Arc::new(AtomicU64::new(0)),
        }
    }

    /// How it passes.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The model's present.
    #[inline]
    pub fn now(&self) -> Nanos {
        let ahead = Nanos(self.ahead_ns.load(Ordering::Acquire));
        (self.clock.now() - self.start) + ahead
    }

    /// How long it is until an instant of the model's time; 0 when it has passed.
    #[inline]
    pub fn left(&self, until: Nanos) -> Nanos {
        until - self.now()
    }

    /// Go to an instant at once; `false` where time does not run free.
    pub fn jump(&self, to: Nanos) -> bool {
        if self.pace == Pace::Real {
            return false;
        }
        let left = self.left(to);
        self.ahead_ns.fetch_add(left.0, Ordering::AcqRel);
        true
    }
}

/// How late completions were handed out, or a controller's events dealt with, against the model's times.
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
    /// One more that was due at an instant of the model's time and came at another.
    #[inline]
    pub fn add(&mut self, due: Nanos, came: Nanos) {
        let late_ns = (came - due).0;
        self.count += 1;
        self.total_ns += late_ns;
        self.max_ns = self.max_ns.max(late_ns);
    }

    /// The mean, in nanoseconds.
    pub fn mean_ns(&self) -> u64 {
        self.total_ns.checked_div(self.count).unwrap_or(0)
    }
}

/// A drive with a clock.
#[derive(Debug)]
pub struct Pacer {
    drive: Drive,
    pace: Pace,
    clock: Clock,
    /// When the drive was switched on, by the clock.
    start: Nanos,
    /// The model's time where it runs free.
    free_now: Nanos,
    in_flight: u64,
    lateness: Lateness,
}

impl Pacer {
    /// Switch a drive on, now.
    pub fn new(drive: Drive, pace: Pace) -> Pacer {
        prefer_huge_tables(&drive);
        let clock = Clock::monotonic();
        Pacer {
            drive,
            pace,
            clock,
            start: clock.now(),
            free_now: Nanos::ZERO,
            in_flight: 0,
            lateness: Lateness::default(),
        }
    }

    /// The drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The drive, to be asked or told something that is no I/O command (at [`Pacer::now`]).
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// Give the drive back.
    pub fn into_drive(self) -> Drive {
        self.drive
    }

    /// How it is paced.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The model's present.
    #[inline]
    pub fn now(&self) -> Nanos {
        match self.pace {
            Pace::Real => self.clock.now() - self.start,
            Pace::Free => self.free_now,
        }
    }

    /// Commands not handed out yet.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// How late completions were so far; 0 where time runs free.
    pub fn lateness(&self) -> Lateness {
        self.lateness
    }

    /// A command arrives now. A write comes with its bytes.
    #[inline]
    pub fn submit(&mut self, command: Command, payload: &[u8]) {
        self.submit_at(self.now(), command, payload);
    }

    /// [`Pacer::submit`] for one of several that arrived together, at a [`Pacer::now`] asked for once.
    #[inline]
    pub fn submit_at(&mut self, now: Nanos, command: Command, payload: &[u8]) {
        self.in_flight += 1;
        if command.op == Op::Write {
            self.drive.submit_write(now, command, payload);
        } else {
            self.drive.submit(now, command);
        }
    }

    /// When to call [`Pacer::take`] again.
    #[inline]
    pub fn wait(&self) -> Wait {
        if self.in_flight == 0 {
            return Wait::Idle;
        }
        match (self.pace, self.drive.next_event()) {
            (Pace::Free, _) => Wait::Now,
            (Pace::Real, None) => Wait::Idle,
            (Pace::Real, Some(at)) => {
                let now = self.now();
                if at <= now {
                    Wait::Now
                } else {
                    Wait::For(at - now)
                }
            }
        }
    }

    /// Append what has completed by now, in the model's order; where time runs free, everything that is in flight.
    pub fn take(&mut self, out: &mut Vec<Completion>) {
        if self.in_flight == 0 {
            return;
        }
        let before = out.len();
        match self.pace {
            Pace::Real => {
                let now = self.now();
                self.drive.advance(now, out);
                for done in &out[before..] {
                    self.lateness.add(done.at, now);
                }
            }
            Pace::Free => {
                while ((out.len() - before) as u64) < self.in_flight
                    && let Some(at) = self.drive.next_event()
                {
                    self.free_now = self.free_now.max(at);
                    self.drive.advance(self.free_now, out);
                }
            }
        }
        self.in_flight = self.in_flight.saturating_sub((out.len() - before) as u64);
    }
}
