//! Health of drives over several runs: one table per drive, by date.

use assay_analysis::health_trend::{self, HealthPoint, HealthTrend, Projection, TrendWarning};
use assay_units::text::group_digits;

use crate::drive_set::DriveSet;
use crate::format::{self, short_title, stamp};
use crate::table::{Column, Heading, Row, Table, TableCell};

/// The tables of the drives that have two or more runs.
pub fn tables(set: &DriveSet<'_>) -> Vec<Table> {
    let trends = health_trend::health_trends(set.runs);
    trends.iter().map(|trend| table(set, trend)).collect()
}

fn table(set: &DriveSet<'_>, trend: &HealthTrend) -> Table {
    let mut columns = Column::list([("run", ""), ("power-on", "h"), ("used", "%"), ("spare", "%")]);
    let written = ["by the host", "to the media"];
    columns.extend(Column::all_under("written over its life", written));
    let factors = ["over its life", "since the run before"];
    columns.extend(Column::all_under("write amplification", factors));
    columns.extend(Column::list([("erases", ""), ("media errors", ""), ("bad blocks", "")]));
    let rows = trend.points.iter().enumerate().map(|(at, point)| {
        let suite = short_title(&set.runs[point.run].manifest.suite.title);
        let is_reset = at > 0 && at == trend.since;
        let mut cells = vec![TableCell::text(suite)];
        cells.extend(figures(point));
        if is_reset {
            // Later counters say nothing about the growth before.
            cells[7] =
                TableCell::Missing("reset", "counters decreased since the run before".to_owned());
        }
        Row::new(Heading::plain(stamp(&point.date)), cells)
    });
    let title = format!("{} {}", trend.model, trend.serial);
    let mut notes = vec![format!(
        "health at the last reading of each run{}",
        match trend.since {
            0 => "",
            _ => "; growth is counted from the last reset on",
        }
    )];
    notes.push(match &trend.projection {
        Ok(projection) => projection_text(projection),
        Err(why) => why.clone(),
    });
    for warning in &trend.warnings {
        let code = TrendWarning::CODE;
        notes.push(format!("{code}: {}; {}", warning.message, warning.advice));
    }
    let table = Table {
        caption: format!("Health over time: {title}"),
        corner: "date".to_owned(),
        columns,
        rows: rows.collect(),
        notes,
    };
    table.without_empty_columns()
}

fn figures(point: &HealthPoint) -> Vec<TableCell> {
    let count =
        |value: Option<u64>| value.map_or(TableCell::Empty, |n| TableCell::number(group_digits(n)));
    let size = |value: Option<u64>| {
        value.map_or(TableCell::Empty, |n| TableCell::number(format::decimal_size(n as f64)))
    };
    let factor = |value: Option<f64>| {
        value.map_or(TableCell::Empty, |x| TableCell::number(format!("{x:.2}")))
    };
    let last = &point.last;
    vec![
        count(last.power_on_hours),
        count(last.used_pct),
        count(last.spare_pct),
        size(last.host_bytes),
        size(last.media_bytes),
        factor(point.amplification_of_life()),
        factor(point.amplification_since),
        count(last.erases),
        last.media_errors.map_or(TableCell::Empty, TableCell::fault_count),
        count(last.bad_blocks),
    ]
}

/// The projection in a sentence, with its assumption.
fn projection_text(projection: &Projection) -> String {
    let day = |at_s: f64| health_trend::day(at_s).unwrap_or_else(|| "an unknown date".to_owned());
    let rate = projection.pct_per_day * 365.0;
    let grows = format!("Percentage Used grows by {rate:.1} % a year");
    let Some(at) = projection.at_s else {
        return format!("{grows}: 100 % is more than a century away");
    };
    let to = projection.latest_s.map_or("later than a century".to_owned(), day);
    let from = projection.earliest_s.map_or("an unknown date".to_owned(), day);
    format!(
        "{grows}; projection: 100 % on {} (between {from} and {to} by its steps of 1 %), if the \
         drive is used as it was from the first to the last of these runs",
        day(at)
    )
}
