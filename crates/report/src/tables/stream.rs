//! Streams of chunks (MLE NVMe Streamer): the best short stream beside the continuous one, the
//! cliff between them and the write cache that explains it.

use std::collections::BTreeSet;

use assay_analysis::attribution::{Cause, RatePhase};
use assay_analysis::streams::{self, Cliff, Stream};
use assay_stats::confidence;
use assay_store::model::CellView;
use assay_units::text::{format_size, group_digits};
use assay_units::{MIB, Op};

use crate::format::{self, plural};
use crate::grid::{Point, Section};
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::capacity;
use crate::tables::cells::{any_number, remarks};
use crate::tables::interval::half_width;

/// The two directions of a stream.
pub const DIRECTIONS: [(Op, &str); 2] = [(Op::Write, "write"), (Op::Read, "read")];

#[derive(Clone, Debug, PartialEq)]
pub struct DriveStreams {
    pub drive: usize,
    /// Short streams, writes first, the shortest first.
    pub short: Vec<Stream>,
    /// The continuous stream, in both directions.
    pub continuous: Vec<Stream>,
    /// Size of the write cache by the rate of the continuous write over time, bytes; one per
    /// repetition that shows it.
    pub caches_bytes: Vec<u64>,
}

impl DriveStreams {
    pub fn peak(&self, op: Op) -> Option<&Stream> {
        streams::peak(&self.short, op)
    }
    pub fn continuous(&self, op: Op) -> Option<&Stream> {
        self.continuous.iter().find(|s| s.op == op)
    }

    /// Lengths at which the rate of short streams falls.
    pub fn cliffs(&self, op: Op) -> Vec<Cliff> {
        streams::cliffs(&self.short, op)
    }

    /// Whether the peak rate is sustained; `None` where one of the two streams was not measured.
    fn verdict(&self, op: Op) -> Option<String> {
        let (peak, continuous) = (self.peak(op)?.mib_per_s, self.continuous(op)?.mib_per_s);
        if streams::holds(peak, continuous) {
            return Some("sustains its rate".to_owned());
        }
        let (peak, continuous) = (format::figure(peak), format::figure(continuous));
        Some(format!("falls from {peak} to {continuous} MiB/s"))
    }

    /// The size of the write cache, or its range; `None` where none was detected.
    pub fn cache(&self) -> Option<String> {
        let caches = || self.caches_bytes.iter().copied();
        let (least, most) = (format_size(caches().min()?), format_size(caches().max()?));
        Some(if least == most { least } else { format!("{least} to {most}") })
    }
}

fn measured<'s, 'a>(
    section: &'s Section<'a>,
    drive: usize,
    view: CellView,
) -> impl Iterator<Item = &'s Point<'a>> {
    let own = section.measured(drive);
    own.filter(move |p| p.plan().view == Some(view))
}

/// The streams of every drive of a section.
pub fn of_section(section: &Section<'_>) -> Vec<DriveStreams> {
    let of = |drive: usize, view: CellView| {
        let complete = measured(section, drive, view).filter(|p| p.remark().is_none());
        streams::streams(complete.filter_map(|p| Some((p.plan(), p.result()?))))
    };
    let cache = |phase: &RatePhase| match phase.cause {
        Cause::SlcCacheExhausted { cache_bytes } => Some(cache_bytes),
        _ => None,
    };
    let drives = section.drives.iter().map(|&drive| DriveStreams {
        drive,
        short: of(drive, CellView::Peak),
        continuous: of(drive, CellView::Continuous),
        caches_bytes: measured(section, drive, CellView::Continuous)
            .flat_map(|point| point.phases().iter().filter_map(cache))
            .collect(),
    });
    drives.filter(|d| !d.short.is_empty() || !d.continuous.is_empty()).collect()
}

/// The lengths of all short streams, ascending.
pub fn short_lengths(all: &[DriveStreams]) -> Vec<u64> {
    let lengths = all.iter().flat_map(|d| &d.short).map(|s| s.length_bytes);
    lengths.collect::<BTreeSet<u64>>().into_iter().collect()
}

/// The mean rate of a point's repetitions; `None` where the section has no streams at its row and
/// column.
pub fn mean_at(section: &Section<'_>, point: &Point<'_>) -> Option<f64> {
    let here = section.points.iter().filter(|p| {
        (p.row, p.column, p.drive) == (point.row, point.column, point.drive)
            && p.plan().view == point.plan().view
            && p.remark().is_none()
    });
    let all = streams::streams(here.filter_map(|p| Some((p.plan(), p.result()?))));
    all.first().map(|s| s.mib_per_s)
}

fn rate(stream: Option<&Stream>, why_missing: &str) -> TableCell {
    let Some(stream) = stream else {
        return TableCell::Missing("\u{2013}", why_missing.to_owned());
    };
    TableCell::figure(stream.mib_per_s).with(|n| {
        n.spread = stream.interval_mib_per_s.and_then(|(low, high)| half_width((high - low) / 2.0));
        n.alarm = stream.errors > 0;
        n.mark = (stream.errors > 0).then(|| "errors".to_owned());
        let length = format_size(stream.length_bytes);
        let repeats = plural(stream.repeats as usize, "repetition");
        let duration = format::duration(stream.mean_ns.round() as u64);
        n.details = format!("{length}, mean of {repeats}, {duration}");
    })
}

