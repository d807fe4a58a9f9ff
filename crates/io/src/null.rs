//! Null target: completes every I/O at once without a transfer, to measure the engine itself.

use assay_units::Nanos;

use crate::clock::Clock;
use crate::{Completion, Io, Target, TargetError};

/// Completes every I/O with success in the next [`Target::reap`].
#[derive(Debug)]
pub struct NullTarget {
    clock: Clock,
    done: Vec<Completion>,
}

impl NullTarget {
    /// A null target for up to `slots` I/Os in flight.
    pub fn new(slots: u32) -> NullTarget {
        NullTarget {
            clock: Clock::monotonic(),
            done: Vec::with_capacity(slots as usize),
        }
    }
}

impl Target for NullTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            self.done.push(Completion {
                slot: io.slot,
                result: io.len_bytes as i32,
            });
        }
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        _min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if self.done.is_empty() {
            self.clock.wait_until(until);
        }
        if out.is_empty() {
            std::mem::swap(out, &mut self.done);
        } else {
            out.append(&mut self.done);
        }
        Ok(())
    }

    fn buffer(&mut self, _slot: u32) -> Option<&mut [u8]> {
        None
    }
}
