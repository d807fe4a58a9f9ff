//! A step's matrix: one workload per combination of its lists.

use std::collections::BTreeMap;
use std::str::FromStr;

use assay_device::session::DriveSession;
use assay_store::model::{CellKind, Round};
use assay_units::{MIB, Nanos, parse_duration, parse_size, text};
use assay_workload::options::JobOptions;

use super::RunPlan;
use super::parameters::{SizeParameter, toml_text, typed_option};
use super::rounds::MAX_ROUNDS;
use super::shrunk::divided;
use super::steady::SteadyPhase;
use crate::SuiteError;
use crate::schema::{MatrixOption, ParameterKind, SUITE_OPTIONS, SuiteParameter, SuiteStep};

type Chosen<'a> = (MatrixOption<'a>, toml::Value);

/// Keeps the power state.
const AS_IT_IS: &str = "as-it-is";

#[derive(Clone, Debug)]
pub(super) struct JobOfStep {
    pub(super) name: String,
    pub(super) number: usize,
    pub(super) foreground: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Combination {
    /// Its matrix options and values, in matrix order; of a step with jobs, those of all of them.
    pub(super) axes: Vec<(String, String)>,
    /// Those by which the same workload is named in a step where it is alone.
    pub(super) own_axes: Vec<(String, String)>,
    pub(super) job: Option<JobOfStep>,
    pub(super) options: JobOptions,
    pub(super) seed_given: bool,
    pub(super) load_percent: Option<f64>,
    pub(super) power_state: Option<u8>,
    pub(super) round: Option<Round>,
    pub(super) idle_before: Nanos,
    /// Length of the stream, where the step gives it in chunks.
    pub(super) stream_bytes: Option<u64>,
    pub(super) skip: Option<String>,
    /// Of a step that preconditions to steady state.
    pub(super) phase: Option<SteadyPhase>,
}

/// Threads for a total queue depth: the most that divide it evenly.
fn threads_for_depth(depth: u32, most_threads: u32) -> u32 {
    (1..=most_threads.min(depth)).rev().find(|threads| depth.is_multiple_of(*threads)).unwrap_or(1)
}

/// Assigns consecutive areas to streams of different lengths, as in the sweep of the MLE NVMe
/// Streamer brief: a stream that overwrote the previous one would be read from where the drive
/// moved that data.
fn lay_out_streams(combinations: &mut [Combination], capacity_bytes: u64) -> Result<(), String> {
    let fits = |at: u64, bytes| at.checked_add(bytes).is_some_and(|end| end <= capacity_bytes);
    let mut offsets: BTreeMap<u64, u64> = BTreeMap::new();
    let mut next = None;
    for combination in combinations {
        let Some(bytes) = combination.stream_bytes else {
            continue;
        };
        let options = &mut combination.options;
        let text = options.offset.as_deref().unwrap_or("0");
        let first = parse_size(text).map_err(|e| format!("offset = {text:?}: {e}"))?;
        if !fits(first, bytes) {
            combination.skip = Some(format!(
                "a stream of {} does not fit on the drive, which holds {}",
                text::format_size(bytes),
                text::format_size(capacity_bytes)
            ));
            continue;
        }
        let offset = *offsets.entry(bytes).or_insert_with(|| {
            let offset = next.filter(|&at| fits(at, bytes)).unwrap_or(first);
            next = Some(offset + bytes);
            offset
        });
        options.size = Some(bytes.to_string());
        options.offset = Some(offset.to_string());
    }
    Ok(())
}

/// Time of so many bursts with the idle time after each.
fn bursts_span(options: &JobOptions, bursts: u32) -> Result<Nanos, String> {
    let duration = |key: &str, text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        parse_duration(text).map_err(|e| format!("{key} = {text:?}: {e}"))
    };
    let active = duration("thinktime_iotime", &options.thinktime_iotime)?;
    let idle = duration("thinktime", &options.thinktime)?;
    let cycle = active.0.checked_add(idle.0);
    let span = cycle.and_then(|cycle| cycle.checked_mul(bursts.into()));
    span.map(Nanos).ok_or_else(|| format!("bursts = {bursts}: longer than 584 years"))
}

/// With replacement two passes would leave 13.5 % of the blocks unwritten.
fn cover_whole_area(options: &mut JobOptions) {
    let one_size = options.bs.as_ref().is_none_or(|bs| !bs.contains([':', ',', '/']));
    let zoned = options.zonesize.is_some() || options.blockalign.is_some();
    if options.rw.as_deref() == Some("randwrite") && one_size && !zoned {
        let distribution = &mut options.random_distribution;
        distribution.get_or_insert_with(|| "cover".to_owned());
    }
}

