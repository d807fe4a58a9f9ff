//! Admin commands (Base 5).

use assay_nvme_spec::admin::{Abort, DeleteCompletionQueue, DeleteSubmissionQueue};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

use crate::controller::Controller;
use crate::memory::HostMemory;
use crate::slots::{Kind, Slot};
use crate::transfer::DataPointer;

pub(crate) mod background;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod feature;
mod identify;
pub(crate) mod log;
mod queue;

pub(crate) use background::Background;

/// How an admin command goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done, with this dword 0.
    Done(u32),
    /// It is done at this time in nanoseconds.
    DoneAt(u64),
    /// It stays until something happens.
    Waits,
}

/// An admin command's result: how it goes on, or its failure.
pub(crate) type Answer = Result<Outcome, StatusCode>;

impl Controller {
    /// Begin an admin command. What it does, it does now; its completion comes when the firmware would have done it.
    pub(crate) fn begin_admin<M: HostMemory>(
        &mut self,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) {
        let (cid, opcode) = (entry.cid(), entry.opcode());
        let answer = self.admin(now_ns, entry, memory);
        let mut slot = Slot::new(Kind::Done, 0, cid, opcode);
        slot.nsid = entry.nsid();
        let mut at_ns = now_ns + self.command_ns;
        match answer {
            Ok(Outcome::Waits) => return,
            Ok(Outcome::Done(dw0)) => slot.dw0 = dw0,
            Ok(Outcome::DoneAt(ns)) => at_ns = at_ns.max(ns),
            Err(status) => slot.status = status,
        }
        self.defer_slot(slot, now_ns, at_ns);
    }

    fn admin<M: HostMemory>(
        &mut self,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) -> Answer {
        // Over PCIe, admin commands use PRPs alone (Base 4.1.2).
        if entry.fused() != 0 || entry.psdt() != 0 {
            return Err(StatusCode::INVALID_FIELD);
        }
        let opcode = AdminOpcode(entry.opcode());
        self.check_sanitize(now_ns, opcode)?;
        match opcode {
            AdminOpcode::CREATE_COMPLETION_QUEUE => {
                self.create_completion_queue((*entry).into(), entry.prp1())
            }
            AdminOpcode::CREATE_SUBMISSION_QUEUE => {
                self.create_submission_queue((*entry).into(), entry.prp1())
            }
            AdminOpcode::DELETE_COMPLETION_QUEUE => {
                self.delete_completion_queue(DeleteCompletionQueue::from(*entry).qid())
            }
            AdminOpcode::DELETE_SUBMISSION_QUEUE => {
                self.delete_submission_queue(DeleteSubmissionQueue::from(*entry).qid())
            }
            AdminOpcode::IDENTIFY => self.identify((*entry).into(), DataPointer::of(entry), memory),
            AdminOpcode::GET_LOG_PAGE => {
                self.get_log_page(now_ns, (*entry).into(), DataPointer::of(entry), memory)
            }
            AdminOpcode::GET_FEATURES => {
                self.get_features((*entry).into(), DataPointer::of(entry), memory)
            }
            AdminOpcode::SET_FEATURES => {
                self.set_features(now_ns, (*entry).into(), DataPointer::of(entry), memory)
            }
            AdminOpcode::ASYNC_EVENT_REQUEST => self.events.request(entry.cid()),
            AdminOpcode::ABORT => Ok(self.abort((*entry).into(), memory)),
            AdminOpcode::DEVICE_SELF_TEST => self.self_test(now_ns, (*entry).into()),
            AdminOpcode::FORMAT_NVM => self.format(now_ns, (*entry).into()),
            AdminOpcode::SANITIZE => self.sanitize(now_ns, (*entry).into()),
            _ => Err(StatusCode::INVALID_OPCODE),
        }
    }

    /// Abort (Base 5.1): a request for events ends; what the drive has begun cannot be taken back, which bit 0 of dword 0 says.
    fn abort<M: HostMemory>(&mut self, abort: Abort, memory: &mut M) -> Outcome {
        const NOT_ABORTED: u32 = 1;
        if abort.sqid() == 0 && self.events.withdraw(abort.aborted_cid()) {
            let slot = Slot::new(
                Kind::Done,
                0,
                abort.aborted_cid(),
                AdminOpcode::ASYNC_EVENT_REQUEST.0,
            );
            let now_ns = self.now_ns;
            self.complete(&slot, StatusCode::ABORT_REQUESTED, 0, now_ns, memory);
            return Outcome::Done(0);
        }
        Outcome::Done(NOT_ABORTED)
    }

    /// A structure, or a part of one, to the host; what is beyond its end reads as zeroes.
    pub(crate) fn answer_with<M: HostMemory>(
        &self,
        bytes: &[u8],
        len: usize,
        pointer: DataPointer,
        memory: &mut M,
    ) -> Answer {
        if bytes.len() >= len {
            pointer.scatter(memory, &bytes[..len], self.page_bytes)?;
        } else {
            let mut padded = bytes.to_vec();
            padded.resize(len, 0);
            pointer.scatter(memory, &padded, self.page_bytes)?;
        }
        Ok(Outcome::Done(0))
    }
}
