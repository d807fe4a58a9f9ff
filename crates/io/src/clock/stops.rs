//! Times in which this process did not run: stopped by a signal, on a machine that was suspended
//! or paused, or without a processor because other programs had all of them.
//!
//! While a [`StopWatch`] exists, one of its threads reads the clock every [`PULSE`], as workers do
//! at every I/O. When nobody has read it for [`LEAST_STOP`], the process stood still, and from then
//! on the clock is behind by that time, as if it had stood still too: no latency, rate or duration
//! contains it. A slow drive does not look like that, because the thread of the watch goes on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Clock, sleep};
use crate::Nanos;

/// How often the clock is read at least.
const PULSE: Nanos = Nanos::from_millis(20);
/// The shortest silence that counts. A thread that sleeps gets a processor within a few scheduler
/// slices (3 ms each by default) however many programs compete for it at the same priority.
pub const LEAST_STOP: Nanos = Nanos::from_millis(200);

/// Nobody watches.
const NEVER: u64 = u64::MAX;

/// Of all clocks of the process.
pub(super) struct Stops {
    /// When the clock was last seen to run, plus [`PULSE`]; a read after it looks for a stop.
    look_from: AtomicU64,
    /// Sum of all stops, nanoseconds.
    stopped: AtomicU64,
    watches: Mutex<u64>,
}

pub(super) static STOPS: Stops =
    Stops { look_from: AtomicU64::new(NEVER), stopped: AtomicU64::new(0), watches: Mutex::new(0) };

impl Stops {
    /// The running time at a reading of the raw clock.
    #[inline]
    pub(super) fn running(&self, raw: impl Fn() -> Nanos) -> Nanos {
        loop {
            // In this order: with a value of `look_from` from after a stop, `stopped` contains it;
            // with one from before, a reading after the stop is not below it.
            let look_from = self.look_from.load(Ordering::Acquire);
            let stopped = self.stopped.load(Ordering::Acquire);
            let now = raw();
            if now.0 < look_from {
                return now - Nanos(stopped);
            }
            self.look(now);
        }
    }

    #[cold]
    fn look(&self, now: Nanos) {
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let look_from = self.look_from.load(Ordering::Acquire);
        if *watches == 0 || now.0 < look_from {
            return;
        }
        let silence = now - Nanos(look_from);
        if silence + PULSE >= LEAST_STOP {
            self.stopped.fetch_add(silence.0, Ordering::AcqRel);
        }
        self.look_from.store((now + PULSE).0, Ordering::Release);
    }
}

/// Watches for stops until it is dropped.
#[derive(Debug)]
pub struct StopWatch {
    before: u64,
    ended: Arc<AtomicBool>,
}

impl StopWatch {
    /// Starts its thread; without one there is no watch, and stops count as latency.
    pub fn start() -> StopWatch {
        let clock = Clock::monotonic();
        let ended = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ended);
        let pulse = move || {
            while !is_over.load(Ordering::Acquire) {
                clock.now();
                sleep(PULSE);
            }
            STOPS.end();
        };
        let named = std::thread::Builder::new().name("stop-watch".to_owned());
        // It begins before the thread, which may be late.
        STOPS.begin(clock.raw());
        if named.stack_size(64 << 10).spawn(pulse).is_err() {
            STOPS.end();
        }
        StopWatch { before: STOPS.stopped.load(Ordering::Acquire), ended }
    }

    /// Time for which the process did not run since the watch began.
    pub fn stopped(&self) -> Nanos {
        Nanos(STOPS.stopped.load(Ordering::Acquire) - self.before)
    }
}

impl Drop for StopWatch {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
    }
}

impl Stops {
    fn begin(&self, now: Nanos) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        *watches += 1;
        if *watches == 1 {
            self.look_from.store((now + PULSE).0, Ordering::Release);
        }
    }

    fn end(&self) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        *watches -= 1;
        if *watches == 0 {
            self.look_from.store(NEVER, Ordering::Release);
        }
    }
}
