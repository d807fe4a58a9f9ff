//! Means and widths that drives share (empirical Bayes).
//!
//! A parameter of drive `d` of class `c` is `theta_d = mu + eta_c + epsilon_d`: `mu` is normal
//! around the mechanism's class with its wide width, `eta` of width `between` is common to the
//! drives of a controller family or flash class, `epsilon` of width `within` is the drive's own.
//! All are normal in logarithms, so the prior of a further drive is a conditional distribution (C.
//! Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", equation 2.19). The two
//! widths maximise the marginal likelihood (equation 2.30) on a grid, with half-normal priors of
//! width [`WIDTH_PRIOR`]: seven drives alone would often put one at 0.

use assay_calibrate::inference::linear::{cholesky, dot, log_determinant, solve};

/// A factor of 1.6 between drives is usual.
const WIDTH_PRIOR: f64 = 0.5;
const WIDTHS: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.3];

/// What the figures of one drive say of a parameter, without its prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// A logarithm.
    pub value: f64,
    pub variance: f64,
    pub class: Option<String>,
}

/// The estimate whose combination with a normal prior gives a posterior, if it narrows the prior.
pub fn without_prior(
    (mean, width): (f64, f64),
    (prior_mean, prior_width): (f64, f64),
    class: Option<String>,
) -> Option<Estimate> {
    let (posterior, prior) = (width.powi(-2), prior_width.powi(-2));
    let information = posterior - prior;
    (information > 0.02 * prior).then(|| Estimate {
        value: (mean * posterior - prior_mean * prior) / information,
        variance: 1.0 / information,
        class,
    })
}

fn same(a: &Option<String>, b: &Option<String>) -> bool {
    a.is_some() && a == b
}

struct Joint<'a> {
    estimates: &'a [Estimate],
    /// Mean and width of `mu`.
    wide: (f64, f64),
    within: f64,
    between: f64,
}

impl Joint<'_> {
    fn shared(&self, is_same: bool) -> f64 {
        let class = if is_same { self.between.powi(2) } else { 0.0 };
        self.wide.1.powi(2) + class
    }

    fn factor(&self) -> Option<Vec<Vec<f64>>> {
        let own = self.within.powi(2);
        let entry = |(i, a): (usize, &Estimate), (j, b): (usize, &Estimate)| match i == j {
            true => self.shared(true) + own + a.variance,
            false => self.shared(same(&a.class, &b.class)),
        };
        let all = || self.estimates.iter().enumerate();
        let matrix: Vec<Vec<f64>> = all()
            .map(|a| all().map(|b| entry(a, b)).collect())
            .collect();
        cholesky(&matrix)
    }

    fn deviations(&self) -> Vec<f64> {
        self.estimates
            .iter()
            .map(|e| e.value - self.wide.0)
            .collect()
    }

    fn log_likelihood(&self) -> f64 {
        let Some(factor) = self.factor() else {
            return f64::NEG_INFINITY;
        };
        let y = self.deviations();
        let fit = dot(&y, &solve(&factor, &y)) + log_determinant(&factor);
        let widths = self.within.powi(2) + self.between.powi(2);
        -(fit + widths / WIDTH_PRIOR.powi(2)) / 2.0
    }

    fn further(&self, class: &Option<String>) -> (f64, f64) {
        let variance = self.shared(true) + self.within.powi(2);
        let Some(factor) = self.factor() else {
            return (self.wide.0, variance.sqrt());
        };
        let shared = self
            .estimates
            .iter()
            .map(|e| self.shared(same(&e.class, class)));
        let shared: Vec<f64> = shared.collect();
        let weights = solve(&factor, &shared);
        let mean = self.wide.0 + dot(&weights, &self.deviations());
        (mean, (variance - dot(&weights, &shared)).max(0.0).sqrt())
    }
}

/// Prior of a further drive from the other drives' estimates and the wide prior of the mechanism.
pub fn shared_prior(
    estimates: &[Estimate],
    class: &Option<String>,
    wide: (f64, f64),
) -> (f64, f64) {
    if estimates.is_empty() {
        return wide;
    }
    let grid = WIDTHS
        .iter()
        .flat_map(|&within| WIDTHS.iter().map(move |&between| (within, between)));
    let joints = grid.map(|(within, between)| Joint {
        estimates,
        wide,
        within,
        between,
    });
    let best = joints
        .map(|joint| (joint.log_likelihood(), joint))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(wide, |(_, joint)| joint.further(class))
}

#[cfg(test)]
#[path = "../tests/unit/hierarchy.rs"]
mod tests;
