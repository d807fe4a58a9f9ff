//! Simulated drives with known ground truth, for scoring attribution: small, slow drives made of
//! the shipped profiles, with a host model, observed second by second, with the ground truth of the
//! model's state and of counterfactual runs.

pub mod bench;
pub mod draw;
pub mod parts;
pub mod score;
pub mod truth;

use assay_analysis::attribution::{ObservedCell, ObservedInterval};

/// A label that is scored; one per cause that a detector can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    Fresh,
    Slc,
    Collection,
    Thermal,
    Power,
    Host,
    Rate,
}

impl Label {
    pub const ALL: [Label; 7] = [
        Label::Fresh,
        Label::Slc,
        Label::Collection,
        Label::Thermal,
        Label::Power,
        Label::Host,
        Label::Rate,
    ];
}

/// A true cause of the rate, and its onset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    pub label: Label,
    pub from_s: f64,
    /// Size of the SLC cache, where that is the cause.
    pub cache_bytes: u64,
    /// Share of the seconds, from its onset to its last, in which it held, where the cause comes
    /// and goes, percent.
    pub duty_pct: Option<f64>,
    /// Whether it changes the rate by 8 % or more; required for detection without the drive's
    /// counters.
    pub visible: bool,
    /// Not scored: it begins while another cause sets the rate, so that its onset need not show.
    pub optional: bool,
    /// Label that is as right: another cause that the drive reports begins with it, and the data do
    /// not tell which of the two sets the rate.
    pub or: Option<Label>,
}

impl Truth {
    /// A cause that shows from here on.
    pub fn from(label: Label, from_s: f64) -> Truth {
        Truth {
            label,
            from_s,
            cache_bytes: 0,
            duty_pct: None,
            visible: true,
            optional: false,
            or: None,
        }
    }
}

/// One drive in one cell.
pub struct Scenario {
    pub seed: u64,
    pub name: String,
    pub observed: ObservedCell,
    pub truths: Vec<Truth>,
}

impl Scenario {
    /// The observation of a drive that reports only its temperature.
    pub fn blind(&self) -> ObservedCell {
        let blinded = |m: &ObservedInterval| ObservedInterval {
            throttled: None,
            warning_time_s: None,
            nand_bytes: None,
            power_mw: None,
            ..*m
        };
        ObservedCell {
            intervals: self.observed.intervals.iter().map(blinded).collect(),
            context: self.observed.context,
        }
    }
}