/// Whether two texts denote the same value, as `4k` and `4096` do.
pub(super) fn same_value(a: &str, b: &str) -> bool {
    a == b || parse_size(a).is_ok_and(|a| parse_size(b).is_ok_and(|b| a == b))
}

fn suite_option<T: FromStr>(
    options: &BTreeMap<&str, String>,
    key: &str,
    valid: fn(&T) -> bool,
    what: &str,
) -> Result<Option<T>, String> {
    let Some(text) = options.get(key) else {
        return Ok(None);
    };
    let value = text.parse().ok().filter(valid).map(Some);
    value.ok_or_else(|| format!("{key} = {text:?} is not {what}"))
}

const ABOVE_0: &str = "a whole number above 0";

/// Threads and queue depth where the suite gives what all threads together have in flight.
fn set_depth(
    own: &BTreeMap<&str, String>,
    options: &mut JobOptions,
    most_threads: u32,
) -> Result<(), String> {
    if let Some(depth) = suite_option(own, "queue_depth", |&n: &u32| n > 0, ABOVE_0)? {
        let threads = threads_for_depth(depth, most_threads);
        (options.numjobs, options.iodepth) = (Some(threads), Some(depth / threads));
    }
    if let Some(all) = suite_option(own, "in_flight", |&n: &u32| n > 0, ABOVE_0)? {
        let threads = options.numjobs.unwrap_or(1);
        if threads == 0 || !all.is_multiple_of(threads) {
            return Err(format!("in_flight = {all} is no multiple of numjobs = {threads}"));
        }
        options.iodepth = Some(all / threads);
    }
    Ok(())
}

fn stream_bytes(own: &BTreeMap<&str, String>, options: &JobOptions) -> Result<Option<u64>, String> {
    let Some(chunks) = suite_option(own, "chunks", |&n: &u64| n > 0, ABOVE_0)? else {
        return Ok(None);
    };
    let block = options.bs.as_deref().unwrap_or_default();
    let block_bytes = parse_size(block).map_err(|_| format!("bs = {block:?} is not one size"))?;
    let bytes = chunks.checked_mul(block_bytes);
    bytes.map(Some).ok_or_else(|| {
        let text = &own["chunks"];
        format!("chunks = {text:?} of {block}: more than 2^64 bytes")
    })
}

pub(super) struct StepOnDrive<'a> {
    pub(super) plan: &'a RunPlan,
    pub(super) step: &'a SuiteStep,
    pub(super) drive: &'a DriveSession,
}

