//! Cells repeated in rounds until they come to rest (SNIA SSS PTS): did they, and what they gave in the rounds that count.

use std::collections::BTreeMap;

use assay_store::model::{CellResult, Steady};

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Name, Number, Row, Table};
use crate::tables::{name, remarks, spread_notes, with_spread};
use assay_analysis::estimate;
use assay_stats::confidence::Estimate;

/// The words that stand wherever rounds did not come to rest.
pub const NOT_ACHIEVED: &str = "steady state not achieved";

/// A figure of a cell that rounds are looked at by.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Short name of a button.
    pub label: &'static str,
    /// What a heading says.
    pub title: &'static str,
    /// Of a result.
    pub of: fn(&CellResult) -> Option<f64>,
    /// Over rounds the largest counts, not the mean.
    pub largest: bool,
}

impl Figure {
    /// A latency?
    pub fn is_latency(&self) -> bool {
        self.title.contains("latency")
    }
}

fn micros(result: &CellResult, of: fn(&assay_stats::LatencySummary) -> f64) -> Option<f64> {
    let latency = result.latency();
    (latency.samples > 0).then(|| of(latency) / 1e3)
}

/// All, in the order they are offered.
pub const FIGURES: [Figure; 5] = [
    Figure {
        label: "IOPS",
        title: "operations per second",
        of: |r| Some(r.iops()),
        largest: false,
    },
    Figure {
        label: "Throughput",
        title: "throughput, MiB/s",
        of: |r| Some(r.mib_per_s()),
        largest: false,
    },
    Figure {
        label: "Mean latency",
        title: "mean latency, \u{b5}s",
        of: |r| micros(r, |l| l.mean),
        largest: false,
    },
    Figure {
        label: "p99.999",
        title: "99.999th percentile latency, \u{b5}s",
        of: |r| micros(r, |l| l.p99_999 as f64),
        largest: false,
    },
    Figure {
        label: "Max latency",
        title: "maximum latency, \u{b5}s",
        of: |r| micros(r, |l| l.max as f64),
        largest: true,
    },
];

/// Which of [`FIGURES`] the words of a judgement are about.
fn place_of_words(words: &str) -> usize {
    match words.to_lowercase() {
        words if words.contains("latency") => 2,
        words if words.contains("b/s") => 1,
        _ => 0,
    }
}

/// The figures of a section, the one that its steady state is judged by first.
pub fn figures(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Figure> {
    let judged = of_section(lineup, section)
        .into_iter()
        .find_map(|d| d.steady.first().map(|s| s.figure.to_lowercase()));
    let first = match judged.as_deref() {
        Some(words) => place_of_words(words),
        None if super::knee::small_blocks(section) => 0,
        None => 1,
    };
    let mut figures = vec![FIGURES[first]];
    figures.extend(
        FIGURES
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != first)
            .map(|(_, f)| *f),
    );
    figures
}

/// The rounds of one drive in a section.
#[derive(Clone, Debug)]
pub struct Drive<'s, 'a> {
    /// Position in the line-up.
    pub drive: usize,
    /// Its points by row, column and round.
    pub points: BTreeMap<(usize, usize, u32), &'s Point<'a>>,
    /// Rounds measured.
    pub done: u32,
    /// Rounds planned at most.
    pub most: u32,
    /// The rounds that count: first and last.
    pub window: (u32, u32),
    /// The judgements of its tracked cells.
    pub steady: Vec<&'a Steady>,
}

impl Drive<'_, '_> {
    /// Did all that was tracked come to rest? `None` where nothing was judged.
    pub fn achieved(&self) -> Option<bool> {
        (!self.steady.is_empty()).then(|| self.steady.iter().all(|s| s.achieved))
    }

    /// Is this the figure that a judgement is about?
    pub fn judges(&self, steady: &Steady, figure: &Figure) -> bool {
        FIGURES[place_of_words(&steady.figure)].label == figure.label
    }

