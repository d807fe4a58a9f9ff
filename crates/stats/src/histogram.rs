//! A log-linear latency histogram with the resolution of HdrHistogram with three significant digits
//! (G. Tene): values below 2048 ns have a bucket each; above, every power of two is cut into 1024
//! buckets. Reported percentiles are the highest value of their bucket (never understated), at most
//! 0.1 % above the truth.

use std::fmt;
use std::ops::Range;

use assay_units::Nanos;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;

/// Values below `2^SUB_BUCKET_BITS` ns have a bucket each.
pub const SUB_BUCKET_BITS: u32 = 11;
/// Highest power of two covered.
const MAX_EXPONENT: u32 = 41;
/// Latencies above this (about 73 minutes) are counted as overflow, not clamped into a bucket.
pub const MAX_TRACKABLE_NS: u64 = (1 << (MAX_EXPONENT + 1)) - 1;
const HALF: usize = 1 << (SUB_BUCKET_BITS - 1);
const BUCKETS: usize = (MAX_EXPONENT + 2 - SUB_BUCKET_BITS) as usize * HALF + HALF;

/// Count, sum, minimum and maximum are exact. Memory: 264 KiB.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    overflow: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the histogram is not valid base64")]
    NotBase64,
    /// The bytes end in the middle of a number, or a number does not fit.
    #[error("the histogram's bytes are cut short or malformed")]
    Malformed,
    #[error("the histogram names bucket {0}, which does not exist")]
    NoSuchBucket(u64),
    /// The counts do not add up to the recorded total.
    #[error("the histogram's buckets hold {found} values but its header says {expected}")]
    CountMismatch {
        /// Sum over buckets and overflow.
        found: u64,
        /// Total in the header.
        expected: u64,
    },
}

#[inline]
fn bucket_of(value_ns: u64) -> usize {
    let exponent = 63 - (value_ns | 1).leading_zeros();
    let shift = exponent.saturating_sub(SUB_BUCKET_BITS - 1);
    ((shift as usize) << (SUB_BUCKET_BITS - 1)) + (value_ns >> shift) as usize
}

/// The highest value that lands in this bucket.
fn highest_of(bucket: usize) -> u64 {
    let shift = (bucket / HALF).saturating_sub(1) as u32;
    let low = (bucket as u64 - ((shift as u64) << (SUB_BUCKET_BITS - 1))) << shift;
    low + (1 << shift) - 1
}

