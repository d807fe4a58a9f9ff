//! Series with known means, and the coverage of their intervals.

use assay_stats::confidence::{self, LEVEL, NoInterval};
use assay_units::Rng;

/// A kind of series with a known mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// First-order autoregressive with this coefficient; at 0 independent. Mean 0, standard
    /// deviation 1.
    Autoregressive(f64),
    /// Independent values, and bursts on top: begun in [`BURST_RATE`] of the other seconds,
    /// [`BURST_LENGTH`] seconds long on average (geometric), of a height of [`BURST_HEIGHT`]
    /// standard deviations on average (exponential).
    RareBursts,
    /// Independent values, and this many standard deviations of an autoregressive series of
    /// coefficient 0.97 below them.
    SlowInNoise(f64),
    /// Two levels, ten standard deviations apart, that change in one of twenty seconds.
    TwoLevels,
}

const BURST_RATE: f64 = 0.02;
const BURST_LENGTH: f64 = 2.0;
const BURST_HEIGHT: f64 = 10.0;

impl Family {
    /// As shown.
    pub fn label(self) -> String {
        match self {
            Family::Autoregressive(0.0) => "independent".to_owned(),
            Family::Autoregressive(phi) => format!("AR({phi})"),
            Family::RareBursts => "rare bursts".to_owned(),
            Family::SlowInNoise(size) => format!("AR(0.97) x {size} in noise"),
            Family::TwoLevels => "two levels".to_owned(),
        }
    }

    /// The mean of the process.
    pub fn mean(self) -> f64 {
        match self {
            Family::RareBursts => BURST_HEIGHT * BURST_LENGTH / (BURST_LENGTH + 1.0 / BURST_RATE),
            Family::TwoLevels => 5.0,
            Family::Autoregressive(_) | Family::SlowInNoise(_) => 0.0,
        }
    }

    /// A series of `n` values, begun in its own distribution.
    pub fn series(self, rng: &mut Rng, n: usize) -> Vec<f64> {
        match self {
            Family::Autoregressive(phi) => autoregressive(rng, phi, n),
            Family::RareBursts => bursts(rng, n),
            Family::SlowInNoise(size) => {
                let slow = autoregressive(rng, 0.97, n);
                slow.iter().map(|x| size * x + rng.normal()).collect()
            }
            Family::TwoLevels => {
                let mut high = rng.unit_f64() < 0.5;
                let value = |_| {
                    high ^= rng.unit_f64() < 0.05;
                    rng.normal() + if high { 10.0 } else { 0.0 }
                };
                (0..n).map(value).collect()
            }
        }
    }
}

fn autoregressive(rng: &mut Rng, phi: f64, n: usize) -> Vec<f64> {
    let step = (1.0 - phi * phi).sqrt();
    let mut x = rng.normal();
    let value = |_| {
        let value = x;
        x = phi * x + step * rng.normal();
        value
    };
    (0..n).map(value).collect()
}

fn bursts(rng: &mut Rng, n: usize) -> Vec<f64> {
    let share = BURST_LENGTH / (BURST_LENGTH + 1.0 / BURST_RATE);
    let mut height = rng.exponential(BURST_HEIGHT);
    let mut on = rng.unit_f64() < share;
    let value = |_| {
        let value = rng.normal() + if on { height } else { 0.0 };
        if on {
            on = rng.unit_f64() >= 1.0 / BURST_LENGTH;
        } else if rng.unit_f64() < BURST_RATE {
            on = true;
            height = rng.exponential(BURST_HEIGHT);
        }
        value
    };
    (0..n).map(value).collect()
}

/// Intervals of many series of one family and length.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    /// Series.
    pub series: u32,
    /// Of them with an interval.
    pub printed: u32,
    /// Of those, intervals with the mean of the process.
    pub covering: u32,
}

impl Coverage {
    /// Of `series` series of `n` values.
    pub fn new(family: Family, n: usize, series: u32) -> Coverage {
        let mut rng = Rng::stream(11, &format!("coverage {} {n}", family.label()));
        let mut coverage = Coverage { series, printed: 0, covering: 0 };
        for _ in 0..series {
            match confidence::mean(&family.series(&mut rng, n), LEVEL) {
                Ok(e) => {
                    coverage.printed += 1;
                    coverage.covering += u32::from((e.low..=e.high).contains(&family.mean()));
                }
                Err(reason) => assert_ne!(reason, NoInterval::NoValues),
            }
        }
        coverage
    }

    /// Percent of the series with an interval.
    pub fn printed_pct(&self) -> f64 {
        100.0 * f64::from(self.printed) / f64::from(self.series)
    }

    /// Percent of the intervals with the mean; `None` where under half of the series have one.
    pub fn covering_pct(&self) -> Option<f64> {
        let most = 2 * self.printed >= self.series;
        most.then(|| 100.0 * f64::from(self.covering) / f64::from(self.printed))
    }
}

/// Families with a promised coverage of 93 to 97 %.
pub const PROMISED: [Family; 6] = [
    Family::Autoregressive(0.0),
    Family::Autoregressive(0.5),
    Family::Autoregressive(0.8),
    Family::Autoregressive(0.9),
    Family::Autoregressive(0.97),
    Family::RareBursts,
];

/// Families whose memory cannot be seen in short series.
pub const OTHERS: [Family; 3] =
    [Family::SlowInNoise(0.3), Family::SlowInNoise(0.6), Family::TwoLevels];
