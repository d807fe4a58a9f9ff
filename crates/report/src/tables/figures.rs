//! Every figure of every cell.

use assay_analysis::estimate;
use assay_stats::{Estimate, HostLoad, LatencySummary, OpSummary};
use assay_store::model::CellResult;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{axis_cells, axis_columns, mark, name, reason, remarks};

/// Heading, value in nanoseconds, and the samples that the figure needs.
type LatencyColumn = (&'static str, fn(&LatencySummary) -> f64, u64);

/// Shown only where some result has enough samples: most jobs do not.
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

/// Columns of the service time.
const SERVICE: [&str; 3] = ["mean", "p99", "max"];

/// Columns of a narrow table.
const ESSENTIAL: [&str; 4] = ["mean", "p99", "p99.9", "max"];

/// Heading and value of a host's load.
type HostColumn = (&'static str, fn(&HostLoad) -> f64);

/// Shares of the host's CPU time, as in DragonFly 2018.
pub const HOST: [HostColumn; 5] = [
    ("user", |h| h.user_pct),
    ("system", |h| h.system_pct),
    ("irq", |h| h.irq_pct),
    ("iowait", |h| h.iowait_pct),
    ("idle", |h| h.idle_pct),
];

/// One row per cell, drive and operation. `whole` adds every percentile, the host and further values.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>, whole: bool) -> Table {
    let axes = section.varying();
    let results: Vec<&CellResult> = section.points.iter().filter_map(Point::result).collect();
    let any = |condition: fn(&CellResult) -> bool| results.iter().any(|r| condition(r));
    let samples = results
        .iter()
        .flat_map(|r| [r.read.latency_ns.samples, r.write.latency_ns.samples]);
    let most_samples = samples.max().unwrap_or(0);
    let mut latencies = LATENCIES.to_vec();
    latencies.retain(|(label, _, needed)| {
        (whole || ESSENTIAL.contains(label)) && (*label != RAREST || most_samples >= *needed)
    });
    let host = whole && any(|r| r.host.is_some());
    // Power of the host's processors; the drive's power is not derived from it.
    let power = host && any(|r| r.host.is_some_and(|h| h.package_w.is_some()));
    let service = any(|r| r.read.service_ns.is_some() || r.write.service_ns.is_some());
    let mut values: Vec<&str> = results
        .iter()
        .flat_map(|r| r.values.keys().map(String::as_str))
        .collect();
    values.sort_unstable();
    values.dedup();
    values.retain(|_| whole);
    let estimated = whole
        && section
            .points
            .iter()
            .any(|p| precision(p).iter().any(Option::is_some));
    let mixed = any(|r| operations(r).len() > 1 || r.write.ios > 0 && r.read.ios > 0);

    let mut columns = axis_columns(&axes);
    if mixed {
        columns.push(Column::of("operation", ""));
    }
    columns.extend([Column::of("bandwidth", "MiB/s"), Column::of("rate", "IOPS")]);
    if estimated {
        let group = "confidence, \u{b1} % (95 %)";
        columns.extend(["rate", "mean latency"].map(|label| Column::under(group, label, "")));
    }
    let group = if service {
        "latency from the intended start, \u{b5}s"
    } else {
        "latency, \u{b5}s"
    };
    columns.extend(
        latencies
            .iter()
            .map(|(label, _, _)| Column::under(group, label, "")),
    );
    if service && whole {
        columns.extend(SERVICE.map(|label| Column::under("service time, \u{b5}s", label, "")));
    }
    columns.push(Column::of("errors", ""));
    if host {
        columns.extend(HOST.map(|(label, _)| Column::under("host CPU, %", label, "")));
    }
    if power {
        columns.push(Column::under("host power, W", "processors", ""));
    }
    columns.extend(values.iter().map(|v| Column::of(format::humanise(v), "")));

    let mut rows = Vec::new();
    for point in &section.points {
        let leading = axis_cells(&axes, point);
        let Some(result) = point.result() else {
            let cells = leading.into_iter().chain([reason(point)]).collect();
            rows.push(Row::new(name(set, point.drive), cells));
            continue;
        };
        let all = operations(result);
        // The series of a mixed workload combines both operations.
        let precision = if all.len() == 1 {
            precision(point)
        } else {
            [None; 2]
        };
        for (operation, summary) in all {
            let mut cells = leading.clone();
            if mixed {
                cells.push(Cell::text(operation));
            }
            cells.push(Cell::figure(summary.mib_per_s).with(|n| n.mark = mark(point)));
            cells.push(Cell::figure(summary.iops));
            if estimated {
                cells.extend(precision.map(|pct| pct.map(Cell::figure).unwrap_or_default()));
            }
            let latency = |l: &LatencySummary, (_, of, needed): &LatencyColumn| {
                Cell::latency(of(l), l.samples, *needed)
            };
            cells.extend(
                latencies
                    .iter()
                    .map(|column| latency(&summary.latency_ns, column)),
            );
            if service && whole {
                let columns = LATENCIES
                    .iter()
                    .filter(|(label, _, _)| SERVICE.contains(label));
                let service = summary.service_ns.as_ref();
                cells.extend(
                    columns.map(|column| service.map(|s| latency(s, column)).unwrap_or_default()),
                );
            }
            cells.push(Cell::fault_count(summary.errors));
            if host {
                let load = result.host.as_ref();
                cells.extend(
                    HOST.map(|(_, of)| load.map(|l| Cell::percent(of(l))).unwrap_or_default()),
                );
            }
            if power {
                let watts = result.host.and_then(|load| load.package_w);
                cells.push(
                    watts
                        .map(|w| Cell::number(format!("{w:.1}")))
                        .unwrap_or_default(),
                );
            }
            let value = |key: &&str| {
                result
                    .values
                    .get(*key)
                    .map(|v| Cell::figure(*v))
                    .unwrap_or_default()
            };
            cells.extend(values.iter().map(value));
            rows.push(Row::new(name(set, point.drive), cells));
        }
    }
    let mut notes = remarks(set, &section.points);
    let mut cells = rows.iter().flat_map(|r| &r.cells);
    if cells.any(|c| matches!(c, Cell::Missing("\u{2013}", _))) {
        notes.push("\u{2013}: too few samples for this percentile; see max".to_owned());
    }
    if power {
        notes.push("host power: power of the host's processors by their own counters (RAPL), not of the drive".to_owned());
    }
    if estimated {
        notes.push("confidence: half-width of the 95 % confidence interval of the mean, in percent of it, by batch means of the intervals, which allows for their correlation; it does not cover the variation between repetitions".to_owned());
    }
    let caption = if whole {
        section.caption("all figures")
    } else {
        section.title.to_owned()
    };
    Table::of_drives(caption, columns, rows, notes)
}

/// Half-widths of the confidence intervals of rate and mean latency, percent.
fn precision(point: &Point<'_>) -> [Option<f64>; 2] {
    let estimates = point.data.map(estimate::of).unwrap_or_default();
    [estimates.iops, estimates.latency_mean_ns]
        .map(|e| e.and_then(|e: Estimate| e.half_width_pct()))
}

/// The operations that took place; without any, reads.
pub fn operations(result: &CellResult) -> Vec<(&'static str, &OpSummary)> {
    let mut operations = vec![("read", &result.read), ("write", &result.write)];
    operations.retain(|(_, o)| o.ios > 0 || o.errors > 0);
    if operations.is_empty() {
        operations.push(("read", &result.read));
    }
    operations
}
