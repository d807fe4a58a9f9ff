//! The course of a figure over the runs of a drive, as inline SVG, and where it changed.

use assay_stats::change::segments;
use maud::{Markup, html};

use crate::library::{Point, Series, shell};

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 36.0;
const MARGIN: f64 = 5.0;

/// A change of the level between two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Index of the first run of the new level.
    pub at: usize,
    /// Ratio of the new level to the old one.
    pub ratio: f64,
    /// When the new level began.
    pub began: String,
    /// The firmware before and since, where it changed there.
    pub firmware: Option<[String; 2]>,
}

/// Where the level of a series changes ([`assay_stats::change`]: three runs on each side, at least
/// 5 %).
pub fn changes(series: &Series) -> Vec<Change> {
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let found = segments(&values);
    let change = |pair: &[assay_stats::change::Segment]| {
        let at = pair[1].from;
        let (before, since) = (&series.points[at - 1], &series.points[at]);
        let firmware = [before, since].map(|point| point.firmware.clone());
        Change {
            at,
            ratio: pair[1].level / pair[0].level,
            began: since.began.clone(),
            firmware: (firmware[0] != firmware[1]).then_some(firmware),
        }
    };
    found.windows(2).map(change).collect()
}

/// Dots in the order of the runs, a line where the firmware changed, and one where the level did.
pub fn drawing(series: &Series, changes: &[Change]) -> Markup {
    let points = &series.points;
    let values = || points.iter().map(|point| point.value);
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    // A course of a few percent is drawn as flat, not as noise over the whole height.
    let span = (high - low).max(high.abs() * 0.1).max(f64::MIN_POSITIVE);
    let middle = f64::midpoint(low, high);
    let last = points.len().saturating_sub(1).max(1) as f64;
    let x = |at: f64| tenth(MARGIN + (WIDTH - 2.0 * MARGIN) * at / last);
    let between = |n: usize| x(n as f64 - 0.5);
    let y = |value: f64| tenth(HEIGHT / 2.0 - (value - middle) / span * (HEIGHT - 2.0 * MARGIN));
    let at = |n: usize, point: &Point| format!("{} {}", x(n as f64), y(point.value));
    let line: Vec<String> = (0..).zip(points).map(|(n, p)| at(n, p)).collect();
    let dots: String = line.iter().map(|at| format!("M{at}h0")).collect();
    let firmware = (1..points.len()).filter(|n| points[*n].firmware != points[n - 1].firmware);
    html! {
        svg.history viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT)
            role="img" aria-label={ (points.len()) " runs" } {
            @for n in firmware {
                @let (before, since) = (&points[n - 1], &points[n]);
                line.firmware x1=(between(n)) x2=(between(n)) y1="0" y2=(HEIGHT) {
                    title {
                        "firmware " (before.firmware) " to " (since.firmware) ", "
                        (shell::minute(&since.began))
                    }
                }
            }
            @for change in changes {
                line.change x1=(between(change.at)) x2=(between(change.at)) y1="0" y2=(HEIGHT) {}
            }
            path.course d={ "M" (line.join("L")) } {}
            path.dots d=(dots) {}
        }
    }
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
