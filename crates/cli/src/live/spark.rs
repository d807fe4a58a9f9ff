//! Charts of block characters.

use assay_execute::live::HistorySecond;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// Eighths of a character, from the bottom.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// A chart shows at least so many seconds.
const LEAST_SECONDS: usize = 180;

/// `older`: in an earlier cell than the last column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Column {
    pub value: f64,
    pub older: bool,
}

pub fn seconds_per_column(columns: usize) -> usize {
    LEAST_SECONDS.div_ceil(columns.max(1))
}

/// The last column is at the right; `combine` makes one value of the seconds of a column.
pub fn columns(
    history: &[HistorySecond],
    count: usize,
    combine: impl Fn(&[HistorySecond]) -> f64,
) -> Vec<Column> {
    let per_column = seconds_per_column(count);
    let current = history.last().map_or(0, |second| second.cell);
    // Columns begin at multiples of their length: a chart moves by whole columns and does not
    // flicker.
    let column_of = |second: &HistorySecond| second.number / per_column as u64;
    let columns = history.chunk_by(|a, b| column_of(a) == column_of(b));
    let mut columns: Vec<Column> = columns
        .map(|seconds| Column {
            value: combine(seconds),
            older: seconds[seconds.len() - 1].cell != current,
        })
        .collect();
    columns.split_off(columns.len().saturating_sub(count))
}

pub fn mean_iops(seconds: &[HistorySecond]) -> f64 {
    let covered_s: f64 = seconds.iter().map(|second| second.covered_s).sum();
    let ios: f64 = seconds.iter().map(|second| second.ios).sum();
    match covered_s > 0.0 {
        true => ios / covered_s,
        false => 0.0,
    }
}

pub fn greatest_p99(seconds: &[HistorySecond]) -> f64 {
    let p99 = seconds.iter().map(|second| second.p99_ns).max();
    p99.unwrap_or(0) as f64
}

/// Scales columns from 0 to `most` and draws them at the right of the area.
pub fn draw(
    buffer: &mut Buffer,
    area: Rect,
    columns: &[Column],
    most: f64,
    style: Style,
    older: Style,
) {
    let rows = usize::from(area.height);
    let skipped = columns.len().saturating_sub(usize::from(area.width));
    let shown = &columns[skipped..];
    let left = area.right() - shown.len() as u16;
    for (x, column) in (left..).zip(shown) {
        let share = (column.value / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let full = (rows * 8) as f64;
        let mut eighths = (share * full).round() as usize;
        if column.value > 0.0 {
            eighths = eighths.max(1);
        }
        for (row, y) in (area.top()..area.bottom()).rev().enumerate() {
            let here = eighths.saturating_sub(row * 8).min(8);
            let style = if column.older { older } else { style };
            buffer.set_string(x, y, EIGHTHS[here], style);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/spark.rs"]
mod tests;
