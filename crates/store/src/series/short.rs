//! Short intervals are merged with a neighbour, so that every interval of a series is a sample of
//! the rate. Intervals are equally long, except the first measured one where the ramp ends inside
//! an interval, and the last one, in which the I/Os that were in flight at the end complete (one
//! I/O in 2.6 us would be 386,100 MiB/s). The rate of such an interval rests on few completions and
//! would set minimum, maximum, spread and change points; without its counts the series would no
//! longer add up to the result. So counts and time of an interval shorter than half of the longest
//! one are added to the interval before it, or to the one after it where it is the first. Intervals
//! of the ramp are merged only among themselves. The same merging makes minutes of seconds
//! ([`merge_minutes`]), for tables of soaks of weeks.

use assay_stats::LatencySummary;
use assay_units::{Nanos, Op};

use super::OpSample;

/// Too short to be a sample of its own.
fn is_short(elapsed: Nanos, longest: Nanos) -> bool {
    u128::from(elapsed.0) * 2 < u128::from(longest.0)
}

/// Indices in the journal of the intervals merged into one, and whether they are of the ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sources<'a> {
    /// Interval indices.
    pub indices: &'a [u32],
    /// Part of the ramp.
    pub ramp: bool,
}

/// The operations of an interval, and the intervals merged into it, itself included.
struct Merged {
    ops: Vec<OpSample>,
    indices: Vec<u32>,
}

impl Merged {
    fn new(ops: &[OpSample]) -> Merged {
        Merged { ops: ops.to_vec(), indices: vec![ops[0].index] }
    }

    /// Parts of an interval that threads report separately can differ in start and end.
    fn span(&self) -> (Nanos, Nanos) {
        let start = self.ops.iter().map(|sample| sample.start).min();
        let end = self.ops.iter().map(|sample| sample.end).max();
        (start.unwrap_or_default(), end.unwrap_or_default())
    }

    fn absorb(&mut self, short: Merged) {
        let ((start, end), added) = (self.span(), short.span());
        let (start, end) = (start.min(added.0), end.max(added.1));
        let index = self.ops[0].index;
        for sample in short.ops {
            match self.ops.iter_mut().find(|known| known.op == sample.op) {
                Some(known) => {
                    known.ios += sample.ios;
                    known.bytes += sample.bytes;
                    known.errors += sample.errors;
                }
                None => self.ops.push(OpSample { index, ..sample }),
            }
        }
        for sample in &mut self.ops {
            (sample.start, sample.end) = (start, end);
        }
        self.ops.sort_by_key(|sample| sample.op);
        self.indices.extend(short.indices);
    }
}

/// The series with its short intervals merged. `latency_of` gives the latencies of an operation in
/// several intervals, which their separate percentiles do not determine.
pub fn merge_short<E>(
    series: Vec<OpSample>,
    latency_of: impl FnMut(Op, Sources<'_>) -> Result<LatencySummary, E>,
) -> Result<Vec<OpSample>, E> {
    let longest_of = |ramp: bool| {
        let part = series.iter().filter(|sample| sample.ramp == ramp);
        part.map(OpSample::elapsed).max().unwrap_or_default()
    };
    let longest = [longest_of(false), longest_of(true)];
    let has_short =
        |sample: &OpSample| is_short(sample.elapsed(), longest[usize::from(sample.ramp)]);
    if !series.iter().any(has_short) {
        return Ok(series);
    }
    merge(series, latency_of, |samples| {
        let intervals = samples.chunk_by(|a, b| a.index == b.index);
        intervals.map(Merged::new).collect()
    })
}

/// The series by the minute: intervals that begin in one minute of the cell become one, whose index
/// is the minute's number.
pub fn merge_minutes<E>(
    series: Vec<OpSample>,
    latency_of: impl FnMut(Op, Sources<'_>) -> Result<LatencySummary, E>,
) -> Result<Vec<OpSample>, E> {
    merge(series, latency_of, |samples| {
        let minutes = samples.chunk_by(|a, b| minute_of(a) == minute_of(b));
        let minute = |samples: &[OpSample]| {
            let mut intervals = samples.chunk_by(|a, b| a.index == b.index).map(Merged::new);
            let mut minute = intervals.next()?;
            intervals.for_each(|interval| minute.absorb(interval));
            let index = minute_of(&samples[0]);
            minute.ops.iter_mut().for_each(|op| op.index = index);
            Some(minute)
        };
        minutes.filter_map(minute).collect()
    })
}

fn minute_of(sample: &OpSample) -> u32 {
    // Everything later than 8,000 years is one minute.
    u32::try_from(sample.start.0 / Nanos::from_secs(60).0).unwrap_or(u32::MAX)
}

/// `parts` makes the intervals of the ramp and of the rest.
fn merge<E>(
    series: Vec<OpSample>,
    mut latency_of: impl FnMut(Op, Sources<'_>) -> Result<LatencySummary, E>,
    parts: impl Fn(&[OpSample]) -> Vec<Merged>,
) -> Result<Vec<OpSample>, E> {
    let (of_ramp, measured): (Vec<OpSample>, Vec<OpSample>) =
        series.into_iter().partition(|sample| sample.ramp);
    let mut out = Vec::with_capacity(of_ramp.len() + measured.len());
    for (samples, ramp) in [(of_ramp, true), (measured, false)] {
        for mut interval in without_short(parts(&samples)) {
            if interval.indices.len() > 1 {
                for sample in &mut interval.ops {
                    let indices = &interval.indices;
                    sample.latency = latency_of(sample.op, Sources { indices, ramp })?;
                }
            }
            out.append(&mut interval.ops);
        }
    }
    // A damaged journal can have intervals of the ramp between measured ones.
    out.sort_by_key(|sample| (sample.index, !sample.ramp, sample.op));
    Ok(out)
}

/// Each is added to the one before, those before the first whole one to it.
fn without_short(intervals: Vec<Merged>) -> Vec<Merged> {
    // An operation's own span counts, as in the search for short ones: threads can report parts.
    let spans = intervals.iter().flat_map(|interval| &interval.ops);
    let longest = spans.map(OpSample::elapsed).max().unwrap_or_default();
    let mut whole: Vec<Merged> = Vec::new();
    let mut leading: Option<Merged> = None;
    for mut interval in intervals {
        let (start, end) = interval.span();
        if !is_short(end - start, longest) {
            if let Some(short) = leading.take() {
                interval.absorb(short);
            }
            whole.push(interval);
        } else if let Some(before) = whole.last_mut().or(leading.as_mut()) {
            before.absorb(interval);
        } else {
            leading = Some(interval);
        }
    }
    whole
}

#[cfg(test)]
#[path = "../../tests/unit/series/short.rs"]
mod tests;
