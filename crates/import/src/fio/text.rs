//! fio's text for people, of versions 2.1 to today.
//!
//! Rates are computed from the number of I/Os and the span, which are printed in full; bytes from
//! the block size where there is one. Latencies are rounded as printed.

use std::collections::BTreeMap;

use assay_units::Nanos;

use super::options::{Options, drive_of};
use super::threads::Threads;
use super::{
    complete, count_failure, failure, major, rates, set_percentile, submission_blocked, tool,
};
use crate::{Direction, Job, Note, Parsed};

/// A job's text under construction.
struct Open {
    job: Job,
    /// The block size of reads, of writes and of deallocations; 0 of several.
    bs_bytes: [u64; 3],
    /// Error of the system with which it ended; 0 without one.
    error: u64,
    /// Which direction the lines are about.
    at: Option<usize>,
    /// Nanoseconds of the unit of the percentiles that follow; `None` of those of submissions and
    /// syncs, which are not latencies of the direction.
    percentiles_ns: Option<f64>,
    /// Those that follow are of completion latency, not of the whole.
    are_of_completion: bool,
    /// Per direction: mean completion latency, nanoseconds; 0 where there is none.
    completion_ns: [f64; 3],
    /// Per direction: span in milliseconds, and bytes as printed.
    printed: [(u64, f64); 3],
    ios: [u64; 3],
}

/// The jobs of a text; other text around them is left out. The error is the reason why there are
/// none.
pub fn parse(text: &[u8], assumed: &Options) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let mut reader = Reader {
        assumed,
        headers: BTreeMap::new(),
        version: String::new(),
        open: None,
        threads: Threads::default(),
        disk: String::new(),
        in_disks: false,
    };
    text.lines().for_each(|line| reader.line(line));
    reader.close();
    let mut jobs = reader.threads.finish();
    if jobs.is_empty() {
        return Err("no job has any results".to_owned());
    }
    for job in &mut jobs {
        complete(job);
        if job.device.is_empty() {
            job.device.clone_from(&reader.disk);
        }
    }
    let tool = tool(&reader.version);
    Ok(Parsed { tool, jobs })
}

struct Reader<'a> {
    assumed: &'a Options,
    /// Options by the job's name: `NAME: (g=0): rw=...`.
    headers: BTreeMap<String, Header>,
    version: String,
    /// With its group.
    open: Option<(String, Open)>,
    threads: Threads,
    /// Of jobs on files.
    disk: String,
    in_disks: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some((name, rest)) = trimmed.split_once(": (g=") {
            self.headers.insert(name.to_owned(), Header::parse(rest));
        } else if is_version(trimmed) {
            trimmed.clone_into(&mut self.version);
        } else if let Some((name, rest)) = trimmed.split_once(": (groupid=") {
            self.close();
            self.begin(name, rest);
        } else if trimmed.starts_with("Run status group") {
            self.close();
            self.in_disks = false;
        } else if trimmed.starts_with("Disk stats") {
            self.in_disks = true;
        } else if self.in_disks {
            self.disk(trimmed);
        } else if let Some((_, open)) = &mut self.open {
            open.line(trimmed, major(&self.version));
        }
    }

    /// `NAME: (groupid=0, jobs=4): err= 0: pid=0: Mon Jan 29 01:12:15 2024`.
    fn begin(&mut self, name: &str, rest: &str) {
        let known = self.headers.get(name).cloned().unwrap_or_default();
        let mut options = self.assumed.clone().with(known.options.clone());
        let threads = after(rest, "jobs=").unwrap_or(1.0);
        options.set("numjobs", &format!("{threads}"));
        let mut job = Job {
            // The text has neither `direct` nor a default by which it could be told.
            knows_direct: self.assumed.direct().is_some(),
            ended: rest.split(": ").last().and_then(date),
            ..Job::new(name, &options)
        };
        if self.assumed.text("rwmixread").is_none() {
            job.workload.rwmixread = None;
        }
        job.workload.direct = self.assumed.direct().unwrap_or(true);
        job.note(Note::Rounded);
        let code = after(rest, "err=").unwrap_or(0.0) as u64;
        job.unfit.extend(failure(code));
        let open = Open {
            job,
            bs_bytes: known.bs_bytes,
            error: code,
            at: None,
            percentiles_ns: None,
            are_of_completion: false,
            completion_ns: [0.0; 3],
            printed: [(0, 0.0); 3],
            ios: [0; 3],
        };
        let group = rest.split(',').next().unwrap_or_default().to_owned();
        self.open = Some((group, open));
    }

    fn close(&mut self) {
        let Some((group, open)) = self.open.take() else {
            return;
        };
        let job = open.finish();
        if job.ios() > 0 {
            // With group_reporting one entry stands for all threads.
            let is_thread = job.workload.numjobs == 1;
            self.threads.add(format!("{group}\0{}", job.name), job, is_thread);
        }
    }

    /// `nvme0n1: ios=0/36115, merge=...`: the drive of jobs on files.
    fn disk(&mut self, line: &str) {
        let Some((device, _)) = line.split_once(": ios=") else {
            return;
        };
        self.in_disks = false;
        self.disk = drive_of(device.trim());
    }
}

