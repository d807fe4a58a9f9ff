//! Measurements: a figure that a procedure gave on a drive.
//!
//! A [`Procedure`] is what was run, on a real drive or a simulated one; a [`ReferenceMetric`] is
//! which figure of it, in which unit. The [`Tolerance`] belongs to the measurement, because figures
//! read off a plot, rounded, or of a high percentile are not equally precise.

use assay_units::text::{compact_size, format_size};
use assay_units::{DataClass, GIB, Op};

#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    pub procedure: Procedure,
    pub metric: ReferenceMetric,
    /// In the metric's unit.
    pub value: f64,
    pub tolerance: Tolerance,
    /// Who measured it, or the file it is from.
    pub source: String,
    pub role: Role,
}

impl Measurement {
    /// A rate in MiB/s that is to be simulated; it has no measured value, and `value` is 1.
    pub fn to_simulate(workload: ReferenceWorkload, source: &str) -> Measurement {
        let metric = ReferenceMetric::MibPerS;
        Measurement {
            procedure: Procedure::Steady(workload),
            metric,
            value: 1.0,
            tolerance: Tolerance::for_metric(metric),
            source: source.to_owned(),
            role: Role::HeldOut,
        }
    }

    /// Unique per drive: `randread bs=4k threads=16 depth=1, mib_per_s`.
    pub fn key(&self) -> String {
        format!("{}, {}", self.procedure.key(), self.metric.name())
    }

    pub fn title(&self, separator: &str) -> String {
        match self.metric.row().3 {
            "" => self.procedure.title(),
            quantile => format!("{}{separator}{quantile}", self.procedure.title()),
        }
    }

