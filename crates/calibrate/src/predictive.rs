//! Predictive intervals of simulated figures: how far figures that no fit had seen were from their
//! predictions.
//!
//! `reference/predictive_intervals.csv` (embedded; written by `make predictions`) has a row per
//! kind of figure and [`Situation`]: between `low` and `high` times the simulated figure, that of a
//! further drive is expected in nine of ten cases, by the errors of `drives` left-out ones. The
//! figures of a drive err together, so drives are counted, not figures. Undetermined numbers and
//! the model's deficiencies are included, sampling noise (much smaller) is not. Intervals of a
//! profile fitted to a run of the drive are multiples of its distance from that run, tested with
//! simulated drives ([`crate::twin_cells`]).

use std::collections::BTreeSet;

use crate::CalibrateError;
pub use crate::figure_kind::FigureKind;
use crate::measurement::{Measurement, Procedure};
use crate::table::CsvTable;
use crate::twin_cells::{self, TwinCell, half_width};

const TEXT: &str = include_str!("../../../reference/predictive_intervals.csv");
const FILE: &str = "predictive_intervals.csv";
pub const HEADING: &str = "figure,situation,drives,low,high";

/// What a profile's fit knew of a figure of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Situation {
    /// Rates of this kind in a run of this very drive ([`crate::spread`]).
    ThisDrive,
    /// Figures of this kind, at another number of I/Os in flight.
    AnotherDepth,
    /// Figures of this kind at this number of I/Os in flight, of other block sizes.
    AnotherBlock,
    /// Figures of other kinds only.
    OtherKinds,
    /// No figure: hardware facts and other drives only.
    FactsOnly,
}