impl StepOnDrive<'_> {
    pub(super) fn combinations(&self) -> Result<Vec<Combination>, SuiteError> {
        let mut choices: Vec<Vec<Chosen<'_>>> = vec![Vec::new()];
        for option in self.step.matrix_options() {
            let values = self.list(option.option, option.values)?;
            // Counted before they are made: a few lists of a hundred values each make more than
            // fits into memory.
            self.plan.check_count(choices.len() as u128 * values.len() as u128)?;
            let extended = choices.iter().flat_map(|chosen| {
                let with =
                    |value: &toml::Value| [chosen.as_slice(), &[(option, value.clone())]].concat();
                values.iter().map(with)
            });
            choices = extended.collect();
        }
        let jobs = self.jobs();
        self.plan.check_count(choices.len() as u128 * jobs.len() as u128)?;
        let combinations = choices.iter().flat_map(|chosen| {
            let jobs = jobs.iter();
            jobs.map(|job| self.combination(chosen, job.as_ref()))
        });
        combinations
            .collect::<Result<Vec<_>, _>>()
            .and_then(|mut combinations| {
                lay_out_streams(&mut combinations, self.drive.info().capacity_bytes)?;
                self.in_phases(combinations)
            })
            .map_err(|why| self.failed(&why))
    }

    /// The jobs of the step that run at once; of a step with one, none.
    fn jobs(&self) -> Vec<Option<JobOfStep>> {
        let Some(jobs) = self.step.jobs() else {
            return vec![None];
        };
        let names = jobs.keys().enumerate();
        let job = |(number, name): (usize, &String)| {
            Some(JobOfStep {
                name: name.clone(),
                number,
                foreground: self.step.foreground_job() == Some(name),
            })
        };
        names.map(job).collect()
    }

    /// What is said of one job comes before what is said of all, and a value of the matrix before
    /// one of the step.
    fn table(&self, chosen: &[Chosen<'_>], job: Option<&str>) -> toml::Table {
        let substituted = |table: &toml::Table| {
            let values = table.iter();
            let values = values.map(|(key, value)| (key.clone(), self.substituted(value)));
            values.collect::<toml::Table>()
        };
        let mut table = substituted(&self.step.job);
        let choose = |table: &mut toml::Table, job: Option<&str>| {
            let chosen = chosen.iter().filter(|(option, _)| option.job == job);
            table.extend(chosen.map(|(option, value)| (option.option.to_owned(), value.clone())));
        };
        choose(&mut table, None);
        if let Some(name) = job {
            let own = self.step.jobs().and_then(|jobs| jobs.get(name)?.as_table());
            table.extend(own.map(substituted).unwrap_or_default());
            choose(&mut table, job);
        }
        table
    }

    fn combination(
        &self,
        chosen: &[Chosen<'_>],
        job: Option<&JobOfStep>,
    ) -> Result<Combination, String> {
        let name = job.map(|job| job.name.as_str());
        let mut table = self.table(chosen, name);
        let own: BTreeMap<&str, String> = SUITE_OPTIONS
            .into_iter()
            .filter_map(|key| Some((key, toml_text(&table.remove(key)?))))
            .filter(|(key, text)| (*key, text.as_str()) != ("power_state", AS_IT_IS))
            .collect();
        for (key, value) in &mut table {
            *value = typed_option(key, value)?;
        }
        let mut options: JobOptions =
            table.try_into().map_err(|e: toml::de::Error| e.to_string())?;
        let seed_given = options.seed.is_some();
        options.seed = options.seed.or(Some(self.plan.seed));
        if self.step.kind() == CellKind::Prepare {
            cover_whole_area(&mut options);
        }
        self.divide_interval(&mut options)?;
        set_depth(&own, &mut options, self.step.most_threads.unwrap_or(1))?;
        let stream_bytes = stream_bytes(&own, &options)?;
        if let Some(bursts) = suite_option(&own, "bursts", |&n: &u32| n > 0, ABOVE_0)? {
            let span = bursts_span(&options, bursts)?;
            options.runtime = Some(format!("{}ns", span.0));
        }
        let (is_share, share) = (|&p: &f64| p > 0.0 && p <= 1000.0, "a share in percent, above 0");
        let load_percent = suite_option(&own, "load_pct", is_share, share)?;
        if load_percent.is_some() {
            // A placeholder until the saturated rate is measured.
            options.rate = Some("1".to_owned());
        }
        let states = "an NVMe power state, 0 to 31, or as-it-is";
        let power_state = suite_option(&own, "power_state", |&state: &u8| state < 32, states)?;
        let skip = self.differs_when_shrunk(&options, stream_bytes.is_some());
        let axes = chosen.iter();
        let own_axes =
            axes.clone().filter(|(option, _)| option.job.is_none() || option.job == name);
        Ok(Combination {
            axes: axes.map(|(option, value)| (option.axis(), toml_text(value))).collect(),
            own_axes: own_axes
                .map(|(option, value)| (option.option.to_owned(), toml_text(value)))
                .collect(),
            job: job.cloned(),
            options,
            seed_given,
            load_percent,
            power_state,
            round: None,
            idle_before: Nanos::ZERO,
            stream_bytes,
            skip,
            phase: None,
        })
    }

    pub(super) fn failed(&self, message: &str) -> SuiteError {
        let message = format!("step {:?}: {message}", self.step.id);
        SuiteError::invalid("suite", &self.plan.suite.name, message)
    }

    pub(super) fn repeats(&self) -> Result<u32, SuiteError> {
        let Some(repeats) = &self.step.repeats else {
            return Ok(1);
        };
        let text = self.resolve(repeats);
        let repeats = text.parse().ok().filter(|n| (1..=MAX_ROUNDS).contains(n));
        repeats.ok_or_else(|| {
            self.failed(&format!("repeats = {text:?}: a whole number from 1 to {MAX_ROUNDS}"))
        })
    }

    pub(super) fn round(&self, number: u32, most: u32, combination: &Combination) -> Option<Round> {
        let (window, tracked) = match self.step.rounds() {
            Some(rounds) => (rounds.window, self.is_tracked(rounds, combination)),
            // Every repetition counts.
            None => (most, false),
        };
        let repeated = self.step.rounds().is_some() || self.step.repeats.is_some();
        repeated.then_some(Round { number, most, window, tracked })
    }

    pub(super) fn idle_before(&self, first: bool) -> Result<Nanos, SuiteError> {
        let Some(idle) = &self.step.idle else {
            return Ok(Nanos::ZERO);
        };
        let text = idle.first.as_ref().filter(|_| first);
        self.duration(text.unwrap_or(&idle.before))
    }

    /// A duration, scaled if it comes from a parameter.
    pub(super) fn duration(&self, text: &str) -> Result<Nanos, SuiteError> {
        parse_duration(&self.substitute(text)).map_err(|e| self.failed(&e.to_string()))
    }

    pub(super) fn list(
        &self,
        key: &str,
        value: &toml::Value,
    ) -> Result<Vec<toml::Value>, SuiteError> {
        let mut values = match value {
            toml::Value::Array(values) => values.iter().map(|v| self.substituted(v)).collect(),
            other => match self.substituted(other) {
                toml::Value::String(text) => text
                    .split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .map(|part| toml::Value::String(part.to_owned()))
                    .collect(),
                single => vec![single],
            },
        };
        let info = self.drive.info();
        if key == "bs" {
            // Sizes below the smallest I/O are dropped; invalid ones are reported by the plan.
            let least = u64::from(info.min_io_bytes);
            values.retain(|size| !parse_size(&toml_text(size)).is_ok_and(|size| size < least));
        }
        if values.is_empty() {
            let drive = &info.spec;
            return Err(self.failed(&format!("its list of {key} is empty (for drive {drive})")));
        }
        Ok(values)
    }

    pub(super) fn resolve(&self, value: &toml::Value) -> String {
        toml_text(&self.substituted(value))
    }

    fn substituted(&self, value: &toml::Value) -> toml::Value {
        match value {
            toml::Value::String(text) => toml::Value::String(self.substitute(text)),
            other => other.clone(),
        }
    }

    /// Replace `{parameter}` in a text, and `{parameter/2}` by half of a size.
    pub(super) fn substitute(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (key, raw) in &self.plan.parameters {
            let pattern = format!("{{{key}}}");
            if text.contains(&pattern) {
                let parameter = &self.plan.suite.parameters[key];
                text = text.replace(&pattern, &self.effective(parameter, raw));
            }
            let half = format!("{{{key}/2}}");
            if text.contains(&half) && SizeParameter::parse(raw).is_ok() {
                let bytes = self.size_bytes(raw) / 2;
                // No block straddles the middle.
                let aligned = bytes / MIB * MIB;
                let bytes = if aligned > 0 { aligned } else { bytes };
                text = text.replace(&half, &text::compact_size(bytes));
            }
        }
        text
    }

    /// Of a parameter of kind `size`, on this drive.
    fn size_bytes(&self, raw: &str) -> u64 {
        let info = self.drive.info();
        let unit = u64::from(info.min_io_bytes.max(4096));
        let room = info.capacity_bytes / unit * unit;
        let size = SizeParameter::parse(raw).expect("parameters() checked every size");
        let bytes = match size {
            SizeParameter::Bytes(bytes) => {
                let times = info.shrunk.map_or(1, |shrunk| u64::from(shrunk.times));
                (bytes / times / unit * unit).max(bytes.min(unit))
            }
            // The capacity of a small copy is small already.
            SizeParameter::Share(share) => {
                let bytes = (info.capacity_bytes as f64 * share) as u64;
                (bytes / unit * unit).max(unit)
            }
        };
        bytes.min(room.max(unit))
    }

    fn effective(&self, parameter: &SuiteParameter, raw: &str) -> String {
        match parameter.kind {
            ParameterKind::Duration => {
                let duration = parse_duration(raw).expect("parameters() checked every duration");
                let ns = duration.0 as f64 * self.plan.scale;
                if let Some(shrunk) = self.drive.info().shrunk {
                    return format!("{}ns", divided(Nanos(ns as u64), shrunk).0);
                }
                // Whole milliseconds, at least one unless the duration is zero.
                let ms = (ns / 1e6).round().max(if ns > 0.0 { 1.0 } else { 0.0 });
                format!("{ms}ms")
            }
            ParameterKind::Size => text::compact_size(self.size_bytes(raw)),
            ParameterKind::List | ParameterKind::Text => raw.to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/expand/matrix.rs"]
mod tests;
