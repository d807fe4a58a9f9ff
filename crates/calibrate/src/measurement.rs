//! [`Measurement`]: one figure that a procedure gave on a drive.
//!
//! A [`Procedure`] says what is run, in terms that hold for a real drive as for a simulated one; a [`ReferenceMetric`] says which figure
//! of its outcome is meant and in which unit. What is near enough is a [`Tolerance`], part of the measurement, because figures
//! read off a plot, rounded to ten, or taken at the 99.999th percentile are not equally sharp.

use assay_units::text::{compact_size, format_size};
use assay_units::{DataClass, Op};

/// One figure of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What was run.
    pub procedure: Procedure,
    /// Which figure of it.
    pub metric: ReferenceMetric,
    /// The figure, in the metric's unit.
    pub value: f64,
    /// How near a simulated figure must come.
    pub tolerance: Tolerance,
    /// Who measured it, or which file it is from.
    pub source: String,
    /// Fitted to, or kept back to test predictions.
    pub role: Role,
}

impl Measurement {
    /// Name of the measurement, unique for a drive: `randread bs=4k threads=16 depth=1, mib_per_s`.
    pub fn key(&self) -> String {
        format!("{}, {}", self.procedure.key(), self.metric.name())
    }

    /// Signed error of a simulated figure: in per cent of the measured one, or in kelvin for temperatures.
    pub fn error(&self, simulated: f64) -> f64 {
        match self.tolerance {
            Tolerance::Relative(_) => (simulated / self.value - 1.0) * 100.0,
            Tolerance::Absolute(_) => simulated - self.value,
        }
    }

    /// Is a simulated figure near enough?
    pub fn is_met(&self, simulated: f64) -> bool {
        let error = self.error(simulated).abs();
        match self.tolerance {
            // A rounding of the last bit must not decide.
            Tolerance::Relative(share) => error <= share * 100.0 + 1e-9,
            Tolerance::Absolute(span) => error <= span + 1e-9,
        }
    }
}

/// How near is near enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Share of the measured figure: 0.1 is ten per cent.
    Relative(f64),
    /// In the metric's own unit.
    Absolute(f64),
}

impl Tolerance {
    /// What issue and reference ask for when nothing else is said: 2 C, a quarter of a duration and of the 99.999th percentile,
    /// a tenth of anything else.
    pub fn of(metric: ReferenceMetric) -> Tolerance {
        match metric {
            ReferenceMetric::Celsius => Tolerance::Absolute(2.0),
            ReferenceMetric::Seconds | ReferenceMetric::P99_999Us => Tolerance::Relative(0.25),
            _ => Tolerance::Relative(0.10),
        }
    }
}

/// What a measurement is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A fit may use it.
    #[default]
    Target,
    /// No fit has seen it: the simulated figure is a prediction.
    HeldOut,
}

/// A figure's meaning and unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceMetric {
    /// 2^20 bytes per second.
    MibPerS,
    /// 10^6 bytes per second.
    MbPerS,
    /// Operations per second.
    Iops,
    /// Mean latency, microseconds.
    MeanUs,
    /// Median latency, microseconds.
    MedianUs,
    /// 99th percentile of latency, microseconds.
    P99Us,
    /// 99.9th percentile of latency, microseconds.
    P99_9Us,
    /// 99.99th percentile of latency, microseconds.
    P99_99Us,
    /// 99.999th percentile of latency, microseconds.
    P99_999Us,
    /// A duration.
    Seconds,
    /// A temperature in degrees Celsius.
    Celsius,
    /// Mean power.
    Watts,
    /// An amount, in 10^9 bytes.
    Gb,
    /// Mean over standard deviation of IOPS by the second, or a share of time: a number without a unit.
    Ratio,
}

