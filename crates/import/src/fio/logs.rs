//! fio's logs over time (HOWTO.rst, "Log File Formats"): `NAME_bw.N.log` and `NAME_iops.N.log`, one
//! for each thread, with time in milliseconds, value, direction, block size. With `log_avg_msec` a
//! line is the mean of an interval, otherwise one I/O. `NAME_clat.N.log` gives a mean latency; no
//! distribution can be made of means.

use std::collections::BTreeMap;

use assay_stats::{Interval, OpInterval};
use assay_units::{Nanos, Op};

use super::options::Options;
use super::{complete, rates};
use crate::Job;

/// What a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// KiB/s.
    Bandwidth,
    /// I/Os per second.
    Iops,
    /// Mean completion latency, nanoseconds.
    Latency,
    /// Submission latency, whole latency, or a histogram.
    Other,
}

/// Intervals of one log that are read: a day of seconds and more.
const MAX_INTERVALS: u32 = 200_000;

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
        "clat" => LogKind::Latency,
        "lat" | "slat" | "hist" => LogKind::Other,
        _ => return None,
    };
    Some((prefix, kind))
}

/// Whether the first line is one of a log.
pub fn is_log(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines()
        .next()
        .is_some_and(|line| line_of(line).is_some())
}

struct Line {
    at_ms: u64,
    value: f64,
    direction: usize,
    bs_bytes: u64,
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

/// The rates of one job over time, summed over its threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Milliseconds of an interval.
    interval_ms: u64,
    /// By interval and direction.
    counts: BTreeMap<(u32, usize), Counts>,
    has_ios: bool,
    has_bytes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    ios: f64,
    bytes: f64,
    /// Means of latency: sum in nanoseconds, and how many.
    latency: (f64, f64),
}

impl Rates {
    /// The log of a thread; lines that are none are left out.
    pub fn of(kind: LogKind, text: &[u8]) -> Rates {
        let mut rates = Rates::default();
        rates.add(kind, text);
        rates
    }

    /// Adds another thread's, or the other kind's. Of another interval it is left out.
    pub fn merge(&mut self, other: &Rates) {
        if self.counts.is_empty() {
            self.interval_ms = other.interval_ms;
        }
        if self.interval_ms != other.interval_ms {
            return;
        }
        for (place, counts) in &other.counts {
            let sum = self.counts.entry(*place).or_default();
            sum.ios += counts.ios;
            sum.bytes += counts.bytes;
            sum.latency.0 += counts.latency.0;
            sum.latency.1 += counts.latency.1;
        }
        self.has_ios |= other.has_ios;
        self.has_bytes |= other.has_bytes;
    }

    fn add(&mut self, kind: LogKind, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let lines: Vec<Line> = text.lines().filter_map(line_of).collect();
        // With averages there is no block size.
        let is_averaged = lines.iter().all(|line| line.bs_bytes == 0);
        let interval_ms = match is_averaged {
            true => spacing_ms(&lines),
            false => 1000,
        };
        self.interval_ms = interval_ms;
        let seconds = interval_ms as f64 / 1e3;
        for line in &lines {
            // A mean is written at the end of its interval, a millisecond early or late.
            let index = match is_averaged {
                true => line.at_ms.saturating_add(interval_ms / 2) / interval_ms,
                false => line.at_ms / interval_ms + 1,
            };
            let index = u32::try_from(index.max(1) - 1).unwrap_or(u32::MAX);
            if index >= MAX_INTERVALS || !line.value.is_finite() || line.value < 0.0 {
                continue;
            }
            let counts = self.counts.entry((index, line.direction)).or_default();
            match (kind, is_averaged) {
                (LogKind::Iops, true) => counts.ios += line.value * seconds,
                (LogKind::Iops, false) => counts.ios += 1.0,
                (LogKind::Bandwidth, true) => counts.bytes += line.value * 1024.0 * seconds,
                (LogKind::Bandwidth, false) => counts.bytes += line.bs_bytes as f64,
                (LogKind::Latency, _) => {
                    counts.latency.0 += line.value;
                    counts.latency.1 += 1.0;
                }
                (LogKind::Other, _) => {}
            }
        }
        self.has_ios |= kind == LogKind::Iops && !lines.is_empty();
        self.has_bytes |= kind == LogKind::Bandwidth && !lines.is_empty();
    }

