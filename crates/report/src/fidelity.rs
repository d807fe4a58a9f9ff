//! Model fidelity: published figures of drives beside those of their simulation, as Markdown and as
//! a self-contained HTML page.
//!
//! The input is a list of plain figures ([`FidelityPage`]), independent of drives and of the origin
//! of the figures.

mod html;
mod markdown;

use assay_units::median;

use crate::format::figure;

pub use html::html;
pub use markdown::markdown;

/// Contents of the page.
#[derive(Clone, Debug, Default)]
pub struct FidelityPage {
    /// The drives, in the order shown.
    pub drives: Vec<FidelityDrive>,
    /// Limitations of the model, one line each.
    pub limits: Vec<String>,
}

/// One simulated drive.
#[derive(Clone, Debug, Default)]
pub struct FidelityDrive {
    /// Short name.
    pub name: String,
    /// Name of the real drive.
    pub title: String,
    pub figures: Vec<FidelityFigure>,
}

/// Category of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FigureKind {
    /// Bandwidth of random reads (DragonFly 2018).
    RandomRead,
    /// Bandwidth of sequential reads (DragonFly 2018).
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
pub struct FidelityFigure {
    /// Its category.
    pub kind: FigureKind,
    pub title: String,
    pub published: f64,
    /// As simulated; `None` where the simulation gives none.
    pub simulated: Option<f64>,
    /// Unit of both.
    pub unit: String,
    /// Signed error, percent or kelvin.
    pub error: Option<f64>,
    /// `%` or `C`.
    pub error_unit: String,
    /// Within its goal.
    pub met: bool,
    /// Largest accepted error, in the error's unit.
    pub goal: f64,
    /// Held out from the fit of the profile.
    pub predicted: bool,
    /// Its publisher.
    pub source: String,
    /// Its position on a curve: name, and size of the block or stream in bytes.
    pub curve: Option<(String, f64)>,
}

impl FidelityFigure {
    /// Absolute error, where it is in percent.
    fn size_pct(&self) -> Option<f64> {
        self.error.filter(|_| self.error_unit == "%").map(f64::abs)
    }

    fn shown(&self) -> String {
        self.simulated.map_or_else(|| "none".to_owned(), figure)
    }

    fn predicted_text(&self) -> &'static str {
        if self.predicted { "predicted" } else { "" }
    }

    fn error_text(&self) -> String {
        self.error
            .map_or_else(|| "-".to_owned(), |error| format!("{error:+.1} {}", self.error_unit))
    }
}

/// Error statistics of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ErrorStatistics {
    count: usize,
    met: usize,
    median: f64,
    worst: f64,
}

impl FidelityDrive {
    fn statistics(&self, counts: impl Fn(&FidelityFigure) -> bool) -> ErrorStatistics {
        let figures = || self.figures.iter().filter(|f| counts(f));
        let sizes = || figures().filter_map(FidelityFigure::size_pct);
        ErrorStatistics {
            count: figures().count(),
            met: figures().filter(|f| f.met).count(),
            worst: sizes().fold(0.0, f64::max),
            median: median(sizes()).unwrap_or(0.0),
        }
    }

    /// Of random reads, sequential reads, other figures, and predicted ones.
    fn summary(&self) -> [ErrorStatistics; 4] {
        [
            self.statistics(|f| f.kind == FigureKind::RandomRead),
            self.statistics(|f| f.kind == FigureKind::SequentialRead),
            self.statistics(|f| f.kind > FigureKind::SequentialRead),
            self.statistics(|f| f.predicted),
        ]
    }
}

impl FidelityPage {
    /// The figures that miss their goals.
    fn misses(&self) -> impl Iterator<Item = (&FidelityDrive, &FidelityFigure)> {
        let figures = self.drives.iter().flat_map(|d| d.figures.iter().map(move |f| (d, f)));
        figures.filter(|(_, f)| !f.met)
    }
}

/// Method of the comparison, for the head of the page.
const ABOUT: &str = "Each published figure of a real drive is listed beside the result of the \
                     same procedure on the simulated drive. Errors are relative to the published \
                     figure; those of temperatures are in kelvin. Figures marked \"predicted\" \
                     were held out when the parameters of the profile were fitted. The mechanisms \
                     of a drive (channels, caches, firmware costs) were chosen with all figures \
                     in view, and a figure became a fitting target where the fit without it \
                     showed that one was missing. All other figures were fitting targets: their \
                     errors show how closely one set of parameters meets all of them.";
/// Reproducibility.
const SAME: &str = "Simulated with seed 0; deterministic, with identical figures on every machine.";

#[cfg(test)]
#[path = "../tests/unit/fidelity.rs"]
mod tests;
