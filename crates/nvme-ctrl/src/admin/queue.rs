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
        StatusCode::INVALID_QUEUE_ID.fail_if(qid == 0 || qid > self.queue_pairs)?;
        Ok(usize::from(qid))
    }

    fn queue_entries(&self, less_one: u16, contiguous: bool, base: u64) -> Result<u32, StatusCode> {
        let entries = u32::from(less_one) + 1;
        let is_valid = (2..=self.max_queue_entries()).contains(&entries) && self.has_entry_sizes();
        StatusCode::INVALID_QUEUE_SIZE.fail_if(!is_valid)?;
        // CAP.CQR is set.
        StatusCode::INVALID_FIELD.fail_if(!contiguous)?;
        StatusCode::INVALID_PRP_OFFSET.fail_if(base & (self.page_bytes - 1) != 0)?;
        Ok(entries)
    }

    pub(super) fn create_cq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (base, command): (u64, CreateCompletionQueue) = (command.entry.prp1(), command.view());
        let index = self.io_queue_index(command.qid())?;
        StatusCode::INVALID_QUEUE_ID.fail_if(self.cqs[index].is_some())?;
        let entries = self.queue_entries(command.size(), command.contiguous(), base)?;
        let is_invalid = command.interrupts() && command.vector() >= self.vectors();
        StatusCode::INVALID_INTERRUPT_VECTOR.fail_if(is_invalid)?;
        let queue = CompletionQueue::new(base, entries, command.vector(), command.interrupts());
        self.cqs[index] = Some(queue);
        Ok(AdminOutcome::Done(0))
    }

    pub(super) fn create_sq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (base, command): (u64, CreateSubmissionQueue) = (command.entry.prp1(), command.view());
        let index = self.io_queue_index(command.qid())?;
        StatusCode::INVALID_QUEUE_ID.fail_if(self.sqs[index].is_some())?;
        let cq_index = self.io_queue_index(command.cqid())?;
        StatusCode::COMPLETION_QUEUE_INVALID.fail_if(self.cqs[cq_index].is_none())?;
        let entries = self.queue_entries(command.size(), command.contiguous(), base)?;
        self.sqs[index] = Some(SubmissionQueue::new(base, entries, command.cqid()));
        Ok(AdminOutcome::Done(0))
    }

    /// Outstanding commands of the queue complete implicitly, without completion entries.
    pub(super) fn delete_sq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let command: DeleteSubmissionQueue = command.view();
        self.io_queue_index(command.qid())?;
        StatusCode::INVALID_QUEUE_ID.fail_if(!self.remove_sq(command.qid()))?;
        Ok(AdminOutcome::Done(0))
    }

    pub(super) fn delete_cq(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let command: DeleteCompletionQueue = command.view();
        let qid = command.qid();
        let index = self.io_queue_index(qid)?;
        StatusCode::INVALID_QUEUE_ID.fail_if(self.cqs[index].is_none())?;
        let is_used = self.sqs.iter().flatten().any(|queue| queue.cqid == qid);
        StatusCode::INVALID_QUEUE_DELETION.fail_if(is_used)?;
        self.cqs[index] = None;
        self.count_backlog();
        Ok(AdminOutcome::Done(0))
    }

    pub(crate) fn has_io_queues(&self) -> bool {
        let sqs = self.sqs.iter().skip(1).any(Option::is_some);
        sqs || self.cqs.iter().skip(1).any(Option::is_some)
    }
}
