//! vdbench's flat file (`flatfile.html`; its own head explains the columns): a row per interval and
//! run, and one of the averages, `avg_2-60`, without those of the warm-up. Rates are I/Os and 2^20
//! bytes per second, latencies milliseconds. A thread of vdbench waits for each of its I/Os.
//! Whether they went through the page cache is not in the file.

use assay_units::Nanos;

use super::{job, of_rates, set_mean};
use crate::fio::logs::{Line, LogKind, Rates};
use crate::fio::options::Options;
use crate::{Direction, Job, Parsed};

/// Columns by which a file is recognised.
pub const KEYS: [&[u8]; 3] = [b"reqrate", b"read_resp", b"rhpct"];

/// A run that formats files is no measurement.
const FORMAT_RUN: &str = "format_for_";

/// A row by the names of its columns.
struct Row<'a> {
    names: &'a [&'a str],
    fields: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// `None` of a column that is not there or not known (`?`, `n/a`).
    fn text(&self, name: &str) -> Option<&'a str> {
        let column = self.names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        let field = self.fields.get(column)?;
        (!matches!(*field, "?" | "n/a" | "-")).then_some(field)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok()
    }

    /// Of the interval's end, milliseconds since midnight.
    fn at_ms(&self) -> Option<u64> {
        let mut parts = self.text("tod")?.split(':');
        let mut part = || parts.next()?.parse::<f64>().ok();
        let (hours, minutes, seconds) = (part()?, part()?, part()?);
        Some(((hours * 60.0 + minutes) * 60_000.0 + seconds * 1000.0) as u64)
    }
}

/// The jobs, a run each; options that the file does not have are those of `assumed`. The error is
/// the reason why there are none.
pub fn parse(text: &[u8], assumed: &Options) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().filter(|line| !line.starts_with(['*', '<']));
    let header = lines.find(|line| line.contains("reqrate"));
    let names: Vec<&str> = header.unwrap_or_default().split_whitespace().collect();
    let rows = lines.map(|line| Row { names: &names, fields: line.split_whitespace().collect() });
    let (mut run, mut jobs, mut tool) = (Vec::new(), Vec::new(), "vdbench".to_owned());
    for row in rows {
        let Some(interval) = row.text("Interval") else {
            continue;
        };
        if let Some(version) = row.text("version") {
            tool = format!("vdbench {version}");
        }
        match interval.starts_with("avg") {
            false => run.push(row),
            true => jobs.extend(of_run(&row, &std::mem::take(&mut run), assumed)),
        }
    }
    match jobs.is_empty() {
        true => Err("it has no row of averages (avg_)".to_owned()),
        false => Ok(Parsed { tool, jobs }),
    }
}

/// The job of a run: its averages, and its intervals.
fn of_run(average: &Row<'_>, intervals: &[Row<'_>], assumed: &Options) -> Option<Job> {
    let name = average.text("Run").filter(|name| !name.starts_with(FORMAT_RUN))?;
    let size = average.text("xfersize").or_else(|| average.text("bytes/io"))?;
    let reads_pct = average.number("rdpct").or_else(|| average.number("read%"))?;
    let (operation, mixed) = match reads_pct {
        reads if reads >= 100.0 => ("read", false),
        reads if reads <= 0.0 => ("write", false),
        _ => ("rw", true),
    };
    let random = average.number("seekpct");
    let rw = match (random, average.text("seekpct")) {
        (Some(share), _) if share > 0.0 => format!("rand{operation}"),
        // Sequential: 0, or to the end of the file.
        (_, Some(_)) => operation.to_owned(),
        (_, None) => "unknown".to_owned(),
    };
    let mut options = vec![("rw", rw), ("bs", size.to_owned()), ("iodepth", "1".to_owned())];
    if let Some(threads) = average.text("threads") {
        options.push(("numjobs", threads.to_owned()));
    }
    if mixed {
        options.push(("rwmixread", format!("{reads_pct:.0}")));
    }
    if let Some(share) = random.filter(|share| *share > 0.0 && *share < 100.0) {
        options.push(("percentage_random", format!("{share:.0}")));
    }
    if let Some(rate) = average.number("reqrate").filter(|rate| (1.0..900_000.0).contains(rate)) {
        options.push(("rate_iops", format!("{rate:.0}")));
    }
    options.extend(assumed.text("direct").map(|direct| ("direct", direct.to_owned())));
    let knows_direct = assumed.text("direct").is_some();
    let mut job = job(name, options);
    job.knows_direct = knows_direct;
    job.workload.direct |= !knows_direct;
    job.workload.engine = "vdbench".to_owned();
    let spacing_ms = spacing_ms(intervals);
    let counted = average.text("Interval").and_then(interval_count);
    job.elapsed = Nanos(counted?.saturating_mul(spacing_ms).saturating_mul(1_000_000));
    (job.read, job.write) = directions(average, job.elapsed);
    job.logs = series(intervals, spacing_ms);
    (job.ios() > 0).then_some(job)
}

