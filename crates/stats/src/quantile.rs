/// The value of nearest rank that this share of the values does not exceed.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

/// 0 of none.
pub fn median(values: &[f64]) -> f64 {
    assay_units::median(values.iter().copied()).unwrap_or(0.0)
}
