//! Drives that stop answering.

use crate::Nanos;

/// Time without a completion while I/Os are in flight.
#[derive(Clone, Copy, Debug)]
pub struct StallTimer {
    since: Nanos,
    timeout: Nanos,
    was_expired: bool,
}

impl StallTimer {
    /// A loop begins now; `timeout` is the longest time without a completion.
    pub fn new(now: Nanos, timeout: Nanos) -> StallTimer {
        StallTimer { since: now, timeout, was_expired: false }
    }

    /// A completion came, or the first I/O in flight was submitted.
    #[inline]
    pub fn restart(&mut self, now: Nanos) {
        self.since = now;
        self.was_expired = false;
    }

    /// Two checks in a row past the timeout: after a suspend the clock is far ahead at the first
    /// check and the completions are still to be reaped.
    #[inline]
    pub fn has_expired(&mut self, now: Nanos) -> bool {
        let before = self.was_expired;
        self.was_expired = now - self.since >= self.timeout;
        before && self.was_expired
    }

    /// When the timeout is over.
    pub fn deadline(&self) -> Nanos {
        self.since + self.timeout
    }

    /// Time without a completion so far.
    pub fn waited(&self, now: Nanos) -> Nanos {
        now - self.since
    }
}
