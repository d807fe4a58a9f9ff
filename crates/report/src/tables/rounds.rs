//! Rounds repeated until steady state (SNIA SSS PTS): the verdict, and the results of the
//! measurement window.

use std::collections::BTreeMap;

use assay_analysis::estimate::{self, MeanEstimate, Missing};
use assay_stats::confidence::Estimate;
use assay_store::model::SteadyRecord;

use crate::format::text_or;
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::interval::{spread_notes, with_spread};
use crate::tables::rate::small_blocks;

/// Stated wherever rounds did not reach steady state.
pub const NOT_ACHIEVED: &str = "steady state not achieved";

/// Index in [`ResultMetric::OF_ROUNDS`] of the figure that an evaluation names.
fn index_of(figure: &str) -> usize {
    match figure.to_lowercase() {
        name if name.contains("latency") => 2,
        name if name.contains("b/s") => 1,
        _ => 0,
    }
}

/// The figures of a section, the one that decides on its steady state first.
pub fn figures(section: &Section<'_>) -> Vec<ResultMetric> {
    let mut drives = of_section(section).into_iter();
    let evaluated = drives.find_map(|d| d.steady.first().copied());
    let first = match evaluated {
        Some(steady) => index_of(&steady.figure),
        None if small_blocks(section) => 0,
        None => 1,
    };
    let mut figures = ResultMetric::OF_ROUNDS.to_vec();
    figures[..=first].rotate_right(1);
    figures
}

/// The rounds of one drive in a section.
#[derive(Clone, Debug)]
pub struct DriveRounds<'s, 'a> {
    pub drive: usize,
    /// Its points by row, column and round.
    pub points: BTreeMap<(usize, usize, u32), &'s Point<'a>>,
    pub done: u32,
    /// Rounds planned at most.
    pub most: u32,
    /// The measurement window: first and last round.
    pub window: (u32, u32),
    pub steady: Vec<&'a SteadyRecord>,
}

impl DriveRounds<'_, '_> {
    /// True when every tracked cell reached steady state; `None` where none was evaluated.
    pub fn achieved(&self) -> Option<bool> {
        (!self.steady.is_empty()).then(|| self.steady.iter().all(|s| s.achieved))
    }

    /// True when an evaluation is about this figure.
    pub fn evaluates(&self, steady: &SteadyRecord, figure: &ResultMetric) -> bool {
        ResultMetric::OF_ROUNDS[index_of(&steady.figure)].label == figure.label
    }
    fn value(&self, row: usize, column: usize, round: u32, figure: &ResultMetric) -> Option<f64> {
        figure.value(self.points.get(&(row, column, round))?.result()?)
    }

    /// A figure by round, of the rounds measured.
    pub fn values(&self, row: usize, column: usize, figure: &ResultMetric) -> Vec<(f64, f64)> {
        let value = |n: u32| Some((n.into(), self.value(row, column, n, figure)?));
        (1..=self.done).filter_map(value).collect()
    }

    /// A figure over the measurement window; `None` where any round of it is missing.
    pub fn over_window(&self, row: usize, column: usize, figure: &ResultMetric) -> Option<f64> {
        let (from, to) = self.window;
        let values = (from..=to).map(|round| self.value(row, column, round, figure));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        match values.len() {
            0 => None,
            _ if figure.largest => Some(values.into_iter().fold(0.0, f64::max)),
            n => Some(values.iter().sum::<f64>() / n as f64),
        }
    }

    /// Confidence interval of the mean over a window, from the consecutive seconds of its rounds.
    fn estimate(&self, steady: &SteadyRecord) -> MeanEstimate {
        let (row, column) = self.group_location(steady).ok_or(Missing::UNMEASURED)?;
        let (from, to) = steady.window;
        let rounds = (from..=to).filter_map(|n| self.points.get(&(row, column, n))?.data);
        let estimates = estimate::of_several(rounds);
        match steady.figure.as_str() {
            "IOPS" => estimates.iops,
            "MiB/s" => estimates.mib_per_s,
            _ => estimates.latency_mean_ns.map(|ns| Estimate {
                mean: ns.mean / 1e3,
                low: ns.low / 1e3,
                high: ns.high / 1e3,
                ..ns
            }),
        }
    }

    /// Row and column of a tracked group, by its planned cell.
    pub fn group_location(&self, steady: &SteadyRecord) -> Option<(usize, usize)> {
        let tracked = |p: &Point<'_>| p.plan().round.as_ref().is_some_and(|r| r.tracked);
        let mut tracked = self.points.iter().filter(|(_, p)| tracked(p));
        let in_group = |p: &Point<'_>| p.plan().id.starts_with(steady.group.as_str());
        let of_group = tracked.clone().find(|(_, p)| in_group(p));
        let (&(row, column, _), _) = of_group.or_else(|| tracked.next())?;
        Some((row, column))
    }

    /// Row and column of a tracked group as text; empty where nothing varies.
    pub fn location_of(&self, steady: &SteadyRecord, section: &Section<'_>) -> String {
        let location = self.group_location(steady);
        location.map_or_else(String::new, |(row, column)| section.location(row, column))
    }
}

