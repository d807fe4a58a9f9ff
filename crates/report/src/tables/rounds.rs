//! Rounds repeated until steady state (SNIA SSS PTS): the verdict, and the results of the measurement window.

use std::collections::BTreeMap;

use assay_analysis::estimate;
use assay_stats::LatencySummary;
use assay_stats::confidence::Estimate;
use assay_store::model::{CellResult, SteadyRecord};

use crate::drive_set::DriveSet;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Heading, Row, Table};
use crate::tables::{name, spread_notes, with_spread};

/// Stated wherever rounds did not reach steady state.
pub const NOT_ACHIEVED: &str = "steady state not achieved";

/// A figure of a cell that is tracked over rounds.
#[derive(Clone, Copy, Debug)]
pub struct RoundFigure {
    /// Short name of its button.
    pub label: &'static str,
    /// Title of its axis, with the unit.
    pub title: &'static str,
    /// Its value in a result.
    pub of: fn(&CellResult) -> Option<f64>,
    /// Over rounds the maximum counts, not the mean.
    pub largest: bool,
}

impl RoundFigure {
    const fn new(
        label: &'static str,
        title: &'static str,
        of: fn(&CellResult) -> Option<f64>,
    ) -> RoundFigure {
        RoundFigure {
            label,
            title,
            of,
            largest: false,
        }
    }

    /// True for a latency.
    pub fn is_latency(&self) -> bool {
        self.title.contains("latency")
    }
}

fn micros(result: &CellResult, of: fn(&LatencySummary) -> f64) -> Option<f64> {
    let latency = result.latency();
    (latency.samples > 0).then(|| of(latency) / 1e3)
}

/// All, in the order they are offered.
pub const FIGURES: [RoundFigure; 5] = [
    RoundFigure::new("IOPS", "operations per second", |r| Some(r.iops())),
    RoundFigure::new("Throughput", "throughput, MiB/s", |r| Some(r.mib_per_s())),
    RoundFigure::new("Mean latency", "mean latency, \u{b5}s", |r| {
        micros(r, |l| l.mean)
    }),
    RoundFigure::new("p99.999", "99.999th percentile latency, \u{b5}s", |r| {
        micros(r, |l| l.p99_999 as f64)
    }),
    RoundFigure {
        largest: true,
        ..RoundFigure::new("Max latency", "maximum latency, \u{b5}s", |r| {
            micros(r, |l| l.max as f64)
        })
    },
];

/// Index in [`FIGURES`] of the figure that an evaluation names.
fn index_of(figure: &str) -> usize {
    match figure.to_lowercase() {
        name if name.contains("latency") => 2,
        name if name.contains("b/s") => 1,
        _ => 0,
    }
}

/// The figures of a section, the one that decides on its steady state first.
pub fn figures(set: &DriveSet<'_>, section: &Section<'_>) -> Vec<RoundFigure> {
    let evaluated = of_section(set, section)
        .into_iter()
        .find_map(|d| d.steady.first().copied());
    let first = match evaluated {
        Some(steady) => index_of(&steady.figure),
        None if super::knee::small_blocks(section) => 0,
        None => 1,
    };
    let mut figures = FIGURES.to_vec();
    figures[..=first].rotate_right(1);
    figures
}

/// The rounds of one drive in a section.
#[derive(Clone, Debug)]
pub struct DriveRounds<'s, 'a> {
    /// Position in the drive set.
    pub drive: usize,
    /// Its points by row, column and round.
    pub points: BTreeMap<(usize, usize, u32), &'s Point<'a>>,
    /// Rounds measured.
    pub done: u32,
    /// Rounds planned at most.
    pub most: u32,
    /// The measurement window: first and last round.
    pub window: (u32, u32),
    /// The evaluations of its tracked cells.
    pub steady: Vec<&'a SteadyRecord>,
}

impl DriveRounds<'_, '_> {
    /// True when every tracked cell reached steady state; `None` where none was evaluated.
    pub fn achieved(&self) -> Option<bool> {
        (!self.steady.is_empty()).then(|| self.steady.iter().all(|s| s.achieved))
    }

