//! Interleaved rounds and their statistics.

use anyhow::{Result, bail};
use assay_units::median;
use rustix::time::{ClockId, clock_gettime};

use crate::Bench;
use crate::tools::{Sample, Variant};

/// Minimum, median and maximum of several rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// Minimum.
    pub min: f64,
    /// Median (of an even number, the mean of the middle two).
    pub median: f64,
    /// Maximum.
    pub max: f64,
}

impl Spread {
    /// Of these values; all zero when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
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
        format!(
            "{:.digits$} ({:.digits$}-{:.digits$})",
            self.median, self.min, self.max
        )
    }
}

/// The rounds of one variant.
pub struct Series {
    /// What was run.
    pub variant: Variant,
    /// One per round.
    pub samples: Vec<Sample>,
}

impl Series {
    /// A figure over the rounds.
    pub fn spread(&self, figure: impl Fn(&Sample) -> f64) -> Spread {
        Spread::of(self.samples.iter().map(figure))
    }

    /// This series' figure divided by another's, round by round: what disturbed a round disturbed both.
    pub fn ratio(
        &self,
        to: &Series,
        mine: impl Fn(&Sample) -> f64,
        theirs: impl Fn(&Sample) -> f64,
    ) -> Spread {
        Spread::of(
            self.samples
                .iter()
                .zip(&to.samples)
                .map(|(a, b)| mine(a) / theirs(b).max(f64::MIN_POSITIVE)),
        )
    }
}

/// Run every variant once per round, in turn.
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
    let mut all: Vec<Series> = variants
        .into_iter()
        .map(|variant| Series {
            variant,
            samples: Vec::new(),
        })
        .collect();
    for round in 1..=bench.rounds() {
        eprintln!("{title}: round {round} of {}", bench.rounds());
        for series in &mut all {
            if bench.runner.stopped() {
                bail!("interrupted");
            }
            series.samples.push(run(&series.variant)?);
        }
    }
    Ok(all)
}

/// Processor time of this process so far, seconds.
pub fn cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Processor time that a program spends before and after its job, seconds: the middle of several jobs of 1 ms.
pub fn start_up_s(bench: &Bench, variant: &dyn Fn(u64) -> Variant) -> Result<f64> {
    let mut costs = Vec::new();
    for _ in 0..bench.rounds() {
        costs.push(variant(1).run(&bench.runner)?.cpu_s);
    }
    Ok(Spread::of(costs).median)
}

/// The series with the greatest median of a figure.
pub fn best<'a>(
    series: impl Iterator<Item = &'a Series>,
    figure: impl Fn(&Sample) -> f64,
) -> Option<&'a Series> {
    series.max_by(|a, b| {
        a.spread(&figure)
            .median
            .total_cmp(&b.spread(&figure).median)
    })
}
