//! Export in the layout of `fio --output-format=json`, version 3.33: one job per cell and drive, as
//! fio reports a job with `group_reporting`. What assay does not measure is zero, as in fio with
//! disabled statistics, and is listed in `assay.not_measured`. Figures are as in fio(1) and HOWTO,
//! section "JSON output"; `clat` is submission to completion, `lat` includes the time before the
//! submission (here: from the intended start of an open-loop job).

mod imported;
mod options;
mod output;
mod terse;
mod text;

pub use output::{FioGroup, FioOutput, FioRun, TERSE_VERSIONS, write_fio_output};

use std::collections::BTreeMap;
use std::io::Write;

use options::options;

use assay_stats::{Histogram, JobTotals, OpInterval};
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_store::series::OpSample;
use assay_units::{KIB, Nanos, Op, rate};
use serde::{Serialize, Serializer};

use super::write_document;
use crate::ExportError;

/// Parts per million; fio's default (`percentile_list` in fio(1)).
const PERCENTILES: [u32; 17] = [
    10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000,
    900_000, 950_000, 990_000, 995_000, 999_000, 999_500, 999_900,
];
/// Upper ends of fio's latency buckets, each of which begins where the one before ends; the last is
/// of milliseconds only.
const BUCKETS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
/// Reported by fio, not measured by assay.
const NOT_MEASURED: [&str; 9] = [
    "slat_ns",
    "majf",
    "minf",
    "iodepth_level",
    "iodepth_submit",
    "iodepth_complete",
    "latency_depth",
    "disk_util",
    "drop_ios",
];
/// fio's last bucket; `fio_jsonplus_clat2csv` starts its search there and reads no larger ones.
const MAX_BIN_NS: u64 = 17_112_760_320;
/// INT_MAX, which fio writes when there is no estimate.
const NO_ETA: u64 = 2_147_483_647;
const EIO: i32 = 5;

/// In the order given.
struct Ordered<K, V>(Vec<(K, V)>);

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Ordered<K, V> {
        Ordered(Vec::new())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Ordered<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    fio_version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    assay: RunNote,
    #[serde(rename = "global options")]
    global_options: Ordered<&'static str, &'static str>,
    jobs: Vec<Job>,
    disk_util: [(); 0],
}

#[derive(Serialize)]
struct RunNote {
    simulated: bool,
    run_id: String,
    tool: String,
    suite: String,
    scale: f64,
    not_measured: [&'static str; 9],
    /// Meaning of `usr_cpu` and `sys_cpu` in this document.
    cpu: &'static str,
}

#[derive(Default, Serialize)]
struct JobNote {
    simulated: bool,
    drive: String,
    model: String,
    cell: String,
    state: &'static str,
}

#[derive(Default, Serialize)]
pub(super) struct Job {
    jobname: String,
    groupid: usize,
    error: i32,
    eta: u64,
    elapsed: u64,
    #[serde(rename = "job options")]
    job_options: Ordered<&'static str, String>,
    read: Direction,
    write: Direction,
    trim: Direction,
    sync: Sync,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: Ordered<&'static str, f64>,
    iodepth_submit: Ordered<&'static str, f64>,
    iodepth_complete: Ordered<&'static str, f64>,
    latency_ns: Ordered<String, f64>,
    latency_us: Ordered<String, f64>,
    latency_ms: Ordered<String, f64>,
    latency_depth: u32,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
    assay: JobNote,
}

#[derive(Default, Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

#[derive(Default, Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

#[derive(Default, Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<String, u64>>,
    /// As in fio's `json+`: completions by latency in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Ordered<String, u64>>,
}

impl Latency {
    fn new(histogram: &Histogram, with_percentiles: bool) -> Latency {
        Latency {
            min: histogram.min().0,
            max: histogram.max().0,
            mean: histogram.mean_ns(),
            stddev: histogram.stddev_ns(),
            n: histogram.count(),
            percentile: (with_percentiles && !histogram.is_empty()).then(|| {
                let at = |per_million: u32| {
                    let name = format!("{:.6}", f64::from(per_million) / 1e4);
                    (name, histogram.percentile(per_million).0)
                };
                Ordered(PERCENTILES.into_iter().map(at).collect())
            }),
            bins: (with_percentiles && !histogram.is_empty()).then(|| bins(histogram)),
        }
    }
}

/// By the highest latency of each occupied bucket.
fn bins(histogram: &Histogram) -> Ordered<String, u64> {
    let mut bins: Vec<(u64, u64)> = Vec::new();
    let mut before = 0;
    for (highest, up_to) in histogram.cumulative() {
        let (ns, ios) = (highest.0.min(MAX_BIN_NS), up_to - before);
        before = up_to;
        match bins.last_mut() {
            Some((last, count)) if *last == ns => *count += ios,
            _ => bins.push((ns, ios)),
        }
    }
    let text = |(ns, ios): (u64, u64)| (ns.to_string(), ios);
    Ordered(bins.into_iter().map(text).collect())
}

