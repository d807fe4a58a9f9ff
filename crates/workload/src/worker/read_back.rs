use assay_io::Io;
use assay_units::{Nanos, Op};

use super::{Pending, Worker};

impl Worker {
    pub(super) fn begin_backlog(&mut self) {
        let in_order = self.access.has_order_of_writes();
        if let Some(backlog) = &mut self.backlog {
            backlog.begin(in_order);
        }
        if let Some(checker) = &mut self.checker {
            checker.begin_read_backs();
        }
    }

    fn next_read_back(&mut self) -> Option<(u64, u32)> {
        let checker = self.checker.as_mut()?;
        loop {
            let next = match &mut self.backlog {
                Some(backlog) => backlog.next(),
                None => self.access.next_written(|| checker.next_written()),
            };
            let (offset_bytes, len_bytes) = next?;
            if checker.has_begun(offset_bytes) && checker.begin_read_back(offset_bytes, len_bytes) {
                self.access.reads_back(len_bytes);
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
