//! fio's JSON and JSON+, of versions 2.1 to today.
//!
//! Version 3 wrote nanoseconds (`clat_ns`), bytes (`io_bytes` beside `io_kbytes`) where version 2
//! wrote microseconds (`clat`), and KiB in the same `io_bytes`; the keys, not the version, decide.

use std::borrow::Cow;

use assay_units::Nanos;
use memchr::memmem;
use serde::Deserialize;

use super::options::{Options, drive_of};
use super::threads::Threads;
use super::{complete, major, rates, set_percentile, tool};
use crate::{Direction, Job, Note, Parsed, judge};

mod number;

use number::{Bins, Percentiles, count, real};

/// Key of the version, by which a document is recognised.
pub const VERSION_KEY: &[u8] = b"\"fio version\"";

/// Whole latency over completion latency from which on the submission waited for the drive.
const BLOCKED: f64 = 2.0;

/// Places of one file at which a document may begin: a log before it can have braces too.
const MAX_STARTS: usize = 256;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "fio version", borrow)]
    version: Cow<'a, str>,
    #[serde(default, deserialize_with = "real")]
    timestamp: f64,
    #[serde(default, deserialize_with = "real")]
    timestamp_ms: f64,
    #[serde(rename = "global options", default)]
    global: Options,
    #[serde(default)]
    jobs: Vec<Entry>,
    #[serde(default)]
    client_stats: Vec<Entry>,
    #[serde(default)]
    disk_util: Vec<Disk>,
}

#[derive(Deserialize)]
struct Disk {
    #[serde(default)]
    name: String,
}

/// A job, a group of threads, one thread, or all clients.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    jobname: String,
    #[serde(default, deserialize_with = "count")]
    groupid: u64,
    #[serde(default, deserialize_with = "count")]
    total_err: u64,
    #[serde(rename = "job options", default)]
    options: Options,
    #[serde(default)]
    hostname: String,
    #[serde(default)]
    read: Option<Side>,
    #[serde(default)]
    write: Option<Side>,
    #[serde(default)]
    trim: Option<Side>,
    #[serde(default)]
    mixed: Option<Side>,
    #[serde(default, deserialize_with = "real")]
    usr_cpu: f64,
    #[serde(default, deserialize_with = "real")]
    sys_cpu: f64,
}

/// One direction.
#[derive(Deserialize)]
struct Side {
    #[serde(default, deserialize_with = "count")]
    io_bytes: u64,
    /// Since version 3, in which `io_bytes` are bytes.
    #[serde(default, deserialize_with = "count")]
    io_kbytes: u64,
    #[serde(default, deserialize_with = "count")]
    bw_bytes: u64,
    #[serde(default, deserialize_with = "real")]
    iops: f64,
    /// Milliseconds.
    #[serde(default, deserialize_with = "count")]
    runtime: u64,
    #[serde(default, deserialize_with = "count")]
    total_ios: u64,
    #[serde(default, deserialize_with = "count")]
    short_ios: u64,
    #[serde(default)]
    clat_ns: Option<Times>,
    #[serde(default)]
    lat_ns: Option<Times>,
    #[serde(default)]
    clat: Option<Times>,
    #[serde(default)]
    lat: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    #[serde(default, deserialize_with = "real")]
    min: f64,
    #[serde(default, deserialize_with = "real")]
    max: f64,
    #[serde(default, deserialize_with = "real")]
    mean: f64,
    #[serde(default, deserialize_with = "real")]
    stddev: f64,
    /// Since version 3.
    #[serde(rename = "N", default, deserialize_with = "count")]
    n: u64,
    #[serde(default)]
    percentile: Percentiles,
    #[serde(default)]
    bins: Bins,
}

/// The jobs of all documents in a text; other text around them, of fio or of a script, is left out.
/// The error is the reason why none could be read.
pub fn parse(text: &[u8], assumed: &Options) -> Result<Parsed, String> {
    let text = &*with_numbers(text);
    let mut parsed = Parsed::default();
    let mut problem = None;
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = next_start(text, at) else {
            break;
        };
        match document(&text[start..]) {
            Ok((document, end)) => {
                parsed.tool = tool(&document.version);
                parsed.jobs.extend(jobs(&document, assumed));
                at = start + end;
            }
            Err(error) => {
                problem.get_or_insert(error);
                at = start + 1;
            }
        }
        if memmem::find(&text[at..], VERSION_KEY).is_none() {
            break;
        }
    }
    match (parsed.jobs.is_empty(), problem) {
        (false, _) => Ok(parsed),
        (true, Some(problem)) => Err(problem),
        (true, None) => Err("no job has any results".to_owned()),
    }
}

/// Some versions print `nan` and `inf` as values, which are no JSON: 0 in their place.
fn with_numbers(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(text);
    for word in ["nan", "-nan", "inf", "-inf"] {
        let value = format!(": {word}");
        let places: Vec<usize> = memmem::find_iter(&text, &value).collect();
        for at in places {
            let place = &mut text.to_mut()[at + 2..at + value.len()];
            place.fill(b' ');
            place[0] = b'0';
        }
    }
    text
}

