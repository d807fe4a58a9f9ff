//! Verify: the medium is read, and what it gives stays in the drive.

use assay_units::{Nanos, Op};

use super::Drive;
use super::execute::{Outcome, overlap, read_begun_ns, units_of};
use crate::command::Command;

impl Drive {
    /// Queue an NVMe Verify of the command's range at `now` (an earlier time than that of the last call counts as that time): as a read
    /// that looks at the medium and sends nothing to the host, and finds what a read would find. Its bytes count as data read, itself
    /// not as a read command (NVM Express Base Specification 1.4, section 5.14.1.2). It completes exactly once.
    pub fn submit_verify(&mut self, now: Nanos, command: Command) {
        let command = Command {
            op: Op::Read,
            ..command
        };
        let now_ns = now.0.min(super::LAST_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.keep_house(now_ns);
        self.last_submit_ns = now_ns;
        let seq = self.next_seq;
        self.next_seq += 1;
        let status = self.check(&command);
        self.enqueue_other(now_ns, command, seq, status, true);
        self.note_other(&command);
    }

    /// [`Drive::execute`] of a Verify: flash and data path, where errors are corrected, as a read has them; no link.
    pub(super) fn verify(&mut self, now_ns: u64, offset: u64, len: u64, clock: usize) -> Outcome {
        self.medium.settle();
        self.host.bytes_read += len;
        let costs = self.costs[clock];
        let end = offset + len;
        let mut busy_ns = read_begun_ns(now_ns, offset, len, &costs);
        let (first, last) = units_of(offset, len.max(1));
        busy_ns += costs.read_split_ns(len);
        let known_ns = self.look_up(now_ns, busy_ns, first, last);
        let mut done_ns = busy_ns.max(known_ns);
        let mut setup_ns = costs.path_setup_ns();
        let mut unit = first;
        while unit <= last {
            let (count, pages, physical) = self.next_run(unit, last - unit + 1);
            let bytes = overlap(offset, end, unit, count);
            busy_ns += costs.read_pieces_ns(pages, bytes, len);
            if pages > 0 {
                let issue_ns = busy_ns.max(known_ns);
                let ready_ns = self.medium.read(now_ns, issue_ns, physical, count);
                let path = (costs.stretched(bytes), std::mem::take(&mut setup_ns));
                let end_ns = self.link.through_data_path(now_ns, ready_ns, path, len);
                done_ns = done_ns.max(end_ns);
            }
            unit += count;
        }
        (busy_ns, done_ns.max(busy_ns), crate::Status::Ok)
    }
}
