//! Rounds repeated until steady state (SNIA SSS PTS).

use std::collections::BTreeMap;

use assay_store::model::SteadyRecord;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::axis::Axis;
use crate::chart::{Chart, ChartView, PALETTE, colour, dash, plain, symbol};
use crate::charts::draw::{Trace, band, linear, logarithmic, panels, set_ticks};
use crate::format::{figure, joined, percent, plural, text_or};
use crate::grid::Section;
use crate::html::elements;
use crate::metric::ResultMetric;
use crate::table::Table;
use crate::tables::cells::remarks;
use crate::tables::rounds::{self, DriveRounds, NOT_ACHIEVED, figures, of_section};
use crate::views::descriptor::{KeyFigure, SectionView, all_figures};

/// The same cells, measured round after round.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "The same cells are measured round after round until the tracked one is in steady state, \
         by the rule stated below the first table (SNIA's unless the suite defines another: over \
         five rounds all values lie within 20 % of their mean, and the best-fit line rises or \
         falls by at most 10 %). The charts show the means of the measurement window by block \
         size, the convergence round by round, and the window with its mean, the limits of the \
         rule and the best-fit line. Tables contain only figures of that window; where steady \
         state was not achieved they are marked, and are not steady-state figures."
    },
    tables,
    charts,
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn tables(section: &Section<'_>) -> Vec<Table> {
    let mut tables = vec![rounds::verdicts(section)];
    if let Some(first) = rounds::figures(section).first() {
        let drives = rounds::of_section(section).into_iter();
        tables.extend(drives.map(|drive| rounds::matrix(section, &drive, first)));
    }
    tables
}

fn html(_: &SectionView, section: &Section<'_>, charts: &[Chart], id: &str) -> Markup {
    let drives = rounds::of_section(section);
    let figures = rounds::figures(section);
    let mut labels: Vec<&str> = figures.iter().map(|f| f.label).collect();
    labels.retain(|_| !drives.is_empty());
    // One round is representative of the window: all rounds would be thousands of rows.
    let mut last = section.clone();
    last.points.retain(|p| {
        let round = p.plan().round.as_ref().map_or(0, |r| r.number);
        drives.iter().any(|d| d.drive == p.drive && d.window.1 == round)
    });
    let note =
        "last round of the measurement window; the tables above contain the means of the window";
    html! {
        @for drive in drives.iter().filter(|d| d.achieved() == Some(false)) {
            (elements::alarm(&html! {
                strong {
                    (section.set.full_name(drive.drive)) ": " (rounds::NOT_ACHIEVED) " in "
                    (drive.done) " rounds."
                }
                " "
                @let reasons = drive.steady.iter().filter_map(|s| s.why.as_deref());
                (reasons.collect::<Vec<_>>().join("; "))
            }))
        }
        (elements::table(&rounds::verdicts(section)))
        (elements::switch(id, "Figure shown in the tables", &labels, 0))
        @for (i, figure) in figures.iter().enumerate() {
            div.matrices data-metric=(i) hidden[i > 0] {
                @for drive in &drives {
                    div { (elements::table(&rounds::matrix(section, drive, figure))) }
                }
            }
        }
        div.pair { (elements::charts(charts)) }
        (elements::notes(&remarks(&section.incomplete())))
        (all_figures(&last, Some(note)))
    }
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let mut keys = Vec::new();
    for rounds in rounds::of_section(section).iter().filter(|d| d.drive == drive) {
        for steady in &rounds.steady {
            let (from, to) = steady.window;
            let state = if steady.achieved {
                format!("steady in rounds {from} to {to}")
            } else {
                rounds::NOT_ACHIEVED.to_uppercase()
            };
            keys.push(KeyFigure {
                label: format!("{}, {}", section.title, steady.figure),
                value: figure(steady.mean),
                unit: "",
                details: format!("{}, {state}", rounds.location_of(steady, section)),
            });
        }
    }
    keys
}

