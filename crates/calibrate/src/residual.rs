//! Residuals of a fit: measured and simulated figures, their errors and summaries.

use assay_units::median;

use crate::measurement::{Measurement, Role, Tolerance};
use crate::simulate::Figures;

/// A measurement with the simulated figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// Measured.
    pub measurement: Measurement,
    /// Simulated; `None` where the simulated drive has no such figure.
    pub simulated: Option<f64>,
}

impl Residual {
    /// Signed error, see [`Measurement::error`].
    pub fn error(&self) -> Option<f64> {
        self.simulated.map(|value| self.measurement.error(value))
    }

    /// Whether it is within its tolerance.
    pub fn is_met(&self) -> bool {
        let met = |value| self.measurement.is_met(value);
        self.simulated.is_some_and(met)
    }

    /// Absolute error in per cent; `None` for temperatures and missing figures.
    pub fn size_pct(&self) -> Option<f64> {
        match self.measurement.tolerance {
            Tolerance::Relative(_) => self.error().map(f64::abs),
            Tolerance::Absolute(_) => None,
        }
    }
}

/// Median and worst error of some figures, and how many are within their tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorSummary {
    /// Number of figures.
    pub count: usize,
    /// Those within their tolerance.
    pub met: usize,
    /// Median absolute error in per cent, without temperatures.
    pub median_pct: f64,
    /// Largest absolute error in per cent.
    pub worst_pct: f64,
}

impl ErrorSummary {
    pub fn of<'a>(residuals: impl IntoIterator<Item = &'a Residual>) -> ErrorSummary {
        let (mut sizes, mut count, mut met) = (Vec::new(), 0, 0);
        for residual in residuals {
            count += 1;
            met += usize::from(residual.is_met());
            sizes.extend(residual.size_pct());
        }
        ErrorSummary {
            count,
            met,
            worst_pct: sizes.iter().copied().fold(0.0, f64::max),
            median_pct: median(sizes).unwrap_or(0.0),
        }
    }
}

/// The residuals of all measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals(pub Vec<Residual>);

impl Residuals {
    /// Measurements and their simulated figures, in the same order.
    pub fn new(measurements: &[Measurement], figures: Figures) -> Residuals {
        let pairs = measurements.iter().cloned().zip(figures);
        let residual = |(measurement, simulated)| Residual {
            measurement,
            simulated,
        };
        Residuals(pairs.map(residual).collect())
    }

    /// Those of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Residual> {
        self.0.iter().filter(move |r| r.measurement.role == role)
    }

    pub fn summary(&self, role: Role) -> ErrorSummary {
        ErrorSummary::of(self.of(role))
    }

    /// As comma-separated values:
    /// `role,measurement,measured,simulated,unit,error,error_unit,within`.
    pub fn to_csv(&self) -> String {
        let mut out =
            String::from("role,measurement,measured,simulated,unit,error,error_unit,within\n");
        for residual in &self.0 {
            let m = &residual.measurement;
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.3}"));
            out.push_str(&format!(
                "{},\"{}\",{:.3},{},{},{},{},{}\n",
                m.role.name(),
                m.key().replace('"', "\"\""),
                m.value,
                number(residual.simulated),
                m.metric.unit(),
                number(residual.error()),
                m.error_unit("percent"),
                if residual.is_met() { "yes" } else { "no" },
            ));
        }
        out
    }
}

#[cfg(test)]
#[path = "../tests/unit/residual.rs"]
mod tests;
