//! Estimated time left: falls steadily while the machine keeps its pace.

use assay_units::Nanos;

/// An end that is later by less than this share of the time left is not shown.
const TOLERANCE: f64 = 0.1;
/// The same for short times.
const TOLERANCE_LEAST: Nanos = Nanos::from_secs(3);

/// It moves to an earlier estimate at once, and to a later one only if that is later by more than
/// the tolerance: so the shown time counts down like a clock and does not jump with every cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eta {
    end: Option<Nanos>,
}

impl Eta {
    /// The time left to show at `now`, with a new estimate of it.
    pub(super) fn update(&mut self, now: Nanos, estimate: Nanos) -> Nanos {
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

#[cfg(test)]
#[path = "../../tests/unit/live/eta.rs"]
mod tests;
