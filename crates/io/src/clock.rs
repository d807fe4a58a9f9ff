//! Monotonic clock of real targets. Latency recording reads the clock for every batch, so its cost
//! is part of every result. Where the kernel itself keeps time by the processor's time-stamp
//! counter (clock source `tsc`, which it only chooses when the counter is invariant and
//! synchronised between processors), this clock reads the counter directly: about 12 ns instead of
//! about 31 ns for `clock_gettime` (measured on x86-64 virtual machines). The counter's rate is
//! measured once per process against the kernel's monotonic clock; every run's audit shows the
//! drift since ([`Clock::drift_ppm`]).

mod stops;

use std::sync::OnceLock;
// With `host::wall_clock`, the only reader of a system clock.
use std::time::{Duration, Instant};

use assay_units::Nanos;

use stops::STOPS;
pub use stops::{LEAST_STOP, StopWatch};

/// Time to measure the counter's rate, once per process.
const CALIBRATION: Duration = Duration::from_millis(40);

/// Nanoseconds since the process first asked; all copies agree.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base: Instant,
    tsc: Option<Tsc>,
}

#[derive(Clone, Copy, Debug)]
struct Tsc {
    base: u64,
    /// Nanoseconds per tick, times 2^32.
    ns_per_tick_q32: u64,
}

impl Tsc {
    #[inline]
    fn since_base(self, ticks: u64) -> Nanos {
        let ns =
            (u128::from(ticks.wrapping_sub(self.base)) * u128::from(self.ns_per_tick_q32)) >> 32;
        Nanos(ns as u64)
    }
}

#[allow(clippy::disallowed_methods)] // This module is where `Instant::now` belongs.
fn kernel_now() -> Instant {
    Instant::now()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn read_tsc() -> u64 {
    // SAFETY: RDTSC exists on every x86-64 processor and only reads a counter; where the kernel
    // traps it for user code (PR_SET_TSC), its own vDSO clock would fault too.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn read_tsc() -> u64 {
    0
}

fn kernel_uses_tsc() -> bool {
    cfg!(target_arch = "x86_64")
        && std::fs::read_to_string(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        )
        .is_ok_and(|name| name.trim() == "tsc")
}

/// Counter and kernel clock together: the attempt with the smallest gap of several.
fn read_both() -> (u64, Instant) {
    let attempts = (0..8).map(|_| {
        let before = kernel_now();
        let ticks = read_tsc();
        (kernel_now() - before, ticks, before)
    });
    let best = attempts.min_by_key(|(gap, _, _)| *gap);
    let (gap, ticks, before) = best.expect("there are eight attempts");
    (ticks, before + gap / 2)
}

fn calibrate() -> Clock {
    let (first_ticks, first_at) = read_both();
    let mut clock = Clock { base: first_at, tsc: None };
    if !kernel_uses_tsc() {
        return clock;
    }
    // Sleeping costs no processor time, unlike spinning. A sleep that a signal ended is continued.
    let mut left = CALIBRATION;
    while !left.is_zero() {
        sleep(Nanos(left.as_nanos() as u64));
        left = CALIBRATION.saturating_sub(kernel_now() - first_at);
    }
    let (last_ticks, last_at) = read_both();
    let ticks = last_ticks.wrapping_sub(first_ticks);
    let ns = (last_at - first_at).as_nanos();
    if let Some(q32) = (ns << 32).checked_div(u128::from(ticks))
        && let Ok(ns_per_tick_q32) = u64::try_from(q32)
        && ns_per_tick_q32 > 0
    {
        clock.tsc = Some(Tsc { base: first_ticks, ns_per_tick_q32 });
    }
    clock
}

impl Clock {
    /// The process's clock, calibrated on first use (40 ms).
    pub fn monotonic() -> Clock {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(calibrate)
    }

    /// Nanoseconds since the process first asked, without the stops that a [`StopWatch`] found.
    #[inline]
    pub fn now(&self) -> Nanos {
        STOPS.running(|| self.raw())
    }

    #[inline]
    fn raw(&self) -> Nanos {
        match self.tsc {
            Some(tsc) => tsc.since_base(read_tsc()),
            None => self.since_base(kernel_now()),
        }
    }

    fn since_base(&self, at: Instant) -> Nanos {
        Nanos(u64::try_from((at - self.base).as_nanos()).unwrap_or(u64::MAX))
    }

    /// Drift against the kernel's clock since start, positive when ahead; 0 for that clock itself.
    pub fn drift_ppm(&self) -> f64 {
        let Some(tsc) = self.tsc else { return 0.0 };
        // Read as a pair: a preemption in between would count as drift (20 us in 100 ms are 200
        // ppm).
        let (ticks, at) = read_both();
        let (fast, kernel) = (tsc.since_base(ticks), self.since_base(at));
        if kernel == Nanos::ZERO {
            return 0.0;
        }
        (fast.0 as f64 - kernel.0 as f64) / kernel.0 as f64 * 1e6
    }

    /// Name of the clock source.
    pub fn source(&self) -> &'static str {
        if self.tsc.is_some() { "tsc" } else { "clock_gettime" }
    }

    /// Sleeps while the instant is far, spins for the last `SPIN`, so that open-loop I/Os start
    /// when they are due and not a timer slack later.
    pub fn wait_until(&self, until: Nanos) {
        loop {
            let left = until - self.now();
            if left == Nanos::ZERO {
                return;
            }
            if left > SPIN {
                sleep(left - SPIN);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// Longer than the kernel's default timer slack (50 us).
pub(crate) const SPIN: Nanos = Nanos::from_micros(80);

pub(crate) fn sleep(span: Nanos) {
    let spec = rustix::thread::Timespec {
        tv_sec: (span.0 / 1_000_000_000).min(i64::MAX as u64) as i64,
        tv_nsec: (span.0 % 1_000_000_000) as i64,
    };
    // A signal ends the sleep early; the caller reads the clock again.
    let _ = rustix::thread::nanosleep(&spec);
}

/// Cost and resolution of the clock: (mean cost in ns, smallest step seen in ns).
pub fn self_test() -> (f64, u64) {
    const READS: u64 = 200_000;
    let clock = Clock::monotonic();
    let start = clock.now();
    let mut last = start;
    let mut step = u64::MAX;
    for _ in 0..READS {
        let now = clock.now();
        if now > last {
            step = step.min((now - last).0);
        }
        last = now;
    }
    let cost = (last - start).0 as f64 / READS as f64;
    (cost, if step == u64::MAX { 0 } else { step })
}

#[cfg(test)]
#[path = "../tests/unit/clock.rs"]
mod tests;
