//! fio's logs over time (HOWTO.rst, "Log File Formats"): `NAME_bw.N.log` and `NAME_iops.N.log`, one
//! for each thread, with time in milliseconds, value, direction, block size. With `log_avg_msec` a
//! line is the mean of an interval, otherwise one I/O. `NAME_lat.N.log` gives a mean latency; no
//! distribution can be made of means, but [`histograms`] has those of `NAME_clat_hist.N.log`.

use std::collections::BTreeMap;

use assay_stats::{Interval, OpInterval};
use assay_units::{Nanos, Op};

use super::histograms::{self, Bins};
use super::options::Options;
use super::threads::summarise;
use super::{complete, rates};
use crate::Job;

/// What a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// KiB/s.
    Bandwidth,
    /// I/Os per second.
    Iops,
    /// Mean latency, nanoseconds.
    Latency,
    /// Mean completion latency, nanoseconds: in place of latency where there is no log of it.
    Completion,
    /// Histograms of completion latency.
    Histogram,
    /// Submission latency.
    Other,
}

/// Intervals of one log that are read: two days of seconds.
const MAX_INTERVALS: u32 = 200_000;
/// Intervals that people ask for, milliseconds.
const ASKED_MS: [u64; 13] =
    [10, 20, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];
/// Interval of logs without averages, milliseconds.
const UNAVERAGED_MS: u64 = 1000;

/// The part of a name before the kind, and the kind: `NAME_bw.1.log`, `NAME_bw.log`.
pub fn kind_of(name: &str) -> Option<(&str, LogKind)> {
    let stem = name.strip_suffix(".log")?;
    let stem = match stem.rsplit_once('.') {
        Some((stem, thread)) if thread.parse::<u32>().is_ok() => stem,
        _ => stem,
    };
    // People rename them.
    let (prefix, kind) = stem.rsplit_once(['_', '-', '.']).unwrap_or(("", stem));
    let kind = match kind {
        "bw" => LogKind::Bandwidth,
        "iops" => LogKind::Iops,
        "lat" => LogKind::Latency,
        "clat" => LogKind::Completion,
        "slat" => LogKind::Other,
        "hist" => LogKind::Histogram,
        _ => return None,
    };
    let prefix = match kind {
        LogKind::Histogram => prefix.strip_suffix("_clat").unwrap_or(prefix),
        _ => prefix,
    };
    Some((prefix, kind))
}

/// Whether the first line is one of a log.
pub fn is_log(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let is_line = |line| line_of(line).is_some() || histograms::line_of(line).is_some();
    lines.next().is_some_and(is_line)
}

/// By the number of fio's direction.
const OPERATIONS: [Op; 3] = [Op::Read, Op::Write, Op::Discard];

/// A line of a log, or what another program's file has of an interval.
pub(crate) struct Line {
    /// End of its interval, or of its I/O.
    pub at_ms: u64,
    /// In the unit of its kind.
    pub value: u64,
    /// By [`OPERATIONS`].
    pub direction: usize,
    /// 0 of a mean.
    pub bs_bytes: u64,
}

fn line_of(line: &str) -> Option<Line> {
    let mut fields = line.split(',').map(str::trim);
    Some(Line {
        at_ms: fields.next()?.parse().ok()?,
        value: fields.next()?.parse().ok()?,
        direction: fields.next()?.parse().ok().filter(|at| *at < 3)?,
        bs_bytes: fields.next().and_then(|bs| bs.parse().ok()).unwrap_or(0),
    })
}

/// The rates of one job over time, summed over its threads. Sums are of whole numbers, so that they
/// do not depend on the order of the threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    interval_ms: u64,
    /// Without averages a line is an I/O.
    is_averaged: bool,
    /// By interval and direction.
    counts: BTreeMap<(u32, usize), Counts>,
    /// The same, where there are histograms.
    latencies: BTreeMap<(u32, usize), Bins>,
}

/// Sums of the values, and of how many lines: I/Os and KiB (thousandths, where lines are means),
/// latency, completion latency, and I/Os in histograms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts([(u64, u64); 5]);

