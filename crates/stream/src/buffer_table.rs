//! # Mechanism
//!
//! A source that cannot wait has delivered `d(t) = min(rate * t, length)` bytes by the time `t`.
//! The buffer it needs is the maximum backlog:
//!
//! ```text
//! need(rate) = max over s <= t of  d(t) - d(s) - taken(s, t)
//! ```
//!
//! computed by the recursion of a queue (Lindley 1952), `held = max(0, held + delivered - taken)`,
//! for a fixed grid of rates, so memory does not grow with the stream. The table is valid for all
//! rates if the drive was written without a rate limit, else up to the offered rate.

use assay_units::Nanos;

const SLOWEST: f64 = 1e6;
const FASTEST: f64 = 64e9;
/// Ratio of neighbours in the grid.
const STEP: f64 = 1.01;

#[derive(Clone, Debug)]
pub struct BufferTable {
    rates: Vec<f64>,
    held: Vec<f64>,
    most: Vec<f64>,
    /// Below this index nothing is held: what is held grows with the rate.
    idle: usize,
    longest: f64,
    last: Nanos,
    taken_bytes: u64,
    began: Nanos,
    /// Of the stream, bytes; infinite where it is not known.
    length: f64,
}

impl BufferTable {
    pub fn new(start: Nanos) -> BufferTable {
        BufferTable::up_to(start, FASTEST)
    }

    /// Of a stream that ends after so many bytes.
    pub fn of_length(self, length_bytes: Option<u64>) -> BufferTable {
        BufferTable { length: length_bytes.map_or(f64::INFINITY, |bytes| bytes as f64), ..self }
    }

    /// For rates up to the first of the grid that is not below this one.
    pub fn up_to(start: Nanos, fastest_bytes_per_s: f64) -> BufferTable {
        let fastest = fastest_bytes_per_s.clamp(SLOWEST, FASTEST);
        let steps = (fastest / SLOWEST).ln() / STEP.ln();
        let rates: Vec<f64> = (0..=steps.ceil() as i32).map(|n| SLOWEST * STEP.powi(n)).collect();
        BufferTable {
            held: vec![0.0; rates.len()],
            most: vec![0.0; rates.len()],
            idle: rates.len(),
            longest: 0.0,
            rates,
            last: start,
            taken_bytes: 0,
            began: start,
            length: f64::INFINITY,
        }
    }

    /// The drive has taken `bytes` more by `now`.
    pub fn taken(&mut self, now: Nanos, bytes: u64) {
        // Completions of several drives are not in order of time.
        let seconds = now.0.saturating_sub(self.last.0) as f64 / 1e9;
        let bytes_taken = bytes as f64;
        // Where nothing was held and nothing will be, `most` changes only after a time longer than
        // all before.
        let begin = if seconds > self.longest {
            self.longest = seconds;
            0
        } else {
            let idle = &self.rates[..self.idle];
            idle.partition_point(|rate| rate * seconds <= bytes_taken)
        };
        let since_s = self.last.0.saturating_sub(self.began.0) as f64 / 1e9;
        let length = self.length;
        let held = self.held[begin..].iter_mut().zip(&mut self.most[begin..]);
        for (rate, (held, most)) in self.rates[begin..].iter().zip(held) {
            let left = (length - rate * since_s).max(0.0);
            let before = *held + (rate * seconds).min(left);
            *most = most.max(before);
            *held = (before - bytes_taken).max(0.0);
        }
        self.idle = begin + self.held[begin..].partition_point(|&held| held == 0.0);
        self.last = self.last.max(now);
        self.taken_bytes += bytes;
    }

    /// Mean rate at which the drive took the stream, bytes per second.
    pub fn mean_rate(&self) -> f64 {
        assay_units::rate::per_second(self.taken_bytes, Nanos(self.last.0 - self.began.0))
    }

    /// Buffer needed by a source of this rate, bytes; `None` beyond the grid.
    pub fn buffer_for(&self, rate_bytes_per_s: f64) -> Option<u64> {
        let at = self.rates.partition_point(|&r| r < rate_bytes_per_s);
        self.most.get(at).map(|&bytes| bytes.ceil() as u64)
    }

    /// The greatest rate of the grid that needed at most this buffer, bytes per second; 0 if none.
    pub fn rate_for(&self, buffer_bytes: u64) -> u64 {
        let fits = self.most.partition_point(|&most| most <= buffer_bytes as f64);
        fits.checked_sub(1).map_or(0, |at| self.rates[at].floor() as u64)
    }
}

#[cfg(test)]
#[path = "../tests/unit/buffer_table.rs"]
mod tests;
