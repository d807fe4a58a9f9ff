//! Estimated time left: falls steadily while the machine keeps its pace.

use assay_io::Nanos;

/// An estimate that ends later than the shown one by less than this share of the time left does not change what is shown.
const TOLERANCE: f64 = 0.1;
/// The same for short times.
const TOLERANCE_LEAST: Nanos = Nanos::from_secs(3);

/// The end that is shown. It moves to an earlier estimate at once, and to a later one only if that is later by more than the tolerance: so the
/// shown time counts down like a clock and does not jump with every cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Eta {
    end: Option<Nanos>,
}

impl Eta {
    /// The time left to show at `now`, with a new estimate of it.
    pub fn update(&mut self, now: Nanos, estimate: Nanos) -> Nanos {
        let proposed = now + estimate;
        let end = match self.end {
            Some(end) if proposed > end => {
                let tolerance = Nanos(((end - now).0 as f64 * TOLERANCE) as u64);
                match proposed - end <= tolerance.max(TOLERANCE_LEAST) {
                    true => end,
                    false => proposed,
                }
            }
            _ => proposed,
        };
        self.end = Some(end);
        end - now
    }
}

/// `0:01:05`.
pub fn clock_text(span: Nanos) -> String {
    let seconds = span.0 / 1_000_000_000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours}:{minutes:02}:{:02}", seconds % 60)
}

#[cfg(test)]
#[path = "../../tests/unit/progress/eta.rs"]
mod tests;
