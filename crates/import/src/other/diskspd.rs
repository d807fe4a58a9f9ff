//! DiskSpd's XML (`-Rxml`; XmlResultParser.cpp and Common.cpp of DiskSpd): the profile, and for
//! each time span counts of every thread and target, and percentiles over all of them.

use std::collections::BTreeMap;

use assay_units::Nanos;
use serde::Deserialize;

use super::job;
use crate::{Direction, Job, Parsed};

/// The beginning of a document.
pub const KEY: &[u8] = b"<Results>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Results {
    #[serde(default)]
    system: System,
    profile: Profile,
    #[serde(default)]
    time_span: Vec<Span>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct System {
    #[serde(default)]
    tool: Tool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Tool {
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Profile {
    time_spans: TimeSpans,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TimeSpans {
    #[serde(default)]
    time_span: Vec<Plan>,
}

/// A planned time span.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Plan {
    #[serde(default)]
    duration: u64,
    #[serde(default)]
    warmup: u64,
    /// Threads that all targets share; 0: each target has its own.
    #[serde(default)]
    thread_count: u32,
    /// Of shared threads.
    #[serde(default)]
    request_count: u32,
    targets: Targets,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Targets {
    #[serde(default)]
    target: Vec<Target>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Target {
    path: String,
    block_size: u64,
    #[serde(rename = "DisableOSCache", default)]
    disable_os_cache: bool,
    #[serde(default)]
    random: Option<u64>,
    #[serde(default)]
    random_ratio: Option<u32>,
    #[serde(default)]
    request_count: u32,
    #[serde(default)]
    write_ratio: u32,
    #[serde(default)]
    threads_per_file: u32,
    #[serde(default)]
    file_size: u64,
}

/// A measured time span.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Span {
    #[serde(default)]
    test_time_seconds: f64,
    #[serde(default)]
    latency: Option<Latency>,
    #[serde(default)]
    thread: Vec<Thread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Latency {
    average_read_milliseconds: Option<f64>,
    read_latency_stdev: Option<f64>,
    average_write_milliseconds: Option<f64>,
    write_latency_stdev: Option<f64>,
    #[serde(default)]
    bucket: Vec<Bucket>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Bucket {
    percentile: f64,
    read_milliseconds: Option<f64>,
    write_milliseconds: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Thread {
    #[serde(default)]
    target: Vec<Counts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Counts {
    path: String,
    #[serde(default)]
    file_size: u64,
    #[serde(default)]
    read_bytes: u64,
    #[serde(default)]
    read_count: u64,
    #[serde(default)]
    write_bytes: u64,
    #[serde(default)]
    write_count: u64,
}

/// The jobs: one for each target of a time span. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let start = text.find("<Results>").unwrap_or(0);
    let end = text.rfind("</Results>").map_or(text.len(), |end| end + "</Results>".len());
    let document = text.get(start..end).unwrap_or_default();
    let results: Results = quick_xml::de::from_str(document).map_err(|error| error.to_string())?;
    let spans = results.time_span.iter().zip(&results.profile.time_spans.time_span);
    let jobs: Vec<Job> = spans.flat_map(|(span, plan)| jobs(span, plan)).collect();
    match jobs.is_empty() {
        true => Err("no time span has results".to_owned()),
        false => Ok(Parsed { tool: format!("DiskSpd {}", results.system.tool.version), jobs }),
    }
}

fn jobs(span: &Span, plan: &Plan) -> Vec<Job> {
    let mut sums: BTreeMap<&str, Counts> = BTreeMap::new();
    for counts in span.thread.iter().flat_map(|thread| &thread.target) {
        let sum = sums.entry(&counts.path).or_insert_with(|| Counts {
            path: counts.path.clone(),
            file_size: counts.file_size,
            read_bytes: 0,
            read_count: 0,
            write_bytes: 0,
            write_count: 0,
        });
        sum.read_bytes = sum.read_bytes.saturating_add(counts.read_bytes);
        sum.read_count = sum.read_count.saturating_add(counts.read_count);
        sum.write_bytes = sum.write_bytes.saturating_add(counts.write_bytes);
        sum.write_count = sum.write_count.saturating_add(counts.write_count);
    }
    let targets = plan.targets.target.iter();
    let with = targets.filter_map(|target| Some((target, sums.get(target.path.as_str())?)));
    let single = plan.targets.target.len() == 1;
    with.map(|(target, counts)| {
        let mut job = planned(plan, target, counts.file_size);
        job.elapsed = Nanos((span.test_time_seconds.max(0.0) * 1e9) as u64);
        let elapsed = job.elapsed;
        job.read = crate::fio::rates(counts.read_count, counts.read_bytes, elapsed);
        job.write = crate::fio::rates(counts.write_count, counts.write_bytes, elapsed);
        if let Some(latency) = span.latency.as_ref().filter(|_| single) {
            let read = [latency.average_read_milliseconds, latency.read_latency_stdev];
            let write = [latency.average_write_milliseconds, latency.write_latency_stdev];
            fill(&mut job.read, read, latency, |bucket| bucket.read_milliseconds);
            fill(&mut job.write, write, latency, |bucket| bucket.write_milliseconds);
        }
        job
    })
    .filter(|job| job.ios() > 0)
    .collect()
}

fn planned(plan: &Plan, target: &Target, file_size: u64) -> Job {
    let random = if target.random.is_some() { "rand" } else { "" };
    let kind = match target.write_ratio {
        0 => "read",
        100 => "write",
        _ => "rw",
    };
    let (threads, depth) = match plan.thread_count {
        0 => (target.threads_per_file, target.request_count),
        shared => (shared, plan.request_count),
    };
    let size = if target.file_size > 0 { target.file_size } else { file_size };
    let options = [
        ("rw", format!("{random}{kind}")),
        ("bs", target.block_size.to_string()),
        ("iodepth", depth.max(1).to_string()),
        ("numjobs", threads.max(1).to_string()),
        ("rwmixread", 100_u32.saturating_sub(target.write_ratio).to_string()),
        ("direct", u8::from(target.disable_os_cache).to_string()),
        ("size", size.to_string()),
        ("runtime", plan.duration.to_string()),
        ("ramp_time", plan.warmup.to_string()),
        ("ioengine", "windowsaio".to_owned()),
    ];
    let mut job = job(&target.path, options);
    if target.random_ratio.is_some_and(|share| share < 100) {
        job.unfit.push("a share of it was sequential".to_owned());
    }
    job
}

/// Mean, deviation and percentiles, in milliseconds.
fn fill(
    direction: &mut Direction,
    [mean, stdev]: [Option<f64>; 2],
    latency: &Latency,
    of: fn(&Bucket) -> Option<f64>,
) {
    let Some(mean) = mean else {
        return;
    };
    let summary = &mut direction.summary;
    summary.latency_ns.samples = summary.ios;
    summary.latency_ns.mean = mean * 1e6;
    summary.latency_ns.stddev = stdev.unwrap_or(0.0) * 1e6;
    for bucket in &latency.bucket {
        let Some(value_ns) = of(bucket).map(|ms| ms * 1e6) else {
            continue;
        };
        match bucket.percentile {
            0.0 => summary.latency_ns.min = value_ns as u64,
            100.0 => summary.latency_ns.max = value_ns as u64,
            share => {
                crate::fio::set_percentile(&mut summary.latency_ns, share, value_ns);
            }
        }
    }
}
