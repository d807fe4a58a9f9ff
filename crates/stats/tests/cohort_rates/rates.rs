//! Simulations of every error rate that docs/cohorts.md promises: seeded cohorts of which the truth
//! is known. The test asserts the bounds, the example `cohort-error-rates` prints the table of the
//! document.

use assay_stats::cohort::drift::{self, Slope, Span};
use assay_stats::cohort::errors::{AgainstLimit, against_limit};
use assay_stats::cohort::groups::{paired, welch};
use assay_stats::cohort::hosts::compare_hosts;
use assay_stats::cohort::multiple::{benjamini_hochberg, holm};
use assay_stats::cohort::outliers::distances;
use assay_stats::cohort::power::{Design, drives_needed, power};
use assay_stats::cohort::spread::{heavy_tails, variance_components};
use assay_units::Rng;

/// One promised rate.
pub struct Rate {
    /// What is counted, as shown.
    pub what: String,
    /// The rate found, share of 1.
    pub found: f64,
    /// What is promised, as shown.
    pub promised: &'static str,
    /// Bounds of the test, share of 1: the promise and the error of so many cohorts.
    pub bounds: (f64, f64),
    /// Cohorts simulated.
    pub cohorts: u32,
}

fn normal(rng: &mut Rng, n: usize, mean: f64, deviation: f64) -> Vec<f64> {
    (0..n).map(|_| mean + deviation * rng.normal()).collect()
}

/// Student's t with three degrees of freedom: a cohort with heavy tails.
fn heavy(rng: &mut Rng, n: usize) -> Vec<f64> {
    let of = |rng: &mut Rng| {
        let squares: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
        rng.normal() / (squares / 3.0).sqrt()
    };
    (0..n).map(|_| of(rng)).collect()
}

fn any_beyond(values: &[f64]) -> bool {
    distances(values).is_some_and(|d| !d.beyond().is_empty())
}

struct Simulation {
    factor: u32,
    rates: Vec<Rate>,
}

impl Simulation {
    /// The mean of `of` over cohorts, each seeded by its number.
    fn rate(
        &mut self,
        what: &str,
        promised: &'static str,
        bounds: (f64, f64),
        cohorts: u32,
        mut of: impl FnMut(&mut Rng) -> f64,
    ) {
        let cohorts = cohorts * self.factor;
        let mut rng = Rng::stream(20, what);
        let sum: f64 = (0..cohorts).map(|_| of(&mut rng)).sum();
        self.rates.push(Rate {
            what: what.to_owned(),
            found: sum / f64::from(cohorts),
            promised,
            bounds,
            cohorts,
        });
    }

    fn share(
        &mut self,
        what: &str,
        promised: &'static str,
        bounds: (f64, f64),
        cohorts: u32,
        mut is: impl FnMut(&mut Rng) -> bool,
    ) {
        self.rate(what, promised, bounds, cohorts, |rng| f64::from(is(rng)));
    }
}

/// All rates, from `factor` times as many cohorts as the test simulates.
pub fn all(factor: u32) -> Vec<Rate> {
    let mut simulation = Simulation { factor, rates: Vec::new() };
    outliers(&mut simulation);
    tails(&mut simulation);
    groups(&mut simulation);
    several(&mut simulation);
    powers(&mut simulation);
    hosts(&mut simulation);
    others(&mut simulation);
    soaks(&mut simulation);
    simulation.rates
}