    /// True when an evaluation is about this figure.
    pub fn evaluates(&self, steady: &SteadyRecord, figure: &RoundFigure) -> bool {
        FIGURES[index_of(&steady.figure)].label == figure.label
    }

    /// A figure in a round.
    fn value(&self, row: usize, column: usize, round: u32, figure: &RoundFigure) -> Option<f64> {
        (figure.of)(self.points.get(&(row, column, round))?.result()?)
    }

    /// A figure by round, of the rounds measured.
    pub fn values(&self, row: usize, column: usize, figure: &RoundFigure) -> Vec<(f64, f64)> {
        let values = (1..=self.done)
            .filter_map(|n| Some((f64::from(n), self.value(row, column, n, figure)?)));
        values.collect()
    }

    /// A figure over the measurement window; `None` where any round of it is missing.
    pub fn over_window(&self, row: usize, column: usize, figure: &RoundFigure) -> Option<f64> {
        let (from, to) = self.window;
        let values: Option<Vec<f64>> = (from..=to)
            .map(|round| self.value(row, column, round, figure))
            .collect();
        let values = values.filter(|v| !v.is_empty())?;
        Some(if figure.largest {
            values.into_iter().fold(0.0, f64::max)
        } else {
            values.iter().sum::<f64>() / values.len() as f64
        })
    }

