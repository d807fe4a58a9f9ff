//! I/O queue creation and deletion (Base 5.4 to 5.7).

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{
    CreateCompletionQueue, CreateSubmissionQueue, DeleteCompletionQueue, DeleteSubmissionQueue,
};

use super::{AdminCommand, AdminOutcome, AdminResult};
use crate::controller::Controller;
use crate::queues::{CompletionQueue, SubmissionQueue};

impl Controller {
    fn io_queue_index(&self, qid: u16) -> Result<usize, StatusCode> {
        if qid == 0 || qid > self.queue_pairs {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        Ok(usize::from(qid))
    }

    /// Number of entries of a queue with valid attributes.
    fn queue_entries(&self, less_one: u16, contiguous: bool, base: u64) -> Result<u32, StatusCode> {
        let entries = u32::from(less_one) + 1;
        if entries < 2 || entries > self.max_queue_entries() || !self.has_entry_sizes() {
            return Err(StatusCode::INVALID_QUEUE_SIZE);
        }
        if !contiguous {
            // CAP.CQR is set.
            return Err(StatusCode::INVALID_FIELD);
        }
        if base & (self.page_bytes - 1) != 0 {
            return Err(StatusCode::INVALID_PRP_OFFSET);
        }
        Ok(entries)
    }

    pub(super) fn create_cq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (base, command): (u64, CreateCompletionQueue) = (command.entry.prp1(), command.view());
        let index = self.io_queue_index(command.qid())?;
        if self.cqs[index].is_some() {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        let entries = self.queue_entries(command.size(), command.contiguous(), base)?;
        if command.interrupts() && command.vector() >= self.vectors() {
            return Err(StatusCode::INVALID_INTERRUPT_VECTOR);
        }
        let queue = CompletionQueue::new(base, entries, command.vector(), command.interrupts());
        self.cqs[index] = Some(queue);
        Ok(AdminOutcome::Done(0))
    }

    pub(super) fn create_sq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (base, command): (u64, CreateSubmissionQueue) = (command.entry.prp1(), command.view());
        let index = self.io_queue_index(command.qid())?;
        if self.sqs[index].is_some() {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        let cq_index = self.io_queue_index(command.cqid())?;
        if self.cqs[cq_index].is_none() {
            return Err(StatusCode::COMPLETION_QUEUE_INVALID);
        }
        let entries = self.queue_entries(command.size(), command.contiguous(), base)?;
        self.sqs[index] = Some(SubmissionQueue::new(base, entries, command.cqid()));
        Ok(AdminOutcome::Done(0))
    }

    /// Outstanding commands of the queue complete implicitly, without completion entries.
    pub(super) fn delete_sq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let command: DeleteSubmissionQueue = command.view();
        self.io_queue_index(command.qid())?;
        if !self.remove_sq(command.qid()) {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        Ok(AdminOutcome::Done(0))
    }

    pub(super) fn delete_cq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let command: DeleteCompletionQueue = command.view();
        let qid = command.qid();
        let index = self.io_queue_index(qid)?;
        if self.cqs[index].is_none() {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        if self.sqs.iter().flatten().any(|queue| queue.cqid == qid) {
            return Err(StatusCode::INVALID_QUEUE_DELETION);
        }
        self.cqs[index] = None;
        self.count_backlog();
        Ok(AdminOutcome::Done(0))
    }

    pub(crate) fn has_io_queues(&self) -> bool {
        let sqs = self.sqs.iter().skip(1).any(Option::is_some);
        sqs || self.cqs.iter().skip(1).any(Option::is_some)
    }
}
