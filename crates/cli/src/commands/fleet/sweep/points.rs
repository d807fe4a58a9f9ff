//! Section `[sweep]`: each point is a profile file and a child `assay run` per suite.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use assay_analysis::cohort::observe::{Origin, of_run};
use assay_calibrate::parameter::with_values;
use assay_fleet::chunks::Chunks;
use assay_fleet::sweep::{Point, PointResult, Sweep, SweepError};
use assay_sim_host::profile_file;
use assay_ssd::{Profile, ProfileError};
use assay_store::Run;
use assay_store::replace::check_replaceable;
use serde_json::Value;

use super::Units;

/// Longest part of a failed run's messages in an error.
const MESSAGE_BYTES: usize = 2000;

struct Task {
    sweep: Sweep,
    profile: String,
    /// The sweep's suite files are relative to this folder.
    folder: PathBuf,
}

pub(super) fn load(
    sweep: Sweep,
    file: &str,
    folder: &Path,
) -> anyhow::Result<(Chunks, Box<dyn Units>)> {
    let profile = match profile_file::is_file(&sweep.sweep.profile) {
        true => folder.join(&sweep.sweep.profile).display().to_string(),
        false => sweep.sweep.profile.clone(),
    };
    let (profile, _) = profile_file::load(&profile)?;
    for (key, values) in &sweep.sweep.keys {
        for value in values {
            let text = with_values(&profile, &BTreeMap::from([(key.clone(), value.clone())]))?;
            // A value of another form than the profile's is a mistake; one that makes no drive can
            // be a corner of the matrix.
            if let Err(ProfileError::Syntax(why)) = Profile::from_toml(&text) {
                let why = format!(
                    "sweep.keys.\"{key}\" has {value}, which has another form than in the \
                     profile: {}",
                    why.trim_end()
                );
                let path = file.to_owned();
                return Err(SweepError::Invalid { path, why }.into());
            }
        }
    }
    let id = sweep.id(&profile, env!("CARGO_PKG_VERSION"))?;
    let (points, length) = (sweep.points(), sweep.sweep.chunk);
    let chunks = Chunks::open(&sweep.store.at, id, "points", points, length)?;
    let task = Task {
        sweep,
        profile,
        folder: folder.to_owned(),
    };
    Ok((chunks, Box::new(task)))
}

impl Units for Task {
    fn check_output(&self, output: &Path) -> anyhow::Result<()> {
        check_replaceable(output, "point,seed,")
    }

    fn write(&self, text: &str, output: &Path) -> anyhow::Result<(String, Value)> {
        let table = self.sweep.header() + text;
        crate::commands::write_atomically(output, &table)?;
        Ok((String::new(), Value::Null))
    }

    /// `jobs` child processes measure at a time; rows are in the order of the points whatever their
    /// number.
    fn compute(&self, points: Range<u64>, jobs: usize) -> anyhow::Result<String> {
        let next = AtomicU64::new(points.start);
        let rows: Mutex<BTreeMap<u64, anyhow::Result<String>>> = Mutex::default();
        let work = || loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= points.end {
                return;
            }
            let point = self.sweep.point(index);
            let result = self.point(&point);
            if result.is_err() {
                next.store(points.end, Ordering::Relaxed);
            }
            let mut rows = rows.lock().expect("a thread that panics ends the command");
            rows.insert(index, result.map(|found| self.sweep.rows(&point, &found)));
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                thread
                    .join()
                    .expect("a thread that panics ends the command");
            }
        });
        let rows = rows.into_inner().expect("no thread holds the lock");
        rows.into_values().collect()
    }
}

impl Task {
    fn point(&self, point: &Point) -> anyhow::Result<Vec<PointResult>> {
        let text = with_values(&self.profile, &point.values)?;
        if let Err(error) = Profile::from_toml(&text) {
            return Ok(vec![PointResult::NoDrive(error.to_string())]);
        }
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let profile = folder.path().join("profile.toml");
        assay_output::replace(&profile, text.as_bytes())
            .with_context(|| format!("cannot write {}", profile.display()))?;
        let mut drive = format!("sim:{},seed={}", profile.display(), point.seed);
        if let Some(lot) = self.sweep.sweep.lot {
            drive += &format!(",lot={lot}");
        }
        let mut results = Vec::new();
        for (number, suite) in self.sweep.suites.iter().enumerate() {
            let name = match suite.suite.ends_with(".toml") {
                true => self.folder.join(&suite.suite).display().to_string(),
                false => suite.suite.clone(),
            };
            let out = folder.path().join(format!("run-{number}"));
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("run").arg(&name).arg(&drive);
            for (key, value) in &suite.set {
                command
                    .arg("--set")
                    .arg(format!("{key}={}", plain(value.as_str(), value)));
            }
            command.args(["--seed", &point.seed.to_string()]);
            command.args(["--scale", &self.sweep.run.scale.to_string()]);
            command.args(["--no-live", "--json", "--out"]).arg(&out);
            let done = command.stdin(Stdio::null()).output()?;
            if !matches!(done.status.code(), Some(0 | 1)) {
                let end = &done.stderr[done.stderr.len().saturating_sub(MESSAGE_BYTES)..];
                let message = String::from_utf8_lossy(end);
                anyhow::bail!(
                    "point {} of the sweep {}: `assay run {name} {drive}` ended with {}: {}",
                    point.index,
                    self.sweep.name,
                    done.status,
                    message.trim_end()
                );
            }
            let figures = of_run(&Run::open(&out)?, &Origin::default());
            let figure = |o: assay_analysis::cohort::Observation| {
                PointResult::Figure(o.figure, o.unit, o.value)
            };
            results.extend(figures.into_iter().map(figure));
        }
        Ok(results)
    }
}

/// Text of a TOML value as `--set` takes it.
fn plain(text: Option<&str>, value: &impl ToString) -> String {
    text.map_or_else(|| value.to_string(), str::to_owned)
}