    /// The metric's own for an absolute tolerance, else `percent` in the caller's spelling.
    pub fn error_unit(&self, percent: &'static str) -> &'static str {
        match self.tolerance {
            Tolerance::Relative(_) => percent,
            Tolerance::Absolute(_) => self.metric.unit(),
        }
    }

    /// Signed error in per cent, in kelvin for temperatures.
    pub fn error(&self, simulated: f64) -> f64 {
        match self.tolerance {
            Tolerance::Relative(_) => (simulated / self.value - 1.0) * 100.0,
            Tolerance::Absolute(_) => simulated - self.value,
        }
    }

    pub fn is_met(&self, simulated: f64) -> bool {
        let error = self.error(simulated).abs();
        match self.tolerance {
            // 1e-9: rounding of the last bit must not decide.
            Tolerance::Relative(share) => error <= share * 100.0 + 1e-9,
            Tolerance::Absolute(span) => error <= span + 1e-9,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Share of the measured figure.
    Relative(f64),
    /// In the metric's own unit.
    Absolute(f64),
}

impl Tolerance {
    /// 2 C, 25 % of a duration or 99.999th percentile, 10 % of anything else.
    pub fn for_metric(metric: ReferenceMetric) -> Tolerance {
        match metric {
            ReferenceMetric::Celsius => Tolerance::Absolute(2.0),
            ReferenceMetric::Seconds | ReferenceMetric::P99_999Us => Tolerance::Relative(0.25),
            _ => Tolerance::Relative(0.10),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Target,
    /// Not used by any fit: the simulated figure is a prediction.
    HeldOut,
}

impl Role {
    pub fn parse(name: &str) -> Option<Role> {
        [Role::Target, Role::HeldOut].into_iter().find(|role| role.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Role::Target => "target",
            Role::HeldOut => "held_out",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceMetric {
    /// 2^20 bytes per second.
    MibPerS,
    /// 10^6 bytes per second.
    MbPerS,
    Iops,
    /// Mean latency.
    MeanUs,
    /// Median latency.
    MedianUs,
    P99Us,
    P99_9Us,
    P99_99Us,
    P99_999Us,
    Seconds,
    Celsius,
    Watts,
    /// 10^9 bytes.
    Gb,
    /// Mean over standard deviation of IOPS per second, or a share of time.
    Ratio,
}

/// Name in tables, unit, statistic of a latency distribution, parts per million of a percentile,
/// and the fewest I/Os that support it (some dozens beyond the percentile).
type MetricRow = (ReferenceMetric, &'static str, &'static str, &'static str, u32, u64);
const METRICS: [MetricRow; 14] = {
    use ReferenceMetric::*;
    [
        (MibPerS, "mib_per_s", "MiB/s", "", 0, 0),
        (MbPerS, "mb_per_s", "MB/s", "", 0, 0),
        (Iops, "iops", "IOPS", "", 0, 0),
        (MeanUs, "mean_us", "us", "mean", 0, 0),
        (MedianUs, "median_us", "us", "median", 500_000, 0),
        (P99Us, "p99_us", "us", "p99", 990_000, 20_000),
        (P99_9Us, "p99_9_us", "us", "p99.9", 999_000, 100_000),
        (P99_99Us, "p99_99_us", "us", "p99.99", 999_900, 500_000),
        (P99_999Us, "p99_999_us", "us", "p99.999", 999_990, 3_000_000),
        (Seconds, "seconds", "s", "", 0, 0),
        (Celsius, "celsius", "C", "", 0, 0),
        (Watts, "watts", "W", "", 0, 0),
        (Gb, "gb", "GB", "", 0, 0),
        (Ratio, "ratio", "", "", 0, 0),
    ]
};

impl ReferenceMetric {
    fn row(self) -> &'static MetricRow {
        &METRICS[self as usize]
    }

    pub fn all() -> impl Iterator<Item = ReferenceMetric> {
        METRICS.iter().map(|row| row.0)
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    pub fn parse(name: &str) -> Option<ReferenceMetric> {
        ReferenceMetric::all().find(|m| m.name() == name)
    }

    pub fn unit(self) -> &'static str {
        self.row().2
    }

    pub(crate) fn per_million(self) -> Option<u32> {
        Some(self.row().4).filter(|&share| share > 0)
    }

    pub(crate) fn least_samples(self) -> u64 {
        self.row().5
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessPattern {
    Random,
    /// In order; each thread in an equal part of the area.
    Sequential,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PriorState {
    Fresh,
    /// Every block once, in order.
    #[default]
    Filled,
    /// Filled, then the area overwritten twice by random 4 KiB writes.
    Overwritten,
}

impl PriorState {
    pub fn parse(name: &str) -> Option<PriorState> {
        use PriorState::{Filled, Fresh, Overwritten};
        let states = [Fresh, Filled, Overwritten];
        states.into_iter().find(|state| state.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            PriorState::Fresh => "fresh",
            PriorState::Filled => "filled",
            PriorState::Overwritten => "overwritten",
        }
    }
}

/// A closed loop of equal I/Os: `threads` with `queue_depth` in flight each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReferenceWorkload {
    pub op: Op,
    pub access: AccessPattern,
    pub block_bytes: u32,
    pub threads: u32,
    pub queue_depth: u32,
    pub data: DataClass,
    pub state: PriorState,
    /// From the drive's start; at most the drive.
    pub area_bytes: u64,
    /// I/Os measured; `None` in steady state, where any number gives the figure.
    pub ios: Option<u64>,
}

impl ReferenceWorkload {
    /// Incompressible reads, one in flight per thread, on the area of the DragonFly NVMe tests.
    pub const fn read(access: AccessPattern, threads: u32, block_bytes: u32) -> ReferenceWorkload {
        ReferenceWorkload {
            op: Op::Read,
            access,
            block_bytes,
            threads,
            queue_depth: 1,
            data: DataClass::Incompressible,
            state: PriorState::Filled,
            area_bytes: AREA_BYTES,
            ios: None,
        }
    }

    pub fn parse_rw(rw: &str) -> Option<(AccessPattern, Op)> {
        match rw {
            "read" => Some((AccessPattern::Sequential, Op::Read)),
            "write" => Some((AccessPattern::Sequential, Op::Write)),
            "randread" => Some((AccessPattern::Random, Op::Read)),
            "randwrite" => Some((AccessPattern::Random, Op::Write)),
            _ => None,
        }
    }

    /// fio's name: `randread`, `write`, ...
    pub fn rw(&self) -> &'static str {
        match (self.access, self.op) {
            (AccessPattern::Random, Op::Read) => "randread",
            (AccessPattern::Sequential, Op::Read) => "read",
            (AccessPattern::Random, _) => "randwrite",
            (AccessPattern::Sequential, _) => "write",
        }
    }

    /// Options of `assay job` that run it on a filled drive.
    pub fn job_options(&self) -> String {
        let size = compact_size(u64::from(self.block_bytes));
        let mut options = format!("--rw {} --bs {size}", self.rw());
        for (name, value) in [("numjobs", self.threads), ("iodepth", self.queue_depth)] {
            if value != 1 {
                options.push_str(&format!(" --{name} {value}"));
            }
        }
        options
    }

    fn key(&self) -> String {
        let size = compact_size(u64::from(self.block_bytes));
        let (threads, depth) = (self.threads, self.queue_depth);
        let mut key = format!("{} bs={size} threads={threads} depth={depth}", self.rw());
        if self.state != PriorState::Filled {
            key.push_str(&format!(" state={}", self.state.name()));
        }
        match self.data {
            DataClass::Incompressible => {}
            DataClass::Zero => key.push_str(" data=zero"),
            DataClass::Compressible { permille } => {
                key.push_str(&format!(" data=compress:{permille}"));
            }
        }
        if self.area_bytes != AREA_BYTES {
            key.push_str(&format!(" area={}", compact_size(self.area_bytes)));
        }
        if let Some(ios) = self.ios {
            key.push_str(&format!(" ios={ios}"));
        }
        key
    }
}

/// A figure of a sequential write of the area, 128 KiB, one in flight (DragonFly NVMe tests).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FillFigure {
    Steady,
    First,
    Full,
    /// Written when the rate fell below the mean of first and last.
    Cache,
}

/// A figure of ten minutes of 64 KiB random reads by 64 threads (DragonFly NVMe tests).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoakFigure {
    /// Composite temperature after two minutes.
    CelsiusAfter120S,
    /// Composite temperature, mean of the last 100 s.
    SettledCelsius,
    /// Mean of the last 100 s.
    SecondSensor,
    /// Mean of the last 100 s.
    SettledRead,
    /// Highest temperature up to the first throttled second.
    ThrottleCelsius,
    /// Rate in seconds that lie wholly in the first throttling level.
    ThrottledRead,
    /// Mean length of whole throttled periods after the first.
    ThrottledS,
    /// Mean length of whole unthrottled periods after the first.
    RecoveredS,
}

/// A figure of an hour of random writes on a filled drive (AnandTech M8Pe).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HourFigure {
    /// IOPS of the last 400 s.
    Mean,
    /// Mean over standard deviation of the last 400 s' IOPS.
    Consistency,
    /// Median IOPS of seconds above the middle of first and ninth decile among the last 1200 s.
    Fast,
    Slow,
    /// Share of fast seconds among the last 1200 s.
    FastShare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Procedure {
    Steady(ReferenceWorkload),
    Fill(FillFigure),
    /// 32 KiB random reads by 64 threads of an area of zeroes.
    ZeroedRead,
    Soak(SoakFigure),
    /// One size of the MLE NVMe Streamer's sweep: a stream of 128 KiB chunks, several in flight.
    Chunks {
        op: Op,
        chunks: u32,
    },
    /// The whole drive as one stream of 128 KiB chunks.
    FullStream {
        op: Op,
    },
    /// 4 KiB random writes at depth 32 on a filled drive (AnandTech M8Pe).
    Hour {
        /// Share of the capacity that is never written.
        over_provisioning_percent: u8,
        figure: HourFigure,
    },
}

/// The area that the DragonFly tests use.
pub const AREA_BYTES: u64 = 16 * GIB;
/// Chunk of the MLE NVMe Streamer.
pub const CHUNK_BYTES: u32 = 131_072;

pub fn chunk_bytes(chunks: u32) -> u64 {
    u64::from(chunks) * u64::from(CHUNK_BYTES)
}

impl Procedure {
    pub fn is_heat(&self) -> bool {
        matches!(self, Procedure::Soak(_))
    }

    /// Unique; part of measurements' keys, and matched by patterns.
    pub fn key(&self) -> String {
        match self {
            Procedure::Steady(workload) => workload.key(),
            Procedure::Fill(figure) => format!("fill {figure:?}").to_lowercase(),
            Procedure::ZeroedRead => "zeroed read".to_owned(),
            Procedure::Soak(figure) => format!("soak {figure:?}").to_lowercase(),
            Procedure::Chunks { op, chunks } => format!("chunks {} n={chunks}", op.name()),
            Procedure::FullStream { op } => format!("full stream {}", op.name()),
            Procedure::Hour { over_provisioning_percent, figure } => {
                format!("hour op={over_provisioning_percent} {figure:?}").to_lowercase()
            }
        }
    }

    pub fn title(&self) -> String {
        match self {
            Procedure::Steady(w) => {
                let size = format_size(u64::from(w.block_bytes));
                let access = match w.access {
                    AccessPattern::Random => "random",
                    AccessPattern::Sequential => "sequential",
                };
                let depth = match w.queue_depth {
                    0 | 1 => String::new(),
                    depth => format!(", {depth} in flight each"),
                };
                format!("{access} {}, {} x {size}{depth}", w.op.name(), w.threads)
            }
            Procedure::Fill(figure) => match figure {
                FillFigure::Steady => "sequential write, 16 GiB",
                FillFigure::First => "sequential write at first",
                FillFigure::Full => "sequential write once the cache is full",
                FillFigure::Cache => "written before the rate falls",
            }
            .to_owned(),
            Procedure::ZeroedRead => "random read of zeroes, 64 x 32 KiB".to_owned(),
            Procedure::Soak(figure) => match figure {
                SoakFigure::CelsiusAfter120S => "temperature after 2 min of reading",
                SoakFigure::SettledCelsius => "temperature after 10 min of reading",
                SoakFigure::SecondSensor => "second sensor after 10 min",
                SoakFigure::SettledRead => "rate after 10 min of reading",
                SoakFigure::ThrottleCelsius => "throttling begins at",
                SoakFigure::ThrottledRead => "rate while throttled (first level)",
                SoakFigure::ThrottledS => "throttled for",
                SoakFigure::RecoveredS => "then back for",
            }
            .to_owned(),
            Procedure::Chunks { op, chunks } => {
                let size = format_size(chunk_bytes(*chunks));
                format!("stream of {size}, {}", op.name())
            }
            Procedure::FullStream { op } => format!("the whole drive in one stream, {}", op.name()),
            Procedure::Hour { over_provisioning_percent, figure } => {
                let figure = match figure {
                    HourFigure::Mean => "random write, last 400 s of an hour",
                    HourFigure::Consistency => "consistency (mean / deviation) of the last 400 s",
                    HourFigure::Fast => "random write while fast",
                    HourFigure::Slow => "random write while slow",
                    HourFigure::FastShare => "share of fast seconds",
                };
                match over_provisioning_percent {
                    0 => figure.to_owned(),
                    percent => format!("{figure}, {percent} % extra over-provisioning"),
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/measurement.rs"]
mod tests;
