//! The drives of all runs on one page, each with a name no other has.

use assay_store::model::Drive;
use assay_store::read::Run;

/// One drive of one run.
#[derive(Clone, Debug)]
pub struct Entrant<'a> {
    /// Which run.
    pub run: usize,
    /// Index into its manifest's drives.
    pub drive: usize,
    /// What the manifest knows.
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

/// All drives of all runs, in order.
#[derive(Clone, Debug)]
pub struct Lineup<'a> {
    /// The runs.
    pub runs: &'a [Run],
    /// Their drives.
    pub drives: Vec<Entrant<'a>>,
}

impl<'a> Lineup<'a> {
    /// Of runs.
    pub fn new(runs: &'a [Run]) -> Lineup<'a> {
        let mut drives = Vec::new();
        for (run, r) in runs.iter().enumerate() {
            for (drive, info) in r.manifest.drives.iter().enumerate() {
                let label = if info.label.trim().is_empty() {
                    &info.spec
                } else {
                    &info.label
                };
                drives.push(Entrant {
                    run,
                    drive,
                    info,
                    name: label.clone(),
                });
            }
        }
        let labels: Vec<String> = drives.iter().map(|d| d.name.clone()).collect();
        for (i, entrant) in drives.iter_mut().enumerate() {
            let twin = |other: &usize| *other != i && labels[*other] == labels[i];
            if (0..labels.len()).any(|other| twin(&other)) {
                entrant.name = format!("{}, run {}", entrant.name, entrant.run + 1);
            }
        }
        Lineup { runs, drives }
    }

    /// Position of a run's drive; `None` for an index its manifest does not have (a damaged folder).
    pub fn position(&self, run: usize, drive: usize) -> Option<usize> {
        self.drives
            .iter()
            .position(|d| d.run == run && d.drive == drive)
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
