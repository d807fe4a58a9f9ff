//! When failing I/O ends a loop.

use assay_units::Nanos;

/// Consecutive failed I/Os: a removed drive fails them in microseconds.
pub const GIVE_UP_ERRORS: u64 = 100_000;

/// Or when I/Os have only failed for so long, and at least [`GIVE_UP_LEAST`] did.
pub const GIVE_UP_AFTER: Nanos = Nanos::from_secs(10);

/// A drive with timeouts of half a minute has a few tries.
pub const GIVE_UP_LEAST: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp {
    pub errors: u64,
    pub span: Nanos,
}

/// I/Os that failed since the last one that succeeded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ErrorStreak {
    pub(super) errors: u64,
    pub(super) since: Nanos,
}

impl ErrorStreak {
    #[inline]
    pub(super) fn note(&mut self, moved: bool, now: Nanos) {
        if moved {
            self.errors = 0;
        } else {
            self.failed(now);
        }
    }

    #[cold]
    pub(super) fn failed(&mut self, now: Nanos) {
        if self.errors == 0 {
            self.since = now;
        }
        self.errors += 1;
    }

    /// The reason to give up, if there is one by now.
    #[inline]
    pub(super) fn gave_up(&self, now: Nanos) -> Option<GaveUp> {
        if self.errors < GIVE_UP_LEAST {
            return None;
        }
        let span = now - self.since;
        (self.errors >= GIVE_UP_ERRORS || span >= GIVE_UP_AFTER)
            .then_some(GaveUp { errors: self.errors, span })
    }
}