impl Counts {
    fn add(&mut self, kind: LogKind, value: u64) {
        let place = match kind {
            LogKind::Iops => 0,
            LogKind::Bandwidth => 1,
            LogKind::Latency => 2,
            LogKind::Completion => 3,
            LogKind::Histogram => 4,
            LogKind::Other => return,
        };
        let sum = &mut self.0[place];
        *sum = (sum.0.saturating_add(value), sum.1.saturating_add(1));
    }

    fn sum(&mut self, other: &Counts) {
        for (sum, (value, lines)) in self.0.iter_mut().zip(other.0) {
            *sum = (sum.0.saturating_add(value), sum.1.saturating_add(lines));
        }
    }
}

impl Rates {
    /// The log of a thread; lines that are none are left out.
    pub fn parse(kind: LogKind, text: &[u8]) -> Rates {
        let text = String::from_utf8_lossy(text);
        match kind {
            LogKind::Histogram => Rates::of_histograms(&text),
            LogKind::Other => Rates::of_lines(kind, &[]),
            _ => Rates::of_lines(kind, &text.lines().filter_map(line_of).collect::<Vec<_>>()),
        }
    }

    /// The lines of one kind, in the order of their times.
    pub(crate) fn of_lines(kind: LogKind, lines: &[Line]) -> Rates {
        // With averages there is no block size.
        let is_averaged = lines.iter().all(|line| line.bs_bytes == 0);
        let times = lines.iter().map(|line| (line.at_ms, line.direction));
        let interval_ms = match is_averaged {
            true => spacing_ms(times),
            false => UNAVERAGED_MS,
        };
        let mut counts: BTreeMap<(u32, usize), Counts> = BTreeMap::new();
        let mut before_ms = [0; OPERATIONS.len()];
        for line in lines {
            let since_ms = line.at_ms.saturating_sub(before_ms[line.direction]);
            before_ms[line.direction] = line.at_ms;
            // A mean is written at the end of its interval.
            let index = match is_averaged {
                true => ended_by(line.at_ms, interval_ms),
                false => line.at_ms / interval_ms,
            };
            if index >= MAX_INTERVALS.into() {
                continue;
            }
            let value = match (kind, is_averaged) {
                (LogKind::Iops, false) => 1,
                (LogKind::Bandwidth, false) => line.bs_bytes,
                // A rate times its time, so that threads with other times add up. A longer gap was
                // idle: fio writes no line without I/Os.
                (LogKind::Iops | LogKind::Bandwidth, true) => {
                    let span_ms = since_ms.min(interval_ms.saturating_mul(2));
                    line.value.saturating_mul(span_ms)
                }
                _ => line.value,
            };
            let place = (index as u32, line.direction);
            counts.entry(place).or_default().add(kind, value);
        }
        Rates { interval_ms, is_averaged, counts, ..Rates::default() }
    }

    fn of_histograms(text: &str) -> Rates {
        let lines: Vec<_> = text.lines().filter_map(histograms::line_of).collect();
        let interval_ms = spacing_ms(lines.iter().map(|line| (line.at_ms, line.direction)));
        let mut rates = Rates { interval_ms, ..Rates::default() };
        for line in lines {
            let index = ended_by(line.at_ms, interval_ms);
            if index >= MAX_INTERVALS.into() {
                continue;
            }
            let place = (index as u32, line.direction);
            let ios = line.bins.values().fold(0, |sum: u64, n| sum.saturating_add(*n));
            let counts = rates.counts.entry(place).or_default();
            counts.add(LogKind::Histogram, ios);
            rates.add_latencies(place, line.bins);
        }
        rates
    }

    fn add_latencies(&mut self, place: (u32, usize), bins: Bins) {
        histograms::add(self.latencies.entry(place).or_default(), bins);
    }

