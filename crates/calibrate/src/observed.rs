//! Observed figures of a drive on the scale of the inference, and those that profiles give.

use assay_ssd::Profile;

use crate::inference::posterior::{Observation, Predictions};
use crate::measurement::{Measurement, ReferenceMetric};
use crate::simulate::{Effort, Figures, simulate_valid};

/// A logarithm; kelvin for temperatures.
pub fn on_scale(measurement: &Measurement, value: f64) -> f64 {
    match measurement.metric {
        ReferenceMetric::Celsius => value,
        _ => value.max(1e-12).ln(),
    }
}

#[derive(Clone, Debug)]
pub struct Observed {
    figures: Vec<Measurement>,
    observations: Vec<Observation>,
}

impl Observed {
    pub fn new<'a>(all: impl Iterator<Item = (&'a Measurement, f64)>) -> Observed {
        let (figures, observations) = all
            .map(|(m, scale)| {
                let value = on_scale(m, m.value);
                (m.clone(), Observation { value, scale })
            })
            .unzip();
        Observed { figures, observations }
    }

    /// Each figure has the error that `scale` gives.
    pub fn with_scale(figures: &[Measurement], scale: &dyn Fn(&Measurement) -> f64) -> Observed {
        Observed::new(figures.iter().map(|m| (m, scale(m))))
    }

    /// `None` where a drive is not valid or lacks a figure.
    pub fn predictions(&self, profiles: Vec<Option<Profile>>, threads: usize) -> Predictions {
        predictions_of(profiles, &self.figures, threads)
    }

    pub fn figures(&self) -> &[Measurement] {
        &self.figures
    }

    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }
}

/// [`simulate_valid`], on the scale of the inference.
pub fn figures_of(
    profiles: Vec<Option<Profile>>,
    figures: &[Measurement],
    threads: usize,
) -> Vec<Option<Figures>> {
    let scaled = |found: Figures| {
        let pairs = found.into_iter().zip(figures);
        pairs.map(|(value, m)| Some(on_scale(m, value?))).collect()
    };
    let all = simulate_valid(profiles, figures, Effort::Fit, threads);
    all.into_iter().map(|one| one.map(scaled)).collect()
}

/// [`figures_of`]; `None` where a figure is missing too.
pub fn predictions_of(
    profiles: Vec<Option<Profile>>,
    figures: &[Measurement],
    threads: usize,
) -> Predictions {
    let all = figures_of(profiles, figures, threads);
    all.into_iter().map(|one| one?.into_iter().collect()).collect()
}