/// The means of the window by block size, the convergence of every cell, and the measurement window
/// of every tracked one.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let figures = figures(section);
    let drives = of_section(section);
    let chart = |what: &str, switch, views: Vec<ChartView>, notes| {
        let chart = Chart::new(section.caption(what), switch, 420, views)?;
        Some(chart.with_notes(notes))
    };
    let converging = figures.iter().enumerate().flat_map(|(i, figure)| {
        // Every cell for the evaluated figure, and for the maximum latency beside a mean latency;
        // else only tracked ones.
        let whole = i == 0 || figures[0].is_latency() && figure.largest;
        convergence(section, &drives, figure, whole)
    });
    let mut windows = Vec::new();
    for drive in &drives {
        for steady in &drive.steady {
            let others = figures[1..].iter();
            let others = others.filter_map(|f| RoundSeries::of_figure(drive, steady, f));
            let all = [RoundSeries::evaluated(steady)].into_iter().chain(others);
            windows.extend(all.map(|series| window(section, drive, steady, &series)));
        }
    }
    let sizes = by_size(section, &drives, &figures);
    let of_window = "over the measurement window: means, and of the maximum latency the maximum";
    let shaded = vec!["shaded: the measurement window".to_owned()];
    let demand_note = "a line per number of threads, its points are queue depths: means of the \
                       measurement window"
        .to_owned();
    let converging = converging.collect();
    let charts = [
        chart("by block size", "shown", sizes, vec![of_window.to_owned()]),
        chart("response time by rate", "drive", demand(section, &drives), vec![demand_note]),
        chart("round by round", "shown", converging, shaded),
        chart("measurement window", "tracked", windows, rules(&drives)),
    ];
    charts.into_iter().flatten().collect()
}

/// A line with markers in the style of column or row `n`; `None` without points.
fn line(name: &str, points: Vec<(f64, f64)>, n: usize) -> Option<Value> {
    (!points.is_empty()).then(|| {
        let trace = Trace {
            name: name.to_owned(),
            points,
            mode: "lines+markers",
            colour: colour(n),
            dash: dash(n / PALETTE),
            symbol: symbol(n),
            ..Trace::default()
        };
        trace.json()
    })
}

/// SNIA's results plot: a figure over block sizes, with a line per mix of reads and writes. One
/// view per drive and figure.
fn by_size(
    section: &Section<'_>,
    drives: &[DriveRounds<'_, '_>],
    figures: &[ResultMetric],
) -> Vec<ChartView> {
    let sizes: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let labels: Vec<String> = section.rows.iter().map(|r| r.label.clone()).collect();
    if section.row_axis != Some(Axis::BlockSize) || sizes.len() != labels.len() || sizes.len() < 2 {
        return Vec::new();
    }
    let view = |figure: &ResultMetric, drive: &DriveRounds<'_, '_>| {
        let mut data = Vec::new();
        for column in 0..section.columns.len() {
            let rows = sizes.iter().enumerate();
            let points = rows
                .filter_map(|(row, size)| Some((*size, drive.over_window(row, column, figure)?)));
            let label = section.column_label(column);
            let label = text_or(&label, section.title);
            data.extend(line(label, points.collect(), column));
        }
        let mut layout = panels(section.row_title(), &[linear(figure.title)]);
        set_ticks(&mut layout, &sizes, &labels);
        let mut label = format!("{}, {}", figure.label, section.set.chart_name(drive.drive));
        if drive.achieved() == Some(false) {
            label.push_str(&format!(" ({NOT_ACHIEVED})"));
        }
        ChartView::new(label, data, layout)
    };
    let views = |figure| drives.iter().filter_map(move |drive| view(figure, drive));
    figures.iter().flat_map(views).collect()
}

/// A queue depth, and its point: rate and mean response time.
type AtDepth = (u32, (f64, f64));

