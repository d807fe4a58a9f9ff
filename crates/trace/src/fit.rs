//! The workload keeps the mix, the sizes, the length of runs, the skew over the area, the rate and
//! its randomness, and flushes. Writes are synchronous where most are. It does not keep which block
//! is hot, the order of hot spots over time, bursts beyond a Poisson process, and trims.

use std::collections::BTreeMap;

use assay_units::text::{compact_size, printable};
use assay_units::{MIB, SECTOR_BYTES};

use crate::profile::TraceProfile;
use crate::{TraceFormat, TraceSource, TraceSurvey};

const MOST_BLOCK_BYTES: u64 = 4 << 20;
/// Sizes of a mix that are kept; the others count as the nearest of them.
const MOST_MIX_SIZES: usize = 8;
const ALIKE_PCT: u64 = 2;
/// Below this share of requests that begin a run, percent, the order is sequential.
const SEQUENTIAL_BEGINS_PCT: f64 = 1.0;
const MOST_RUN: u64 = 1 << 20;
/// Exponents below it are a uniform distribution.
const LEAST_THETA: f64 = 0.1;
/// Variation of the gaps between requests below which they are equal.
const CONSTANT_GAPS: f64 = 0.5;
/// Variation above which the trace has bursts that a Poisson process has not.
const BURSTY_GAPS: f64 = 1.5;
/// Slots of an open loop for each request in flight on average.
const SLOTS_PER_REQUEST: f64 = 4.0;
/// Slots of an open loop without response times, and at least.
const LEAST_DEPTH: u32 = 32;
const MOST_DEPTH: u32 = 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct FittedWorkload {
    pub rw: String,
    pub read_percent: Option<u32>,
    pub bs: String,
    /// Alignment of offsets, where it is not the smallest size, bytes.
    pub align_bytes: Option<u64>,
    pub distribution: Option<String>,
    pub area: (u64, u64),
    /// `None`: a trace without times, a closed loop.
    pub rate: Option<(u64, bool)>,
    pub iodepth: u32,
    pub fsync: Option<u64>,
    /// Writes have Force Unit Access: most of those of the trace have it.
    pub synchronous: bool,
    pub notes: Vec<String>,
}

/// Percentages of sizes, whole numbers that add up to 100: by the largest remainders.
fn percentages(sizes: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let all: u64 = sizes.iter().map(|(_, count)| count).sum();
    let exact = |count: u64| count as f64 * 100.0 / all as f64;
    let mut shares: Vec<(u64, u64)> =
        sizes.iter().map(|&(size, count)| (size, exact(count) as u64)).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    let remainder = |at: usize| exact(sizes[at].1).fract();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let given: u64 = shares.iter().map(|(_, share)| share).sum();
    for &at in order.iter().cycle().take(100_u64.saturating_sub(given) as usize) {
        shares[at].1 += 1;
    }
    shares.retain(|(_, share)| *share > 0);
    shares
}

type Mix = Vec<(u64, u64)>;

fn mix(sizes: impl Iterator<Item = (u64, u64)>, align_bytes: u64) -> Mix {
    let mut merged = BTreeMap::<u64, u64>::new();
    for (size, count) in sizes {
        let size = size.next_multiple_of(align_bytes);
        let size = size.clamp(SECTOR_BYTES, MOST_BLOCK_BYTES);
        *merged.entry(size).or_default() += count;
    }
    let mut kept: Vec<(u64, u64)> = merged.into_iter().collect();
    kept.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let rare = kept.split_off(kept.len().min(MOST_MIX_SIZES));
    for (size, count) in rare {
        if let Some(nearest) = kept.iter_mut().min_by_key(|(known, _)| known.abs_diff(size)) {
            nearest.1 += count;
        }
    }
    kept.sort_unstable();
    percentages(&kept)
}

fn mix_text(mix: &Mix) -> String {
    match mix.as_slice() {
        [(size, _)] => compact_size(*size),
        _ => {
            let one = |(size, share): &(u64, u64)| format!("{}/{share}", compact_size(*size));
            mix.iter().map(one).collect::<Vec<_>>().join(":")
        }
    }
}

