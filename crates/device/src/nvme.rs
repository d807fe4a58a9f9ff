//! NVMe admin commands: identification, health, power states, erasure.
//!
//! # Architecture
//! [`AdminPort`] sends an admin command with its data. `device` implements it by the kernel's
//! `ioctl`, the session for simulated controllers. Written against the trait: `commands` (Identify,
//! log pages, features, Format, Sanitize), [`probe`] (all of it as one record), [`health`] (SMART
//! and telemetry), `endurance` (logs of media writes and wear), `power` (setting and restoring a
//! power state), [`purge`](mod@purge). [`location`] finds controller and namespace in sysfs;
//! `registers` reads the controller registers; [`display`] formats a probe.
//!
//! # Non-goals
//! No fabrics-specific commands, no firmware, no namespace management.

pub(crate) mod commands;
pub(crate) mod device;
pub mod display;
pub(crate) mod endurance;
pub mod health;
pub mod location;
pub(crate) mod power;
pub mod probe;
pub mod purge;
pub(crate) mod registers;

#[cfg(test)]
#[path = "../tests/unit/nvme.rs"]
mod tests;

use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

/// Sends admin commands to a controller.
pub trait AdminPort {
    /// The controller, for messages: `/dev/nvme0`.
    fn name(&self) -> &str;

    /// Sends one admin command and waits for it. `data` is sent or filled as bits 1:0 of the opcode
    /// say (Base 2.0c, 3.3.3.1). Returns dword 0 of the completion.
    ///
    /// # Errors
    /// When it cannot be sent, or completes with an error status.
    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        timeout_ms: u32,
    ) -> Result<u32, CommandError>;
}

/// A failed admin command.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Completed with an error status.
    #[error("{controller}: {command}: status {code:#x}: {name}", code = status.0, name = status.name().unwrap_or("unknown status code"))]
    Status {
        controller: String,
        command: String,
        status: StatusCode,
    },
    #[error("{controller}: {command}: {source}{advice}")]
    System {
        controller: String,
        command: String,
        /// System error.
        source: std::io::Error,
        advice: &'static str,
    },
    /// The controller is not that of the drive any more.
    #[error(
        "{controller}: this is not the controller of {drive} any more: its serial is {found:?}, \
         not {serial:?}; nothing was changed on it. Drives are renumbered when one is removed or \
         added: check `assay list` and run again"
    )]
    OtherDrive {
        controller: String,
        /// Intended drive, as named.
        drive: String,
        /// Serial of the intended drive.
        serial: String,
        /// Serial of the controller.
        found: String,
    },
    /// Malformed data.
    #[error(
        "{controller}: {command}: the returned data is malformed: {what}; `nvme {command}` shows \
         it raw"
    )]
    Nonsense {
        controller: String,
        command: String,
        /// Defect.
        what: String,
    },
}

/// Name of an admin command, for messages.
pub(crate) fn command_name(command: &SubmissionEntry) -> String {
    let opcode = AdminOpcode(command.opcode());
    match opcode.name() {
        Some(name) => name.to_owned(),
        None => format!("admin command {:#x}", opcode.0),
    }
}

impl CommandError {
    /// Whether the controller rejected the command (as opposed to a system error).
    pub(crate) fn refused(&self) -> bool {
        matches!(self, CommandError::Status { .. })
    }
}