/// The next brace that begins a line, or the text, or follows a bracket.
fn next_start(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + memchr::memchr(b'{', &text[at..])?;
        let before = text[..found]
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'));
        if matches!(before, None | Some(b'\n' | b'\r' | b'[' | b',')) {
            return Some(found);
        }
        at = found + 1;
    }
}

/// One document, and where it ends.
fn document(text: &[u8]) -> Result<(Document<'_>, usize), String> {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Document<'_>>();
    match stream.next() {
        Some(Ok(document)) => Ok((document, stream.byte_offset())),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("it ends before its JSON".to_owned()),
    }
}

fn jobs(document: &Document<'_>, assumed: &Options) -> Vec<Job> {
    let ended_ms = match document.timestamp_ms > 0.0 {
        true => document.timestamp_ms,
        false => document.timestamp * 1e3,
    };
    let ended = jiff::Timestamp::from_millisecond(ended_ms as i64).ok();
    let ended = ended.filter(|_| ended_ms > 0.0);
    let version = major(&document.version);
    let mut threads = Threads::default();
    let clients = &document.client_stats;
    // The sum over all clients is one more entry.
    let single = clients
        .iter()
        .filter(|entry| entry.jobname != "All clients");
    let entries: Vec<&Entry> = match (clients.is_empty(), single.clone().count()) {
        (true, _) => document.jobs.iter().collect(),
        (false, 0) => clients.iter().collect(),
        (false, _) => single.collect(),
    };
    let groups = entries
        .iter()
        .map(|entry| (entry.groupid, entry.jobname.as_str()));
    let groups: std::collections::BTreeSet<_> = groups.collect();
    for entry in entries {
        let options = assumed.with(&document.global).with(&entry.options);
        let beside = groups.range((entry.groupid, "")..(entry.groupid.saturating_add(1), ""));
        let names: Vec<&str> = beside.map(|(_, name)| *name).collect();
        let mut job = entry.job(&options, version);
        if job.device.is_empty() {
            let disk = document.disk_util.first().map(|disk| drive_of(&disk.name));
            job.device = disk.unwrap_or_default();
        }
        job.ended = ended;
        if names.len() > 1 {
            let other = names.iter().filter(|name| **name != entry.jobname);
            let other: Vec<&str> = other.copied().take(3).collect();
            let more = if names.len() > 4 { ", ..." } else { "" };
            let reason = format!("it ran beside other jobs ({}{more})", other.join(", "));
            job.unfit.push(reason);
        }
        let grouped = options.text("group_reporting").is_some();
        let key = format!("{}\0{}\0{}", entry.hostname, entry.groupid, entry.jobname);
        threads.add(key, job, !grouped);
    }
    let mut jobs = threads.finish();
    jobs.retain(|job| job.directions().iter().any(|d| !d.summary.is_unused()));
    jobs.iter_mut().for_each(complete);
    jobs
}

impl Entry {
    fn job(&self, options: &Options, version: u32) -> Job {
        let mut job = Job {
            log_prefix: options.log_prefix(&self.jobname),
            ..Job::of(&self.jobname, options)
        };
        if job.device.is_empty() && !self.hostname.is_empty() {
            job.device.clone_from(&self.hostname);
        }
        job.unfit.extend(unfit(options));
        let in_flight = judge::in_flight(&job.workload);
        let separate = [&self.read, &self.write, &self.trim];
        let used = |side: &&&Option<Side>| side.as_ref().is_some_and(|side| side.total_ios > 0);
        let mut notes = Vec::new();
        if separate.iter().any(|side| used(&side)) {
            let sides = separate.map(|side| side.as_ref());
            for (direction, side) in job.directions_mut().into_iter().zip(sides) {
                if let Some(side) = side {
                    *direction = side.direction(version, in_flight, &mut notes);
                }
            }
            let longest = sides.into_iter().flatten().map(|side| side.runtime).max();
            job.elapsed = Nanos(longest.unwrap_or(0).saturating_mul(1_000_000));
        } else if let Some(mixed) = self.mixed.as_ref().filter(|mixed| mixed.total_ios > 0) {
            let found = mixed.direction(version, in_flight, &mut notes);
            job.elapsed = Nanos(mixed.runtime.saturating_mul(1_000_000));
            match job.workload.rw.as_str() {
                "write" | "randwrite" => job.write = found,
                "read" | "randread" => job.read = found,
                _ => {
                    job.read = found;
                    job.one_sum();
                }
            }
        }
        notes.into_iter().for_each(|note| job.note(note));
        let cpu = self.usr_cpu + self.sys_cpu;
        job.busiest_thread_pct = Some(cpu).filter(|cpu| *cpu > 0.0 && job.workload.numjobs == 1);
        let most = job
            .directions_mut()
            .into_iter()
            .max_by_key(|d| d.summary.ios);
        if let Some(most) = most {
            most.summary.errors = most.summary.errors.saturating_add(self.total_err);
        }
        job
    }
}

