//! Capacity verification: bytes written and read back, and the faults found.

use assay_analysis::verified::{WorstPass, bad_blocks, not_judged, worst_pass};
use assay_store::model::{CellResult, VerifySummary};
use assay_units::text::group_digits;

use crate::format::{self, joined};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::section_remarks;
use crate::tables::interval::{spread_notes, with_spread};

/// Result of a drive without faults.
pub const VERIFIED: &str = "all as written";
/// Result of a drive with mismatched blocks.
pub const MISCOMPARE: &str = "MISCOMPARE";

/// Kinds of findings, typical ones of counterfeit capacity first, and whether they are always
/// listed.
const KINDS: [(&str, &str, bool); 5] = [
    ("misplaced", "data of another address", true),
    ("lost", "never written", true),
    ("stale", "an older write", false),
    ("torn", "half old, half new", false),
    ("corrupt", "damaged", true),
];

/// Result of a drive of which some blocks could not be judged.
const NOT_VERIFIED: &str = "not verified";

/// One pass in two words.
pub fn outcome(verify: &VerifySummary) -> &'static str {
    match (bad_blocks(verify), not_judged(verify)) {
        (0, None) => VERIFIED,
        (0, Some(_)) => NOT_VERIFIED,
        _ => MISCOMPARE,
    }
}

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
    fn new(section: &Section<'a>, drive: usize) -> Findings<'a> {
        let results = || section.of_drive(drive).filter_map(Point::result);
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
        let share = match share {
            0.1.. => format::percent(share),
            _ => format::figure(share),
        };
        let (bad, checked) = (group_digits(self.bad()), group_digits(self.checked()));
        format!("{bad} of {checked} blocks ({share} %)")
    }
}

/// One sentence per drive with mismatched blocks or errors, shown before any table.
pub fn alarms(section: &Section<'_>) -> Vec<String> {
    let alarm = |drive: &usize| {
        let findings = Findings::new(section, *drive);
        let name = section.set.full_name(*drive);
        let bad = findings.bad_of_checked();
        let displaced = findings.count("misplaced") + findings.count("lost");
        if displaced > 0 && displaced * 20 >= findings.checked() {
            // Not a stray block or two: addresses beyond some size alias others.
            let reported = format::capacity(section.set.drives[*drive].info.capacity_bytes);
            Some(format!(
                "{name} reports {reported} and does not hold it: {bad} returned the data of \
                 another address or none. This indicates counterfeit capacity: data written \
                 beyond the true capacity are lost."
            ))
        } else if findings.bad() > 0 {
            Some(format!("{name} returned wrong data: {bad}."))
        } else if findings.errors > 0 {
            Some(format!(
                "{name} failed {} operations; blocks that could not be written or read were not \
                 verified.",
                group_digits(findings.errors)
            ))
        } else {
            None
        }
    };
    section.drives.iter().filter_map(alarm).collect()
}

/// One row per drive.
pub fn table(section: &Section<'_>) -> Table {
    let occurs = |kind: &str| {
        let mut verified = section.results().filter_map(|r| r.verify.as_ref());
        verified.any(|v| v.found.get(kind).is_some_and(|n| *n > 0))
    };
    let mut kinds = KINDS.to_vec();
    kinds.retain(|(kind, _, always)| *always || occurs(kind));
    let mut columns = Column::list([("result", ""), ("reported capacity", "")]);
    columns.extend(Column::all_under("written", ["bytes", "MiB/s"]));
    columns.extend(Column::all_under("read back", ["bytes", "MiB/s"]));
    let verified = ["verified"].into_iter();
    let blocks = verified.chain(kinds.iter().map(|(kind, ..)| *kind));
    columns.extend(blocks.map(|label| Column::under("blocks", label, "")));
    columns.push(Column::new("errors", ""));
    let row = |drive: &usize| {
        let heading = section.set.drives[*drive].heading.clone();
        Row::new(heading, cells(section, *drive, &kinds))
    };
    let rows: Vec<Row> = section.drives.iter().map(row).collect();
    let legend = kinds.iter().map(|(kind, text, _)| format!("{kind}: {text}"));
    let mut notes = vec![joined(legend, "; ")];
    notes.extend(section_remarks(section));
    let notes = spread_notes(notes, &rows);
    section.table("result", columns, rows, notes)
}

fn cells(section: &Section<'_>, drive: usize, kinds: &[(&str, &str, bool)]) -> Vec<TableCell> {
    let findings = Findings::new(section, drive);
    let own = || section.of_drive(drive);
    let remark = own().find_map(Point::remark);
    let alarm = |text: &str| TableCell::number(text).with(|n| n.alarm = true);
    let verdict = match (remark, findings.bad(), findings.errors, findings.checked()) {
        (_, 1.., _, _) => alarm(MISCOMPARE),
        (_, 0, 1.., _) => alarm("ERRORS"),
        (Some((short, full)), ..) => TableCell::Missing(short, full),
        (None, 0, 0, checked) => match findings.worst.and_then(|w| not_judged(w.summary)) {
            Some((_, reasons)) => TableCell::Missing(NOT_VERIFIED, reasons),
            None if checked == 0 => {
                TableCell::Missing(NOT_VERIFIED, "nothing was read back".to_owned())
            }
            None => TableCell::number(VERIFIED),
        },
    };
    let reported = format::capacity(section.set.drives[drive].info.capacity_bytes);
    let mut cells = vec![verdict, TableCell::number(reported)];
    type Moved = fn(&CellResult) -> (u64, f64);
    let directions: [Moved; 2] =
        [|r| (r.write.bytes, r.write.mib_per_s), |r| (r.read.bytes, r.read.mib_per_s)];
    for of in directions {
        let moved = own().filter_map(|p| Some((p, of(p.result()?))));
        let moved: Vec<_> = moved.filter(|(_, (bytes, _))| *bytes > 0).collect();
        let Some((point, (_, rate))) = moved.last() else {
            cells.extend([TableCell::Empty, TableCell::Empty]);
            continue;
        };
        let all = moved.iter().map(|(_, (bytes, _))| bytes).sum();
        cells.push(TableCell::number(format::capacity(all)));
        let estimate = point.estimates().mib_per_s;
        cells.push(with_spread(TableCell::figure(*rate), estimate, 1.0));
    }
    cells.push(TableCell::number(group_digits(findings.checked())));
    let counts = kinds.iter().map(|(kind, ..)| findings.count(kind));
    cells.extend(counts.chain([findings.errors]).map(TableCell::fault_count));
    cells
}
