//! Sweeps: many simulated drives that differ in chosen numbers of a profile, measured by the same suites.
//!
//! # Mechanism
//! A file with a section `[sweep]` becomes a checked [`Sweep`]: a matrix of values, each combination `repeats` times. A [`Point`] follows
//! from its index alone, its seed too, so results do not depend on who measures which point when. Tasks are chunks of consecutive
//! points. The result of a chunk is one file that appears complete or not at all ([`Sweep::store_chunk`]); two tasks that measure the
//! same chunk write the same bytes, so a chunk needs no claim. [`Sweep::join`] makes one table of all.
//!
//! # Non-goals
//! Measuring a point: that is `assay run`, called by the command. Fitting: see `assay_calibrate`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assay_units::rng::mix;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::PlanId;
use crate::name::{NameError, PLAN_HASH_DIGITS};

/// Points of a chunk if the file does not say: with a shortened suite about a minute.
pub const DEFAULT_CHUNK_POINTS: u64 = 60;
/// Most points of a sweep: a hundred million take 24,000 core hours of `quick`.
pub const MAX_POINTS: u64 = 100_000_000;

/// A sweep that cannot be used, measured or joined.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The text is no sweep.
    #[error("{path}: {why}")]
    Invalid {
        /// The file.
        path: String,
        /// What to write.
        why: String,
    },
    /// The name of the sweep.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no such chunk.
    #[error("there is no chunk {chunk}: the sweep has the chunks 0 to {last}")]
    NoSuchChunk {
        /// The number asked for.
        chunk: u64,
        /// The last one.
        last: u64,
    },
    /// Chunks are not measured yet.
    #[error(
        "{missing} of {all} chunks are not measured yet, the first of them chunk {first}; `assay fleet sweep FILE` measures them"
    )]
    Incomplete {
        /// Chunks without a result.
        missing: u64,
        /// Chunks of the sweep.
        all: u64,
        /// The first without a result.
        first: u64,
    },
    /// A file of the shared store cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// A checked sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Its name.
    pub name: String,
    /// What measures each point, in this order.
    pub suites: Vec<SweepSuite>,
    /// The points.
    pub sweep: Matrix,
    /// Factor on durations, and the seed.
    #[serde(default)]
    pub run: SweepRun,
    /// Where the results go.
    pub store: SweepStore,
}

/// A suite of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSuite {
    /// Name of a built-in suite, or the path of a suite file.
    pub suite: String,
    /// Parameters, as `--set`.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
}

/// The points of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// A built-in profile, or the path of a profile file.
    pub profile: String,
    /// Each point is another drive of this lot.
    pub lot: Option<u64>,
    /// Points of each combination, which differ in their seeds.
    #[serde(default = "one")]
    pub repeats: u64,
    /// Points of a task.
    #[serde(default = "default_chunk")]
    pub chunk: u64,
    /// Values by dotted path of a number of the profile; every combination is measured.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<toml::Value>>,
}

/// How points are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SweepRun {
    /// Factor on durations.
    pub scale: f64,
    /// Seed of the sweep.
    pub seed: u64,
}

impl Default for SweepRun {
    fn default() -> SweepRun {
        SweepRun {
            scale: 1.0,
            seed: 1,
        }
    }
}

/// Where the results go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepStore {
    /// A directory that all hosts see.
    pub at: PathBuf,
}

fn one() -> u64 {
    1
}

fn default_chunk() -> u64 {
    DEFAULT_CHUNK_POINTS
}

/// A simulated drive of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Number in the sweep, from 0.
    pub index: u64,
    /// Seed of the drive and of the run.
    pub seed: u64,
    /// The numbers that differ from the profile, by dotted path.
    pub values: BTreeMap<String, toml::Value>,
}

/// A figure of a point, or why it has none.
#[derive(Clone, Debug, PartialEq)]
pub enum PointResult {
    /// Name, unit and value.
    Figure(String, String, f64),
    /// The combination is no valid drive: why.
    NoDrive(String),
}

impl Sweep {
    /// Reads a sweep; `file` is its name in errors.
    ///
    /// # Errors
    /// [`SweepError::Invalid`] with the key and what to write; [`SweepError::Name`].
    pub fn parse(file: &str, text: &str) -> Result<Sweep, SweepError> {
        let invalid = |why: String| SweepError::Invalid {
            path: file.to_owned(),
            why,
        };
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
            .try_fold(matrix.repeats, |points, values| {
                points.checked_mul(values.len() as u64)
            });
        if points.is_none_or(|points| points > MAX_POINTS) {
            return Err(invalid(format!(
                "the sweep has more than {MAX_POINTS} points; take fewer values or repeats"
            )));
        }
        if !(sweep.run.scale > 0.0 && sweep.run.scale.is_finite()) {
            return Err(invalid("run.scale is a number above 0".to_owned()));
        }
        crate::name::PlanId::parse(&format!("{}-{}", sweep.name, "0".repeat(PLAN_HASH_DIGITS)))?;
        Ok(sweep)
    }

