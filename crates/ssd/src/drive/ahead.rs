//! Commands submitted ahead of the completions before them, by a caller that knows that no other
//! command comes first. The drive computes a command's path when its firmware starts, from times
//! alone.

use assay_units::Nanos;

use super::Drive;
use crate::command::Completion;

impl Drive {
    /// Whether a command may be submitted before taking the completions up to its time.
    pub fn accepts_ahead(&self) -> bool {
        self.fast_path && self.coalescer.is_none()
    }

    /// [`Drive::advance`] to the first completion by `until`, if [`Drive::accepts_ahead`].
    #[inline]
    pub fn advance_to_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
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