/// `fio-3.35`, alone on its line.
fn is_version(line: &str) -> bool {
    let number = line.strip_prefix("fio-").unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit()) && !number.contains(char::is_whitespace)
}

/// What the line of a job before the start tells.
#[derive(Clone, Default)]
struct Header {
    options: Options,
    /// Of reads, writes and deallocations; 0 of several.
    bs_bytes: [u64; 3],
}

impl Header {
    /// `0): rw=randread, bs=(R) 4096B-4096B, (W) 16.0KiB-16.0KiB, (T) ..., ioengine=libaio,
    /// iodepth=128`; before version 3 `bs=4K-4K/16K-16K/4K-4K`.
    fn parse(rest: &str) -> Header {
        let mut header = Header::default();
        let value = |name: &str| {
            let start = rest.find(name)? + name.len();
            let end = rest[start..].find(", ").map_or(rest.len(), |end| start + end);
            Some(&rest[start..end])
        };
        for name in ["rw", "ioengine", "iodepth"] {
            if let Some(value) = value(&format!("{name}=")) {
                header.options.set(name, value);
            }
        }
        let all = value("bs=").unwrap_or_default();
        let ranges: [&str; 3] = match all.strip_prefix("(R) ") {
            Some(reads) => {
                [reads, value("(W) ").unwrap_or_default(), value("(T) ").unwrap_or_default()]
            }
            None => {
                let mut parts = all.split('/');
                [(); 3].map(|()| parts.next().unwrap_or_default())
            }
        };
        let ranges = ranges.map(|range| {
            let (least, most) = range.split_once('-').unwrap_or((range, range));
            [least, most].map(|size| amount_bytes(size) as u64)
        });
        header.bs_bytes = ranges.map(|[least, most]| if least == most { least } else { 0 });
        let [[least, most], [writes, most_writes], _] = ranges;
        let sizes = match (least == most, writes == most_writes) {
            _ if most == 0 => return header,
            (true, true) if least == writes || writes == 0 => ("bs", least.to_string()),
            (true, true) => ("bs", format!("{least},{writes}")),
            _ => ("bsrange", format!("{least}-{most},{writes}-{most_writes}")),
        };
        header.options.set(sizes.0, &sizes.1);
        header
    }
}

impl Open {
    fn line(&mut self, line: &str, version: u32) {
        if let Some(at) = direction_of(line) {
            self.at = Some(at);
            self.rates(at, line);
        } else if line.starts_with("issued") {
            self.issued(line);
        } else if let Some(rest) = line.strip_prefix("cpu") {
            let cpu = after(rest, "usr=").unwrap_or(0.0) + after(rest, "sys=").unwrap_or(0.0);
            if self.job.workload.numjobs == 1 && cpu > 0.0 {
                self.job.busiest_thread_pct = Some(cpu);
            }
        } else if line.starts_with('|') {
            self.percentiles(line);
        } else if let Some((kind, _)) = line.split_once(" percentiles (") {
            let is_latency = matches!(kind, "clat" | "lat");
            self.are_of_completion = kind == "clat";
            self.percentiles_ns = is_latency.then(|| unit_ns(line).unwrap_or(1e3));
        } else if line.starts_with("clat (") || (line.starts_with("lat (") && line.contains("avg="))
        {
            self.times(line, version);
        }
    }

    fn direction(&mut self, at: usize) -> &mut Direction {
        let [read, write, discard] = self.job.directions_mut();
        match at {
            0 => read,
            1 => write,
            _ => discard,
        }
    }

    /// `read: IOPS=472k, BW=1842MiB/s (1931MB/s)(16.0GiB/8895msec)`; before version 3
    /// `read : io=1814.7GB, bw=3096.1MB/s, iops=792803, runt=600002msec`.
    fn rates(&mut self, at: usize, line: &str) {
        let (span_ms, bytes) = match after_text(line, "io=") {
            Some(amount) => (after(line, "runt=").unwrap_or(0.0), amount_bytes(amount)),
            None => {
                let inside = line.rsplit('(').next().unwrap_or_default();
                let (amount, span) = inside.split_once('/').unwrap_or((inside, ""));
                (leading(span).unwrap_or(0.0), amount_bytes(amount))
            }
        };
        self.printed[at] = (span_ms as u64, bytes);
    }

    /// `issued rwts: total=4194304,0,0,0 short=...`; before version 3
    /// `issued    : total=r=475682018/w=0/d=0, short=...`.
    fn issued(&mut self, line: &str) {
        let Some(total) = after_text(line, "total=") else {
            return;
        };
        let total = total.split(' ').next().unwrap_or_default();
        let total = total.split(", ").next().unwrap_or_default();
        let numbers = total.split([',', '/']);
        let digits = |part: &str| leading(part.trim_start_matches(|c: char| !c.is_ascii_digit()));
        for (place, part) in self.ios.iter_mut().zip(numbers) {
            *place = digits(part).unwrap_or(0.0) as u64;
        }
    }

