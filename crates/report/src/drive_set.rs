//! The drives of all runs in a report, with unique names.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use assay_store::model::DriveRecord;
use assay_store::read::Run;

use crate::charts::phases::PhaseBand;
use crate::grid::Point;
use crate::table::Heading;

/// A drive of one run, or of several runs of different suites.
#[derive(Clone, Debug)]
pub struct ReportDrive<'a> {
    /// Runs that measured it, with its index in each run's manifest. Never empty; no suite occurs twice.
    pub origins: Vec<(usize, usize)>,
    /// Its entry in the first manifest.
    pub info: &'a DriveRecord,
    /// Unique name: the label, with the run number where several drives have that label.
    pub name: String,
}

impl ReportDrive<'_> {
    /// The name, marked "(simulated)" for a simulated drive.
    pub fn full_name(&self) -> String {
        if self.info.simulated {
            format!("{} (simulated)", self.name)
        } else {
            self.name.clone()
        }
    }

    /// Its name as a table heading.
    pub fn heading(&self) -> Heading {
        Heading {
            text: self.name.clone(),
            simulated: self.info.simulated,
        }
    }
}

/// Run, cell id and drive position of a point.
type PointKey = (usize, String, usize);

/// All drives of all runs, in order.
#[derive(Clone, Debug)]
pub struct DriveSet<'a> {
    /// The runs.
    pub runs: &'a [Run],
    /// Their drives.
    pub drives: Vec<ReportDrive<'a>>,
    /// Attributed phases per point: charts, tables and cards share them.
    phases: RefCell<BTreeMap<PointKey, Rc<Vec<PhaseBand>>>>,
}

impl<'a> DriveSet<'a> {
    /// Collects the drives of `runs`.
    pub fn new(runs: &'a [Run]) -> DriveSet<'a> {
        let mut drives: Vec<ReportDrive<'a>> = Vec::new();
        for (run, r) in runs.iter().enumerate() {
            for (drive, info) in r.manifest.drives.iter().enumerate() {
                let suite = &r.manifest.suite.name;
                let of_suite =
                    |(other, _): &(usize, usize)| runs[*other].manifest.suite.name == *suite;
                let same = |d: &&mut ReportDrive<'a>| {
                    d.info.is_same(info)
                        && d.info.label == info.label
                        && !d.origins.iter().any(of_suite)
                };
                if let Some(known) = drives.iter_mut().find(same) {
                    known.origins.push((run, drive));
                    continue;
                }
                let unlabelled = info.label.trim().is_empty();
                drives.push(ReportDrive {
                    origins: vec![(run, drive)],
                    info,
                    name: if unlabelled {
                        info.spec.clone()
                    } else {
                        info.label.clone()
                    },
                });
            }
        }
        let labels: Vec<String> = drives.iter().map(|d| d.name.clone()).collect();
        for drive in &mut drives {
            if labels.iter().filter(|label| **label == drive.name).count() < 2 {
                continue;
            }
            let run = |origin: Option<&(usize, usize)>| origin.map_or(0, |o| o.0 + 1);
            let (first, last) = (run(drive.origins.first()), run(drive.origins.last()));
            drive.name = if first == last {
                format!("{}, run {first}", drive.name)
            } else {
                format!("{}, runs {first} to {last}", drive.name)
            };
        }
        DriveSet {
            runs,
            drives,
            phases: RefCell::default(),
        }
    }

    /// Position of a run's drive; `None` for an index that the manifest does not have (a damaged folder).
    pub fn position(&self, run: usize, drive: usize) -> Option<usize> {
        self.drives
            .iter()
            .position(|d| d.origins.contains(&(run, drive)))
    }

    /// The phases of a point, computed by `attribute` from its run and the drive's index there on the first call.
    pub fn phases(
        &self,
        point: &Point<'_>,
        attribute: impl FnOnce(&Run, usize) -> Vec<PhaseBand>,
    ) -> Rc<Vec<PhaseBand>> {
        let key = (point.run, point.plan().id.clone(), point.drive);
        if let Some(known) = self.phases.borrow().get(&key) {
            return known.clone();
        }
        let index = self.index_in(point.run, point.drive);
        let phases = Rc::new(index.map_or_else(Vec::new, |i| attribute(&self.runs[point.run], i)));
        self.phases.borrow_mut().insert(key, phases.clone());
        phases
    }

    /// A drive's index in a run's manifest.
    pub fn index_in(&self, run: usize, position: usize) -> Option<usize> {
        let mut origins = self.drives.get(position)?.origins.iter();
        origins.find(|o| o.0 == run).map(|o| o.1)
    }

    /// The name of a drive with its marker.
    pub fn full_name(&self, position: usize) -> String {
        self.drives[position].full_name()
    }

    /// True when at least one drive is simulated.
    pub fn any_simulated(&self) -> bool {
        self.drives.iter().any(|d| d.info.simulated)
    }

    /// True when all drives are simulated.
    pub fn all_simulated(&self) -> bool {
        !self.drives.is_empty() && self.drives.iter().all(|d| d.info.simulated)
    }
}
