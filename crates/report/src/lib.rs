//! What runs measured, as pages and tables that a reader can decide on a drive with.
//!
//! # Architecture
//! Everything here is a pure function of [`assay_store::read::Run`]s: the same runs give the same bytes.
//!
//! ```text
//! runs -> lineup (drives, each with its own name) -> grid (cells of a step along the axes that vary)
//!           -> tables (without a medium) -> terminal | html
//!           -> charts (plotly's types, as JSON) -> html
//! ```
//! - `axis`, `grid`: which properties of the workloads differ within a step, and so what its rows and columns are;
//! - `metric`, `format`: the figures a result can be shown by, and how a figure is written;
//! - `table`, `tables`: block size by threads, all figures, soak, alone and together, second by second, and per view of the review lab's
//!   suites what `conclude` makes of its cells (score, knee, rounds at rest, throttling, capacity);
//! - `charts`, `thin`: sweeps, latency percentiles and timelines, the charts of the views, causes of phases above every chart over time;
//!   long series thinned for drawing, extremes kept;
//! - [`html`]: one self-contained page; its HTML, CSS and JavaScript are in `page/`;
//! - [`terminal`]: tables of a given width;
//! - [`fidelity`]: the other page: published figures beside those of simulated drives, handed over as plain figures.
//!
//! # Non-goals
//! No drive is touched, no file read or written, no clock read. Nothing is concluded: verdicts come with the runs.
//!
//! # Key constants
//! `thin::MOST_POINTS` (a drawn line has at most 1000 points), `tables::aboard::MOST_ROWS` (a table second by second has
//! at most 120 rows).
#![forbid(unsafe_code)]

mod axis;
mod charts;
pub mod fidelity;
mod format;
mod grid;
pub mod html;
mod lineup;
mod metric;
mod table;
mod tables;
pub mod terminal;
mod thin;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Nothing to report on.
    #[error("no run was given; name at least one run folder")]
    NoRuns,
    /// A chart could not be put into the page.
    #[error("the charts of the report could not be written as JSON: {0}")]
    Chart(#[from] serde_json::Error),
    /// The plotting library is not where it is expected.
    #[error(
        "the plotly crate does not hold its JavaScript where this build expects it; build with plotly 0.14"
    )]
    PlotLibrary,
}
