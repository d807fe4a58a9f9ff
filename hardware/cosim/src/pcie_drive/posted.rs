//! Posted writes of the drive: data, completion entries behind their data, and their order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use assay_nvme_spec::CompletionEntry;

use super::faults::CompletionFault;

/// Most bytes of completion entries in one packet.
const COMBINED_BYTES: u64 = 64;

/// A completion entry without its place in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingEntry {
    pub(super) queue: u16,
    pub(super) entry: CompletionEntry,
    pub(super) fault: Option<CompletionFault>,
    pub(super) delay_cycles: u64,
}

#[derive(Clone, Debug)]
enum Bulk {
    Data {
        address: u64,
        data: Arc<[u8]>,
    },
    /// The data before the entry are sent.
    Entry(PendingEntry),
}

/// A completion queue; the tail is that of the bus, because the controller model runs ahead.
#[derive(Clone, Debug)]
pub(super) struct HostQueue {
    pub(super) base: u64,
    pub(super) entries: u32,
    tail: u32,
    phase: bool,
    /// Entries that the controller posted and the bus did not get, modulo the entries.
    skipped: u32,
}

impl HostQueue {
    pub(super) fn new(base: u64, entries: u32) -> HostQueue {
        HostQueue { base, entries, tail: 0, phase: true, skipped: 0 }
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        let bytes = u64::from(self.entries) * CompletionEntry::SIZE as u64;
        address.checked_sub(self.base).is_some_and(|at| at < bytes)
    }

    /// The controller's head for a head of the host.
    pub(super) fn head_of_controller(&self, head: u32) -> u32 {
        match head < self.entries {
            true => (head + self.skipped) % self.entries,
            false => head,
        }
    }

    fn address(&self, index: u32) -> u64 {
        self.base + u64::from(index % self.entries) * CompletionEntry::SIZE as u64
    }

    fn advance(&mut self) {
        self.tail += 1;
        if self.tail == self.entries {
            self.tail = 0;
            self.phase = !self.phase;
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct PostedPacket {
    pub(super) address: u64,
    pub(super) data: Arc<[u8]>,
    pub(super) offset: usize,
    pub(super) len_bytes: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PostedWrites {
    /// Data, each command's followed by its entry.
    bulk: VecDeque<Bulk>,
    /// Bytes of the first item that were sent.
    sent_bytes: usize,
    /// Entries by cycle and order.
    delayed: BTreeMap<(u64, u64), PendingEntry>,
    next_order: u64,
    due: VecDeque<PendingEntry>,
    pub(super) queues: Vec<Option<HostQueue>>,
}

impl PostedWrites {
    pub(super) fn data(&mut self, address: u64, data: Vec<u8>) {
        assert!(!data.is_empty(), "a write without data");
        self.bulk.push_back(Bulk::Data { address, data: data.into() });
    }

    /// Adds an entry, behind the data added before if `has_data`.
    pub(super) fn entry(&mut self, cycle: u64, entry: PendingEntry, has_data: bool) {
        match has_data {
            true => self.bulk.push_back(Bulk::Entry(entry)),
            false => self.delay(cycle, entry),
        }
    }

    fn delay(&mut self, cycle: u64, entry: PendingEntry) {
        self.next_order += 1;
        let at = (cycle + entry.delay_cycles, self.next_order);
        self.delayed.insert(at, entry);
    }

    pub(super) fn run(&mut self, cycle: u64) {
        while let Some(Bulk::Entry(entry)) = self.bulk.front() {
            let entry = *entry;
            self.bulk.pop_front();
            self.delay(cycle, entry);
        }
        while let Some(first) = self.delayed.first_entry()
            && first.key().0 <= cycle
        {
            self.due.push_back(first.remove());
        }
    }

    /// Next cycle with something to send, not before that of an entry's delay.
    pub(super) fn next_cycle(&self) -> Option<u64> {
        if !self.due.is_empty() || !self.bulk.is_empty() {
            return Some(0);
        }
        self.delayed.first_key_value().map(|(&(cycle, _), _)| cycle)
    }

    /// 0 for none.
    pub(super) fn next_len(&self, payload_bytes: u32) -> u32 {
        if !self.due.is_empty() {
            return COMBINED_BYTES as u32;
        }
        match self.bulk.front() {
            Some(Bulk::Data { .. }) => payload_bytes,
            _ => 0,
        }
    }

    /// Completion entries are sent before data.
    pub(super) fn take(&mut self, payload_bytes: u32, combines: bool) -> Option<PostedPacket> {
        while let Some(first) = self.due.pop_front() {
            if let Some(packet) = self.take_entry(first, combines) {
                return Some(packet);
            }
        }
        let Some(Bulk::Data { address, data }) = self.bulk.front() else {
            return None;
        };
        let at = address + self.sent_bytes as u64;
        let left = data.len() - self.sent_bytes;
        let to_page_end = (4096 - at % 4096) as usize;
        let len_bytes = left.min(payload_bytes as usize).min(to_page_end);
        let packet =
            PostedPacket { address: at, data: data.clone(), offset: self.sent_bytes, len_bytes };
        self.sent_bytes += len_bytes;
        if len_bytes == left {
            self.bulk.pop_front();
            self.sent_bytes = 0;
        }
        Some(packet)
    }

    /// `None` if the queue is gone or the entry is lost.
    fn take_entry(&mut self, first: PendingEntry, combines: bool) -> Option<PostedPacket> {
        let queue = self.queues.get_mut(usize::from(first.queue))?.as_mut()?;
        if first.fault == Some(CompletionFault::Missing) {
            queue.skipped = (queue.skipped + 1) % queue.entries;
            return None;
        }
        if first.fault == Some(CompletionFault::Doubled) {
            queue.skipped = (queue.skipped + queue.entries - 1) % queue.entries;
            self.due.push_front(PendingEntry { fault: None, ..first });
        }
        let ahead = u32::from(first.fault == Some(CompletionFault::WrongIndex));
        let address = queue.address(queue.tail + ahead);
        let mut bytes = placed(queue, &first).to_vec();
        while combines
            && ahead == 0
            && queue.tail > 0
            && !(address + bytes.len() as u64).is_multiple_of(COMBINED_BYTES)
            && let Some(next) = self.due.front()
            && next.queue == first.queue
            && next.fault.is_none()
        {
            bytes.extend_from_slice(&placed(queue, next));
            self.due.pop_front();
        }
        Some(PostedPacket { address, len_bytes: bytes.len(), data: bytes.into(), offset: 0 })
    }

    /// Controller reset or link down: nothing is sent any more.
    pub(super) fn clear(&mut self) {
        *self = PostedWrites::default();
    }
}

/// The entry at the tail of its queue, which advances.
fn placed(queue: &mut HostQueue, pending: &PendingEntry) -> [u8; CompletionEntry::SIZE] {
    let mut entry = pending.entry;
    let is_inverted = pending.fault == Some(CompletionFault::WrongPhase);
    entry.set_phase(queue.phase ^ is_inverted);
    if let Some(CompletionFault::WrongCid(mask)) = pending.fault {
        entry.set_cid(entry.cid() ^ mask);
    }
    queue.advance();
    let mut bytes = *entry.as_bytes();
    if let Some(CompletionFault::Status(status)) = pending.fault {
        let field = status << 1 | u16::from(bytes[14] & 1);
        bytes[14..].copy_from_slice(&field.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
#[path = "../../tests/unit/pcie_drive/posted.rs"]
mod tests;
