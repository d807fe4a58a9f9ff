//! Write amplification by size, alignment and order of the writes.

use assay_analysis::endurance::{self, NoAmplification, WriteAmplification};
use assay_analysis::indirection::{self, Unit};
use assay_units::text::format_size;

use crate::format::{distinct, figure, ratio};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};

/// The unit in which a drive maps its data.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Without garbage collection a drive programs what the host writes, once. Random writes of \
         less than its mapping unit have it read and program whole units: their amplification is \
         the unit over their size, and each halving of the size doubles it. Writes across two \
         units cost both. Sequential writes complete their units in the write buffer, at any size. \
         A program that writes at random should use multiples of the unit, aligned to it."
    },
    tables: |section| vec![table(section)],
    key_figures: |section, drive| {
        let unit = unit_text(section, drive);
        let key = unit.map(|value| KeyFigure {
            label: "Mapping unit".to_owned(),
            value,
            unit: "",
            details: "smallest random write without amplification".to_owned(),
        });
        key.into_iter().collect()
    },
    ..SectionView::DEFAULT
};

/// The write amplification of a point, or why there is none.
pub fn amplification_of_point(
    point: &Point<'_>,
) -> Option<Result<WriteAmplification, NoAmplification>> {
    endurance::of_cell(&point.set.runs[point.run], point.cell, point.data?)
}

/// The unit of a drive, in words.
pub fn unit_text(section: &Section<'_>, drive: usize) -> Option<String> {
    let point = section.measured(drive).next()?;
    let unit = indirection::of_run(&point.set.runs[point.run], point.index)?;
    Some(match unit {
        Unit::Bytes(bytes) => format_size(bytes),
        Unit::AtMost(bytes) => format!("at most {}", format_size(bytes)),
    })
}

/// One row per drive and size, one column per order and alignment.
pub fn table(section: &Section<'_>) -> Table {
    let title = |p: &Point<'_>| p.plan().title.clone();
    let size = |p: &Point<'_>| p.plan().workload.bs_bytes;
    let titles = distinct(section.points.iter().map(title));
    let mut sizes = distinct(section.points.iter().map(size));
    sizes.sort_unstable();
    let mut columns = vec![Column::new("block size", "")];
    for name in &titles {
        columns.extend(Column::all_under(name, ["write amplification", "IOPS"]));
    }
    let mut rows: Vec<Row> = Vec::new();
    for &drive in &section.drives {
        for &bytes in &sizes {
            let mut cells = vec![TableCell::Text(format_size(bytes))];
            let mut first = None;
            for name in &titles {
                let here = |p: &&Point<'_>| size(p) == bytes && title(p) == *name;
                let Some(point) = section.of_drive(drive).rfind(here) else {
                    cells.extend([TableCell::Empty, TableCell::Empty]);
                    continue;
                };
                first = first.or(Some(point));
                cells.push(amplification_cell(point));
                cells.push(TableCell::figure(point.result().map(|r| r.iops())));
            }
            rows.extend(first.map(|point| point.table_row(cells)));
        }
    }
    let mut notes = section_remarks(section);
    notes.push(
        "write amplification by the drive's counters: bytes programmed over bytes written by the \
         host, in the cell"
            .to_owned(),
    );
    section.table("by size, alignment and order", columns, rows, notes)
}

pub fn amplification_cell(point: &Point<'_>) -> TableCell {
    match amplification_of_point(point) {
        Some(Ok(found)) => TableCell::number(ratio(found.factor)).with(|number| {
            number.details = format!("between {} and {}", figure(found.low), figure(found.high));
        }),
        Some(Err(why)) => TableCell::Missing("n/a", why.to_string()),
        None => reason(point),
    }
}