/// Reads the run folder again, because the percentiles that fio lists need the raw histograms.
/// Fails like [`Run::open`], and when the output cannot be written.
pub fn export_fio_json(run: &Run, out: &mut impl Write) -> Result<(), ExportError> {
    let (run, jobs) = jobs(run)?;
    write_document(&document(&run, jobs.into_iter().map(|(_, job)| job).collect()), out)
}

/// Jobs of measured cells by (cell, drive within the cell).
pub(super) type Jobs = (Run, Vec<((usize, usize), Job)>);

pub(super) fn jobs(run: &Run) -> Result<Jobs, ExportError> {
    let mut jobs: BTreeMap<(usize, usize), Job> = BTreeMap::new();
    let run = Run::open_with_totals(&run.path, &mut |cell, place, totals| {
        jobs.remove(&(cell, place));
        if totals.elapsed() > Nanos::ZERO {
            jobs.insert((cell, place), Job::new(totals));
        }
    })?;
    let jobs = jobs.into_iter().enumerate();
    let jobs = jobs.map(|(number, (at, job))| {
        let cell = &run.cells[at.0];
        (at, job.complete(&run, number, cell, &cell.drives[at.1]))
    });
    let jobs = jobs.collect();
    Ok(imported::with_stated((run, jobs)))
}

pub(super) fn document(run: &Run, jobs: Vec<Job>) -> Document {
    let manifest = &run.manifest;
    // An unreadable time becomes the epoch, as fio shows an unset clock.
    let created: jiff::Timestamp = manifest.created.parse().unwrap_or_default();
    Document {
        fio_version: format!(
            "fio-3.33 (layout; written by {} {})",
            manifest.tool.name, manifest.tool.version
        ),
        timestamp: created.as_second(),
        timestamp_ms: created.as_millisecond(),
        time: created.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        assay: RunNote {
            simulated: run.has_simulated(),
            run_id: manifest.run_id.clone(),
            tool: manifest.tool.to_string(),
            suite: manifest.suite.name.clone(),
            scale: manifest.scale,
            not_measured: NOT_MEASURED,
            cpu: "usr_cpu and sys_cpu are of the whole host, in percent of all its processors; \
                  ctx is of the assay process; all are 0 for a simulated drive",
        },
        global_options: Ordered(vec![("group_reporting", "1")]),
        jobs,
        disk_util: [],
    }
}

impl Direction {
    fn new(counts: &OpInterval, elapsed: Nanos) -> Direction {
        let service = counts.service.as_ref().unwrap_or(&counts.latency);
        let bytes_per_s = rate::per_second(counts.bytes, elapsed);
        let occurred = counts.ios > 0 || counts.errors > 0;
        Direction {
            io_bytes: counts.bytes,
            io_kbytes: counts.bytes / KIB,
            bw_bytes: bytes_per_s as u64,
            bw: (bytes_per_s / KIB as f64) as u64,
            iops: rate::per_second(counts.ios, elapsed),
            runtime: if occurred { millis(elapsed) } else { 0 },
            total_ios: counts.ios,
            short_ios: counts.errors,
            clat_ns: Latency::new(service, true),
            lat_ns: Latency::new(&counts.latency, false),
            ..Direction::default()
        }
    }

    fn sample(&mut self, part: &CellDrive, op: Op) {
        let counts = |p: &&OpSample| p.op == op && !p.ramp && p.elapsed() > Nanos::ZERO;
        let measured: Vec<&OpSample> = part.series.iter().filter(counts).collect();
        let kib_per_s = moments(measured.iter().map(|p| p.mib_per_s() * KIB as f64));
        let iops = moments(measured.iter().map(|p| p.iops()));
        let samples = measured.len() as u64;
        if samples == 0 {
            return;
        }
        // Of several jobs fio adds the means.
        let is_first = self.bw_samples == 0;
        let least = |before: u64, own: f64| {
            if is_first { own as u64 } else { before.min(own as u64) }
        };
        self.bw_min = least(self.bw_min, kib_per_s.min);
        self.iops_min = least(self.iops_min, iops.min);
        self.bw_max = self.bw_max.max(kib_per_s.max as u64);
        self.iops_max = self.iops_max.max(iops.max as u64);
        self.bw_mean += kib_per_s.mean;
        self.iops_mean += iops.mean;
        self.bw_dev = self.bw_dev.hypot(kib_per_s.deviation);
        self.iops_stddev = self.iops_stddev.hypot(iops.deviation);
        self.bw_samples += samples;
        self.iops_samples += samples;
        // Share of the group's bandwidth; a job is its own group here.
        if self.bw_bytes > 0 {
            self.bw_agg = (self.bw_mean * 100.0 * KIB as f64 / self.bw_bytes as f64).min(100.0);
        }
    }
}

#[derive(Default)]
struct Moments {
    min: f64,
    max: f64,
    mean: f64,
    /// Of the sample (divided by n - 1), as in fio.
    deviation: f64,
}

