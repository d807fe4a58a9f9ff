//! Capacity verification: bytes written and read back, and the faults found.

use assay_analysis::estimate;
use assay_analysis::verified::{WorstPass, bad_blocks, worst_pass};
use assay_store::model::{CellResult, VerifySummary};
use assay_units::text::group_digits;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{name, remarks, spread_notes, with_spread};

/// Result of a drive without faults.
pub const VERIFIED: &str = "all as written";
/// Result of a drive with mismatched blocks.
pub const MISCOMPARE: &str = "MISCOMPARE";

/// Kinds of findings, typical ones of counterfeit capacity first, and whether they are always listed.
const KINDS: [(&str, &str, bool); 5] = [
    ("misplaced", "data of another address", true),
    ("lost", "never written", true),
    ("stale", "an older write", false),
    ("torn", "half old, half new", false),
    ("corrupt", "damaged", true),
];

/// Mismatched blocks of a point.
pub fn bad_blocks_of(point: &Point<'_>) -> u64 {
    let verify = point.result().and_then(|r| r.verify.as_ref());
    verify.map_or(0, bad_blocks)
}

/// The findings of a drive: its worst verification pass, and failed operations of all cells.
struct Findings<'a> {
    worst: Option<WorstPass<'a>>,
    errors: u64,
}

impl<'a> Findings<'a> {
    fn of(section: &Section<'a>, drive: usize) -> Findings<'a> {
        let results = || of_drive(section, drive).filter_map(Point::result);
        Findings {
            worst: worst_pass(results().filter_map(|r| r.verify.as_ref())),
            errors: results().map(CellResult::errors).sum(),
        }
    }

    fn bad(&self) -> u64 {
        self.worst.map_or(0, |w| w.bad_blocks)
    }

    fn checked(&self) -> u64 {
        self.worst.map_or(0, |w| w.summary.blocks_checked)
    }

    fn count(&self, kind: &str) -> u64 {
        let found = |summary: &VerifySummary| summary.found.get(kind).copied();
        self.worst.and_then(|w| found(w.summary)).unwrap_or(0)
    }

    /// `3 of 1,000 blocks (0.3 %)`.
    fn bad_of_checked(&self) -> String {
        let share = 100.0 * self.bad() as f64 / self.checked().max(1) as f64;
        let share = if share >= 0.1 {
            format::percent(share)
        } else {
            format::figure(share)
        };
        format!(
            "{} of {} blocks ({share} %)",
            group_digits(self.bad()),
            group_digits(self.checked())
        )
    }
}

fn of_drive<'s, 'a>(
    section: &'s Section<'a>,
    drive: usize,
) -> impl DoubleEndedIterator<Item = &'s Point<'a>> {
    section.points.iter().filter(move |p| p.drive == drive)
}

/// One sentence per drive with mismatched blocks or errors, shown before any table.
pub fn alarms(set: &DriveSet<'_>, section: &Section<'_>) -> Vec<String> {
    let mut alarms = Vec::new();
    for &drive in &section.drives {
        let findings = Findings::of(section, drive);
        let name = set.full_name(drive);
        let displaced = findings.count("misplaced") + findings.count("lost");
        if displaced > 0 && displaced * 20 >= findings.checked() {
            // Not a stray block or two: addresses beyond some size alias others.
            let reported = format::capacity(set.drives[drive].info.capacity_bytes);
            alarms.push(format!(
                "{name} reports {reported} and does not hold it: {} returned the data of another address or none. This indicates counterfeit capacity: data written beyond the true capacity are lost.",
                findings.bad_of_checked()
            ));
        } else if findings.bad() > 0 {
            alarms.push(format!(
                "{name} returned wrong data: {}.",
                findings.bad_of_checked()
            ));
        } else if findings.errors > 0 {
            alarms.push(format!(
                "{name} failed {} operations; blocks that could not be written or read were not verified.",
                group_digits(findings.errors)
            ));
        }
    }
    alarms
}

/// One row per drive.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let occurs = |kind: &str| {
        let results = section.points.iter().filter_map(Point::result);
        let mut verified = results.filter_map(|r| r.verify.as_ref());
        verified.any(|v| v.found.get(kind).is_some_and(|n| *n > 0))
    };
    let kinds = KINDS
        .iter()
        .filter(|(kind, _, always)| *always || occurs(kind));
    let kinds: Vec<(&str, &str)> = kinds.map(|(kind, text, _)| (*kind, *text)).collect();
    let (written, read, blocks) = ("written", "read back", "blocks");
    let mut columns = vec![
        Column::of("result", ""),
        Column::of("reported capacity", ""),
        Column::under(written, "bytes", ""),
        Column::under(written, "MiB/s", ""),
        Column::under(read, "bytes", ""),
        Column::under(read, "MiB/s", ""),
        Column::under(blocks, "verified", ""),
    ];
    columns.extend(
        kinds
            .iter()
            .map(|(kind, _)| Column::under(blocks, kind, "")),
    );
    columns.push(Column::of("errors", ""));
    let row = |drive: &usize| Row::new(name(set, *drive), figures(set, section, *drive, &kinds));
    let rows: Vec<Row> = section.drives.iter().map(row).collect();
    let legend = kinds.iter().map(|(kind, text)| format!("{kind}: {text}"));
    let mut notes = vec![legend.collect::<Vec<String>>().join("; ")];
    notes.extend(remarks(set, &section.points));
    let notes = spread_notes(notes, &rows);
    Table::of_drives(section.caption("result"), columns, rows, notes)
}

fn figures(
    set: &DriveSet<'_>,
    section: &Section<'_>,
    drive: usize,
    kinds: &[(&str, &str)],
) -> Vec<Cell> {
    let findings = Findings::of(section, drive);
    let own = || of_drive(section, drive);
    let remark = own().find_map(Point::remark);
    let alarm = |text: &str| Cell::number(text).with(|n| n.alarm = true);
    let verdict = match (remark, findings.bad(), findings.errors, findings.checked()) {
        (_, 1.., _, _) => alarm(MISCOMPARE),
        (_, 0, 1.., _) => alarm("ERRORS"),
        (Some((short, full)), ..) => Cell::Missing(short, full),
        (None, 0, 0, 0) => Cell::Missing("not verified", "nothing was read back".to_owned()),
        (None, 0, 0, 1..) => Cell::number(VERIFIED),
    };
    let reported = format::capacity(set.drives[drive].info.capacity_bytes);
    let mut cells = vec![verdict, Cell::number(reported)];
    type Of<T> = fn(&CellResult) -> T;
    let directions: [(Of<u64>, Of<f64>); 2] = [
        (|r| r.write.bytes, |r| r.write.mib_per_s),
        (|r| r.read.bytes, |r| r.read.mib_per_s),
    ];
    for (bytes, rate) in directions {
        let last = own().rfind(|p| p.result().is_some_and(|r| bytes(r) > 0));
        let Some((point, result)) = last.and_then(|p| Some((p, p.result()?))) else {
            cells.extend([Cell::Empty, Cell::Empty]);
            continue;
        };
        let all = own().filter_map(Point::result).map(bytes).sum();
        cells.push(Cell::number(format::capacity(all)));
        let estimate = point.data.and_then(|data| estimate::of(data).mib_per_s);
        cells.push(with_spread(Cell::figure(rate(result)), estimate, 1.0));
    }
    cells.push(Cell::number(group_digits(findings.checked())));
    cells.extend(
        kinds
            .iter()
            .map(|(kind, _)| Cell::fault_count(findings.count(kind))),
    );
    cells.push(Cell::fault_count(findings.errors));
    cells
}
