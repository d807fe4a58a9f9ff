//! A static site of many runs ([`Library`]): a table of all drives, a page per drive with the
//! history of its figures, and two drives side by side. Pages link to each other by relative paths,
//! load nothing, and work from a file system.

mod drive;
mod history;
mod index;
mod shell;

use std::collections::BTreeMap;

use assay_analysis::cohort::observe::{Origin, serial_of};
use assay_stats::compare::Better;
use assay_store::model::DriveRecord;
use assay_store::read::Run;

use crate::cohort::observations;
use crate::format::slug;

/// First bytes of every page, by which a later site knows its own.
pub const HEAD: &str = "<!DOCTYPE html><!-- assay library -->";

/// Drives, from run folders that are read one after the other.
#[derive(Debug, Default)]
pub struct Library {
    drives: BTreeMap<Key, LibraryDrive>,
}

/// What makes two drives the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    model: String,
    serial: String,
    simulated: bool,
}

#[derive(Debug, Default)]
struct LibraryDrive {
    /// As its newest run has it.
    label: String,
    model: String,
    serial: String,
    firmware: String,
    capacity_bytes: u64,
    simulated: bool,
    runs: Vec<LibraryRun>,
    /// By name.
    series: BTreeMap<String, Series>,
}

#[derive(Clone, Debug)]
struct LibraryRun {
    /// RFC 3339 in UTC.
    began: String,
    /// Name of the run folder.
    folder: String,
    suite: String,
    firmware: String,
    /// Programs of imported results.
    imported: Vec<String>,
    verdicts: Vec<&'static str>,
    warnings: usize,
    finished_cells: usize,
}

/// A figure of a drive over its runs.
#[derive(Clone, Debug, Default)]
struct Series {
    unit: String,
    better: Option<Better>,
    /// In the order of time after [`Library::finish`].
    points: Vec<Point>,
}

#[derive(Clone, Debug, PartialEq)]
struct Point {
    began: String,
    firmware: String,
    value: f64,
}

/// A file of the site.
#[derive(Clone, Debug, PartialEq)]
pub struct SitePage {
    /// Below the site's folder, with `/`.
    pub path: String,
    pub html: String,
}

impl Library {
    /// Adds the drives of a run; of a run that was added before, nothing.
    pub fn add(&mut self, run: &Run) {
        let folder = run.path.file_name().unwrap_or_default();
        let folder = folder.to_string_lossy().into_owned();
        for (number, record) in run.manifest.drives.iter().enumerate() {
            let serial = serial_of(record);
            let key = Key {
                model: record.model.trim().to_owned(),
                serial: serial.clone(),
                simulated: record.simulated,
            };
            let drive = self.drives.entry(key).or_default();
            let newest = drive.runs.iter().map(|run| &run.began).max();
            if newest.is_none_or(|newest| *newest <= run.manifest.created) {
                drive.identify(record, &serial);
            }
            drive.runs.push(LibraryRun::new(run, number, folder.clone()));
        }
        for observation in observations(run, &Origin::default()) {
            let key = Key {
                model: observation.model.trim().to_owned(),
                serial: observation.serial,
                simulated: observation.simulated,
            };
            let Some(drive) = self.drives.get_mut(&key) else {
                continue;
            };
            let series = drive.series.entry(observation.figure).or_default();
            series.unit = observation.unit;
            series.better = observation.better;
            series.points.push(Point {
                began: observation.began,
                firmware: observation.firmware,
                value: observation.value,
            });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.drives.is_empty()
    }

    /// Number of drives.
    pub fn len(&self) -> usize {
        self.drives.len()
    }

    /// Every page, the table of drives first.
    pub fn finish(mut self) -> impl Iterator<Item = SitePage> {
        for drive in self.drives.values_mut() {
            drive.runs.sort_by(|a, b| a.began.cmp(&b.began));
            for series in drive.series.values_mut() {
                series.points.sort_by(|a, b| a.began.cmp(&b.began));
            }
        }
        let drives: Vec<LibraryDrive> = self.drives.into_values().collect();
        let files = files(&drives);
        let index = SitePage { path: "index.html".to_owned(), html: index::page(&drives, &files) };
        let pair = SitePage { path: "pair.html".to_owned(), html: index::pair(&drives) };
        let each = drives
            .into_iter()
            .zip(files)
            .map(|(drive, file)| SitePage { html: drive::page(&drive), path: file });
        [index, pair].into_iter().chain(each)
    }
}

/// A file for each drive, by model and serial.
fn files(drives: &[LibraryDrive]) -> Vec<String> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut file = |drive: &LibraryDrive| {
        let name = slug(&format!("{}-{}", drive.title(), drive.serial));
        let name: String = name.chars().take(80).collect();
        let count = taken.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => format!("drives/{name}.html"),
            n => format!("drives/{name}--{n}.html"),
        }
    };
    drives.iter().map(&mut file).collect()
}

impl LibraryDrive {
    fn identify(&mut self, record: &DriveRecord, serial: &str) {
        self.label.clone_from(&record.label);
        // A simulated drive's is marked beside its name.
        let model = record.model.trim().trim_end_matches(" (simulated)");
        model.clone_into(&mut self.model);
        serial.clone_into(&mut self.serial);
        record.firmware.trim().clone_into(&mut self.firmware);
        self.capacity_bytes = record.capacity_bytes;
        self.simulated = record.simulated;
    }

    /// The model, or the label of a drive without one.
    fn title(&self) -> &str {
        match self.model.is_empty() {
            true => &self.label,
            false => &self.model,
        }
    }

    /// Title and serial, which tell drives of one model apart.
    fn name(&self) -> String {
        format!("{}, {}", self.title(), self.serial)
    }
}

impl LibraryRun {
    fn new(run: &Run, drive: usize, folder: String) -> LibraryRun {
        let finished = |cell: &&assay_store::read::CellRecord| {
            cell.state == assay_store::read::CellState::Finished
                && cell.plan.drives.contains(&drive)
        };
        let of_drive = |warning: &&assay_store::model::Warning| {
            warning.drive.is_none_or(|number| number == drive)
        };
        let verdict = run.verdicts.get(drive).and_then(Option::as_ref);
        let imported = run.manifest.imported.as_ref();
        LibraryRun {
            began: run.manifest.created.clone(),
            folder,
            suite: run.manifest.suite.title.clone(),
            firmware: run.manifest.drives[drive].firmware.trim().to_owned(),
            imported: imported.map_or_else(Vec::new, |imported| imported.tools.clone()),
            verdicts: verdict
                .iter()
                .map(|verdict| crate::html::board::verdict_style(verdict.result).2)
                .collect(),
            warnings: run.warnings.iter().filter(of_drive).count(),
            finished_cells: run.cells.iter().filter(finished).count(),
        }
    }
}

impl Series {
    fn latest(&self) -> Option<f64> {
        self.points.last().map(|point| point.value)
    }
}

#[cfg(test)]
#[path = "../tests/unit/library.rs"]
mod tests;