impl ReferenceMetric {
    /// All of them.
    pub const ALL: [ReferenceMetric; 14] = [
        ReferenceMetric::MibPerS,
        ReferenceMetric::MbPerS,
        ReferenceMetric::Iops,
        ReferenceMetric::MeanUs,
        ReferenceMetric::MedianUs,
        ReferenceMetric::P99Us,
        ReferenceMetric::P99_9Us,
        ReferenceMetric::P99_99Us,
        ReferenceMetric::P99_999Us,
        ReferenceMetric::Seconds,
        ReferenceMetric::Celsius,
        ReferenceMetric::Watts,
        ReferenceMetric::Gb,
        ReferenceMetric::Ratio,
    ];

    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            ReferenceMetric::MibPerS => "mib_per_s",
            ReferenceMetric::MbPerS => "mb_per_s",
            ReferenceMetric::Iops => "iops",
            ReferenceMetric::MeanUs => "mean_us",
            ReferenceMetric::MedianUs => "median_us",
            ReferenceMetric::P99Us => "p99_us",
            ReferenceMetric::P99_9Us => "p99_9_us",
            ReferenceMetric::P99_99Us => "p99_99_us",
            ReferenceMetric::P99_999Us => "p99_999_us",
            ReferenceMetric::Seconds => "seconds",
            ReferenceMetric::Celsius => "celsius",
            ReferenceMetric::Watts => "watts",
            ReferenceMetric::Gb => "gb",
            ReferenceMetric::Ratio => "ratio",
        }
    }

    /// The metric of a word.
    pub fn parse(word: &str) -> Option<ReferenceMetric> {
        ReferenceMetric::ALL.into_iter().find(|m| m.name() == word)
    }

    /// The unit, for people; empty for a ratio.
    pub fn unit(self) -> &'static str {
        match self {
            ReferenceMetric::MibPerS => "MiB/s",
            ReferenceMetric::MbPerS => "MB/s",
            ReferenceMetric::Iops => "IOPS",
            ReferenceMetric::MeanUs
            | ReferenceMetric::MedianUs
            | ReferenceMetric::P99Us
            | ReferenceMetric::P99_9Us
            | ReferenceMetric::P99_99Us
            | ReferenceMetric::P99_999Us => "us",
            ReferenceMetric::Seconds => "s",
            ReferenceMetric::Celsius => "C",
            ReferenceMetric::Watts => "W",
            ReferenceMetric::Gb => "GB",
            ReferenceMetric::Ratio => "",
        }
    }

    /// What of a latency distribution it is, for people; empty for what is none.
    pub fn quantile(self) -> &'static str {
        match self {
            ReferenceMetric::MeanUs => "mean",
            ReferenceMetric::MedianUs => "median",
            ReferenceMetric::P99Us => "p99",
            ReferenceMetric::P99_9Us => "p99.9",
            ReferenceMetric::P99_99Us => "p99.99",
            ReferenceMetric::P99_999Us => "p99.999",
            _ => "",
        }
    }

    /// Parts per million of its percentile.
    pub fn per_million(self) -> Option<u32> {
        match self {
            ReferenceMetric::MedianUs => Some(500_000),
            ReferenceMetric::P99Us => Some(990_000),
            ReferenceMetric::P99_9Us => Some(999_000),
            ReferenceMetric::P99_99Us => Some(999_900),
            ReferenceMetric::P99_999Us => Some(999_990),
            _ => None,
        }
    }

    /// I/Os without which the figure would be chance: some dozens beyond the percentile.
    pub fn samples(self) -> u64 {
        match self {
            ReferenceMetric::P99Us => 20_000,
            ReferenceMetric::P99_9Us => 100_000,
            ReferenceMetric::P99_99Us => 500_000,
            ReferenceMetric::P99_999Us => 3_000_000,
            _ => 0,
        }
    }
}

/// Where I/Os go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessPattern {
    /// Anywhere in the area, each block equally likely.
    Random,
    /// In order; each thread in an equal part of the area of its own.
    Sequential,
}

/// What was done to the drive before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PriorState {
    /// Nothing was ever written.
    Fresh,
    /// Every block was written once, in order.
    #[default]
    Filled,
    /// Filled, then the area was overwritten twice by random 4 KiB writes.
    Overwritten,
}

