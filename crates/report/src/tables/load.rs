//! Latency by offered load in an open loop, and the load that a drive sustains.

use assay_analysis::estimate;
use assay_stats::LatencySummary;
use assay_stats::knee::{LATENCY_FACTOR, LoadPoint, load_knee};
use assay_store::model::OFFERED_IOPS;

use crate::drive_set::DriveSet;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{name, remarks, spread_notes, with_spread};

/// One offered load and its result.
#[derive(Clone, Debug)]
pub struct LoadResult<'s, 'a> {
    /// The cell.
    pub point: &'s Point<'a>,
    /// Share of the drive's closed-loop rate, percent.
    pub percent: f64,
    /// Operations offered per second.
    pub offered_iops: f64,
    /// Operations completed per second.
    pub completed_iops: f64,
    /// Latency from the intended start.
    pub latency: LatencySummary,
    /// Latency from submission.
    pub service: Option<LatencySummary>,
    /// Duration of the load, seconds.
    pub seconds: f64,
}

impl LoadResult<'_, '_> {
    /// True when the drive kept up with the offered load.
    pub fn sustained(&self) -> bool {
        self.load_point().is_kept_up_with()
    }

    fn load_point(&self) -> LoadPoint {
        LoadPoint {
            offered: self.offered_iops,
            done: self.completed_iops,
            latency_ns: self.latency.mean,
            seconds: self.seconds,
        }
    }
}

/// The loads of a section: one list per drive and column, the lightest first; no list is empty.
pub fn loads<'s, 'a>(set: &DriveSet<'a>, section: &'s Section<'a>) -> Vec<Vec<LoadResult<'s, 'a>>> {
    let mut all = Vec::new();
    for points in section.series() {
        let mut loads: Vec<_> = points
            .into_iter()
            .filter_map(|point| load_result(set, point))
            .collect();
        loads.sort_by(|a, b| a.offered_iops.total_cmp(&b.offered_iops));
        if !loads.is_empty() {
            all.push(loads);
        }
    }
    all
}

fn load_result<'s, 'a>(set: &DriveSet<'a>, point: &'s Point<'a>) -> Option<LoadResult<'s, 'a>> {
    let result = point.result()?;
    let summary = if result.read.ios >= result.write.ios {
        &result.read
    } else {
        &result.write
    };
    let load = point.plan().load.as_ref();
    // The planned share of the best rate of the step that it refers to.
    let from_share = || {
        let load = load?;
        let index = set.index_in(point.run, point.drive)?;
        let cells = set.runs[point.run].cells.iter();
        let cells = cells.filter(|c| c.plan.step == load.of);
        let drives = cells.filter_map(|c| c.drives.iter().find(|d| d.drive == index));
        let rates = drives.filter_map(|d| Some(d.result.as_ref()?.iops()));
        Some(rates.reduce(f64::max)? * load.percent / 100.0)
    };
    let planned = Some(point.plan().workload.rate_iops).filter(|rate| *rate > 0.0);
    let recorded = result.values.get(OFFERED_IOPS).copied();
    let offered_iops = recorded.or(planned).or_else(from_share)?;
    (offered_iops > 0.0 && summary.latency_ns.samples > 0).then(|| LoadResult {
        point,
        percent: load.map_or(0.0, |l| l.percent),
        offered_iops,
        completed_iops: result.iops(),
        latency: summary.latency_ns,
        service: summary.service_ns,
        seconds: result.elapsed.as_secs_f64(),
    })
}

/// Index of the knee; `None` where the lightest load was not sustained.
pub fn knee(loads: &[LoadResult<'_, '_>]) -> Option<usize> {
    let points: Vec<LoadPoint> = loads.iter().map(LoadResult::load_point).collect();
    load_knee(&points, LATENCY_FACTOR).map(|knee| knee.index)
}

/// One row per load.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let all = loads(set, section);
    let several = section.columns.len() > 1;
    let mut columns = Vec::new();
    if several {
        columns.push(Column::of("what", ""));
    }
    columns.extend([
        Column::of("load", "%"),
        Column::of("offered", "IOPS"),
        Column::of("completed", "IOPS"),
    ]);
    let latency = "latency from intended start, \u{b5}s";
    columns.extend(["mean", "p50", "p99", "p99.99"].map(|l| Column::under(latency, l, "")));
    let has_service = all.iter().flatten().any(|o| o.service.is_some());
    if has_service {
        columns.extend(["mean", "p99"].map(|l| Column::under("service time, \u{b5}s", l, "")));
    }
    let mut rows = Vec::new();
    for loads in &all {
        let knee = knee(loads);
        for (i, load) in loads.iter().enumerate() {
            let mut cells = Vec::new();
            if several {
                cells.push(Cell::Text(section.column_label(load.point.column)));
            }
            let l = &load.latency;
            let estimate = load
                .point
                .data
                .and_then(|d| estimate::of(d).latency_mean_ns);
            cells.extend([
                Cell::figure(load.percent).with(|n| n.best = knee == Some(i)),
                Cell::figure(load.offered_iops),
                Cell::figure(load.completed_iops)
                    .with(|n| n.mark = (!load.sustained()).then(|| "not sustained".to_owned())),
                with_spread(Cell::latency(l.mean, l.samples, 1), estimate, 1e3),
                Cell::latency(l.p50 as f64, l.samples, 1),
                Cell::latency(l.p99 as f64, l.samples, 100),
                Cell::latency(l.p99_99 as f64, l.samples, 10_000),
            ]);
            if let Some(s) = &load.service {
                cells.push(Cell::latency(s.mean, s.samples, 1));
                cells.push(Cell::latency(s.p99 as f64, s.samples, 100));
            }
            rows.push(Row::new(name(set, load.point.drive), cells));
        }
    }
    let mut notes = remarks(set, &section.points);
    if !rows.is_empty() {
        notes.push(format!(
            "bold: the load at the knee, the highest sustained one with a mean latency of at most {LATENCY_FACTOR:.0} times that of the lightest"
        ));
    }
    if all.iter().flatten().any(|o| !o.sustained()) {
        notes.push("not sustained: less than 98 % of the offered load was completed; the queue grew until the end of the measurement, so that the latency reflects its duration, not the drive".to_owned());
    }
    let notes = spread_notes(notes, &rows);
    Table::of_drives(
        section.caption("latency by offered load"),
        columns,
        rows,
        notes,
    )
}
