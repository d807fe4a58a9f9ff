//! Drift of soaks: one slope over all spans of measurement, of one drive or relative to the others.
//!
//! # Mechanism
//! Each span between gaps (reboots, moves) has its own level, so that a step across a gap is no
//! drift. A slope is fitted to medians of blocks of equal duration, because successive values are
//! correlated and some are far off.
//!
//! What all drives have in common (ambient temperature, a shared host, the suite) is the median
//! curve of the cohort ([`relative`]). It is removed value by value, before blocks are made: a
//! common step inside a block would otherwise move each block's median by chance. A drive is then
//! judged by its slope among those of the others ([`distances`]), and the curve by itself
//! ([`common`]).

use crate::student;
use crate::{mean, median};

use super::outliers::{Distances, distances_within, limit_of_groups};

/// (time, value) in time order, without an interruption.
pub type Span = Vec<(f64, f64)>;

/// Blocks in all spans of a soak together, whose medians are the values of the regression.
pub const BLOCKS: usize = 24;
/// Fewest blocks in all spans together beyond the levels: fewer give no slope.
const LEAST_DEGREES: usize = 3;
/// Most rounds of the median polish.
const MOST_ROUNDS: usize = 30;
/// The polish has converged where no level changes by more, in units of the values.
const CONVERGED: f64 = 1e-6;
/// Largest correlation of neighbouring blocks that is allowed for.
const MOST_MEMORY: f64 = 0.9;
/// A step explains the curve where it leaves less than this share of the slope's squares.
const STEP_SHARE: f64 = 0.5;

/// In units of the values per unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    pub slope: f64,
    pub low: f64,
    pub high: f64,
    /// Value of the regression at the end of the last span.
    pub last: f64,
    /// Time of the last block.
    pub end: f64,
    /// Sum of the blocks' squared distances in time: the variance of a slope is a block's over it.
    pub squares: f64,
}

struct Covariance {
    /// Sums of times, of products of times and values, and of values.
    squares: f64,
    product: f64,
    total: f64,
    /// Of the residuals.
    degrees: usize,
}

impl Covariance {
    fn new(spans: &[Span]) -> Option<Covariance> {
        let count: usize = spans.iter().map(Vec::len).sum();
        let degrees = count.checked_sub(spans.len() + 1)?;
        let (mut squares, mut product, mut total) = (0.0, 0.0, 0.0);
        for span in spans {
            let (x, y) = centre(span);
            squares += span.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
            product += span.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
            total += span.iter().map(|p| (p.1 - y).powi(2)).sum::<f64>();
        }
        (degrees >= LEAST_DEGREES && squares > 0.0).then_some(Covariance {
            squares,
            product,
            total,
            degrees,
        })
    }
}

fn centre(span: &[(f64, f64)]) -> (f64, f64) {
    let (x, y): (Vec<f64>, Vec<f64>) = span.iter().copied().unzip();
    (mean(&x), mean(&y))
}

/// Common least-squares slope of the block medians, with a level per span (analysis of covariance).
/// `None` where too little was measured, or unless `0 < level < 1`.
pub fn slope(spans: &[Span], level: f64) -> Option<Slope> {
    let spans = block_medians(spans);
    let fit = Covariance::new(&spans)?;
    let slope = fit.product / fit.squares;
    // Rounding of an exact line must not make the rest negative.
    let rest = (fit.total - slope * fit.product).max(0.0);
    let error = (rest / fit.degrees as f64 / fit.squares * memory(&spans, slope, rest)).sqrt();
    let half = student::two_sided(level, fit.degrees as f64)? * error;
    let last = spans.last()?;
    let (x, y) = centre(last);
    let end = last.last()?.0;
    (slope.is_finite() && half.is_finite()).then_some(Slope {
        slope,
        low: slope - half,
        high: slope + half,
        last: y + slope * (end - x),
        end,
        squares: fit.squares,
    })
}

