//! Commands longer than the largest transfer.

use super::Drive;
use super::parts::{Part, Way};
use crate::command::Status;

/// A command that was split: what is known of its parts so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) left: u32,
    pub(super) at_ns: u64,
    pub(super) status: Status,
}

impl Drive {
    /// Split a command longer than the largest transfer, as the host's driver would.
    pub(super) fn enqueue_split(&mut self, arrival_ns: u64, whole: Part, limit: u32) {
        let entry = Split {
            left: whole.len_bytes.div_ceil(limit),
            at_ns: 0,
            status: Status::Ok,
        };
        let split = match self.free_splits.pop() {
            Some(index) => {
                self.splits[index as usize] = entry;
                index
            }
            None => {
                self.splits.push(entry);
                (self.splits.len() - 1) as u32
            }
        };
        let mut done = 0;
        while done < whole.len_bytes {
            let len_bytes = limit.min(whole.len_bytes - done);
            let part = Part {
                offset_bytes: whole.offset_bytes + u64::from(done),
                len_bytes,
                split,
                way: Way::Other,
                ..whole
            };
            let number = self.parts.add(part);
            self.front.push(whole.queue, arrival_ns, number);
            done += len_bytes;
        }
    }
}
