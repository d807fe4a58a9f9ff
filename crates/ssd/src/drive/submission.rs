use assay_units::{Nanos, Op};

use super::in_flight::{CommandKind, SubCommand};
use super::{Drive, MAP_PREFETCH_BATCH, MAX_TIME_NS};
use crate::command::{Command, Status};
use crate::faults::{FaultEffects, WriteEffect};
use crate::options::FaultKind;

impl Drive {
    #[inline]
    pub(super) fn enqueue(&mut self, now: Nanos, command: Command) -> (bool, WriteEffect) {
        let now_ns = now.0.min(MAX_TIME_NS).max(self.last_submit_ns);
        if now_ns - self.last_submit_ns >= self.background_after_ns {
            self.start_waiting(now_ns);
            self.run_background(now_ns);
        }
        self.last_submit_ns = now_ns;
        let seq = self.next_seq;
        self.next_seq += 1;
        let status = self.check(&command);
        let kind = CommandKind::from_op(command.op);
        if self.fast_path
            && kind != CommandKind::Other
            && status.is_ok()
            && u64::from(command.len_bytes) <= self.identity.max_transfer_bytes
        {
            let arrival_ns = now_ns + self.link.fetch_ns;
            // Commands that start before its arrival are independent of it.
            if self.front.next_ns < arrival_ns {
                self.start_waiting(arrival_ns - 1);
            }
            let mut sub =
                SubCommand::new(&command, seq, self.faults.count(kind == CommandKind::Read));
            sub.handle = self.handle;
            self.arrive(arrival_ns, sub);
            return (true, WriteEffect::Stored);
        }
        self.start_waiting(now_ns);
        self.enqueue_general(now_ns, command, seq, status, false)
    }

    #[inline]
    pub(super) fn arrive(&mut self, arrival_ns: u64, sub: SubCommand) {
        let number = self.in_flight.add(sub);
        if self.front.take_at_once(sub.queue, arrival_ns) {
            // On an idle core nothing submitted later can overtake: start now.
            self.start(arrival_ns, number);
            return;
        }
        self.front.push(sub.queue, arrival_ns, number);
        if sub.kind == CommandKind::Read {
            self.prefetch_map_entry(sub.offset_bytes);
        }
        if self.front.next_ns <= arrival_ns {
            self.start_waiting(arrival_ns);
        }
    }

    #[inline(never)]
    pub(super) fn enqueue_general(
        &mut self,
        now_ns: u64,
        command: Command,
        seq: u64,
        mut status: Status,
        verifies: bool,
    ) -> (bool, WriteEffect) {
        let (mut ordinal, mut spiked, mut planned) = (0, false, FaultEffects::default());
        if !self.present {
            status = Status::Removed;
        }
        if status.is_ok() {
            (ordinal, planned) = self.faults.next(command.op);
            status = planned.status;
            match planned.drive {
                Some(FaultKind::PowerLoss) => self.power_loss(Nanos(now_ns)),
                Some(_) => self.surprise_removal(Nanos(now_ns)),
                None => {}
            }
            let len = u64::from(command.len_bytes);
            // A failing write does not remap media; a failing read may still hit bad media.
            if (status.is_ok() || command.op == Op::Read)
                && self.faults.hits_bad_media(command.op, command.offset_bytes, len)
            {
                status = Status::UnrecoveredReadError;
            }
            if planned.spike_ns > 0 {
                spiked = true;
                self.spikes.push((seq, planned.spike_ns));
            }
        }
        if status.is_ok() && self.present && matches!(command.op, Op::Discard | Op::WriteZeroes) {
            self.zero_kept(seq, &command);
        }
        let sub = SubCommand {
            status,
            spiked,
            dropped: planned.dropped,
            verifies,
            handle: self.handle,
            kind: if status.is_ok() && !spiked && !verifies && self.slots.is_none() {
                CommandKind::from_op(command.op)
            } else {
                CommandKind::Other
            },
            ..SubCommand::new(&command, seq, ordinal)
        };
        if !self.present {
            let number = self.in_flight.add(sub);
            self.finish(number, &sub, now_ns + self.link.fetch_ns, Status::Removed);
            return (false, planned.write);
        }
        self.admit(now_ns, sub);
        (status.is_ok(), planned.write)
    }

    /// Wake the drive for the command, and split it where it is too long for one.
    fn admit(&mut self, now_ns: u64, sub: SubCommand) {
        let ready_ns = if self.power.may_delay() { self.wake(now_ns) } else { now_ns };
        let arrival_ns = ready_ns + self.link.fetch_ns;
        let limit = self.identity.max_transfer_bytes as u32;
        let moves_data = matches!(sub.op, Op::Read | Op::Write);
        if sub.len_bytes > limit && moves_data && sub.status.is_ok() {
            self.enqueue_split(arrival_ns, sub, limit);
            self.start_waiting(arrival_ns);
        } else {
            self.arrive(arrival_ns, sub);
        }
    }

    #[inline]
    fn prefetch_map_entry(&mut self, offset_bytes: u64) {
        if !self.medium.has_table() {
            return;
        }
        self.upcoming.push(self.unit.at(offset_bytes));
        if self.upcoming.len() == MAP_PREFETCH_BATCH {
            self.medium.touch(&self.upcoming);
            self.upcoming.clear();
        }
    }

    pub(super) fn check(&self, command: &Command) -> Status {
        if command.op == Op::Flush {
            return Status::Ok;
        }
        let block = self.identity.logical_block_bytes;
        let len = u64::from(command.len_bytes);
        if len == 0 || (len | command.offset_bytes) & (block - 1) != 0 {
            return Status::InvalidField;
        }
        match command.offset_bytes.checked_add(len) {
            Some(end) if end <= self.identity.capacity_bytes => Status::Ok,
            _ => Status::LbaOutOfRange,
        }
    }
}