    /// The intervals; a log of one kind gives the other by the block size, where it is known.
    pub fn series(&self, bs_bytes: u64) -> Vec<Interval> {
        let mut series: BTreeMap<u32, Interval> = BTreeMap::new();
        let span = Nanos(self.interval_ms.saturating_mul(1_000_000));
        for (&(index, direction), &Counts { ios, bytes, .. }) in &self.counts {
            let bs = bs_bytes as f64;
            let (ios, bytes) = match (self.has_ios, self.has_bytes) {
                (true, false) => (ios, ios * bs),
                (false, true) if bs_bytes > 0 => (bytes / bs, bytes),
                _ => (ios, bytes),
            };
            let counts = OpInterval {
                ios: ios.round() as u64,
                bytes: bytes.round() as u64,
                ..OpInterval::default()
            };
            let start = Nanos(span.0.saturating_mul(index.into()));
            let interval = series.entry(index).or_insert_with(|| Interval {
                index,
                ramp: false,
                start,
                end: Nanos(start.0.saturating_add(span.0)),
                ops: Vec::new(),
                submitted: Vec::new(),
            });
            let op = [Op::Read, Op::Write, Op::Discard][direction];
            interval.ops.push((op, counts));
        }
        series.into_values().collect()
    }
}

impl Rates {
    /// The job of logs that no result names: its sums; without options but those of `assumed`.
    /// `None` without any I/O.
    pub fn job(&self, name: &str, assumed: &Options) -> Option<Job> {
        let mut job = Job {
            name: name.to_owned(),
            device: assumed.device(),
            workload: assumed.workload(),
            knows_direct: assumed.direct().is_some(),
            ..Job::default()
        };
        job.series = self.series(job.workload.bs_bytes);
        job.elapsed = job.series.last()?.end;
        let elapsed = job.elapsed;
        let mut sums = [(0_u64, 0_u64); 3];
        for (op, counts) in job.series.iter().flat_map(|interval| &interval.ops) {
            let at = [Op::Read, Op::Write, Op::Discard]
                .iter()
                .position(|known| known == op)?;
            sums[at].0 = sums[at].0.saturating_add(counts.ios);
            sums[at].1 = sums[at].1.saturating_add(counts.bytes);
        }
        let latencies = [0, 1, 2].map(|at| self.mean_latency_ns(at));
        let sums = sums.into_iter().zip(latencies);
        for (direction, ((ios, bytes), mean)) in job.directions_mut().into_iter().zip(sums) {
            *direction = rates(ios, bytes, elapsed);
            direction.summary.latency_ns.mean = mean;
            direction.summary.latency_ns.samples = if mean > 0.0 { ios } else { 0 };
        }
        complete(&mut job);
        let bytes = job.directions().map(|direction| direction.summary.bytes);
        (job.ios() > 0 || bytes.iter().any(|bytes| *bytes > 0)).then_some(job)
    }
}

impl Rates {
    /// Each interval by its I/Os; 0 where there are no latencies.
    fn mean_latency_ns(&self, direction: usize) -> f64 {
        let own = self.counts.iter().filter(|((_, at), _)| *at == direction);
        let known = own.filter(|(_, counts)| counts.latency.1 > 0.0);
        let (mut sum, mut weight) = (0.0, 0.0);
        for (_, counts) in known {
            let ios = if self.has_ios {
                counts.ios
            } else {
                counts.bytes
            };
            sum += ios * counts.latency.0 / counts.latency.1;
            weight += ios;
        }
        if weight > 0.0 { sum / weight } else { 0.0 }
    }
}

/// The median distance of lines of one direction.
fn spacing_ms(lines: &[Line]) -> u64 {
    let first = lines.first().map(|line| line.direction);
    let times = lines.iter().filter(|line| Some(line.direction) == first);
    let times: Vec<u64> = times.map(|line| line.at_ms).collect();
    let mut gaps: Vec<u64> = times
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect();
    gaps.sort_unstable();
    match gaps.get(gaps.len() / 2) {
        // Times are up to two milliseconds off.
        Some(&gap) if gap > 0 => match gap.saturating_add(5) / 10 * 10 {
            round if gap.abs_diff(round) <= 2 => round.max(1),
            _ => gap,
        },
        _ => times.first().copied().unwrap_or(1000).max(1),
    }
}
