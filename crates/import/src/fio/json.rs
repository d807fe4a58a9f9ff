//! fio's JSON and JSON+, of versions 2.1 to today.
//!
//! Version 3 wrote nanoseconds (`clat_ns`), bytes (`io_bytes` beside `io_kbytes`) where version 2
//! wrote microseconds (`clat`), and KiB in the same `io_bytes`; the keys, not the version, decide.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use assay_store::model::WorkloadRecord;
use assay_units::Nanos;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::options::{Options, drive_of};
use super::threads::{Figures, Threads};
use super::{complete, count_failure, failure, major, set_percentile, tool};
use crate::{Direction, Job, Note, Parsed, judge};

mod number;
mod side;
mod syncs;
mod unread;

use number::{Bins, Percentiles, count, real};
use side::Side;
use syncs::Syncs;

/// Key of the version, by which a document is recognised.
pub const VERSION_KEY: &[u8] = b"\"fio version\"";

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
    #[serde(default, borrow)]
    jobs: Vec<Entry<'a>>,
    #[serde(default, borrow)]
    client_stats: Vec<Entry<'a>>,
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
struct Entry<'a> {
    #[serde(default, borrow)]
    jobname: Cow<'a, str>,
    #[serde(default, deserialize_with = "count")]
    groupid: u64,
    /// Error of the system with which it ended.
    #[serde(default, deserialize_with = "count")]
    error: u64,
    #[serde(default, deserialize_with = "count")]
    total_err: u64,
    /// Threads repeat them, so they are read when they differ.
    #[serde(rename = "job options", default, borrow)]
    options: Option<&'a RawValue>,
    #[serde(default, borrow)]
    hostname: Cow<'a, str>,
    #[serde(default, borrow)]
    read: Option<Box<Side<'a>>>,
    #[serde(default, borrow)]
    write: Option<Box<Side<'a>>>,
    #[serde(default, borrow)]
    trim: Option<Box<Side<'a>>>,
    #[serde(default, borrow)]
    mixed: Option<Box<Side<'a>>>,
    /// [`Syncs`], since version 3.
    #[serde(default, borrow)]
    sync: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "real")]
    usr_cpu: f64,
    #[serde(default, deserialize_with = "real")]
    sys_cpu: f64,
}

#[derive(Deserialize)]
struct Times<'a> {
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
    /// [`Percentiles`], which of most threads are not read.
    #[serde(default, borrow)]
    percentile: Option<&'a RawValue>,
    #[serde(default)]
    bins: Bins,
}

/// The jobs of all documents in a text; other text around them, of fio or of a script, is left out.
/// The error is the reason why none could be read.
pub fn parse(text: &[u8], assumed: &Options) -> Result<Parsed, String> {
    if let Some(shorter) = unread::cut(text)
        && let (parsed, None) = documents(&shorter, assumed)
    {
        return found(parsed, None);
    }
    // The checked conversion of text without errors is ten times as fast as the other one.
    let text = match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(text),
    };
    let (mut parsed, mut problem) = documents(&text, assumed);
    if problem.is_some()
        && let Some(text) = with_numbers(&text)
    {
        (parsed, problem) = documents(&text, assumed);
    }
    found(parsed, problem)
}

fn found(parsed: Parsed, problem: Option<String>) -> Result<Parsed, String> {
    match (parsed.jobs.is_empty(), problem) {
        (false, _) => Ok(parsed),
        (true, Some(problem)) => Err(problem),
        (true, None) => Err("no job has any results".to_owned()),
    }
}

/// The jobs, of identical documents once, and why the first of what looks like a document is none.
fn documents(text: &str, assumed: &Options) -> (Parsed, Option<String>) {
    let mut parsed = Parsed::default();
    let mut problem = None;
    let mut at = 0;
    // Their texts, and where their jobs are.
    let mut read: Vec<(&str, Range<usize>)> = Vec::new();
    for _ in 0..MAX_STARTS {
        let Some(start) = next_start(text.as_bytes(), at) else {
            break;
        };
        match document(&text[start..]) {
            Ok((document, end)) => {
                let own = &text[start..start + end];
                if let Some((_, known)) = read.iter().find(|(other, _)| *other == own) {
                    let repeated = &mut parsed.jobs[known.clone()];
                    repeated.iter_mut().for_each(|job| job.note(Note::RepeatedDocument));
                } else {
                    parsed.tool = tool(&document.version);
                    let before = parsed.jobs.len();
                    parsed.jobs.extend(jobs(document, assumed));
                    read.push((own, before..parsed.jobs.len()));
                }
                at = start + end;
            }
            Err(error) => {
                problem.get_or_insert(error);
                at = start + 1;
            }
        }
        if memmem::find(&text.as_bytes()[at..], VERSION_KEY).is_none() {
            break;
        }
    }
    (parsed, problem)
}

