//! HTML and terminal reports of measured runs.
//!
//! # Architecture
//! Every report is a pure function of [`assay_store::read::Run`]s: the same runs give the same
//! bytes.
//!
//! ```text
//! runs -> drive_set (drives, each with a unique name) -> grid (cells of a step, along the axes
//! that vary)
//!           -> views (one file per kind of section: descriptor, tables, charts) -> terminal | html
//! ```
//! Modules use only those above them in this list, but a page and its parts:
//! - `axis`, `grid`: which workload properties differ within a step, and thus its rows and columns;
//! - `metric`, `format`: the figures of a result, and their notation;
//! - `table`, `chart`: a table independent of the output medium, a chart as plotly takes it;
//! - `tables`, `charts`, `thin`: what several views share; long series are thinned, extremes kept;
//! - `views`: one file per kind of section: how to read it, alarms, tables, charts, key figures;
//! - [`html`]: one self-contained page; its CSS and JavaScript are in `page/`;
//! - `scoreboard`: drives by the headline metrics that each suite names; [`summary`]: the
//!   scoreboards as SVG and Markdown;
//! - [`terminal`]: tables of a given width;
//! - [`cohort`]: figures, tables and page of many drives;
//! - [`ranked`]: the figures of a drive among those of public drives;
//! - [`library`]: a static site of many runs;
//! - [`fidelity`]: a page of published figures beside those of simulated drives.
//!
//! # Non-goals
//! No access to drives, files or clocks. No conclusions: verdicts are part of the runs.
//!
//! # Key constants
//! `thin::MAX_POINTS` (a drawn line has at most 1000 points), `tables::concurrent::MAX_ROWS` (a
//! table of intervals has at most 120 rows).
#![forbid(unsafe_code)]

mod axis;
mod chart;
mod charts;
pub mod cohort;
mod drive_set;
pub mod fidelity;
mod format;
mod grid;
pub mod html;
pub mod library;
mod metric;
pub mod predicted;
pub mod ranked;
pub mod resume;
mod scoreboard;
pub mod summary;
mod table;
mod tables;
pub mod terminal;
mod thin;
mod views;
mod warnings;

pub use format::{duration, figure};
pub use tables::predictive::text as interval_text;

/// Errors of report generation.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No run was given.
    #[error("no run was given; name at least one run folder")]
    NoRuns,
    /// The charts cannot be serialised.
    #[error("the charts of the report could not be written as JSON: {0}")]
    Chart(#[from] serde_json::Error),
}
