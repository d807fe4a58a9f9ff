//! A step's matrix: one workload per combination of its lists.

use std::collections::BTreeMap;

use assay_device::session::DriveSession;
use assay_store::model::Round;
use assay_units::{Nanos, parse_duration, parse_size, text};
use assay_workload::options::JobOptions;

use super::RunPlan;
use super::parameters::{toml_text, typed_option};
use super::rounds::MAX_ROUNDS;
use crate::SuiteError;
use crate::schema::{ParameterKind, SUITE_OPTIONS, SuiteParameter, SuiteStep};

/// Keeps the power state.
const AS_IT_IS: &str = "as-it-is";

/// One workload of a step.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    /// Its matrix options and values, in matrix order.
    pub(super) axes: Vec<(String, String)>,
    pub(super) options: JobOptions,
    pub(super) load_percent: Option<f64>,
    pub(super) power_state: Option<u8>,
    pub(super) round: Option<Round>,
    /// Idle time before the cell.
    pub(super) idle_before: Nanos,
    /// Length of the stream, where the step gives it in chunks.
    pub(super) stream_bytes: Option<u64>,
    /// Why it is skipped on this drive.
    pub(super) skip: Option<String>,
}

/// Threads for a total queue depth: the most that divide it evenly.
fn threads_for_depth(depth: u32, most_threads: u32) -> u32 {
    (1..=most_threads.min(depth))
        .rev()
        .find(|threads| depth.is_multiple_of(*threads))
        .unwrap_or(1)
}

