use std::num::NonZeroU32;

#[derive(Debug)]
pub(super) struct Backlog {
    most: usize,
    written: Vec<(u64, u32)>,
    next: usize,
}

impl Backlog {
    pub(super) fn new(most: NonZeroU32) -> Backlog {
        Backlog { most: most.get() as usize, written: Vec::new(), next: 0 }
    }

    /// A write was issued; returns whether as many have been that they are read back first.
    pub(super) fn wrote(&mut self, offset_bytes: u64, len_bytes: u32) -> bool {
        self.written.push((offset_bytes, len_bytes));
        self.written.len() >= self.most
    }

    /// Reading back begins: in address order, each block once, or in that of the writes.
    pub(super) fn begin(&mut self, in_order: bool) {
        self.written.drain(..self.next);
        self.next = 0;
        if in_order {
            return;
        }
        self.written.sort_unstable();
        let mut end = 0;
        self.written.retain_mut(|(offset_bytes, len_bytes)| {
            let own_end = *offset_bytes + u64::from(*len_bytes);
            let start = end.max(*offset_bytes);
            if own_end <= start {
                return false;
            }
            (*offset_bytes, *len_bytes) = (start, (own_end - start) as u32);
            end = own_end;
            true
        });
    }

    /// The next extent to read back; at the end the backlog is empty again.
    pub(super) fn next(&mut self) -> Option<(u64, u32)> {
        let extent = self.written.get(self.next).copied();
        match extent {
            Some(_) => self.next += 1,
            None => {
                self.written.clear();
                self.next = 0;
            }
        }
        extent
    }
}

#[cfg(test)]
#[path = "../../tests/unit/worker/backlog.rs"]
mod tests;
