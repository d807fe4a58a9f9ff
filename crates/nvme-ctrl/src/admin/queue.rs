//! Creating and deleting I/O queues (Base 5.4 to 5.7).

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{CreateCompletionQueue, CreateSubmissionQueue};

use super::{Answer, Outcome};
use crate::controller::Controller;
use crate::queues::{CompletionQueue, SubmissionQueue};

impl Controller {
    /// Is the queue identifier one that an I/O queue can have?
    fn check_qid(&self, qid: u16) -> Result<(), StatusCode> {
        if qid == 0 || qid > self.queue_pairs {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        Ok(())
    }

    fn check_queue(&self, less_one: u16, contiguous: bool, base: u64) -> Result<u32, StatusCode> {
        let entries = u32::from(less_one) + 1;
        if entries < 2 || entries > self.max_queue_entries() || !self.has_entry_sizes() {
            return Err(StatusCode::INVALID_QUEUE_SIZE);
        }
        if !contiguous {
            // CAP.CQR requires it.
            return Err(StatusCode::INVALID_FIELD);
        }
        if base & (self.page_bytes - 1) != 0 {
            return Err(StatusCode::INVALID_PRP_OFFSET);
        }
        Ok(entries)
    }

    pub(super) fn create_completion_queue(
        &mut self,
        command: CreateCompletionQueue,
        base: u64,
    ) -> Answer {
        let qid = command.qid();
        self.check_qid(qid)?;
        if self.cqs[usize::from(qid)].is_some() {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        let entries = self.check_queue(command.size(), command.contiguous(), base)?;
        if command.interrupts() && command.vector() >= self.vectors() {
            return Err(StatusCode::INVALID_INTERRUPT_VECTOR);
        }
        let queue = CompletionQueue::new(base, entries, command.vector(), command.interrupts());
        self.cqs[usize::from(qid)] = Some(queue);
        Ok(Outcome::Done(0))
    }

    pub(super) fn create_submission_queue(
        &mut self,
        command: CreateSubmissionQueue,
        base: u64,
    ) -> Answer {
        let (qid, cqid) = (command.qid(), command.cqid());
        self.check_qid(qid)?;
        if self.sqs[usize::from(qid)].is_some() {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        if cqid == 0 || cqid > self.queue_pairs {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        if self.cqs[usize::from(cqid)].is_none() {
            return Err(StatusCode::COMPLETION_QUEUE_INVALID);
        }
        let entries = self.check_queue(command.size(), command.contiguous(), base)?;
        self.sqs[usize::from(qid)] = Some(SubmissionQueue::new(base, entries, cqid));
        Ok(Outcome::Done(0))
    }

    /// What the queue has outstanding is completed implicitly: nobody hears of it.
    pub(super) fn delete_submission_queue(&mut self, qid: u16) -> Answer {
        self.check_qid(qid)?;
        if !self.remove_sq(qid) {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        Ok(Outcome::Done(0))
    }

    pub(super) fn delete_completion_queue(&mut self, qid: u16) -> Answer {
        self.check_qid(qid)?;
        if self.cqs[usize::from(qid)].is_none() {
            return Err(StatusCode::INVALID_QUEUE_ID);
        }
        if self.sqs.iter().flatten().any(|queue| queue.cqid == qid) {
            return Err(StatusCode::INVALID_QUEUE_DELETION);
        }
        self.cqs[usize::from(qid)] = None;
        self.count_parked();
        Ok(Outcome::Done(0))
    }

    /// Is there any I/O queue?
    pub(crate) fn has_io_queues(&self) -> bool {
        let sqs = self.sqs.iter().skip(1).any(Option::is_some);
        sqs || self.cqs.iter().skip(1).any(Option::is_some)
    }
}
