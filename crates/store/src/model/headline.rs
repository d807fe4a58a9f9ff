//! Headline metrics of a suite, as its TOML text declares them: the columns of the scoreboard in
//! reports.

use assay_units::text::parse_size;
use serde::{Deserialize, Serialize};

use super::CellPlan;

/// A headline metric: one figure of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadlineMetric {
    /// Name, unique in the suite: letters, digits and hyphens.
    pub key: String,
    /// Heading of its column.
    pub title: String,
    /// The step that measures it.
    pub step: String,
    /// What is taken from the step's cells.
    pub figure: HeadlineFigure,
    /// Only cells with this workload (fio's `rw`).
    pub rw: Option<String>,
    /// Only cells with this block size, as text: `4k`.
    pub bs: Option<String>,
    /// Only cells with so many threads.
    pub numjobs: Option<u32>,
    /// Only cells with so many I/Os in flight per thread.
    pub iodepth: Option<u32>,
    /// Only cells with so many I/Os in flight, all threads together.
    pub in_flight: Option<u32>,
    /// Only cells with this share of reads, percent.
    pub rwmixread: Option<u8>,
    /// Only cells of this job, where several run at once; absent: the foreground.
    pub job: Option<String>,
}

/// The figure of a headline metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadlineFigure {
    /// Highest rate of the cells, MiB/s.
    MibPerS,
    /// Highest rate of the cells, I/Os per second.
    Iops,
    /// Mean latency of the first cell, microseconds.
    MeanUs,
    /// Median latency of the first cell, microseconds.
    P50Us,
    /// 99th percentile latency of the first cell, microseconds.
    P99Us,
    /// 99.9th percentile latency of the first cell, microseconds.
    #[serde(rename = "p99_9_us")]
    P999Us,
    /// 99.99th percentile latency of the first cell, microseconds.
    #[serde(rename = "p99_99_us")]
    P9999Us,
    /// Mean rate of the last fifth of the intervals of the first cell, MiB/s.
    LastMibPerS,
    /// Rate of the last fifth of the intervals of the first cell relative to the first fifth,
    /// percent.
    HeldPct,
    /// Slowest interval of the first cell relative to its mean, percent.
    SlowestPct,
    /// Highest temperature in the cells, degrees Celsius.
    TemperatureMaxC,
    /// Data written before the SLC cache was full in the first cell, GiB.
    CacheGib,
    /// Highest rate per power of the cells, MiB per joule (MiB/s per watt).
    MibPerJoule,
    /// Mean power in the first cell, watts.
    PowerW,
    /// Mean rate of the scored part of the first cell (view `consistency`), I/Os per second.
    ScoreIops,
    /// That mean over the standard deviation of its seconds.
    ScoreSteadiness,
    /// Rate at the knee of the first sweep over depth (view `knee`), I/Os per second.
    KneeIops,
    /// Offered load at the knee (view `load`), percent of the saturated rate.
    LoadKneePct,
    /// Steady-state mean of the measurement window (view `rounds`), I/Os per second.
    WindowIops,
    /// Steady-state mean of the measurement window (view `rounds`), MiB/s.
    WindowMibPerS,
    /// Steady-state mean latency of the measurement window (view `rounds`), microseconds.
    WindowMeanUs,
    /// Rate of bursts after idle time relative to continuous writes (view `idle_recovery`),
    /// percent; of the first cell.
    RecoveredPct,
    /// Rate relative to the same workload on the empty drive (view `fill`), percent; of the first
    /// cell.
    OfEmptyPct,
    /// Median latency of the first I/O after the longest idle time, less that without idle time
    /// (view `wake`), microseconds.
    WakeUs,
    /// Time until the rate of the first cell is steady (views `consistency` and `saturation`),
    /// seconds.
    TimeToSteadyS,
    /// Capacities written until then.
    CapacitiesToSteady,
    /// Level of the first cell (view `cross_stimulus`), MiB/s.
    LevelMibPerS,
    /// Time until that level, seconds.
    SettledS,
    /// That level relative to the level of the same workload before, percent.
    LevelKeptPct,
    /// Write amplification of the first cell, by the drive's counters.
    WriteAmplification,
    /// Write amplification over the measurement window (view `rounds`), by the drive's counters.
    WindowWriteAmplification,
    /// Rate with all drives together relative to the drive alone, percent.
    SharedPct,
    /// 99th percentile latency beside other jobs over that alone (view `interference`), of the
    /// first cell.
    P99Slowdown,
    /// 99.99th percentile latency beside other jobs over that alone, of the first cell.
    #[serde(rename = "p99_99_slowdown")]
    P9999Slowdown,
    /// I/Os of the last cell, all operations but flushes, that missed the step's shortest deadline,
    /// per million.
    MissesPerMillion,
    /// Longest time to drain of the cells (view `drain`), seconds.
    DrainS,
    /// Median latency of flushes of the first cell, microseconds.
    FlushP50Us,
    /// 99th percentile latency of flushes of the first cell, microseconds.
    FlushP99Us,
    /// Rate beside other jobs relative to that alone, percent, of the first cell.
    KeptIopsPct,
    /// Highest ratio of the rate to that of incompressible data.
    DataRatio,
    /// Reads that a block cache answered in the last cell, percent.
    CacheHitPct,
    /// Blocks that failed verification.
    BadBlocks,
}