fn outliers(s: &mut Simulation) {
    for (drives, cohorts) in
        [(6, 4000), (8, 4000), (13, 4000), (40, 3000), (110, 2000), (1000, 600)]
    {
        let what = format!("clean cohorts of {drives} drives with an outlier");
        let bounds = if cohorts < 1000 { (0.02, 0.08) } else { (0.037, 0.063) };
        s.share(&what, "5 %", bounds, cohorts, |rng| any_beyond(&normal(rng, drives, 8.0, 0.02)));
    }
    let two_alike = |rng: &mut Rng| {
        let mut values = normal(rng, 12, 0.0, 1.0);
        values[3] += 8.0;
        values[7] += 8.0;
        values
    };
    s.share(
        "two alike drives, 8 deviations off among 12: both found",
        "most",
        (0.75, 1.0),
        2000,
        |rng| {
            let found = distances(&two_alike(rng)).map(|d| d.beyond());
            found.is_some_and(|f| f.contains(&3) && f.contains(&7))
        },
    );
    s.share("the same by mean and standard deviation, limit 3", "few", (0.0, 0.2), 2000, |rng| {
        let values = two_alike(rng);
        let mean = values.iter().sum::<f64>() / 12.0;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 11.0;
        [3, 7].iter().all(|at| (values[*at] - mean).abs() > 3.0 * variance.sqrt())
    });
    s.share("one drive, 6 deviations off among 12: found", "most", (0.75, 1.0), 2000, |rng| {
        let mut values = normal(rng, 12, 0.0, 1.0);
        values[5] -= 6.0;
        distances(&values).is_some_and(|d| d.beyond().contains(&5))
    });
}

fn tails(s: &mut Simulation) {
    s.share(
        "heavy tails (Student's t, 3 degrees) of 40 drives: an outlier",
        "not held: 5 % is for normal cohorts",
        (0.3, 1.0),
        2000,
        |rng| any_beyond(&heavy(rng, 40)),
    );
    s.share("heavy tails of 40 drives: said so", "about half", (0.4, 0.65), 2000, |rng| {
        heavy_tails(&heavy(rng, 40)) == Some(true)
    });
    s.share(
        "normal cohorts of 40 drives: heavy tails said",
        "at most 5 %",
        (0.005, 0.06),
        3000,
        |rng| heavy_tails(&normal(rng, 40, 0.0, 1.0)) == Some(true),
    );
}

fn groups(s: &mut Simulation) {
    let sides = |rng: &mut Rng| (normal(rng, 9, 1.0, 0.03), normal(rng, 20, 1.0, 0.01));
    s.share(
        "Welch, 9 and 20 drives, spreads 3 and 1, no difference: significant",
        "5 %",
        (0.035, 0.065),
        3000,
        |rng| {
            let (a, b) = sides(rng);
            welch(&a, &b, 0.95).is_some_and(|d| d.probability <= 0.05)
        },
    );
    s.share("Welch: interval holds the true difference", "95 %", (0.93, 0.97), 3000, |rng| {
        let (a, b) = sides(rng);
        let shifted: Vec<f64> = b.iter().map(|v| v + 0.02).collect();
        welch(&a, &shifted, 0.95).is_some_and(|d| d.low <= 0.02 && 0.02 <= d.high)
    });
    let pairs = |rng: &mut Rng, effect: f64| {
        let drives = normal(rng, 8, 1.0, 0.02);
        let before: Vec<f64> = drives.iter().map(|d| d + 0.005 * rng.normal()).collect();
        let after: Vec<f64> = drives.iter().map(|d| d + effect + 0.005 * rng.normal()).collect();
        (before, after)
    };
    s.share("paired, 8 drives, no difference: significant", "5 %", (0.035, 0.065), 3000, |rng| {
        let (before, after) = pairs(rng, 0.0);
        paired(&before, &after, 0.95).is_some_and(|d| d.probability <= 0.05)
    });
    s.share("paired: interval holds the true difference", "95 %", (0.93, 0.97), 3000, |rng| {
        let (before, after) = pairs(rng, -0.01);
        paired(&before, &after, 0.95).is_some_and(|d| d.low <= -0.01 && -0.01 <= d.high)
    });
}

/// Probabilities of `count` comparisons of 10 drives a side, of which the first `different` have a
/// true difference of 2 spreads.
fn family(rng: &mut Rng, count: usize, different: usize) -> Vec<f64> {
    let one = |at: usize| {
        let shift = if at < different { 2.0 } else { 0.0 };
        let (a, b) = (normal(rng, 10, 0.0, 1.0), normal(rng, 10, shift, 1.0));
        welch(&a, &b, 0.95).map_or(1.0, |d| d.probability)
    };
    (0..count).map(one).collect()
}