/// Assigns consecutive areas to streams of different lengths, as in the sweep of the MLE NVMe Streamer brief: a stream that overwrote the
/// previous one would be read from where the drive moved that data. At the end of the drive they restart at the first offset.
fn lay_out_streams(combinations: &mut [Combination], capacity_bytes: u64) -> Result<(), String> {
    let fits = |at: u64, bytes: u64| {
        at.checked_add(bytes)
            .is_some_and(|end| end <= capacity_bytes)
    };
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

/// Whether two texts denote the same value, as `4k` and `4096` do.
pub(super) fn same_value(a: &str, b: &str) -> bool {
    a == b || parse_size(a).is_ok_and(|a| parse_size(b).is_ok_and(|b| a == b))
}

impl RunPlan {
    /// The step's workloads, one per combination of its lists.
    pub(super) fn combinations(
        &self,
        step: &SuiteStep,
        drive: &DriveSession,
    ) -> Result<Vec<Combination>, SuiteError> {
        let mut combinations: Vec<Vec<(&str, toml::Value)>> = vec![Vec::new()];
        for (key, value) in &step.matrix {
            let values = self.list(step, value, drive)?;
            combinations = combinations
                .into_iter()
                .flat_map(|chosen| {
                    values.iter().map(move |value| {
                        let mut chosen = chosen.clone();
                        chosen.push((key.as_str(), value.clone()));
                        chosen
                    })
                })
                .collect();
        }
        let mut combinations: Vec<Combination> = combinations
            .into_iter()
            .map(|chosen| self.combination(step, drive, &chosen))
            .collect::<Result<_, _>>()?;
        let capacity_bytes = drive.info().capacity_bytes;
        lay_out_streams(&mut combinations, capacity_bytes)
            .map_err(|why| self.step_failed(step, &why))?;
        Ok(combinations)
    }

    fn combination(
        &self,
        step: &SuiteStep,
        drive: &DriveSession,
        chosen: &[(&str, toml::Value)],
    ) -> Result<Combination, SuiteError> {
        let failed = |message: String| self.step_failed(step, &message);
        let mut table = toml::Table::new();
        for (key, value) in &step.job {
            table.insert(key.clone(), self.substituted(value, drive));
        }
        let axes: Vec<(String, String)> = chosen
            .iter()
            .map(|(key, value)| ((*key).to_owned(), toml_text(value)))
            .collect();
        for (key, value) in chosen {
            table.insert((*key).to_owned(), value.clone());
        }
        let own: BTreeMap<&str, String> = SUITE_OPTIONS
            .into_iter()
            .filter_map(|key| Some((key, toml_text(&table.remove(key)?))))
            .collect();
        for (key, value) in &mut table {
            *value = typed_option(key, value).map_err(&failed)?;
        }
        let mut options: JobOptions = table
            .try_into()
            .map_err(|e: toml::de::Error| failed(e.to_string()))?;
        options.seed = options.seed.or(Some(self.seed));
        let bad =
            |key: &str, text: &str, what: &str| failed(format!("{key} = {text:?} is not {what}"));
        if let Some(text) = own.get("queue_depth") {
            let depth: u32 = text
                .parse()
                .ok()
                .filter(|depth| *depth > 0)
                .ok_or_else(|| bad("queue_depth", text, "a whole number above 0"))?;
            let threads = threads_for_depth(depth, step.most_threads.unwrap_or(1));
            (options.numjobs, options.iodepth) = (Some(threads), Some(depth / threads));
        }
        let mut stream_bytes = None;
        if let Some(text) = own.get("chunks") {
            let chunks: u64 = text
                .parse()
                .ok()
                .filter(|chunks| *chunks > 0)
                .ok_or_else(|| bad("chunks", text, "a whole number above 0"))?;
            let block = options.bs.as_deref().unwrap_or_default();
            let block_bytes = parse_size(block).map_err(|_| bad("bs", block, "one size"))?;
            stream_bytes = Some(chunks.checked_mul(block_bytes).ok_or_else(|| {
                failed(format!(
                    "chunks = {text:?} of {block}: more than 2^64 bytes"
                ))
            })?);
        }
        let mut load_percent = None;
        if let Some(text) = own.get("load_pct") {
            let percent = text
                .parse()
                .ok()
                .filter(|percent: &f64| *percent > 0.0 && *percent <= 1000.0)
                .ok_or_else(|| bad("load_pct", text, "a share in percent, above 0"))?;
            load_percent = Some(percent);
            // A placeholder until the saturated rate is measured.
            options.rate = Some("1".to_owned());
        }
        let power_state = match own.get("power_state").map(String::as_str) {
            None | Some(AS_IT_IS) => None,
            Some(text) => Some(
                text.parse()
                    .ok()
                    .filter(|state: &u8| *state < 32)
                    .ok_or_else(|| {
                        bad(
                            "power_state",
                            text,
                            "an NVMe power state, 0 to 31, or as-it-is",
                        )
                    })?,
            ),
        };
        Ok(Combination {
            axes,
            options,
            load_percent,
            power_state,
            round: None,
            idle_before: Nanos::ZERO,
            stream_bytes,
            skip: None,
        })
    }

    pub(super) fn step_failed(&self, step: &SuiteStep, message: &str) -> SuiteError {
        SuiteError::Text {
            name: self.suite.name.clone(),
            message: format!("step {:?}: {message}", step.id),
        }
    }

    /// Repetitions of all cells of a step.
    pub(super) fn repeats(
        &self,
        step: &SuiteStep,
        drive: &DriveSession,
    ) -> Result<u32, SuiteError> {
        let Some(repeats) = &step.repeats else {
            return Ok(1);
        };
        let text = self.resolve(repeats, drive);
        let repeats = text.parse().ok().filter(|n| (1..=MAX_ROUNDS).contains(n));
        repeats.ok_or_else(|| {
            let message = format!("repeats = {text:?}: a whole number from 1 to {MAX_ROUNDS}");
            self.step_failed(step, &message)
        })
    }

    /// Idle time before a cell; `first`: of a repetition.
    pub(super) fn idle_before(
        &self,
        step: &SuiteStep,
        drive: &DriveSession,
        first: bool,
    ) -> Result<Nanos, SuiteError> {
        let Some(idle) = &step.rest else {
            return Ok(Nanos::ZERO);
        };
        let text = idle.first.as_ref().filter(|_| first);
        self.duration(step, text.unwrap_or(&idle.before), drive)
    }

    /// A duration, scaled if it comes from a parameter.
    pub(super) fn duration(
        &self,
        step: &SuiteStep,
        text: &str,
        drive: &DriveSession,
    ) -> Result<Nanos, SuiteError> {
        let text = self.resolve(&toml::Value::String(text.to_owned()), drive);
        parse_duration(&text).map_err(|e| self.step_failed(step, &e.to_string()))
    }

    fn list(
        &self,
        step: &SuiteStep,
        value: &toml::Value,
        drive: &DriveSession,
    ) -> Result<Vec<toml::Value>, SuiteError> {
        let values = match value {
            toml::Value::Array(values) => {
                values.iter().map(|v| self.substituted(v, drive)).collect()
            }
            other => match self.substituted(other, drive) {
                toml::Value::String(text) => text
                    .split(',')
                    .map(|part| toml::Value::String(part.trim().to_owned()))
                    .filter(|part| part.as_str() != Some(""))
                    .collect(),
                single => vec![single],
            },
        };
        let block = u64::from(drive.info().min_io_bytes);
        // Sizes below the smallest I/O are dropped; invalid ones are reported by the plan.
        let too_small =
            |value: &toml::Value| parse_size(&toml_text(value)).is_ok_and(|size| size < block);
        let is_bs = step
            .matrix
            .get("bs")
            .is_some_and(|bs| std::ptr::eq(bs, value));
        let values: Vec<toml::Value> = values
            .into_iter()
            .filter(|v| !is_bs || !too_small(v))
            .collect();
        if values.is_empty() {
            let message = format!(
                "a list in its matrix is empty (for drive {})",
                drive.info().spec
            );
            return Err(self.step_failed(step, &message));
        }
        Ok(values)
    }

    /// The text of a value, with its parameters replaced.
    pub(super) fn resolve(&self, value: &toml::Value, drive: &DriveSession) -> String {
        toml_text(&self.substituted(value, drive))
    }

    /// Replace `{parameter}` in a text.
    pub(super) fn substituted(&self, value: &toml::Value, drive: &DriveSession) -> toml::Value {
        let toml::Value::String(text) = value else {
            return value.clone();
        };
        let mut text = text.clone();
        for (key, raw) in &self.parameters {
            let pattern = format!("{{{key}}}");
            if text.contains(&pattern) {
                let parameter = &self.suite.parameters[key];
                text = text.replace(&pattern, &self.effective(parameter, raw, drive));
            }
        }
        toml::Value::String(text)
    }

    /// A parameter's value on a drive: durations scaled, sizes limited to the capacity.
    fn effective(&self, parameter: &SuiteParameter, raw: &str, drive: &DriveSession) -> String {
        match parameter.kind {
            ParameterKind::Duration => {
                let duration = parse_duration(raw).expect("parameters() checked every duration");
                let ns = duration.0 as f64 * self.scale;
                // Whole milliseconds, at least one unless the duration is zero.
                let ms = (ns / 1e6).round().max(if ns > 0.0 { 1.0 } else { 0.0 });
                format!("{ms}ms")
            }
            ParameterKind::Size => {
                let unit = u64::from(drive.info().min_io_bytes.max(4096));
                let room = drive.info().capacity_bytes / unit * unit;
                let bytes = parse_size(raw).expect("parameters() checked every size");
                let bytes = bytes.min(room.max(unit));
                text::compact_size(bytes)
            }
            ParameterKind::List | ParameterKind::Text => raw.to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/expand/matrix.rs"]
mod tests;
