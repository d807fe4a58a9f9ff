//! Sweep files: what is computed in chunks on many hosts.
//!
//! | section | unit | result |
//! |---|---|---|
//! | `[sweep]` | a point: a simulated drive differing from a profile, measured by suites | table |
//! | `[fit]` | a start of a fit | the profile of the best start |
//!
//! What a unit gives follows from its index alone: a [`Point`] of a [`Sweep`] has its seed from it,
//! a start of a [`Fit`] too. [`crate::chunks`] divides, stores and joins. [`Points`] measures
//! points by `assay run`; the command calls `assay_calibrate` for a start.

mod file;
mod points;

pub use file::{Fit, FitRun, FitSection, SweepFile};
pub use points::Points;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_calibrate::CalibrateError;
use assay_sim_host::profile_file::ProfileFileError;
use assay_store::StoreError;
use assay_units::rng::mix;
use serde::{Deserialize, Serialize};

use crate::PlanId;
use crate::chunks::{self, ChunkError};
use crate::name::NameError;

/// Take about a minute with a shortened suite.
pub const DEFAULT_CHUNK_POINTS: u64 = 60;
/// A hundred million take 24,000 core hours of `quick`.
pub const MAX_POINTS: u64 = 100_000_000;

#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error("{path}: {why}")]
    Invalid {
        /// The file.
        path: String,
        why: String,
    },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(
        "cannot read {path}: {source}; name a TOML file with a section [sweep] or [fit] \
         (docs/fleet.md)"
    )]
    File { path: String, source: std::io::Error },
    #[error(transparent)]
    Profile(#[from] ProfileFileError),
    #[error(transparent)]
    Parameter(#[from] CalibrateError),
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    #[error(transparent)]
    Run(#[from] StoreError),
    #[error("cannot {action}")]
    System { action: &'static str, source: std::io::Error },
    #[error("point {index} of the sweep {sweep}: `{command}` ended with {status}: {message}")]
    Point {
        index: u64,
        sweep: String,
        command: String,
        status: std::process::ExitStatus,
        message: String,
    },
}

impl SweepError {
    fn system(action: &'static str) -> impl FnOnce(std::io::Error) -> SweepError {
        move |source| SweepError::System { action, source }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub name: String,
    /// They measure each point in this order.
    pub suites: Vec<SweepSuite>,
    pub sweep: Matrix,
    /// Factor on durations, and the seed.
    #[serde(default)]
    pub run: SweepRun,
    pub store: SweepStore,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSuite {
    /// Name of a built-in suite, or the path of a suite file.
    pub suite: String,
    /// Parameters, as `--set` takes them.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// A built-in profile, or the path of a profile file.
    pub profile: String,
    /// Each point is another drive of this lot.
    pub lot: Option<u64>,
    /// Points of a combination, which differ in their seeds.
    #[serde(default = "one")]
    pub repeats: u64,
    /// Points of a task.
    #[serde(default = "default_chunk")]
    pub chunk: u64,
    /// Values by dotted path of a number of the profile; every combination is measured.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<toml::Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SweepRun {
    /// Factor on durations.
    pub scale: f64,
    pub seed: u64,
}

impl Default for SweepRun {
    fn default() -> SweepRun {
        SweepRun { scale: 1.0, seed: 1 }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepStore {
    /// A directory that all hosts see, or `s3://BUCKET/PREFIX`.
    pub at: String,
}

fn one() -> u64 {
    1
}

fn default_chunk() -> u64 {
    DEFAULT_CHUNK_POINTS
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Counts from 0.
    pub index: u64,
    pub seed: u64,
    /// Values that differ from the profile, by dotted path.
    pub values: BTreeMap<String, toml::Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PointResult {
    /// Name, unit and value.
    Figure(String, String, f64),
    /// Why the combination is no valid drive.
    NoDrive(String),
}

impl Sweep {
    /// `file` is the sweep's name in errors. [`SweepError::Invalid`] has the key and what to write.
    pub fn parse(file: &str, text: &str) -> Result<Sweep, SweepError> {
        let invalid = |why: String| SweepError::Invalid { path: file.to_owned(), why };
        let sweep: Sweep = toml::from_str(text)
            .map_err(|error| invalid(error.to_string().trim_end().to_owned()))?;
        let matrix = &sweep.sweep;
        if sweep.suites.is_empty() {
            return Err(invalid(
                "suites is empty; write suites = [ { suite = \"quick\" } ]".to_owned(),
            ));
        }
        if let Some((key, _)) = matrix.keys.iter().find(|(_, values)| values.is_empty()) {
            return Err(invalid(format!(
                "sweep.keys.\"{key}\" has no value; write a list of at least one"
            )));
        }
        if matrix.repeats == 0 || matrix.chunk == 0 {
            return Err(invalid(
                "sweep.repeats and sweep.chunk are whole numbers from 1".to_owned(),
            ));
        }
        let points = matrix
            .keys
            .values()
            .try_fold(matrix.repeats, |points, values| points.checked_mul(values.len() as u64));
        if points.is_none_or(|points| points > MAX_POINTS) {
            return Err(invalid(format!(
                "the sweep has more than {MAX_POINTS} points; take fewer values or repeats"
            )));
        }
        if !(sweep.run.scale > 0.0 && sweep.run.scale.is_finite()) {
            return Err(invalid("run.scale is a number above 0".to_owned()));
        }
        chunks::id(&sweep.name, &serde_json::Value::Null)?;
        Ok(sweep)
    }

    pub fn points(&self) -> u64 {
        let combinations = self.sweep.keys.values().map(|values| values.len() as u64);
        combinations.product::<u64>() * self.sweep.repeats
    }

    /// The repeats vary fastest, then the last key.
    pub fn point(&self, index: u64) -> Point {
        assert!(index < self.points(), "the sweep has no point {index}");
        let mut rest = index / self.sweep.repeats;
        let mut values = BTreeMap::new();
        for (key, all) in self.sweep.keys.iter().rev() {
            let count = all.len() as u64;
            values.insert(key.clone(), all[(rest % count) as usize].clone());
            rest /= count;
        }
        Point { index, seed: mix(self.run.seed, index), values }
    }

    /// The name and a hash of what the results depend on: the points but not their chunks, the text
    /// of the profile, and the version of the tool. Never fails: the name was checked.
    pub fn id(&self, profile: &str, version: &str) -> Result<PlanId, SweepError> {
        let matrix = &self.sweep;
        let parts = serde_json::json!({
            "suites": self.suites, "lot": matrix.lot, "repeats": matrix.repeats,
            "keys": matrix.keys,
            "run": self.run, "profile": profile, "version": version,
        });
        Ok(chunks::id(&self.name, &parts)?)
    }

    pub fn header(&self) -> String {
        let mut line = "point,seed".to_owned();
        for key in self.sweep.keys.keys() {
            let _ = write!(line, ",{}", field(key));
        }
        line + ",figure,unit,value,no_drive_because\n"
    }

    pub fn rows(&self, point: &Point, results: &[PointResult]) -> String {
        let mut start = format!("{},{}", point.index, point.seed);
        for value in point.values.values() {
            let _ = write!(start, ",{}", field(&value.to_string()));
        }
        let row = |result: &PointResult| match result {
            PointResult::Figure(figure, unit, value) => {
                format!("{start},{},{},{value},\n", field(figure), field(unit))
            }
            PointResult::NoDrive(why) => format!("{start},,,,{}\n", field(why)),
        };
        results.iter().map(row).collect()
    }
}

/// CSV (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "../tests/unit/sweep.rs"]
mod tests;
