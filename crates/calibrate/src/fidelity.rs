//! Fidelity: shipped profiles against all published figures of their drives, at full length.

use assay_ssd::Profile;

use crate::CalibrateError;
use crate::residual::{ErrorSummary, Residuals};
use crate::shipped::{FIDELITY_HEADING, figures};
use crate::simulate::{Effort, simulate};

#[derive(Clone, Debug)]
pub struct ProfileComparison {
    pub name: String,
    pub title: String,
    /// Published and simulated figures; those that no fit used are held out.
    pub residuals: Residuals,
}

/// Leaves out profiles without published figures. `begun` gets each name before its runs.
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

/// In the form of `reference/fidelity.csv`, which `assay list` shows.
pub fn table(all: &[ProfileComparison]) -> String {
    let mut out = format!("{FIDELITY_HEADING}\n");
    for one in all {
        let summary = ErrorSummary::new(&one.residuals.0);
        out.push_str(&format!(
            "{},{},{},{:.1},{:.1}\n",
            one.name, summary.count, summary.met, summary.median_pct, summary.worst_pct
        ));
    }
    out
}

pub const LIMITS: &[&str] = &[
    "In a single run (`assay run bandwidth`), drives stay warm from cell to cell. The BPX then \
     reaches its 80 C in the middle of the sweep and reads up to 40 % below the published cells, \
     which were evidently measured on a cool drive, as the cells above are.",
    "960 EVO: its cache is taken from free user space; here it is a fixed region beside it. That \
     reads longer than a multi-plane page cost firmware a fixed extra time was inferred from \
     these figures (16 x 64 KiB is slower than 16 x 32 KiB); the held-out read of 128 KiB agrees \
     with it. The source does not state how many threads read 32 KiB at 1030 MiB/s beside the \
     zeroed area: 64 are assumed.",
    "BPX: that the data path is set up once per read, whatever its length, was inferred from \
     these figures (8 KiB reads gain less over 4 KiB ones than 16 KiB reads over 8 KiB ones); the \
     held-out reads agree with it.",
    "M8Pe(G): that hardware alone reads a single block was inferred from one figure (64 x 512 B); \
     no number was fitted to it, since the saving is the firmware's cost per page.",
    "Fitted numbers are effective ones: where a drive's random reads cost by the 4 KiB piece (960 \
     EVO, M8Pe(G)), its flash page is counted as four pieces, and the 960 EVO's five cores as one.",
    "RD400: a 512 GB drive throttled at 80 C in another review (T3D1914); the profile models the \
     one of the DragonFly NVMe tests, which did not.",
];
