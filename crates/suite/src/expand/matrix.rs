//! A step's workloads: one for every combination of the lists in its matrix.

use std::collections::BTreeMap;

use assay_device::session::DriveSession;
use assay_store::model::Round;
use assay_units::{Nanos, parse_duration, parse_size, text};
use assay_workload::options::JobOptions;

use super::RunPlan;
use super::parameters::{plain, typed};
use super::rounds::MAX_ROUNDS;
use crate::SuiteError;
use crate::schema::{ParameterKind, SUITE_OPTIONS, SuiteParameter, SuiteStep};

/// The power state that is not touched.
const AS_IT_IS: &str = "as-it-is";

/// One workload of a step.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    /// The values that tell it from its neighbours: option and text, in the order of the matrix.
    pub(super) axes: Vec<(String, String)>,
    pub(super) options: JobOptions,
    pub(super) load_percent: Option<f64>,
    pub(super) power_state: Option<u8>,
    pub(super) round: Option<Round>,
    /// The drive is left alone for so long before it.
    pub(super) rest: Nanos,
    /// Length of the stream that it is, where the suite says that in chunks.
    pub(super) stream_bytes: Option<u64>,
    /// Why it cannot be run on this drive.
    pub(super) skip: Option<String>,
}

/// Over how many threads a total depth is spread: as many as may be, each with the same depth.
fn spread(depth: u32, most_threads: u32) -> u32 {
    (1..=most_threads.min(depth))
        .rev()
        .find(|threads| depth.is_multiple_of(*threads))
        .unwrap_or(1)
}

/// Lays streams of different lengths one after the other, as report C's sweep does: a stream that overwrote the last one's place would
/// be read from wherever the drive had moved that to. Where the drive ends, they begin again at the first address.
fn lay_out_streams(combinations: &mut [Combination], room: u64) -> Result<(), String> {
    let mut places: BTreeMap<u64, u64> = BTreeMap::new();
    let mut next = None;
    for combination in combinations {
        let Some(bytes) = combination.stream_bytes else {
            continue;
        };
        let options = &mut combination.options;
        let text = options.offset.as_deref().unwrap_or("0");
        let first = parse_size(text).map_err(|e| format!("offset = {text:?}: {e}"))?;
        if first.saturating_add(bytes) > room {
            combination.skip = Some(format!(
                "a stream of {} does not fit on the drive, which holds {}",
                text::format_size(bytes),
                text::format_size(room)
            ));
            continue;
        }
        let place = *places.entry(bytes).or_insert_with(|| {
            let wanted: u64 = next.unwrap_or(first);
            let place = if wanted.saturating_add(bytes) > room {
                first
            } else {
                wanted
            };
            next = Some(place.saturating_add(bytes));
            place
        });
        options.size = Some(bytes.to_string());
        options.offset = Some(place.to_string());
    }
    Ok(())
}

/// Are two texts the same value? `4k` and `4096` are.
pub(super) fn same_value(a: &str, b: &str) -> bool {
    a == b || parse_size(a).is_ok_and(|a| parse_size(b).is_ok_and(|b| a == b))
}

impl RunPlan {
    /// The step's workload for every combination of its lists: (axes, options).
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
        let room = drive.info().capacity_bytes;
        lay_out_streams(&mut combinations, room).map_err(|why| self.step_failed(step, &why))?;
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
            .map(|(key, value)| ((*key).to_owned(), plain(value)))
            .collect();
        for (key, value) in chosen {
            table.insert((*key).to_owned(), value.clone());
        }
        let own: BTreeMap<&str, String> = SUITE_OPTIONS
            .into_iter()
            .filter_map(|key| Some((key, plain(&table.remove(key)?))))
            .collect();
        for (key, value) in &mut table {
            *value = typed(key, value).map_err(&failed)?;
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
            let threads = spread(depth, step.most_threads.unwrap_or(1));
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
            stream_bytes = Some(chunks.saturating_mul(block_bytes));
        }
        let mut load_percent = None;
        if let Some(text) = own.get("load_pct") {
            let percent = text
                .parse()
                .ok()
                .filter(|percent: &f64| *percent > 0.0 && *percent <= 1000.0)
                .ok_or_else(|| bad("load_pct", text, "a share in percent, above 0"))?;
            load_percent = Some(percent);
            // Takes the place of the rate that is not known yet.
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
            rest: Nanos::ZERO,
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

    /// How often all cells of a step are measured.
    pub(super) fn repeats(
        &self,
        step: &SuiteStep,
        drive: &DriveSession,
    ) -> Result<u32, SuiteError> {
        let Some(repeats) = &step.repeats else {
            return Ok(1);
        };
        let text = plain(&self.substituted(repeats, drive));
        text.parse()
            .ok()
            .filter(|n| (1..=MAX_ROUNDS).contains(n))
            .ok_or_else(|| {
                self.step_failed(
                    step,
                    &format!("repeats = {text:?}: a whole number from 1 to {MAX_ROUNDS}"),
                )
            })
    }

    /// The rest before a step's cell, which may be the first of a repetition.
    pub(super) fn rest(
        &self,
        step: &SuiteStep,
        drive: &DriveSession,
        first: bool,
    ) -> Result<Nanos, SuiteError> {
        let Some(rest) = &step.rest else {
            return Ok(Nanos::ZERO);
        };
        let text = rest.first.as_ref().filter(|_| first);
        self.duration(step, text.unwrap_or(&rest.before), drive)
    }

    /// A duration of the suite's text, scaled where it comes from a parameter.
    pub(super) fn duration(
        &self,
        step: &SuiteStep,
        text: &str,
        drive: &DriveSession,
    ) -> Result<Nanos, SuiteError> {
        let text = plain(&self.substituted(&toml::Value::String(text.to_owned()), drive));
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
        // Blocks below what the drive addresses cannot be measured on it.
        let possible = |value: &toml::Value| {
            let size = parse_size(&plain(value)).unwrap_or(u64::MAX);
            size >= block
        };
        let is_bs = step
            .matrix
            .get("bs")
            .is_some_and(|bs| std::ptr::eq(bs, value));
        let values: Vec<toml::Value> = values
            .into_iter()
            .filter(|v| !is_bs || possible(v))
            .collect();
        if values.is_empty() {
            return Err(SuiteError::Text {
                name: self.suite.name.clone(),
                message: format!(
                    "step {:?}: a list in its matrix is empty (for drive {})",
                    step.id,
                    drive.info().spec
                ),
            });
        }
        Ok(values)
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

    /// A parameter's value in force on a drive: durations scaled, sizes cut to the drive.
    fn effective(&self, parameter: &SuiteParameter, raw: &str, drive: &DriveSession) -> String {
        match parameter.kind {
            ParameterKind::Duration => {
                let ns = parse_duration(raw).unwrap_or(Nanos::ZERO).0 as f64 * self.scale;
                // Whole milliseconds, at least one unless nothing was asked for.
                let ms = (ns / 1e6).round().max(if ns > 0.0 { 1.0 } else { 0.0 });
                format!("{ms}ms")
            }
            ParameterKind::Size => {
                let unit = u64::from(drive.info().min_io_bytes.max(4096));
                let room = drive.info().capacity_bytes / unit * unit;
                let bytes = parse_size(raw).unwrap_or(u64::MAX).min(room.max(unit));
                text::compact_size(bytes)
            }
            ParameterKind::List | ParameterKind::Text => raw.to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/expand/matrix.rs"]
mod tests;