impl PriorState {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            PriorState::Fresh => "fresh",
            PriorState::Filled => "filled",
            PriorState::Overwritten => "overwritten",
        }
    }
}

/// One kind of I/O, over and over, by so many threads with so many in flight each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReferenceWorkload {
    /// Read or write.
    pub op: Op,
    /// Random or sequential.
    pub access: AccessPattern,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// Threads.
    pub threads: u32,
    /// I/Os in flight per thread.
    pub queue_depth: u32,
    /// What is read or written.
    pub data: DataClass,
    /// The drive before.
    pub state: PriorState,
    /// The area, from the drive's start, in bytes; cut to the drive's size.
    pub area_bytes: u64,
    /// How many I/Os were measured; `None` where the rate is a steady one and as many do as make the figure good.
    pub ios: Option<u64>,
}

impl ReferenceWorkload {
    /// Reads with one I/O in flight per thread on report A's area of incompressible data.
    pub fn read(access: AccessPattern, threads: u32, block_bytes: u32) -> ReferenceWorkload {
        ReferenceWorkload {
            op: Op::Read,
            access,
            block_bytes,
            threads,
            queue_depth: 1,
            data: DataClass::Incompressible,
            state: PriorState::Filled,
            area_bytes: crate::drive_under_test::AREA_BYTES,
            ios: None,
        }
    }

    /// fio's word for it: `randread`, `write`, ....
    pub fn rw(&self) -> &'static str {
        match (self.access, self.op) {
            (AccessPattern::Random, Op::Read) => "randread",
            (AccessPattern::Sequential, Op::Read) => "read",
            (AccessPattern::Random, _) => "randwrite",
            (AccessPattern::Sequential, _) => "write",
        }
    }
}

/// A figure of a sequential write of the area, 128 KiB, one in flight (report A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FillFigure {
    /// Mean rate.
    Steady,
    /// Rate of the first GiB.
    First,
    /// Rate of the last GiB.
    Full,
    /// Written when the rate fell below the middle of first and last.
    Cache,
}

/// A figure of a soak: random reads of 64 KiB by 64 threads for ten minutes (report A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoakFigure {
    /// Composite temperature after two minutes.
    CelsiusAfter120S,
    /// Composite temperature, mean of the last 100 s.
    SettledCelsius,
    /// Second sensor, mean of the last 100 s.
    SecondSensor,
    /// Rate, mean of the last 100 s.
    SettledRead,
    /// Highest temperature before or in the first throttled second.
    ThrottleCelsius,
    /// Rate at the first level of throttling, in seconds that lie wholly in it.
    ThrottledRead,
    /// Mean length of whole throttled stretches after the first.
    ThrottledS,
    /// Mean length of whole unthrottled stretches after the first.
    RecoveredS,
}

/// A figure of an hour of random writes on a filled drive (report B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HourFigure {
    /// Mean IOPS of the last 400 s.
    Mean,
    /// Mean over standard deviation of the last 400 s' IOPS.
    Consistency,
    /// Mean IOPS of the fast seconds (above the middle of extremes) among the last 1200 s.
    Fast,
    /// Mean IOPS of the slow seconds among the last 1200 s.
    Slow,
    /// Share of fast seconds among the last 1200 s.
    FastShare,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Procedure {
    /// A workload in its steady state.
    Steady(ReferenceWorkload),
    /// A sequential write of the area.
    Fill(FillFigure),
    /// 32 KiB random reads by 64 threads where only zeroes were written.
    ZeroedRead,
    /// A read soak with temperatures.
    Soak(SoakFigure),
    /// One size of report C's sweep: a stream of 128 KiB chunks, several in flight, from first submission to last completion.
    Chunks {
        /// Read or write.
        op: Op,
        /// Chunks in the stream.
        chunks: u32,
    },
    /// The whole drive as one stream of 128 KiB chunks.
    FullStream {
        /// Read or write.
        op: Op,
    },
    /// Report B's hour of 4 KiB random writes at depth 32 on a filled drive.
    Hour {
        /// Extra over-provisioning: share of the capacity that is never written, in per cent.
        over_provisioning_percent: u8,
        /// Which figure.
        figure: HourFigure,
    },
}

