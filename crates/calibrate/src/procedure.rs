//! The reference procedures on a simulated drive. Each returns everything from which its figures
//! are computed. A run fails when the profile cannot make a drive, or the drive fails an I/O.

pub mod fill;
pub mod hour;
pub mod soak;
pub mod steady;
pub mod streams;

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Mean of the last `count` samples if the mean of as many before differs by less than this share.
fn steady_mean(samples: &[f64], count: usize, share: f64) -> Option<f64> {
    let recent = samples.get(samples.len().checked_sub(2 * count)?..)?;
    let (before, after) = (mean(&recent[..count])?, mean(&recent[count..])?);
    ((after / before - 1.0).abs() < share).then_some(after)
}
