//! Streams of chunks: the best of short ones against one without end, per drive, with the cliff between them and the cache behind it.

use assay_analysis::streams::{self, Cliff, Stream};
use assay_stats::confidence;
use assay_store::model::View;
use assay_units::text::format_size;
use assay_units::{MIB, Op};

use crate::charts::phases;
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Name, Number, Row, Table};
use crate::tables::{capacity, name, remarks};

/// The two ways of a stream, with the words for them.
pub const WAYS: [(Op, &str); 2] = [(Op::Write, "write"), (Op::Read, "read")];

/// What is known of one drive's streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The drive, as a position in the line-up.
    pub drive: usize,
    /// Short streams, writes first, the shortest first.
    pub short: Vec<Stream>,
    /// The stream without end, in both ways.
    pub endless: Vec<Stream>,
    /// Size of the write cache, bytes, as the course of the endless write shows it; one per repetition that did.
    pub caches_bytes: Vec<u64>,
}

impl Course {
    /// The best of the short streams.
    pub fn peak(&self, op: Op) -> Option<&Stream> {
        streams::peak(&self.short, op)
    }

    /// The stream without end.
    pub fn continuous(&self, op: Op) -> Option<&Stream> {
        self.endless.iter().find(|s| s.op == op)
    }

    /// Where the rate of short streams falls.
    pub fn cliffs(&self, op: Op) -> Vec<Cliff> {
        streams::cliffs(&self.short, op)
    }

    /// What becomes of the peak, in words; `None` where one of the two was not measured.
    pub fn verdict(&self, op: Op) -> Option<String> {
        let (peak, endless) = (self.peak(op)?.mib_per_s, self.continuous(op)?.mib_per_s);
        Some(if streams::holds(peak, endless) {
            "holds its rate".to_owned()
        } else {
            format!(
                "falls from {} to {} MiB/s",
                format::figure(peak),
                format::figure(endless)
            )
        })
    }

    /// The write cache in words, from the course of the endless write; `None` where that shows none.
    pub fn cache(&self) -> Option<String> {
        let caches = self.caches_bytes.iter().copied();
        let (least, most) = (caches.clone().min()?, caches.max()?);
        let (least, most) = (format_size(least), format_size(most));
        Some(if least == most {
            least
        } else {
            format!("{least} to {most}")
        })
    }
}

fn measured<'s, 'a>(
    section: &'s Section<'a>,
    drive: usize,
    view: View,
) -> impl Iterator<Item = &'s Point<'a>> {
    let own = section.points.iter().filter(move |p| p.drive == drive);
    own.filter(move |p| p.plan().view == Some(view) && p.result().is_some())
}

/// The streams of every drive of a section.
pub fn courses(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Course> {
    let of = |drive: usize, view: View| {
        let whole = measured(section, drive, view).filter(|p| p.remark().is_none());
        streams::streams(whole.filter_map(|p| Some((p.plan(), p.result()?))))
    };
    let courses = section.drives.iter().map(|&drive| Course {
        drive,
        short: of(drive, View::Peak),
        endless: of(drive, View::Continuous),
        caches_bytes: measured(section, drive, View::Continuous)
            .flat_map(|p| {
                phases::of(lineup, p)
                    .iter()
                    .filter_map(|f| f.cache_bytes)
                    .collect::<Vec<_>>()
            })
            .collect(),
    });
    courses
        .filter(|c| !c.short.is_empty() || !c.endless.is_empty())
        .collect()
}

/// The mean rate of a place's repetitions; `None` where the section has no streams there.
pub fn mean_at(section: &Section<'_>, point: &Point<'_>) -> Option<f64> {
    let here = section.points.iter().filter(|p| {
        (p.row, p.column, p.drive) == (point.row, point.column, point.drive)
            && p.plan().view == point.plan().view
            && p.remark().is_none()
    });
    let all = streams::streams(here.filter_map(|p| Some((p.plan(), p.result()?))));
    all.first().map(|s| s.mib_per_s)
}

fn rate(stream: Option<&Stream>, why: &str) -> Cell {
    let Some(stream) = stream else {
        return Cell::Missing("\u{2013}", why.to_owned());
    };
    Cell::Number(Number {
        text: format::figure(stream.mib_per_s),
        spread: spread(stream),
        alarm: stream.errors > 0,
        mark: (stream.errors > 0).then(|| "errors".to_owned()),
        more: format!(
            "{}, mean of {}, {}",
            format_size(stream.length_bytes),
            crate::axis::plural(stream.repeats, "repetition"),
            format::duration(stream.mean_ns.round() as u64)
        ),
        ..Number::default()
    })
}

fn spread(stream: &Stream) -> Option<String> {
    let (low, high) = stream.interval_mib_per_s?;
    let half = (high - low) / 2.0;
    Some(if half > 0.0 && half < 0.005 {
        "< 0.01".to_owned()
    } else {
        format::figure(half)
    })
}

fn between(cliff: &Cliff) -> String {
    format!(
        "{} to {}",
        format_size(cliff.before_bytes),
        format_size(cliff.after_bytes)
    )
}

/// Peak against continuous: one row per drive and way.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let courses = courses(lineup, section);
    let mut rows = Vec::new();
    for course in &courses {
        for (op, word) in WAYS {
            let (peak, endless) = (course.peak(op), course.continuous(op));
            if peak.is_none() && endless.is_none() {
                continue;
            }
            let share = peak
                .zip(endless)
                .map(|(p, e)| 100.0 * e.mib_per_s / p.mib_per_s);
            let cliffs: Vec<String> = course.cliffs(op).iter().map(between).collect();
            let cache = if op == Op::Write {
                course.cache()
            } else {
                None
            };
            rows.push(Row {
                name: name(lineup, course.drive),
                cells: vec![
                    Cell::Text(word.to_owned()),
                    course.verdict(op).map_or(Cell::Empty, Cell::Text),
                    rate(peak, "the suite streamer-peak was not run"),
                    peak.map_or(Cell::Empty, |p| Cell::number(format_size(p.length_bytes))),
                    rate(endless, "the suite streamer-continuous was not run"),
                    endless.map_or(Cell::Empty, |e| Cell::number(format_size(e.length_bytes))),
                    share.map_or(Cell::Empty, |s| Cell::number(format::percent(s))),
                    match (cliffs.is_empty(), course.short.is_empty()) {
                        (false, _) => Cell::Text(cliffs.join("; ")),
                        (true, false) => Cell::Text("none".to_owned()),
                        (true, true) => Cell::Empty,
                    },
                    cache.map_or(Cell::Empty, Cell::Text),
                ],
            });
        }
    }
    let mut notes = proven(lineup, section);
    if courses.iter().any(|c| !c.short.is_empty()) {
        notes.push("peak: the fastest of the short streams, and its length. Cliff: between the longest stream that was fast and the shortest that was not, where the rate falls by a fifth or more and stays down".to_owned());
    }
    if courses.iter().any(|c| !c.caches_bytes.is_empty()) {
        notes.push("cache: what went into the continuous stream before its rate fell, by its course over time; short streams that come after a rest find it empty".to_owned());
    }
    if rows
        .iter()
        .flat_map(|r| &r.cells)
        .any(|c| matches!(c, Cell::Number(n) if n.spread.is_some()))
    {
        notes.push(format!("\u{b1}: half-width of the {:.0} % confidence interval of the mean, from the repetitions", confidence::LEVEL * 100.0));
    }
    notes.extend(repetitions(&courses));
    notes.extend(skipped(lineup, section));
    let (peak, endless) = ("peak", "continuous");
    Table {
        caption: format!("{}: verdict", section.title),
        corner: "drive".to_owned(),
        columns: vec![
            Column::under("", "way", ""),
            Column::under("", "verdict", ""),
            Column::under(peak, "mean", "MiB/s"),
            Column::under(peak, "at", ""),
            Column::under(endless, "mean", "MiB/s"),
            Column::under(endless, "of", ""),
            Column::under("", "continuous \u{f7} peak", "%"),
            Column::under("", "cliff", ""),
            Column::under("", "write cache", ""),
        ],
        rows,
        notes,
    }
    .without_empty_columns()
}

