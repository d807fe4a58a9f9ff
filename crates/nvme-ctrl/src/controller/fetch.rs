//! Commands out of submission queues.

use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::wire::Wire;

use super::{Controller, MAX_IN_FLIGHT};
use crate::memory::HostMemory;

/// So many entries are read from host memory at once.
const BATCH: usize = 8;

impl Controller {
    /// Could [`Controller::fetch`] fetch anything that was there by then?
    #[inline]
    pub(super) fn can_fetch(&self, until_ns: u64) -> bool {
        if self.rung.is_empty() || !self.is_working() || self.slots.used() >= MAX_IN_FLIGHT {
            return false;
        }
        self.rung.iter().any(|&qid| {
            let queue = self.sqs.get(usize::from(qid)).and_then(Option::as_ref);
            queue.is_some_and(|queue| {
                queue.has_entries()
                    && queue.rung_ns <= until_ns
                    && queue.outstanding < queue.limit()
            })
        })
    }

    /// Fetch and begin every command that is there by then, queue by queue: which of them a core takes first is for the drive's
    /// front end to say (round robin, [`assay_ssd::frontend`]).
    #[inline]
    pub(super) fn fetch<M: HostMemory>(&mut self, until_ns: u64, memory: &mut M) {
        if self.rung.is_empty() || !self.is_working() {
            return;
        }
        let mut at = 0;
        while let Some(&qid) = self.rung.get(at) {
            let empty = self.fetch_from(qid, until_ns, memory);
            // The list may have changed: a command can remove queues, and memory that is not there ends everything.
            match self.rung.get(at) {
                Some(&same) if same == qid && empty => {
                    self.rung.swap_remove(at);
                    if let Some(Some(queue)) = self.sqs.get_mut(usize::from(qid)) {
                        queue.listed = false;
                    }
                }
                Some(&same) if same == qid => at += 1,
                _ => {}
            }
        }
    }

    /// Returns whether the queue is empty now.
    #[inline]
    fn fetch_from<M: HostMemory>(&mut self, qid: u16, until_ns: u64, memory: &mut M) -> bool {
        loop {
            let room = MAX_IN_FLIGHT.saturating_sub(self.slots.used());
            let Some(Some(queue)) = self.sqs.get_mut(usize::from(qid)) else {
                return true;
            };
            if !queue.has_entries() {
                return true;
            }
            let now_ns = queue.rung_ns;
            if now_ns > until_ns {
                return false;
            }
            let allowed = queue.limit().saturating_sub(queue.outstanding);
            let mut count = (queue.run().min(allowed) as usize).min(room).min(BATCH);
            if qid == 0 {
                // An admin command may change what becomes of the next.
                count = count.min(1);
            }
            if count == 0 {
                return false;
            }
            let at = queue.head_address();
            queue.consume(count as u32);
            queue.outstanding += count as u32;
            // Zeroing what a whole batch takes costs a single command dear.
            let there = match count {
                1 => self.begin::<{ SubmissionEntry::SIZE }, M>(qid, at, 1, now_ns, memory),
                _ => self
                    .begin::<{ BATCH * SubmissionEntry::SIZE }, M>(qid, at, count, now_ns, memory),
            };
            if !there {
                self.fail();
            }
            if !self.is_working() {
                return false;
            }
        }
    }

    /// Read `count` entries from `at` on and begin their commands; `false` when host memory does not have them.
    #[inline(always)]
    fn begin<const BYTES: usize, M: HostMemory>(
        &mut self,
        qid: u16,
        at: u64,
        count: usize,
        now_ns: u64,
        memory: &mut M,
    ) -> bool {
        let mut raw = [0; BYTES];
        let raw = &mut raw[..count * SubmissionEntry::SIZE];
        if memory.read(at, raw).is_err() {
            return false;
        }
        for bytes in raw.chunks_exact(SubmissionEntry::SIZE) {
            let entry = SubmissionEntry::load(bytes);
            if qid == 0 {
                self.begin_admin(now_ns, &entry, memory);
            } else {
                self.begin_io(qid, now_ns, &entry, memory);
            }
        }
        true
    }
}
