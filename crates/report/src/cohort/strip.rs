//! Strips: every drive of a figure as a dot on a horizontal axis, as inline SVG that needs no
//! script.
//!
//! The dots of a group are one path of points of zero length with round caps, whose width does not
//! scale: 2,000 drives are a few tens of kilobytes and one element. With more than [`MOST_DOTS`]
//! values, quantile bands take the place of all but the outliers.

use std::collections::BTreeSet;

use assay_analysis::cohort::conclude::{Cohort, CohortFigure, DriveValue};
use assay_stats::quantile;
use maud::{Markup, html};

use crate::chart::PALETTE;
use crate::cohort::tables;
use crate::format::figure;

/// Values drawn as dots; above, bands.
const MOST_DOTS: usize = 2_000;
/// Units of the horizontal axis.
const WIDTH: f64 = 1000.0;
/// Height of a group's row.
const ROW: f64 = 38.0;
/// Columns in which dots are stacked.
const COLUMNS: f64 = 120.0;

/// The strip of a figure, with its axis.
pub fn strip(cohort: &Cohort, f: &CohortFigure, at: usize) -> Markup {
    let (low, high) = (f.scaled(f.range.0), f.scaled(f.range.1));
    let margin = (high - low) * 0.02;
    let x = |value: f64| {
        let share = (f.scaled(value) - low + margin) / (high - low + 2.0 * margin);
        round(WIDTH * if share.is_finite() { share } else { 0.5 })
    };
    let groups = 0..cohort.groups.len();
    let groups = groups.filter(|group| f.values.iter().any(|v| v.group == *group));
    let groups: Vec<usize> = groups.collect();
    let height = ROW * groups.len() as f64;
    let own = cohort.outliers.iter().filter(|o| o.figure == at);
    let outliers: BTreeSet<usize> = own.map(|o| o.drive).collect();
    let row = |row: usize, group: usize| {
        let top = ROW * row as f64;
        let of_group = f.values.iter().filter(|v| v.group == group);
        let own: Vec<&DriveValue> = of_group.collect();
        let (out, inner): (Vec<&DriveValue>, Vec<&DriveValue>) =
            own.iter().partition(|v| outliers.contains(&v.drive));
        html! {
            g style={ "--c:var(--c" (group % PALETTE) ")" } {
                line.base x1="0" x2=(WIDTH) y1=(top + ROW - 3.0) y2=(top + ROW - 3.0) {}
                @if f.values.len() > MOST_DOTS {
                    (bands(&own, &x, top))
                } @else {
                    path.dots d=(dots(&inner, &x, top)) {}
                }
                @if let Some(middle) = quantile(&values(&own), 0.5) {
                    line.middle x1=(x(middle)) x2=(x(middle)) y1=(top + 3.0) y2=(top + ROW - 3.0) {}
                }
                @for v in out {
                    path.out d={ "M" (x(v.value)) " " (top + ROW - 9.0) "h0" } {
                        title {
                            (cohort.drives[v.drive].serial) ": " (figure(v.value)) " " (f.unit)
                        }
                    }
                }
            }
        }
    };
    html! {
        svg.cohort-strip
            viewBox={ "0 0 " (WIDTH) " " (height) } style={ "height:" (height) "px" }
            preserveAspectRatio="none" role="img"
            aria-label={ "Values of " (f.drives) " drives: " (tables::name(cohort, f)) } {
            @for (n, group) in groups.iter().enumerate() { (row(n, *group)) }
        }
        div.cohort-axis {
            span { (figure(f.range.0)) }
            span { "median " (figure(f.median)) " " (f.unit) }
            span { (figure(f.range.1)) }
        }
    }
}

/// With one decimal.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Points stacked from the base of a row, as close as the fullest column needs.
fn dots(own: &[&DriveValue], x: &impl Fn(f64) -> f64, top: f64) -> String {
    let mut positions: Vec<f64> = own.iter().map(|v| x(v.value)).collect();
    positions.sort_by(f64::total_cmp);
    let column = |x: f64| (x / WIDTH * COLUMNS) as i64;
    let columns: Vec<&[f64]> = positions.chunk_by(|a, b| column(*a) == column(*b)).collect();
    let fullest = columns.iter().map(|c| c.len()).max().unwrap_or(1);
    let step = ((ROW - 12.0) / fullest as f64).min(6.0);
    let mut path = String::new();
    for own in columns {
        for (n, x) in own.iter().enumerate() {
            let y = round(top + ROW - 7.0 - step * n as f64);
            path.push_str(&format!("M{x} {y}h0"));
        }
    }
    path
}

fn values(own: &[&DriveValue]) -> Vec<f64> {
    own.iter().map(|v| v.value).collect()
}

fn bands(own: &[&DriveValue], x: &impl Fn(f64) -> f64, top: f64) -> Markup {
    let values = values(own);
    html! {
        @for (share, inset) in [(0.01, 14.0), (0.05, 10.0), (0.25, 6.0)] {
            @let ends = quantile(&values, share).zip(quantile(&values, 1.0 - share));
            @if let Some((from, to)) = ends {
                rect.band x=(x(from)) width=(round(x(to) - x(from)))
                    y=(top + inset) height=(ROW - 2.0 * inset) {}
            }
        }
    }
}