/// Factor on the variance of a slope, because blocks of short soaks are correlated by r: (1 + r) /
/// (1 - r) (G. E. P. Box, G. M. Jenkins, "Time Series Analysis", 1970), with r corrected for the
/// bias of few values (F. H. C. Marriott, J. A. Pope, "Bias in the estimation of autocorrelations",
/// Biometrika 41, 1954). Never below 1.
fn memory(spans: &[Span], slope: f64, rest: f64) -> f64 {
    let mut products = 0.0;
    let mut count = 0;
    for span in spans {
        let (x, y) = centre(span);
        let residual = |p: &(f64, f64)| p.1 - y - slope * (p.0 - x);
        products += span.windows(2).map(|p| residual(&p[0]) * residual(&p[1])).sum::<f64>();
        count += span.len();
    }
    let found = products / rest;
    let corrected = found + (1.0 + 4.0 * found) / count as f64;
    match corrected.is_finite() {
        true => {
            let r = corrected.clamp(0.0, MOST_MEMORY);
            (1.0 + r) / (1.0 - r)
        }
        // Without residuals.
        false => 1.0,
    }
}

/// The block medians on which [`slope`] rests; spans of fewer than two blocks are left out.
pub fn block_medians(spans: &[Span]) -> Vec<Span> {
    let block = measured(spans) / BLOCKS as f64;
    if block.is_nan() || block <= 0.0 {
        return Vec::new();
    }
    let spans = spans.iter().map(|span| blocks(span, block));
    spans.filter(|span| span.len() >= 2).collect()
}

/// Time in spans.
pub fn measured(spans: &[Span]) -> f64 {
    let length = |span: &Span| Some(span.last()?.0 - span.first()?.0);
    spans.iter().filter_map(length).sum()
}

/// Medians of the blocks of a span; one with less than half of the fullest's points is left out.
fn blocks(span: &[(f64, f64)], length: f64) -> Span {
    let (Some(first), Some(last)) = (span.first(), span.last()) else {
        return Span::new();
    };
    // The last point joins the last whole block: alone it would be the regression's farthest value.
    let latest = ((last.0 - first.0) / length - 1e-9).floor();
    let number = |time: f64| ((time - first.0) / length).floor().min(latest);
    let blocks: Vec<&[(f64, f64)]> = span.chunk_by(|a, b| number(a.0) == number(b.0)).collect();
    let fullest = blocks.iter().map(|block| block.len()).max().unwrap_or(0);
    let kept = blocks.into_iter().filter(|block| 2 * block.len() >= fullest);
    let middle = |block: &[(f64, f64)]| {
        let (x, y): (Vec<f64>, Vec<f64>) = block.iter().copied().unzip();
        (mean(&x), median(&y))
    };
    kept.map(middle).collect()
}

/// Time from the last block to the limit; `None` if the slope leads away or may be zero.
pub fn time_to(slope: &Slope, limit: f64) -> Option<f64> {
    let time = (limit - slope.last) / slope.slope;
    (excludes_zero(slope) && time.is_finite() && time >= 0.0).then_some(time)
}

/// By the interval.
pub fn excludes_zero(slope: &Slope) -> bool {
    slope.low > 0.0 || slope.high < 0.0
}

#[derive(Clone, Debug, PartialEq)]
pub struct Relative {
    /// Spans whose levels cannot be compared: no drive was measured across their gaps.
    pub curve: Vec<Span>,
    /// Per drive, its spans less the curve.
    pub residuals: Vec<Vec<Span>>,
}

/// (number of the time, time, value).
type NumberedSpan = Vec<(usize, f64, f64)>;

