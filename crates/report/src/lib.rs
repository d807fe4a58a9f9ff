//! What a run measured, as pages and tables that a reader can decide on a drive with.
#![forbid(unsafe_code)]

mod axis;
mod charts;
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
