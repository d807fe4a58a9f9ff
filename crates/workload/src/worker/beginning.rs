//! Whether an I/O that is drawn may be issued.

use assay_integrity::blocks::Begin;
use assay_units::Op;

use super::{Worker, WorkerError};

impl Worker {
    /// Whether no I/O in flight has to complete before it.
    #[inline]
    pub(super) fn may_begin(&mut self, op: Op, offset_bytes: u64, len_bytes: u32) -> bool {
        let waits_for_none =
            self.zone_bytes.is_none() && !self.serializes_overlap && self.checker.is_none();
        waits_for_none || self.may_begin_ordered(op, offset_bytes, len_bytes)
    }

    fn may_begin_ordered(&mut self, op: Op, offset_bytes: u64, len_bytes: u32) -> bool {
        if !self.may_empty_zone(op, offset_bytes) {
            return false;
        }
        if self.serializes_overlap && self.overlaps(offset_bytes, len_bytes) {
            return false;
        }
        let Some(checker) = &mut self.checker else {
            return true;
        };
        let begin = checker.begin(op != Op::Read, offset_bytes, len_bytes);
        if begin == Begin::Outside {
            self.fail(WorkerError::OutsideVerified {
                is_write: op != Op::Read,
                offset_bytes,
                len_bytes,
                area: self.region,
            });
        }
        begin == Begin::Begun
    }

    #[cold]
    fn fail(&mut self, failure: WorkerError) {
        self.failure = Some(failure);
        self.stop();
    }

    /// Why it has stopped before its end, if it has by itself.
    pub fn take_failure(&mut self) -> Option<WorkerError> {
        self.failure.take()
    }

    /// Whether an I/O in flight has a byte of this range.
    fn overlaps(&self, offset_bytes: u64, len_bytes: u32) -> bool {
        let end = offset_bytes + u64::from(len_bytes);
        self.pending.iter().any(|other| {
            other.offset_bytes < end
                && offset_bytes < other.offset_bytes + u64::from(other.len_bytes)
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/worker/beginning.rs"]
mod tests;
