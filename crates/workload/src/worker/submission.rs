//! How an I/O of a worker gets into the batch that is submitted.

use assay_io::{Io, Target};
use assay_units::{Nanos, Op};

use super::{Pending, Worker};

impl Worker {
    #[inline]
    pub(super) fn pending_io(
        &self,
        intended: Nanos,
        offset_bytes: u64,
        len_bytes: u32,
        op: Op,
    ) -> Pending {
        Pending {
            intended,
            submitted: intended,
            offset_bytes,
            len_bytes,
            op,
            fua: op == Op::Write && self.fua,
            read_back: false,
        }
    }

    pub(super) fn push_flush(&mut self, now: Nanos, offset_bytes: u64, batch: &mut Vec<Io>) {
        let Some(slot) = self.free.pop() else { return };
        let pending =
            Pending { intended: now, submitted: now, offset_bytes, op: Op::Flush, ..Pending::NONE };
        self.push(pending, slot, batch);
    }

    /// Inlined always: an I/O handed over in memory, written by the field and read as a whole,
    /// waits for the stores, which took a sixth of an I/O's time.
    #[inline(always)]
    pub(super) fn push(&mut self, pending: Pending, slot: u32, batch: &mut Vec<Io>) {
        self.pending[slot as usize] = pending;
        let offset_bytes = match &self.segments {
            Some(segments) if pending.op != Op::Flush => segments.place(pending.offset_bytes),
            _ => pending.offset_bytes,
        };
        batch.push(Io {
            op: pending.op,
            data: self.data,
            slot: self.first_slot + slot,
            len_bytes: pending.len_bytes,
            offset_bytes,
            fua: pending.fua,
            priority: self.access.priority(pending.op, pending.len_bytes),
        });
    }

    pub(super) fn fill<T: Target>(
        &mut self,
        target: &mut T,
        slot: u32,
        offset_bytes: u64,
        len_bytes: u32,
    ) {
        let Some(buffer) = target.buffer(self.first_slot + slot) else {
            return;
        };
        let buffer = &mut buffer[..len_bytes as usize];
        if let Some(checker) = &mut self.checker {
            checker.stamp(buffer, offset_bytes);
        } else if let Some(filler) = &mut self.filler {
            filler.fill(buffer);
        }
    }

    /// Its closed-loop I/Os start at `at`, after the buffers were filled.
    pub fn restamp(&mut self, slot: u32, at: Nanos) {
        let pending = &mut self.pending[(slot - self.first_slot) as usize];
        let is_own_flush = pending.op == Op::Flush && self.trace.is_none();
        if !self.open_loop || pending.read_back || is_own_flush {
            pending.intended = at;
        }
        pending.submitted = at;
    }
}