fn several(s: &mut Simulation) {
    s.share(
        "20 figures without a difference, uncorrected: any significant",
        "not held",
        (0.55, 0.72),
        600,
        |rng| family(rng, 20, 0).iter().any(|p| *p <= 0.05),
    );
    s.share("the same by Holm: any significant", "at most 5 %", (0.0, 0.065), 1500, |rng| {
        holm(&family(rng, 20, 0)).iter().any(|p| *p <= 0.05)
    });
    s.share(
        "20 figures, 5 of them different, by Holm: any of the other 15 significant",
        "at most 5 %",
        (0.0, 0.065),
        1500,
        |rng| holm(&family(rng, 20, 5))[5..].iter().any(|p| *p <= 0.05),
    );
    s.rate(
        "60 figures, 15 of them different, by Benjamini and Hochberg: share of false ones among \
         the significant",
        "at most 5 %",
        (0.0, 0.055),
        800,
        |rng| {
            let adjusted = benjamini_hochberg(&family(rng, 60, 15));
            let found = |from: usize, to: usize| {
                adjusted[from..to].iter().filter(|p| **p <= 0.05).count() as f64
            };
            found(15, 60) / found(0, 60).max(1.0)
        },
    );
}

fn powers(s: &mut Simulation) {
    let expected = power(Design::Independent, 64, 0.01, 0.02, 0.95).unwrap_or(0.0);
    s.share(
        "64 drives a side, true difference of half a spread: significant",
        "80 %, as computed",
        (expected - 0.03, expected + 0.03),
        2000,
        |rng| {
            let (a, b) = (normal(rng, 64, 0.0, 0.02), normal(rng, 64, 0.01, 0.02));
            welch(&a, &b, 0.95).is_some_and(|d| d.probability <= 0.05)
        },
    );
    let pairs = drives_needed(Design::Paired, 0.01, 0.005, 0.95, 0.8).unwrap_or(2);
    let expected = power(Design::Paired, pairs, 0.01, 0.005, 0.95).unwrap_or(0.0);
    let what = format!(
        "{pairs} drives before and after, true difference of two spreads between runs: significant"
    );
    s.share(&what, "at least 80 %, as computed", (expected - 0.03, expected + 0.03), 2000, |rng| {
        let (before, after) = (normal(rng, pairs, 0.0, 0.005), normal(rng, pairs, 0.01, 0.005));
        paired(&before, &after, 0.95).is_some_and(|d| d.probability <= 0.05)
    });
}

fn hosts(s: &mut Simulation) {
    let cohort =
        |rng: &mut Rng| -> Vec<Vec<f64>> { (0..8).map(|_| normal(rng, 5, 0.0, 1.0)).collect() };
    s.share(
        "8 hosts with 5 drives, hosts alike: hosts called different",
        "5 %",
        (0.035, 0.065),
        3000,
        |rng| compare_hosts(&cohort(rng)).is_some_and(|c| c.probability <= 0.05),
    );
    s.share("the same: any host called off", "at most 5 %", (0.0, 0.065), 3000, |rng| {
        compare_hosts(&cohort(rng)).is_some_and(|c| c.hosts.iter().any(|h| h.1 <= 0.05))
    });
    s.share(
        "one host slower by 3 deviations: that host alone called off",
        "most",
        (0.7, 1.0),
        1500,
        |rng| {
            let mut hosts = cohort(rng);
            hosts[2].iter_mut().for_each(|v| *v -= 3.0);
            compare_hosts(&hosts)
                .is_some_and(|c| (0..8).all(|h| (c.hosts[h].1 <= 0.05) == (h == 2)))
        },
    );
}

