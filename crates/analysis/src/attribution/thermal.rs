//! Throttled spans of a cell. A reported throttle status decides. A drive that reports only its
//! temperature shows throttling by two properties that no other cause has (the NVMe specification
//! leaves the method to the vendor, so thresholds are unknown, but every throttle has one): the
//! rate falls when the temperature reaches a level *for the first time*; and from then on the drive
//! holds that level, or recovers as it cools down and falls again at the same level (hysteresis).
//! Reads have no other cause for a fall, so for them the first property is enough, if heating slows
//! down with the rate; writes have others (a full cache, garbage collection), so they need both.

use assay_stats::change::{self, Segment};
use assay_stats::{mean, median};

use super::writes::deviation;
use super::{Cause, CauseSpan, ObservedCell, ObservedInterval};

/// Published thresholds are at least some ten degrees above (docs/sources.md).
const LEAST_CELSIUS: f64 = 60.0;
/// Share of the rate.
const LEAST_FALL: f64 = 0.08;
/// Falls of one throttle are this close together: two readings in whole degrees, a second apart.
const SAME_LEVEL_K: f64 = 2.5;
/// Least hysteresis; less is not visible in whole degrees.
const LEAST_GAP_K: f64 = 1.0;
/// A held temperature stays this close to the level.
const HELD_K: f64 = 2.0;
/// Share of the earlier rate at which the rate has recovered.
const RECOVERED: f64 = 0.85;
/// Workloads with a smaller share of writes are reads.
const READS: f64 = 0.01;
/// Unthrottled time this many times longer than that between throttled spans ends a cycle.
const LONG_QUIET: usize = 3;
/// Least number of intervals of that time.
const LEAST_QUIET: usize = 20;
/// An effective throttle reduces heating to this share at least.
const SLOWER: f64 = 0.6;
/// Intervals over which a rise that stops is measured.
const HELD_REACH: usize = 6;
const LEAST_RISE_INTERVALS: usize = 4;
/// Least rise that stops, kelvin per interval.
const LEAST_RISE_K: f64 = 0.1;
/// Least variation of the rate under a throttle that switches on and off (standard deviation,
/// share).
const LEAST_NOISE: f64 = 0.1;
/// Intervals before and after a fall in which temperatures are compared.
const REACH: usize = 15;

/// Intervals beside a reported span whose rates are compared with those in it.
const BESIDE: usize = 10;
const LEAST_BESIDE: usize = 2;
/// A reported throttle does not set a rate that stays as before for this many intervals.
const INEFFECTIVE: usize = 3;
/// Rates within so many standard deviations of a level are at it.
const AT_LEVEL_DEVIATIONS: f64 = 3.0;
/// A throttle that comes and goes does not show where this share of intervals is at the level
/// before.
const UNCHANGED: f64 = 0.9;

/// Share of a throttled span in the slow state, and intervals from one fall to the next.
type DutyCycle = (f64, Option<f64>);
const ALWAYS_SLOW: DutyCycle = (1.0, None);

/// Spans in time order, at most one where the drive reports no throttle status.
pub(super) fn throttled_spans(observed: &ObservedCell, rates: &[f64]) -> Vec<CauseSpan> {
    if has_status(observed) {
        return reported(observed, rates);
    }
    inferred(observed, rates).into_iter().collect()
}

fn has_status(observed: &ObservedCell) -> bool {
    observed.intervals.iter().any(|i| i.throttled.is_some())
}

