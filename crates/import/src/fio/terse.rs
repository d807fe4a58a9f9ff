//! fio's terse lines of versions 3, 4 and 5 (HOWTO.rst, "Terse output"): fields separated by
//! semicolons, without options. I/Os are the rate times the span, both as printed.

use assay_units::Nanos;

use super::options::Options;
use super::threads::Threads;
use super::{complete, count_failure, failure, rates, set_percentile, submission_blocked, tool};
use crate::{Direction, Job, Note, Parsed};

/// Fields before the first direction: version, fio's version, job, group, error.
const LEADING: usize = 5;
/// Percentiles of completion latency.
const PERCENTILES: usize = 20;

/// Whether a line of the head begins like a terse line.
pub fn is_terse(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(|line| version_of(line).is_some())
}

fn version_of(line: &str) -> Option<u32> {
    let mut fields = line.split(';');
    let version = fields.next()?.trim().parse().ok()?;
    let is_fio = fields.next()?.starts_with("fio-");
    ((3..=5).contains(&version) && is_fio).then_some(version)
}

/// The jobs of all terse lines of a text.
pub fn parse(text: &[u8], assumed: &Options) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let mut parsed = Parsed::default();
    let mut threads = Threads::default();
    for line in text.lines() {
        let Some(version) = version_of(line) else {
            continue;
        };
        let fields: Vec<&str> = line.split(';').collect();
        parsed.tool = tool(fields[1]);
        let job = job(version, &fields, assumed)
            .ok_or_else(|| format!("a terse line has {} fields only", fields.len()))?;
        let key = format!("{}\0{}", fields[3], job.name);
        threads.add(key, job, true);
    }
    parsed.jobs = threads.finish();
    parsed.jobs.retain(|job| job.ios() > 0);
    parsed.jobs.iter_mut().for_each(complete);
    // One line is one thread, or all of a group (`group_reporting`).
    let is_unknown = |job: &&mut Job| job.workload.numjobs == 1;
    if assumed.text("numjobs").is_none() {
        for job in parsed.jobs.iter_mut().filter(is_unknown) {
            job.unfit.push("the file does not have the number of threads".to_owned());
        }
    }
    match parsed.jobs.is_empty() {
        true => Err("no job has any results".to_owned()),
        false => Ok(parsed),
    }
}

fn job(version: u32, fields: &[&str], assumed: &Options) -> Option<Job> {
    let length = if version >= 5 { 47 } else { 41 };
    let directions = if version >= 4 { 3 } else { 2 };
    let mut job = Job::new(fields.get(2)?, assumed);
    let mut notes = vec![Note::Rounded];
    let code = fields.get(4)?.trim().parse().unwrap_or(0);
    job.unfit.extend(failure(code));
    let mut elapsed_ms = 0;
    for (at, place) in job.directions_mut().into_iter().enumerate().take(directions) {
        let own = fields.get(LEADING + at * length..)?.get(..length)?;
        let (direction, span_ms) = direction(own, &mut notes)?;
        *place = direction;
        elapsed_ms = elapsed_ms.max(span_ms);
    }
    notes.into_iter().for_each(|note| job.note(note));
    count_failure(code, &mut job.directions_mut());
    job.elapsed = Nanos(elapsed_ms.saturating_mul(1_000_000));
    Some(job)
}

/// One direction, and its span in milliseconds.
fn direction(fields: &[&str], notes: &mut Vec<Note>) -> Option<(Direction, u64)> {
    let number = |at: usize| fields.get(at)?.trim().parse::<f64>().ok();
    let (kib, iops, span_ms) = (number(0)?, number(2)?, number(3)?);
    let ios = (iops * span_ms / 1e3).round().max(0.0) as u64;
    let bytes = (kib * 1024.0).max(0.0) as u64;
    let span = Nanos((span_ms * 1e6).max(0.0) as u64);
    let mut direction = rates(ios, bytes, span);
    direction.summary.iops = iops;
    let (clat, total) = (8, 8 + 4 + PERCENTILES);
    let first = if number(total + 2)? > 0.0 { total } else { clat };
    let latency = &mut direction.summary.latency_ns;
    let of = |at: usize| number(first + at).map(|us| us * 1e3);
    latency.min = of(0)? as u64;
    latency.max = of(1)? as u64;
    latency.mean = of(2)?;
    latency.stddev = of(3)?;
    latency.samples = if latency.mean > 0.0 { ios } else { 0 };
    if submission_blocked(latency.mean, number(clat + 2)? * 1e3) {
        notes.push(Note::SubmissionBlocked);
        return Some((direction, span_ms.max(0.0) as u64));
    }
    for field in &fields[clat + 4..total] {
        if let Some((share, value)) = field.split_once("%=")
            && let (Ok(share), Ok(value)) = (share.parse::<f64>(), value.parse::<f64>())
            && share > 0.0
            && set_percentile(latency, share, value * 1e3)
        {
            notes.push(Note::BeyondHistogram);
        }
    }
    Some((direction, span_ms.max(0.0) as u64))
}
