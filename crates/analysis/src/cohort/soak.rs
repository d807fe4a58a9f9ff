//! Soaks from run folders: a drive's figures over time. A soak is a cell of kind [`CellKind::Soak`]
//! of one drive, finished or not. Its intervals are cut into spans at every interruption, and
//! thinned to [`MOST_POINTS`] medians, so that weeks of thousands of drives fit into memory. An
//! interval in which nothing completed has no rate on a logarithmic scale and no latency: it is
//! left out and counted.

use assay_stats::cohort::drift::Span;
use assay_stats::compare::Better;
use assay_stats::median;
use assay_store::model::CellKind;
use assay_store::read::{CellDrive, Run};
use assay_store::series::{IntervalSample, OpCounts};

use super::Observation;
use super::observe::{Origin, figure_of_cell, template};
use crate::figure;

/// 20 for each of the blocks of which slopes are made.
pub const MOST_POINTS: usize = 480;
/// A longer pause is an interruption.
const PAUSE_INTERVALS: f64 = 1.5;
const HOUR_NS: f64 = 3.6e12;

/// Last part of the name of the share of errors.
pub const ERRORS_KEY: &str = "errors_per_bit";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoakSeries {
    /// Figure and drive; the value is the median over the soak.
    pub about: Observation,
    /// Hours since the soak began and finite values in the figure's unit, in spans without an
    /// interruption.
    pub spans: Vec<Span>,
    /// Intervals left out, in which nothing completed.
    pub silent: usize,
    /// The drive's own limit: its warning temperature (WCTEMP).
    pub limit: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoakErrors {
    /// Figure and drive; the value is the number of errors per bit.
    pub about: Observation,
    /// Failed or short I/Os.
    pub errors: u64,
    pub bits: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soaks {
    pub series: Vec<SoakSeries>,
    pub errors: Vec<SoakErrors>,
}

impl Soaks {
    pub fn extend(&mut self, others: Soaks) {
        self.series.extend(others.series);
        self.errors.extend(others.errors);
    }

    pub fn about(&self) -> impl Iterator<Item = &Observation> {
        let series = self.series.iter().map(|s| &s.about);
        series.chain(self.errors.iter().map(|e| &e.about))
    }

    pub fn about_mut(&mut self) -> impl Iterator<Item = &mut Observation> {
        let series = self.series.iter_mut().map(|s| &mut s.about);
        series.chain(self.errors.iter_mut().map(|e| &mut e.about))
    }

    pub fn retain(&mut self, keep: impl Fn(&Observation) -> bool) {
        self.series.retain(|s| keep(&s.about));
        self.errors.retain(|e| keep(&e.about));
    }
}

pub fn of_run(run: &Run, origin: &Origin) -> Soaks {
    let mut found = Soaks::default();
    for cell in &run.cells {
        if cell.plan.kind != CellKind::Soak || cell.plan.drives.len() != 1 {
            continue;
        }
        for part in &cell.drives {
            if let Some(template) = template(run, part.drive, origin) {
                let name = |key: &str| {
                    let label = &run.manifest.drives[part.drive].label;
                    figure_of_cell(&run.manifest.suite.name, &cell.plan.id, label, key)
                };
                let warning_c = run.manifest.drives[part.drive].warning_c.map(f64::from);
                found.extend(of_drive(part, &template, warning_c, name));
            }
        }
    }
    found
}

fn of_drive(
    part: &CellDrive,
    template: &Observation,
    warning_c: Option<f64>,
    name: impl Fn(&str) -> String,
) -> Soaks {
    let intervals = part.measured_intervals();
    let Some(first) = intervals.first() else {
        return Soaks::default();
    };
    let gaps: Vec<f64> = part.gaps.iter().map(|gap| hours(gap.start_ns.0)).collect();
    let reads: u64 = intervals.iter().map(|i| i.read.ios).sum();
    let writes: u64 = intervals.iter().map(|i| i.write.ios).sum();
    let most = |i: &IntervalSample| -> OpCounts { if writes > reads { i.write } else { i.read } };
    let at = |i: &IntervalSample| (hours(i.start.0) + hours(i.end.0)) / 2.0;
    let positive = |v: f64| Some(v).filter(|v| v.is_finite() && *v > 0.0);
    let series_of = |value: &dyn Fn(&IntervalSample) -> f64| -> Vec<(f64, Option<f64>)> {
        let point = |i: &IntervalSample| (at(i), positive(value(i)));
        intervals.iter().map(point).collect()
    };
    let readings = part.telemetry.iter().filter(|t| t.at >= first.start);
    let temperatures = readings.filter_map(|t| Some((hours(t.at.0), Some(t.temperature_c?))));
    let figures = [
        (figure::IOPS, series_of(&IntervalSample::iops)),
        (figure::MEAN_US, series_of(&|i| i.latency_mean_ns() / 1e3)),
        // Of reads or of writes, whichever are more.
        (figure::P99_US, series_of(&|i| most(i).p99_ns as f64 / 1e3)),
        (figure::TEMPERATURE_C, temperatures.collect()),
    ];
    let series = figures.into_iter().filter_map(|(figure, points)| {
        let silent = points.iter().filter(|(_, value)| value.is_none()).count();
        let spans = thinned(&spans(&points, &gaps));
        let values: Vec<f64> = spans.iter().flatten().map(|p| p.1).collect();
        let is_temperature = figure == figure::TEMPERATURE_C;
        (!values.is_empty()).then(|| SoakSeries {
            about: Observation {
                figure: name(figure.key),
                unit: figure.unit.text().to_owned(),
                better: figure.better,
                value: median(&values),
                ..template.clone()
            },
            spans,
            silent,
            limit: warning_c.filter(|_| is_temperature),
        })
    });
    let errors: u64 = intervals.iter().map(IntervalSample::errors).sum();
    let bits = 8.0 * intervals.iter().map(|i| i.bytes() as f64).sum::<f64>();
    Soaks {
        series: series.collect(),
        errors: vec![SoakErrors {
            about: Observation {
                figure: name(ERRORS_KEY),
                better: Some(Better::Less),
                value: errors as f64 / bits.max(1.0),
                ..template.clone()
            },
            errors,
            bits,
        }],
    }
}

fn hours(ns: u64) -> f64 {
    ns as f64 / HOUR_NS
}

/// Cut at the gaps, by time of their start, and at every pause of more than [`PAUSE_INTERVALS`]
/// usual intervals. Silent intervals are no pause: the drive was measured.
fn spans(points: &[(f64, Option<f64>)], gaps: &[f64]) -> Vec<Span> {
    let steps: Vec<f64> = points.windows(2).map(|p| p[1].0 - p[0].0).collect();
    let pause = PAUSE_INTERVALS * median(&steps);
    let number = |time: f64| gaps.iter().filter(|gap| **gap <= time).count();
    let parts = points.chunk_by(|a, b| b.0 - a.0 <= pause && number(a.0) == number(b.0));
    let span = |part: &[(f64, Option<f64>)]| -> Span {
        part.iter().filter_map(|(time, v)| Some((*time, (*v)?))).collect()
    };
    parts.map(span).filter(|span| !span.is_empty()).collect()
}

/// At most about [`MOST_POINTS`] medians.
fn thinned(spans: &[Span]) -> Vec<Span> {
    let count: usize = spans.iter().map(Vec::len).sum();
    let together = count.div_ceil(MOST_POINTS).max(1);
    let middle = |points: &[(f64, f64)]| {
        let (times, values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        (assay_stats::mean(&times), median(&values))
    };
    let thin = |span: &Span| span.chunks(together).map(middle).collect();
    spans.iter().map(thin).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/soak.rs"]
mod tests;
