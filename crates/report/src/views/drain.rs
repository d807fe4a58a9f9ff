//! Time until an amount of data is on the drive.

use assay_analysis::drain::{self, Drain};
use assay_stats::median;
use assay_units::text::format_size;

use crate::charts::timeline;
use crate::format::{duration, figure, plural};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};

/// An amount of data written and flushed, repeated with pauses.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Each repetition writes the same amount of data and ends with a flush: a program that \
         waits for its checkpoint waits this long. A first repetition that is faster than the \
         others went into a write cache that the pauses do not empty; plan with the longest."
    },
    tables: |section| vec![table(section)],
    charts: |section| timeline::chart(section).into_iter().collect(),
    key_figures: |section, drive| {
        let longest = longest(section, drive);
        let key = longest.map(|(seconds, details)| KeyFigure {
            label: format!("{}, longest", section.title),
            value: figure(seconds),
            unit: "s",
            details,
        });
        key.into_iter().collect()
    },
    ..SectionView::DEFAULT
};

/// What a point drained.
pub fn drain_of_point(point: &Point<'_>) -> Option<Drain> {
    drain::drain_of_cell(point.cell, point.data?)
}

/// The drains of one workload on a drive, in the order of the repetitions.
pub struct Repeated<'s, 'a> {
    pub first: &'s Point<'a>,
    pub drains: Vec<Drain>,
}

impl Repeated<'_, '_> {
    fn seconds(&self) -> Vec<f64> {
        self.drains.iter().map(|drain| drain.seconds).collect()
    }
    pub fn worst_s(&self) -> Option<f64> {
        self.seconds().into_iter().reduce(f64::max)
    }
}

/// The drains of a section by drive and workload.
pub fn repeated<'s, 'a>(section: &'s Section<'a>) -> Vec<Repeated<'s, 'a>> {
    let mut all: Vec<Repeated<'s, 'a>> = Vec::new();
    for point in &section.points {
        let place = |p: &Point<'_>| (p.drive, p.row, p.column, p.run);
        let same = |other: &&mut Repeated<'_, '_>| place(other.first) == place(point);
        match all.iter_mut().find(same) {
            Some(known) => known.drains.extend(drain_of_point(point)),
            None => all.push(Repeated {
                first: point,
                drains: drain_of_point(point).into_iter().collect(),
            }),
        }
    }
    all
}

/// One row per drive and workload.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([("workload", ""), ("data", ""), ("repetitions", "")]);
    columns.extend(Column::all_under("time to drain, s", ["first", "median", "longest"]));
    columns.extend(Column::list([("rate of the longest", "MiB/s"), ("slowest flush", "")]));
    let axes = section.varying();
    let rows: Vec<Row> = repeated(section)
        .iter()
        .map(|own| {
            let point = own.first;
            let mut cells = vec![TableCell::text(point.coordinates(&axes))];
            let (Some(first), Some(worst_s)) = (own.drains.first(), own.worst_s()) else {
                cells.push(reason(point));
                return point.table_row(cells);
            };
            let slowest = own.drains.iter().map(|drain| drain.flush_s);
            let flush_s = slowest.fold(0.0, f64::max);
            cells.extend([
                TableCell::Text(format_size(first.bytes)),
                TableCell::number(own.drains.len().to_string()),
                TableCell::figure(first.seconds),
                TableCell::figure(median(&own.seconds())),
                TableCell::figure(worst_s),
                TableCell::figure(own.drains.iter().map(Drain::mib_per_s).reduce(f64::min)),
                TableCell::Text(duration((flush_s * 1e9) as u64)),
            ]);
            point.table_row(cells)
        })
        .collect();
    let mut notes = section_remarks(section);
    notes.push(
        "from the first write to the end of the last flush: data in a volatile write cache are \
         not on the drive"
            .to_owned(),
    );
    section.table("time to drain", columns, rows, notes).without_empty_columns()
}

/// The longest drain of a drive, with its workload: value and details.
pub fn longest(section: &Section<'_>, drive: usize) -> Option<(f64, String)> {
    let own = repeated(section).into_iter().filter(|r| r.first.drive == drive);
    let (worst_s, of) =
        own.filter_map(|r| Some((r.worst_s()?, r))).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let first = of.drains.first()?;
    let details = format!(
        "{} in {}, the longest of {}",
        format_size(first.bytes),
        figure(worst_s),
        plural(of.drains.len(), "repetition")
    );
    Some((worst_s, details))
}