fn reported(observed: &ObservedCell, rates: &[f64]) -> Vec<CauseSpan> {
    let intervals = &observed.intervals;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, interval) in intervals.iter().enumerate() {
        if interval.throttled == Some(true) {
            match runs.last_mut() {
                Some(run) if run.1 == at => run.1 = at + 1,
                _ => runs.push((at, at + 1)),
            }
        }
    }
    let quiet: Vec<f64> = runs.windows(2).map(|w| (w[1].0 - w[0].1) as f64).collect();
    let usual = median(&quiet) as usize;
    let ends = |gap: usize| gap > LEAST_QUIET.max(LONG_QUIET * usual);
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    for (from, to) in runs {
        match spans.last_mut() {
            Some(span) if !ends(from - span.1) => (span.1, span.2) = (to, span.2 + to - from),
            _ => spans.push((from, to, to - from)),
        }
    }
    // A cycle under way when the cell ends extends to its end.
    if let Some(last) = spans.last_mut()
        && !quiet.is_empty()
        && !ends(intervals.len() - last.1)
    {
        last.1 = intervals.len();
    }
    let spans = shown(observed, rates, &spans);
    let finding = |(from, to, slow): (usize, usize, usize)| {
        let swing = change::alternation(&rates[from..to]);
        let duty_cycle = match swing.filter(|_| slow == to - from) {
            Some(cycle) => (cycle.duty_low, Some(cycle.period)),
            None => {
                let is_fall = |&at: &usize| {
                    let status = (intervals[at - 1].throttled, intervals[at].throttled);
                    status == (Some(false), Some(true))
                };
                let falls = (from + 1..to).filter(is_fall);
                let starts: Vec<usize> = std::iter::once(from).chain(falls).collect();
                let periods = starts.windows(2).map(|w| (w[1] - w[0]) as f64);
                let periods: Vec<f64> = periods.collect();
                let period = (!periods.is_empty()).then(|| median(&periods));
                (slow as f64 / (to - from) as f64, period)
            }
        };
        let onset_c = highest(observed, from.saturating_sub(1), from + 1);
        let at = match onset_c {
            Some(celsius) => format!("at {celsius:.0} C"),
            None => "at an unknown temperature".to_owned(),
        };
        let counted = counted(observed, from, to);
        let evidence = format!("the drive reports throttling, first {at}{counted}");
        heated(observed, (from, to), onset_c, duty_cycle, evidence)
    };
    spans.into_iter().map(finding).collect()
}

/// Keeps the reported spans (first interval, end, throttled intervals) as far as throttling sets
/// the rate. A drive can report it while something slower sets the rate: its onset then changes
/// nothing, and a fall within the span lasts when the drive no longer throttles. A throttle that
/// changed nothing for some intervals does not explain a fall of writes after them, unless they
/// recover when it ends.
fn shown(
    observed: &ObservedCell,
    rates: &[f64],
    spans: &[(usize, usize, usize)],
) -> Vec<(usize, usize, usize)> {
    let reads = observed.context.write_share <= READS;
    let mut out = Vec::new();
    for (number, &(from, to, slow)) in spans.iter().enumerate() {
        let free_from = number.checked_sub(1).map_or(0, |before| spans[before].1);
        let free_to = spans.get(number + 1).map_or(rates.len(), |next| next.0);
        let before = &rates[from.saturating_sub(BESIDE).max(free_from)..from];
        let after = &rates[to..(to + BESIDE).min(free_to)];
        if before.len() < LEAST_BESIDE {
            out.push((from, to, slow));
            continue;
        }
        let is_at = |beside: &[f64]| {
            let level = median(beside);
            let noise = AT_LEVEL_DEVIATIONS * deviation(beside, level);
            let tolerance = noise.max(LEAST_FALL * level);
            move |rate: &f64| (rate - level).abs() <= tolerance
        };
        let inside = &rates[from..to];
        let is_before = is_at(before);
        let unchanged = inside.iter().filter(|rate| is_before(rate)).count();
        if unchanged as f64 >= UNCHANGED * inside.len() as f64 {
            continue;
        }
        let first = inside.iter().take_while(|rate| is_before(rate)).count();
        let known_after = after.len() >= LEAST_BESIDE;
        let lasts = median(after) < median(before) * (1.0 - 2.0 * LEAST_FALL);
        if first >= INEFFECTIVE && !reads && (lasts || !known_after) {
            continue;
        }
        if slow < to - from || !known_after || !lasts {
            out.push((from, to, slow));
            continue;
        }
        let is_after = is_at(after);
        let last = inside.iter().rev().take_while(|rate| is_after(rate)).count();
        // The interval of the fall belongs to both levels.
        let fall = inside.len() - last;
        if fall > first + 1 {
            out.push((from, from + fall, fall));
        }
    }
    out
}

