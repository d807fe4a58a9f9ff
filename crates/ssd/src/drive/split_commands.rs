//! Commands longer than the largest transfer, split as by a host driver.

use super::Drive;
use super::in_flight::{CommandKind, SubCommand};
use crate::command::Status;

#[derive(Clone, Copy, Debug)]
pub(super) struct SplitCommand {
    pub(super) left: u32,
    pub(super) at_ns: u64,
    pub(super) status: Status,
}

impl Drive {
    /// Split a command into pieces of at most `limit` bytes.
    pub(super) fn enqueue_split(&mut self, arrival_ns: u64, whole: SubCommand, limit: u32) {
        let entry = SplitCommand {
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
            let sub = SubCommand {
                offset_bytes: whole.offset_bytes + u64::from(done),
                len_bytes,
                split,
                kind: CommandKind::Other,
                ..whole
            };
            let number = self.in_flight.add(sub);
            self.front.push(whole.queue, arrival_ns, number);
            done += len_bytes;
        }
    }
}
