//! The drives of all runs in a report, with unique names.

use assay_analysis::left_state::{self, LeftState};
use assay_store::model::{DriveRecord, Warning};
use assay_store::read::Run;

use crate::table::Heading;

/// Fewer runs of one drive are compared with each other.
const FEWEST_REPEATS: usize = 5;

/// A drive of one run, or of several runs of different suites.
#[derive(Clone, Debug)]
pub struct ReportDrive<'a> {
    /// Runs that measured it, with its index in each run's manifest. Never empty; no suite occurs
    /// twice.
    pub origins: Vec<(usize, usize)>,
    /// Its entry in the first manifest.
    pub info: &'a DriveRecord,
    /// Unique name: the label, with the run number where several drives have that label.
    pub heading: Heading,
}

/// All drives of all runs, in order.
#[derive(Clone, Debug)]
pub struct DriveSet<'a> {
    pub runs: &'a [Run],
    pub drives: Vec<ReportDrive<'a>>,
}

impl<'a> DriveSet<'a> {
    /// How far from steady state the preparations left the drives.
    pub fn left_states(&self) -> Vec<(&Heading, LeftState)> {
        let mut found = Vec::new();
        for drive in &self.drives {
            for &(run, index) in &drive.origins {
                let left = left_state::of_drive(&self.runs[run], index);
                found.extend(left.into_iter().map(|left| (&drive.heading, left)));
            }
        }
        found
    }

    pub fn new(runs: &'a [Run]) -> DriveSet<'a> {
        let mut drives: Vec<ReportDrive<'a>> = Vec::new();
        for (run, r) in runs.iter().enumerate() {
            let suite = |run: &Run| run.manifest.suite.name.clone();
            let of_suite = |(other, _): &(usize, usize)| suite(&runs[*other]) == suite(r);
            for (drive, info) in r.manifest.drives.iter().enumerate() {
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
                let name = if unlabelled { &info.spec } else { &info.label };
                drives.push(ReportDrive {
                    origins: vec![(run, drive)],
                    info,
                    heading: Heading { text: name.clone(), simulated: info.simulated },
                });
            }
        }
        let labels: Vec<String> = drives.iter().map(|d| d.heading.text.clone()).collect();
        for drive in &mut drives {
            let name = &mut drive.heading.text;
            if labels.iter().filter(|label| *label == name).count() < 2 {
                continue;
            }
            let run = |origin: Option<&(usize, usize)>| origin.map_or(0, |o| o.0 + 1);
            match (run(drive.origins.first()), run(drive.origins.last())) {
                (first, last) if first == last => name.push_str(&format!(", run {first}")),
                (first, last) => name.push_str(&format!(", runs {first} to {last}")),
            }
        }
        DriveSet { runs, drives }
    }

    /// Position of a run's drive; `None` for an index that the manifest does not have (a damaged
    /// folder).
    pub fn position(&self, run: usize, drive: usize) -> Option<usize> {
        let mut drives = self.drives.iter();
        drives.position(|d| d.origins.contains(&(run, drive)))
    }

    /// The name of a drive, marked "(simulated)" for a simulated one.
    pub fn full_name(&self, position: usize) -> String {
        self.drives[position].heading.to_string()
    }

    /// Its name in charts: as [`DriveSet::full_name`], unless every drive is simulated and the
    /// chart is marked instead.
    pub fn chart_name(&self, position: usize) -> String {
        match self.all_simulated() {
            true => self.drives[position].heading.text.clone(),
            false => self.full_name(position),
        }
    }

    /// The warnings of all runs, each with the position of its run.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &'a Warning)> {
        let runs = self.runs.iter().enumerate();
        runs.flat_map(|(run, r)| r.warnings.iter().map(move |warning| (run, warning)))
    }

    /// True when the drives at these positions are runs of one drive, enough for a distribution.
    pub fn are_repeats(&self, positions: &[usize]) -> bool {
        let mut drives = positions.iter().map(|d| self.drives[*d].info);
        let Some(first) = drives.next().filter(|_| positions.len() >= FEWEST_REPEATS) else {
            return false;
        };
        drives.all(|info| info.is_same(first) && info.label == first.label)
    }

    /// Positions in the order of the dates of their runs.
    pub fn by_date(&self, positions: &[usize]) -> Vec<usize> {
        let created = |drive: &usize| {
            let (run, _) = self.drives[*drive].origins[0];
            (&self.runs[run].manifest.created, run)
        };
        let mut sorted = positions.to_vec();
        sorted.sort_by_key(|drive| created(drive));
        sorted
    }
    pub fn any_simulated(&self) -> bool {
        self.drives.iter().any(|d| d.info.simulated)
    }
    pub fn all_simulated(&self) -> bool {
        !self.drives.is_empty() && self.drives.iter().all(|d| d.info.simulated)
    }
}
