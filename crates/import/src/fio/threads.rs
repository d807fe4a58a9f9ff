//! Threads of one job to one workload.

use std::collections::HashMap;

use assay_stats::summary::PERCENTILES;
use assay_stats::{LatencySummary, OpSummary};
use assay_units::Nanos;
use assay_units::rate::{mib_per_second, per_second};

use super::histograms::histogram;
use crate::{Direction, Job, Note};

/// Threads that ran for less of the longest one's time did not run at the same time.
const LEAST_SHARE: f64 = 0.95;

/// The jobs of a file, those that are threads of one job joined: fio without `group_reporting`
/// has an entry for each thread, which repeats name, group and options.
#[derive(Default)]
pub struct Threads {
    jobs: Vec<Joined>,
    /// The last of the jobs with a key.
    places: HashMap<String, usize>,
}

/// What was measured of a job, or of one of its threads.
#[derive(Default)]
pub struct Figures {
    pub ended: Option<jiff::Timestamp>,
    pub elapsed: Nanos,
    /// Reads, writes and deallocations.
    pub directions: [Direction; 3],
    pub flush: Direction,
    pub busiest_thread_pct: Option<f64>,
    pub notes: Vec<Note>,
    /// Why they are not compared.
    pub unfit: Vec<String>,
}

impl Figures {
    fn new(job: Job) -> Figures {
        Figures {
            ended: job.ended,
            elapsed: job.elapsed,
            directions: [job.read, job.write, job.discard],
            flush: job.flush,
            busiest_thread_pct: job.busiest_thread_pct,
            notes: job.notes,
            unfit: job.unfit,
        }
    }

    /// The job, which has no figures, with these.
    pub fn with(self, job: Job) -> Job {
        let [read, write, discard] = self.directions;
        let mut job = Job {
            ended: self.ended.or(job.ended),
            elapsed: self.elapsed,
            read,
            write,
            discard,
            flush: self.flush,
            busiest_thread_pct: self.busiest_thread_pct,
            ..job
        };
        self.notes.into_iter().for_each(|note| job.note(note));
        job.unfit.extend(self.unfit);
        job
    }
}

struct Joined {
    job: Job,
    threads: u32,
    /// Time of the thread that ended first.
    shortest: Nanos,
}

impl Threads {
    /// `key`, of group and options, is the same for threads of one job. `is_thread` is false of
    /// what stands for a whole group. Returns the job's place among all.
    pub fn add(&mut self, key: String, job: Job, is_thread: bool) -> usize {
        match self.places.get(&key).copied().filter(|_| is_thread) {
            Some(place) => {
                self.join(place, Figures::new(job));
                place
            }
            None => {
                self.places.insert(key, self.jobs.len());
                self.jobs.push(Joined { shortest: job.elapsed, job, threads: 1 });
                self.jobs.len() - 1
            }
        }
    }

    /// One more thread of the job at this place.
    pub fn join(&mut self, place: usize, thread: Figures) {
        let joined = &mut self.jobs[place];
        joined.threads += 1;
        joined.shortest = joined.shortest.min(thread.elapsed);
        join(&mut joined.job, thread);
    }

    /// The jobs. A number of threads that the options do not have is that of the entries.
    pub fn finish(self) -> Vec<Job> {
        self.jobs.into_iter().map(Joined::finish).collect()
    }
}

impl Joined {
    fn finish(self) -> Job {
        let mut job = self.job;
        if job.workload.numjobs == 0 || self.threads > job.workload.numjobs {
            job.workload.numjobs = self.threads;
        }
        let longest = job.elapsed;
        if (self.shortest.0 as f64) < LEAST_SHARE * longest.0 as f64 {
            // As fio's group_reporting.
            for direction in job.operations_mut() {
                let summary = &mut direction.summary;
                summary.iops = per_second(summary.ios, longest);
                summary.mib_per_s = mib_per_second(summary.bytes, longest);
            }
            job.note(Note::ThreadsOfOtherTimes);
        }
        job.operations_mut().into_iter().for_each(summarise);
        job
    }
}

/// Rates add up; the time is that of the longest.
fn join(whole: &mut Job, thread: Figures) {
    whole.elapsed = whole.elapsed.max(thread.elapsed);
    whole.ended = whole.ended.max(thread.ended);
    whole.busiest_thread_pct = match (whole.busiest_thread_pct, thread.busiest_thread_pct) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    };
    let mut merged = true;
    let sums = whole.operations_mut().into_iter();
    for (sum, other) in sums.zip(thread.directions.into_iter().chain([thread.flush])) {
        merged &= add(sum, other);
    }
    for note in thread.notes {
        whole.note(note);
    }
    for reason in thread.unfit {
        if !whole.unfit.contains(&reason) {
            whole.unfit.push(reason);
        }
    }
    if !merged {
        whole.note(Note::PercentilesOfThreads);
    }
}

/// Returns whether the percentiles are still known.
fn add(sum: &mut Direction, other: Direction) -> bool {
    if other.summary.is_unused() {
        return true;
    }
    if sum.summary.is_unused() {
        *sum = other;
        return true;
    }
    let (a, b) = (&mut sum.summary, &other.summary);
    let latency_ns = pooled(&a.latency_ns, &b.latency_ns);
    let had_percentiles = a.latency_ns.percentile("p50").or(b.latency_ns.percentile("p50"));
    *a = OpSummary {
        ios: a.ios.saturating_add(b.ios),
        bytes: a.bytes.saturating_add(b.bytes),
        errors: a.errors.saturating_add(b.errors),
        iops: a.iops + b.iops,
        mib_per_s: a.mib_per_s + b.mib_per_s,
        latency_ns,
        ..OpSummary::default()
    };
    match sum.bins.is_empty() || other.bins.is_empty() {
        true => {
            sum.bins.clear();
            had_percentiles.is_none()
        }
        false => {
            sum.bins = merged(&sum.bins, &other.bins);
            true
        }
    }
}

/// Mean and standard deviation of all samples; no percentiles.
fn pooled(a: &LatencySummary, b: &LatencySummary) -> LatencySummary {
    if a.samples == 0 || b.samples == 0 {
        return if a.samples == 0 { *b } else { *a };
    }
    let (n, m) = (a.samples as f64, b.samples as f64);
    let mean = (a.mean * n + b.mean * m) / (n + m);
    let spread = |l: &LatencySummary| l.stddev.powi(2) + (l.mean - mean).powi(2);
    LatencySummary {
        samples: a.samples.saturating_add(b.samples),
        mean,
        min: a.min.min(b.min),
        max: a.max.max(b.max),
        stddev: ((n * spread(a) + m * spread(b)) / (n + m)).sqrt(),
        ..LatencySummary::default()
    }
}

/// Both are ascending.
fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        same
    });
    all
}

/// Fills the percentiles from the distribution.
pub(super) fn summarise(direction: &mut Direction) {
    if direction.bins.is_empty() {
        return;
    }
    let histogram = histogram(std::mem::take(&mut direction.bins));
    direction.distribution = histogram.encode();
    let of_bins = LatencySummary::new(&histogram);
    let stated = direction.summary.latency_ns;
    if stated.samples == 0 {
        direction.summary.latency_ns = of_bins;
        return;
    }
    // What the file states counts, and the distribution gives what it does not.
    for (key, _) in PERCENTILES {
        if stated.percentile(key).is_none()
            && let Some(place) = direction.summary.latency_ns.percentile_mut(key)
        {
            *place = of_bins.percentile(key).map_or(0, |ns| ns.0);
        }
    }
}
