//! Corrections for several tests at once: an adjusted probability per test, in the order given; a
//! test is significant at 5 % when that is at most 0.05.

/// Holm's correction: any of the tests without a true difference becomes significant with at most
/// the level's probability, whatever their dependence (S. Holm, "A Simple Sequentially Rejective
/// Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979).
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let order = ascending(probabilities);
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut most = 0.0_f64;
    for (done, at) in order.iter().enumerate() {
        let left = (probabilities.len() - done) as f64;
        most = most.max((probabilities[*at] * left).min(1.0));
        adjusted[*at] = most;
    }
    adjusted
}

/// Benjamini and Hochberg's correction: of the significant tests, at most the level is expected to
/// be without a true difference, if they are independent or positively dependent (Y. Benjamini, Y.
/// Hochberg, Journal of the Royal Statistical Society B 57, 1995; Y. Benjamini, D. Yekutieli,
/// Annals of Statistics 29, 2001).
pub fn benjamini_hochberg(probabilities: &[f64]) -> Vec<f64> {
    let order = ascending(probabilities);
    let count = probabilities.len() as f64;
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut least = 1.0_f64;
    for (done, at) in order.iter().enumerate().rev() {
        least = least.min(probabilities[*at] * count / (done as f64 + 1.0));
        adjusted[*at] = least;
    }
    adjusted
}

fn ascending(probabilities: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    order
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/multiple.rs"]
mod tests;
