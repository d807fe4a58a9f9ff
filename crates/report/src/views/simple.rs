//! Soaks, idle drives and inspections of the medium.

use assay_store::series::IntervalSample;
use maud::html;

use super::{KeyFigure, SectionView};
use crate::charts::{idle, percentiles, timeline};
use crate::format::{figure, joined};
use crate::grid::Section;
use crate::html::elements;
use crate::tables::{inspect, power, soak, temperature};

/// A long run with telemetry.
pub const SOAK: SectionView = SectionView {
    how_to_read: |_| {
        "One long run. A flat line is a sustained rate. A rate that falls while the temperature \
         rises indicates thermal throttling; one that falls at a constant temperature, an \
         exhausted cache. The final level is the one that counts for long jobs."
    },
    tables: |section| vec![soak::table(section)],
    charts: |section| {
        let charts = [timeline::chart(section), percentiles::chart(section)];
        charts.into_iter().flatten().collect()
    },
    folded_tables: |section| {
        let table = temperature::table(section);
        table
            .map(|table| ("Temperature, further sensors and warnings", table))
            .into_iter()
            .collect()
    },
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let first = section.measured(drive).next();
    let Some((result, data)) = first.and_then(|p| p.result().zip(p.data)) else {
        return Vec::new();
    };
    let intervals = data.measured_intervals();
    let slowest = intervals
        .iter()
        .map(IntervalSample::mib_per_s)
        .reduce(f64::min);
    let degrees = data.telemetry.iter().filter_map(|t| t.temperature_c);
    let details = [
        slowest.map(|rate| format!("slowest interval {}", figure(rate))),
        degrees
            .reduce(f64::max)
            .map(|celsius| format!("up to {celsius:.0} \u{b0}C")),
    ];
    vec![KeyFigure {
        label: format!("{}, mean", section.title),
        value: figure(result.mib_per_s()),
        unit: "MiB/s",
        details: joined(details.into_iter().flatten(), ", "),
    }]
}

/// Drives without a workload.
pub const IDLE: SectionView = SectionView {
    how_to_read: |_| {
        "Power and temperature of the drive without a workload. Power that falls in steps shows \
         transitions into non-operational power states; a drive that reports no power needs a \
         meter. The next test starts at the temperature reached here."
    },
    tables: |section| vec![power::idle(section)],
    charts: idle::charts,
    lists_figures: false,
    ..SectionView::DEFAULT
};

/// Contents of the areas that other steps read.
pub const INSPECTION: SectionView = SectionView {
    how_to_read: |_| {
        "Contents of the areas that were read. Many drives answer reads of blank or compressible \
         areas without accessing their flash, so figures from such areas do not characterise the \
         flash."
    },
    tables: |section| vec![inspect::table(&section.points, section.title)],
    html: |section, _, _| {
        let tables = (section.descriptor().tables)(section);
        html! { @for table in &tables { (elements::folded("Contents", table)) } }
    },
    lists_figures: false,
    ..SectionView::DEFAULT
};
