use anyhow::Result;
use assay_units::median;
use rustix::time::{ClockId, clock_gettime};

use crate::Bench;
use crate::document::Table;
use crate::tools::{Sample, Tool, Variant};

/// Minimum, median (of an even number, the mean of the middle two) and maximum of several rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    pub fn new(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (values.first(), values.last()) else {
            return Spread::default();
        };
        let median = median(values).unwrap_or_default();
        Spread { min, median, max }
    }

    /// `median (min-max)` with so many digits after the point.
    pub fn show(&self, digits: usize) -> String {
        let Spread { min, median, max } = self;
        format!("{median:.digits$} ({min:.digits$}-{max:.digits$})")
    }
}

pub struct Series {
    pub variant: Variant,
    pub samples: Vec<Sample>,
}

impl Series {
    pub fn spread(&self, figure: impl Fn(&Sample) -> f64) -> Spread {
        Spread::new(self.samples.iter().map(figure))
    }

    /// This series' figure divided by another's, round by round: what disturbed a round disturbed
    /// both.
    pub fn ratio(&self, to: &Series, figure: impl Fn(&Sample) -> f64) -> Spread {
        let pairs = self.samples.iter().zip(&to.samples);
        Spread::new(pairs.map(|(a, b)| figure(a) / figure(b).max(f64::MIN_POSITIVE)))
    }
}

pub type Figure = fn(&Sample) -> f64;

/// A row per series with spreads of these figures: heading, figure, digits after the point.
pub fn table(all: &[Series], columns: &[(&'static str, Figure, usize)]) -> Table {
    let heads: Vec<_> = columns.iter().map(|&(head, ..)| head).collect();
    let mut table = Table::new(&[&[""], &heads[..]].concat());
    table.0.extend(all.iter().map(|series| {
        let cells = columns.iter().map(|&(_, figure, digits)| series.spread(figure).show(digits));
        [series.variant.label.clone()].into_iter().chain(cells).collect()
    }));
    table
}

pub fn take_turns(bench: &Bench, title: &str, variants: Vec<Variant>) -> Result<Vec<Series>> {
    take_turns_by(bench, title, variants, |variant| variant.run(&bench.runner))
}

/// [`take_turns`] where running one is something else than starting it here.
pub fn take_turns_by(
    bench: &Bench,
    title: &str,
    variants: Vec<Variant>,
    mut run: impl FnMut(&Variant) -> Result<Sample>,
) -> Result<Vec<Series>> {
    let series = |variant| Series { variant, samples: Vec::new() };
    let mut all: Vec<Series> = variants.into_iter().map(series).collect();
    bench.repeat(title, bench.rounds(), |_| {
        for series in &mut all {
            bench.runner.check_stopped()?;
            series.samples.push(run(&series.variant)?);
        }
        Ok(())
    })?;
    Ok(all)
}

pub fn cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The middle of several runs of a job too short for I/O.
pub fn start_up_s(bench: &Bench, short: &Variant) -> Result<f64> {
    let cost = |_| Ok(short.outcome(&bench.runner)?.cpu_s());
    let costs = bench.repeat("start-up", bench.rounds(), cost)?;
    Ok(Spread::new(costs).median)
}

/// The series of assay and of fio with the greatest median of a figure, among those that match.
pub fn best_of_each(
    all: &[Series],
    figure: Figure,
    matches: impl Fn(&Variant) -> bool,
) -> Option<(&Series, &Series)> {
    let median = |series: &&Series| series.spread(figure).median;
    let best = |tool| {
        let of_tool = all.iter().filter(|series| series.variant.tool == tool);
        let matching = of_tool.filter(|series| matches(&series.variant));
        matching.max_by(|a, b| median(a).total_cmp(&median(b)))
    };
    Some((best(Tool::Assay)?, best(Tool::Fio)?))
}
