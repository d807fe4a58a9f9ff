//! Every figure of every cell.

use assay_analysis::estimate;
use assay_stats::{HostLoad, LatencySummary, OpSummary};
use assay_store::model::CellResult;

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{axis_columns, name, remarks};

/// A column's heading and how to get its nanoseconds, and how many samples make it one of its own.
type LatencyColumn = (&'static str, fn(&LatencySummary) -> f64, u64);

/// A column only where something has enough samples for it: most jobs have not.
const RAREST: &str = "p99.999";

const LATENCIES: [LatencyColumn; 10] = [
    ("mean", |l| l.mean, 1),
    ("std dev", |l| l.stddev, 1),
    ("min", |l| l.min as f64, 1),
    ("p50", |l| l.p50 as f64, 1),
    ("p90", |l| l.p90 as f64, 10),
    ("p99", |l| l.p99 as f64, 100),
    ("p99.9", |l| l.p99_9 as f64, 1_000),
    ("p99.99", |l| l.p99_99 as f64, 10_000),
    (RAREST, |l| l.p99_999 as f64, 100_000),
    ("max", |l| l.max as f64, 1),
];

/// Of the service time.
const SERVICE: [&str; 3] = ["mean", "p99", "max"];

/// In a narrow table.
const ESSENTIAL: [&str; 4] = ["mean", "p99", "p99.9", "max"];

/// A column's heading and how to get it from a host's load.
type HostColumn = (&'static str, fn(&HostLoad) -> f64);

/// The processor split of report A.
pub const HOST: [HostColumn; 5] = [
    ("user", |h| h.user_pct),
    ("system", |h| h.system_pct),
    ("irq", |h| h.irq_pct),
    ("iowait", |h| h.iowait_pct),
    ("idle", |h| h.idle_pct),
];

/// One row per cell, drive and operation. `whole` adds every percentile, the host and further values.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>, whole: bool) -> Table {
    let axes = section.varying();
    let results: Vec<&CellResult> = section.points.iter().filter_map(Point::result).collect();
    let most_samples = results
        .iter()
        .flat_map(|r| [r.read.latency_ns.samples, r.write.latency_ns.samples])
        .max()
        .unwrap_or(0);
    let latencies: Vec<&LatencyColumn> = LATENCIES
        .iter()
        .filter(|(label, _, _)| whole || ESSENTIAL.contains(label))
        .filter(|(label, _, needed)| *label != RAREST || most_samples >= *needed)
        .collect();
    let host = whole && results.iter().any(|r| r.host.is_some());
    // The host's, whatever column it stands beside: no drive's power is known from it.
    let power = host
        && results
            .iter()
            .any(|r| r.host.is_some_and(|h| h.package_w.is_some()));
    let service = results
        .iter()
        .any(|r| r.read.service_ns.is_some() || r.write.service_ns.is_some());
    let mut values: Vec<&str> = results
        .iter()
        .flat_map(|r| r.values.keys().map(String::as_str))
        .collect();
    values.sort_unstable();
    values.dedup();
    values.retain(|_| whole);
    let known = whole
        && section
            .points
            .iter()
            .any(|p| precision(p).is_some_and(|pair| pair.iter().any(Option::is_some)));
    let mixed = results
        .iter()
        .any(|r| operations(r).len() > 1 || r.write.ios > 0 && r.read.ios > 0);

    let mut columns = axis_columns(&axes);
    if mixed {
        columns.push(Column::of("operation", ""));
    }
    let latency_group = if service {
        "latency from the intended start, \u{b5}s"
    } else {
        "latency, \u{b5}s"
    };
    columns.push(Column::of("bandwidth", "MiB/s"));
    columns.push(Column::of("rate", "IOPS"));
    if known {
        let group = "known to, \u{b1} % (95 %)";
        columns.extend(["rate", "mean latency"].map(|label| Column::under(group, label, "")));
    }
    columns.extend(
        latencies
            .iter()
            .map(|(label, _, _)| Column::under(latency_group, label, "")),
    );
    if service && whole {
        let group = "service time, \u{b5}s";
        columns.extend(SERVICE.map(|label| Column::under(group, label, "")));
    }
    columns.push(Column::of("errors", ""));
    if host {
        columns.extend(HOST.map(|(label, _)| Column::under("host CPU, %", label, "")));
    }
    if power {
        columns.push(Column::under("host power, W", "processors", ""));
    }
    columns.extend(values.iter().map(|v| Column::of(&format::humanise(v), "")));

    let mut rows = Vec::new();
    for point in &section.points {
        let places: Vec<Cell> = axes
            .iter()
            .map(|a| Cell::Text(a.value(point.plan()).label))
            .collect();
        let Some(result) = point.result() else {
            let mut cells = places;
            if let Some((short, full)) = point.remark() {
                cells.push(Cell::Missing(short, full));
            }
            cells.resize(columns.len(), Cell::Empty);
            rows.push(Row {
                name: name(lineup, point.drive),
                cells,
            });
            continue;
        };
        let all = operations(result);
        // The series of a mixed workload is of both operations together.
        let precision = precision(point).filter(|_| all.len() == 1);
        for (operation, summary) in all {
            let mut cells = places.clone();
            if mixed {
                cells.push(Cell::Text(operation.to_owned()));
            }
            cells.push(Cell::Number(Number {
                text: format::figure(summary.mib_per_s),
                mark: point.remark().map(|(short, _)| short.to_owned()),
                ..Number::default()
            }));
            cells.push(Cell::number(format::figure(summary.iops)));
            if known {
                cells.extend(precision.unwrap_or_default().map(|p| match p {
                    Some(pct) => Cell::number(format::figure(pct)),
                    None => Cell::Empty,
                }));
            }
            cells.extend(
                latencies
                    .iter()
                    .map(|column| latency(&summary.latency_ns, column)),
            );
            if service && whole {
                let columns = LATENCIES
                    .iter()
                    .filter(|(label, _, _)| SERVICE.contains(label));
                cells.extend(columns.map(|column| match &summary.service_ns {
                    Some(service) => latency(service, column),
                    None => Cell::Empty,
                }));
            }
            cells.push(Cell::alarming(summary.errors));
            if host {
                cells.extend(HOST.map(|(_, of)| match &result.host {
                    Some(load) => Cell::number(format::percent(of(load))),
                    None => Cell::Empty,
                }));
            }
            if power {
                let watts = result.host.and_then(|load| load.package_w);
                cells.push(watts.map_or(Cell::Empty, |w| Cell::number(format!("{w:.1}"))));
            }
            cells.extend(values.iter().map(|key| match result.values.get(*key) {
                Some(value) => Cell::number(format::figure(*value)),
                None => Cell::Empty,
            }));
            rows.push(Row {
                name: name(lineup, point.drive),
                cells,
            });
        }
    }
    let mut notes = remarks(lineup, &section.points);
    if rows
        .iter()
        .flat_map(|r| &r.cells)
        .any(|c| matches!(c, Cell::Missing("\u{2013}", _)))
    {
        notes.push("\u{2013}: too few samples for this percentile; see max".to_owned());
    }
    if power {
        notes.push(
            "host power: what the host's processors drew by their own counters (RAPL), not what the drive drew"
                .to_owned(),
        );
    }
    if known {
        notes.push(
            "known to: half-width of the 95 % confidence interval of the mean, in percent of it, from the intervals' own spread by batch means, \
             which takes into account that neighbours are alike; says nothing of what a repetition would change"
                .to_owned(),
        );
    }
    Table {
        caption: if whole {
            format!("{}: all figures", section.title)
        } else {
            section.title.to_owned()
        },
        corner: "drive".to_owned(),
        columns,
        rows,
        notes,
    }
}

/// How well rate and mean latency are known: half-widths of their intervals, percent; `None` where nothing was measured.
fn precision(point: &Point<'_>) -> Option<[Option<f64>; 2]> {
    let estimates = estimate::of(point.part?);
    let half = |e: Option<assay_stats::Estimate>| e.and_then(|e| e.half_width_pct());
    Some([half(estimates.iops), half(estimates.latency_mean_ns)])
}

/// Reads and writes that took place; of nothing at all, what was read (nothing).
pub fn operations(result: &CellResult) -> Vec<(&'static str, &OpSummary)> {
    let both = [("read", &result.read), ("write", &result.write)];
    let happened: Vec<_> = both
        .into_iter()
        .filter(|(_, o)| o.ios > 0 || o.errors > 0)
        .collect();
    if happened.is_empty() {
        vec![both[0]]
    } else {
        happened
    }
}

/// A latency, or a dash where there are too few samples for it to be one of its own.
fn latency(summary: &LatencySummary, (label, of, needed): &LatencyColumn) -> Cell {
    if summary.samples >= *needed {
        Cell::number(format::micros(of(summary)))
    } else {
        Cell::Missing(
            "\u{2013}",
            format!(
                "{label} needs at least {needed} samples, there are {}",
                summary.samples
            ),
        )
    }
}
