//! Admin commands (Base 5).

use assay_nvme_spec::admin::Abort;
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

use crate::controller::Controller;
use crate::memory::HostMemory;
use crate::slots::{CommandSlot, SlotState};
use crate::transfer::DataPointer;

pub(crate) mod background;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod feature;
mod identify;
pub(crate) mod log;
mod queue;

pub(crate) use background::Background;

/// How a successful admin command completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdminOutcome {
    /// After the firmware's time, with this dword 0.
    Done(u32),
    /// Not before this time in nanoseconds.
    DoneAt(u64),
    /// It stays outstanding (Asynchronous Event Request).
    Outstanding,
}

/// Result of an admin command.
pub(crate) type AdminResult = Result<AdminOutcome, StatusCode>;

/// An admin command with the time at which it was fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdminCommand {
    pub(crate) now_ns: u64,
    pub(crate) entry: SubmissionEntry,
}

impl AdminCommand {
    /// The view of the command.
    fn view<T: From<SubmissionEntry>>(&self) -> T {
        self.entry.into()
    }

    fn pointer(&self) -> DataPointer {
        DataPointer::of(&self.entry)
    }
}

/// Effects of a command as in Commands Supported and Effects (Base 5.16.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandEffects {
    /// No effect on logical blocks.
    NoChange,
    /// Changes logical block content.
    Content,
    /// Changes logical block content; alone in its namespace; changes capabilities of the namespace.
    FormatNamespace,
    /// Changes logical block content; alone in the subsystem.
    EraseSubsystem,
}

type AdminHandler<M> = fn(&mut Controller, &AdminCommand, &mut M) -> AdminResult;

/// The supported admin commands.
fn admin_commands<M: HostMemory>() -> [(AdminOpcode, CommandEffects, AdminHandler<M>); 13] {
    use AdminOpcode as Op;
    use CommandEffects::{EraseSubsystem, FormatNamespace, NoChange};
    [
        (
            Op::CREATE_COMPLETION_QUEUE,
            NoChange,
            Controller::create_completion_queue,
        ),
        (
            Op::CREATE_SUBMISSION_QUEUE,
            NoChange,
            Controller::create_submission_queue,
        ),
        (
            Op::DELETE_COMPLETION_QUEUE,
            NoChange,
            Controller::delete_completion_queue,
        ),
        (
            Op::DELETE_SUBMISSION_QUEUE,
            NoChange,
            Controller::delete_submission_queue,
        ),
        (Op::IDENTIFY, NoChange, Controller::identify),
        (Op::GET_LOG_PAGE, NoChange, Controller::get_log_page),
        (Op::GET_FEATURES, NoChange, Controller::get_features),
        (Op::SET_FEATURES, NoChange, Controller::set_features),
        (Op::ASYNC_EVENT_REQUEST, NoChange, Controller::request_event),
        (Op::ABORT, NoChange, Controller::abort),
        (Op::DEVICE_SELF_TEST, NoChange, Controller::self_test),
        (Op::FORMAT_NVM, FormatNamespace, Controller::format),
        (Op::SANITIZE, EraseSubsystem, Controller::sanitize),
    ]
}

impl Controller {
    /// Executes an admin command. State changes at once; the completion follows after the firmware's time.
    pub(crate) fn start_admin<M: HostMemory>(
        &mut self,
        now_ns: u64,
        entry: &SubmissionEntry,
        memory: &mut M,
    ) {
        let command = AdminCommand {
            now_ns,
            entry: *entry,
        };
        let mut slot = CommandSlot::new(SlotState::Scheduled, 0, entry);
        let mut at_ns = now_ns + self.command_ns;
        match self.execute_admin(&command, memory) {
            Ok(AdminOutcome::Outstanding) => return,
            Ok(AdminOutcome::Done(dw0)) => slot.dw0 = dw0,
            Ok(AdminOutcome::DoneAt(ns)) => at_ns = at_ns.max(ns),
            Err(status) => slot.status = status,
        }
        self.schedule_slot(slot, now_ns, at_ns);
    }

    fn execute_admin<M: HostMemory>(
        &mut self,
        command: &AdminCommand,
        memory: &mut M,
    ) -> AdminResult {
        // Over PCIe, admin commands use PRPs only (Base 4.1.2).
        if command.entry.fused() != 0 || command.entry.psdt() != 0 {
            return Err(StatusCode::INVALID_FIELD);
        }
        let opcode = AdminOpcode(command.entry.opcode());
        self.check_sanitize(command.now_ns, opcode)?;
        let mut commands = admin_commands::<M>().into_iter();
        let (.., execute) = commands
            .find(|(supported, ..)| *supported == opcode)
            .ok_or(StatusCode::INVALID_OPCODE)?;
        execute(self, command, memory)
    }

    /// Abort (Base 5.1) of an Asynchronous Event Request. Commands in the drive cannot be aborted: bit 0 of dword 0 is then set.
    fn abort<M: HostMemory>(&mut self, command: &AdminCommand, memory: &mut M) -> AdminResult {
        const NOT_ABORTED: u32 = 1;
        let abort: Abort = command.view();
        if abort.sqid() != 0 || !self.events.withdraw(abort.aborted_cid()) {
            return Ok(AdminOutcome::Done(NOT_ABORTED));
        }
        let slot = events::request_slot(abort.aborted_cid());
        let now_ns = self.now_ns;
        self.complete(&slot, StatusCode::ABORT_REQUESTED, 0, now_ns, memory);
        Ok(AdminOutcome::Done(0))
    }

    /// Transfers the first `len` bytes of a structure to the host; beyond its end zeroes.
    pub(crate) fn transfer_to_host<M: HostMemory>(
        &self,
        bytes: &[u8],
        len: usize,
        pointer: DataPointer,
        memory: &mut M,
    ) -> AdminResult {
        if bytes.len() >= len {
            pointer.scatter(memory, &bytes[..len], self.page_bytes)?;
        } else {
            let mut padded = bytes.to_vec();
            padded.resize(len, 0);
            pointer.scatter(memory, &padded, self.page_bytes)?;
        }
        Ok(AdminOutcome::Done(0))
    }
}
