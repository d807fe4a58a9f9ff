//! Residuals of a fit: measured and simulated figures, their errors and summaries.

use assay_units::median;

use crate::measurement::{Measurement, Role, Tolerance};
use crate::simulate::Figures;

#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    pub measurement: Measurement,
    /// `None` where the simulated drive has no such figure.
    pub simulated: Option<f64>,
}

impl Residual {
    pub fn error(&self) -> Option<f64> {
        self.simulated.map(|value| self.measurement.error(value))
    }

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

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorSummary {
    pub count: usize,
    pub met: usize,
    /// Median absolute error in per cent, without temperatures.
    pub median_pct: f64,
    /// Largest absolute error in per cent.
    pub worst_pct: f64,
}

impl ErrorSummary {
    pub fn new<'a>(residuals: impl IntoIterator<Item = &'a Residual>) -> ErrorSummary {
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals(pub Vec<Residual>);

impl Residuals {
    pub fn new(measurements: &[Measurement], figures: Figures) -> Residuals {
        let pairs = measurements.iter().cloned().zip(figures);
        let residual = |(measurement, simulated)| Residual { measurement, simulated };
        Residuals(pairs.map(residual).collect())
    }

    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Residual> {
        self.0.iter().filter(move |r| r.measurement.role == role)
    }

    pub fn summary(&self, role: Role) -> ErrorSummary {
        ErrorSummary::new(self.with_role(role))
    }

    /// Columns: `role,measurement,measured,simulated,unit,error,error_unit,within`.
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