/// Rates of throttled spans are replaced by the ones before (or after), for what else happens in
/// the cell.
pub(super) fn bridged(rates: &[f64], spans: &[CauseSpan]) -> Vec<f64> {
    let mut out = rates.to_vec();
    for span in spans {
        let beside = match span.from {
            0 => span.to..(span.to + BESIDE).min(out.len()),
            from => from.saturating_sub(BESIDE)..from,
        };
        let beside = out[beside].to_vec();
        let repeated = beside.iter().copied().cycle();
        for (rate, other) in out[span.from..span.to].iter_mut().zip(repeated) {
            *rate = other;
        }
    }
    out
}

fn heated(
    observed: &ObservedCell,
    (from, to): (usize, usize),
    onset_c: Option<f64>,
    (duty, period): DutyCycle,
    evidence: String,
) -> CauseSpan {
    let first = &observed.intervals[from].sample;
    let cause = Cause::ThermalThrottling {
        onset_c,
        onset_s: first.start_s(),
        duty_pct: duty * 100.0,
        period_s: period.map(|points| points * first.elapsed_s()),
    };
    CauseSpan::new(from, to, cause, evidence)
}

fn counted(observed: &ObservedCell, from: usize, to: usize) -> String {
    let of = |at: usize| observed.intervals[at].warning_time_s;
    match of(from).zip(of(to - 1)) {
        Some((first, last)) if last > first => {
            format!("; {} s above its warning temperature", last - first)
        }
        _ => String::new(),
    }
}

fn highest(observed: &ObservedCell, from: usize, to: usize) -> Option<f64> {
    let to = to.min(observed.intervals.len());
    let readings = observed.intervals[from.min(to)..to].iter();
    readings.filter_map(|m| m.temperature_c).reduce(f64::max)
}

fn inferred(observed: &ObservedCell, rates: &[f64]) -> Option<CauseSpan> {
    let intervals = observed.intervals.iter();
    let known = intervals.filter(|m| m.temperature_c.is_some());
    if known.count() * 2 <= observed.intervals.len() {
        return None;
    }
    let series = Series::new(observed, rates);
    let segments = change::segments(rates);
    let starts = segments.iter().skip(1).map(|segment| segment.from);
    std::iter::once(0)
        .chain(starts)
        .find_map(|from| series.cycle(from))
        .or_else(|| series.held())
        .or_else(|| (1..segments.len()).find_map(|at| series.single(&segments, at)))
}

/// The temperature as text if throttling could explain a lasting fall: where the temperature is
/// high, has just been reached, and rises more slowly from then on.
pub(super) fn possible(observed: &ObservedCell, rates: &[f64], fall: usize) -> Option<String> {
    let known = observed.intervals.iter().any(|m| m.temperature_c.is_some());
    if has_status(observed) || !known {
        return None;
    }
    let series = Series::new(observed, rates);
    let level = series.level_at(fall);
    let slower = series.heating(fall, REACH) < series.heating_before(fall) * SLOWER;
    (series.first_time(fall) && slower).then(|| format!("{level:.0} C, not reached before"))
}

struct Series<'a> {
    observed: &'a ObservedCell,
    rates: &'a [f64],
    /// Gaps are filled with the reading before (or the first).
    celsius: Vec<f64>,
}

