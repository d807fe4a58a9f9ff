//! The whole drive written and read back: does it hold what it says?

use assay_store::model::{CellResult, VerifySummary};

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{name, remarks, spread_notes, with_spread};
use assay_analysis::estimate;
use assay_analysis::verified::{WorstPass, bad_blocks, worst_pass};
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
    verify.map_or(0, bad_blocks)
}

/// What the worst pass over a drive's blocks found.
fn worst<'a>(results: impl Iterator<Item = &'a CellResult>) -> Option<WorstPass<'a>> {
    worst_pass(results.filter_map(|r| r.verify.as_ref()))
}

/// What is to be said before any table: one sentence per drive that does not hold what it says.
pub fn alarms(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<String> {
    let mut alarms = Vec::new();
    for &drive in &section.drives {
        let own = || section.points.iter().filter(move |p| p.drive == drive);
        let worst = worst(own().filter_map(Point::result));
        let bad = worst.map_or(0, |w| w.bad_blocks);
        let checked = worst.map_or(0, |w| w.summary.blocks_checked);
        let errors: u64 = own()
            .filter_map(Point::result)
            .map(CellResult::errors)
            .sum();
        if bad == 0 && errors == 0 {
            continue;
        }
        let kind = |key: &str| worst.map_or(0, |w| found(w.summary, key));
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

/// Blocks of one kind of finding.
fn found(summary: &VerifySummary, kind: &str) -> u64 {
    summary.found.get(kind).copied().unwrap_or(0)
}

fn percent_of(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if share >= 0.1 {
        format!("{} %", format::percent(share))
    } else {
        format!("{} %", format::figure(share))
    }
}

/// One row per drive.
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
    let (written, read, blocks) = ("written", "read back", "blocks");
    let mut columns = vec![
        Column::under("", "result", ""),
        Column::under("", "says it holds", ""),
        Column::under(written, "bytes", ""),
        Column::under(written, "MiB/s", ""),
        Column::under(read, "bytes", ""),
        Column::under(read, "MiB/s", ""),
        Column::under(blocks, "verified", ""),
    ];
    columns.extend(kinds.iter().map(|(key, _)| Column::under(blocks, key, "")));
    columns.push(Column::under("", "errors", ""));
    let rows: Vec<Row> = section
        .drives
        .iter()
        .map(|&drive| Row {
            name: name(lineup, drive),
            cells: figures(lineup, section, drive, &kinds),
        })
        .collect();
    let mut notes: Vec<String> = vec![
        kinds
            .iter()
            .map(|(key, words)| format!("{key}: {words}"))
            .collect::<Vec<String>>()
            .join("; "),
    ];
    notes.extend(remarks(lineup, &section.points));
    Table {
        caption: format!("{}: result", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(notes, &rows),
        rows,
    }
}

fn figures(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drive: usize,
    kinds: &[(&str, &str)],
) -> Vec<Cell> {
    let own = || section.points.iter().filter(move |p| p.drive == drive);
    let results = || own().filter_map(Point::result);
    let worst = worst(results());
    let verified = worst.map_or(0, |w| w.summary.blocks_checked);
    let bad = worst.map_or(0, |w| w.bad_blocks);
    let errors: u64 = results().map(CellResult::errors).sum();
    let remark = own().find_map(Point::remark);
    let verdict = match (&remark, bad, errors, verified) {
        (_, 1.., _, _) => Cell::Number(Number {
            text: "WRONG DATA".to_owned(),
            alarm: true,
            ..Number::default()
        }),
        (_, 0, 1.., _) => Cell::Number(Number {
            text: "ERRORS".to_owned(),
            alarm: true,
            ..Number::default()
        }),
        (Some((short, full)), ..) => Cell::Missing(short, full.clone()),
        (None, 0, 0, 0) => Cell::Missing("not verified", "nothing was read back".to_owned()),
        (None, 0, 0, 1..) => Cell::number("all as written"),
    };
    let mut cells = vec![
        verdict,
        Cell::number(format::capacity(lineup.drives[drive].info.capacity_bytes)),
    ];
    type Figure<T> = fn(&CellResult) -> T;
    let ways: [(Figure<u64>, Figure<f64>); 2] = [
        (|r| r.write.bytes, |r| r.write.mib_per_s),
        (|r| r.read.bytes, |r| r.read.mib_per_s),
    ];
    for (bytes, rate) in ways {
        let moved = |p: &&Point<'_>| p.result().is_some_and(|r| bytes(r) > 0);
        let last = own().rfind(moved);
        match last.and_then(|p| p.result()) {
            Some(result) => {
                let all = results().map(bytes).sum();
                cells.push(Cell::number(format::capacity(all)));
                let known = last.and_then(|p| estimate::of(p.part?).mib_per_s);
                let figure = Cell::number(format::figure(rate(result)));
                cells.push(with_spread(figure, known, 1.0));
            }
            None => cells.extend([Cell::Empty, Cell::Empty]),
        }
    }
    cells.push(Cell::number(group_digits(verified)));
    for (key, _) in kinds {
        cells.push(Cell::alarming(worst.map_or(0, |w| found(w.summary, key))));
    }
    cells.push(Cell::alarming(errors));
    cells
}