/// That what was read back is what was written; where it is not, [`capacity::alarms`] says so before any table.
fn proven(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for &drive in &section.drives {
        let verified = measured(section, drive, View::Continuous)
            .filter_map(|p| p.result()?.verify.as_ref())
            .map(|v| v.blocks_checked);
        let verified: u64 = verified.sum();
        let bad: u64 = measured(section, drive, View::Continuous)
            .map(capacity::wrong)
            .sum();
        if verified > 0 && bad == 0 {
            notes.push(format!(
                "{}: {} blocks read back and compared, all as written",
                lineup.drives[drive].full_name(),
                assay_units::text::group_digits(verified)
            ));
        }
    }
    notes
}

fn repetitions(courses: &[Course]) -> Vec<String> {
    let all = || {
        courses
            .iter()
            .flat_map(|c| c.short.iter().chain(&c.endless))
    };
    let single = all().any(|s| s.repeats == 1);
    single
        .then(|| {
            "without \u{b1}: measured once, which says nothing of how well the mean is known"
                .to_owned()
        })
        .into_iter()
        .collect()
}

/// The remarks on cells that are not whole, without those on verification, which [`proven`] sums up.
fn skipped(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<String> {
    let not_whole: Vec<Point<'_>> = section
        .points
        .iter()
        .filter(|p| p.remark().is_some())
        .cloned()
        .collect();
    remarks(lineup, &not_whole)
}

/// Every length of short stream: one row per length, drives and ways side by side; empty without any.
pub fn lengths(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let courses: Vec<Course> = courses(lineup, section)
        .into_iter()
        .filter(|c| !c.short.is_empty())
        .collect();
    let mut sizes: Vec<u64> = courses
        .iter()
        .flat_map(|c| &c.short)
        .map(|s| s.length_bytes)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let columns = courses.iter().flat_map(|course| {
        WAYS.map(|(_, word)| Column {
            group: Some(name(lineup, course.drive)),
            label: word.to_owned(),
            unit: "",
        })
    });
    let columns: Vec<Column> = columns.collect();
    let most = courses
        .iter()
        .flat_map(|c| &c.short)
        .map(|s| s.mib_per_s)
        .fold(0.0, f64::max);
    let rows = sizes.iter().map(|&size| Row {
        name: Name::plain(format_size(size)),
        cells: courses
            .iter()
            .flat_map(|course| {
                WAYS.map(|(op, _)| {
                    let own = |s: &&Stream| s.op == op && s.length_bytes == size;
                    let stream = course.short.iter().find(own);
                    match rate(stream, "not measured: see below") {
                        Cell::Number(mut number) => {
                            let share = stream.map_or(0.0, |s| s.mib_per_s) / most;
                            number.share = share.is_finite().then_some(share);
                            Cell::Number(number)
                        }
                        other => other,
                    }
                })
            })
            .collect(),
    });
    Table {
        caption: format!("{}: mean rate by length, MiB/s", section.title),
        corner: "stream".to_owned(),
        rows: rows.collect(),
        columns,
        notes: Vec::new(),
    }
}

/// One length on a horizontal axis: the length in MiB.
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / MIB as f64
}