fn middle_of(bucket: usize) -> f64 {
    let shift = (bucket / HALF).saturating_sub(1) as u32;
    highest_of(bucket) as f64 - ((1_u64 << shift) - 1) as f64 / 2.0
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

impl Histogram {
    pub fn new() -> Histogram {
        Histogram::with_counts(vec![0; BUCKETS].into_boxed_slice())
    }

    /// `counts` are all 0.
    fn with_counts(counts: Box<[u64]>) -> Histogram {
        Histogram { counts, count: 0, overflow: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        let ns = latency.0;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        match self.counts.get_mut(bucket_of(ns)) {
            Some(slot) => *slot += 1,
            None => self.overflow += 1,
        }
    }

    /// As many latencies of the same length. They must fit 64 bits with those before.
    pub fn record_many(&mut self, latency: Nanos, count: u64) {
        let ns = latency.0;
        if count == 0 {
            return;
        }
        self.count += count;
        self.sum_ns += u128::from(ns) * u128::from(count);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        match self.counts.get_mut(bucket_of(ns)) {
            Some(slot) => *slot += count,
            None => self.overflow += count,
        }
    }

    /// Overflow included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Latencies above [`MAX_TRACKABLE_NS`].
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Exact; zero when empty.
    pub fn min(&self) -> Nanos {
        Nanos(if self.is_empty() { 0 } else { self.min_ns })
    }

    /// Exact; zero when empty.
    pub fn max(&self) -> Nanos {
        Nanos(self.max_ns)
    }

    /// Exact; zero when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.sum_ns as f64 / self.count as f64
    }

    /// Of the population, from bucket middles (within 0.1 %); overflow counts at the maximum.
    pub fn stddev_ns(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let mean = self.mean_ns();
        let mut squares = self.overflow as f64 * (self.max_ns as f64 - mean).powi(2);
        for (bucket, count) in self.occupied() {
            squares += count as f64 * (middle_of(bucket) - mean).powi(2);
        }
        (squares / self.count as f64).sqrt()
    }

    /// Nearest rank: `per_million` of a million values do not exceed it; zero when empty.
    pub fn percentile(&self, per_million: u32) -> Nanos {
        let [found] = self.percentiles([per_million]);
        found
    }

    /// [`Histogram::percentile`] of ascending shares, in one pass.
    pub fn percentiles<const N: usize>(&self, per_million: [u32; N]) -> [Nanos; N] {
        if self.is_empty() {
            return [Nanos::ZERO; N];
        }
        let rank = |share: u32| {
            let part = u128::from(self.count) * u128::from(share.min(1_000_000));
            part.div_ceil(1_000_000).max(1) as u64
        };
        let mut found = [Nanos(self.max_ns); N];
        let (mut next, mut seen) = (0, 0);
        for (bucket, count) in self.occupied() {
            seen += count;
            while next < N && seen >= rank(per_million[next]) {
                found[next] = Nanos(highest_of(bucket).clamp(self.min_ns, self.max_ns));
                next += 1;
            }
            if next == N {
                break;
            }
        }
        found
    }

    /// Buckets in use, lowest first, as (bucket, count).
    fn occupied(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let range = self.bucket_range();
        let counts = range.clone().zip(self.counts[range].iter().copied());
        counts.filter(|&(_, count)| count > 0)
    }

    /// The buckets between minimum and maximum.
    fn bucket_range(&self) -> Range<usize> {
        if self.is_empty() {
            return 0..0;
        }
        bucket_of(self.min_ns).min(BUCKETS)..(bucket_of(self.max_ns) + 1).min(BUCKETS)
    }

    /// Points of the cumulative distribution: (highest value of a bucket, values up to it).
    pub fn cumulative(&self) -> Vec<(Nanos, u64)> {
        let mut seen = 0;
        let point = |(bucket, count)| {
            seen += count;
            (Nanos(highest_of(bucket).min(self.max_ns)), seen)
        };
        let mut points: Vec<(Nanos, u64)> = self.occupied().map(point).collect();
        if self.overflow > 0 {
            points.push((self.max(), self.count));
        }
        points
    }

    pub fn merge(&mut self, other: &Histogram) {
        if other.is_empty() {
            return;
        }
        for (bucket, count) in other.occupied() {
            self.counts[bucket] += count;
        }
        self.count += other.count;
        self.overflow += other.overflow;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Keeps the memory. Costs only the buckets between minimum and maximum.
    pub fn clear(&mut self) {
        let range = self.bucket_range();
        self.counts[range].fill(0);
        *self = Histogram::with_counts(std::mem::take(&mut self.counts));
    }

    /// Base64 of LEB128 numbers `count, overflow, sum (two words), min, max`, then for each
    /// occupied bucket `gap to the one before, count`.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::with_capacity(64);
        let [low, high] = [self.sum_ns as u64, (self.sum_ns >> 64) as u64];
        let head = [self.count, self.overflow, low, high, self.min().0, self.max_ns];
        head.into_iter().for_each(|number| push_leb128(&mut bytes, number));
        let mut previous = 0;
        for (bucket, count) in self.occupied() {
            push_leb128(&mut bytes, (bucket - previous) as u64);
            push_leb128(&mut bytes, count);
            previous = bucket;
        }
        BASE64.encode(bytes)
    }

    /// Read what [`Histogram::encode`] wrote; an error if its counts do not add up.
    pub fn decode(text: &str) -> Result<Histogram, DecodeError> {
        let bytes = BASE64.decode(text.trim()).map_err(|_| DecodeError::NotBase64)?;
        let mut rest = bytes.as_slice();
        let mut next = || take_leb128(&mut rest);
        let (count, overflow) = (next()?, next()?);
        let sum_ns = u128::from(next()?) | u128::from(next()?) << 64;
        let (min_ns, max_ns) = (next()?, next()?);
        let mut histogram = Histogram::new();
        let mut found = overflow;
        let mut bucket = 0_u64;
        while !rest.is_empty() {
            let gap = take_leb128(&mut rest)?;
            let values = take_leb128(&mut rest)?;
            bucket = bucket.checked_add(gap).ok_or(DecodeError::Malformed)?;
            let slot = histogram.counts.get_mut(bucket as usize);
            let slot = slot.ok_or(DecodeError::NoSuchBucket(bucket))?;
            *slot = slot.checked_add(values).ok_or(DecodeError::Malformed)?;
            found = found.checked_add(values).ok_or(DecodeError::Malformed)?;
        }
        if found != count {
            let expected = count;
            return Err(DecodeError::CountMismatch { found, expected });
        }
        if count > 0 && min_ns > max_ns {
            return Err(DecodeError::Malformed);
        }
        if count > 0 {
            histogram =
                Histogram { counts: histogram.counts, count, overflow, sum_ns, min_ns, max_ns };
            // Minimum and maximum bound every walk over the buckets, so they must be true.
            let walked: u64 = histogram.occupied().map(|(_, n)| n).sum();
            if walked + overflow != count {
                return Err(DecodeError::Malformed);
            }
        }
        Ok(histogram)
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, min, max, overflow) = (self.count, self.min(), self.max(), self.overflow);
        write!(f, "Histogram({count} values, {min} to {max}, overflow {overflow})")
    }
}

impl serde::Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> serde::Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Histogram::decode(&text).map_err(serde::de::Error::custom)
    }
}

fn push_leb128(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_leb128(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(DecodeError::Malformed)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return Err(DecodeError::Malformed);
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(DecodeError::Malformed)
}

#[cfg(test)]
#[path = "../tests/unit/histogram.rs"]
mod tests;
