//! NVMe Verify.

use assay_units::{Nanos, Op};

use super::Drive;
use super::execute::{CommandTiming, overlap, read_begun_ns, units_of};
use crate::command::Command;

impl Drive {
    /// Queue an NVMe Verify of the command's range at `now` (not before the last call's time): a read of the
    /// medium without transfer to the host. Its bytes count as data read, but not as a read command (NVM
    /// Express Base Specification 1.4, section 5.14.1.2). It completes exactly once.
    pub fn submit_verify(&mut self, now: Nanos, command: Command) {
        let command = Command {
            op: Op::Read,
            ..command
        };
        let now_ns = now.0.min(super::MAX_TIME_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.run_background(now_ns);
        self.last_submit_ns = now_ns;
        let seq = self.next_seq;
        self.next_seq += 1;
        let status = self.check(&command);
        self.enqueue_general(now_ns, command, seq, status, true);
        self.update_journal(&command, true);
    }

    /// [`Drive::execute`] of a Verify: flash and data path without the link.
    pub(super) fn verify(
        &mut self,
        now_ns: u64,
        offset: u64,
        len: u64,
        clock: usize,
    ) -> CommandTiming {
        self.medium.apply_map_updates();
        self.host.bytes_read += len;
        let costs = self.costs[clock];
        let end = offset + len;
        let mut busy_ns = read_begun_ns(now_ns, offset, len, &costs);
        let (first, last) = units_of(offset, len.max(1));
        busy_ns += costs.read_split_ns(len);
        let known_ns = self.lookup_map(now_ns, busy_ns, first, last);
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
                let path = (costs.data_path_bytes(bytes), std::mem::take(&mut setup_ns));
                let end_ns = self.link.through_data_path(now_ns, ready_ns, path, len);
                done_ns = done_ns.max(end_ns);
            }
            unit += count;
        }
        (busy_ns, done_ns.max(busy_ns), crate::Status::Ok)
    }
}
