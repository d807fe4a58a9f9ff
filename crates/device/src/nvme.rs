//! NVMe admin commands. [`AdminPort`] sends a command with its data; `device` implements it by the
//! kernel's `ioctl`, the session for simulated controllers. Everything else is written against the
//! trait. Non-goals: commands of fabrics, firmware, namespace management.

pub(crate) mod commands;
pub(crate) mod device;
pub mod display;
pub(crate) mod endurance;
pub mod health;
pub mod location;
pub(crate) mod metadata;
pub mod placement;
pub(crate) mod power;
pub mod probe;
pub mod purge;
pub(crate) mod registers;
pub mod saved;

#[cfg(test)]
#[path = "../tests/unit/nvme.rs"]
mod tests;

use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

pub trait AdminPort {
    /// Name for messages: `/dev/nvme0`.
    fn name(&self) -> &str;

    /// Sends one command and waits. `data` is sent or filled as bits 1:0 of the opcode say (Base
    /// 2.0c, 3.3.3.1). Returns dword 0 of the completion; an error status is an error.
    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        timeout_ms: u32,
    ) -> Result<u32, CommandError>;
}

#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(
        "{controller}: {command}: status {code:#x}: {name}",
        code = status.0, name = status.name().unwrap_or("unknown status code")
    )]
    Status { controller: String, command: String, status: StatusCode },
    #[error("{controller}: {command}: {source}{advice}")]
    System { controller: String, command: String, source: std::io::Error, advice: &'static str },
    #[error(
        "{controller}: this is not the controller of {drive} any more: its serial is {found:?}, \
         not {serial:?}; nothing was changed on it. Drives are renumbered when one is removed or \
         added: check `assay list` and run again"
    )]
    OtherDrive { controller: String, drive: String, serial: String, found: String },
    #[error(
        "{controller}: {command}: the returned data is malformed: {what}; `nvme {command}` shows \
         it raw"
    )]
    Nonsense { controller: String, command: String, what: String },
}

pub(crate) fn command_name(command: &SubmissionEntry) -> String {
    let opcode = AdminOpcode(command.opcode());
    match opcode.name() {
        Some(name) => name.to_owned(),
        None => format!("admin command {:#x}", opcode.0),
    }
}

impl CommandError {
    /// The controller rejected the command, as opposed to a system error.
    pub(crate) fn refused(&self) -> bool {
        matches!(self, CommandError::Status { .. })
    }
}
