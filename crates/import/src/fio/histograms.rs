//! fio's logs of histograms (`write_hist_log`; HOWTO.rst, `log_hist_msec` and
//! `log_hist_coarseness`): `NAME_clat_hist.N.log`, a line per interval and direction with time in
//! milliseconds, direction, block size, and the number of I/Os in each bucket of completion
//! latency. With a coarseness of C, 2^C neighbouring buckets are one.

use std::collections::BTreeMap;

use assay_stats::Histogram;
use assay_units::Nanos;

/// Buckets of a group (`FIO_IO_U_PLAT_VAL` of `stat.h`), and its binary logarithm.
const GROUP: u64 = 64;
const GROUP_BITS: u32 = 6;
/// Buckets since fio 2.99, whose unit is a nanosecond, and before, of a microsecond: 29 and 19
/// groups.
const LAYOUTS: [(usize, u64); 2] = [(29 * 64, 1), (19 * 64, 1000)];
/// `log_hist_coarseness` at most.
const COARSEST: u32 = 6;

/// Number of I/Os by completion latency, nanoseconds.
pub type Bins = BTreeMap<u64, u64>;

/// Adds latencies, nanoseconds and number, to others.
pub fn add(sum: &mut Bins, bins: impl IntoIterator<Item = (u64, u64)>) {
    for (value_ns, count) in bins {
        let own = sum.entry(value_ns).or_default();
        *own = own.saturating_add(count);
    }
}

/// The distribution of latencies, nanoseconds and number.
pub fn histogram(bins: impl IntoIterator<Item = (u64, u64)>) -> Histogram {
    let mut histogram = Histogram::new();
    for (value_ns, count) in bins {
        histogram.record_many(Nanos(value_ns), count);
    }
    histogram
}

/// A line of such a log.
pub struct Line {
    /// End of its interval, milliseconds.
    pub at_ms: u64,
    /// 0 reads, 1 writes, 2 deallocations.
    pub direction: usize,
    /// Those that are not empty.
    pub bins: Bins,
}

/// `None` of another line.
pub fn line_of(line: &str) -> Option<Line> {
    let mut fields = line.split(',').map(|field| field.trim().parse::<u64>());
    let (at_ms, direction) = (fields.next()?.ok()?, fields.next()?.ok()?);
    let _bs_bytes = fields.next()?.ok()?;
    let counts: Vec<u64> = fields.collect::<Result<_, _>>().ok()?;
    let (coarseness, unit_ns) = layout(counts.len())?;
    let counted = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    Some(Line {
        at_ms,
        direction: usize::try_from(direction).ok().filter(|at| *at < 3)?,
        bins: counted
            .map(|(at, count)| (middle(at as u64, coarseness).saturating_mul(unit_ns), count))
            .collect(),
    })
}

/// Coarseness, and unit in nanoseconds, of lines with this number of buckets.
fn layout(buckets: usize) -> Option<(u32, u64)> {
    let mut all = (0..=COARSEST).flat_map(|c| LAYOUTS.map(|(whole, unit)| (whole >> c, c, unit)));
    let found = all.find(|(number, ..)| *number == buckets)?;
    Some((found.1, found.2))
}

/// The middle of a joined bucket: of a single one `plat_idx_to_val` of `stat.c`.
fn middle(at: u64, coarseness: u32) -> u64 {
    let first = at << coarseness;
    if coarseness == 0 && first < 2 * GROUP {
        return first;
    }
    (start(first) + start(first + (1 << coarseness))) / 2
}

/// The shortest latency of a bucket.
fn start(index: u64) -> u64 {
    if index < 2 * GROUP {
        return index;
    }
    let error_bits = (index >> GROUP_BITS) - 1;
    (1 << (error_bits + u64::from(GROUP_BITS))) + ((index % GROUP) << error_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buckets follow each other without a gap, and a middle lies in its bucket.
    #[test]
    fn buckets_cover_all_latencies() {
        assert_eq!([0, 127, 128, 129, 192].map(start), [0, 127, 128, 130, 256]);
        for (whole, _) in LAYOUTS {
            for coarseness in 0..=COARSEST {
                assert_eq!(layout(whole >> coarseness).map(|(c, _)| c), Some(coarseness));
            }
            for index in 0..whole as u64 {
                assert!(start(index) < start(index + 1));
                let middle = middle(index, 0);
                assert!((start(index)..start(index + 1)).contains(&middle), "{index}");
            }
        }
        // The largest bucket of fio's histogram.
        assert_eq!(middle(29 * 64 - 1, 0), crate::fio::LARGEST_BUCKET_NS);
    }
}
