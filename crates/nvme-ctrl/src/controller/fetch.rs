//! Fetching of submission queue entries.

use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::wire::Wire;

use super::{Controller, MAX_IN_FLIGHT};
use crate::memory::HostMemory;

const BATCH: usize = 8;
const ENTRY_BYTES: usize = SubmissionEntry::SIZE;
const BATCH_BYTES: usize = BATCH * ENTRY_BYTES;

impl Controller {
    #[inline]
    pub(super) fn can_fetch(&self, until_ns: u64) -> bool {
        if self.queues_with_entries.is_empty()
            || !self.is_operational()
            || self.slots.used() >= MAX_IN_FLIGHT
        {
            return false;
        }
        let mut queues = self.queues_with_entries.iter();
        queues.any(|&qid| match &self.sqs[usize::from(qid)] {
            Some(queue) if queue.outstanding < queue.limit() => {
                queue.has_entries() && queue.fetch_ns <= until_ns
            }
            _ => false,
        })
    }

    /// Fetches and starts all commands available, queue by queue; arbitration (round robin) is part
    /// of the drive model (crate `ssd`, module `frontend`).
    #[inline]
    pub(super) fn fetch<M: HostMemory>(&mut self, until_ns: u64, memory: &mut M) {
        if self.queues_with_entries.is_empty() || !self.is_operational() {
            return;
        }
        let mut at = 0;
        while let Some(&qid) = self.queues_with_entries.get(at) {
            let empty = self.fetch_from(qid, until_ns, memory);
            // A command may have changed the list: by deleting queues, or by a fatal error.
            if self.queues_with_entries.get(at) != Some(&qid) {
                continue;
            }
            if !empty {
                at += 1;
                continue;
            }
            self.queues_with_entries.swap_remove(at);
            if let Some(queue) = &mut self.sqs[usize::from(qid)] {
                queue.listed = false;
            }
        }
    }

    /// Returns whether the queue is empty now.
    #[inline]
    fn fetch_from<M: HostMemory>(&mut self, qid: u16, until_ns: u64, memory: &mut M) -> bool {
        loop {
            // Saturating: a shutdown takes a slot beyond the limit.
            let room = MAX_IN_FLIGHT.saturating_sub(self.slots.used());
            let Some(queue) = &mut self.sqs[usize::from(qid)] else {
                return true;
            };
            if !queue.has_entries() {
                return true;
            }
            let now_ns = queue.fetch_ns;
            if now_ns > until_ns {
                return false;
            }
            let allowed = queue.limit() - queue.outstanding;
            // An admin command may affect the next one.
            let batch = if qid == 0 { 1 } else { BATCH };
            let available = queue.contiguous_entries().min(allowed) as usize;
            let count = available.min(room).min(batch);
            if count == 0 {
                return false;
            }
            let address = queue.head_address();
            queue.consume(count as u32);
            queue.outstanding += count as u32;
            // Zeroing the buffer of a batch is a large part of the cost of a single command.
            let is_mapped = match count {
                1 => self.start_batch::<ENTRY_BYTES, M>(qid, address, 1, now_ns, memory),
                _ => self.start_batch::<BATCH_BYTES, M>(qid, address, count, now_ns, memory),
            };
            if !is_mapped {
                self.set_fatal();
            }
            if !self.is_operational() {
                return false;
            }
        }
    }

    /// `false` if the entries are not in mapped memory.
    #[inline(always)]
    fn start_batch<const BYTES: usize, M: HostMemory>(
        &mut self,
        qid: u16,
        address: u64,
        count: usize,
        now_ns: u64,
        memory: &mut M,
    ) -> bool {
        let mut raw = [0; BYTES];
        let raw = &mut raw[..count * ENTRY_BYTES];
        if memory.read(address, raw).is_err() {
            return false;
        }
        for bytes in raw.chunks_exact(ENTRY_BYTES) {
            let entry = SubmissionEntry::load(bytes);
            if qid == 0 {
                self.start_admin(now_ns, &entry, memory);
            } else {
                self.start_io(qid, now_ns, &entry, memory);
            }
        }
        true
    }
}