/// How many intervals `avg_2-60` stands for.
fn interval_count(text: &str) -> Option<u64> {
    let (first, last) = text.strip_prefix("avg_")?.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

/// The median time between the ends of intervals; a second, vdbench's shortest, of fewer than two.
fn spacing_ms(intervals: &[Row<'_>]) -> u64 {
    let times: Vec<u64> = intervals.iter().filter_map(Row::at_ms).collect();
    let mut gaps: Vec<u64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    gaps.sort_unstable();
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or(1000);
    (median.saturating_add(500) / 1000).max(1) * 1000
}

/// Reads and writes of a row.
fn directions(row: &Row<'_>, elapsed: Nanos) -> (Direction, Direction) {
    let share = row.number("read%").unwrap_or(0.0).clamp(0.0, 100.0) / 100.0;
    let (iops, mib) = (row.number("rate").unwrap_or(0.0), row.number("MB/sec").unwrap_or(0.0));
    let of = |share: f64, side: &str| {
        let bytes = mib * share * f64::from(1 << 20);
        let mut direction = of_rates(iops * share, bytes, elapsed);
        // The total stands for the only side where the file has no columns of sides.
        let only = (share == 1.0).then(|| row.number("resp")).flatten();
        let mean_ms = row.number(&format!("{side}_resp")).or(only);
        set_mean(&mut direction, mean_ms.unwrap_or(0.0) * 1e3);
        if direction.summary.latency_ns.samples > 0 {
            let ns = |name: &str| row.number(&format!("{side}_{name}")).unwrap_or(0.0) * 1e6;
            direction.summary.latency_ns.max = ns("max") as u64;
            direction.summary.latency_ns.stddev = ns("std");
        }
        direction
    };
    (of(share, "read"), of(1.0 - share, "write"))
}

/// The rates of the intervals, as of logs.
fn series(intervals: &[Row<'_>], spacing_ms: u64) -> Option<Rates> {
    let (mut iops, mut kib) = (Vec::new(), Vec::new());
    for (row, number) in intervals.iter().zip(1_u64..) {
        let (read, write) = directions(row, Nanos::from_secs(1));
        let sides = [read, write].into_iter().enumerate();
        for (direction, side) in sides.filter(|(_, side)| side.summary.ios > 0) {
            let line = |value| Line {
                at_ms: number.saturating_mul(spacing_ms),
                value,
                direction,
                bs_bytes: 0,
            };
            iops.push(line(side.summary.ios));
            kib.push(line(side.summary.bytes >> 10));
        }
    }
    let mut rates = Rates::of_lines(LogKind::Iops, &iops);
    rates.merge(Rates::of_lines(LogKind::Bandwidth, &kib));
    (intervals.len() > 1).then_some(rates)
}