    /// Adds another thread's, or another kind's; the longer interval of both counts. Logs of
    /// single I/Os beside means have another meaning and are left out.
    pub fn merge(&mut self, mut other: Rates) {
        if self.counts.is_empty() {
            *self = other;
            return;
        }
        // Histograms fit both.
        if !self.has_rows() || !other.has_rows() {
            self.is_averaged |= other.is_averaged;
        } else if self.is_averaged != other.is_averaged {
            return;
        }
        let interval_ms = self.interval_ms.max(other.interval_ms);
        self.lengthen(interval_ms);
        other.lengthen(interval_ms);
        for (place, counts) in other.counts {
            self.counts.entry(place).or_default().sum(&counts);
        }
        for (place, bins) in other.latencies {
            self.add_latencies(place, bins);
        }
    }

    /// Sums the intervals to longer ones; each is put by its middle.
    fn lengthen(&mut self, interval_ms: u64) {
        if interval_ms == self.interval_ms {
            return;
        }
        let old_ms = self.interval_ms;
        let longer = |index: u32| {
            let middle_ms = u64::from(index).saturating_mul(old_ms).saturating_add(old_ms / 2);
            u32::try_from(middle_ms / interval_ms).unwrap_or(u32::MAX)
        };
        for ((index, direction), counts) in std::mem::take(&mut self.counts) {
            let place = (longer(index), direction);
            self.counts.entry(place).or_default().sum(&counts);
        }
        for ((index, direction), bins) in std::mem::take(&mut self.latencies) {
            self.add_latencies((longer(index), direction), bins);
        }
        self.interval_ms = interval_ms;
    }

    /// Gives the directions of a job that have no distribution that of the histograms.
    pub fn complete_latencies(&self, job: &mut Job) {
        for (at, direction) in job.directions_mut().into_iter().enumerate() {
            if direction.distribution.is_empty() {
                direction.bins = self.distribution(at);
                summarise(direction);
            }
        }
    }

    /// The distribution of all completion latencies of a direction, ascending: nanoseconds and
    /// number. Empty without histograms.
    fn distribution(&self, direction: usize) -> Vec<(u64, u64)> {
        let mut sum = Bins::new();
        let own = self.latencies.iter().filter(|((_, at), _)| *at == direction);
        let bins = own.flat_map(|(_, bins)| bins);
        histograms::add(&mut sum, bins.map(|(ns, count)| (*ns, *count)));
        sum.into_iter().collect()
    }

    /// Whether a kind, by its place in [`Counts`], was logged.
    fn has(&self, place: usize) -> bool {
        self.counts.values().any(|counts| counts.0[place].1 > 0)
    }

    /// Whether anything but histograms was logged.
    fn has_rows(&self) -> bool {
        (0..4).any(|place| self.has(place))
    }