impl Situation {
    pub const ALL: [Situation; 5] = [
        Situation::ThisDrive,
        Situation::AnotherBlock,
        Situation::AnotherDepth,
        Situation::OtherKinds,
        Situation::FactsOnly,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Situation::ThisDrive => "this_drive",
            Situation::AnotherDepth => "another_depth",
            Situation::AnotherBlock => "another_block",
            Situation::OtherKinds => "other_kinds",
            Situation::FactsOnly => "facts_only",
        }
    }

    pub fn parse(name: &str) -> Option<Situation> {
        Situation::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The situation of a figure with `in_flight` I/Os after a fit to `figures`.
    fn new(figures: &[Measurement], kind: FigureKind, in_flight: u32) -> Situation {
        if figures.is_empty() {
            return Situation::FactsOnly;
        }
        let mut known = figures.iter().filter(|m| FigureKind::from_measurement(m) == kind);
        let Some(first) = known.next() else {
            return Situation::OtherKinds;
        };
        let at_depth = |m: &Measurement| self::in_flight(m) == Some(in_flight);
        match at_depth(first) || known.any(at_depth) {
            true => Situation::AnotherBlock,
            false => Situation::AnotherDepth,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictiveInterval {
    pub kind: FigureKind,
    pub situation: Situation,
    /// Drives from whose figures the interval is estimated.
    pub drives: u32,
    /// Factor below which the true figure is expected once in twenty.
    pub low: f64,
    /// Factor above which it is expected once in twenty.
    pub high: f64,
}

pub fn embedded() -> Result<Vec<PredictiveInterval>, CalibrateError> {
    parse(TEXT)
}

/// The interval of a situation or, where that was never tested, of the next less informed one.
fn interval(
    all: &[PredictiveInterval],
    kind: FigureKind,
    situation: Situation,
) -> Option<PredictiveInterval> {
    let from = Situation::ALL.iter().position(|one| *one == situation);
    let less = Situation::ALL.iter().skip(from.unwrap_or(0));
    let mut found = less.filter_map(|at| all.iter().find(|i| i.kind == kind && i.situation == *at));
    found.next().copied()
}

/// `spread` is that of the fit to a run of this drive; `None` where no twin's was tested.
fn of_fit(twins: &[TwinCell], kind: FigureKind, spread: f64) -> Option<PredictiveInterval> {
    let here: Vec<&TwinCell> = twins.iter().filter(|c| c.kind == kind).collect();
    let half_width = half_width(&here)? * spread;
    let truths: BTreeSet<&str> = here.iter().map(|c| c.truth.as_str()).collect();
    Some(PredictiveInterval {
        kind,
        situation: Situation::ThisDrive,
        drives: truths.len() as u32,
        low: (-half_width).exp(),
        high: half_width.exp(),
    })
}

/// Intervals of a built-in profile's figures and the I/Os in flight for which each holds (`None`:
/// any other). Other profiles are predicted from facts only, except kinds of which `fitted` has the
/// spread of a fit to a run of the drive. With `altered`, options change what was measured, so no
/// figure of the same kind counts as known.
pub fn of_profile(
    profile: &str,
    altered: bool,
    fitted: &[(FigureKind, f64)],
) -> Result<Vec<(Option<u32>, PredictiveInterval)>, CalibrateError> {
    let (figures, all, twins) =
        (crate::published::published(profile)?, embedded()?, twin_cells::embedded()?);
    let mut out = Vec::new();
    for kind in FigureKind::ALL {
        let spread = fitted.iter().find(|(one, _)| *one == kind && !altered);
        if let Some(interval) = spread.and_then(|(_, spread)| of_fit(&twins, kind, *spread)) {
            out.push((None, interval));
            continue;
        }
        let of_kind = figures.iter().filter(|m| FigureKind::from_measurement(m) == kind);
        let mut depths: Vec<u32> = of_kind.filter_map(in_flight).collect();
        depths.sort_unstable();
        depths.dedup();
        // No workload has 0 in flight: a number that no figure has.
        let situation = |depth| match Situation::new(&figures, kind, depth) {
            Situation::AnotherBlock | Situation::AnotherDepth if altered => Situation::OtherKinds,
            other => other,
        };
        let interval = |situation| interval(&all, kind, situation);
        out.extend(interval(situation(0)).map(|any| (None, any)));
        for depth in depths {
            let known = match situation(depth) {
                // Where both depth and block sizes were fitted, neither is extrapolated.
                Situation::AnotherBlock => {
                    narrower(interval(Situation::AnotherBlock), interval(Situation::AnotherDepth))
                }
                other => interval(other),
            };
            out.extend(known.map(|known| (Some(depth), known)));
        }
    }
    Ok(out)
}

/// The first interval, with the ends of the second if that is narrower.
fn narrower(
    first: Option<PredictiveInterval>,
    second: Option<PredictiveInterval>,
) -> Option<PredictiveInterval> {
    let (Some(first), Some(second)) = (first, second) else {
        return first.or(second);
    };
    let width = |one: &PredictiveInterval| one.high - one.low;
    Some(match width(&second) < width(&first) {
        true => PredictiveInterval { situation: first.situation, ..second },
        false => first,
    })
}

fn in_flight(measurement: &Measurement) -> Option<u32> {
    match measurement.procedure {
        Procedure::Steady(w) => Some(w.threads * w.queue_depth),
        _ => None,
    }
}

pub fn parse(text: &str) -> Result<Vec<PredictiveInterval>, CalibrateError> {
    let mut out = Vec::new();
    for row in CsvTable::parse(FILE, text)?.rows {
        let one = PredictiveInterval {
            kind: row.named("figure", FigureKind::parse)?,
            situation: row.named("situation", Situation::parse)?,
            drives: row.number("drives")?,
            low: row.figure("low")?,
            high: row.figure("high")?,
        };
        if one.low > one.high {
            return Err(row.error("low", "low is not above high"));
        }
        out.push(one);
    }
    Ok(out)
}

pub fn table(intervals: &[PredictiveInterval]) -> String {
    let mut out = format!("{HEADING}\n");
    for one in intervals {
        out.push_str(&format!(
            "{},{},{},{:.3},{:.3}\n",
            one.kind.name(),
            one.situation.name(),
            one.drives,
            one.low,
            one.high
        ));
    }
    out
}

#[cfg(test)]
#[path = "../tests/unit/predictive.rs"]
mod tests;