fn moments(values: impl Iterator<Item = f64> + Clone) -> Moments {
    let n = values.clone().count() as f64;
    if n == 0.0 {
        return Moments::default();
    }
    let mean = values.clone().sum::<f64>() / n;
    let squares: f64 = values.clone().map(|v| (v - mean).powi(2)).sum();
    Moments {
        min: values.clone().fold(f64::INFINITY, f64::min),
        max: values.fold(0.0, f64::max),
        mean,
        deviation: (squares / (n - 1.0).max(1.0)).sqrt(),
    }
}

fn millis(span: Nanos) -> u64 {
    (span.0 + 500_000) / 1_000_000
}

impl Job {
    /// The part that needs the raw histograms.
    fn new(totals: &JobTotals) -> Job {
        let none = OpInterval::default();
        let counts = |op| totals.counts(op).unwrap_or(&none);
        let direction = |op| Direction::new(counts(op), totals.elapsed());
        let flushes = counts(Op::Flush);
        let mut all = Histogram::new();
        for op in [Op::Read, Op::Write, Op::Discard] {
            all.merge(&counts(op).latency);
        }
        let [latency_ns, latency_us, latency_ms] = latency_buckets(&all);
        Job {
            read: direction(Op::Read),
            write: direction(Op::Write),
            trim: direction(Op::Discard),
            sync: Sync { total_ios: flushes.ios, lat_ns: Latency::new(&flushes.latency, true) },
            latency_ns,
            latency_us,
            latency_ms,
            ..Job::default()
        }
    }

    fn sample_beside(&mut self, part: &CellDrive) {
        self.read.sample(part, Op::Read);
        self.write.sample(part, Op::Write);
        self.trim.sample(part, Op::Discard);
    }

    /// The part that needs the folded run.
    fn complete(mut self, run: &Run, number: usize, cell: &CellRecord, part: &CellDrive) -> Job {
        let drive = &run.manifest.drives[part.drive];
        let result = part.result.as_ref();
        let elapsed = result.map_or(Nanos::ZERO, |r| r.elapsed);
        let host = result.and_then(|r| r.host).unwrap_or_default();
        self.sample_beside(part);
        let failed = self.read.short_ios + self.write.short_ios + self.trim.short_ios > 0;
        let numjobs = u64::from(cell.plan.workload.numjobs.max(1));
        Job {
            jobname: if cell.drives.len() > 1 {
                format!("{}/{}", cell.plan.id, drive.label)
            } else {
                cell.plan.id.clone()
            },
            groupid: number,
            error: if failed { EIO } else { 0 },
            eta: NO_ETA,
            elapsed: elapsed.0.div_ceil(Nanos::SECOND.0),
            job_options: options(cell, &drive.spec),
            // With group_reporting fio sums the threads' run times. Saturates: a manifest can hold
            // any number of threads.
            job_runtime: millis(elapsed).saturating_mul(numjobs),
            usr_cpu: host.user_pct,
            sys_cpu: host.system_pct + host.irq_pct,
            ctx: (host.context_switches_per_s * elapsed.as_secs_f64()) as u64,
            iodepth_level: zeroes(["1", "2", "4", "8", "16", "32", ">=64"]),
            iodepth_submit: zeroes(["0", "4", "8", "16", "32", "64", ">=64"]),
            iodepth_complete: zeroes(["0", "4", "8", "16", "32", "64", ">=64"]),
            latency_percentile: 100.0,
            assay: JobNote {
                simulated: drive.simulated,
                drive: drive.label.clone(),
                model: drive.model.clone(),
                cell: cell.plan.id.clone(),
                state: cell.state.text().0,
            },
            ..self
        }
    }
}

fn zeroes(names: [&'static str; 7]) -> Ordered<&'static str, f64> {
    Ordered(names.map(|name| (name, 0.0)).to_vec())
}

/// Percent of completions per latency bucket, in fio's three scales.
fn latency_buckets(histogram: &Histogram) -> [Ordered<String, f64>; 3] {
    let points = histogram.cumulative();
    // Exact up to the histogram's own bucket width.
    let below = |ns: u64| {
        let at = points.partition_point(|(highest, _)| highest.0 < ns);
        at.checked_sub(1).map_or(0, |last| points[last].1)
    };
    let percent = |ios: u64| match ios {
        0 => 0.0,
        _ => ios as f64 * 100.0 / histogram.count() as f64,
    };
    let scale = |unit_ns: u64, ends: &[u64]| {
        let mut from = if unit_ns == 1 { 0 } else { unit_ns };
        let bucket = |end: &u64| {
            let ios = below(end * unit_ns) - below(from);
            from = end * unit_ns;
            (end.to_string(), percent(ios))
        };
        ends.iter().map(bucket).collect::<Vec<_>>()
    };
    let fine = &BUCKETS[..BUCKETS.len() - 1];
    let mut millis = scale(1_000_000, &BUCKETS);
    let slower = histogram.count() - below(2 * Nanos::SECOND.0);
    millis.push((">=2000".to_owned(), percent(slower)));
    [scale(1, fine), scale(1_000, fine), millis].map(Ordered)
}
