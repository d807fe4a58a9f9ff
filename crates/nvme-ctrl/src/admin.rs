//! Admin commands (Base 5).

use assay_nvme_spec::admin::Abort;
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_units::{Nanos, limited_event};

use crate::controller::Controller;
use crate::memory::HostMemory;
use crate::slots::{CommandSlot, SlotState};
use crate::transfer::DataPointer;

pub(crate) mod background;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod fdp;
pub(crate) mod feature;
pub(crate) mod host_memory;
mod identify;
pub(crate) mod log;
mod queue;

pub(crate) use background::Background;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdminOutcome {
    /// Completes after the firmware's time, with this dword 0.
    Done(u32),
    /// Completes not before this time in nanoseconds.
    DoneAt(u64),
    /// Asynchronous Event Request.
    Outstanding,
}

pub(crate) type AdminResult = Result<AdminOutcome, StatusCode>;

/// `memory` is accessed dynamically, because admin commands are rare.
pub(crate) struct AdminCommand<'a> {
    pub(crate) now_ns: u64,
    pub(crate) entry: SubmissionEntry,
    pub(crate) memory: &'a mut dyn HostMemory,
}

impl AdminCommand<'_> {
    fn view<T: From<SubmissionEntry>>(&self) -> T {
        self.entry.into()
    }

    fn receive(&self, bytes: &mut [u8], page_bytes: u64) -> Result<(), StatusCode> {
        DataPointer::new(&self.entry).gather(self.memory, bytes, page_bytes)
    }

    /// Transfers the first `len` bytes of a structure to the host; beyond its end zeroes.
    fn reply(&mut self, bytes: &[u8], len: usize, page_bytes: u64) -> Result<(), StatusCode> {
        let mut padded = Vec::new();
        let part = bytes.get(..len).unwrap_or_else(|| {
            padded.extend_from_slice(bytes);
            padded.resize(len, 0);
            &padded
        });
        DataPointer::new(&self.entry).scatter(self.memory, part, page_bytes)
    }
}

/// As in Commands Supported and Effects (Base 5.16.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandEffects {
    NoChange,
    Content,
    /// Changes logical block content and namespace capabilities; alone in its namespace.
    FormatNamespace,
    /// Changes logical block content; alone in the subsystem.
    EraseSubsystem,
}

type AdminHandler = fn(&mut Controller, &mut AdminCommand<'_>) -> AdminResult;

const fn no_change(
    opcode: AdminOpcode,
    execute: AdminHandler,
) -> (AdminOpcode, CommandEffects, AdminHandler) {
    (opcode, CommandEffects::NoChange, execute)
}

/// Commands of queues are those of PCIe, Keep Alive that of fabrics.
const ADMIN_COMMANDS: [(AdminOpcode, CommandEffects, AdminHandler); 14] = {
    use AdminOpcode as Op;
    use CommandEffects::{EraseSubsystem, FormatNamespace};
    [
        no_change(Op::CREATE_COMPLETION_QUEUE, Controller::create_cq),
        no_change(Op::CREATE_SUBMISSION_QUEUE, Controller::create_sq),
        no_change(Op::DELETE_COMPLETION_QUEUE, Controller::delete_cq),
        no_change(Op::DELETE_SUBMISSION_QUEUE, Controller::delete_sq),
        no_change(Op::IDENTIFY, Controller::identify),
        no_change(Op::GET_LOG_PAGE, Controller::get_log_page),
        no_change(Op::GET_FEATURES, Controller::get_features),
        no_change(Op::SET_FEATURES, Controller::set_features),
        no_change(Op::ASYNC_EVENT_REQUEST, Controller::request_event),
        no_change(Op::ABORT, Controller::abort),
        no_change(Op::DEVICE_SELF_TEST, Controller::self_test),
        no_change(Op::KEEP_ALIVE, |_, _| Ok(AdminOutcome::Done(0))),
        (Op::FORMAT_NVM, FormatNamespace, Controller::format),
        (Op::SANITIZE, EraseSubsystem, Controller::sanitize),
    ]
};

impl Controller {
    pub(crate) fn admin_commands(
        &self,
    ) -> impl Iterator<Item = (AdminOpcode, CommandEffects, AdminHandler)> {
        use AdminOpcode as Op;
        let is_remote = self.options.fabrics.is_some();
        let commands = ADMIN_COMMANDS.into_iter();
        commands.filter(move |&(opcode, ..)| match opcode {
            Op::KEEP_ALIVE => is_remote,
            Op::CREATE_COMPLETION_QUEUE
            | Op::CREATE_SUBMISSION_QUEUE
            | Op::DELETE_COMPLETION_QUEUE
            | Op::DELETE_SUBMISSION_QUEUE => !is_remote,
            _ => true,
        })
    }

    /// State changes at once; the completion follows after the firmware's time.
    pub(crate) fn start_admin<M: HostMemory>(
        &mut self,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) {
        let entry = *entry;
        let mut command = AdminCommand { now_ns, entry, memory };
        let mut slot = CommandSlot::new(SlotState::Scheduled, 0, &entry);
        let mut at_ns = now_ns + self.command_ns;
        match self.execute_admin(&mut command) {
            Ok(AdminOutcome::Outstanding) => return,
            Ok(AdminOutcome::Done(dw0)) => slot.dw0 = dw0,
            Ok(AdminOutcome::DoneAt(ns)) => at_ns = at_ns.max(ns),
            Err(status) => {
                slot.status = status;
                let (opcode, nsid) = (entry.opcode(), entry.nsid());
                let (now, status) = (Nanos(now_ns), status.0);
                limited_event!(now, INFO, opcode, nsid, status, "admin command of the host failed");
            }
        }
        self.schedule_slot(slot, now_ns, at_ns);
    }

    fn execute_admin(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        // Over PCIe, admin commands use PRPs only (Base 4.1.2), over fabrics SGLs (Base 4.1.2.3).
        let psdt = u8::from(self.options.fabrics.is_some());
        StatusCode::INVALID_FIELD
            .fail_if(command.entry.fused() != 0 || command.entry.psdt() != psdt)?;
        let opcode = AdminOpcode(command.entry.opcode());
        self.check_sanitize(command.now_ns, opcode)?;
        let mut commands = self.admin_commands();
        let supported = commands.find(|(supported, ..)| *supported == opcode);
        drop(commands);
        let (.., execute) = supported.ok_or(StatusCode::INVALID_OPCODE)?;
        execute(self, command)
    }

    /// Abort (Base 5.1) of an Asynchronous Event Request only.
    fn abort(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        const NOT_ABORTED: u32 = 1;
        let abort: Abort = command.view();
        if abort.sqid() != 0 || !self.events.withdraw(abort.aborted_cid()) {
            return Ok(AdminOutcome::Done(NOT_ABORTED));
        }
        let slot = events::request_slot(abort.aborted_cid());
        self.complete(&slot, StatusCode::ABORT_REQUESTED, 0, self.now_ns, command.memory);
        Ok(AdminOutcome::Done(0))
    }
}
