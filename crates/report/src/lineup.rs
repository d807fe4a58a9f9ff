//! The drives of all runs on one page, each with a name no other has.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use assay_store::model::Drive;
use assay_store::read::Run;

use crate::charts::phases::Phase;
use crate::grid::Point;

/// One drive: of one run, or of runs of different suites.
#[derive(Clone, Debug)]
pub struct Entrant<'a> {
    /// Where it was measured: run, and index into that run's drives. Never empty, and never twice with the same suite.
    pub parts: Vec<(usize, usize)>,
    /// What the first manifest knows.
    pub info: &'a Drive,
    /// Its name on this page: the label, and the run where another run has a drive of that label.
    pub name: String,
}

impl Entrant<'_> {
    /// The name with the word that must stand beside every simulated figure.
    pub fn full_name(&self) -> String {
        if self.info.simulated {
            format!("{} (simulated)", self.name)
        } else {
            self.name.clone()
        }
    }
}

/// A point by its run, its cell's id and its drive's position.
type PointKey = (usize, String, usize);

/// All drives of all runs, in order.
#[derive(Clone, Debug)]
pub struct Lineup<'a> {
    /// The runs.
    pub runs: &'a [Run],
    /// Their drives.
    pub drives: Vec<Entrant<'a>>,
    /// Phases that were concluded already: charts, tables and cards ask for the same ones.
    concluded: RefCell<BTreeMap<PointKey, Rc<Vec<Phase>>>>,
}

impl<'a> Lineup<'a> {
    /// Of runs.
    pub fn new(runs: &'a [Run]) -> Lineup<'a> {
        let mut drives: Vec<Entrant<'a>> = Vec::new();
        for (run, r) in runs.iter().enumerate() {
            for (drive, info) in r.manifest.drives.iter().enumerate() {
                let suite = &r.manifest.suite.name;
                let same = |d: &&mut Entrant<'a>| {
                    let of_suite =
                        |(other, _): &(usize, usize)| runs[*other].manifest.suite.name == *suite;
                    d.info.is_same(info)
                        && d.info.label == info.label
                        && !d.parts.iter().any(of_suite)
                };
                if let Some(known) = drives.iter_mut().find(same) {
                    known.parts.push((run, drive));
                    continue;
                }
                let label = if info.label.trim().is_empty() {
                    &info.spec
                } else {
                    &info.label
                };
                drives.push(Entrant {
                    parts: vec![(run, drive)],
                    info,
                    name: label.clone(),
                });
            }
        }
        let labels: Vec<String> = drives.iter().map(|d| d.name.clone()).collect();
        for (i, entrant) in drives.iter_mut().enumerate() {
            let twin = |other: &usize| *other != i && labels[*other] == labels[i];
            if (0..labels.len()).any(|other| twin(&other)) {
                let run = |part: Option<&(usize, usize)>| part.map_or(0, |p| p.0 + 1);
                let (first, last) = (run(entrant.parts.first()), run(entrant.parts.last()));
                entrant.name = if first == last {
                    format!("{}, run {first}", entrant.name)
                } else {
                    format!("{}, runs {first} to {last}", entrant.name)
                };
            }
        }
        Lineup {
            runs,
            drives,
            concluded: RefCell::default(),
        }
    }

    /// Position of a run's drive; `None` for an index its manifest does not have (a damaged folder).
    pub fn position(&self, run: usize, drive: usize) -> Option<usize> {
        self.drives
            .iter()
            .position(|d| d.parts.contains(&(run, drive)))
    }

    /// The phases of a point: found by `conclude` from its run and the drive's index there, once.
    pub fn phases(
        &self,
        point: &Point<'_>,
        conclude: impl FnOnce(&Run, usize) -> Vec<Phase>,
    ) -> Rc<Vec<Phase>> {
        let key = (point.run, point.plan().id.clone(), point.drive);
        if let Some(known) = self.concluded.borrow().get(&key) {
            return known.clone();
        }
        let index = self.index_in(point.run, point.drive);
        let phases = Rc::new(index.map_or_else(Vec::new, |i| conclude(&self.runs[point.run], i)));
        self.concluded.borrow_mut().insert(key, phases.clone());
        phases
    }

    /// A drive's index in a run's manifest.
    pub fn index_in(&self, run: usize, position: usize) -> Option<usize> {
        let parts = self.drives.get(position)?.parts.iter();
        parts.copied().find(|p| p.0 == run).map(|p| p.1)
    }

    /// Is any of them simulated?
    pub fn any_simulated(&self) -> bool {
        self.drives.iter().any(|d| d.info.simulated)
    }

    /// Are all of them simulated?
    pub fn all_simulated(&self) -> bool {
        !self.drives.is_empty() && self.drives.iter().all(|d| d.info.simulated)
    }
}