    /// Confidence interval of the mean over a window, from the consecutive seconds of its rounds.
    fn estimate(&self, steady: &SteadyRecord) -> Option<Estimate> {
        let (row, column) = self.place_of(steady)?;
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
    pub fn place_of(&self, steady: &SteadyRecord) -> Option<(usize, usize)> {
        let tracked = |p: &Point<'_>| p.plan().round.as_ref().is_some_and(|r| r.tracked);
        let mut tracked = self.points.iter().filter(|(_, p)| tracked(p));
        let of_group = tracked
            .clone()
            .find(|(_, p)| p.plan().id.starts_with(steady.group.as_str()));
        let (&(row, column, _), _) = of_group.or_else(|| tracked.next())?;
        Some((row, column))
    }

    /// Row and column of a tracked group as text; empty where nothing varies.
    pub fn location_of(&self, steady: &SteadyRecord, section: &Section<'_>) -> String {
        self.place_of(steady)
            .map(|(row, column)| section.location(row, column))
            .unwrap_or_default()
    }
}

/// The rounds of every drive.
pub fn of_section<'s, 'a>(
    set: &DriveSet<'a>,
    section: &'s Section<'a>,
) -> Vec<DriveRounds<'s, 'a>> {
    let drives = section.drives.iter();
    drives
        .filter_map(|&drive| of_drive(set, section, drive))
        .collect()
}

fn of_drive<'s, 'a>(
    set: &DriveSet<'a>,
    section: &'s Section<'a>,
    drive: usize,
) -> Option<DriveRounds<'s, 'a>> {
    let mut points = BTreeMap::new();
    let (mut done, mut most, mut length) = (0, 0, 5);
    for point in section.points.iter().filter(|p| p.drive == drive) {
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
    let run = points.values().next()?.run;
    let index = set.index_in(run, drive);
    let steady = set.runs[run].steady.iter();
    let steady: Vec<&'a SteadyRecord> = steady
        .filter(|s| Some(s.drive) == index && s.step == section.step)
        .collect();
    let evaluated = steady.iter().map(|s| s.window).max();
    // Without an evaluation the last rounds, or all of fewer than a window.
    let last = (done.saturating_sub(length - 1).max(1), done);
    Some(DriveRounds {
        drive,
        points,
        done,
        most,
        window: evaluated
            .filter(|w| w.0 >= 1 && w.1 <= done && w.0 <= w.1)
            .unwrap_or(last),
        steady,
    })
}

/// The evaluation of steady state: one row per tracked cell.
pub fn verdicts(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let over = "over the window";
    let columns = vec![
        Column::of("tracked", ""),
        Column::of("steady state", ""),
        Column::of("rounds", ""),
        Column::of("window", ""),
        Column::under(over, "mean", ""),
        Column::under(over, "max \u{2212} min, %", ""),
        Column::under(over, "rise of the line, %", ""),
        Column::under(over, "slope per round", ""),
    ];
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for drive in of_section(set, section) {
        for steady in &drive.steady {
            let cell = match drive.location_of(steady, section) {
                none if none.is_empty() => steady.group.clone(),
                location => location,
            };
            let why = steady.why.as_ref().filter(|_| !steady.achieved);
            notes.extend(why.map(|why| {
                format!(
                    "{}, {cell}: {NOT_ACHIEVED}: {why}",
                    set.full_name(drive.drive)
                )
            }));
            let rule = format!("rule: {}", steady.rule);
            if !steady.rule.is_empty() && !notes.contains(&rule) {
                notes.push(rule);
            }
            let verdict = if steady.achieved {
                Cell::text("achieved")
            } else {
                Cell::number("NOT ACHIEVED").with(|n| {
                    n.alarm = true;
                    n.details = steady.why.clone().unwrap_or_default();
                })
            };
            let cells = vec![
                Cell::Text(format!("{}, {cell}", steady.figure)),
                verdict,
                Cell::number(format!("{} of {}", drive.done, drive.most)),
                Cell::number(format!("{} to {}", steady.window.0, steady.window.1)),
                with_spread(Cell::figure(steady.mean), drive.estimate(steady), 1.0),
                Cell::percent(steady.range_pct),
                Cell::percent(steady.excursion_pct),
                Cell::figure(steady.slope_per_round),
            ];
            rows.push(Row::new(name(set, drive.drive), cells));
        }
    }
    let notes = spread_notes(notes, &rows);
    Table::of_drives(section.caption("steady state"), columns, rows, notes)
}

/// Rows by columns of one drive, over the measurement window.
pub fn matrix(
    set: &DriveSet<'_>,
    section: &Section<'_>,
    drive: &DriveRounds<'_, '_>,
    figure: &RoundFigure,
) -> Table {
    let value = |row, column| drive.over_window(row, column, figure);
    let columns = 0..section.columns.len();
    let all = columns
        .clone()
        .flat_map(|c| (0..section.rows.len()).filter_map(move |r| value(r, c)));
    let largest = all.fold(0.0, f64::max);
    let unsteady = drive.achieved() == Some(false);
    let cell = |row, column| match value(row, column) {
        Some(value) => Cell::figure(value).with(|n| {
            n.share = (largest > 0.0).then(|| value / largest);
            n.mark = unsteady.then(|| "not steady".to_owned());
        }),
        None => Cell::Missing(
            "incomplete",
            "not measured in every round of the window".to_owned(),
        ),
    };
    let rows = section.rows.iter().enumerate().map(|(row, value)| {
        Row::new(
            Heading::plain(&value.label),
            columns.clone().map(|column| cell(row, column)).collect(),
        )
    });
    let heading = name(set, drive.drive);
    let label = |column| match section.column_label(column) {
        none if none.is_empty() => section.title.to_owned(),
        label => label,
    };
    let (from, to) = drive.window;
    let what = if figure.largest { "maximum" } else { "mean" };
    let mut notes = vec![format!("{what} of rounds {from} to {to}")];
    match drive.achieved() {
        Some(false) => notes.push(format!(
            "{NOT_ACHIEVED} in {} rounds: these are not steady-state figures and must not be quoted as such",
            drive.done
        )),
        None => notes.push("steady state was not evaluated".to_owned()),
        Some(true) => {}
    }
    Table {
        caption: section.caption(figure.title),
        corner: section.row_title().to_owned(),
        rows: rows.collect(),
        columns: columns
            .clone()
            .map(|column| Column::of_drive(&heading, label(column)))
            .collect(),
        notes,
    }
}
