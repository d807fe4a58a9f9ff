//! Reports of a cohort: many drives that ran the same suites. The conclusions are those of
//! `assay_analysis::cohort`; here they are shown on a page ([`html()`]) and in the terminal
//! ([`text()`]).

mod drift;
mod html;
mod lines;
mod outline;
mod strip;
mod tables;
mod text;
mod words;

pub use html::html;
pub use text::text;

use assay_analysis::cohort::Observation;
use assay_analysis::cohort::observe::{self, Origin};
use assay_store::read::Run;

use crate::drive_set::DriveSet;
use crate::grid;
use crate::scoreboard;

/// All figures of a run: the headline metrics of its suite, then those of its cells
/// ([`observe::of_run`]). A headline metric of a cell that was interrupted, or not steady where it
/// should be, is left out.
pub fn observations(run: &Run, origin: &Origin) -> Vec<Observation> {
    let mut found = headlines(run, origin);
    found.extend(observe::of_run(run, origin));
    found
}

/// The headline metrics of a run's suite, as on the scoreboard of its report.
pub fn headlines(run: &Run, origin: &Origin) -> Vec<Observation> {
    let set = DriveSet::new(std::slice::from_ref(run));
    let sections = grid::sections(&set);
    let metrics = scoreboard::metrics(&set, &sections, &run.manifest.suite.name);
    observe::headlines(run, origin, &metrics)
}
