//! Several drives at once: alone against together, and second by second as `iostat` prints it.

use assay_stats::HostLoad;
use assay_store::read::{CellDrive, CellRecord};
use assay_store::series::IntervalSample;
use assay_units::{Nanos, rate};

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::metric::Metric;
use crate::table::{Cell, Column, Name, Row, Table};
use crate::tables::figures::HOST;
use crate::tables::{cell_of, name, remarks};

/// Most rows of a per-second table; a longer one adds up neighbouring intervals.
pub const MOST_ROWS: usize = 120;

/// A cell that measured several drives at once.
#[derive(Clone, Debug)]
pub struct Crowd<'a> {
    /// The cell.
    pub cell: &'a CellRecord,
    /// Its points, one per drive.
    pub points: Vec<Point<'a>>,
    /// For each, the same workload of that drive alone.
    pub alone: Vec<Option<Point<'a>>>,
}

/// The cells of a section that measured several drives at once.
pub fn crowds<'a>(section: &Section<'a>, elsewhere: &[Section<'a>]) -> Vec<Crowd<'a>> {
    let mut crowds: Vec<Crowd<'a>> = Vec::new();
    for point in section.points.iter().filter(|p| p.together()) {
        let alone = alone(point, section, elsewhere);
        let same =
            |c: &&mut Crowd<'a>| c.points[0].run == point.run && c.cell.plan.id == point.plan().id;
        match crowds.iter_mut().find(same) {
            Some(crowd) => {
                crowd.points.push(point.clone());
                crowd.alone.push(alone);
            }
            None => crowds.push(Crowd {
                cell: point.cell,
                points: vec![point.clone()],
                alone: vec![alone],
            }),
        }
    }
    crowds
}

/// The same workload of the same drive alone: of the same step, else of any.
fn alone<'a>(
    point: &Point<'a>,
    section: &Section<'a>,
    elsewhere: &[Section<'a>],
) -> Option<Point<'a>> {
    let like = |p: &&Point<'a>| {
        let (a, b) = (&p.plan().workload, &point.plan().workload);
        !p.together()
            && p.drive == point.drive
            && p.result().is_some()
            && (&a.rw, a.bs_bytes, a.numjobs, a.iodepth, &a.data, a.direct)
                == (&b.rw, b.bs_bytes, b.numjobs, b.iodepth, &b.data, b.direct)
    };
    let mut here = section.points.iter();
    let mut anywhere = elsewhere.iter().flat_map(|s| &s.points);
    here.find(like).or_else(|| anywhere.find(like)).cloned()
}

