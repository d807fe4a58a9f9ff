//! Share of a drive's rated endurance that a plan writes. Writes of cells that end by size are
//! known; those of cells that end by time are bounded by the drive's interface, and usually far
//! less. Shares are of bytes written by the host. Where the rating is of the media (log 09h, for a
//! write amplification of 1), random writes cost the drive's write amplification more.

use std::fmt;

use assay_units::endurance::CounterSource;
use assay_units::text::format_size;

use super::{Estimate, Plan};
use crate::inventory::InventoryDrive;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnduranceShare {
    pub rated_bytes: Option<u64>,
    /// The log that states the rating; `None`: the plan.
    pub rated_by: Option<CounterSource>,
    /// When the inventory was taken.
    pub percentage_used: Option<u8>,
    /// Writes of cells that end by size.
    pub by_size_bytes: u64,
    /// `None` where cells end by time and the interface's rate is not known.
    pub most_bytes: Option<u64>,
}

/// Why a drive exceeds the plan's limit, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverLimit {
    /// The share and the limit, percent.
    Share(String, String),
    NoRating,
    /// Writes of cells that end by time are not bounded.
    NoBound,
}

impl OverLimit {
    /// Word for JSON.
    pub fn code(&self) -> &'static str {
        match self {
            OverLimit::Share(..) => "over_endurance_limit",
            OverLimit::NoRating => "no_rated_endurance",
            OverLimit::NoBound => "no_write_bound",
        }
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverLimit::Share(share, limit) => write!(
                f,
                "the plan could write {share} of its rated endurance, and run.endurance_limit_pct \
                 is {limit}; shorten the suites or raise the limit"
            ),
            OverLimit::NoRating => f.write_str(
                "its rated endurance is not known, so run.endurance_limit_pct cannot be kept; \
                 write drives.endurance_tb, or take the inventory as root",
            ),
            OverLimit::NoBound => f.write_str(
                "cells write it by time, and the rate of its interface is not known, so \
                 run.endurance_limit_pct cannot be kept; remove the limit or these suites",
            ),
        }
    }
}

impl EnduranceShare {
    pub fn new(plan: &Plan, drive: &InventoryDrive, estimate: &Estimate) -> EnduranceShare {
        let logged = drive.wear.and_then(|wear| wear.rated);
        let by_time = match (estimate.writing.0, drive.interface_bytes_per_s) {
            (0, _) => Some(0),
            (_, None) => None,
            (ns, Some(rate)) => {
                let bytes = u128::from(ns) * u128::from(rate) / 1_000_000_000;
                Some(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
        };
        let given = plan.drives.endurance_bytes;
        EnduranceShare {
            rated_bytes: given.or(logged.map(|rated| rated.media_bytes)),
            rated_by: logged.filter(|_| given.is_none()).map(|rated| rated.source),
            percentage_used: drive.wear.map(|wear| wear.percentage_used),
            by_size_bytes: estimate.written_bytes,
            most_bytes: by_time.map(|bytes| bytes.saturating_add(estimate.written_bytes)),
        }
    }

    pub fn percent(&self, bytes: u64) -> Option<f64> {
        let rated = self.rated_bytes.filter(|&rated| rated > 0)?;
        Some(bytes as f64 / rated as f64 * 100.0)
    }

    /// Whether a limit is kept whatever the drive's rate. A drive that is not written keeps every
    /// limit.
    pub fn keeps(&self, limit_pct: f64) -> Result<(), OverLimit> {
        let most = self.most_bytes.ok_or(OverLimit::NoBound)?;
        if most == 0 {
            return Ok(());
        }
        let share = self.percent(most).ok_or(OverLimit::NoRating)?;
        match share > limit_pct {
            true => Err(OverLimit::Share(percent_text(share), percent_text(limit_pct))),
            false => Ok(()),
        }
    }
}

/// Two digits, more of larger shares: `0.0012 %`, `3.4 %`, `120 %`.
fn percent_text(percent: f64) -> String {
    match percent {
        p if p >= 10.0 => format!("{p:.0} %"),
        p if p >= 1.0 => format!("{p:.1} %"),
        p if p >= 0.1 => format!("{p:.2} %"),
        p if p >= 0.01 => format!("{p:.3} %"),
        p if p > 0.0 => "less than 0.01 %".to_owned(),
        _ => "0 %".to_owned(),
    }
}

impl fmt::Display for EnduranceShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |bytes: u64| match self.percent(bytes) {
            Some(percent) => format!("{} ({})", format_size(bytes), percent_text(percent)),
            None => format_size(bytes),
        };
        write!(f, "{} by size", share(self.by_size_bytes))?;
        match self.most_bytes {
            Some(most) if most > self.by_size_bytes => {
                write!(f, ", with cells that end by time at most {}", share(most))?;
            }
            Some(_) => {}
            None => f.write_str(", more by cells that end by time")?,
        }
        match (self.rated_bytes, self.rated_by) {
            (Some(rated), Some(source)) => {
                write!(f, " of {} rated by its log {}", format_size(rated), source.name())?;
            }
            (Some(rated), None) => write!(f, " of {} rated by the plan", format_size(rated))?,
            (None, _) => f.write_str("; its rated endurance is not known (drives.endurance_tb)")?,
        }
        match self.percentage_used {
            Some(used) => write!(f, "; {used} % used before"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/plan/endurance.rs"]
mod tests;
