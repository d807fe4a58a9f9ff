//! What writing does to a drive: room that was ready runs out, a cache fills, garbage is collected.
//!
//! Only lasting falls count. What distinguishes their causes:
//!
//! - A full SLC cache is a step: the rate falls within a moment or two and stays where the flash behind the cache holds it. Folding writes
//!   each byte a second time (amplification from 1 to 2), a drive that bypasses its cache does not even that.
//! - Collection needs scattered garbage, so random writes, and flash that has been written once over: on a purged drive it cannot begin
//!   before the capacity was written. The rate wanders for a while (victims become better or worse) before it settles, and
//!   amplification is whatever the spare area allows.
//!
//! Where neither bytes nor counters decide, shape does: flat from the first moment is a cache, wandering is collection.

use assay_stats::change::{self, Segment, median};

use super::words::size_words;
use super::{Cause, Finding, Watched, heat};

/// A lasting fall is at least this deep, share of the rate before.
const LEAST_FALL: f64 = 0.15;
/// And stands out of the unrest on both sides of it by so many standard deviations (estimated from the median deviation, which a drive that changes
/// between two rates does not raise): a restless host falls and rises by itself.
const LEAST_FALL_DEVIATIONS: f64 = 2.5;
/// And a second one, behind a full cache, where rates are slow already: a step of this depth.
const LEAST_SECOND_FALL: f64 = 0.08;
/// It lasts so many moments at least; collection may become easier afterwards.
const SECOND_LASTS: usize = 20;
/// Levels within this share of each other are one plateau.
const PLATEAU: f64 = 0.15;
/// A step is done within so many moments.
const STEP_MOMENTS: usize = 4;
/// Amplification below this is none: buffers and padding make a few percent.
const NO_AMPLIFICATION: f64 = 1.15;
/// Amplification above this is collection, if the writes are random.
const AMPLIFIED: f64 = 1.25;
/// Folding writes each byte once into the cache and once out of it, less what was overwritten there: no more than this, and no less than
/// [`FOLDED_LEAST`].
const FOLDED: f64 = 2.15;
const FOLDED_LEAST: f64 = 1.65;
/// Moments after a fall in which its amplification is looked at.
const SOON_MOMENTS: usize = 10;
/// What a full cache holds back stays within this share of its level.
const FLAT: f64 = 0.1;
/// A cache is no larger than this share of the capacity: flash that holds two bits or more in a cell holds one in the cache's mode.
const LARGEST_CACHE: f64 = 0.5;
/// Parts of a span whose levels are compared, and the least length of one, moments.
const FLAT_PARTS: usize = 10;
const FLAT_LEAST: usize = 5;
/// How long sequential writes are looked at, moments, or as long as it took to the fall.
const FLAT_MOMENTS: usize = 20;
/// Collection cannot begin before this share of the capacity was written since a purge (some is lost to what superblocks leave open).
const WRITTEN_OVER: f64 = 0.97;
/// Where nothing but its shape speaks for collection, it must have been seen for so many seconds: a shorter fall may be anybody's.
const LEAST_SEEN_S: f64 = 10.0;
/// Workloads with fewer writes than this share are reads.
const READS: f64 = 0.01;

/// Causes of the moments `from..to`, in order.
pub(super) fn explain(watched: &Watched, rates: &[f64], from: usize, to: usize) -> Vec<Finding> {
    let mut segments = change::segments(&rates[from..to]);
    for segment in &mut segments {
        (segment.from, segment.to) = (segment.from + from, segment.to + from);
    }
    let span = Span {
        watched,
        rates,
        from,
        to,
    };
    if watched.facts.write_share <= READS {
        return span.levels(&segments);
    }
    span.written(&segments)
}

/// A lasting fall.
#[derive(Clone, Copy, Debug)]
struct Fall {
    /// First moment of the lower level.
    at: usize,
    /// Level before.
    before: f64,
}

struct Span<'a> {
    watched: &'a Watched,
    rates: &'a [f64],
    from: usize,
    to: usize,
}