    /// A figure in a round.
    pub fn value(&self, row: usize, column: usize, round: u32, figure: &Figure) -> Option<f64> {
        (figure.of)(self.points.get(&(row, column, round))?.result()?)
    }

    /// A figure over the rounds that count; `None` where any of them is missing.
    pub fn settled(&self, row: usize, column: usize, figure: &Figure) -> Option<f64> {
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

    /// How well the mean over a window is known: from the seconds of its rounds, one after the other.
    pub fn estimate(&self, steady: &Steady) -> Option<Estimate> {
        let (row, column) = self.place_of(steady)?;
        let (from, to) = steady.window;
        let rounds = (from..=to).filter_map(|n| self.points.get(&(row, column, n))?.part);
        let known = estimate::of_several(rounds);
        match steady.figure.as_str() {
            "IOPS" => known.iops,
            "MiB/s" => known.mib_per_s,
            _ => known.latency_mean_ns.map(|ns| Estimate {
                mean: ns.mean / 1e3,
                low: ns.low / 1e3,
                high: ns.high / 1e3,
                ..ns
            }),
        }
    }

    /// The row and column of a tracked group, by its planned cell.
    pub fn place_of(&self, steady: &Steady) -> Option<(usize, usize)> {
        let mut tracked = self
            .points
            .iter()
            .filter(|(_, p)| p.plan().round.as_ref().is_some_and(|r| r.tracked));
        let of_group = tracked
            .clone()
            .find(|(_, p)| p.plan().id.starts_with(steady.group.as_str()));
        of_group
            .or_else(|| tracked.next())
            .map(|(&(row, column, _), _)| (row, column))
    }
}

/// The rounds of every drive.
pub fn of_section<'s, 'a>(lineup: &Lineup<'a>, section: &'s Section<'a>) -> Vec<Drive<'s, 'a>> {
    section
        .drives
        .iter()
        .filter_map(|&drive| {
            let mut points = BTreeMap::new();
            let (mut done, mut most, mut span) = (0, 0, 5);
            let own = section.points.iter().filter(|p| p.drive == drive);
            for point in own {
                let Some(round) = &point.plan().round else {
                    continue;
                };
                most = most.max(round.most);
                span = round.window.max(1);
                if point.result().is_some() {
                    done = done.max(round.number);
                    points.insert((point.row, point.column, round.number), point);
                }
            }
            if points.is_empty() {
                return None;
            }
            let run = points.values().next().map_or(0, |p| p.run);
            let index = lineup.index_in(run, drive);
            let steady: Vec<&'a Steady> = lineup.runs[run]
                .steady
                .iter()
                .filter(|s| Some(s.drive) == index && s.step == section.step)
                .collect();
            let judged = steady.iter().map(|s| s.window).max();
            let window = judged
                .filter(|w| w.0 >= 1 && w.1 <= done && w.0 <= w.1)
                .unwrap_or((done.saturating_sub(span - 1).max(1), done));
            Some(Drive {
                drive,
                points,
                done,
                most,
                window,
                steady,
            })
        })
        .collect()
}

/// Did the rounds come to rest? One row per tracked cell.
pub fn judgement(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let over = "over the window";
    let columns = vec![
        Column::under("", "tracked", ""),
        Column::under("", "steady state", ""),
        Column::under("", "rounds", ""),
        Column::under("", "window", ""),
        Column::under(over, "mean", ""),
        Column::under(over, "max \u{2212} min, %", ""),
        Column::under(over, "rise of the line, %", ""),
        Column::under(over, "slope per round", ""),
    ];
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for drive in of_section(lineup, section) {
        for steady in &drive.steady {
            let what = drive
                .place_of(steady)
                .map(|(row, column)| section.place(row, column))
                .filter(|w| !w.is_empty())
                .unwrap_or_else(|| steady.group.clone());
            rows.push(Row {
                name: name(lineup, drive.drive),
                cells: vec![
                    Cell::Text(format!("{}, {what}", steady.figure)),
                    if steady.achieved {
                        Cell::Text("achieved".to_owned())
                    } else {
                        Cell::Number(Number {
                            text: "NOT ACHIEVED".to_owned(),
                            alarm: true,
                            more: steady.why.clone().unwrap_or_default(),
                            ..Number::default()
                        })
                    },
                    Cell::number(format!("{} of {}", drive.done, drive.most)),
                    Cell::number(format!("{} to {}", steady.window.0, steady.window.1)),
                    with_spread(
                        Cell::number(format::figure(steady.mean)),
                        drive.estimate(steady),
                        1.0,
                    ),
                    Cell::number(format::percent(steady.range_pct)),
                    Cell::number(format::percent(steady.excursion_pct)),
                    Cell::number(format::figure(steady.slope_per_round)),
                ],
            });
            if let Some(why) = steady.why.as_ref().filter(|_| !steady.achieved) {
                notes.push(format!(
                    "{}, {what}: {NOT_ACHIEVED}: {why}",
                    lineup.drives[drive.drive].full_name()
                ));
            }
            let rule = format!("rule: {}", steady.rule);
            if !steady.rule.is_empty() && !notes.contains(&rule) {
                notes.push(rule);
            }
        }
    }
    Table {
        caption: format!("{}: steady state", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(notes, &rows),
        rows,
    }
}

/// Rows by columns of one drive, over the rounds that count.
pub fn matrix(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drive: &Drive<'_, '_>,
    figure: &Figure,
) -> Table {
    let settled = |row, column| drive.settled(row, column, figure);
    let places = || {
        let columns = 0..section.columns.len();
        columns.flat_map(|c| (0..section.rows.len()).map(move |r| (r, c)))
    };
    let largest = places()
        .filter_map(|(r, c)| settled(r, c))
        .fold(0.0, f64::max);
    let resting = drive.achieved();
    let columns = (0..section.columns.len())
        .map(|column| Column {
            group: Some(name(lineup, drive.drive)),
            label: match section.column_label(column) {
                label if label.is_empty() => section.title.to_owned(),
                label => label,
            },
            unit: "",
        })
        .collect();
    let rows = (0..section.rows.len())
        .map(|row| Row {
            name: Name::plain(section.rows[row].label.clone()),
            cells: (0..section.columns.len())
                .map(|column| match settled(row, column) {
                    Some(value) => Cell::Number(Number {
                        text: format::figure(value),
                        share: (largest > 0.0).then(|| value / largest),
                        mark: (resting == Some(false)).then(|| "not steady".to_owned()),
                        ..Number::default()
                    }),
                    None => Cell::Missing(
                        "incomplete",
                        "not measured in every round of the window".to_owned(),
                    ),
                })
                .collect(),
        })
        .collect();
    let (from, to) = drive.window;
    let mut notes = vec![if figure.largest {
        format!("largest of rounds {from} to {to}")
    } else {
        format!("mean of rounds {from} to {to}")
    }];
    match resting {
        Some(false) => notes.push(format!(
            "{NOT_ACHIEVED} in {} rounds: these figures are not those of a drive at rest, and must not be quoted as such",
            drive.done
        )),
        None => notes.push("no judgement of a steady state was recorded".to_owned()),
        Some(true) => {}
    }
    Table {
        caption: format!("{}: {}", section.title, figure.title),
        corner: section
            .row_axis
            .map_or("", crate::axis::Axis::title)
            .to_owned(),
        columns,
        rows,
        notes,
    }
}

/// Why cells have no whole result, rounds that were not needed left out.
pub fn left_out(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<String> {
    let wanting: Vec<Point<'_>> = section
        .points
        .iter()
        .filter(|p| p.remark().is_some())
        .cloned()
        .collect();
    remarks(lineup, &wanting)
}
