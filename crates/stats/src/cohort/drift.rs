//! Drift of a soak: one slope over all spans of measurement. Gaps between spans (reboots, moves) are never bridged: each span has its own
//! level, so that a step across a gap is no drift.

use crate::mean;
use crate::student;

/// Means of blocks of equal duration are the values of the regression: successive seconds and minutes are correlated.
pub const BLOCKS: usize = 24;
/// Fewest blocks in all spans together beyond the levels: fewer give no slope.
const LEAST_DEGREES: usize = 3;

/// A slope with its interval, in units of the values per unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The slope.
    pub slope: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Value of the regression at the end of the last span.
    pub last: f64,
    /// Time of the last block.
    pub end: f64,
}

/// Common least-squares slope of spans of (time, value), each in time order, with a level per span (analysis of covariance). `None` where
/// too little was measured, or unless `0 < level < 1`.
pub fn slope(spans: &[Vec<(f64, f64)>], level: f64) -> Option<Slope> {
    let length = |span: &Vec<(f64, f64)>| span.last().map_or(0.0, |l| l.0) - span[0].0;
    let measured: f64 = spans.iter().filter(|s| !s.is_empty()).map(length).sum();
    let block = measured / BLOCKS as f64;
    if block.is_nan() || block <= 0.0 {
        return None;
    }
    let spans = spans.iter().map(|span| blocks(span, block));
    let spans: Vec<Vec<(f64, f64)>> = spans.filter(|span| span.len() >= 2).collect();
    let count: usize = spans.iter().map(Vec::len).sum();
    let degrees = count.checked_sub(spans.len() + 1)?;
    if degrees < LEAST_DEGREES {
        return None;
    }
    let centred = |span: &[(f64, f64)]| {
        let (x, y): (Vec<f64>, Vec<f64>) = span.iter().copied().unzip();
        (mean(&x), mean(&y))
    };
    let (mut squares, mut product) = (0.0, 0.0);
    for span in &spans {
        let (x, y) = centred(span);
        squares += span.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
        product += span.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>();
    }
    let slope = product / squares;
    let residual = |span: &Vec<(f64, f64)>| {
        let (x, y) = centred(span);
        let off = |p: &(f64, f64)| (p.1 - y - slope * (p.0 - x)).powi(2);
        span.iter().map(off).sum::<f64>()
    };
    let variance = spans.iter().map(residual).sum::<f64>() / degrees as f64 / squares;
    let half = student::two_sided(level, degrees as f64)? * variance.sqrt();
    let last = spans.last()?;
    let (x, y) = centred(last);
    let end = last.last()?.0;
    (slope.is_finite() && half.is_finite()).then_some(Slope {
        slope,
        low: slope - half,
        high: slope + half,
        last: y + slope * (end - x),
        end,
    })
}

/// Means of the points of each block of a span; a block shorter than half is left out.
fn blocks(span: &[(f64, f64)], length: f64) -> Vec<(f64, f64)> {
    let Some(first) = span.first() else {
        return Vec::new();
    };
    let number = |time: f64| ((time - first.0) / length).floor();
    let mut out: Vec<(f64, f64)> = Vec::new();
    for block in span.chunk_by(|a, b| number(a.0) == number(b.0)) {
        let (x, y): (Vec<f64>, Vec<f64>) = block.iter().copied().unzip();
        let covered = x[x.len() - 1] - x[0];
        if covered >= length / 2.0 || block.len() == 1 {
            out.push((mean(&x), mean(&y)));
        }
    }
    out
}

/// Time from the last block until a limit is reached at the slope; `None` where the slope leads away from it, or its interval holds zero.
pub fn time_to(slope: &Slope, limit: f64) -> Option<f64> {
    let time = (limit - slope.last) / slope.slope;
    let certain = slope.low > 0.0 || slope.high < 0.0;
    (certain && time.is_finite() && time >= 0.0).then_some(time)
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/drift.rs"]
mod tests;