/// The median curve of drives, and what is left of each without it. Levels of spans and the curve
/// are found by turns (median polish, J. W. Tukey, "Exploratory Data Analysis", 1977, chapter 11),
/// so that drives with gaps at different times count too. Times at which less than half of the
/// drives, or only one, were measured have no curve. Values must be finite.
pub fn relative(drives: &[Vec<Span>]) -> Relative {
    let empty = Relative { curve: Vec::new(), residuals: vec![Vec::new(); drives.len()] };
    let Some(step) = step_of(drives) else {
        return empty;
    };
    let number = |time: f64| (time / step).max(0.0) as usize;
    let numbered = |(drive, span): (usize, &Span)| -> (usize, NumberedSpan) {
        let points = span.iter().map(|(time, v)| (number(*time), *time, *v));
        (drive, points.collect())
    };
    let all = drives.iter().enumerate();
    let all = all.flat_map(|(drive, spans)| spans.iter().map(move |span| (drive, span)));
    let spans: Vec<(usize, NumberedSpan)> = all.map(numbered).collect();
    let last = spans.iter().flat_map(|(_, s)| s.last()).map(|p| p.0).max();
    let Some(times) = last.map(|last| last + 1) else {
        return empty;
    };
    let measured_drives = drives.iter().filter(|spans| measured(spans) > 0.0).count();
    let needed = measured_drives.div_ceil(2).max(2);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); times];
    for (drive, span) in &spans {
        for (number, ..) in span {
            if members[*number].last() != Some(drive) {
                members[*number].push(*drive);
            }
        }
    }
    let counts: Vec<bool> = members.iter().map(|m| m.len() >= needed).collect();
    let polish =
        Polish { spans: spans.iter().map(|(_, span)| span.as_slice()).collect(), counts: &counts };
    let curve = polish.curve();
    let curve = polish.spans_of(&curve);
    let mut residuals = vec![Vec::new(); drives.len()];
    for (drive, span) in &spans {
        let inside = span.iter().filter(|(number, ..)| counts[*number]);
        let less = |(_, time, value): &(usize, f64, f64)| {
            Some((*time, value - interpolated(&curve, *time)?))
        };
        let rest: Span = inside.filter_map(less).collect();
        if !rest.is_empty() {
            residuals[*drive].push(rest);
        }
    }
    Relative { curve, residuals }
}

/// Distance in time of the values of the drive that has the fewest.
fn step_of(drives: &[Vec<Span>]) -> Option<f64> {
    let typical = |spans: &Vec<Span>| {
        let pairs = spans.iter().flat_map(|span| span.windows(2));
        let steps: Vec<f64> = pairs.map(|pair| pair[1].0 - pair[0].0).collect();
        (!steps.is_empty()).then(|| median(&steps))
    };
    let steps = drives.iter().filter_map(typical);
    steps.reduce(f64::max).filter(|step| *step > 0.0)
}

/// On the line between neighbours, constant beyond the ends. `None` between two spans.
fn interpolated(curve: &[Span], time: f64) -> Option<f64> {
    let near = |span: &&Span| span.last().is_some_and(|last| time <= last.0);
    let span = curve.iter().find(near).or(curve.last())?;
    let after = span.partition_point(|point| point.0 < time);
    match (after.checked_sub(1).and_then(|b| span.get(b)), span.get(after)) {
        (Some(before), Some(after)) => {
            let share = (time - before.0) / (after.0 - before.0);
            Some(before.1 + share * (after.1 - before.1))
        }
        (one, other) => one.or(other).map(|point| point.1),
    }
}

struct Polish<'a> {
    spans: Vec<&'a [(usize, f64, f64)]>,
    /// Whether the time has enough drives.
    counts: &'a [bool],
}

impl Polish<'_> {
    /// By number of time; only times that count.
    fn curve(&self) -> Vec<f64> {
        let mut curve = self.first_curve();
        let mut own: Vec<Vec<f64>> = vec![Vec::new(); curve.len()];
        let mut before = vec![0.0; self.spans.len()];
        for _ in 0..MOST_ROUNDS {
            let levels: Vec<f64> = self.spans.iter().map(|span| self.level(span, &curve)).collect();
            own.iter_mut().for_each(Vec::clear);
            for (span, level) in self.spans.iter().zip(&levels) {
                for (number, _, value) in *span {
                    own[*number].push(value - level);
                }
            }
            for (number, values) in own.iter().enumerate().filter(|(_, v)| !v.is_empty()) {
                curve[number] = median(values);
            }
            let change = levels.iter().zip(&before).map(|(a, b)| (a - b).abs());
            if change.fold(0.0, f64::max) <= CONVERGED {
                break;
            }
            before = levels;
        }
        curve
    }

    /// From medians of the changes between times, which need no levels: a ramp is seen across gaps.
    fn first_curve(&self) -> Vec<f64> {
        let mut changes: Vec<Vec<f64>> = vec![Vec::new(); self.counts.len()];
        for pair in self.spans.iter().flat_map(|span| span.windows(2)) {
            let [before, after] = [pair[0], pair[1]];
            if before.0 + 1 == after.0 {
                changes[after.0].push(after.2 - before.2);
            }
        }
        let mut level = 0.0;
        let next = |changes: &Vec<f64>| {
            level += median(changes);
            level
        };
        changes.iter().map(next).collect()
    }

    /// The span's level above the curve.
    fn level(&self, span: &[(usize, f64, f64)], curve: &[f64]) -> f64 {
        let inside = span.iter().filter(|(number, ..)| self.counts[*number]);
        let off: Vec<f64> = inside.map(|(number, _, value)| value - curve[*number]).collect();
        median(&off)
    }

    /// The curve over time, cut where no span leads across.
    fn spans_of(&self, curve: &[f64]) -> Vec<Span> {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); curve.len()];
        let mut led_to = vec![false; curve.len()];
        for span in &self.spans {
            for (number, time, _) in *span {
                times[*number].push(*time);
            }
            let (Some(first), Some(last)) = (span.first(), span.last()) else {
                continue;
            };
            led_to[first.0 + 1..last.0.max(first.0) + 1].fill(true);
        }
        let mut found: Vec<Span> = Vec::new();
        for number in (0..curve.len()).filter(|number| self.counts[*number]) {
            let point = (mean(&times[number]), curve[number]);
            match found.last_mut().filter(|_| led_to[number]) {
                Some(span) => span.push(point),
                None => found.push(vec![point]),
            }
        }
        found
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    pub slope: Slope,
    /// Time and height, where a step explains the curve better than the slope.
    pub step: Option<(f64, f64)>,
}

