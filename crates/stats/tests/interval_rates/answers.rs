//! Answers of comparisons without a difference, and with one.

use assay_stats::compare::{Better, ComparisonSettings, Difference, Quantity, RunValue, compare};
use assay_stats::confidence::{self, LEVEL};
use assay_units::Rng;

use super::series::Family;

/// Comparisons of two sides of simulated runs.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// What is compared.
    pub quantity: Quantity,
    /// Runs of each side.
    pub runs: (usize, usize),
    /// Seconds of each run, and their kind; 5 % of spread per standard deviation.
    pub seconds: (Family, usize),
    /// Relative standard deviation between runs.
    pub between: f64,
    /// True ratio of the sides.
    pub ratio: f64,
    /// Smallest difference that counts, share of 1.
    pub minimum_effect: f64,
}

/// Shares of the comparisons, percent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    /// Faster.
    pub faster: f64,
    /// Slower.
    pub slower: f64,
    /// These runs differ.
    pub runs_differ: f64,
    /// With an interval.
    pub decidable: f64,
}

impl Sides {
    /// One run each without a difference and without a spread between runs.
    pub const ALIKE: Sides = Sides {
        quantity: Quantity::Mean,
        runs: (1, 1),
        seconds: (Family::Autoregressive(0.0), 60),
        between: 0.0,
        ratio: 1.0,
        minimum_effect: 0.0,
    };

    /// As shown.
    pub fn label(&self) -> String {
        let (a, b) = self.runs;
        let (family, n) = self.seconds;
        let runs = match (a, b) {
            (1, 1) => "one run each".to_owned(),
            (a, b) if a == b => format!("{a} runs each"),
            (a, b) => format!("{a} runs and {b}"),
        };
        let of = match self.quantity {
            Quantity::Mean => format!("mean of {n} s, {}", family.label()),
            Quantity::TailPercentile => "tail percentile".to_owned(),
        };
        let between = match self.between {
            0.0 => "no spread between runs".to_owned(),
            spread => format!("{} % between runs", 100.0 * spread),
        };
        format!("{runs}; {of}; {between}")
    }

    fn run(&self, rng: &mut Rng, level: f64) -> RunValue {
        let level = level * (self.between * rng.normal()).exp();
        if self.quantity == Quantity::TailPercentile {
            return RunValue { value: level, estimate: None };
        }
        let (family, n) = self.seconds;
        let series = family.series(rng, n);
        // The mean of the process is the level.
        let value = |x: &f64| level * (1.0 + 0.05 * (x - family.mean()));
        let values: Vec<f64> = series.iter().map(value).collect();
        RunValue {
            value: values.iter().sum::<f64>() / n as f64,
            estimate: confidence::mean(&values, LEVEL).ok(),
        }
    }

    /// The answers of so many comparisons.
    pub fn answers(&self, comparisons: u32) -> Answers {
        let mut rng = Rng::stream(21, &self.label());
        let mut answers = Answers::default();
        let each = 100.0 / f64::from(comparisons);
        // As `assay_analysis::compare::repeatability` has them for reads.
        let repeatability = match self.quantity {
            Quantity::Mean => 1.5,
            Quantity::TailPercentile => 3.0,
        };
        let settings = ComparisonSettings {
            minimum_effect: self.minimum_effect,
            repeatability: Some(repeatability),
            ..ComparisonSettings::default()
        };
        for _ in 0..comparisons {
            let mut side = |runs: usize, level: f64| -> Vec<RunValue> {
                (0..runs).map(|_| self.run(&mut rng, level)).collect()
            };
            let (a, b) = (side(self.runs.0, 100.0), side(self.runs.1, 100.0 * self.ratio));
            let found = compare(&a, &b, self.quantity, Better::More, settings);
            if found.interval.is_some() {
                answers.decidable += each;
            }
            match found.answer {
                Difference::Faster => answers.faster += each,
                Difference::Slower => answers.slower += each,
                Difference::RunsDiffer => answers.runs_differ += each,
                Difference::Same | Difference::RunsAgree | Difference::CannotTell => {}
            }
        }
        answers
    }
}

/// Sides without a difference between the drives, of which at most 5 % may be answered with one.
pub fn without_difference() -> Vec<Sides> {
    use Family::{Autoregressive, RareBursts};
    let one = |seconds| Sides { seconds, ..Sides::ALIKE };
    let several = |runs, between| Sides {
        runs,
        between,
        seconds: (Autoregressive(0.5), 300),
        ..Sides::ALIKE
    };
    let tail =
        |runs, between| Sides { quantity: Quantity::TailPercentile, ..several(runs, between) };
    vec![
        one((Autoregressive(0.0), 60)),
        one((Autoregressive(0.0), 600)),
        one((Autoregressive(0.8), 600)),
        one((Autoregressive(0.9), 1800)),
        one((Autoregressive(0.97), 3600)),
        one((RareBursts, 3600)),
        Sides { between: 0.02, ..one((Autoregressive(0.0), 60)) },
        Sides { between: 0.10, ..one((Autoregressive(0.0), 60)) },
        several((3, 3), 0.02),
        several((3, 3), 0.0),
        several((2, 2), 0.02),
        several((5, 2), 0.02),
        several((3, 1), 0.02),
        tail((3, 3), 0.02),
        tail((3, 3), 0.15),
        tail((5, 3), 0.15),
        tail((2, 2), 0.15),
        tail((1, 1), 0.15),
    ]
}

/// Sides with a true difference, and the least share of them found, percent.
pub fn with_difference() -> Vec<(Sides, f64)> {
    let of = |runs, between, ratio| Sides {
        runs,
        between,
        ratio,
        seconds: (Family::Autoregressive(0.5), 300),
        minimum_effect: ComparisonSettings::default().minimum_effect,
        ..Sides::ALIKE
    };
    vec![
        (of((1, 1), 0.0, 1.05), 80.0),
        (of((1, 1), 0.02, 1.70), 95.0),
        (of((3, 3), 0.02, 1.08), 80.0),
        (of((3, 3), 0.02, 1.10), 90.0),
        (of((5, 5), 0.02, 1.05), 80.0),
        (of((2, 2), 0.02, 1.20), 85.0),
        (Sides { quantity: Quantity::TailPercentile, ..of((3, 3), 0.05, 1.30) }, 85.0),
    ]
}