impl Span<'_> {
    fn finding(
        &self,
        from: usize,
        to: usize,
        cause: Cause,
        evidence: impl Into<String>,
    ) -> Finding {
        Finding {
            from,
            to,
            cause,
            evidence: evidence.into(),
        }
    }

    /// Levels without any cause that could be shown: the usual one is steady, others are unexplained.
    fn levels(&self, segments: &[Segment]) -> Vec<Finding> {
        let usual = median(&self.rates[self.from..self.to]);
        let near = |s: &&Segment| (s.level / usual.max(f64::MIN_POSITIVE) - 1.0).abs() <= PLATEAU;
        if segments.len() == 1 || segments.iter().all(|s| near(&s)) {
            return vec![self.finding(self.from, self.to, Cause::Steady, "no change of the rate")];
        }
        let label = |s: &Segment| {
            if near(&s) {
                self.finding(s.from, s.to, Cause::Steady, "the usual rate")
            } else {
                let text = format!(
                    "{:.0} % of the usual rate, and nothing that was recorded shows why",
                    s.level / usual.max(f64::MIN_POSITIVE) * 100.0
                );
                self.finding(s.from, s.to, Cause::Unexplained, text)
            }
        };
        segments.iter().map(label).collect()
    }

    /// Bytes written in the cell before a moment.
    fn written_bytes(&self, before: usize) -> u64 {
        self.watched.moments[..before]
            .iter()
            .map(|m| m.written_bytes)
            .sum()
    }

    /// Bytes to flash per byte of the host in a span, where counted.
    fn amplification(&self, from: usize, to: usize) -> Option<f64> {
        let moments = self.watched.moments[from..to].iter();
        let counted: Vec<(u64, u64)> = moments
            .filter_map(|m| Some((m.nand_bytes?, m.written_bytes)))
            .collect();
        let (nand, host) = counted.iter().fold((0, 0), |(n, h), (a, b)| (n + a, h + b));
        (host > 0 && counted.len() * 2 > to - from).then(|| nand as f64 / host as f64)
    }

    /// The first lasting fall among segments.
    fn fall(&self, segments: &[Segment], least: f64, lasting: usize) -> Option<Fall> {
        (1..segments.len()).find_map(|at| {
            let highest = segments[..at]
                .iter()
                .max_by(|a, b| a.level.total_cmp(&b.level))?;
            let before = highest.level.max(0.0);
            let from = segments[at].from;
            let rest = &self.rates[from..self.to.min(from.saturating_add(lasting))];
            let low = before * (1.0 - least);
            // It never comes back for long.
            let back = rest
                .iter()
                .filter(|rate| **rate >= before * (1.0 - least / 2.0));
            let after = median(rest);
            let unrest = deviation(rest, after)
                .max(deviation(&self.rates[highest.from..highest.to], before));
            let stands_out = before - after >= LEAST_FALL_DEVIATIONS * unrest;
            let fell = after < low && segments[at].level < low && stands_out;
            (fell && back.count() * 10 < rest.len()).then_some(Fall { at: from, before })
        })
    }

    /// Causes where bytes are written.
    fn written(&self, segments: &[Segment]) -> Vec<Finding> {
        let Some(fall) = self.fall(segments, LEAST_FALL, usize::MAX) else {
            return self.unchanged(segments);
        };
        let bytes = self.written_bytes(fall.at);
        let later: Vec<Segment> = segments
            .iter()
            .filter(|s| s.from >= fall.at)
            .copied()
            .collect();
        let fresh = |why: &str| {
            let text = format!("{} were written before {why}", size_words(bytes));
            self.finding(self.from, fall.at, Cause::Fresh, text)
        };
        // Drifting rates are collection's own; level ones at a temperature just reached may be heat's.
        let doubt = heat::possible(self.watched, self.rates, fall.at)
            .filter(|_| !self.watched.facts.random || self.is_flat(fall.at, self.to));
        if let Some(level) = doubt {
            return self.doubtful(fall, &level);
        }
        // Collection may follow a cache, as a second fall.
        let second = self
            .fall(&later, LEAST_SECOND_FALL, SECOND_LASTS)
            .filter(|next| self.is_step(next.at));
        if let Some((cause, evidence)) = self.cache(fall, second.map_or(self.to, |next| next.at)) {
            let mut out = vec![fresh("the cache was full")];
            let Some(second) = second else {
                out.push(self.finding(fall.at, self.to, cause, evidence));
                return out;
            };
            out.push(self.finding(fall.at, second.at, cause, evidence));
            let last: Vec<Segment> = later
                .iter()
                .filter(|s| s.from >= second.at)
                .copied()
                .collect();
            if self.watched.facts.random && self.may_collect(second) {
                out.extend(self.collection(second, &last));
            } else {
                let text = "a further fall, and nothing that was recorded shows why";
                out.push(self.finding(second.at, self.to, Cause::Unexplained, text));
            }
            return out;
        }
        if self.watched.facts.random && self.may_collect(fall) {
            let mut out = vec![fresh("collection began")];
            out.extend(self.collection(fall, &later));
            return out;
        }
        self.levels(segments)
    }

    /// A fall that a full cache and heat could both have made.
    fn doubtful(&self, fall: Fall, level: &str) -> Vec<Finding> {
        let text = format!(
            "the rate falls for good at {level}: a full cache and heat would both look like this"
        );
        let before = "the rate before a fall that has no certain cause";
        vec![
            self.finding(self.from, fall.at, Cause::Steady, before),
            self.finding(fall.at, self.to, Cause::Unexplained, text),
        ]
    }

    /// Does anything speak against collection from this fall on?
    fn may_collect(&self, fall: Fall) -> bool {
        let amplification = self.amplification(fall.at, self.to);
        let seen_s: f64 = self.watched.moments[fall.at..self.to]
            .iter()
            .map(|m| m.elapsed_s)
            .sum();
        self.written_over(fall.at)
            && amplification.map_or(seen_s >= LEAST_SEEN_S, |a| a >= NO_AMPLIFICATION)
    }

    /// Can all flash have been written once over by this moment?
    fn written_over(&self, at: usize) -> bool {
        let facts = &self.watched.facts;
        facts.written_before_bytes.is_none_or(|before| {
            (before + self.written_bytes(at)) as f64 >= facts.capacity_bytes as f64 * WRITTEN_OVER
        })
    }

    /// Is this fall a cache that is full? The rate is then held from the fall to the next one, or to the end.
    fn cache(&self, fall: Fall, end: usize) -> Option<(Cause, String)> {
        let after = usual(&self.rates[fall.at..(fall.at + SOON_MOMENTS).min(end)]);
        let cache_bytes = self.cache_bytes(fall, after);
        let cause = Cause::SlcCacheExhausted { cache_bytes };
        let step = format!(
            "after {} the rate steps down to {:.0} %",
            size_words(cache_bytes),
            after / fall.before.max(f64::MIN_POSITIVE) * 100.0
        );
        // At its new level within a few moments.
        let soon = self.rates[fall.at..(fall.at + STEP_MOMENTS).min(end)]
            .iter()
            .any(|rate| (rate / after.max(f64::MIN_POSITIVE) - 1.0).abs() <= PLATEAU);
        // What collection does later is not the cache's: only the time right after the fall counts.
        let first = (fall.at + 1).min(end - 1);
        let amplification = self.amplification(first, (first + SOON_MOMENTS).min(end));
        let watched = if self.watched.facts.random && amplification.is_none() {
            end
        } else {
            // Sequential writes have no collection to be told from, and amplification tells by itself: a while is enough.
            end.min(fall.at + FLAT_MOMENTS.max(fall.at - self.from))
        };
        let flat = self.is_flat(fall.at, watched);
        let capacity = self.watched.facts.capacity_bytes as f64;
        if !soon || (capacity > 0.0 && cache_bytes as f64 > capacity * LARGEST_CACHE) {
            return None;
        }
        if !self.watched.facts.random {
            return flat.then(|| (cause, format!("{step} and stays level")));
        }
        if !self.written_over(fall.at) {
            return Some((
                cause,
                format!("{step}, before all flash was written once over"),
            ));
        }
        match amplification {
            Some(a) if a < NO_AMPLIFICATION => Some((
                cause,
                format!("{step}, and nothing is moved (amplification {a:.2})"),
            )),
            Some(a) if (FOLDED_LEAST..=FOLDED).contains(&a) && flat => Some((
                cause,
                format!(
                    "{step} and stays level, each byte is written twice (amplification {a:.2})"
                ),
            )),
            Some(_) => None,
            None => flat.then(|| {
                (
                    cause,
                    format!("{step} and stays level from the first moment"),
                )
            }),
        }
    }

    /// Does the rate fall here all at once?
    fn is_step(&self, at: usize) -> bool {
        let before = usual(&self.rates[at.saturating_sub(STEP_MOMENTS)..at]);
        let after = usual(&self.rates[at..(at + STEP_MOMENTS).min(self.to)]);
        after < before * (1.0 - LEAST_SECOND_FALL)
    }

    /// Does the rate neither drift nor wander from here to there? Means of a few parts are compared, so that noise counts little.
    fn is_flat(&self, from: usize, to: usize) -> bool {
        // The moment of the fall belongs to both levels, and a next one may have begun.
        let next = if to < self.to { (to - from) / 6 } else { 0 };
        let rates = &self.rates[(from + 1).min(to - next)..to - next];
        let part = (rates.len() / FLAT_PARTS).max(FLAT_LEAST);
        let parts = rates.chunks(part).filter(|chunk| chunk.len() * 2 >= part);
        let levels: Vec<f64> = parts.map(usual).collect();
        let high = levels.iter().copied().fold(0.0, f64::max);
        let low = levels.iter().copied().fold(f64::MAX, f64::min);
        levels.len() >= 2 && high - low <= FLAT * high && change::drift(rates).abs() <= FLAT
    }

    /// Bytes until the rate fell. Of the moments on both sides of the fall, what went in at the full rate counts: the share of such a
    /// moment that was fast follows from its rate between the two levels.
    fn cache_bytes(&self, fall: Fall, after: f64) -> u64 {
        let last = fall.at.saturating_sub(1);
        let fast = |at: usize| {
            let rate = self.rates[at].max(f64::MIN_POSITIVE);
            let share = ((rate - after) / (fall.before - after)).clamp(0.0, 1.0);
            let bytes = self.watched.moments[at].written_bytes as f64;
            (bytes * (share * fall.before / rate).min(1.0)) as u64
        };
        self.written_bytes(last) + fast(last) + fast(fall.at)
    }

    /// Phases of collection from a fall on.
    fn collection(&self, fall: Fall, later: &[Segment]) -> Vec<Finding> {
        let tail = (self.to - fall.at).div_ceil(3);
        let settled = median(&self.rates[self.to - tail..self.to]);
        let near = |s: &Segment| (s.level / settled.max(f64::MIN_POSITIVE) - 1.0).abs() <= PLATEAU;
        let off = later.iter().rposition(|s| !near(s));
        let from = off.map_or(fall.at, |at| later[at].to);
        let mut out = Vec::new();
        if from > fall.at {
            let text = format!(
                "random writes become slower after {} and have not settled",
                size_words(self.written_bytes(fall.at))
            );
            out.push(self.finding(fall.at, from, Cause::CollectionOnset, text));
        }
        if from < self.to {
            let write_amplification = self.amplification(from, self.to);
            let counted = write_amplification.map_or_else(String::new, |a| {
                format!(", with {a:.1} bytes to flash for each of the host's")
            });
            let text = format!(
                "random writes have settled at {:.0} % of the rate before{counted}",
                settled / fall.before * 100.0
            );
            let cause = Cause::CollectionSteady {
                write_amplification,
            };
            out.push(self.finding(from, self.to, cause, text));
        }
        out
    }

    /// Causes where the rate did not fall for good.
    fn unchanged(&self, segments: &[Segment]) -> Vec<Finding> {
        let facts = &self.watched.facts;
        let amplification = self.amplification(self.from, self.to);
        let whole = |cause, text: String| vec![self.finding(self.from, self.to, cause, text)];
        if let Some(a) = amplification
            && facts.random
            && a >= AMPLIFIED
            && !(FOLDED_LEAST..=FOLDED).contains(&a)
        {
            return whole(
                Cause::CollectionSteady {
                    write_amplification: Some(a),
                },
                format!("no change of the rate, with {a:.1} bytes to flash for each of the host's"),
            );
        }
        let nothing_moved = amplification.is_none_or(|a| a < NO_AMPLIFICATION);
        if facts.written_before_bytes.is_some() && !self.written_over(self.to) && nothing_moved {
            return whole(
                Cause::Fresh,
                "less was written since the purge than the drive holds".to_owned(),
            );
        }
        self.levels(segments)
    }
}

/// The mean without the lowest and the highest: of a few moments with few I/Os each, the median jumps.
fn usual(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let inner = match sorted.len() {
        0..=3 => &sorted[..],
        n => &sorted[1..n - 1],
    };
    inner.iter().sum::<f64>() / inner.len().max(1) as f64
}

/// Standard deviation of normal values that deviate from their middle as these do (1.4826 times the median deviation; F. Hampel, "The
/// influence curve and its role in robust estimation", 1974).
fn deviation(rates: &[f64], middle: f64) -> f64 {
    let deviations: Vec<f64> = rates.iter().map(|rate| (rate - middle).abs()).collect();
    1.4826 * median(&deviations)
}