impl<'a> Series<'a> {
    fn new(observed: &'a ObservedCell, rates: &'a [f64]) -> Series<'a> {
        let first = observed.intervals.iter().find_map(|m| m.temperature_c);
        let mut last = first.unwrap_or(0.0);
        let reading = |m: &ObservedInterval| {
            last = m.temperature_c.unwrap_or(last);
            last
        };
        Series { observed, rates, celsius: observed.intervals.iter().map(reading).collect() }
    }

    fn level_at(&self, fall: usize) -> f64 {
        let to = (fall + 1).min(self.celsius.len());
        let near = &self.celsius[fall.saturating_sub(2)..to];
        near.iter().copied().fold(f64::MIN, f64::max)
    }

    /// Whether this temperature was reached only just before. Readings are whole degrees, so one
    /// can last about as long as the degree before it, and somewhat longer, because heating slows
    /// down.
    fn first_time(&self, fall: usize) -> bool {
        let level = self.level_at(fall);
        let reached = |celsius: f64| self.celsius.iter().position(|&c| c >= celsius);
        let (Some(at), Some(before)) = (reached(level), reached(level - 1.0)) else {
            return false;
        };
        let tolerance = 4 + 3 * at.saturating_sub(before);
        level >= LEAST_CELSIUS && at > 0 && at + tolerance >= fall
    }

    /// Falls and recoveries that repeat at the same temperatures, from the first fall after `from`.
    fn cycle(&self, from: usize) -> Option<CauseSpan> {
        let swing = change::alternation(&self.rates[from..])?;
        let falls: Vec<usize> = swing.falls.iter().map(|fall| fall + from).collect();
        let rises: Vec<usize> = (from + 1..self.rates.len())
            .filter(|&at| !swing.slow[at - from] && swing.slow[at - from - 1])
            .collect();
        let (first, last) = (*falls.first()?, *falls.last()?);
        if !self.first_time(first) {
            return None;
        }
        let levels: Vec<f64> = falls.iter().map(|&fall| self.level_at(fall)).collect();
        let level = median(&levels);
        let is_alike = |celsius: &&f64| (**celsius - level).abs() <= SAME_LEVEL_K;
        let alike = levels.iter().filter(is_alike);
        // The drive cools down while slow and heats up again: hysteresis, which no other cause has.
        let recoveries = rises.iter().filter(|rise| **rise > first);
        let below: Vec<f64> = recoveries.map(|&rise| level - self.celsius[rise]).collect();
        // Hysteresis below one degree: then the level is held from the first fall on.
        let mut since = self.celsius[first..].iter();
        let held = since.all(|c| (c - level).abs() <= LEAST_GAP_K);
        let gap = if held { 0.0 } else { LEAST_GAP_K };
        let cooled = below.iter().filter(|k| **k >= gap).count();
        let irregular = alike.count() * 5 < levels.len() * 4 || cooled * 5 < below.len() * 4;
        if irregular || below.is_empty() || swing.low > swing.high * RECOVERED {
            return None;
        }
        // Slow to the end, or an unthrottled tail that is longer than a cycle.
        let end = rises.iter().rev().find(|&&rise| rise > last).copied();
        let quiet = (LONG_QUIET as f64 * swing.period.max(1.0)) as usize;
        let to = match end {
            Some(end) if self.rates.len() - end > LEAST_QUIET.max(quiet) => end,
            Some(_) => self.rates.len(),
            // Slow although cooler than at earlier recoveries: that last fall was not thermal.
            None => {
                let recovers = level - median(&below);
                let mut after = self.celsius[last..].iter();
                let cold = after.any(|&c| c < recovers - SAME_LEVEL_K);
                let between = |rise: &&usize| (first + 1..last).contains(*rise);
                let back = rises.iter().rev().find(between).filter(|_| cold);
                back.copied().unwrap_or(self.rates.len())
            }
        };
        let evidence = format!(
            "the rate falls at {level:.0} C, first when that is first reached, and recovers at \
             {:.0} C, {} times",
            level - median(&below),
            falls.len()
        );
        let duty_cycle = (swing.duty_low, Some(swing.period));
        let onset_c = Some(levels[0]);
        let span = heated(self.observed, (first, to), onset_c, duty_cycle, evidence);
        Some(span)
    }

    /// One fall, at the beginning of segment `at`, after which the temperature is held or falls
    /// until the rate recovers.
    fn single(&self, segments: &[Segment], at: usize) -> Option<CauseSpan> {
        let after = segments[at];
        let fall = after.from;
        let before = segments[..at].iter().map(|s| s.level).fold(0.0, f64::max);
        let fell = after.level < segments[at - 1].level * (1.0 - LEAST_FALL);
        if !fell || !self.first_time(fall) {
            return None;
        }
        let level = self.level_at(fall);
        let mut later = segments[at + 1..].iter();
        let recovery = later.find(|s| s.level >= before * RECOVERED);
        let to = recovery.map_or(self.rates.len(), |segment| segment.from);
        let cooled_when_back = recovery.is_some_and(|s| self.celsius[s.from] <= level - 1.0);
        let reads = self.observed.context.write_share <= READS;
        let slower = self.heating(fall, REACH.min(to - fall)) < self.heating_before(fall) * SLOWER;
        if !(cooled_when_back || reads && slower) {
            return None;
        }
        let shown = if cooled_when_back {
            "recovers when it has cooled down"
        } else {
            "heating is slower from then on"
        };
        let evidence = format!(
            "the rate falls to {:.0} % when {level:.0} C are first reached, and {shown}",
            after.level / before * 100.0
        );
        let onset_c = Some(level);
        let span = heated(self.observed, (fall, to), onset_c, ALWAYS_SLOW, evidence);
        Some(span)
    }

    /// A temperature that stops rising at a level and is held there at a lower rate: a throttle
    /// with a narrow hysteresis, which within an interval is both on and off.
    fn held(&self) -> Option<CauseSpan> {
        let end = self.celsius.len();
        let level = self.celsius.iter().copied().fold(f64::MIN, f64::max);
        let at = self.celsius.iter().position(|&c| c >= level - 1.0)?;
        if level < LEAST_CELSIUS || at < LEAST_RISE_INTERVALS || end - at < REACH {
            return None;
        }
        let reads = self.observed.context.write_share <= READS;
        if self.observed.context.random && !reads {
            // Garbage collection fluctuates too, and the drive gets no hotter at the lower rate.
            return None;
        }
        let cool = self.celsius[at..].iter().position(|&c| c < level - HELD_K);
        let to = cool.map_or(end, |cool| at + cool);
        let from = at.saturating_sub(HELD_REACH);
        let before = median(&self.rates[from..at]);
        let slow = |rate: &f64| *rate < before * (1.0 - LEAST_FALL);
        let first = at.saturating_sub(1);
        let fall = first + self.rates[first..].iter().position(slow)?;
        if to < fall + REACH || !self.first_time(fall) {
            return None;
        }
        // The temperature was still rising before.
        let rise = (self.celsius[at] - self.celsius[from]) / (at - from) as f64;
        let rest = (self.celsius[to - 1] - self.celsius[at]).max(0.0) / (to - at) as f64;
        let stopped = rise >= LEAST_RISE_K && rest * 4.0 < rise;
        let rates = &self.rates[fall..to];
        let after = mean(rates);
        let switching = change::noise(rates).is_some_and(|noise| noise >= LEAST_NOISE);
        if !stopped || after > before * (1.0 - LEAST_FALL) || !(reads || switching) {
            return None;
        }
        let evidence = format!(
            "the temperature stops rising at {level:.0} C and is held there, at {:.0} % of the \
             rate before",
            after / before.max(f64::MIN_POSITIVE) * 100.0
        );
        let onset_c = Some(level);
        let span = heated(self.observed, (fall, to), onset_c, ALWAYS_SLOW, evidence);
        Some(span)
    }

    fn heating(&self, fall: usize, reach: usize) -> f64 {
        let to = (fall + reach.max(1)).min(self.celsius.len() - 1);
        (self.celsius[to] - self.celsius[fall]) / (to - fall).max(1) as f64
    }

    fn heating_before(&self, fall: usize) -> f64 {
        let from = fall.saturating_sub(REACH);
        (self.celsius[fall] - self.celsius[from]) / (fall - from).max(1) as f64
    }
}
