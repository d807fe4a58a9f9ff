//! What a transport of NVMe over Fabrics does to the controller beside register accesses: the
//! association with a host, and queues that are connections (Base 2.0c, sections 3.3.2 and 6.3).

use assay_nvme_spec::StatusCode;
use assay_units::Nanos;

use super::Controller;
use crate::memory::HostMemory;
use crate::queues::{CompletionQueue, SubmissionQueue};

/// Granularity of the Keep Alive Timer in units of 100 ms (KAS).
pub(crate) const KEEP_ALIVE_100MS: u16 = 10;

/// The host that is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Association {
    pub controller_id: u16,
    pub host_id: [u8; 16],
    /// Keep Alive Timeout, 0 for none; the host can change it.
    pub keep_alive_ms: u32,
}

impl Controller {
    /// Connect on the admin queue.
    pub fn associate(&mut self, association: Association) {
        self.association = association;
    }

    pub fn association(&self) -> &Association {
        &self.association
    }

    /// Connect on an I/O queue: a pair of rings of `entries` entries each, which raises no
    /// interrupts. Fails like the commands that create queues over PCIe.
    pub fn attach_queue(
        &mut self,
        qid: u16,
        sq_base: u64,
        cq_base: u64,
        entries: u32,
    ) -> Result<(), StatusCode> {
        StatusCode::COMMAND_SEQUENCE_ERROR.fail_if(!self.is_operational())?;
        StatusCode::INVALID_QUEUE_SIZE.fail_if(!self.has_entry_sizes())?;
        let index = usize::from(qid);
        let is_free = qid > 0 && self.sqs.get(index).is_some_and(Option::is_none);
        StatusCode::INVALID_QUEUE_ID.fail_if(!is_free)?;
        self.cqs[index] = Some(CompletionQueue::new(cq_base, entries, 0, false));
        self.sqs[index] = Some(SubmissionQueue::new(sq_base, entries, qid));
        Ok(())
    }

    /// The connection of an I/O queue ended: its commands complete implicitly.
    pub fn detach_queue(&mut self, qid: u16) {
        if qid > 0 && usize::from(qid) < self.sqs.len() && self.remove_sq(qid) {
            self.cqs[usize::from(qid)] = None;
            self.count_backlog();
        }
    }

    /// Commands are fetched: the controller is ready, without a fatal error or shutdown.
    pub fn accepts_commands(&self) -> bool {
        self.is_operational()
    }

    /// Completes a command that the drive may never complete, with a status; what the drive does
    /// with it later has no effect on the host. `false` if there is no such command.
    pub fn abandon<M: HostMemory>(
        &mut self,
        now: Nanos,
        qid: u16,
        cid: u16,
        status: StatusCode,
        memory: &mut M,
    ) -> bool {
        let Some(slot) = self.slots.abandon(qid, cid) else {
            return false;
        };
        self.complete(&slot, status, 0, now.0.max(self.now_ns), memory);
        true
    }
}
