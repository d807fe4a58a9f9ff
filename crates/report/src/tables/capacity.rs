//! The whole drive written and read back: does it hold what it says?

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{name, remarks};
use assay_units::text::group_digits;

/// Kinds of findings, in words, the ones that a drive smaller than it says gives first.
const KINDS: [(&str, &str); 5] = [
    ("misplaced", "another place's data"),
    ("lost", "never arrived"),
    ("stale", "an older write"),
    ("torn", "half old, half new"),
    ("corrupt", "damaged"),
];

/// Blocks found wrong.
pub fn wrong(point: &Point<'_>) -> u64 {
    let verify = point.result().and_then(|r| r.verify.as_ref());
    verify.map_or(0, |v| v.found.values().sum())
}

/// What is to be said before any table: one sentence per drive that does not hold what it says.
pub fn alarms(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<String> {
    let mut alarms = Vec::new();
    for &drive in &section.drives {
        let own = || section.points.iter().filter(move |p| p.drive == drive);
        let bad: u64 = own().map(wrong).sum();
        let errors: u64 = own()
            .filter_map(Point::result)
            .map(assay_store::model::CellResult::errors)
            .sum();
        let checked: u64 = own()
            .filter_map(|p| Some(p.result()?.verify.as_ref()?.blocks_checked))
            .sum();
        if bad == 0 && errors == 0 {
            continue;
        }
        let kind = |key: &str| -> u64 {
            own()
                .filter_map(|p| p.result()?.verify.as_ref()?.found.get(key).copied())
                .sum()
        };
        let name = lineup.drives[drive].full_name();
        let says = format::capacity(lineup.drives[drive].info.capacity_bytes);
        let displaced = kind("misplaced") + kind("lost");
        // More than a stray block or two: addresses beyond some size land on others.
        let fake = displaced > 0 && displaced * 20 >= checked;
        alarms.push(if fake {
            format!(
                "{name} says that it holds {says}, and does not: {} of {} blocks ({}) came back as another place's data or not at all. This is what a drive with a faked capacity does. Whatever is written to it beyond its true size is lost.",
                group_digits(bad),
                group_digits(checked),
                percent_of(bad, checked),
            )
        } else if bad > 0 {
            format!(
                "{name} gave back wrong data: {} of {} blocks ({}).",
                group_digits(bad),
                group_digits(checked),
                percent_of(bad, checked),
            )
        } else {
            format!(
                "{name} failed {} operations; what it could not write or read was not verified.",
                group_digits(errors)
            )
        });
    }
    alarms
}

fn percent_of(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if share >= 0.1 {
        format!("{} %", format::percent(share))
    } else {
        format!("{} %", format::figure(share))
    }
}

/// One row per drive and cell.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let mut kinds: Vec<(&str, &str)> = KINDS.to_vec();
    let occurs = |key: &str| {
        let results = section.points.iter().filter_map(Point::result);
        results
            .filter_map(|r| r.verify.as_ref())
            .any(|v| v.found.get(key).is_some_and(|n| *n > 0))
    };
    let always = ["misplaced", "lost", "corrupt"];
    kinds.retain(|(key, _)| always.contains(key) || occurs(key));
    let column = |label: &str, unit: &'static str| Column {
        label: label.to_owned(),
        unit,
        ..Column::default()
    };
    let mut columns = vec![
        column("says it holds", ""),
        column("written", ""),
        column("read back", ""),
        column("blocks verified", ""),
    ];
    columns.extend(kinds.iter().map(|(key, words)| Column {
        label: format!("{key} ({words})"),
        ..Column::default()
    }));
    columns.extend([column("errors", ""), column("rate", "MiB/s"), column("result", "")]);
    let rows = section
        .points
        .iter()
        .map(|point| {
            let mut cells = vec![Cell::number(format::capacity(
                lineup.drives[point.drive].info.capacity_bytes,
            ))];
            match (point.result(), point.remark()) {
                (Some(result), remark) => {
                    let bytes = |n: u64| {
                        if n == 0 {
                            Cell::Empty
                        } else {
                            Cell::number(format::capacity(n))
                        }
                    };
                    cells.push(bytes(result.write.bytes));
                    cells.push(bytes(result.read.bytes));
                    match &result.verify {
                        Some(verify) => {
                            cells.push(Cell::number(group_digits(verify.blocks_checked)));
                            cells.extend(kinds.iter().map(|(key, _)| {
                                Cell::alarming(verify.found.get(*key).copied().unwrap_or(0))
                            }));
                        }
                        None => cells.extend(vec![Cell::Empty; 1 + kinds.len()]),
                    }
                    cells.push(Cell::alarming(result.errors()));
                    cells.push(Cell::number(format::figure(result.mib_per_s())));
                    cells.push(match (&result.verify, wrong(point), remark) {
                        (_, 1.., _) => Cell::Text("WRONG DATA".to_owned()),
                        (_, _, Some((short, _))) => Cell::Text(short.to_owned()),
                        (Some(v), 0, None) if v.blocks_checked > 0 && result.errors() == 0 => {
                            Cell::Text("all as written".to_owned())
                        }
                        _ if result.errors() > 0 => Cell::Text("ERRORS".to_owned()),
                        _ => Cell::Text("not verified".to_owned()),
                    });
                }
                (None, Some((short, full))) => cells.push(Cell::Missing(short, full)),
                (None, None) => {}
            }
            cells.resize(columns.len(), Cell::Empty);
            Row {
                name: name(lineup, point.drive),
                cells,
            }
        })
        .collect();
    Table {
        caption: format!("{}: written and verified", section.title),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes: remarks(lineup, &section.points),
    }
}
