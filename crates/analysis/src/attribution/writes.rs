//! Effects of writing: fresh flash, a full SLC cache, garbage collection. Only lasting falls of the
//! rate count:
//!
//! - SLC cache full: the rate falls within an interval or two and stays at the rate of the flash
//!   behind the cache. Folding writes each byte a second time (write amplification from 1 to 2), a
//!   drive that bypasses its cache does not.
//! - Garbage collection needs scattered invalid data, so random writes, and flash that has been
//!   written once over: on a purged drive it cannot begin before the capacity was written. The rate
//!   fluctuates (victims hold more or less valid data) before steady state, and write amplification
//!   follows from the over-provisioning.
//!
//! Where neither bytes nor counters decide, the shape does: level from the first interval is a
//! cache, fluctuation is garbage collection.

use assay_stats::change::{self, MAD_TO_SIGMA, Segment};
use assay_stats::{mean, median};

use super::text::size_text;
use super::{Cause, CauseSpan, ObservedCell, thermal};

/// Share of the rate before.
const LEAST_FALL: f64 = 0.15;
/// On a busy host the rate varies by itself: in standard deviations of the rate on either side,
/// from the median deviation, which alternation between two rates does not raise.
const LEAST_FALL_DEVIATIONS: f64 = 2.5;
/// A smaller step, of a rate that is far steadier than it is deep, can be a full cache only.
const LEAST_CLEAR_STEP: f64 = 0.06;
const CLEAR_STEP_DEVIATIONS: f64 = 5.0;
/// Depth of a second fall, behind a full cache, where rates are low already.
const LEAST_SECOND_FALL: f64 = 0.08;
/// Least intervals of a second fall; garbage collection can become cheaper afterwards.
const SECOND_LASTS: usize = 20;
/// Levels within this share of each other are one plateau.
const PLATEAU: f64 = 0.15;
/// A step is complete within so many intervals.
const STEP_INTERVALS: usize = 4;
/// Write amplification below this is none: buffers and padding make a few percent.
const NO_AMPLIFICATION: f64 = 1.15;
/// More write amplification is garbage collection, if the writes are random.
const AMPLIFIED: f64 = 1.25;
/// Folding writes each byte into the cache and out of it, less what was overwritten in the cache.
const FOLDED: f64 = 2.15;
const FOLDED_LEAST: f64 = 1.65;
/// Intervals after a fall over which its write amplification is computed.
const SOON_INTERVALS: usize = 10;
/// The rate behind a full cache stays within this share of its level.
const FLAT: f64 = 0.1;
/// Share of the capacity: flash that holds two bits or more per cell holds one in SLC mode.
const LARGEST_CACHE: f64 = 0.5;
/// Parts of a span whose levels are compared.
const FLAT_PARTS: usize = 10;
const FLAT_LEAST: usize = 5;
/// Intervals of sequential writes evaluated after a fall; or as many as there were before it.
const FLAT_INTERVALS: usize = 20;
/// Share of the capacity written since a purge from which garbage collection can begin (the rest is
/// lost to open superblocks).
const WRITTEN_OVER: f64 = 0.97;
/// Of garbage collection that only the shape of the rate indicates: a shorter fall can have any
/// cause.
const LEAST_SEEN_S: f64 = 10.0;
/// Workloads with a smaller share of writes are reads.
const READS: f64 = 0.01;

pub(super) fn explain(
    observed: &ObservedCell,
    rates: &[f64],
    from: usize,
    to: usize,
) -> Vec<CauseSpan> {
    let mut segments = change::segments(&rates[from..to]);
    for segment in &mut segments {
        segment.from += from;
        segment.to += from;
    }
    let span = Span { observed, rates, from, to };
    if observed.context.write_share <= READS {
        return span.levels(&segments);
    }
    span.written(&segments)
}

/// Least depth of a fall, as share of the rate before and in standard deviations.
const FALL: (f64, f64) = (LEAST_FALL, LEAST_FALL_DEVIATIONS);
const SECOND_FALL: (f64, f64) = (LEAST_SECOND_FALL, LEAST_FALL_DEVIATIONS);
const CLEAR_STEP: (f64, f64) = (LEAST_CLEAR_STEP, CLEAR_STEP_DEVIATIONS);

#[derive(Clone, Copy, Debug)]
struct Fall {
    /// First interval of the lower level.
    at: usize,
    before: f64,
}

struct Span<'a> {
    observed: &'a ObservedCell,
    rates: &'a [f64],
    from: usize,
    to: usize,
}

