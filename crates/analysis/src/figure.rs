//! The registry of figures: each figure that a run has is defined once, in [`registry`].
//! Scoreboards and cohorts (by [`headline`]), verdict rules, comparisons, exports and the table in
//! docs/suites.md take its [`Definition`] from here. [`compute`] holds the computations. Figures of
//! calibration are compared with published ones and are not here.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use assay_stats::compare::Better;
use assay_store::model::CellResult;
use assay_units::text::UCUM_MICROSECOND;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub mod compute;
pub mod headline;
mod registry;

pub use compute::{FigureInput, FigureValue, Measured};
pub use registry::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 2^20 bytes per second.
    MibPerS,
    Iops,
    Microseconds,
    Nanoseconds,
    Seconds,
    Percent,
    Ratio,
    PerMillion,
    Celsius,
    Watts,
    MibPerJoule,
    Gib,
    /// 10^12 bytes.
    Terabytes,
    Capacities,
    Blocks,
    Ios,
}

impl Unit {
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Unit::MibPerS => ("MiB/s", "MiB/s"),
            Unit::Iops => ("IOPS", "IO/s"),
            Unit::Microseconds => ("\u{b5}s", UCUM_MICROSECOND),
            Unit::Nanoseconds => ("ns", "ns"),
            Unit::Seconds => ("s", "s"),
            Unit::Percent => ("%", "%"),
            Unit::Ratio => ("\u{d7}", "1"),
            Unit::PerMillion => ("ppm", "ppm"),
            Unit::Celsius => ("\u{b0}C", "C"),
            Unit::Watts => ("W", "W"),
            Unit::MibPerJoule => ("MiB/J", "MiB/J"),
            Unit::Gib => ("GiB", "GiB"),
            Unit::Terabytes => ("TB", "TB"),
            Unit::Capacities => ("capacities", "capacities"),
            Unit::Blocks => ("blocks", "blocks"),
            Unit::Ios => ("I/Os", "IO"),
        }
    }

    pub fn text(self) -> &'static str {
        self.texts().0
    }

    /// Text for exports.
    pub fn ascii(self) -> &'static str {
        self.texts().1
    }
}

/// With fewer samples a figure counts as not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// What the computation needs.
    Any,
    /// I/Os with a latency: with fewer a percentile is only the maximum.
    Ios(u64),
    Intervals(usize),
}

impl fmt::Display for Least {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Least::Any => Ok(()),
            Least::Ios(1) => f.write_str("1 I/O"),
            Least::Ios(least) => write!(f, "{least} I/Os"),
            Least::Intervals(least) => write!(f, "{least} intervals"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of the rule's step.
    Step,
    Drive,
    /// Those of the rule's step, of a rule without a step all of the drive.
    StepOrDrive,
}

pub type Compute = for<'a> fn(&Definition, &FigureInput<'a>) -> Option<FigureValue<'a>>;

pub type OfResult = fn(&CellResult) -> f64;

pub struct Definition {
    pub key: &'static str,
    /// Keys of earlier versions, which stay readable.
    pub old_keys: &'static [&'static str],
    pub title: &'static str,
    pub unit: Unit,
    /// `None` where neither more nor less is better: a drive can be steady early because it is
    /// fast, or because it has no reserve.
    pub better: Option<Better>,
    pub least: Least,
    /// Text of docs/suites.md.
    pub meaning: &'static str,
    pub scope: Scope,
    /// Only cells in steady state count, where their step declares it.
    pub needs_steady: bool,
    /// Says how good the measured drive is: an unused drive has no errors, and a data sheet is no
    /// measurement.
    pub is_of_merit: bool,
    /// A percentile of latency of the slowest tenth or less.
    pub is_tail: bool,
    /// Values that differ by less are equal: drives report temperatures in whole degrees.
    pub resolution: f64,
    /// `None` of facts that a policy states.
    pub compute: Option<Compute>,
    /// Set for figures that a single result has.
    pub of_result: Option<OfResult>,
}

impl Definition {
    /// The most frequent properties.
    const BASE: Definition = Definition {
        key: "",
        old_keys: &[],
        title: "",
        unit: Unit::Ratio,
        better: Some(Better::More),
        least: Least::Any,
        meaning: "",
        scope: Scope::Step,
        needs_steady: true,
        is_of_merit: true,
        is_tail: false,
        resolution: 0.0,
        compute: None,
        of_result: None,
    };

    pub fn is_lower_better(&self) -> bool {
        self.better == Some(Better::Less)
    }

    /// Rates, latencies and endurance, whose limits depend on the class and the year of a drive.
    pub fn is_absolute(&self) -> bool {
        use Unit::{Iops, MibPerS, Microseconds, Terabytes};
        matches!(self.unit, MibPerS | Iops | Microseconds | Terabytes)
    }

    /// `None` with too few samples, and of figures that need more than a result.
    pub fn of_result(&self, result: &CellResult) -> Option<f64> {
        let enough = match self.least {
            Least::Ios(least) => result.latency().samples >= least,
            _ => true,
        };
        let value = self.of_result.filter(|_| enough)?(result);
        // A percentile of 0 is one that the imported file does not have.
        let unknown = matches!(self.unit, Unit::Microseconds) && value == 0.0;
        (!unknown).then_some(value)
    }

    /// `None` where the figure was not measured.
    pub fn compute<'a>(&self, input: &FigureInput<'a>) -> Option<FigureValue<'a>> {
        (self.compute?)(self, input)
    }
}

#[derive(Clone, Copy)]
pub struct Figure(&'static Definition);

impl Deref for Figure {
    type Target = Definition;

    fn deref(&self) -> &Definition {
        self.0
    }
}

impl PartialEq for Figure {
    fn eq(&self, other: &Figure) -> bool {
        self.key == other.key
    }
}

impl Eq for Figure {}

impl fmt::Debug for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl Figure {
    /// The key may be present or old.
    pub fn by_key(key: &str) -> Option<Figure> {
        let is_named = |figure: &&Figure| figure.key == key || figure.old_keys.contains(&key);
        FIGURES.iter().find(is_named).copied()
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Figure, D::Error> {
        static KEYS: LazyLock<Vec<&str>> =
            LazyLock::new(|| FIGURES.iter().map(|f| f.key).collect());
        let key = String::deserialize(deserializer)?;
        Figure::by_key(&key).ok_or_else(|| de::Error::unknown_variant(&key, &KEYS))
    }
}

/// Rows of the table in docs/suites.md.
pub fn table_rows() -> impl Iterator<Item = String> {
    FIGURES.iter().map(|figure| {
        let old = figure.old_keys.iter().map(|key| format!(" (was `{key}`)"));
        let better = match figure.better {
            Some(Better::More) => "more",
            Some(Better::Less) => "less",
            None => "",
        };
        format!(
            "| `{}`{} | {} | {better} | {} | {} |",
            figure.key,
            old.collect::<String>(),
            figure.unit.text(),
            figure.least,
            figure.meaning
        )
    })
}

#[cfg(test)]
#[path = "../tests/unit/figure.rs"]
mod tests;
