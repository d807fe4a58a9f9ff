//! The fidelity page: every published figure of every simulated drive beside the simulated one, as Markdown and as one
//! self-contained HTML page in the form of a run's report.
//!
//! What is compared is handed over as plain figures ([`Page`]): this room knows neither drives nor where the figures come from.

mod html;
mod markdown;

use assay_units::median;

use crate::format::figure;

pub use html::html;
pub use markdown::markdown;

/// Everything on the page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The drives, in the order shown.
    pub drives: Vec<Drive>,
    /// What the model does not have, one line each.
    pub limits: Vec<String>,
}

/// One simulated drive.
#[derive(Clone, Debug, Default)]
pub struct Drive {
    /// Short name.
    pub name: String,
    /// The real drive, for people.
    pub title: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// What a figure is of; decides where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Bandwidth of random reads, report A's cells.
    RandomRead,
    /// Bandwidth of sequential reads, report A's cells.
    SequentialRead,
    /// Rate of a stream of some length.
    Stream,
    /// A rate or a percentile of latency.
    Latency,
    /// Anything else: writes, caches, temperatures, throttling, consistency.
    #[default]
    Other,
}

/// One published figure with the simulated one.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// What it is of.
    pub kind: Kind,
    /// In words.
    pub title: String,
    /// As published.
    pub published: f64,
    /// As simulated; `None` where the drive shows nothing of the kind.
    pub simulated: Option<f64>,
    /// Unit of both.
    pub unit: String,
    /// How far off, signed: per cent, or kelvin.
    pub error: Option<f64>,
    /// `%` or `C`.
    pub error_unit: String,
    /// Near enough?
    pub met: bool,
    /// What is near enough, in the error's unit.
    pub goal: f64,
    /// No fit has seen it.
    pub predicted: bool,
    /// Who published it.
    pub source: String,
    /// Its place on a curve: the curve's name and the size in bytes, of a block or a stream.
    pub curve: Option<(String, f64)>,
}

impl Figure {
    /// The error's size where it is one in per cent.
    fn size_pct(&self) -> Option<f64> {
        self.error.filter(|_| self.error_unit == "%").map(f64::abs)
    }

    fn shown(&self) -> String {
        self.simulated.map_or_else(|| "none".to_owned(), figure)
    }

    fn error_text(&self) -> String {
        self.error.map_or_else(
            || "-".to_owned(),
            |error| format!("{error:+.1} {}", self.error_unit),
        )
    }
}

/// Errors of some figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    count: usize,
    met: usize,
    median: f64,
    worst: f64,
}

impl Sum {
    fn of<'a>(figures: impl Iterator<Item = &'a Figure>) -> Sum {
        let (mut count, mut met, mut sizes) = (0, 0, Vec::new());
        for figure in figures {
            count += 1;
            met += usize::from(figure.met);
            sizes.extend(figure.size_pct());
        }
        Sum {
            count,
            met,
            worst: sizes.iter().copied().fold(0.0, f64::max),
            median: median(sizes).unwrap_or(0.0),
        }
    }
}

impl Drive {
    fn sum(&self, counts: impl Fn(&Figure) -> bool) -> Sum {
        Sum::of(self.figures.iter().filter(|f| counts(f)))
    }
}

/// How the page came about, for its head.
const ABOUT: &str = "Each figure was published by others for the real drive; beside it stands what the simulated drive gives to the same procedure. Errors are relative to the published figure, those of temperatures in kelvin. A figure marked \"predicted\" was kept back when the profile's numbers were fitted: nobody tuned a number to it. Which mechanisms a drive has (channels, caches, firmware costs) was decided with all figures in view, and a figure became a target where the fit without it showed that one was missing. All others were fitting targets, so they show how nearly the mechanisms can meet all of them at once with one set of numbers.";
/// Why it is the same everywhere.
const SAME: &str = "Simulated with seed 0, deterministic: the same figures on every machine.";

#[cfg(test)]
#[path = "../tests/unit/fidelity.rs"]
mod tests;