/// One row per drive and direction.
fn rows(section: &Section<'_>, all: &[DriveStreams]) -> Vec<Row> {
    let length = |s: Option<&Stream>| {
        s.map_or(TableCell::Empty, |s| TableCell::number(format_size(s.length_bytes)))
    };
    let between = |c: &Cliff| {
        let (before, after) = (format_size(c.before_bytes), format_size(c.after_bytes));
        format!("{before} to {after}")
    };
    let mut rows = Vec::new();
    for streams in all {
        for (op, noun) in DIRECTIONS {
            let (peak, continuous) = (streams.peak(op), streams.continuous(op));
            if peak.is_none() && continuous.is_none() {
                continue;
            }
            let pair = peak.zip(continuous);
            let cliffs: Vec<String> = streams.cliffs(op).iter().map(between).collect();
            let cliffs = match (cliffs.is_empty(), streams.short.is_empty()) {
                (false, _) => TableCell::Text(cliffs.join("; ")),
                (true, false) => TableCell::text("none"),
                (true, true) => TableCell::Empty,
            };
            let cache = streams.cache().filter(|_| op == Op::Write);
            let cells = vec![
                TableCell::text(noun),
                streams.verdict(op).map_or(TableCell::Empty, TableCell::Text),
                rate(peak, "the suite streamer-peak was not run"),
                length(peak),
                rate(continuous, "the suite streamer-continuous was not run"),
                length(continuous),
                TableCell::percent(pair.map(|(p, c)| 100.0 * c.mib_per_s / p.mib_per_s)),
                cliffs,
                cache.map_or(TableCell::Empty, TableCell::Text),
            ];
            rows.push(Row::new(section.set.drives[streams.drive].heading.clone(), cells));
        }
    }
    rows
}

/// Peak and continuous rate.
pub fn table(section: &Section<'_>) -> Table {
    let all = of_section(section);
    let rows = rows(section, &all);
    let mut notes = verified(section);
    let mut note_if =
        |condition: bool, text: &str| notes.extend(condition.then(|| text.to_owned()));
    note_if(
        all.iter().any(|d| !d.short.is_empty()),
        "peak: the fastest short stream, and its length; cliff: between the longest fast stream \
         and the shortest slow one, where the rate falls by a fifth or more and does not recover",
    );
    note_if(
        all.iter().any(|d| !d.caches_bytes.is_empty()),
        "cache: bytes of the continuous stream written before its rate fell; short streams after \
         idle time find it empty",
    );
    note_if(
        any_number(&rows, |n| n.spread.is_some()),
        &format!(
            "\u{b1}: half-width of the {:.0} % confidence interval of the mean, from the \
             repetitions",
            confidence::LEVEL * 100.0
        ),
    );
    let mut measured = all.iter().flat_map(|d| d.short.iter().chain(&d.continuous));
    note_if(
        measured.any(|s| s.repeats == 1),
        "without \u{b1}: measured once, without a confidence interval",
    );
    notes.extend(remarks(&section.incomplete()));
    let (peak, continuous) = ("peak", "continuous");
    let columns = vec![
        Column::new("direction", ""),
        Column::new("verdict", ""),
        Column::under(peak, "mean", "MiB/s"),
        Column::under(peak, "at", ""),
        Column::under(continuous, "mean", "MiB/s"),
        Column::under(continuous, "of", ""),
        Column::new("continuous \u{f7} peak", "%"),
        Column::new("cliff", ""),
        Column::new("write cache", ""),
    ];
    let table = section.table("verdict", columns, rows, notes);
    table.without_empty_columns()
}

/// Notes on drives whose data were verified without a fault; [`capacity::alarms`] reports faults
/// before any table.
fn verified(section: &Section<'_>) -> Vec<String> {
    let note = |&drive: &usize| {
        let points = || measured(section, drive, CellView::Continuous);
        let verify = points().filter_map(|p| p.result()?.verify.as_ref());
        let blocks: u64 = verify.map(|v| v.blocks_checked).sum();
        let bad: u64 = points().map(capacity::bad_blocks_of).sum();
        let (name, checked) = (section.set.full_name(drive), group_digits(blocks));
        let verified = capacity::VERIFIED;
        (blocks > 0 && bad == 0)
            .then(|| format!("{name}: {checked} blocks read back and compared, {verified}"))
    };
    section.drives.iter().filter_map(note).collect()
}

/// Every length of short stream: one row per length, drives and directions side by side; empty
/// without any.
pub fn lengths(section: &Section<'_>) -> Table {
    let mut all = of_section(section);
    all.retain(|d| !d.short.is_empty());
    let columns = all.iter().flat_map(|streams| {
        let heading = &section.set.drives[streams.drive].heading;
        DIRECTIONS.map(|(_, noun)| Column::of_drive(heading, noun))
    });
    let rates = all.iter().flat_map(|d| &d.short).map(|s| s.mib_per_s);
    let most = rates.fold(0.0, f64::max);
    let rows = short_lengths(&all).into_iter().map(|length| {
        let cells = all.iter().flat_map(|streams| {
            DIRECTIONS.map(|(op, _)| {
                let mut short = streams.short.iter();
                let stream = short.find(|s| s.op == op && s.length_bytes == length);
                let share = stream.map(|s| s.mib_per_s / most);
                let share = share.filter(|share| share.is_finite());
                rate(stream, "not measured: see below").with(|n| n.share = share)
            })
        });
        Row::new(Heading::plain(format_size(length)), cells.collect())
    });
    Table {
        caption: section.caption("mean rate by length, MiB/s"),
        corner: "stream".to_owned(),
        rows: rows.collect(),
        columns: columns.collect(),
        notes: Vec::new(),
    }
}

/// A length in MiB, for a horizontal axis.
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / MIB as f64
}
