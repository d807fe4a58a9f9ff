//! Runs of one drive repeated: how its figures are distributed over them, and whether they drift.

use assay_units::median;
use maud::{Markup, html};

use crate::chart::{Chart, ChartView, colour, dash, symbol};
use crate::charts::draw::{Trace, linear, panels};
use crate::drive_set::DriveSet;
use crate::format::{joined, plural};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::metric::ResultMetric;
use crate::scoreboard::Scoreboard;
use crate::table::{Column, Heading, Row, Table, TableCell};

/// Two-sided 5 % of the normal distribution.
const NORMAL_95: f64 = 1.96;

/// Height of the chart, pixels.
const CHART_PX: u32 = 290;

/// The vertical axis shows at least this much on both sides of the median, percent.
const LEAST_SPAN_PCT: f64 = 2.0;

/// One row per metric of a scoreboard.
pub fn of_scores(set: &DriveSet<'_>, scores: &Scoreboard<'_>) -> Table {
    let drives: Vec<usize> = scores.rows.iter().map(|row| row.drive).collect();
    let row = |(n, (metric, _)): (usize, &(_, usize))| {
        let metric: &assay_analysis::figure::headline::HeadlineMetric = metric;
        let value = |drive: &usize| {
            let row = scores.rows.iter().find(|row| row.drive == *drive)?;
            Some(row.scores[n].as_ref()?.value)
        };
        let values = set.by_date(&drives).iter().filter_map(value).collect();
        distribution(metric.title.clone(), metric.figure.unit.text(), values)
    };
    let first = &set.drives[drives[0]];
    let caption = format!("{} of {}", plural(drives.len(), "run"), first.info.label);
    table(set, caption, scores.columns.iter().enumerate().filter_map(row).collect())
}

fn table(set: &DriveSet<'_>, caption: String, mut rows: Vec<Row>) -> Table {
    for row in &mut rows {
        row.name.simulated = set.all_simulated();
    }
    Table {
        caption,
        corner: "metric".to_owned(),
        columns: Column::list([
            ("unit", ""),
            ("runs", ""),
            ("lowest", ""),
            ("25 %", ""),
            ("median", ""),
            ("75 %", ""),
            ("highest", ""),
            ("trend by date", ""),
        ]),
        rows,
        notes: vec![
            "trend: median slope between pairs of runs (Theil and Sen) times their number, where \
             the test of Mann and Kendall finds one at 5 %"
                .to_owned(),
        ],
    }
}

/// A row of values in the order of their dates; none without any.
fn distribution(title: String, unit: &str, values: Vec<f64>) -> Option<Row> {
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |share: f64| sorted[(last as f64 * share).round() as usize];
    let mut cells = vec![TableCell::Text(unit.to_owned())];
    cells.push(TableCell::number(values.len().to_string()));
    cells.extend([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| TableCell::figure(at(share))));
    cells.push(TableCell::Text(match trend_pct(&values) {
        Some(pct) => format!("{pct:+.1} % over the runs"),
        None => "none seen".to_owned(),
    }));
    Some(Row::new(Heading::plain(title), cells))
}

/// Figures of a workload that its distribution shows.
const SHOWN: [ResultMetric; 3] = [ResultMetric::BANDWIDTH, ResultMetric::MEAN, ResultMetric::P99];

/// The values of one workload in the order of their dates, each with the number of its run.
fn values(section: &Section<'_>, at: (usize, usize), metric: ResultMetric) -> Vec<(f64, f64)> {
    let drives = section.set.by_date(&section.drives).into_iter().enumerate();
    let value = |(n, drive): (usize, usize)| {
        let result = section.at(at.0, at.1, drive).and_then(Point::result)?;
        Some(((n + 1) as f64, metric.value(result)?))
    };
    drives.filter_map(value).collect()
}

/// Each workload of a section by run, as a share of its median.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    if !section.set.are_repeats(&section.drives) {
        return None;
    }
    let views = SHOWN.into_iter().filter_map(|metric| view(section, metric));
    let chart = Chart::new(section.caption("by run"), "figure", CHART_PX, views.collect())?;
    Some(Chart { log_switch: false, simulated: section.set.all_simulated(), ..chart })
}

fn view(section: &Section<'_>, metric: ResultMetric) -> Option<ChartView> {
    let mut span_pct = LEAST_SPAN_PCT;
    let mut data = Vec::new();
    for (n, at) in section.locations().enumerate() {
        let values = values(section, at, metric);
        let Some(middle) = median(values.iter().map(|v| v.1)).filter(|m| *m > 0.0) else {
            continue;
        };
        let share = |(run, value): &(f64, f64)| (*run, 100.0 * value / middle);
        let points: Vec<(f64, f64)> = values.iter().map(share).collect();
        let spans = points.iter().map(|p| 1.1 * (p.1 - 100.0).abs());
        span_pct = spans.fold(span_pct, f64::max);
        let trace = Trace {
            name: section.location_or_title(at.0, at.1),
            points,
            mode: "lines+markers",
            colour: colour(n),
            dash: dash(n),
            symbol: symbol(n),
            hover: "%{y:.4~g} % in run %{x}".to_owned(),
            ..Trace::default()
        };
        data.push(trace.json());
    }
    let title = format!("{}, % of median", metric.label.to_lowercase());
    let mut layout = panels("run, by date", &[linear(&title)]);
    layout["yaxis"]["range"] = [100.0 - span_pct, 100.0 + span_pct].into();
    ChartView::new(metric.label, data, layout)
}

/// The distribution of each workload over the runs, and its values by run; `each` shows the runs
/// side by side.
pub fn section(section: &Section<'_>, by_run: &Chart, each: &Markup) -> Markup {
    let mut rows = Vec::new();
    for (row, column) in section.locations() {
        for metric in SHOWN {
            let values = values(section, (row, column), metric);
            let values = values.into_iter().map(|v| v.1).collect();
            let place = section.location(row, column);
            let title = joined([place.as_str(), metric.label], ", ");
            rows.extend(distribution(title, metric.unit, values));
        }
    }
    let caption = section.caption("distribution over the runs");
    html! {
        (elements::table(&table(section.set, caption, rows)))
        (elements::chart(by_run, false))
        details { summary { "Each run" } (each) }
    }
}

/// Change over all values, percent of their median; `None` where it may be chance.
fn trend_pct(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let pairs = (0..values.len()).flat_map(|i| (i + 1..values.len()).map(move |j| (i, j)));
    let rises = pairs.clone().map(|(i, j)| values[j].total_cmp(&values[i]) as i32);
    let score = f64::from(rises.sum::<i32>());
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let slopes = pairs.map(|(i, j)| (values[j] - values[i]) / (j - i) as f64);
    let slope = median(slopes)?;
    let middle = median(values.iter().copied()).filter(|m| *m != 0.0)?;
    let found = (score.abs() - 1.0) / deviation > NORMAL_95;
    found.then(|| 100.0 * slope * (n - 1.0) / middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_found_in_a_drift_and_not_in_noise() {
        let drift: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        let pct = trend_pct(&drift).expect("a trend");
        assert!((pct - 100.0 * 19.0 / 109.5).abs() < 1e-9, "{pct}");
        let noise: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * 7 % 5)).collect();
        assert_eq!(trend_pct(&noise), None);
        assert_eq!(trend_pct(&[100.0; 20]), None);
    }
}
