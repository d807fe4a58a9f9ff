//! Colours, line styles and names of the series of a section.

use crate::chart::colour;
use crate::format::joined;
use crate::grid::{Point, Section};

/// Columns of so many drives and values are drawn in a chart each.
const MAX_APART: usize = 4;

/// True when each column has its own chart or view, in which only drives differ.
pub fn is_apart(section: &Section<'_>) -> bool {
    section.drives.len() > 1 && (2..=MAX_APART).contains(&section.columns.len())
}

/// Colour and line style of a point's series: drives differ by both where only drives are compared
/// (a single column, or columns `apart`), else by colour, and columns by style; with a single
/// drive, columns differ by both.
pub fn style(section: &Section<'_>, point: &Point<'_>, apart: bool) -> (String, usize) {
    match section.drives.len() {
        0 | 1 => (colour(point.drive + point.column), point.column),
        _ if apart || section.columns.len() == 1 => (colour(point.drive), point.drive),
        _ => (colour(point.drive), point.column),
    }
}

/// Name of a point's series: drive, and column where there are several in a chart.
pub fn series_name(section: &Section<'_>, point: &Point<'_>, apart: bool) -> String {
    if apart {
        return point.chart_name();
    }
    joined([point.chart_name(), section.column_label(point.column)], ", ")
}
