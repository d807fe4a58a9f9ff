//! Jobs that run at once on one drive.

use super::{KeyFigure, MergeRule, SectionView};
use crate::axis::jobs_text;
use crate::charts::{Chart, percentiles};
use crate::format::{figure, micros, percent, ratio};
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::jobs;

/// The jobs of a step.
pub const JOBS: SectionView = SectionView {
    how_to_read: |_| {
        "Jobs that ran at once on one drive, each with its own rates and latencies. What a job \
         gets depends on the others: compare it with the same job alone."
    },
    tables,
    charts,
    key_figures,
    ..SectionView::DEFAULT
};

/// One workload alone, and beside several others, each in a step of its own.
pub const INTERFERENCE: SectionView = SectionView {
    title: Some("Alone and beside other jobs"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "The same workload first alone, then beside other jobs on the same drive. A median that \
         stays, with a 99.99th percentile that is many times as long, means that most operations \
         find their die idle and a few wait behind a program, an erase or a full write buffer. A \
         drive that suspends programs for reads, or that reserves time for them, keeps the tail \
         short. The rate falls with the mean latency where the queue depth is fixed."
    },
    ..JOBS
};

fn tables(section: &Section<'_>) -> Vec<Table> {
    let tables = [jobs::slowdowns(section), jobs::table(section)];
    tables.into_iter().filter(|t| !t.is_empty()).collect()
}

fn charts(section: &Section<'_>) -> Vec<Chart> {
    let alone_too = section
        .points
        .iter()
        .any(|p| jobs::interference_of(p).is_some());
    let name = |point: &Point<'_>| match alone_too {
        true => jobs::is_compared(point).then(|| jobs_text(point.plan())),
        false => Some(point.coordinates(&section.varying())),
    };
    percentiles::by_drive(section, &name).into_iter().collect()
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let found = jobs::interference_of(point)?;
        let (name, times) = match (found.p99_99, found.p99) {
            (Some(times), _) => ("p99.99", times),
            (None, times) => ("p99", times?),
        };
        let latency = point.result()?.latency();
        let beside = if name == "p99.99" {
            latency.p99_99
        } else {
            latency.p99
        };
        let rate = found.kept_iops_pct.map_or(String::new(), percent);
        Some(KeyFigure {
            label: format!("{name} {}", lower_first(&jobs_text(point.plan()))),
            value: ratio(times),
            unit: "",
            details: format!(
                "{} \u{b5}s; {rate} % of the rate alone",
                micros(beside as f64)
            ),
        })
    };
    let keys: Vec<KeyFigure> = section.measured(drive).filter_map(key).collect();
    if !keys.is_empty() {
        return keys;
    }
    let foreground = section.measured(drive).find(|p| jobs::is_compared(p));
    let key = |point: &Point<'_>| {
        let result = point.result()?;
        let job = point.plan().job.as_ref()?;
        Some(KeyFigure {
            label: format!("{}: {}", section.title, job.name),
            value: figure(result.iops()),
            unit: "IOPS",
            details: format!("p99 {} \u{b5}s", micros(result.latency().p99 as f64)),
        })
    };
    foreground.and_then(key).into_iter().collect()
}

/// A title within a sentence.
fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(letters).collect()
    })
}
