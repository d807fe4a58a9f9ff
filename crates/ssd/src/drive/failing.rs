//! Power that fails and drives that vanish: what becomes of commands and data.

use assay_units::{Nanos, Op};

use super::Drive;
use super::parts::Part;
use crate::command::{Command, Completion, Status};
use crate::data::PAGE_BYTES;
use crate::sata::Slots;

impl Drive {
    /// The drive loses power at `now` and has it back at once (the host's own restart is the caller's).
    ///
    /// Commands in flight end at `now` with [`Status::PowerLoss`]; they may have happened, not, or in part. With
    /// [`crate::DriveOptions::keep_data`], units that were acknowledged and not flushed may return to what they were (see
    /// [`crate::volatile`]), unless the profile has capacitors (`buffer.power_loss_protected`). The drive starts again in power
    /// state 0, with nothing read ahead.
    pub fn power_loss(&mut self, now: Nanos) {
        let now_ns = now.0.min(super::LAST_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.keep_house(now_ns);
        self.observe_power(now_ns);
        self.last_submit_ns = now_ns;
        self.abort(now_ns, Status::PowerLoss);
        if let Some(journal) = &mut self.journal {
            let protected = &self.profile.buffer.power_loss_protected;
            let capacitors = protected.as_ref().is_some_and(|is| is.value);
            let safe_units = self.medium.safe_units(now_ns);
            let lost = journal.lose(safe_units, capacitors);
            if let Some(data) = &mut self.data {
                for (unit, content) in lost {
                    data.restore(unit, content);
                }
            }
        }
        self.medium.restart(now_ns);
        // What was programmed is the power's last, not the next command's.
        self.thermal.advance(now_ns);
        self.thermal.add_energy(self.medium.take_energy_nj());
        self.restart_map();
        self.prefetch.invalidate(0, self.identity.capacity_bytes);
        self.power.set(now_ns, 0);
        self.account_power();
        self.host.unsafe_shutdowns += 1;
        self.review();
    }

    /// The drive is gone from the bus at `now`: commands in flight and all later ones end with [`Status::Removed`].
    pub fn surprise_removal(&mut self, now: Nanos) {
        let now_ns = now.0.min(super::LAST_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.keep_house(now_ns);
        self.last_submit_ns = now_ns;
        self.abort(now_ns, Status::Removed);
        self.present = false;
        self.review();
    }

    /// Is the drive still there?
    pub fn is_present(&self) -> bool {
        self.present
    }

    /// What is not done at `now_ns` ends then, with this status.
    fn abort(&mut self, now_ns: u64, status: Status) {
        let mut ended = Vec::new();
        while let Some(finished) = self.finished.pop(u64::MAX - 1) {
            ended.push(finished);
        }
        while let Some((_, number)) = self.front.take(u64::MAX - 1) {
            self.front.occupy(now_ns);
            let part = *self.parts.get(number);
            self.finish(number, &part, now_ns, status);
        }
        while let Some((_, number)) = self.finished.pop(u64::MAX - 1) {
            // Nothing was waiting in vain: a spike of latency ends with the power too.
            ended.push((u64::MAX, number));
        }
        for (at_ns, number) in ended {
            let seq = self.parts.get(number).seq;
            if at_ns > now_ns {
                self.parts.set_status(number, status);
            }
            self.finished.push(at_ns.min(now_ns), seq, number);
        }
        if let Some(sata) = &self.profile.link.sata {
            self.slots = Some(Slots::new(sata.queue_depth.value));
        }
        self.power.rest(now_ns);
    }

    /// A command to a drive that is gone.
    pub(super) fn refuse_absent(&mut self, now_ns: u64, part: &Part) {
        let number = self.parts.add(*part);
        self.finish(number, part, now_ns + self.link.fetch_ns, Status::Removed);
    }

    /// The bytes of a write are about to be stored: keep what they replace.
    pub(super) fn note_write(&mut self, seq: u64, offset: u64, len: usize) {
        let (Some(journal), Some(data)) = (&mut self.journal, &self.data) else {
            return;
        };
        if len > 0 {
            for unit in offset / PAGE_BYTES..=(offset + len as u64 - 1) / PAGE_BYTES {
                journal.note(seq, unit, data.content(unit));
            }
        }
        journal.catch_up();
        if journal.is_long() {
            journal.prune(self.medium.safe_units(self.last_submit_ns));
        }
    }

    /// A command without bytes was queued.
    #[inline]
    pub(super) fn note_other(&mut self, command: &Command) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        journal.catch_up();
        if matches!(command.op, Op::Discard | Op::WriteZeroes) && command.len_bytes > 0 {
            let end = command
                .offset_bytes
                .saturating_add(u64::from(command.len_bytes));
            journal.forget(command.offset_bytes / PAGE_BYTES, end.div_ceil(PAGE_BYTES));
        }
    }

    /// `count` units of a write from `unit` on are in the buffer as those from number `taken` on, or recorded at once.
    pub(super) fn note_taken(&mut self, seq: u64, unit: u32, count: u32, taken: Option<u64>) {
        if let Some(journal) = &mut self.journal {
            for (unit, n) in (u64::from(unit)..).zip(0..u64::from(count)) {
                journal.take(seq, unit, taken.map(|taken| taken + n));
            }
        }
    }
}

/// What a completion says of a failure of the whole drive.
impl Completion {
    /// Did the command end because the drive lost power or vanished, so that nobody knows what became of it?
    pub fn is_cut_off(&self) -> bool {
        matches!(self.status, Status::PowerLoss | Status::Removed)
    }
}
