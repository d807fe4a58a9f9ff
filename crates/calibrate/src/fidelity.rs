//! Every shipped profile beside everything that was published of its drive, at full length.

use assay_ssd::Profile;

use crate::CalibrateError;
use crate::measurement::Role;
use crate::residual::{ErrorSummary, Residuals};
use crate::shipped::{FIDELITY_HEADING, figures};
use crate::simulate::{Effort, simulate};

/// A profile and what was published of its drive.
#[derive(Clone, Debug)]
pub struct ProfileComparison {
    /// The profile's name.
    pub name: String,
    /// The drive, for people.
    pub title: String,
    /// Each figure beside the simulated one; those that no fit has seen are marked held out.
    pub residuals: Residuals,
}

/// Compare these profiles with what was published under their names; those of which nothing was are left out. `begun` is told each
/// name before its runs.
///
/// # Errors
/// When a profile makes no drive, or a drive fails an I/O.
pub fn compare(
    profiles: &[Profile],
    threads: usize,
    begun: &mut dyn FnMut(&str),
) -> Result<Vec<ProfileComparison>, CalibrateError> {
    let mut out = Vec::new();
    for profile in profiles {
        let name = &profile.name;
        let measurements = figures(name)?;
        if measurements.is_empty() {
            continue;
        }
        begun(name);
        let figures = simulate(profile, &measurements, Effort::Full, threads)?;
        out.push(ProfileComparison {
            name: name.clone(),
            title: profile.title.clone(),
            residuals: Residuals::new(&measurements, figures),
        });
    }
    Ok(out)
}

impl ProfileComparison {
    /// All figures summed up.
    pub fn summary(&self) -> ErrorSummary {
        ErrorSummary::of(&self.residuals.0)
    }

    /// Those that no fit has seen.
    pub fn predicted(&self) -> ErrorSummary {
        self.residuals.summary(Role::HeldOut)
    }
}

/// The errors of each profile as `reference/fidelity.csv` has them, which `assay list` shows.
pub fn table(all: &[ProfileComparison]) -> String {
    let mut out = format!("{FIDELITY_HEADING}\n");
    for one in all {
        let summary = one.summary();
        out.push_str(&format!(
            "{},{},{},{:.1},{:.1}\n",
            one.name, summary.count, summary.met, summary.median_pct, summary.worst_pct
        ));
    }
    out
}

/// What the model is known not to have, for the page's end.
pub const LIMITS: &[&str] = &[
    "In one go (`assay run bandwidth`), drives stay warm from cell to cell. The BPX then meets its 80 C in the middle of the sweep and reads up to 40 % below the published cells, which were evidently taken cool; the cells above are.",
    "960 EVO: its cache is taken from free user space; here it is a fixed region beside it. That reads longer than a multi-plane page cost firmware more, once, was found in these figures (16 x 64 KiB is slower than 16 x 32 KiB); the read of 128 KiB, kept back, agrees with it. Report A does not tell how many threads read 32 KiB at 1030 MiB/s beside the zeroed area: 64 are taken.",
    "BPX: that the data path is set up once for every read, whatever its length, was found in these figures (8 KiB reads gain less over 4 KiB ones than 16 KiB reads over 8 KiB ones); the reads kept back agree with it.",
    "M8Pe(G): that hardware alone reads one block was found in one figure (64 x 512 B); no number was fitted to it, since what is saved is the firmware's cost per page.",
    "Fitted numbers are effective ones: where a drive's random reads cost by the 4 KiB piece (960 EVO, M8Pe(G)), its flash page is counted as four pieces, and the 960 EVO's five cores as one.",
    "RD400: a 512 GB one throttled at 80 C for others (T3D1914); the profile is report A's, which did not.",
    "A further sensor's distance from the composite temperature does not depend on the power.",
];