    /// The whole latency, printed behind completion latency; that where there is no other.
    fn times(&mut self, line: &str, version: u32) {
        let Some(at) = self.at else {
            return;
        };
        let ns = unit_ns(line).unwrap_or(if version >= 3 { 1.0 } else { 1e3 });
        let summary = &mut self.direction(at).summary;
        let value = |name: &str| after_text(line, name).and_then(scaled).unwrap_or(0.0) * ns;
        let latency = &mut summary.latency_ns;
        latency.min = value("min=") as u64;
        latency.max = value("max=") as u64;
        latency.mean = value("avg=");
        latency.stddev = value("stdev=");
        if line.starts_with("clat (") {
            self.completion_ns[at] = value("avg=");
        }
    }

    /// `|  1.00th=[  570],  5.00th=[  627], ...`.
    fn percentiles(&mut self, line: &str) {
        let (Some(at), Some(ns)) = (self.at, self.percentiles_ns) else {
            return;
        };
        let whole_ns = self.direction(at).summary.latency_ns.mean;
        if self.are_of_completion && submission_blocked(whole_ns, self.completion_ns[at]) {
            self.job.note(Note::SubmissionBlocked);
            return;
        }
        let mut beyond = false;
        for part in line.trim_start_matches('|').split("],") {
            let Some((share, value)) = part.split_once("th=[") else {
                continue;
            };
            let value = value.trim_end_matches(']').trim().trim_start_matches('>');
            if let (Ok(share), Ok(value)) = (share.trim().parse(), value.trim().parse::<f64>()) {
                let latency = &mut self.direction(at).summary.latency_ns;
                beyond |= set_percentile(latency, share, value * ns);
            }
        }
        if beyond {
            self.job.note(Note::BeyondHistogram);
        }
    }

    fn finish(mut self) -> Job {
        for at in 0..3 {
            let (span_ms, printed) = self.printed[at];
            let ios = self.ios[at];
            // Bytes as printed have three to five digits.
            let bytes = match self.bs_bytes[at] {
                0 => printed as u64,
                bs_bytes => ios.saturating_mul(bs_bytes),
            };
            let elapsed = Nanos(span_ms.saturating_mul(1_000_000));
            self.job.elapsed = self.job.elapsed.max(elapsed);
            let direction = self.direction(at);
            let latency_ns = direction.summary.latency_ns;
            *direction = rates(ios, bytes, elapsed);
            direction.summary.latency_ns = latency_ns;
            direction.summary.latency_ns.samples = match latency_ns.mean > 0.0 {
                true => ios,
                false => 0,
            };
        }
        count_failure(self.error, &mut self.job.directions_mut());
        self.job
    }
}

fn direction_of(line: &str) -> Option<usize> {
    let name = line.split([':', ' ']).next()?;
    let at = ["read", "write", "trim"].iter().position(|known| *known == name)?;
    let is_rate = line.contains("BW=") || line.contains("runt=") || line.contains("bw=");
    is_rate.then_some(at)
}

/// The unit in parentheses, in nanoseconds: `clat (usec): ...`.
fn unit_ns(line: &str) -> Option<f64> {
    let unit = line.split('(').nth(1)?.split(')').next()?;
    Some(match unit {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    })
}

fn after_text<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let start = line.find(name)? + name.len();
    Some(line[start..].trim_start())
}

fn after(line: &str, name: &str) -> Option<f64> {
    leading(after_text(line, name)?)
}

/// The number at the start of a text.
fn leading(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// A number with a factor of thousands: `4279.6K`.
fn scaled(text: &str) -> Option<f64> {
    let value = leading(text)?;
    let unit = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match unit.chars().next() {
        Some('K' | 'k') => value * 1e3,
        Some('M' | 'm') => value * 1e6,
        Some('G' | 'g') => value * 1e9,
        _ => value,
    })
}

/// `16.0GiB`; before version 3 `1814.7GB`, with the same meaning.
fn amount_bytes(text: &str) -> f64 {
    let value = leading(text).unwrap_or(0.0);
    let unit = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let power = match unit.chars().next() {
        Some('K' | 'k') => 1,
        Some('M' | 'm') => 2,
        Some('G' | 'g') => 3,
        Some('T' | 't') => 4,
        Some('P' | 'p') => 5,
        _ => 0,
    };
    value * 1024_f64.powi(power)
}

/// `Mon Jan 29 01:12:15 2024`, as ctime(3). It has no time zone; UTC is assumed.
fn date(text: &str) -> Option<jiff::Timestamp> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, month, day, time, year] = words.as_slice() else {
        return None;
    };
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|known| known == month)? + 1;
    let day: u8 = day.parse().ok()?;
    format!("{year}-{month:02}-{day:02}T{time}Z").parse().ok()
}