fn others(s: &mut Simulation) {
    s.rate(
        "variance between runs of 12 drives with two runs, a fifth of all: mean share estimated",
        "20 %",
        (0.17, 0.25),
        1500,
        |rng| {
            let drive = |rng: &mut Rng| {
                let own = 2.0 * rng.normal();
                vec![own + rng.normal(), own + rng.normal()]
            };
            let drives: Vec<Vec<f64>> = (0..12).map(|_| drive(rng)).collect();
            variance_components(&drives).and_then(|v| v.share_within()).unwrap_or(0.0)
        },
    );
    s.share(
        "slope of a soak of 1,600 correlated minutes (coefficient 0.7) with a step across a gap: \
         interval holds the truth",
        "95 %",
        (0.92, 0.975),
        1000,
        |rng| {
            let span = |rng: &mut Rng, from: usize, to: usize, level: f64| -> Vec<(f64, f64)> {
                let mut noise = rng.normal();
                let point = |at: usize| {
                    noise = 0.7 * noise + 0.51_f64.sqrt() * rng.normal();
                    (at as f64, level - 1e-4 * at as f64 + 0.1 * noise)
                };
                (from..to).map(point).collect()
            };
            let spans = [span(rng, 0, 700, 1.0), span(rng, 1000, 1900, 3.0)];
            drift::slope(&spans, 0.95).is_some_and(|d| d.low <= -1e-4 && -1e-4 <= d.high)
        },
    );
}

/// A soak of `drives` drives by the minute for four hours: correlated minutes (coefficient 0.7, 1
/// %), 2 % between drives, and 0.5 % of correlated variation that all have in common, as
/// logarithms.
struct Soak {
    drives: Vec<Vec<Span>>,
}

const MINUTES: usize = 240;

fn correlated(rng: &mut Rng, deviation: f64) -> Vec<f64> {
    let mut noise = rng.normal();
    let next = |_| {
        noise = 0.7 * noise + 0.51_f64.sqrt() * rng.normal();
        deviation * noise
    };
    (0..MINUTES).map(next).collect()
}

impl Soak {
    fn new(rng: &mut Rng, drives: usize) -> Soak {
        let common = correlated(rng, 0.005);
        let drive = |rng: &mut Rng| {
            let (level, own) = (0.02 * rng.normal(), correlated(rng, 0.01));
            let values = common.iter().zip(own).enumerate();
            vec![values.map(|(t, (c, o))| (t as f64, level + c + o)).collect()]
        };
        let drives = (0..drives).map(|_| drive(rng)).collect();
        Soak { drives }
    }

    /// Add to the values of a drive, or of all, by the share of the soak that is over.
    fn add(mut self, drive: Option<usize>, of: impl Fn(f64) -> f64) -> Soak {
        for (at, spans) in self.drives.iter_mut().enumerate() {
            if drive.is_none_or(|drive| drive == at) {
                let points = spans.iter_mut().flatten();
                points.for_each(|p| p.1 += of(p.0 / MINUTES as f64));
            }
        }
        self
    }

    /// A ramp of -10 % and a step of 5 % that all drives have in common.
    fn with_ramp_and_step(self) -> Soak {
        self.add(None, |t| if t < 0.4 { -0.1 * t } else { 0.05 - 0.1 * t })
    }

    /// Every other drive is interrupted, at another minute, for half an hour, and comes back with
    /// another level.
    fn with_gaps(mut self, rng: &mut Rng) -> Soak {
        for spans in self.drives.iter_mut().step_by(2) {
            let from = 20.0 + (170.0 * rng.unit_f64()).floor();
            let level = 0.05 * rng.normal();
            let all: Span = spans.drain(..).flatten().collect();
            let before = all.iter().copied().filter(|p| p.0 < from).collect();
            let after = all.iter().filter(|p| p.0 >= from + 30.0);
            *spans = vec![before, after.map(|p| (p.0, p.1 + level)).collect()];
        }
        self
    }

    /// One minute of fifty is off by 30 %.
    fn with_outlying_minutes(mut self, rng: &mut Rng) -> Soak {
        for point in self.drives.iter_mut().flatten().flatten() {
            if rng.unit_f64() < 0.02 {
                point.1 -= 0.3;
            }
        }
        self
    }

