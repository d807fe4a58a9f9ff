//! Headline metrics of a suite, as its TOML text declares them: the columns of the scoreboard, and
//! the figures from which cohorts conclude.

use assay_store::model::{CellKind, CellPlan};
use assay_store::read::Run;
use assay_units::text::parse_size;
use serde::{Deserialize, Serialize};

use super::{Figure, FigureInput, FigureValue, Measured};

/// One figure of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadlineMetric {
    /// Unique in the suite: letters, digits and hyphens.
    pub key: String,
    /// Heading of the column.
    pub title: String,
    pub step: String,
    pub figure: Figure,
    /// Only cells with this workload (fio's `rw`).
    pub rw: Option<String>,
    /// Only cells with this block size, as text: `4k`.
    pub bs: Option<String>,
    /// Only cells with so many threads.
    pub numjobs: Option<u32>,
    /// Only cells with this depth per thread.
    pub iodepth: Option<u32>,
    /// Only cells with so many I/Os in flight, all threads together.
    pub in_flight: Option<u32>,
    /// Only cells with this share of reads.
    pub rwmixread: Option<u8>,
    /// Only cells of this job, where several run at once; absent: the foreground.
    pub job: Option<String>,
}

impl HeadlineMetric {
    pub fn of_step(step: &str, title: &str, figure: Figure) -> HeadlineMetric {
        HeadlineMetric {
            key: format!("{step}-{}", figure.key.replace('_', "")).to_lowercase(),
            title: title.to_owned(),
            step: step.to_owned(),
            figure,
            rw: None,
            bs: None,
            numjobs: None,
            iodepth: None,
            in_flight: None,
            rwmixread: None,
            job: None,
        }
    }

    pub fn selects(&self, plan: &CellPlan) -> bool {
        fn is<T: PartialEq>(wanted: Option<T>, value: T) -> bool {
            wanted.is_none_or(|wanted| wanted == value)
        }
        let w = &plan.workload;
        let bs = self.bs.as_ref();
        self.step == plan.step
            && is(self.rw.as_deref(), &w.rw)
            && bs.is_none_or(|bs| parse_size(bs).is_ok_and(|bytes| bytes == w.bs_bytes))
            && is(self.numjobs, w.numjobs)
            && is(self.iodepth, w.iodepth)
            && is(self.in_flight, w.in_flight())
            && plan.job.as_ref().is_none_or(|job| match &self.job {
                Some(wanted) => *wanted == job.name,
                None => job.foreground,
            })
            && self.rwmixread.is_none_or(|share| w.rwmixread == Some(share))
    }

    /// Fails for a key that is no identifier, an empty title, a block size that cannot be read, or
    /// a figure that is not measured.
    pub fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.key.is_empty() || !self.key.chars().all(plain) {
            return Err("its key consists of letters, digits and hyphens".to_owned());
        }
        if self.title.is_empty() {
            return Err("it needs a title".to_owned());
        }
        if self.figure.compute.is_none() {
            return Err(format!("{} is a fact, not measured", self.figure.key));
        }
        match self.bs.as_deref().map(parse_size) {
            Some(Err(error)) => Err(format!("its bs: {error}")),
            _ => Ok(()),
        }
    }

    /// Value with its interval, from the cells measured so far.
    pub fn of_drive<'a>(&self, run: &'a Run, drive: usize) -> Option<FigureValue<'a>> {
        let prepares = |plan: &CellPlan| matches!(plan.kind, CellKind::Prepare | CellKind::Purge);
        let cells = run.cells.iter();
        let cells = cells.filter(|cell| !prepares(&cell.plan) && self.selects(&cell.plan));
        let input = FigureInput {
            cells: cells.filter_map(|cell| Measured::new(run, cell, drive)).collect(),
            with_intervals: true,
        };
        let first = *input.cells.first()?;
        let found = self.figure.compute(&input)?;
        found.value.is_finite().then(|| FigureValue { of: found.of.or(Some(first)), ..found })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Headlines {
    #[serde(default, rename = "headline")]
    pub metrics: Vec<HeadlineMetric>,
    /// Charts of the first screen, as `STEP/CHART`: the start of the chart's name in links.
    #[serde(default)]
    pub first_charts: Vec<String>,
}

impl Headlines {
    /// Empty where the suite declares none or cannot be read.
    pub fn of_run(run: &Run) -> Headlines {
        toml::from_str(&run.manifest.suite.text).unwrap_or_default()
    }
}