    /// Number of points.
    pub fn points(&self) -> u64 {
        let combinations = self.sweep.keys.values().map(|values| values.len() as u64);
        combinations.product::<u64>() * self.sweep.repeats
    }

    /// A point by its number, below [`Sweep::points`]: the repeats vary fastest, then the last key.
    pub fn point(&self, index: u64) -> Point {
        assert!(index < self.points(), "the sweep has no point {index}");
        let mut rest = index / self.sweep.repeats;
        let mut values = BTreeMap::new();
        for (key, all) in self.sweep.keys.iter().rev() {
            let count = all.len() as u64;
            values.insert(key.clone(), all[(rest % count) as usize].clone());
            rest /= count;
        }
        Point {
            index,
            seed: mix(self.run.seed, index),
            values,
        }
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.points().div_ceil(self.sweep.chunk)
    }

    /// The points of a chunk.
    ///
    /// # Errors
    /// [`SweepError::NoSuchChunk`].
    pub fn chunk(&self, chunk: u64) -> Result<Range<u64>, SweepError> {
        let last = self.chunks() - 1;
        if chunk > last {
            return Err(SweepError::NoSuchChunk { chunk, last });
        }
        let first = chunk * self.sweep.chunk;
        Ok(first..self.points().min(first + self.sweep.chunk))
    }

    /// Its id: the name and a hash of what its results depend on, which are the points but not their chunks, the text of the profile,
    /// and the version of the tool.
    ///
    /// # Errors
    /// Never: the name was checked.
    pub fn id(&self, profile: &str, version: &str) -> Result<PlanId, SweepError> {
        let matrix = &self.sweep;
        let parts = serde_json::json!({
            "suites": self.suites, "lot": matrix.lot, "repeats": matrix.repeats, "keys": matrix.keys,
            "run": self.run, "profile": profile, "version": version,
        });
        let hash = Sha256::digest(parts.to_string().as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let id = format!("{}-{}", self.name, &hash[..PLAN_HASH_DIGITS]);
        Ok(PlanId::parse(&id)?)
    }

    /// The columns of the table.
    pub fn header(&self) -> String {
        let mut line = "point,seed".to_owned();
        for key in self.sweep.keys.keys() {
            let _ = write!(line, ",{}", field(key));
        }
        line + ",figure,unit,value,no_drive_because\n"
    }

    /// The rows of a point.
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

    /// The file of a chunk. Its name has the points, so that chunks of another length are other files.
    fn file(&self, id: &PlanId, points: &Range<u64>) -> PathBuf {
        let folder = self.store.at.join("sweeps").join(id.as_str());
        folder.join(format!("points-{:09}-{:09}.csv", points.start, points.end))
    }

    /// Whether a chunk has its result.
    ///
    /// # Errors
    /// [`SweepError::NoSuchChunk`].
    pub fn is_measured(&self, id: &PlanId, chunk: u64) -> Result<bool, SweepError> {
        Ok(self.file(id, &self.chunk(chunk)?).exists())
    }

    /// Stores the rows of a chunk, durably: the file appears complete or not at all.
    ///
    /// # Errors
    /// [`SweepError::File`], [`SweepError::NoSuchChunk`].
    pub fn store_chunk(&self, id: &PlanId, chunk: u64, rows: &str) -> Result<(), SweepError> {
        let path = self.file(id, &self.chunk(chunk)?);
        store(&path, rows).map_err(|source| SweepError::File {
            path: path.display().to_string(),
            source,
        })
    }

    /// One table of all chunks.
    ///
    /// # Errors
    /// [`SweepError::Incomplete`] while results are missing; [`SweepError::File`].
    pub fn join(&self, id: &PlanId) -> Result<String, SweepError> {
        let mut missing = Vec::new();
        let mut table = self.header();
        for chunk in 0..self.chunks() {
            let path = self.file(id, &self.chunk(chunk)?);
            match std::fs::read_to_string(&path) {
                Ok(rows) => table.push_str(&rows),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing.push(chunk),
                Err(source) => {
                    let path = path.display().to_string();
                    return Err(SweepError::File { path, source });
                }
            }
        }
        match missing.first() {
            None => Ok(table),
            Some(&first) => Err(SweepError::Incomplete {
                missing: missing.len() as u64,
                all: self.chunks(),
                first,
            }),
        }
    }
}

fn store(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Unique per writer: two tasks of a chunk do not write into one file.
    let host = rustix::system::uname();
    let unique = format!(
        "{}.{}.{}.part",
        path.file_name().unwrap_or_default().to_string_lossy(),
        host.nodename().to_string_lossy(),
        std::process::id()
    );
    let part = folder.join(unique);
    let mut file = std::fs::File::create(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    std::fs::File::open(folder)?.sync_all()
}

/// A field of CSV (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "../tests/unit/sweep.rs"]
mod tests;
