//! Section `[sweep]`: each point is a profile file and a child `assay run` per suite.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_analysis::cohort::observe::{Origin, of_run};
use assay_calibrate::profile_text::with_values;
use assay_sim_host::profile_file;
use assay_ssd::{Profile, ProfileError};
use assay_store::Run;

use super::{Point, PointResult, Sweep, SweepError};
use crate::chunks::Chunks;

/// Longest part of a failed run's messages in an error.
const MESSAGE_BYTES: usize = 2000;

/// A sweep whose points can be measured here.
pub struct Points {
    sweep: Sweep,
    profile: String,
    /// The sweep's suite files are relative to this folder.
    folder: PathBuf,
}

impl Points {
    /// `file` is the sweep's name in errors.
    pub fn open(sweep: Sweep, file: &str, folder: &Path) -> Result<(Chunks, Points), SweepError> {
        let profile = match profile_file::is_file(&sweep.sweep.profile) {
            true => folder.join(&sweep.sweep.profile).display().to_string(),
            false => sweep.sweep.profile.clone(),
        };
        let (profile, _) = profile_file::load(&profile)?;
        for (key, values) in &sweep.sweep.keys {
            for value in values {
                let text = with_values(&profile, &BTreeMap::from([(key.clone(), value.clone())]))?;
                // A value of another form than the profile's is a mistake; one that makes no drive
                // can be a corner of the matrix.
                if let Err(ProfileError::Syntax(why)) = Profile::from_toml(&text) {
                    let why = format!(
                        "sweep.keys.\"{key}\" has {value}, which has another form than in the \
                     profile: {}",
                        why.trim_end()
                    );
                    let path = file.to_owned();
                    return Err(SweepError::Invalid { path, why });
                }
            }
        }
        let id = sweep.id(&profile, env!("CARGO_PKG_VERSION"))?;
        let (points, length) = (sweep.points(), sweep.sweep.chunk);
        let chunks = Chunks::open(&sweep.store.at, id, "points", points, length)?;
        let points = Points { sweep, profile, folder: folder.to_owned() };
        Ok((chunks, points))
    }

    /// The table of all points from their rows.
    pub fn table(&self, rows: &str) -> String {
        self.sweep.header() + rows
    }

    /// `jobs` child processes measure at a time; rows are in the order of the points whatever their
    /// number.
    pub fn compute(&self, points: Range<u64>, jobs: usize) -> Result<String, SweepError> {
        let next = AtomicU64::new(points.start);
        let rows: Mutex<BTreeMap<u64, Result<String, SweepError>>> = Mutex::default();
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
                thread.join().expect("a thread that panics ends the command");
            }
        });
        let rows = rows.into_inner().expect("no thread holds the lock");
        rows.into_values().collect()
    }

    fn point(&self, point: &Point) -> Result<Vec<PointResult>, SweepError> {
        let text = with_values(&self.profile, &point.values)?;
        if let Err(error) = Profile::from_toml(&text) {
            return Ok(vec![PointResult::NoDrive(error.to_string())]);
        }
        let folder = tempfile::tempdir().map_err(SweepError::system("make a temporary folder"))?;
        let profile = folder.path().join("profile.toml");
        assay_output::replace(&profile, text.as_bytes())
            .map_err(SweepError::system("write a profile"))?;
        let mut drive = format!("sim:{},seed={}", profile.display(), point.seed);
        if let Some(lot) = self.sweep.sweep.lot {
            drive += &format!(",lot={lot}");
        }
        let program = std::env::current_exe();
        let program = program.map_err(SweepError::system("find this program"))?;
        let mut results = Vec::new();
        for (number, suite) in self.sweep.suites.iter().enumerate() {
            let name = match suite.suite.ends_with(".toml") {
                true => self.folder.join(&suite.suite).display().to_string(),
                false => suite.suite.clone(),
            };
            let out = folder.path().join(format!("run-{number}"));
            let mut command = Command::new(&program);
            command.arg("run").arg(&name).arg(&drive);
            for (key, value) in &suite.set {
                command.arg("--set").arg(format!("{key}={}", plain(value.as_str(), value)));
            }
            command.args(["--seed", &point.seed.to_string()]);
            command.args(["--scale", &self.sweep.run.scale.to_string()]);
            command.args(["--no-live", "--json", "--out"]).arg(&out);
            let done = command.stdin(Stdio::null()).output();
            let done = done.map_err(SweepError::system("start `assay run`"))?;
            if !matches!(done.status.code(), Some(0 | 1)) {
                let end = &done.stderr[done.stderr.len().saturating_sub(MESSAGE_BYTES)..];
                let message = String::from_utf8_lossy(end);
                return Err(SweepError::Point {
                    index: point.index,
                    sweep: self.sweep.name.clone(),
                    command: format!("assay run {name} {drive}"),
                    status: done.status,
                    message: message.trim_end().to_owned(),
                });
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
