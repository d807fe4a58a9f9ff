use std::ops::Range;

use assay_units::{Nanos, Op};

use super::Drive;
use crate::command::{Command, Completion, Status};
use crate::command_slots::CommandSlots;
use crate::data::PAGE_BYTES;
use crate::sourced::value_or;

impl Drive {
    /// Power fails at `now` and returns at once, in power state 0. Commands in flight end with
    /// [`Status::PowerLoss`]; their effect may be whole, partial or none. Acknowledged, unflushed
    /// units of kept data may revert ([`crate::volatile`]) unless the profile has power-loss
    /// protection; writes of at most [`crate::Identity::atomic_bytes`] revert as a whole.
    pub fn power_loss(&mut self, now: Nanos) {
        let now_ns = self.catch_up(now);
        self.observe_power(now_ns);
        self.last_submit_ns = now_ns;
        self.abort(now_ns, Status::PowerLoss);
        if let Some(journal) = &mut self.journal {
            let capacitors = value_or(&self.profile.buffer.power_loss_protected, false);
            let durable_units = self.medium.durable_units(now_ns);
            let mut lost = journal.power_loss(durable_units, capacitors);
            if self.faults.tears_writes() {
                lost.retain(|(unit, _)| unit % 2 == 0);
            }
            if let Some(data) = &mut self.data {
                for (unit, content) in lost {
                    data.restore(unit, &content);
                }
            }
        }
        self.medium.restart(now_ns);
        // The restart's programs are accounted to the restart, not to the next command.
        self.thermal.advance(now_ns);
        self.thermal.add_energy(self.medium.take_energy());
        if let Some(cache) = &mut self.map_cache {
            cache.restart();
        }
        self.prefetch.invalidate(0, self.identity.capacity_bytes);
        self.power.set(now_ns, 0);
        self.account_power();
        self.host.unsafe_shutdowns += 1;
        self.update_fast_path();
    }

    /// Surprise removal at `now`: commands in flight and later ones end with [`Status::Removed`].
    pub fn surprise_removal(&mut self, now: Nanos) {
        let now_ns = self.catch_up(now);
        self.last_submit_ns = now_ns;
        self.abort(now_ns, Status::Removed);
        self.present = false;
        self.update_fast_path();
    }

    /// Whether the drive has not been removed.
    pub fn is_present(&self) -> bool {
        self.present
    }

    fn abort(&mut self, now_ns: u64, status: Status) {
        let mut ended = Vec::new();
        while let Some(pending) = self.completions.pop(u64::MAX - 1) {
            ended.push(pending);
        }
        while let Some((_, number)) = self.front.take(u64::MAX - 1) {
            self.front.occupy(now_ns);
            let sub = *self.in_flight.get(number);
            self.finish(number, &sub, now_ns, status);
        }
        while let Some((_, number)) = self.completions.pop(u64::MAX - 1) {
            // Injected latency ends too.
            ended.push((u64::MAX, number));
        }
        for (at_ns, number) in ended {
            let seq = self.in_flight.get(number).seq;
            if at_ns > now_ns {
                self.in_flight.set_status(number, status);
            }
            self.completions.push(at_ns.min(now_ns), seq, number);
        }
        if let Some(sata) = &self.profile.link.sata {
            self.slots = Some(CommandSlots::new(sata.queue_depth.value.into()));
        }
        self.power.set_idle_since(now_ns);
    }

    pub(super) fn journal_write(&mut self, seq: u64, offset: u64, len: usize) {
        let (Some(journal), Some(data)) = (&mut self.journal, &self.data) else {
            return;
        };
        if len > 0 {
            let atomic = len as u64 <= self.identity.atomic_bytes;
            for unit in offset / PAGE_BYTES..=(offset + len as u64 - 1) / PAGE_BYTES {
                journal.record(seq, unit, data.content(unit), atomic);
            }
        }
        journal.catch_up();
        if journal.is_long() {
            journal.prune(self.medium.durable_units(self.last_submit_ns));
        }
    }

    #[inline]
    pub(super) fn update_journal(&mut self, command: &Command, ok: bool) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        journal.catch_up();
        if ok && matches!(command.op, Op::Discard | Op::WriteZeroes) {
            let whole = self.unit.whole(command.range(), self.identity.capacity_bytes);
            journal.drop_range(whole.start / PAGE_BYTES, whole.end.div_ceil(PAGE_BYTES));
        }
    }

    /// The bytes entered the buffer in the slots from `taken` on, or are durable at once.
    pub(super) fn journal_accepted(&mut self, seq: u64, bytes: Range<u64>, taken: Option<u64>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let first = self.unit.at(bytes.start);
        let units = u64::from(self.unit.at(bytes.end - 1) - first) + 1;
        // Units completed in the buffer have slots of earlier commands too; the last makes them
        // durable.
        let last = self.medium.accepted_units().saturating_sub(1);
        let completed = taken.is_some_and(|taken| last + 1 < taken + units);
        let in_last = completed && !self.unit.is_sector();
        for page in bytes.start / PAGE_BYTES..=(bytes.end - 1) / PAGE_BYTES {
            let n = u64::from(self.unit.at(page * PAGE_BYTES) - first);
            let place = |taken| if in_last { last } else { taken + n };
            journal.accept(seq, page, taken.map(place));
        }
    }

    /// A deallocation zeroes whole units only (with units of one sector, every byte); what Write
    /// Zeroes writes of a unit is durable as a write is.
    pub(super) fn zero_kept(&mut self, seq: u64, command: &Command) {
        let Some(data) = &mut self.data else {
            return;
        };
        let bytes = command.range();
        let whole = self.unit.whole(bytes.clone(), self.identity.capacity_bytes);
        if command.op == Op::Discard {
            return data.discard(whole.start, whole.end - whole.start);
        }
        if !self.unit.is_sector()
            && let Some(journal) = &mut self.journal
        {
            let pages = bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES);
            let is_part = |page: &u64| !whole.contains(&(page * PAGE_BYTES));
            for page in pages.filter(is_part) {
                journal.record(seq, page, data.content(page), false);
            }
        }
        data.discard(bytes.start, bytes.end - bytes.start);
    }
}

impl Completion {
    /// Whether power loss or removal ended the command, so that its effect is unknown.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(self.status, Status::PowerLoss | Status::Removed)
    }
}
