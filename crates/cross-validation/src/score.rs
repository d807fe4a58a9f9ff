//! Scores of the cross-validation: errors, coverage, Winkler's score, baselines; predictive
//! intervals from them.

use std::collections::BTreeMap;

use assay_calibrate::CalibrateError;
use assay_calibrate::figure_kind::FigureKind;
use assay_calibrate::inference::identify::SIGMAS_90;
use assay_calibrate::inference::posterior::quantile;
use assay_calibrate::predictive::{PredictiveInterval, Situation};
use assay_calibrate::table::{CsvRow, CsvTable};
use assay_stats::student;
use assay_units::median;

const HEADING: &str = "fold,drive,figure,measurement,unit,situation,published,predicted,half_width,\
                       simulated,curve,data_sheet,nearest";
const FILE: &str = "cross_validation.csv";
const TEXT: &str = include_str!("../../../reference/cross_validation.csv");
/// Probability outside of the intervals.
const OUTSIDE: f64 = 0.1;
/// As many drives as a scale of 1 counts for.
const SCALE_WEIGHT: f64 = 2.0;

/// A left-out figure with its prediction: a line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    pub fold: String,
    pub drive: String,
    pub kind: FigureKind,
    pub key: String,
    pub unit: String,
    pub situation: Situation,
    pub published: f64,
    /// Mean of the logarithms of simulation and curve.
    pub predicted: f64,
    /// Half of the 90 % interval, a logarithm; `None` until the other drives give it.
    pub half_width: Option<f64>,
    pub simulated: Option<f64>,
    pub curve: Option<f64>,
    /// 0.8 times the data sheet.
    pub data_sheet: Option<f64>,
    pub nearest: Option<f64>,
}

fn error(value: f64, published: f64) -> f64 {
    (value / published - 1.0).abs() * 100.0
}

impl Scored {
    /// Logarithm of true over predicted.
    fn log_error(&self) -> f64 {
        (self.published / self.predicted).ln()
    }

    fn is_covered(&self) -> bool {
        self.half_width.is_some_and(|half| self.log_error().abs() <= half)
    }

    /// Width of the interval, and a fine by the distance of a figure outside of it, in logarithms
    /// (R. Winkler, "A Decision-Theoretic Approach to Interval Estimation", JASA 67, 1972): less is
    /// better, and neither a wide interval nor a missed figure pays.
    fn winkler(&self) -> Option<f64> {
        let half = self.half_width?;
        Some(2.0 * half + 2.0 / OUTSIDE * (self.log_error().abs() - half).max(0.0))
    }
}

/// Half of the 90 % interval of a further drive from the errors of others, a list per drive:
/// Student's distribution of the root mean square over drives, since the figures of one err
/// together. `None` with fewer than three drives.
pub fn half_width_of_drives(drives: &[Vec<f64>]) -> Option<f64> {
    let n = drives.len() as f64;
    let mean_square =
        |errors: &Vec<f64>| errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
    let square = drives.iter().map(mean_square).sum::<f64>() / n;
    let student = student::quantile(1.0 - OUTSIDE / 2.0, n - 1.0)?;
    (drives.len() >= 3).then(|| student * (square * (1.0 + 1.0 / n)).sqrt())
}

/// Errors of the figures that `is` selects, a list per drive.
fn by_drive(all: &[Scored], of: &dyn Fn(&Scored) -> Option<f64>) -> Vec<Vec<f64>> {
    let mut lists: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for s in all {
        if let Some(value) = of(s) {
            lists.entry(&s.drive).or_default().push(value);
        }
    }
    lists.into_values().collect()
}

/// Scale of the curve's half-widths for the mean of curve and simulation, by the errors of other
/// drives in half-widths; with few drives it stays near 1.
fn scale(drives: &[Vec<f64>]) -> f64 {
    let mean_square =
        |ratios: &Vec<f64>| ratios.iter().map(|r| r * r).sum::<f64>() / ratios.len().max(1) as f64;
    let squares: f64 = drives.iter().map(mean_square).sum();
    let expected = SIGMAS_90.powi(-2);
    let drives = drives.len() as f64;
    ((SCALE_WEIGHT + squares / expected) / (SCALE_WEIGHT + drives)).sqrt()
}

/// Half-widths by the errors of the other drives in the same fold: of what the curve predicts its
/// own, scaled; of what it does not, theirs.
pub fn with_intervals(all: &[Scored]) -> Vec<Scored> {
    let one = |s: &Scored| {
        let is_alike = |o: &Scored| o.fold == s.fold && o.kind == s.kind && o.drive != s.drive;
        let half_width = match s.half_width {
            Some(half) => {
                let of = |o: &Scored| Some(o.log_error() / o.half_width.filter(|_| is_alike(o))?);
                Some(half * scale(&by_drive(all, &of)))
            }
            None => half_width_of_drives(&by_drive(all, &|o| is_alike(o).then(|| o.log_error()))),
        };
        Scored { half_width, ..s.clone() }
    };
    all.iter().map(one).collect()
}