/// Bytes of a chunk of report C.
pub const CHUNK_BYTES: u32 = 131_072;

impl Procedure {
    /// Does the figure depend on heat, and so on a run of minutes?
    pub fn is_heat(&self) -> bool {
        matches!(self, Procedure::Soak(_))
    }

    /// A name that no other procedure has, readable: for keys of measurements and patterns that pick them.
    pub fn key(&self) -> String {
        match self {
            Procedure::Steady(w) => {
                let mut key = format!(
                    "{} bs={} threads={} depth={}",
                    w.rw(),
                    compact_size(u64::from(w.block_bytes)),
                    w.threads,
                    w.queue_depth
                );
                if w.state != PriorState::Filled {
                    key.push_str(&format!(" state={}", w.state.name()));
                }
                match w.data {
                    DataClass::Incompressible => {}
                    DataClass::Zero => key.push_str(" data=zero"),
                    DataClass::Compressible { permille } => {
                        key.push_str(&format!(" data=compress:{permille}"));
                    }
                }
                if w.area_bytes != crate::drive_under_test::AREA_BYTES {
                    key.push_str(&format!(" area={}", compact_size(w.area_bytes)));
                }
                if let Some(ios) = w.ios {
                    key.push_str(&format!(" ios={ios}"));
                }
                key
            }
            Procedure::Fill(figure) => format!("fill {figure:?}").to_lowercase(),
            Procedure::ZeroedRead => "zeroed read".to_owned(),
            Procedure::Soak(figure) => format!("soak {figure:?}").to_lowercase(),
            Procedure::Chunks { op, chunks } => format!("chunks {} n={chunks}", op.name()),
            Procedure::FullStream { op } => format!("full stream {}", op.name()),
            Procedure::Hour {
                over_provisioning_percent,
                figure,
            } => format!("hour op={over_provisioning_percent} {figure:?}").to_lowercase(),
        }
    }

    /// What it is, for people.
    pub fn title(&self) -> String {
        match self {
            Procedure::Steady(w) => {
                let size = format_size(u64::from(w.block_bytes));
                let access = match w.access {
                    AccessPattern::Random => "random",
                    AccessPattern::Sequential => "sequential",
                };
                let mut text = format!("{access} {}, {} x {size}", w.op.name(), w.threads);
                if w.queue_depth > 1 {
                    text.push_str(&format!(", {} in flight each", w.queue_depth));
                }
                text
            }
            Procedure::Fill(FillFigure::Steady) => "sequential write, 16 GiB".to_owned(),
            Procedure::Fill(FillFigure::First) => "sequential write at first".to_owned(),
            Procedure::Fill(FillFigure::Full) => {
                "sequential write once the cache is full".to_owned()
            }
            Procedure::Fill(FillFigure::Cache) => "written before the rate falls".to_owned(),
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
                let bytes = u64::from(*chunks) * u64::from(CHUNK_BYTES);
                format!("stream of {}, {}", format_size(bytes), op.name())
            }
            Procedure::FullStream { op } => format!("the whole drive in one stream, {}", op.name()),
            Procedure::Hour {
                over_provisioning_percent,
                figure,
            } => {
                let figure = match figure {
                    HourFigure::Mean => "random write, last 400 s of an hour",
                    HourFigure::Consistency => "consistency (mean / deviation) of the last 400 s",
                    HourFigure::Fast => "random write while fast",
                    HourFigure::Slow => "random write while slow",
                    HourFigure::FastShare => "share of fast seconds",
                };
                match over_provisioning_percent {
                    0 => figure.to_owned(),
                    percent => format!("{figure}, {percent} % extra spare area"),
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/measurement.rs"]
mod tests;