    /// Drives called drifting, and whether the cohort as a whole is.
    fn concluded(&self) -> (Vec<usize>, bool) {
        let relative = drift::relative(&self.drives);
        let slope = |spans: &Vec<Span>| Some((0, drift::slope(spans, 0.95)?));
        let slopes: Vec<(usize, Slope)> = relative.residuals.iter().filter_map(slope).collect();
        assert_eq!(slopes.len(), self.drives.len());
        let found = drift::distances(&slopes).expect("different slopes");
        let common = drift::common(&relative.curve, 0.95).expect("a slope");
        let together = drift::excludes_zero(&common.slope);
        (drift::drifting(&slopes, &found), together)
    }
}

fn soaks(s: &mut Simulation) {
    const CLEAN: (f64, f64) = (0.0, 0.07);
    for drives in [8, 12, 40] {
        let cohorts = if drives > 20 { 300 } else { 600 };
        let what = format!(
            "soaks of {drives} drives with a ramp and a step of all: a drive called drifting"
        );
        s.share(&what, "at most 5 %", CLEAN, cohorts, |rng| {
            let soak = Soak::new(rng, drives).with_ramp_and_step();
            !soak.concluded().0.is_empty()
        });
    }
    s.share(
        "12 drives, every other one interrupted at another time: a drive called drifting",
        "at most 5 %",
        (0.0, 0.07),
        600,
        |rng| {
            let soak = Soak::new(rng, 12).with_ramp_and_step().with_gaps(rng);
            !soak.concluded().0.is_empty()
        },
    );
    s.share(
        "12 drives, one of 50 minutes off by 30 %: a drive called drifting",
        "at most 5 %",
        CLEAN,
        600,
        |rng| {
            let soak = Soak::new(rng, 12).with_outlying_minutes(rng);
            !soak.concluded().0.is_empty()
        },
    );
    s.share(
        "12 drives with a ramp and a step of all, one drifts by -4 % beside: that one alone found",
        "most",
        (0.75, 1.0),
        300,
        |rng| {
            let soak = Soak::new(rng, 12).with_ramp_and_step();
            let soak = soak.add(Some(4), |t| -0.04 * t);
            soak.concluded().0 == [4]
        },
    );
    s.share(
        "the same with outlying minutes and every other drive interrupted, one of them drifts by \
         -8 %: that one alone found",
        "most",
        (0.6, 1.0),
        300,
        |rng| {
            let soak = Soak::new(rng, 12).with_ramp_and_step();
            let soak = soak.add(Some(4), |t| -0.08 * t);
            let soak = soak.with_gaps(rng).with_outlying_minutes(rng);
            soak.concluded().0 == [4]
        },
    );
    s.share(
        "12 drives without a change in common: the cohort called drifting",
        "5 %",
        (0.02, 0.08),
        600,
        |rng| Soak::new(rng, 12).concluded().1,
    );
    s.share(
        "12 drives with a ramp of -4 % in common: the cohort called drifting",
        "most",
        (0.9, 1.0),
        300,
        |rng| {
            let soak = Soak::new(rng, 12).add(None, |t| -0.04 * t);
            soak.concluded().1
        },
    );
    s.share(
        "20 drives with as many errors as the limit has: any said to exceed it, or to be within",
        "at most 5 % each",
        (0.0, 0.1),
        2000,
        |rng| {
            let drive = |rng: &mut Rng| against_limit(poisson(rng, 8.0), 8.0, 20);
            (0..20).any(|_| drive(rng) != AgainstLimit::CannotTell)
        },
    );
}

/// A Poisson distributed count (D. E. Knuth, "Seminumerical Algorithms", 3.4.1).
fn poisson(rng: &mut Rng, mean: f64) -> u64 {
    let (mut product, mut count) = (1.0, 0);
    loop {
        product *= rng.unit_f64();
        if product <= (-mean).exp() {
            return count;
        }
        count += 1;
    }
}
