//! Arrival processes: closed loop, constant rate, Poisson.
//!
//! [`Arrivals`] is one worker's share of a job's arrivals, as spans since the job's start on the
//! target's clock. In an open loop the due time of an I/O is its *intended start*: latency counts
//! from it even when the I/O is issued later, which avoids coordinated omission.
//!
//! - Constant: arrival `n` of the job is due at exactly `floor(n * 10^9 / rate)` ns, kept as whole
//!   nanoseconds and a remainder. Worker `w` of `W` takes arrivals `w, w + W, w + 2W, ...`, so the
//!   workers together are the stream, evenly interleaved.
//! - Poisson: exponential gaps; whole nanoseconds are summed as integers and only the fraction as a
//!   float, so that the sum keeps its precision in runs of any length. Each worker has an
//!   independent process of `rate / W`; their sum is Poisson of `rate`.

use std::num::{NonZeroU32, NonZeroU64};

use assay_units::{Nanos, Rng};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    ios: NonZeroU64,
    seconds: NonZeroU64,
}

impl Rate {
    pub fn iops(ios: NonZeroU64) -> Rate {
        Rate { ios, seconds: NonZeroU64::MIN }
    }

    pub fn per_second(self) -> f64 {
        self.ios.get() as f64 / self.seconds.get() as f64
    }

    /// Exact where the mean is a whole number of bytes, else to a part in 2^16 of a byte.
    pub fn of_bytes(bytes_per_second: NonZeroU64, mean_bytes: f64) -> Rate {
        const PARTS: u128 = 1 << 16;
        let mut ios = u128::from(bytes_per_second.get()) * PARTS;
        // `as` saturates; no block is as large as 2^47 bytes.
        let mut seconds = u128::from(((mean_bytes * PARTS as f64).round() as u64).max(1));
        let common = greatest_common_divisor(ios, seconds);
        (ios, seconds) = (ios / common, seconds / common);
        // At such rates the error is below 2^-63.
        while ios > u128::from(u64::MAX) {
            (ios, seconds) = (ios >> 1, (seconds >> 1).max(1));
        }
        let whole = |number: u128| NonZeroU64::new(number as u64).expect("both are at least 1");
        Rate { ios: whole(ios), seconds: whole(seconds) }
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[derive(Clone, Debug)]
pub struct Arrivals(Process);

#[derive(Clone, Debug)]
enum Process {
    Closed,
    Constant(Constant),
    Poisson(Poisson),
}

#[derive(Clone, Debug)]
struct Constant {
    due_ns: u64,
    remainder: u64,
    step_ns: u64,
    step_remainder: u64,
    rate: u64,
}

#[derive(Clone, Debug)]
struct Poisson {
    due_ns: u64,
    /// What `due_ns` rounds off, in ns, within [0, 1).
    fraction_ns: f64,
    mean_gap_ns: f64,
    rng: Rng,
}

impl Arrivals {
    pub fn closed() -> Arrivals {
        Arrivals(Process::Closed)
    }

    pub fn constant(rate: Rate, worker: u32, workers: NonZeroU32) -> Arrivals {
        let (rate, seconds) = (rate.ios.get(), rate.seconds.get());
        let at = |arrivals: u32| {
            // At most 2^32 * 2^30 * 2^64: it fits. Saturates, here and below: what is due after 584
            // years is never due.
            let wide = u128::from(arrivals) * u128::from(NANOS_PER_SECOND) * u128::from(seconds);
            (
                u64::try_from(wide / u128::from(rate)).unwrap_or(u64::MAX),
                (wide % u128::from(rate)) as u64,
            )
        };
        let (due_ns, remainder) = at(worker);
        let (step_ns, step_remainder) = at(workers.get());
        Arrivals(Process::Constant(Constant { due_ns, remainder, step_ns, step_remainder, rate }))
    }

    /// Give every worker its own `rng` (`Rng::stream(mix(seed, worker), "arrivals")`).
    pub fn poisson(rate_iops: NonZeroU64, workers: NonZeroU32, rng: Rng) -> Arrivals {
        let mean_gap_ns =
            NANOS_PER_SECOND as f64 * f64::from(workers.get()) / rate_iops.get() as f64;
        let mut poisson = Poisson { due_ns: 0, fraction_ns: 0.0, mean_gap_ns, rng };
        // The first arrival comes after a gap too: a process that starts with one at 0 is not
        // Poisson.
        poisson.advance();
        Arrivals(Process::Poisson(poisson))
    }

    #[inline]
    pub fn is_paced(&self) -> bool {
        !matches!(self.0, Process::Closed)
    }

    #[inline]
    pub fn next_due(&self) -> Nanos {
        match &self.0 {
            Process::Closed => Nanos::ZERO,
            Process::Constant(constant) => Nanos(constant.due_ns),
            Process::Poisson(poisson) => Nanos(poisson.due_ns),
        }
    }

    #[inline]
    pub fn advance(&mut self) {
        match &mut self.0 {
            Process::Closed => {}
            Process::Constant(constant) => constant.advance(),
            Process::Poisson(poisson) => poisson.advance(),
        }
    }
}

impl Constant {
    #[inline]
    fn advance(&mut self) {
        self.due_ns = self.due_ns.saturating_add(self.step_ns);
        // remainder and step_remainder are both below rate; compared this way round their sum
        // cannot overflow.
        if self.remainder >= self.rate - self.step_remainder {
            self.remainder -= self.rate - self.step_remainder;
            self.due_ns = self.due_ns.saturating_add(1);
        } else {
            self.remainder += self.step_remainder;
        }
    }
}

impl Poisson {
    #[inline]
    fn advance(&mut self) {
        let gap_ns = self.fraction_ns + self.rng.exponential(self.mean_gap_ns);
        // `as` truncates and saturates: the gap is never negative.
        let whole_ns = gap_ns as u64;
        self.fraction_ns = gap_ns - whole_ns as f64;
        self.due_ns = self.due_ns.saturating_add(whole_ns);
    }
}

#[cfg(test)]
#[path = "../tests/unit/arrival.rs"]
mod tests;
