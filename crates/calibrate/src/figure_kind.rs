use assay_units::Op;

use crate::measurement::{
    AccessPattern, Measurement, Procedure, ReferenceMetric, ReferenceWorkload, SoakFigure,
};

/// Kinds of figures, whose errors and intervals differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FigureKind {
    /// Rate or mean latency of random reads.
    RandomRead,
    SequentialRead,
    SequentialWrite,
    RandomWrite,
    /// Percentile of a latency, the median among them.
    LatencyPercentile,
    Temperature,
    /// Rates and durations of a drive that its temperature slows down.
    Throttling,
}

impl FigureKind {
    pub const ALL: [FigureKind; 7] = [
        FigureKind::RandomRead,
        FigureKind::SequentialRead,
        FigureKind::SequentialWrite,
        FigureKind::RandomWrite,
        FigureKind::LatencyPercentile,
        FigureKind::Temperature,
        FigureKind::Throttling,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FigureKind::RandomRead => "random_read",
            FigureKind::SequentialRead => "sequential_read",
            FigureKind::SequentialWrite => "sequential_write",
            FigureKind::RandomWrite => "random_write",
            FigureKind::LatencyPercentile => "latency_percentile",
            FigureKind::Temperature => "temperature",
            FigureKind::Throttling => "throttling",
        }
    }

    pub fn parse(name: &str) -> Option<FigureKind> {
        FigureKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub fn of_workload(access: AccessPattern, op: Op) -> FigureKind {
        match (access, op) {
            (AccessPattern::Random, Op::Read) => FigureKind::RandomRead,
            (AccessPattern::Sequential, Op::Read) => FigureKind::SequentialRead,
            (AccessPattern::Random, _) => FigureKind::RandomWrite,
            (AccessPattern::Sequential, _) => FigureKind::SequentialWrite,
        }
    }

    pub fn from_measurement(measurement: &Measurement) -> FigureKind {
        use FigureKind::{
            LatencyPercentile, RandomRead, RandomWrite, SequentialWrite, Temperature, Throttling,
        };
        match (measurement.procedure, measurement.metric) {
            (_, ReferenceMetric::Celsius) => Temperature,
            (_, metric) if metric.per_million().is_some() => LatencyPercentile,
            (Procedure::Steady(ReferenceWorkload { access, op, .. }), _) => {
                FigureKind::of_workload(access, op)
            }
            (Procedure::Soak(SoakFigure::SettledRead | SoakFigure::ThrottledRead), _) => Throttling,
            (Procedure::Soak(_), _) => Throttling,
            (Procedure::Chunks { op, .. } | Procedure::FullStream { op }, _) => {
                FigureKind::of_workload(AccessPattern::Sequential, op)
            }
            (Procedure::Fill(_), _) => SequentialWrite,
            (Procedure::ZeroedRead, _) => RandomRead,
            (Procedure::Hour { .. }, _) => RandomWrite,
        }
    }
}
