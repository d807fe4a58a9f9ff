//! For each kind of conclusion, whether chance can explain it.

use assay_analysis::cohort::conclude::Cohort;
use assay_analysis::cohort::outliers::Confirmation;

use crate::format::plural;

/// About outliers.
pub fn outliers(cohort: &Cohort) -> String {
    let calls = cohort.false_calls;
    if calls.outlier_figures == 0 {
        return "Outliers are not looked for: no figure has at least 6 drives and different \
                values."
            .to_owned();
    }
    let confirmed = |o: &&_| {
        matches!(
            o,
            &&assay_analysis::cohort::outliers::Outlier {
                confirmation: Confirmation::Confirmed,
                ..
            }
        )
    };
    let repeated = match cohort.outliers.iter().filter(confirmed).count() {
        _ if cohort.outliers.is_empty() => "",
        0 => " None is confirmed by a second run.",
        _ => {
            " Confirmed ones are beyond the limit in each of their runs: the variation of a single \
             run does not explain them."
        }
    };
    let heavy = cohort.figures.iter().filter(|f| f.heavy_tails == Some(true));
    let heavy = match heavy.count() {
        0 => String::new(),
        n => format!(
            " Tails heavier than normal in {}: there, more than 5 % of cohorts have a drive \
             beyond the limit.",
            plural(n, "figure")
        ),
    };
    format!(
        "By chance, a cohort without outliers has a drive beyond the limit in 5 % of figures: \
         {:.1} expected of {}.{repeated}{heavy}",
        calls.expected_outlier_figures,
        plural(calls.outlier_figures, "figure"),
    )
}

/// About comparisons of groups.
pub fn groups(cohort: &Cohort) -> Vec<String> {
    let calls = cohort.false_calls;
    let primary = match calls.primary_comparisons {
        0 => "No primary figure was declared: all comparisons are exploration.".to_owned(),
        n => format!(
            "Primary figures: without a true difference, the probability of any false call in {} \
             is at most 5 % (Holm).",
            plural(n, "comparison"),
        ),
    };
    let others = match calls.exploratory_significant {
        0 => "Exploration: no other figure differs significantly (Benjamini and Hochberg)."
            .to_owned(),
        n => format!(
            "Exploration: of {} that became significant, at most {:.1} are expected to be chance \
             (Benjamini and Hochberg); confirm them in a new cohort.",
            plural(n, "comparison"),
            calls.exploratory_expected_false
        ),
    };
    vec![primary, others]
}
