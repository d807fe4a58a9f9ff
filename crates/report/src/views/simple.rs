//! Soaks, idle drives and inspections of the medium.

use assay_store::series::IntervalSample;

use super::{Context, KeyFigure, SectionView};
use crate::charts::{Chart, idle, percentiles, timeline};
use crate::format::figure;
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::{inspect, power, soak};

/// A long run with telemetry.
pub struct Soak;

impl SectionView for Soak {
    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "One long run. A flat line is a sustained rate. A rate that falls while the temperature rises indicates thermal throttling; one that falls at a constant temperature, an exhausted cache. The final level is the one that counts for long jobs."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![soak::table(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        let charts = [
            timeline::chart(cx.set, cx.section),
            percentiles::chart(cx.set, cx.section),
        ];
        charts.into_iter().flatten().collect()
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let Some((result, data)) = points.first().and_then(|p| p.result().zip(p.data)) else {
            return Vec::new();
        };
        let slowest = data
            .measured_intervals()
            .iter()
            .map(IntervalSample::mib_per_s)
            .reduce(f64::min);
        let highest = data
            .telemetry
            .iter()
            .filter_map(|t| t.temperature_c)
            .reduce(f64::max);
        let details = [
            slowest.map(|rate| format!("slowest interval {}", figure(rate))),
            highest.map(|celsius| format!("up to {celsius:.0} \u{b0}C")),
        ];
        vec![KeyFigure {
            label: format!("{}, mean", cx.section.title),
            value: figure(result.mib_per_s()),
            unit: "MiB/s",
            details: details
                .into_iter()
                .flatten()
                .collect::<Vec<String>>()
                .join(", "),
        }]
    }
}

/// Drives without a workload.
pub struct Idle;

impl SectionView for Idle {
    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "Power and temperature of the drive without a workload. Power that falls in steps shows transitions into non-operational power states; a drive that reports no power needs a meter. The next test starts at the temperature reached here."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![power::idle(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        idle::charts(cx.set, cx.section)
    }

    fn lists_figures(&self) -> bool {
        false
    }
}

/// Contents of the areas that other steps read.
pub struct Inspection;

impl SectionView for Inspection {
    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "Contents of the areas that were read. Many drives answer reads of blank or compressible areas without accessing their flash, so figures from such areas do not characterise the flash."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![inspect::table(cx.set, &cx.section.points, cx.section.title)]
    }

    fn lists_figures(&self) -> bool {
        false
    }
}
