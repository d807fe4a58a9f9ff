//! Drives at the lowest queue depth that reaches 95 % of their best rate (report D).

use assay_analysis::estimate;
use assay_analysis::knee::total_depth;
use assay_stats::knee::{DepthKnee, SHARE, lowest_depth_reaching};

use super::power;
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{name, remarks, spread, spread_note};

/// Blocks up to this size are counted in operations, larger ones in bytes.
const SMALL_BYTES: u64 = 16 << 10;

/// Beside a knee that is the deepest point of its sweep.
const STILL_RISING: &str = "still rising";

/// Are operations what counts?
pub fn small_blocks(section: &Section<'_>) -> bool {
    let all = section.points.iter().map(|p| p.plan().workload.bs_bytes);
    all.max().is_some_and(|largest| largest <= SMALL_BYTES)
}

/// Which point of a sweep is the knee. Only whole results count, and one alone is no sweep.
pub fn knees(points: &[&Point<'_>]) -> Option<usize> {
    knee_of(points).map(|knee| knee.index)
}

fn knee_of(points: &[&Point<'_>]) -> Option<DepthKnee> {
    let rates: Vec<(u32, f64)> = points
        .iter()
        .map(|p| {
            let whole = p.result().filter(|_| p.remark().is_none());
            let depth = total_depth(&p.plan().workload);
            (depth, whole.map_or(0.0, |r| r.iops()))
        })
        .collect();
    let knee = lowest_depth_reaching(&rates, SHARE)?;
    (points.len() > 1).then_some(knee)
}

/// One row per drive and column, at the knee.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let several = section.columns.len() > 1;
    let small = small_blocks(section);
    let mut columns = Vec::new();
    if several {
        columns.push(Column::under("", "what", ""));
    }
    columns.push(Column::under("", "knee", ""));
    columns.push(if small {
        Column::under("", "rate", "IOPS")
    } else {
        Column::under("", "rate", "MB/s")
    });
    let latency = "latency at the knee, \u{b5}s";
    columns.extend(["mean", "p99", "p99.99"].map(|l| Column::under(latency, l, "")));
    let powered = section
        .points
        .iter()
        .any(|p| power::mean_watts(p).is_some());
    if powered {
        columns.push(Column::under("", "power", "W"));
        columns.push(if small {
            Column::under("", "efficiency", "kIOPS/W")
        } else {
            Column::under("", "efficiency", "MB/s/W")
        });
    }
    columns.push(Column::under(
        "",
        "best of the sweep",
        if small { "IOPS" } else { "MB/s" },
    ));
    let rate = |p: &Point<'_>| {
        p.result().map_or(0.0, |r| {
            if small {
                r.iops()
            } else {
                r.mib_per_s() * power::MB_PER_MIB
            }
        })
    };
    let mut rows = Vec::new();
    let mut rising = false;
    for points in section.series() {
        let Some(knee) = knee_of(&points) else {
            continue;
        };
        let point = points[knee.index];
        let Some(result) = point.result() else {
            continue;
        };
        let best = points
            .iter()
            .max_by(|a, b| rate(a).total_cmp(&rate(b)))
            .copied()
            .unwrap_or(point);
        let mut cells = Vec::new();
        if several {
            cells.push(Cell::Text(section.column_label(point.column)));
        }
        cells.push(Cell::Number(Number {
            text: section.rows[point.row].label.clone(),
            mark: knee.still_rising.then(|| STILL_RISING.to_owned()),
            ..Number::default()
        }));
        rising |= knee.still_rising;
        cells.push(Cell::Number(Number {
            text: format::figure(rate(point)),
            spread: point.part.and_then(|part| {
                let known = estimate::of(part);
                if small {
                    spread(known.iops, 1.0)
                } else {
                    spread(known.mib_per_s, 1.0 / power::MB_PER_MIB)
                }
            }),
            more: point.plan().id.clone(),
            ..Number::default()
        }));
        let l = result.latency();
        for (value, needed) in [(l.mean, 1), (l.p99 as f64, 100), (l.p99_99 as f64, 10_000)] {
            cells.push(if l.samples >= needed {
                Cell::number(format::micros(value))
            } else {
                Cell::Missing("\u{2013}", format!("too few samples: {}", l.samples))
            });
        }
        if powered {
            let watts = power::mean_watts(point);
            cells.push(watts.map_or_else(power::silent, |w| Cell::number(format::figure(w))));
            cells.push(watts.map_or_else(power::silent, |w| {
                let per_watt = if small {
                    rate(point) / 1e3
                } else {
                    rate(point)
                } / w;
                Cell::number(format::figure(per_watt))
            }));
        }
        cells.push(Cell::Text(format!(
            "{} at {}",
            format::figure(rate(best)),
            section.rows[best.row].label
        )));
        rows.push(Row {
            name: name(lineup, point.drive),
            cells,
        });
    }
    let mut notes = remarks(lineup, &section.points);
    notes.extend(spread_note(&rows));
    notes.push("knee: the lowest depth that reaches 95 % of the best rate of the sweep; more depth buys little but waiting".to_owned());
    if rising {
        notes.push(format!(
            "{STILL_RISING}: the sweep ended before the drive was saturated; its knee lies at this depth or beyond"
        ));
    }
    Table {
        caption: format!("{}: at the knee", section.title),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tables/knee.rs"]
mod tests;
