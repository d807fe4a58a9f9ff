//! The workload keeps the mix, the sizes, the length of runs, the skew over the area, the rate and
//! its randomness, and flushes. Writes are synchronous where most are. It does not keep which block
//! is hot, the order of hot spots over time, bursts beyond a Poisson process, and trims.

use std::collections::BTreeMap;
use std::fmt::Write;

use assay_units::text::{compact_size, printable};
use assay_units::{MIB, SECTOR_BYTES};

use crate::profile::TraceProfile;
use crate::{TraceSource, TraceSurvey};

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
    let mut shares: Vec<(u64, u64)> = sizes
        .iter()
        .map(|&(size, count)| (size, exact(count) as u64))
        .collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    let remainder = |at: usize| exact(sizes[at].1).fract();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    let given: u64 = shares.iter().map(|(_, share)| share).sum();
    for &at in order
        .iter()
        .cycle()
        .take(100_u64.saturating_sub(given) as usize)
    {
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
        if let Some(nearest) = kept
            .iter_mut()
            .min_by_key(|(known, _)| known.abs_diff(size))
        {
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

impl FittedWorkload {
    pub fn of(survey: &TraceSurvey, profile: &TraceProfile) -> FittedWorkload {
        let mut notes = Vec::new();
        let (reads, writes) = (survey.reads.requests, survey.writes.requests);
        let share = |count: u64| count as f64 / (reads + writes).max(1) as f64 * 100.0;
        let begins_pct = share(profile.runs);
        let is_random = begins_pct >= SEQUENTIAL_BEGINS_PCT && profile.runs > 1;
        let run = (profile.requests as f64 / profile.runs.max(1) as f64).round() as u64;
        let (random, mixed) = (is_random, reads > 0 && writes > 0);
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
        let grid = match align_bytes > 4096 {
            true => 4096,
            false => align_bytes,
        };
        let of = |sizes: &BTreeMap<u64, u64>| {
            mix(sizes.iter().map(|(size, count)| (*size, *count)), grid)
        };
        let [read_mix, write_mix] = [&profile.read_sizes, &profile.write_sizes].map(of);
        let mixes = match (reads > 0, writes > 0) {
            (true, true) if are_alike(&read_mix, &write_mix) => {
                let both = profile.read_sizes.iter().chain(&profile.write_sizes);
                vec![mix(both.map(|(size, count)| (*size, *count)), grid)]
            }
            (true, true) => vec![read_mix, write_mix],
            (_, false) => vec![read_mix],
            (false, true) => vec![write_mix],
        };
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
        if rate.is_none() {
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
            notes,
        }
    }

    pub fn suite(&self, name: &str, source: &TraceSource, survey: &TraceSurvey) -> String {
        let quoted = |text: &str| format!("{:?}", printable(text));
        let path = source
            .path
            .canonicalize()
            .unwrap_or_else(|_| source.path.clone());
        let path = path.display().to_string();
        let seconds = survey.span.as_secs_f64().ceil().max(1.0);
        let mut job = vec![format!("rw = {}", quoted(&self.rw))];
        let mut add = |key: &str, value: String| job.push(format!("{key} = {value}"));
        if let Some(percent) = self.read_percent {
            add("rwmixread", percent.to_string());
        }
        add("bs", quoted(&self.bs));
        if let Some(align) = self.align_bytes {
            add("blockalign", quoted(&compact_size(align)));
        }
        if let Some(distribution) = &self.distribution {
            add("random_distribution", quoted(distribution));
        }
        add("iodepth", self.iodepth.to_string());
        add("size", quoted("{area}"));
        if let Some((rate, poisson)) = self.rate {
            add("rate", quoted(&rate.to_string()));
            if poisson {
                add("arrival", quoted("poisson"));
            }
        }
        if let Some(writes) = self.fsync {
            add("fsync", writes.to_string());
        }
        if self.synchronous {
            add("sync", quoted("dsync"));
        }
        match self.rate {
            Some(_) => add("runtime", quoted("{runtime}")),
            None => add(
                "number_ios",
                (survey.reads.requests + survey.writes.requests).to_string(),
            ),
        }
        let mut replay = vec![
            format!("trace = {}", quoted(&path)),
            format!("trace_format = {}", quoted(survey.format.name())),
            format!("iodepth = {}", self.iodepth),
            format!("size = {}", quoted("{area}")),
        ];
        if let Some(device) = &source.device {
            replay.push(format!("trace_device = {}", quoted(device)));
        }
        if self.rate.is_none() {
            replay.push("trace_timing = \"closed\"".to_owned());
        }
        let mut text = String::new();
        let mut line = |line: &str| {
            let _ = writeln!(text, "{line}");
        };
        line(
            "# A synthetic workload fitted to a trace by `assay trace fit`, and the trace \
             (docs/traces.md).",
        );
        for note in &self.notes {
            line(&format!("# Not kept: {note}."));
        }
        line(&format!("name = {}", quoted(name)));
        line(&format!(
            "title = {}",
            quoted(&format!("Workload fitted to {}", source.name()))
        ));
        line(
            "summary = \"The synthetic workload with the profile of a trace, and the trace \
             itself: their figures show what the workload keeps.\"",
        );
        line(&format!("source = {}", quoted(&source.name())));
        line(&format!("duration = \"twice {seconds:.0} seconds\""));
        line("\n[parameters.area]\nkind = \"size\"");
        line(&format!(
            "default = {}",
            quoted(&(self.area.0 + self.area.1).to_string())
        ));
        line("help = \"area of both steps, from the start of the drive\"");
        line("\n[parameters.runtime]\nkind = \"duration\"");
        line(&format!("default = \"{seconds:.0}s\""));
        line("help = \"measured time of the synthetic workload\"");
        for (id, title, job) in [
            ("fitted", "Synthetic workload fitted to the trace", &job),
            ("replay", "The trace", &replay),
        ] {
            line(&format!(
                "\n[[step]]\nid = \"{id}\"\ntitle = \"{title}\"\nkind = \"measure\"\n[step.job]"
            ));
            job.iter().for_each(|option| line(option));
        }
        text
    }
}

#[cfg(test)]
#[path = "../tests/unit/fit.rs"]
mod tests;