/// Per cell: each drive alone and together.
pub fn alone_and_together(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Table> {
    let sections = crate::grid::sections(lineup);
    crowds(section, &sections)
        .iter()
        .map(|crowd| comparison(lineup, section, crowd))
        .collect()
}

fn comparison(lineup: &Lineup<'_>, section: &Section<'_>, crowd: &Crowd<'_>) -> Table {
    let metrics = [Metric::Bandwidth, Metric::Iops, Metric::P99];
    let mut columns = Vec::new();
    for metric in metrics {
        let group = Some(Name::plain(metric.title()));
        let mut labels = vec!["alone", "together"];
        if metric == Metric::Bandwidth {
            labels.push("% of alone");
        }
        columns.extend(labels.into_iter().map(|label| Column {
            group: group.clone(),
            label: label.to_owned(),
            unit: "",
        }));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (point, alone) in crowd.points.iter().zip(&crowd.alone) {
        let mut cells = Vec::new();
        for metric in metrics {
            // A suite may record what the drive did alone with the result instead of as a cell of its own.
            let recorded = point.result().and_then(|r| match metric {
                Metric::Bandwidth => r.values.get("mib_per_s_alone").copied(),
                Metric::Iops => r.values.get("iops_alone").copied(),
                _ => None,
            });
            let measured = alone
                .as_ref()
                .and_then(|a| a.result())
                .and_then(|r| metric.of(r));
            cells.push(match (alone, measured, recorded) {
                (Some(alone), Some(_), _) => cell_of(alone, |r| metric.of(r), format::figure),
                (_, _, Some(value)) => Cell::number(format::figure(value)),
                _ => Cell::Missing(
                    "n/a",
                    "not measured alone with the same workload".to_owned(),
                ),
            });
            cells.push(cell_of(point, |r| metric.of(r), format::figure));
            if metric == Metric::Bandwidth {
                let together = point.result().and_then(|r| metric.of(r));
                cells.push(match (measured.or(recorded), together) {
                    (Some(alone), Some(together)) if alone > 0.0 => {
                        Cell::number(format::percent(100.0 * together / alone))
                    }
                    _ => Cell::Empty,
                });
            }
        }
        rows.push(Row {
            name: name(lineup, point.drive),
            cells,
        });
    }
    rows.push(total(lineup, crowd, columns.len()));
    let mut points = crowd.points.clone();
    points.extend(crowd.alone.iter().flatten().cloned());
    let mut notes = remarks(lineup, &points);
    if let Some(load) = mean_load(crowd.cell) {
        let split: Vec<String> = HOST
            .iter()
            .map(|(label, of)| format!("{label} {}", format::percent(of(&load))))
            .collect();
        notes.push(format!(
            "host CPU while together, % of all processors: {}",
            split.join(", ")
        ));
    }
    Table {
        caption: caption(section, crowd, "alone and together"),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes,
    }
}

/// Sums of what was measured together.
fn total(lineup: &Lineup<'_>, crowd: &Crowd<'_>, columns: usize) -> Row {
    let sum = |metric: Metric| {
        let results = crowd.points.iter().filter_map(Point::result);
        Cell::number(format::figure(results.filter_map(|r| metric.of(r)).sum()))
    };
    let mut cells = vec![Cell::Empty; columns];
    if let [_, bandwidth, _, _, iops, ..] = cells.as_mut_slice() {
        *bandwidth = sum(Metric::Bandwidth);
        *iops = sum(Metric::Iops);
    }
    Row {
        name: Name {
            text: "all together".to_owned(),
            simulated: crowd
                .points
                .iter()
                .any(|p| lineup.drives[p.drive].info.simulated),
        },
        cells,
    }
}

fn caption(section: &Section<'_>, crowd: &Crowd<'_>, what: &str) -> String {
    let place = crowd.points[0].coordinates(&section.varying());
    if place.is_empty() {
        format!("{}: {what}", section.title)
    } else {
        format!("{}, {place}: {what}", section.title)
    }
}

/// The host's mean load in a cell: as recorded with a result, else of its intervals.
pub fn mean_load(cell: &CellRecord) -> Option<HostLoad> {
    let recorded = cell
        .drives
        .iter()
        .find_map(|d| d.result.as_ref().and_then(|r| r.host));
    recorded.or_else(|| {
        let loads: Vec<HostLoad> = cell.host.iter().map(|(_, l)| *l).collect();
        HostLoad::mean(&loads)
    })
}

/// Second by second: KB/t, tps and MB/s of each drive, and the host's processors.
pub fn iostat(lineup: &Lineup<'_>, section: &Section<'_>, crowd: &Crowd<'_>) -> Table {
    let series: Vec<Vec<IntervalSample>> = crowd
        .points
        .iter()
        .map(|p| p.part.map(CellDrive::intervals).unwrap_or_default())
        .collect();
    let mut indices: Vec<u32> = series.iter().flatten().map(|t| t.index).collect();
    indices.sort_unstable();
    indices.dedup();
    let together = indices.len().div_ceil(MOST_ROWS).max(1);
    let mut columns = Vec::new();
    for point in &crowd.points {
        columns.extend(["KB/t", "tps", "MB/s"].map(|label| Column {
            group: Some(name(lineup, point.drive)),
            label: label.to_owned(),
            unit: "",
        }));
    }
    let host = !crowd.cell.host.is_empty();
    if host {
        columns.extend(HOST.map(|(label, _)| Column {
            group: Some(Name::plain("host CPU, %")),
            label: label.to_owned(),
            unit: "",
        }));
    }
    let rows = indices
        .chunks(together)
        .map(|chunk| {
            // Indices and samples are sorted, so a chunk's samples are a slice.
            let (first, last) = (chunk[0], chunk[chunk.len() - 1]);
            let within = |index: u32| (first..=last).contains(&index);
            let of_chunk = |samples: &'_ Vec<IntervalSample>| {
                let from = samples.partition_point(|t| t.index < first);
                let to = samples.partition_point(|t| t.index <= last);
                from..to
            };
            let end = series
                .iter()
                .flat_map(|samples| &samples[of_chunk(samples)])
                .map(|t| t.end)
                .max();
            let mut cells = Vec::new();
            for samples in &series {
                cells.extend(transfer_cells(samples[of_chunk(samples)].iter()));
            }
            if host {
                let loads: Vec<HostLoad> = crowd
                    .cell
                    .host
                    .iter()
                    .filter(|(i, _)| within(*i))
                    .map(|(_, load)| *load)
                    .collect();
                let load = HostLoad::mean(&loads);
                cells.extend(HOST.map(|(_, of)| match &load {
                    Some(load) => Cell::number(format::percent(of(load))),
                    None => Cell::Empty,
                }));
            }
            let end = end.unwrap_or_default().as_secs_f64();
            Row {
                name: Name::plain(if (end - end.round()).abs() < 0.05 {
                    format!("{end:.0}")
                } else {
                    format!("{end:.1}")
                }),
                cells,
            }
        })
        .collect();
    let mut notes = vec![
        "as iostat prints it: KB/t is KiB per transfer, tps transfers per second, MB/s MiB per second".to_owned(),
    ];
    if together > 1 {
        notes.push(format!(
            "each row adds up {together} intervals; the run folder holds every one"
        ));
    }
    Table {
        caption: caption(section, crowd, "second by second, all drives at once"),
        corner: "until, s".to_owned(),
        columns,
        rows,
        notes,
    }
}

/// KB/t, tps, MB/s of some intervals of a drive.
fn transfer_cells<'t>(samples: impl Iterator<Item = &'t IntervalSample>) -> [Cell; 3] {
    let (mut ios, mut bytes, mut span) = (0, 0, Nanos::ZERO);
    for sample in samples {
        ios += sample.ios();
        bytes += sample.bytes();
        span += sample.elapsed();
    }
    if span == Nanos::ZERO {
        return [Cell::Empty, Cell::Empty, Cell::Empty];
    }
    let per_transfer = if ios > 0 {
        Cell::number(format::figure(bytes as f64 / ios as f64 / 1024.0))
    } else {
        Cell::Empty
    };
    [
        per_transfer,
        Cell::number(format::figure(rate::per_second(ios, span))),
        Cell::number(format::figure(rate::mib_per_second(bytes, span))),
    ]
}
