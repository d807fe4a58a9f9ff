//! Completes every I/O at once without a transfer, to measure the engine itself.

use assay_units::Nanos;

use crate::clock::Clock;
use crate::{Completion, Io, Target, TargetError};

/// I/Os that complete inside [`Target::submit`], until they are reaped.
#[derive(Debug)]
pub(crate) struct Completed {
    pub clock: Clock,
    pub done: Vec<Completion>,
}

impl Completed {
    pub fn new(slots: u32) -> Completed {
        Completed { clock: Clock::monotonic(), done: Vec::with_capacity(slots as usize) }
    }

    /// Takes all completions; with none, it waits until `until`.
    #[inline]
    pub fn reap(&mut self, until: Nanos, out: &mut Vec<Completion>) {
        if self.done.is_empty() {
            self.clock.wait_until(until);
        }
        if out.is_empty() {
            std::mem::swap(out, &mut self.done);
        } else {
            out.append(&mut self.done);
        }
    }
}

/// Completes every I/O with success in the next [`Target::reap`].
#[derive(Debug)]
pub struct NullTarget(Completed);

impl NullTarget {
    /// A null target for up to `slots` I/Os in flight.
    pub fn new(slots: u32) -> NullTarget {
        NullTarget(Completed::new(slots))
    }
}

impl Target for NullTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.0.clock.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        self.0.done.extend(
            batch.iter().map(|io| Completion { slot: io.slot, result: io.len_bytes as i32 }),
        );
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        _min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.0.reap(until, out);
        Ok(())
    }

    fn buffer(&mut self, _slot: u32) -> Option<&mut [u8]> {
        None
    }
}