fn are_alike(a: &Mix, b: &Mix) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((size, share), (other, percent))| {
            size == other && share.abs_diff(*percent) <= ALIKE_PCT
        })
}

/// The sizes of all requests, or of reads and of writes where both occur and differ.
fn mixes(profile: &TraceProfile, align_bytes: u64) -> Vec<Mix> {
    let (reads, writes) = (&profile.read_sizes, &profile.write_sizes);
    let counts = |sizes: &BTreeMap<u64, u64>| sizes.clone().into_iter();
    let [read_mix, write_mix] = [reads, writes].map(|sizes| mix(counts(sizes), align_bytes));
    match (reads.is_empty(), writes.is_empty()) {
        (false, false) if are_alike(&read_mix, &write_mix) => {
            vec![mix(counts(reads).chain(counts(writes)), align_bytes)]
        }
        (false, false) => vec![read_mix, write_mix],
        (_, true) => vec![read_mix],
        (true, false) => vec![write_mix],
    }
}

/// What the workload does not keep of the trace.
fn notes(survey: &TraceSurvey, profile: &TraceProfile) -> Vec<String> {
    let mut notes = Vec::new();
    if profile.rate <= 0.0 {
        notes.push("the trace has no times: the workload is a closed loop".to_owned());
    }
    if profile.gap_variation > BURSTY_GAPS {
        notes.push(format!(
            "the trace has bursts (variation of the gaps {:.1}, of a Poisson process 1): its \
             latency tail is longer than the workload's",
            profile.gap_variation
        ));
    }
    if survey.discards.requests > 0 {
        notes.push(format!(
            "{} trims are left out: no job mixes them with reads and writes",
            survey.discards.requests
        ));
    }
    notes
}

const SUMMARY: &str = "The synthetic workload with the profile of a trace, and the trace itself: \
                       their figures show what the workload keeps.";

fn quoted(text: &str) -> String {
    format!("{:?}", printable(text))
}

impl FittedWorkload {
    pub fn new(survey: &TraceSurvey, profile: &TraceProfile) -> FittedWorkload {
        let (reads, writes) = (survey.reads.requests, survey.writes.requests);
        let share = |count: u64| count as f64 / (reads + writes).max(1) as f64 * 100.0;
        let begins_pct = share(profile.runs);
        let random = begins_pct >= SEQUENTIAL_BEGINS_PCT && profile.runs > 1;
        let run = (profile.requests as f64 / profile.runs.max(1) as f64).round() as u64;
        let mixed = reads > 0 && writes > 0;
        let word = match (random, mixed, writes > 0) {
            (false, true, _) => "rw",
            (false, false, true) => "write",
            (false, false, false) => "read",
            (true, true, _) => "randrw",
            (true, false, true) => "randwrite",
            (true, false, false) => "randread",
        };
        let rw = match random && run > 1 {
            true => format!("{word}:{}", run.min(MOST_RUN)),
            false => word.to_owned(),
        };
        let align_bytes = survey.alignment_bytes.max(SECTOR_BYTES);
        let mixes = mixes(profile, align_bytes.min(4096));
        let bs = mixes.iter().map(mix_text).collect::<Vec<_>>().join(",");
        let sizes = mixes.iter().flatten().map(|(size, _)| *size);
        let smallest = sizes.min().unwrap_or(align_bytes);
        let distribution = random.then(|| match profile.theta >= LEAST_THETA {
            true => format!("zipf:{:.2}", profile.theta),
            false => "random".to_owned(),
        });
        let low = survey.low_bytes / MIB * MIB;
        let size = (survey.high_bytes - low).next_multiple_of(align_bytes.max(4096));
        let rate = (profile.rate > 0.0).then(|| {
            let data = (reads + writes) as f64 / survey.requests() as f64;
            let rate = (profile.rate * data).round().max(1.0) as u64;
            (rate, profile.gap_variation >= CONSTANT_GAPS)
        });
        let in_flight = profile.in_flight.unwrap_or(0.0);
        // `as` saturates.
        let depth = ((in_flight * SLOTS_PER_REQUEST).ceil() as u32).next_power_of_two();
        FittedWorkload {
            rw,
            read_percent: mixed.then(|| (share(reads).round() as u32).clamp(1, 99)),
            bs,
            align_bytes: (random && align_bytes != smallest).then_some(align_bytes),
            distribution,
            area: (low, size),
            rate,
            iodepth: depth.clamp(LEAST_DEPTH, MOST_DEPTH),
            fsync: (writes > 0 && survey.flushes > 0).then(|| (writes / survey.flushes).max(1)),
            synchronous: survey.fua_writes > writes / 2,
            notes: notes(survey, profile),
        }
    }