/// Intervals around simulated figures per kind and situation, over drives. Of writes and of the
/// percentiles of latency there are none: of a drive that no fit has seen they are not predicted.
pub fn intervals(all: &[Scored]) -> Vec<PredictiveInterval> {
    let mut out = Vec::new();
    for kind in FigureKind::ALL {
        for situation in Situation::ALL {
            // Folds of few known cells leave out depths and blocks at once.
            let is = |s: &Scored| {
                s.kind == kind
                    && s.situation == situation
                    && !["two cells", "quick"].contains(&s.fold.as_str())
            };
            let of = |s: &Scored| Some((s.published / s.simulated.filter(|_| is(s))?).ln());
            let errors = by_drive(all, &of);
            out.extend(half_width_of_drives(&errors).map(|half| PredictiveInterval {
                kind,
                situation,
                drives: errors.len() as u32,
                low: (-half).exp(),
                high: half.exp(),
            }));
        }
    }
    out
}

pub fn table(all: &[Scored]) -> String {
    let mut out = format!("{HEADING}\n");
    let optional = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:.2}"));
    for s in all {
        let half_width = s.half_width.map_or_else(String::new, |half| format!("{half:.5}"));
        out.push_str(&format!(
            "{},{},{},\"{}\",{},{},{},{:.2},{half_width},{},{},{},{}\n",
            s.fold,
            s.drive,
            s.kind.name(),
            s.key,
            s.unit,
            s.situation.name(),
            s.published,
            s.predicted,
            optional(s.simulated),
            optional(s.curve),
            optional(s.data_sheet),
            optional(s.nearest)
        ));
    }
    out
}

pub fn embedded() -> Result<Vec<Scored>, CalibrateError> {
    parse(TEXT)
}

pub fn parse(text: &str) -> Result<Vec<Scored>, CalibrateError> {
    let one = |row: &CsvRow| {
        Ok(Scored {
            fold: row.text("fold")?.to_owned(),
            drive: row.text("drive")?.to_owned(),
            kind: row.named("figure", FigureKind::parse)?,
            key: row.text("measurement")?.to_owned(),
            unit: row.text("unit")?.to_owned(),
            situation: row.named("situation", Situation::parse)?,
            published: row.figure("published")?,
            predicted: row.figure("predicted")?,
            half_width: row.optional("half_width")?,
            simulated: row.optional("simulated")?,
            curve: row.optional("curve")?,
            data_sheet: row.optional("data_sheet")?,
            nearest: row.optional("nearest")?,
        })
    };
    CsvTable::parse(FILE, text)?.rows.iter().map(one).collect()
}

/// Of the figures of one kind in a fold.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldScore {
    pub fold: String,
    pub kind: FigureKind,
    pub count: usize,
    pub drives: usize,
    /// Median absolute error in per cent, 90th percentile, and worst.
    pub errors: [f64; 3],
    /// Share of figures in their intervals, per cent.
    pub coverage: f64,
    /// Median half-width of the intervals in per cent.
    pub half_width: f64,
    /// Mean of Winkler's scores.
    pub winkler: f64,
    /// Simulation, curve, 0.8 times the data sheet and nearest figure alone: median and 90th
    /// percentile of their errors, where they say anything of all figures or of some.
    pub alone: [Option<(f64, f64)>; 4],
}

/// What one of the predictors says alone.
type Said<'a> = &'a dyn Fn(&Scored) -> Option<f64>;

fn fold_score(fold: &str, kind: FigureKind, here: &[&Scored]) -> FoldScore {
    let quantiles = |of: &dyn Fn(&Scored) -> Option<f64>| {
        let errors = here.iter().filter_map(|s| Some((error(of(s)?, s.published), 1.0)));
        let errors: Vec<(f64, f64)> = errors.collect();
        Some([0.5, 0.9, 1.0].map(|share| quantile(&errors, share).unwrap_or(0.0)))
            .filter(|_| !errors.is_empty())
    };
    let covered = here.iter().filter(|s| s.is_covered()).count();
    let scores: Vec<f64> = here.iter().filter_map(|s| s.winkler()).collect();
    let widths = here.iter().filter_map(|s| s.half_width);
    let mut drives: Vec<&str> = here.iter().map(|s| s.drive.as_str()).collect();
    drives.sort_unstable();
    drives.dedup();
    let alone: [Said<'_>; 4] = [&|s| s.simulated, &|s| s.curve, &|s| s.data_sheet, &|s| s.nearest];
    FoldScore {
        fold: fold.to_owned(),
        kind,
        count: here.len(),
        drives: drives.len(),
        errors: quantiles(&|s| Some(s.predicted)).unwrap_or_default(),
        coverage: 100.0 * covered as f64 / here.len().max(1) as f64,
        half_width: 100.0 * median(widths.map(f64::sinh)).unwrap_or(0.0),
        winkler: scores.iter().sum::<f64>() / scores.len().max(1) as f64,
        alone: alone.map(|of| quantiles(of).map(|[median, p90, _]| (median, p90))),
    }
}

pub fn summary(all: &[Scored]) -> Vec<FoldScore> {
    let mut groups: Vec<(&str, FigureKind, Vec<&Scored>)> = Vec::new();
    for s in all {
        match groups.iter_mut().find(|g| g.0 == s.fold && g.1 == s.kind) {
            Some(group) => group.2.push(s),
            None => groups.push((&s.fold, s.kind, vec![s])),
        }
    }
    let groups = groups.iter();
    groups.map(|(fold, kind, here)| fold_score(fold, *kind, here)).collect()
}

#[cfg(test)]
#[path = "../tests/unit/score.rs"]
mod tests;