impl Span<'_> {
    /// Without evidence the usual level is steady, others are unexplained.
    fn levels(&self, segments: &[Segment]) -> Vec<CauseSpan> {
        let usual = median(&self.rates[self.from..self.to]);
        let near = |s: &Segment| is_near(s.level, usual);
        if segments.len() == 1 || segments.iter().all(near) {
            let text = match segments.len() {
                1 => "no change of the rate",
                _ => "no change of the rate above 15 %",
            };
            return vec![CauseSpan::new(self.from, self.to, Cause::Steady, text)];
        }
        let label = |s: &Segment| {
            if near(s) {
                return CauseSpan::new(s.from, s.to, Cause::Steady, "the usual rate");
            }
            let pct = s.level / usual.max(f64::MIN_POSITIVE) * 100.0;
            let text =
                format!("{pct:.0} % of the usual rate, without a cause in the recorded data");
            CauseSpan::new(s.from, s.to, Cause::Unexplained, text)
        };
        segments.iter().map(label).collect()
    }

    /// Bytes written in the cell before an interval.
    fn written_bytes(&self, before: usize) -> u64 {
        let samples = self.observed.intervals[..before].iter();
        samples.map(|i| i.sample.write.bytes).sum()
    }

    /// `None` where the drive does not count flash writes.
    fn amplification(&self, from: usize, to: usize) -> Option<f64> {
        let intervals = self.observed.intervals[from..to].iter();
        let counted: Vec<(u64, u64)> =
            intervals.filter_map(|m| Some((m.nand_bytes?, m.sample.write.bytes))).collect();
        let (nand, host) = counted.iter().fold((0, 0), |(n, h), (a, b)| (n + a, h + b));
        (host > 0 && counted.len() * 2 > to - from).then(|| nand as f64 / host as f64)
    }

    fn fall(
        &self,
        segments: &[Segment],
        (least, deviations): (f64, f64),
        lasting: usize,
    ) -> Option<Fall> {
        (1..segments.len()).find_map(|at| {
            let by_level = |a: &&Segment, b: &&Segment| a.level.total_cmp(&b.level);
            let highest = segments[..at].iter().max_by(by_level)?;
            let before = highest.level.max(0.0);
            let from = segments[at].from;
            let rest = &self.rates[from..self.to.min(from.saturating_add(lasting))];
            let low = before * (1.0 - least);
            // The rate does not recover for long.
            let recovered = before * (1.0 - least / 2.0);
            let back = rest.iter().filter(|rate| **rate >= recovered);
            let after = median(rest);
            let noise_before = deviation(&self.rates[highest.from..highest.to], before);
            let noise = deviation(rest, after).max(noise_before);
            let stands_out = before - after >= deviations * noise;
            let fell = after < low && segments[at].level < low && stands_out;
            (fell && back.count() * 10 < rest.len()).then_some(Fall { at: from, before })
        })
    }

    fn written(&self, segments: &[Segment]) -> Vec<CauseSpan> {
        let Some(fall) = self.fall(segments, FALL, usize::MAX) else {
            let step = self.clear_step(segments);
            return step.unwrap_or_else(|| self.unchanged(segments));
        };
        let since = |at: usize| &segments[segments.partition_point(|s| s.from < at)..];
        let later = since(fall.at);
        let fresh = |why: &str| self.fresh(fall, why);
        // A drifting rate indicates garbage collection; a level one at a temperature just reached
        // can be throttling.
        let ambiguous = thermal::possible(self.observed, self.rates, fall.at)
            .filter(|_| !self.observed.context.random || self.is_flat(fall.at, self.to));
        if let Some(level) = ambiguous {
            return self.ambiguous(fall, &level);
        }
        // Garbage collection can follow a full cache, as a second fall.
        let second = self
            .fall(later, SECOND_FALL, SECOND_LASTS)
            .filter(|next| self.is_step(next.at, LEAST_SECOND_FALL));
        if let Some((cause, evidence)) = self.cache(fall, second.map_or(self.to, |next| next.at)) {
            let mut out = vec![fresh("the cache was full")];
            let Some(second) = second else {
                out.push(CauseSpan::new(fall.at, self.to, cause, evidence));
                return out;
            };
            out.push(CauseSpan::new(fall.at, second.at, cause, evidence));
            if self.observed.context.random && self.may_collect(second) {
                out.extend(self.garbage_collection(second, since(second.at)));
            } else {
                let text = "a further fall, without a cause in the recorded data";
                out.push(CauseSpan::new(second.at, self.to, Cause::Unexplained, text));
            }
            return out;
        }
        if self.observed.context.random && self.may_collect(fall) {
            let mut out = vec![fresh("garbage collection began")];
            out.extend(self.garbage_collection(fall, later));
            return out;
        }
        self.levels(segments)
    }

    fn fresh(&self, fall: Fall, why: &str) -> CauseSpan {
        let bytes = size_text(self.written_bytes(fall.at));
        let text = format!("{bytes} were written before {why}");
        CauseSpan::new(self.from, fall.at, Cause::Fresh, text)
    }

    /// A step that is small, but large against the noise, and a full cache by all other signs: one
    /// write in flight waits for the interface rather than for the flash behind the cache.
    fn clear_step(&self, segments: &[Segment]) -> Option<Vec<CauseSpan>> {
        let fall = self.fall(segments, CLEAR_STEP, usize::MAX)?;
        if !self.is_step(fall.at, LEAST_CLEAR_STEP)
            || thermal::possible(self.observed, self.rates, fall.at).is_some()
        {
            return None;
        }
        let (cause, evidence) = self.cache(fall, self.to)?;
        Some(vec![
            self.fresh(fall, "the cache was full"),
            CauseSpan::new(fall.at, self.to, cause, evidence),
        ])
    }

    /// A full cache and throttling explain the fall equally.
    fn ambiguous(&self, fall: Fall, level: &str) -> Vec<CauseSpan> {
        let text = format!(
            "the rate falls for good at {level}: a full cache and thermal throttling have this \
             signature"
        );
        let before = "the rate before a fall of ambiguous cause";
        vec![
            CauseSpan::new(self.from, fall.at, Cause::Steady, before),
            CauseSpan::new(fall.at, self.to, Cause::Unexplained, text),
        ]
    }

    /// Whether the data permit garbage collection from this fall on.
    fn may_collect(&self, fall: Fall) -> bool {
        let amplification = self.amplification(fall.at, self.to);
        let samples = self.observed.intervals[fall.at..self.to].iter();
        let seen_s: f64 = samples.map(|i| i.sample.elapsed_s()).sum();
        self.written_over(fall.at)
            && amplification.map_or(seen_s >= LEAST_SEEN_S, |a| a >= NO_AMPLIFICATION)
    }

    /// Whether all flash can have been written once by this interval.
    fn written_over(&self, at: usize) -> bool {
        let context = &self.observed.context;
        let least = context.capacity_bytes as f64 * WRITTEN_OVER;
        let written = context.written_before_bytes;
        written.is_none_or(|before| (before + self.written_bytes(at)) as f64 >= least)
    }

    /// A full cache has a constant rate until the next fall, or the end (`end`).
    fn cache(&self, fall: Fall, end: usize) -> Option<(Cause, String)> {
        let after = usual(&self.rates[fall.at..(fall.at + SOON_INTERVALS).min(end)]);
        let cache_bytes = self.cache_bytes(fall, after);
        let cause = Cause::SlcCacheExhausted { cache_bytes };
        let step = format!(
            "after {} the rate steps down to {:.0} %",
            size_text(cache_bytes),
            after / fall.before.max(f64::MIN_POSITIVE) * 100.0
        );
        // The rate is at its new level within a few intervals.
        let mut next = self.rates[fall.at..(fall.at + STEP_INTERVALS).min(end)].iter();
        let soon = next.any(|rate| is_near(*rate, after));
        // Later amplification is that of garbage collection: only the time right after the fall
        // counts.
        let first = (fall.at + 1).min(end - 1);
        let amplification = self.amplification(first, (first + SOON_INTERVALS).min(end));
        let observed = if self.observed.context.random && amplification.is_none() {
            end
        } else {
            // Sequential writes cause no garbage collection, and amplification decides by itself: a
            // short span is enough.
            end.min(fall.at + FLAT_INTERVALS.max(fall.at - self.from))
        };
        let flat = self.is_flat(fall.at, observed);
        let capacity = self.observed.context.capacity_bytes as f64;
        if !soon || (capacity > 0.0 && cache_bytes as f64 > capacity * LARGEST_CACHE) {
            return None;
        }
        if !self.observed.context.random {
            return flat.then(|| (cause, format!("{step} and stays level")));
        }
        if !self.written_over(fall.at) {
            return Some((cause, format!("{step}, before all flash was written once")));
        }
        let proof = match amplification {
            Some(a) if a < NO_AMPLIFICATION => {
                format!(", and nothing is relocated (amplification {a:.2})")
            }
            Some(a) if (FOLDED_LEAST..=FOLDED).contains(&a) && flat => {
                format!(" and stays level, each byte is written twice (amplification {a:.2})")
            }
            None if flat => " and stays level from the first interval".to_owned(),
            _ => return None,
        };
        Some((cause, step + &proof))
    }

    fn is_step(&self, at: usize, least: f64) -> bool {
        let before = usual(&self.rates[at.saturating_sub(STEP_INTERVALS)..at]);
        let after = usual(&self.rates[at..(at + STEP_INTERVALS).min(self.to)]);
        after < before * (1.0 - least)
    }

    /// Whether the rate has no drift and no fluctuation, by means of a few parts, which reduces
    /// noise.
    fn is_flat(&self, from: usize, to: usize) -> bool {
        // The interval of the fall belongs to both levels, and the next fall may have begun.
        let next = if to < self.to { (to - from) / 6 } else { 0 };
        let rates = &self.rates[(from + 1).min(to - next)..to - next];
        let part = (rates.len() / FLAT_PARTS).max(FLAT_LEAST);
        let parts = rates.chunks(part).filter(|chunk| chunk.len() * 2 >= part);
        let levels: Vec<f64> = parts.map(usual).collect();
        let high = levels.iter().copied().fold(0.0, f64::max);
        let low = levels.iter().copied().fold(f64::MAX, f64::min);
        levels.len() >= 2 && high - low <= FLAT * high && change::drift(rates).abs() <= FLAT
    }

    /// Of the intervals beside the fall, the bytes written at the full rate count: that share of
    /// the interval follows from its rate between the two levels.
    fn cache_bytes(&self, fall: Fall, after: f64) -> u64 {
        let last = fall.at.saturating_sub(1);
        let fast = |at: usize| {
            let rate = self.rates[at].max(f64::MIN_POSITIVE);
            let share = ((rate - after) / (fall.before - after)).clamp(0.0, 1.0);
            let bytes = self.observed.intervals[at].sample.write.bytes as f64;
            (bytes * (share * fall.before / rate).min(1.0)) as u64
        };
        self.written_bytes(last) + fast(last) + fast(fall.at)
    }

    fn garbage_collection(&self, fall: Fall, later: &[Segment]) -> Vec<CauseSpan> {
        let tail = (self.to - fall.at).div_ceil(3);
        let steady = median(&self.rates[self.to - tail..self.to]);
        let off = later.iter().rposition(|s| !is_near(s.level, steady));
        let from = off.map_or(fall.at, |at| later[at].to);
        let mut out = Vec::new();
        if from > fall.at {
            let text = format!(
                "random writes become slower after {} and are not in steady state",
                size_text(self.written_bytes(fall.at))
            );
            out.push(CauseSpan::new(fall.at, from, Cause::GcOnset, text));
        }
        if from < self.to {
            let write_amplification = self.amplification(from, self.to);
            let counted = write_amplification
                .map_or_else(String::new, |a| format!(", write amplification {a:.1}"));
            let text = format!(
                "random writes are steady at {:.0} % of the rate before{counted}",
                steady / fall.before * 100.0
            );
            let cause = Cause::GcSteady { write_amplification };
            out.push(CauseSpan::new(from, self.to, cause, text));
        }
        out
    }

    fn unchanged(&self, segments: &[Segment]) -> Vec<CauseSpan> {
        let context = &self.observed.context;
        let amplification = self.amplification(self.from, self.to);
        let whole = |cause, text: String| vec![CauseSpan::new(self.from, self.to, cause, text)];
        let by_gc = |a: &f64| *a >= AMPLIFIED && !(FOLDED_LEAST..=FOLDED).contains(a);
        if let Some(a) = amplification.filter(by_gc).filter(|_| context.random) {
            let cause = Cause::GcSteady { write_amplification: Some(a) };
            let text = format!("no change of the rate, write amplification {a:.1}");
            return whole(cause, text);
        }
        let not_amplified = amplification.is_none_or(|a| a < NO_AMPLIFICATION);
        if context.written_before_bytes.is_some() && !self.written_over(self.to) && not_amplified {
            let text = "less was written since the purge than the capacity";
            return whole(Cause::Fresh, text.to_owned());
        }
        self.levels(segments)
    }
}

fn is_near(rate: f64, level: f64) -> bool {
    (rate / level.max(f64::MIN_POSITIVE) - 1.0).abs() <= PLATEAU
}

/// Mean without the lowest and the highest: less noisy than the median for a few intervals.
fn usual(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let inner = match sorted.len() {
        0..=3 => &sorted[..],
        n => &sorted[1..n - 1],
    };
    mean(inner)
}

/// Robust standard deviation: 1.4826 times the median absolute deviation (F. Hampel, "The influence
/// curve and its role in robust estimation", 1974).
pub(super) fn deviation(rates: &[f64], middle: f64) -> f64 {
    let deviations: Vec<f64> = rates.iter().map(|rate| (rate - middle).abs()).collect();
    MAD_TO_SIGMA * median(&deviations)
}