/// Drift of the median curve of [`relative`]. `None` as [`slope`].
pub fn common(curve: &[Span], level: f64) -> Option<Common> {
    let slope = slope(curve, level)?;
    let spans = block_medians(curve);
    let fit = Covariance::new(&spans)?;
    let rest = fit.total - slope.slope * fit.product;
    let best = spans.iter().filter_map(|span| step(span));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
    let step = best.filter(|(explained, ..)| fit.total - explained < STEP_SHARE * rest);
    Some(Common { slope, step: step.map(|(_, time, height)| (time, height)) })
}

/// The step that explains most, with at least two blocks on each side: squares, time, height.
fn step(span: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let cut = |at: usize| {
        let ((_, low), (_, high)) = (centre(&span[..at]), centre(&span[at..]));
        let (before, after) = (at as f64, (span.len() - at) as f64);
        let height = high - low;
        let time = (span[at - 1].0 + span[at].0) / 2.0;
        (before * after / (before + after) * height.powi(2), time, height)
    };
    let cuts = (2..span.len().saturating_sub(1)).map(cut);
    cuts.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Slopes of the residuals of [`relative`], each with the number of its group, against those of the
/// group in units of Q_n, with the limit. The distance of a less precise slope (of a short or
/// interrupted soak) is divided by how much. `None` of fewer than
/// [`super::outliers::FEWEST_DRIVES`], or where more than half are equal.
pub fn distances(slopes: &[(usize, Slope)]) -> Option<Distances> {
    let mut groups: Vec<usize> = slopes.iter().map(|(group, _)| *group).collect();
    groups.sort_unstable();
    let sizes: Vec<usize> = groups.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    groups.dedup();
    let middle = |group: &usize| {
        let own = slopes.iter().filter(|(g, _)| g == group);
        median(&own.map(|(_, slope)| slope.slope).collect::<Vec<f64>>())
    };
    let middles: Vec<f64> = groups.iter().map(middle).collect();
    let value = |(group, slope): &(usize, Slope)| {
        let at = groups.binary_search(group).unwrap_or(0);
        slope.slope - middles[at]
    };
    let values: Vec<f64> = slopes.iter().map(value).collect();
    let typical = median(&slopes.iter().map(|(_, s)| s.squares).collect::<Vec<f64>>());
    let mut found = distances_within(&values, limit_of_groups(&sizes)?)?;
    for (distance, (_, slope)) in found.distances.iter_mut().zip(slopes) {
        *distance /= (typical / slope.squares).sqrt().max(1.0);
    }
    Some(found)
}

/// Positions of the drives beyond the limit whose own slope differs from zero, the farthest first.
pub fn drifting(slopes: &[(usize, Slope)], found: &Distances) -> Vec<usize> {
    let mut beyond = found.beyond();
    beyond.retain(|at| excludes_zero(&slopes[*at].1));
    beyond
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/drift.rs"]
mod tests;
