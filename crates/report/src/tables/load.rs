//! Latency against offered load in an open loop, and how far a drive keeps up.

use assay_stats::LatencySummary;
use assay_stats::knee::{LATENCY_FACTOR, LoadPoint, load_knee};

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{name, remarks, spread_notes, with_spread};
use assay_analysis::estimate;

/// One offered load and what came of it.
#[derive(Clone, Debug)]
pub struct Offer<'s, 'a> {
    /// The cell.
    pub point: &'s Point<'a>,
    /// Share of what the drive reached in a closed loop, percent.
    pub percent: f64,
    /// Operations offered per second.
    pub offered: f64,
    /// Operations completed per second.
    pub reached: f64,
    /// From the moment an operation was due.
    pub latency: LatencySummary,
    /// From the moment it was sent.
    pub service: Option<LatencySummary>,
    /// How long it was offered, seconds.
    pub seconds: f64,
}

impl Offer<'_, '_> {
    /// Was what was offered also done?
    pub fn sustained(&self) -> bool {
        self.as_point().is_kept_up_with()
    }

    fn as_point(&self) -> LoadPoint {
        LoadPoint {
            offered: self.offered,
            done: self.reached,
            latency_ns: self.latency.mean,
            seconds: self.seconds,
        }
    }
}

/// The loads of a section: one list per drive and column, the lightest first.
pub fn offers<'s, 'a>(lineup: &Lineup<'a>, section: &'s Section<'a>) -> Vec<Vec<Offer<'s, 'a>>> {
    section
        .series()
        .into_iter()
        .map(|points| {
            let mut offers: Vec<Offer<'s, 'a>> = points
                .into_iter()
                .filter_map(|point| offer(lineup, point))
                .collect();
            offers.sort_by(|a, b| a.offered.total_cmp(&b.offered));
            offers
        })
        .filter(|offers| !offers.is_empty())
        .collect()
}

fn offer<'s, 'a>(lineup: &Lineup<'a>, point: &'s Point<'a>) -> Option<Offer<'s, 'a>> {
    let result = point.result()?;
    let summary = if result.read.ios >= result.write.ios {
        &result.read
    } else {
        &result.write
    };
    let percent = point.plan().load.as_ref().map(|l| l.percent);
    let whole = || {
        let load = point.plan().load.as_ref()?;
        let cells = &lineup.runs[point.run].cells;
        let index = lineup.index_in(point.run, point.drive)?;
        let of = cells.iter().filter(|c| c.plan.step == load.of);
        let parts = of.filter_map(|c| c.drives.iter().find(|d| d.drive == index));
        let rates = parts.filter_map(|d| Some(d.result.as_ref()?.iops()));
        Some(rates.reduce(f64::max)? * load.percent / 100.0)
    };
    let planned = point.plan().workload.rate_iops;
    let offered = result
        .values
        .get(assay_store::model::OFFERED_IOPS)
        .copied()
        .or((planned > 0.0).then_some(planned))
        .or_else(whole)?;
    (offered > 0.0 && summary.latency_ns.samples > 0).then(|| Offer {
        point,
        percent: percent.unwrap_or(0.0),
        offered,
        reached: result.iops(),
        latency: summary.latency_ns,
        service: summary.service_ns,
        seconds: result.elapsed.as_secs_f64(),
    })
}

/// Which load is the knee; `None` where not even the lightest was sustained.
pub fn knee(offers: &[Offer<'_, '_>]) -> Option<usize> {
    let points: Vec<LoadPoint> = offers.iter().map(Offer::as_point).collect();
    load_knee(&points, LATENCY_FACTOR).map(|knee| knee.index)
}

/// One row per load, the figures of every drive side by side.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let all = offers(lineup, section);
    let several = section.columns.len() > 1;
    let mut columns = Vec::new();
    if several {
        columns.push(Column::under("", "what", ""));
    }
    columns.extend([
        Column::under("", "load", "%"),
        Column::under("", "offered", "IOPS"),
        Column::under("", "completed", "IOPS"),
    ]);
    let from_due = "latency from due time, \u{b5}s";
    columns.extend(["mean", "p50", "p99", "p99.99"].map(|l| Column::under(from_due, l, "")));
    let served = all.iter().flatten().any(|o| o.service.is_some());
    if served {
        columns.extend(["mean", "p99"].map(|l| Column::under("service time, \u{b5}s", l, "")));
    }
    let mut rows = Vec::new();
    for offers in &all {
        let knee = knee(offers);
        for (i, offer) in offers.iter().enumerate() {
            let mut cells = Vec::new();
            if several {
                cells.push(Cell::Text(section.column_label(offer.point.column)));
            }
            cells.push(Cell::Number(Number {
                text: format::figure(offer.percent),
                best: knee == Some(i),
                ..Number::default()
            }));
            cells.push(Cell::number(format::figure(offer.offered)));
            cells.push(Cell::Number(Number {
                text: format::figure(offer.reached),
                mark: (!offer.sustained()).then(|| "not sustained".to_owned()),
                ..Number::default()
            }));
            let figure = |value: f64, samples: u64, needed: u64| {
                if samples >= needed {
                    Cell::number(format::micros(value))
                } else {
                    Cell::Missing("\u{2013}", format!("too few samples: {samples}"))
                }
            };
            let l = &offer.latency;
            let known = offer
                .point
                .part
                .and_then(|p| estimate::of(p).latency_mean_ns);
            cells.push(with_spread(figure(l.mean, l.samples, 1), known, 1e3));
            cells.push(figure(l.p50 as f64, l.samples, 1));
            cells.push(figure(l.p99 as f64, l.samples, 100));
            cells.push(figure(l.p99_99 as f64, l.samples, 10_000));
            if served {
                match &offer.service {
                    Some(s) => {
                        cells.push(figure(s.mean, s.samples, 1));
                        cells.push(figure(s.p99 as f64, s.samples, 100));
                    }
                    None => cells.extend([Cell::Empty, Cell::Empty]),
                }
            }
            rows.push(Row {
                name: name(lineup, offer.point.drive),
                cells,
            });
        }
    }
    let mut notes = remarks(lineup, &section.points);
    notes.push(format!(
        "bold: the load at the knee, the highest one that is sustained with a mean latency of at most {LATENCY_FACTOR:.0} times that of the lightest"
    ));
    if all.iter().flatten().any(|o| !o.sustained()) {
        notes.push("not sustained: less than 98 % of what was offered was completed; the backlog grew to the end of the measurement, and its latency says how long that was, not how fast the drive is".to_owned());
    }
    Table {
        caption: format!("{}: latency by offered load", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(notes, &rows),
        rows,
    }
}