/// The rounds of every drive.
pub fn of_section<'s, 'a>(section: &'s Section<'a>) -> Vec<DriveRounds<'s, 'a>> {
    let drives = section.drives.iter();
    drives.filter_map(|drive| of_drive(section, *drive)).collect()
}

fn of_drive<'s, 'a>(section: &'s Section<'a>, drive: usize) -> Option<DriveRounds<'s, 'a>> {
    let mut points = BTreeMap::new();
    let (mut done, mut most, mut length) = (0, 0, 5);
    for point in section.of_drive(drive) {
        let Some(round) = &point.plan().round else {
            continue;
        };
        most = most.max(round.most);
        length = round.window.max(1);
        if point.result().is_some() {
            done = done.max(round.number);
            points.insert((point.row, point.column, round.number), point);
        }
    }
    let first: &Point<'a> = points.values().next()?;
    let steady = section.set.runs[first.run].steady.iter();
    let steady = steady.filter(|s| s.drive == first.index && s.step == section.step);
    let steady: Vec<&'a SteadyRecord> = steady.collect();
    let evaluated = steady.iter().map(|s| s.window).max();
    // Without an evaluation the last rounds, or all of fewer than a window.
    let last = (done.saturating_sub(length - 1).max(1), done);
    Some(DriveRounds {
        drive,
        points,
        done,
        most,
        window: evaluated.filter(|w| w.0 >= 1 && w.1 <= done && w.0 <= w.1).unwrap_or(last),
        steady,
    })
}

/// The evaluation of steady state: one row per tracked cell.
pub fn verdicts(section: &Section<'_>) -> Table {
    let mut columns =
        Column::list([("tracked", ""), ("steady state", ""), ("rounds", ""), ("window", "")]);
    let over = ["mean", "max \u{2212} min, %", "rise of the line, %", "slope per round"];
    columns.extend(Column::all_under("over the window", over));
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for drive in of_section(section) {
        let heading = &section.set.drives[drive.drive].heading;
        for steady in &drive.steady {
            let location = drive.location_of(steady, section);
            let cell = text_or(&location, &steady.group);
            let why = steady.why.as_ref().filter(|_| !steady.achieved);
            notes.extend(why.map(|why| format!("{heading}, {cell}: {NOT_ACHIEVED}: {why}")));
            let rule = format!("rule: {}", steady.rule);
            if !steady.rule.is_empty() && !notes.contains(&rule) {
                notes.push(rule);
            }
            let verdict = if steady.achieved {
                TableCell::text("achieved")
            } else {
                TableCell::number("NOT ACHIEVED").with(|n| {
                    n.alarm = true;
                    n.details = steady.why.clone().unwrap_or_default();
                })
            };
            let cells = vec![
                TableCell::Text(format!("{}, {cell}", steady.figure)),
                verdict,
                TableCell::number(format!("{} of {}", drive.done, drive.most)),
                TableCell::number(format!("{} to {}", steady.window.0, steady.window.1)),
                with_spread(TableCell::figure(steady.mean), drive.estimate(steady), 1.0),
                TableCell::percent(steady.range_pct),
                TableCell::percent(steady.excursion_pct),
                TableCell::figure(steady.slope_per_round),
            ];
            rows.push(Row::new(heading.clone(), cells));
        }
    }
    let notes = spread_notes(notes, &rows);
    section.table("steady state", columns, rows, notes)
}

/// Rows by columns of one drive, over the measurement window.
pub fn matrix(section: &Section<'_>, drive: &DriveRounds<'_, '_>, figure: &ResultMetric) -> Table {
    let value = |row, column| drive.over_window(row, column, figure);
    let all = section.locations().filter_map(|(row, column)| value(row, column));
    let largest = all.fold(0.0, f64::max);
    let unsteady = drive.achieved() == Some(false);
    let incomplete = || {
        let why = "not measured in every round of the window";
        TableCell::Missing("incomplete", why.to_owned())
    };
    let cell = |row, column| {
        let value = value(row, column);
        let cell = TableCell::figure(value).with(|n| {
            n.share = value.filter(|_| largest > 0.0).map(|v| v / largest);
            n.mark = unsteady.then(|| "not steady".to_owned());
        });
        cell.or(incomplete)
    };
    let columns = 0..section.columns.len();
    let rows = section.rows.iter().enumerate().map(|(row, value)| {
        let cells = columns.clone().map(|column| cell(row, column));
        Row::new(Heading::plain(&value.label), cells.collect())
    });
    let heading = &section.set.drives[drive.drive].heading;
    let headings = columns.clone().map(|column| {
        let label = section.column_label(column);
        Column::of_drive(heading, text_or(&label, section.title))
    });
    let (from, to) = drive.window;
    let what = if figure.largest { "maximum" } else { "mean" };
    let mut notes = vec![format!("{what} of rounds {from} to {to}")];
    match drive.achieved() {
        Some(false) => notes.push(format!(
            "{NOT_ACHIEVED} in {} rounds: these are not steady-state figures and must not be \
             quoted as such",
            drive.done
        )),
        None => notes.push("steady state was not evaluated".to_owned()),
        Some(true) => {}
    }
    Table {
        caption: section.caption(figure.title),
        corner: section.row_title().to_owned(),
        rows: rows.collect(),
        columns: headings.collect(),
        notes,
    }
}
