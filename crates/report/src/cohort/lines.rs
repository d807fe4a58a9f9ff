//! Figures over the time of a soak as inline SVG that needs no script: a line per drive against the
//! median of all, and that median.
//!
//! With more than [`MOST_LINES`] drives, bands of quantiles take the place of all but the drives
//! that drift.

use assay_analysis::cohort::conclude::Cohort;
use assay_analysis::cohort::drift::{CommonDrift, DriveDrift, SoakDrift};
use assay_stats::cohort::drift::{BLOCKS, Span};
use maud::{Markup, html};

use crate::chart::PALETTE;
use crate::cohort::tables;
use crate::format::duration;

/// Drives drawn as lines; above, bands.
const MOST_LINES: usize = 200;
/// Units of both axes; the lines do not scale with them.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 150.0;

/// The axes of a chart: from hour 0 to the last one, and the values around zero.
struct Axes {
    hours: f64,
    low: f64,
    high: f64,
}

impl Axes {
    fn new<'s>(spans: impl Iterator<Item = &'s Span>) -> Axes {
        let mut axes = Axes { hours: 0.0, low: 0.0, high: 0.0 };
        for (time, value) in spans.flatten() {
            axes.hours = axes.hours.max(*time);
            axes.low = axes.low.min(*value);
            axes.high = axes.high.max(*value);
        }
        axes
    }

    fn x(&self, time: f64) -> f64 {
        round(WIDTH * time / self.hours.max(f64::MIN_POSITIVE))
    }

    fn y(&self, value: f64) -> f64 {
        let margin = 6.0;
        let height = (self.high - self.low).max(f64::MIN_POSITIVE);
        round(margin + (HEIGHT - 2.0 * margin) * (self.high - value) / height)
    }

    /// Spans as a path with a gap between two of them.
    fn path<'s>(&self, spans: impl IntoIterator<Item = &'s Span>) -> String {
        let mut path = String::new();
        for span in spans {
            for (n, (time, value)) in span.iter().enumerate() {
                let command = if n == 0 { 'M' } else { 'L' };
                path.push_str(&format!("{command}{} {}", self.x(*time), self.y(*value)));
            }
        }
        path
    }

    fn chart(&self, d: &SoakDrift, label: &str, content: &Markup) -> Markup {
        let zero = self.y(0.0);
        html! {
            div.cohort-lines {
                div.scale {
                    span { (amount(d, d.shown(self.high))) } span { (amount(d, d.shown(self.low))) }
                }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none"
                    role="img" aria-label=(label) {
                    line.base x1="0" x2=(WIDTH) y1=(zero) y2=(zero) {}
                    (content)
                }
                div.cohort-axis { span { "0 h" } span { (label) } span { (span_text(self.hours)) } }
            }
        }
    }
}

/// With one decimal.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Every drive against the median of all.
pub fn drives(cohort: &Cohort, d: &SoakDrift) -> Markup {
    let axes = Axes::new(d.values.iter().flat_map(|v| &v.line));
    let is_off =
        |v: &&DriveDrift| d.drifting().any(|off| off.drive == v.drive && off.group == v.group);
    let (off, others): (Vec<&DriveDrift>, Vec<&DriveDrift>) = d.values.iter().partition(is_off);
    let groups = 0..cohort.groups.len();
    let of_group = |group: usize| others.iter().filter(move |v| v.group == group);
    let content = html! {
        @for group in groups {
            g style={ "--c:var(--c" (group % PALETTE) ")" } {
                @if d.values.len() > MOST_LINES {
                    @let places = of_group(group).flat_map(|v| v.line.iter().flatten());
                    @for band in bands(&axes, places) {
                        path.band d=(band) {}
                    }
                } @else { path.line d=(axes.path(of_group(group).flat_map(|v| &v.line))) {} }
            }
        }
        @for v in off {
            path.off d=(axes.path(&v.line)) {
                title { (cohort.drives[v.drive].serial) ": " (amount(d, v.relative.change)) }
            }
        }
    };
    axes.chart(d, "each drive against the median of all", &content)
}

/// The median of each group.
pub fn common(d: &SoakDrift) -> Markup {
    let axes = Axes::new(d.common.iter().flat_map(|c| &c.curve));
    let line = |c: &CommonDrift| axes.path(&c.curve);
    let content = html! {
        @for c in &d.common {
            g style={ "--c:var(--c" (c.group % PALETTE) ")" } { path.median d=(line(c)) {} }
        }
    };
    axes.chart(d, "median of all drives", &content)
}

/// Bands of 90 and 50 % of the points of each block of time.
fn bands<'p>(axes: &Axes, points: impl Iterator<Item = &'p (f64, f64)>) -> Vec<String> {
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); BLOCKS];
    for (time, value) in points {
        let share = time / axes.hours.max(f64::MIN_POSITIVE);
        let at = ((share * BLOCKS as f64) as usize).min(BLOCKS - 1);
        columns[at].push(*value);
    }
    columns.iter_mut().for_each(|c| c.sort_by(f64::total_cmp));
    let band = |share: f64| {
        let side = |share: f64| -> Vec<String> {
            let used = columns.iter().enumerate().filter(|(_, c)| !c.is_empty());
            let point = |(at, column): (usize, &Vec<f64>)| {
                let time = (at as f64 + 0.5) / BLOCKS as f64 * axes.hours;
                let value = column[(share * (column.len() - 1) as f64).round() as usize];
                format!("{} {}", axes.x(time), axes.y(value))
            };
            used.map(point).collect()
        };
        let mut outline = side(share);
        outline.extend(side(1.0 - share).into_iter().rev());
        match outline.is_empty() {
            true => String::new(),
            false => format!("M{}Z", outline.join("L")),
        }
    };
    vec![band(0.05), band(0.25)]
}

/// Longest time to a limit that is shown, hours: ten years.
const LONGEST_HOURS: f64 = 87_660.0;

/// A change of a figure with its sign: percent, or in its unit.
pub fn amount(d: &SoakDrift, change: f64) -> String {
    match d.logarithmic {
        true => tables::signed(change),
        false => format!("{change:+.1} {}", d.unit),
    }
}

/// Hours as a duration, to the minute.
pub fn span_text(hours: f64) -> String {
    match hours {
        h if h >= LONGEST_HOURS => "more than 10 years".to_owned(),
        h if h >= 72.0 => format!("{:.0} days", h / 24.0),
        h => duration((h * 60.0).round() as u64 * 60_000_000_000),
    }
}
