//! Commands submitted ahead of the completions before them.
//!
//! A caller that knows the next command's time, and that no other comes before it, need not take
//! the completions up to that time first: the drive computes a command's path when its firmware
//! starts, from times alone.

use assay_units::Nanos;

use super::Drive;
use crate::command::Completion;

impl Drive {
    /// Whether a command may be submitted at its time before the completions up to that time are
    /// taken, with the same outcome: nothing but times decides what it does, and completions are
    /// not held back.
    pub fn accepts_ahead(&self) -> bool {
        self.fast_path && self.coalescer.is_none()
    }

    /// [`Drive::advance`] to the first completion by `until`, for a drive that [accepts commands
    /// ahead](Drive::accepts_ahead).
    #[inline]
    pub fn advance_to_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            // Nothing waiting completes sooner; `u64::MAX` (none) stays so.
            let waiting_ns = self.front.next_ns.saturating_add(self.min_ns);
            let next_ns = self.completions.next_ns.min(waiting_ns);
            if next_ns > until.0 || next_ns == u64::MAX {
                return None;
            }
            if waiting_ns <= next_ns {
                self.start_waiting(next_ns);
            }
            if let Some((at_ns, number)) = self.completions.pop(next_ns) {
                return Some(self.in_flight.take(number).completion(at_ns));
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive/ahead.rs"]
mod tests;