    /// The intervals, one at a time, since each has room for a histogram; a log of one kind gives
    /// the other by the block size, where it is known.
    pub fn series(&self, bs_bytes: u64) -> impl Iterator<Item = Interval> + '_ {
        let mut indices: Vec<u32> = self.counts.keys().map(|(index, _)| *index).collect();
        indices.dedup();
        let span = Nanos(self.interval_ms.saturating_mul(1_000_000));
        let known = (self.has(0), self.has(1));
        indices.into_iter().map(move |index| {
            let start = Nanos(span.0.saturating_mul(index.into()));
            let of = |((_, direction), counts): (&(u32, usize), &Counts)| {
                let (ios, bytes) = self.counts_of(counts, known, bs_bytes);
                let mut counts = OpInterval { ios, bytes, ..OpInterval::default() };
                if let Some(bins) = self.latencies.get(&(index, *direction)) {
                    counts.latency =
                        histograms::histogram(bins.iter().map(|(ns, count)| (*ns, *count)));
                }
                (OPERATIONS[*direction], counts)
            };
            let own = self.counts.range((index, 0)..(index, OPERATIONS.len()));
            Interval {
                index,
                ramp: false,
                start,
                end: Nanos(start.0.saturating_add(span.0)),
                ops: own.map(of).collect(),
                submitted: Vec::new(),
            }
        })
    }

    /// I/Os and bytes of an interval; `known`: which of them were logged.
    fn counts_of(&self, counts: &Counts, known: (bool, bool), bs_bytes: u64) -> (u64, u64) {
        let [(ios, _), (kib, _), .., (counted, _)] = counts.0;
        let bs = bs_bytes as f64;
        if known == (false, false) {
            return (counted, counted.saturating_mul(bs_bytes));
        }
        let (ios, bytes) = match self.is_averaged {
            true => (ios as f64 / 1e3, kib as f64 * 1.024),
            false => (ios as f64, kib as f64),
        };
        let (ios, bytes) = match known {
            (true, false) => (ios, ios * bs),
            (false, true) if bs_bytes > 0 => (bytes / bs, bytes),
            _ => (ios, bytes),
        };
        (ios.round() as u64, bytes.round() as u64)
    }

    /// The job of logs that no result names: its sums; without options but those of `assumed`.
    /// `None` without rates.
    pub fn job(&self, name: &str, assumed: &Options) -> Option<Job> {
        if ![0, 1, 4].into_iter().any(|place| self.has(place)) {
            return None;
        }
        let mut job = Job::new(name, assumed);
        let (&(last, _), _) = self.counts.last_key_value()?;
        let intervals = u64::from(last) + 1;
        let interval_ns = self.interval_ms.saturating_mul(1_000_000);
        job.elapsed = Nanos(interval_ns.saturating_mul(intervals));
        let (elapsed, known) = (job.elapsed, (self.has(0), self.has(1)));
        let mut sums = [(0_u64, 0_u64); OPERATIONS.len()];
        for ((_, direction), counts) in &self.counts {
            let (ios, bytes) = self.counts_of(counts, known, job.workload.bs_bytes);
            let sum = &mut sums[*direction];
            *sum = (sum.0.saturating_add(ios), sum.1.saturating_add(bytes));
        }
        let means = [0, 1, 2].map(|at| self.mean_latency_ns(at));
        let sums = sums.into_iter().zip(means);
        for (direction, ((ios, bytes), mean)) in job.directions_mut().into_iter().zip(sums) {
            *direction = rates(ios, bytes, elapsed);
            direction.summary.latency_ns.mean = mean;
            direction.summary.latency_ns.samples = if mean > 0.0 { ios } else { 0 };
        }
        self.complete_latencies(&mut job);
        complete(&mut job);
        job.logs = Some(self.clone());
        Some(job)
    }

    /// Each interval by its I/Os; 0 where there are no latencies.
    fn mean_latency_ns(&self, direction: usize) -> f64 {
        let kind = if self.has(2) { 2 } else { 3 };
        let weights = if self.has(0) { 0 } else { 1 };
        let (mut sum, mut weight) = (0.0, 0.0);
        for ((_, at), counts) in &self.counts {
            let (latency, lines) = counts.0[kind];
            if *at == direction && lines > 0 {
                let ios = counts.0[weights].0 as f64;
                sum += ios * latency as f64 / lines as f64;
                weight += ios;
            }
        }
        if weight > 0.0 { sum / weight } else { 0.0 }
    }
}

/// The interval that ended at this time, a millisecond early or late.
fn ended_by(at_ms: u64, interval_ms: u64) -> u64 {
    (at_ms.saturating_add(interval_ms / 2) / interval_ms).max(1) - 1
}

/// The median distance of lines of one direction; of each line its time and direction.
fn spacing_ms(lines: impl Iterator<Item = (u64, usize)>) -> u64 {
    let mut first = None;
    let own = lines.filter(|(_, direction)| *first.get_or_insert(*direction) == *direction);
    let times: Vec<u64> = own.map(|(at_ms, _)| at_ms).collect();
    let gaps = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let mut gaps: Vec<u64> = gaps.collect();
    gaps.sort_unstable();
    match gaps.get(gaps.len() / 2) {
        // Lines of a busy host come late.
        Some(&gap) if gap > 0 => {
            let asked = ASKED_MS.into_iter().find(|ms| (ms * 19 / 20..ms * 5 / 4).contains(&gap));
            asked.unwrap_or(gap)
        }
        _ => times.first().copied().unwrap_or(UNAVERAGED_MS).max(1),
    }
}