/// SNIA's demand intensity plot: the mean response time over the rate, with a line per number of
/// threads, where the cells are a grid of threads and queue depths. One view per drive.
fn demand(section: &Section<'_>, drives: &[DriveRounds<'_, '_>]) -> Vec<ChartView> {
    let axes = section.varying();
    if !axes.contains(&Axis::Threads) || !axes.contains(&Axis::Depth) || axes.len() > 2 {
        return Vec::new();
    }
    let [iops, mean] = [ResultMetric::IOPS, ResultMetric::MEAN];
    let view = |drive: &DriveRounds<'_, '_>| {
        let mut lines: BTreeMap<u32, Vec<AtDepth>> = BTreeMap::new();
        for (&(row, column, round), point) in &drive.points {
            if round != drive.window.1 {
                continue;
            }
            let at = drive.over_window(row, column, &iops);
            if let Some(at) = at.zip(drive.over_window(row, column, &mean)) {
                let workload = &point.plan().workload;
                let of_threads = lines.entry(workload.numjobs).or_default();
                of_threads.push((workload.iodepth, at));
            }
        }
        let lines = lines.into_iter().enumerate();
        let data = lines.filter_map(|(n, (threads, mut points))| {
            points.sort_by_key(|point| point.0);
            let points = points.into_iter().map(|point| point.1).collect();
            line(&plural(threads as usize, "thread"), points, n)
        });
        let data = data.collect();
        let layout = panels("IOPS", &[logarithmic("mean response time, \u{b5}s")]);
        ChartView::new(section.set.chart_name(drive.drive), data, layout)
    };
    drives.iter().filter_map(view).collect()
}

/// Legend of the markers, and the rules of the evaluation.
fn rules(drives: &[DriveRounds<'_, '_>]) -> Vec<String> {
    let mut notes = vec![
        "filled: the measurement window; dotted: the largest deviation from the mean that the \
         rule allows, where it has a limit"
            .to_owned(),
    ];
    for steady in drives.iter().flat_map(|d| &d.steady) {
        let rule = format!("steady by {}", steady.rule);
        if !steady.rule.is_empty() && !notes.contains(&rule) {
            notes.push(rule);
        }
    }
    notes
}

/// A layout over rounds, with the window shaded.
fn layout_of_rounds(title: &str, most: u32, window: Option<(u32, u32)>) -> Value {
    let mut layout = panels("round", &[linear(title)]);
    layout["xaxis"]["dtick"] = match most {
        0..=12 => 1,
        13..=30 => 5,
        _ => 10,
    }
    .into();
    layout["xaxis"]["rangemode"] = "normal".into();
    if let Some((from, to)) = window {
        layout["shapes"] = json!([band(f64::from(from) - 0.5, f64::from(to) + 0.5, "@band")]);
    }
    layout
}

/// One view per drive and column with a line per row, after a view of the tracked cells of all
/// drives where there are several. Not `whole`: only columns with a tracked cell.
fn convergence(
    section: &Section<'_>,
    drives: &[DriveRounds<'_, '_>],
    figure: &ResultMetric,
    whole: bool,
) -> Vec<ChartView> {
    let mut views = Vec::new();
    let most = drives.iter().map(|d| d.done).max().unwrap_or(0);
    if drives.len() > 1 {
        let mut data = Vec::new();
        for drive in drives {
            let name = section.set.chart_name(drive.drive);
            for (i, steady) in drive.steady.iter().enumerate() {
                let series = if drive.evaluates(steady, figure) {
                    RoundSeries::evaluated(steady)
                } else {
                    RoundSeries::of_figure(drive, steady, figure).unwrap_or_default()
                };
                let location = drive.location_of(steady, section);
                let trace = Trace {
                    name: match location.is_empty() {
                        true => name.clone(),
                        false => format!("{name}, {location}"),
                    },
                    points: series.points,
                    mode: "lines+markers",
                    colour: colour(drive.drive),
                    dash: dash(i),
                    symbol: symbol(i),
                    ..Trace::default()
                };
                data.push(trace.json());
            }
        }
        let label = format!("{}: tracked cells of every drive", figure.label);
        let layout = layout_of_rounds(figure.title, most, None);
        views.extend(ChartView::new(label, data, layout));
    }
    for drive in drives {
        let name = section.set.chart_name(drive.drive);
        let tracked = drive.steady.iter();
        let tracked = tracked.filter_map(|s| Some(drive.group_location(s)?.1));
        let tracked: Vec<usize> = tracked.collect();
        for column in (0..section.columns.len()).filter(|c| whole || tracked.contains(c)) {
            let lines = section.rows.iter().enumerate().filter_map(|(row, value)| {
                let label = text_or(&value.label, section.title);
                line(label, drive.values(row, column, figure), row)
            });
            let label = [figure.label, &name, &section.column_label(column)];
            let layout = layout_of_rounds(figure.title, most, Some(drive.window));
            views.extend(ChartView::new(joined(label, ", "), lines.collect(), layout));
        }
    }
    views
}

