/// The median; for an even count the mean of the two middle values; `None` for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[half - 1], upper) })
}

#[cfg(test)]
#[path = "../tests/unit/median.rs"]
mod tests;