/// Some versions print `nan` and `inf` as values, and Python `NaN`, which are no JSON: 0 in their
/// place; `None` where there are none.
fn with_numbers(text: &str) -> Option<String> {
    let mut with = Cow::Borrowed(text);
    for word in ["nan", "-nan", "NaN", "Infinity", "-Infinity", "inf", "-inf"] {
        let value = format!(": {word}");
        if with.contains(&value) {
            let zero = format!(": 0{:1$}", "", word.len() - 1);
            with = Cow::Owned(with.replace(&value, &zero));
        }
    }
    match with {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// The next brace that begins a line, or the text, or follows a bracket or another document.
fn next_start(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + memchr::memchr(b'{', &text[at..])?;
        let before = text[..found].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        if matches!(before, None | Some(b'\n' | b'\r' | b'[' | b',' | b'}')) {
            return Some(found);
        }
        at = found + 1;
    }
}

/// One document, and where it ends.
fn document(text: &str) -> Result<(Document<'_>, usize), String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Document<'_>>();
    match stream.next() {
        Some(Ok(document)) => Ok((document, stream.byte_offset())),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("it ends before its JSON".to_owned()),
    }
}

fn jobs(document: Document<'_>, assumed: &Options) -> Vec<Job> {
    let ended_ms = match document.timestamp_ms > 0.0 {
        true => document.timestamp_ms,
        false => document.timestamp * 1e3,
    };
    let ended = jiff::Timestamp::from_millisecond(ended_ms as i64).ok();
    let ended = ended.filter(|_| ended_ms > 0.0);
    let version = major(&document.version);
    let mut threads = Threads::default();
    let (mut entries, mut clients) = (document.jobs, document.client_stats);
    if !clients.is_empty() {
        // The sum over all clients is one more entry.
        let is_client = |entry: &Entry<'_>| entry.jobname != "All clients";
        if clients.iter().any(is_client) {
            clients.retain(is_client);
        }
        entries = clients;
    }
    let device = document.disk_util.first().map(|disk| drive_of(&disk.name));
    let describe = Describe {
        groups: entries.iter().map(|e| (e.groupid, &*e.jobname)).collect(),
        common: assumed.clone().with(document.global),
        device: device.unwrap_or_default(),
        ended,
    };
    let mut last: Option<(&Entry<'_>, Known)> = None;
    for entry in &entries {
        if let Some((_, known)) = last.as_ref().filter(|(of, _)| of.is_same_job(entry)) {
            let figures = entry.measured(&known.workload, version, known.without_percentiles);
            threads.join(known.place, figures);
            continue;
        }
        let Described { job, is_group } = describe.entry(entry);
        let workload = job.workload.clone();
        let mut job = entry.measured(&workload, version, [true; 3]).with(job);
        if job.notes.contains(&Note::OneSum) {
            job.one_sum();
        }
        let without = |d: &Direction| d.summary.latency_ns.percentile("p50").is_none();
        let without_percentiles = job.directions().map(without);
        let key = format!("{}\0{}\0{}", entry.hostname, entry.groupid, entry.jobname);
        let place = threads.add(key, job, !is_group);
        let known = Known { place, workload, without_percentiles };
        last = (!is_group).then_some((entry, known));
    }
    let mut jobs = threads.finish();
    jobs.retain(|job| job.directions().iter().any(|d| !d.summary.is_unused()));
    jobs.iter_mut().for_each(complete);
    jobs
}

/// What all entries of a document have in common.
struct Describe<'e> {
    /// Group and name of each.
    groups: BTreeSet<(u64, &'e str)>,
    common: Options,
    /// Of jobs that do not name one.
    device: String,
    ended: Option<jiff::Timestamp>,
}

/// A job without figures: that of all its threads.
struct Described {
    job: Job,
    /// It stands for a whole group (`group_reporting`).
    is_group: bool,
}

/// A job whose first thread was read. Percentiles of further threads are read only of directions of
/// which the first has none: they cannot be merged.
struct Known {
    place: usize,
    workload: WorkloadRecord,
    without_percentiles: [bool; 3],
}

impl Describe<'_> {
    fn entry(&self, entry: &Entry<'_>) -> Described {
        let own = entry.options.map(|text| serde_json::from_str(text.get()));
        let options = match own {
            // What is no map of options has none.
            Some(own) => self.common.clone().with(own.unwrap_or_default()),
            None => self.common.clone(),
        };
        let mut job = Job {
            log_prefix: options.log_prefix(&entry.jobname),
            ended: self.ended,
            ..Job::new(&entry.jobname, &options)
        };
        if job.device.is_empty() {
            job.device = match entry.hostname.is_empty() {
                true => self.device.clone(),
                false => entry.hostname.clone().into_owned(),
            };
        }
        job.unfit = unfit(&options);
        job.unfit.extend(self.beside(entry));
        let is_group = options.text("group_reporting").is_some();
        Described { job, is_group }
    }

    fn beside(&self, entry: &Entry<'_>) -> Option<String> {
        let next = entry.groupid.saturating_add(1);
        let names = self.groups.range((entry.groupid, "")..(next, ""));
        let other = names.filter(|(_, name)| *name != entry.jobname);
        let other: Vec<&str> = other.map(|(_, name)| *name).collect();
        let more = if other.len() > 3 { ", ..." } else { "" };
        let shown = other[..other.len().min(3)].join(", ");
        (!other.is_empty()).then(|| format!("it ran beside other jobs ({shown}{more})"))
    }
}

impl Entry<'_> {
    /// Threads of a job repeat name, group and options.
    fn is_same_job(&self, other: &Entry<'_>) -> bool {
        let same_names = self.jobname == other.jobname && self.hostname == other.hostname;
        let (own, others) = (self.options, other.options);
        let same_options = own.map(RawValue::get) == others.map(RawValue::get);
        same_names && same_options && self.groupid == other.groupid
    }

    /// `None` of what is no map.
    fn syncs(&self) -> Option<Syncs<'_>> {
        serde_json::from_str(self.sync?.get()).ok()
    }

    /// `reads_percentiles` of reads, writes and deallocations.
    fn measured(
        &self,
        workload: &WorkloadRecord,
        version: u32,
        reads_percentiles: [bool; 3],
    ) -> Figures {
        let in_flight = judge::in_flight(workload);
        let mut figures = Figures::default();
        let notes = &mut figures.notes;
        let [read, write, discard] = &mut figures.directions;
        let separate = [&self.read, &self.write, &self.trim].map(|side| side.as_deref());
        let mut longest_ms = 0;
        if separate.iter().flatten().any(|side| side.total_ios > 0) {
            let sides = separate.into_iter().zip(reads_percentiles);
            for (place, (side, reads_percentiles)) in [read, write, discard].into_iter().zip(sides)
            {
                let Some(side) = side else { continue };
                *place = side.direction(version, in_flight, reads_percentiles, notes);
                longest_ms = longest_ms.max(side.runtime);
            }
        } else if let Some(mixed) = self.mixed.as_deref().filter(|mixed| mixed.total_ios > 0) {
            let found = mixed.direction(version, in_flight, true, notes);
            longest_ms = mixed.runtime;
            match workload.rw.as_str() {
                "write" | "randwrite" => *write = found,
                "read" | "randread" => *read = found,
                _ => {
                    *read = found;
                    notes.push(Note::OneSum);
                }
            }
        }
        figures.elapsed = Nanos(longest_ms.saturating_mul(1_000_000));
        if let Some(syncs) = self.syncs() {
            let errors = &mut figures.directions[0].summary.errors;
            *errors = errors.saturating_sub(syncs.counted_as_short_reads());
            figures.flush = syncs.flushes(figures.elapsed, &mut figures.notes);
        }
        let cpu = self.usr_cpu + self.sys_cpu;
        figures.busiest_thread_pct = Some(cpu).filter(|cpu| *cpu > 0.0 && workload.numjobs == 1);
        if let Some(most) = figures.directions.iter_mut().max_by_key(|d| d.summary.ios) {
            most.summary.errors = most.summary.errors.saturating_add(self.total_err);
        }
        if let Some(failure) = failure(self.error) {
            count_failure(self.error, &mut figures.directions.each_mut());
            figures.unfit.push(failure);
        }
        if separate.into_iter().flatten().any(Side::is_contradictory) {
            figures
                .unfit
                .push("its rate is not that of its number of I/Os and its time".to_owned());
        }
        figures
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

impl<'a> Times<'a> {
    /// Those in nanoseconds, or those in microseconds, with the unit in nanoseconds; `None` of
    /// both, and where fio kept none.
    fn in_either_unit<'t>(
        ns: Option<&'t Times<'a>>,
        us: Option<&'t Times<'a>>,
    ) -> Option<(&'t Times<'a>, f64)> {
        let known = ns.map(|times| (times, 1.0)).or(us.map(|times| (times, 1e3)));
        known.filter(|(times, _)| times.mean > 0.0)
    }

    /// None of what is no map of numbers.
    fn percentiles(&self) -> Percentiles {
        let read = self.percentile.map(|text| serde_json::from_str(text.get()));
        read.and_then(Result::ok).unwrap_or_default()
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

    fn fill(
        &self,
        direction: &mut Direction,
        ns: f64,
        percentiles: &Percentiles,
        notes: &mut Vec<Note>,
    ) {
        let latency = &mut direction.summary.latency_ns;
        for &(percent, value) in &percentiles.0 {
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