    pub fn suite(&self, name: &str, source: &TraceSource, survey: &TraceSurvey) -> String {
        let seconds = survey.span.as_secs_f64().ceil().max(1.0);
        let notes = self.notes.iter();
        let notes: String = notes.map(|note| format!("# Not kept: {note}.\n")).collect();
        let title = format!("Workload fitted to {}", source.name());
        let steps = [
            ("fitted", "Synthetic workload fitted to the trace", self.fitted_job(survey)),
            ("replay", "The trace", self.replay_job(source, survey)),
        ];
        let steps = steps.map(|(id, title, job)| {
            format!(
                "\n[[step]]\nid = \"{id}\"\ntitle = \"{title}\"\nkind = \
                 \"measure\"\n[step.job]\n{}\n",
                job.join("\n")
            )
        });
        format!(
            r#"# A synthetic workload fitted to a trace by `assay trace fit`, and the trace.
# See docs/traces.md.
{notes}name = {name}
title = {title}
summary = "{SUMMARY}"
source = {source}
duration = "twice {seconds:.0} seconds"

[parameters.area]
kind = "size"
default = "{area_bytes}"
help = "area of both steps, from the start of the drive"

[parameters.runtime]
kind = "duration"
default = "{seconds:.0}s"
help = "measured time of the synthetic workload"
{steps}"#,
            name = quoted(name),
            title = quoted(&title),
            source = quoted(&source.name()),
            area_bytes = self.area.0 + self.area.1,
            steps = steps.concat(),
        )
    }

    fn fitted_job(&self, survey: &TraceSurvey) -> Vec<String> {
        let requests = survey.reads.requests + survey.writes.requests;
        let (rate, poisson) = self.rate.unzip();
        let options = [
            ("rw", Some(quoted(&self.rw))),
            ("rwmixread", self.read_percent.map(|percent| percent.to_string())),
            ("bs", Some(quoted(&self.bs))),
            ("blockalign", self.align_bytes.map(|align| quoted(&compact_size(align)))),
            ("random_distribution", self.distribution.as_deref().map(quoted)),
            ("iodepth", Some(self.iodepth.to_string())),
            ("size", Some(quoted("{area}"))),
            ("rate", rate.map(|rate| quoted(&rate.to_string()))),
            ("arrival", (poisson == Some(true)).then(|| quoted("poisson"))),
            ("fsync", self.fsync.map(|writes| writes.to_string())),
            ("sync", self.synchronous.then(|| quoted("dsync"))),
            ("runtime", rate.map(|_| quoted("{runtime}"))),
            ("number_ios", rate.is_none().then(|| requests.to_string())),
        ];
        lines(options)
    }

    fn replay_job(&self, source: &TraceSource, survey: &TraceSurvey) -> Vec<String> {
        let path = source.path.canonicalize();
        let path = path.unwrap_or_else(|_| source.path.clone());
        lines([
            ("trace", Some(quoted(&path.display().to_string()))),
            match survey.format {
                TraceFormat::Columns(columns) => {
                    ("trace_columns", Some(quoted(&columns.to_string())))
                }
                format => ("trace_format", Some(quoted(format.name()))),
            },
            ("iodepth", Some(self.iodepth.to_string())),
            ("size", Some(quoted("{area}"))),
            ("trace_device", source.device.as_deref().map(quoted)),
            ("trace_timing", self.rate.is_none().then(|| quoted("closed"))),
        ])
    }
}

fn lines<const N: usize>(options: [(&str, Option<String>); N]) -> Vec<String> {
    let options = options.into_iter();
    let given = options.filter_map(|(key, value)| Some(format!("{key} = {}", value?)));
    given.collect()
}