/// A figure of a tracked cell by round, with mean, best-fit slope and limits of the window.
#[derive(Clone, Debug, Default)]
struct RoundSeries {
    title: String,
    points: Vec<(f64, f64)>,
    mean: f64,
    slope: f64,
    band: Option<f64>,
}

impl RoundSeries {
    /// Of the figure that the rule evaluates.
    fn evaluated(steady: &SteadyRecord) -> RoundSeries {
        let values = steady.values.iter().enumerate();
        RoundSeries {
            title: steady.figure.clone(),
            points: values.map(|(i, v)| ((i + 1) as f64, *v)).collect(),
            mean: steady.mean,
            slope: steady.slope_per_round,
            band: steady.band,
        }
    }

    /// Of another figure of the same cell, without limits.
    fn of_figure(
        drive: &DriveRounds<'_, '_>,
        steady: &SteadyRecord,
        figure: &ResultMetric,
    ) -> Option<RoundSeries> {
        let (row, column) = drive.group_location(steady)?;
        let points = drive.values(row, column, figure);
        let (from, to) = (f64::from(steady.window.0), f64::from(steady.window.1));
        let window = || points.iter().filter(|p| (from..=to).contains(&p.0));
        let n = window().count() as f64;
        let mean = window().map(|p| p.1).sum::<f64>() / n;
        let middle = window().map(|p| p.0).sum::<f64>() / n;
        let xy: f64 = window().map(|(x, y)| (x - middle) * (y - mean)).sum();
        let xx: f64 = window().map(|(x, _)| (x - middle) * (x - middle)).sum();
        (n > 0.0).then(|| RoundSeries {
            title: figure.title.to_owned(),
            mean,
            slope: if xx > 0.0 { xy / xx } else { 0.0 },
            band: None,
            points: points.clone(),
        })
    }
}

/// The tracked figure, its mean, the limits of the range, and the best-fit line.
fn window(
    section: &Section<'_>,
    drive: &DriveRounds<'_, '_>,
    steady: &SteadyRecord,
    series: &RoundSeries,
) -> ChartView {
    let (from, to) = steady.window;
    let (first, last) = (f64::from(from), f64::from(to));
    let mut tracked = Trace {
        name: series.title.clone(),
        points: series.points.clone(),
        mode: "lines+markers",
        colour: colour(drive.drive),
        ..Trace::default()
    }
    .json();
    let inside = |x: f64| (first..=last).contains(&x);
    let x = series.points.iter().map(|p| p.0);
    let symbols = x.map(|x| if inside(x) { "circle" } else { "circle-open" });
    tracked["marker"]["symbol"] = symbols.collect();
    let segment = |name: &str, colour: &str, ends: [f64; 2], dash, size| {
        let trace = Trace {
            name: name.to_owned(),
            points: vec![(first, ends[0]), (last, ends[1])],
            colour: colour.to_owned(),
            dash,
            size,
            ..Trace::default()
        };
        trace.json()
    };
    let level = |name: &str, at: f64, dash, size| segment(name, "@ink", [at, at], dash, size);
    let mean = level("mean of the window", series.mean, "solid", 1.5);
    let mut data = vec![tracked, mean];
    if let Some(band) = series.band {
        let share = percent(100.0 * band / series.mean.abs().max(f64::MIN_POSITIVE));
        for (sign, at) in [("+", series.mean + band), ("\u{2212}", series.mean - band)] {
            data.push(level(&format!("mean {sign} {share} %"), at, "dot", 1.2));
        }
    }
    let middle = (first + last) / 2.0;
    let ends = [first, last].map(|x| series.mean + series.slope * (x - middle));
    let fit = colour(drive.drive + 1);
    data.push(segment("best-fit line", &fit, ends, "longdash", 2.5));
    let mut layout = layout_of_rounds(&plain(&series.title), drive.done, Some(steady.window));
    layout["yaxis"]["rangemode"] = "normal".into();
    let state = if steady.achieved {
        format!("steady, rounds {from} to {to}")
    } else {
        NOT_ACHIEVED.to_owned()
    };
    let name = section.set.chart_name(drive.drive);
    let label = [&series.title, &name, &drive.location_of(steady, section)];
    ChartView::with(format!("{}: {state}", joined(label, ", ")), &data, layout)
}
