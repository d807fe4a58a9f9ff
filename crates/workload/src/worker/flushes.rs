//! Flushes between the writes of a worker.

use assay_units::Op;

#[derive(Clone, Copy, Debug)]
pub(super) struct Flushes {
    every: u32,
    /// Writes since the last flush that was due.
    writes: u32,
    /// A flush was the last thing issued.
    is_flushed: bool,
    /// As fio 3.33, a flush after each read too while the number of writes is a multiple.
    repeats: bool,
}

impl Flushes {
    pub(super) fn new(every: u32, repeats: bool) -> Flushes {
        Flushes { every, writes: 0, is_flushed: true, repeats }
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.writes == self.every && !self.is_flushed
    }

    /// As fio 3.33, a flush that is due at the end of a pass is repeated in the next.
    pub(super) fn begin_pass(&mut self) {
        self.is_flushed = false;
    }

    pub(super) fn flushed(&mut self) {
        self.is_flushed = true;
    }

    #[inline]
    pub(super) fn issued(&mut self, op: Op) {
        if op == Op::Write {
            self.writes = self.writes % self.every + 1;
            self.is_flushed = false;
        } else if self.repeats {
            self.is_flushed = false;
        }
    }
}
