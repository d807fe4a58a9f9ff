use assay_io::Io;
use assay_units::{Nanos, Op};

use super::{Pending, Worker};

impl Worker {
    pub(super) fn begin_backlog(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.begin();
        }
    }

    fn next_read_back(&mut self) -> Option<(u64, u32)> {
        let checker = self.checker.as_mut()?;
        let Some(backlog) = &mut self.backlog else {
            return checker.next_read_back();
        };
        loop {
            let (offset_bytes, len_bytes) = backlog.next()?;
            if checker.begin_read_back(offset_bytes, len_bytes) {
                return Some((offset_bytes, len_bytes));
            }
        }
    }

    /// Add reads of what was written to the batch; returns whether all of them have been issued.
    pub(super) fn issue_read_back(&mut self, now: Nanos, batch: &mut Vec<Io>) -> bool {
        while let Some(&slot) = self.free.last() {
            let Some((offset_bytes, len_bytes)) = self.next_read_back() else {
                return true;
            };
            self.free.pop();
            let pending = Pending {
                intended: now,
                submitted: now,
                offset_bytes,
                len_bytes,
                op: Op::Read,
                fua: false,
                read_back: true,
            };
            self.push(pending, slot, batch);
        }
        false
    }
}