/// Reasons that the options give.
fn unfit(options: &Options) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(mode @ ("zbd" | "strided")) = options.text("zonemode") {
        reasons.push(format!("zonemode={mode}: it ran in zones"));
    }
    if let Some(engine @ ("null" | "cpuio" | "mmap" | "filecreate" | "filestat" | "net")) =
        options.text("ioengine")
    {
        reasons.push(format!("ioengine={engine} does no I/O of a drive's kind"));
    }
    reasons
}

impl Side {
    /// `in_flight` are the I/Os in flight at most; 0 where it is not known.
    fn direction(&self, version: u32, in_flight: u64, notes: &mut Vec<Note>) -> Direction {
        let bytes = match self.io_kbytes > 0 || self.bw_bytes > 0 || version >= 3 {
            true => self.io_bytes,
            false => self.io_bytes.saturating_mul(1024),
        };
        let elapsed = Nanos(self.runtime.saturating_mul(1_000_000));
        let mut direction = rates(self.total_ios, bytes, elapsed);
        if self.iops > 0.0 {
            direction.summary.iops = self.iops;
        }
        if self.bw_bytes > 0 {
            direction.summary.mib_per_s = self.bw_bytes as f64 / f64::from(1 << 20);
        }
        direction.summary.errors = self.short_ios;
        self.latency(in_flight, &mut direction, notes);
        direction
    }

    /// The whole latency, from the start of the submission as assay measures it, with fio's
    /// percentiles, which are of completion latency (of the whole with `lat_percentiles`). They are
    /// left out where completion latency is wrong (with `sqthread_poll` some versions measure it
    /// from the start of the job), and where the submission blocked, so that completion is the
    /// smaller part.
    fn latency(&self, in_flight: u64, direction: &mut Direction, notes: &mut Vec<Note>) {
        let all = [
            Times::of(self.clat_ns.as_ref(), self.clat.as_ref()),
            Times::of(self.lat_ns.as_ref(), self.lat.as_ref()),
        ];
        let iops = direction.summary.iops;
        let [completion, whole] = all.map(|found| {
            found.filter(|(t, ns)| !judge::is_implausible(iops, t.mean * ns, in_flight))
        });
        let Some((times, ns)) = whole.or(completion) else {
            if all.iter().any(Option::is_some) {
                notes.push(Note::ImplausibleLatency);
            }
            return;
        };
        times.fill_moments(direction, ns);
        let mean_ns = times.mean * ns;
        let completion = completion.filter(|(t, ns)| mean_ns <= BLOCKED * t.mean * ns);
        let mut with = [completion, whole].into_iter().flatten();
        if let Some((times, ns)) = with.find(|(times, _)| times.has_percentiles()) {
            times.fill_percentiles(direction, ns, notes);
        }
    }
}

impl Times {
    /// Those in nanoseconds, or those in microseconds, with the unit in nanoseconds; `None` of
    /// both, and where fio kept none.
    fn of<'t>(ns: Option<&'t Times>, us: Option<&'t Times>) -> Option<(&'t Times, f64)> {
        let known = ns
            .map(|times| (times, 1.0))
            .or(us.map(|times| (times, 1e3)));
        known.filter(|(times, _)| times.mean > 0.0)
    }

    fn has_percentiles(&self) -> bool {
        !self.bins.0.is_empty() || self.percentile.0.iter().any(|(_, value)| *value > 0.0)
    }

    /// Samples, mean, deviation, extremes; `ns` is the unit in nanoseconds.
    fn fill_moments(&self, direction: &mut Direction, ns: f64) {
        let latency = &mut direction.summary.latency_ns;
        latency.samples = match self.n {
            0 => direction.summary.ios,
            n => n,
        };
        latency.mean = self.mean * ns;
        latency.stddev = self.stddev * ns;
        latency.min = (self.min * ns) as u64;
        latency.max = (self.max * ns) as u64;
    }

    fn fill_percentiles(&self, direction: &mut Direction, ns: f64, notes: &mut Vec<Note>) {
        let latency = &mut direction.summary.latency_ns;
        for &(percent, value) in &self.percentile.0 {
            // fio 2.2 fills its table with percentiles of 0.
            if percent > 0.0 && set_percentile(latency, percent, value * ns) {
                notes.push(Note::BeyondHistogram);
            }
        }
        // Bins of fio 2 are numbers of buckets.
        if ns == 1.0 {
            let ended = |bins: &&(u64, u64)| bins.0 < super::LARGEST_BUCKET_NS;
            direction.bins = self.bins.0.iter().filter(ended).copied().collect();
        }
    }
}