impl HeadlineFigure {
    /// The unit, as shown.
    pub fn unit(self) -> &'static str {
        use HeadlineFigure as F;
        match self {
            F::MibPerS | F::LastMibPerS | F::WindowMibPerS | F::LevelMibPerS => "MiB/s",
            F::Iops | F::ScoreIops | F::KneeIops | F::WindowIops => "IOPS",
            F::MeanUs
            | F::P50Us
            | F::P99Us
            | F::P999Us
            | F::P9999Us
            | F::FlushP50Us
            | F::FlushP99Us
            | F::WakeUs
            | F::WindowMeanUs => "\u{b5}s",
            F::HeldPct
            | F::SlowestPct
            | F::LoadKneePct
            | F::SharedPct
            | F::RecoveredPct
            | F::OfEmptyPct
            | F::LevelKeptPct
            | F::KeptIopsPct
            | F::CacheHitPct => "%",
            F::SettledS | F::DrainS | F::TimeToSteadyS => "s",
            F::MissesPerMillion => "ppm",
            F::TemperatureMaxC => "\u{b0}C",
            F::CacheGib => "GiB",
            F::MibPerJoule => "MiB/J",
            F::PowerW => "W",
            F::ScoreSteadiness
            | F::DataRatio
            | F::WindowWriteAmplification
            | F::WriteAmplification
            | F::P99Slowdown
            | F::P9999Slowdown => "\u{d7}",
            F::CapacitiesToSteady => "capacities",
            F::BadBlocks => "blocks",
        }
    }

    /// True where less is better.
    pub fn is_lower_better(self) -> bool {
        use HeadlineFigure as F;
        matches!(
            self,
            F::MeanUs
                | F::P50Us
                | F::P99Us
                | F::P999Us
                | F::P9999Us
                | F::WindowMeanUs
                | F::WakeUs
                | F::TemperatureMaxC
                | F::SettledS
                | F::PowerW
                | F::DataRatio
                | F::WindowWriteAmplification
                | F::WriteAmplification
                | F::P99Slowdown
                | F::P9999Slowdown
                | F::MissesPerMillion
                | F::DrainS
                | F::FlushP50Us
                | F::FlushP99Us
                | F::BadBlocks
        )
    }

    /// False where neither more nor less is better: a drive can be steady early because it is fast,
    /// or because it has no reserve.
    pub fn is_ranked(self) -> bool {
        use HeadlineFigure as F;
        !matches!(self, F::TimeToSteadyS | F::CapacitiesToSteady)
    }

    /// True for percentiles of latency of the slowest tenth or less.
    pub fn is_tail(self) -> bool {
        use HeadlineFigure as F;
        matches!(
            self,
            F::P99Us | F::P999Us | F::P9999Us | F::FlushP99Us | F::P99Slowdown | F::P9999Slowdown
        )
    }
}

impl HeadlineMetric {
    /// True for a cell of its step that it selects.
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
            && self
                .rwmixread
                .is_none_or(|share| w.rwmixread == Some(share))
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    /// A key that is no identifier, a title that is empty, or a block size that cannot be read.
    pub fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.key.is_empty() || !self.key.chars().all(plain) {
            return Err("its key consists of letters, digits and hyphens".to_owned());
        }
        if self.title.is_empty() {
            return Err("it needs a title".to_owned());
        }
        match self.bs.as_deref().map(parse_size) {
            Some(Err(error)) => Err(format!("its bs: {error}")),
            _ => Ok(()),
        }
    }
}

/// The headline metrics and first charts that a suite's text declares.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Headlines {
    /// The metrics, in order.
    #[serde(default, rename = "headline")]
    pub metrics: Vec<HeadlineMetric>,
    /// The charts of the first screen, as `STEP/CHART`: the start of the chart's name in links.
    #[serde(default)]
    pub first_charts: Vec<String>,
}
