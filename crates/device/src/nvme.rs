//! Real NVMe drives beyond reads and writes: admin commands, what a controller says of itself, its health.
//!
//! # Architecture
//! [`AdminPort`] is the seam: something that takes an admin command and its data. [`device::ControllerDevice`] is a controller of this
//! machine behind the kernel's `ioctl` (include/uapi/linux/nvme_ioctl.h); a simulated controller can be another. On top of it, without
//! knowing which it is: [`commands`] (Identify, log pages, features, Format, Sanitize), [`probe`] (everything a controller says of itself),
//! [`health`] (what moves while it works), [`power`] (a power state for a while, and back), [`purge`](mod@purge). [`place`] finds the controller and the namespace that belong to a drive, in sysfs;
//! [`registers`] reads its registers, which no command can.
//!
//! # Non-goals
//! Nothing of fabrics (their controllers answer the same commands, but have no PCI device). No firmware, no namespace management.

pub mod commands;
pub mod device;
pub mod health;
pub mod place;
pub mod power;
pub mod probe;
pub mod purge;
pub mod registers;
pub mod words;

#[cfg(test)]
#[path = "../tests/unit/nvme.rs"]
mod tests;

use assay_nvme_spec::{StatusCode, SubmissionEntry};

/// Where admin commands are sent.
pub trait AdminPort {
    /// The controller, for messages: `/dev/nvme0`.
    fn name(&self) -> &str;

    /// Send one admin command and wait for it. `data` is sent or filled as the opcode says (its bits 1:0; Base 2.0c, 3.3.3.1, Opcode). Gives
    /// dword 0 of the completion.
    ///
    /// # Errors
    /// When it could not be sent, or ended with another status than success.
    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        timeout_ms: u32,
    ) -> Result<u32, CommandError>;
}

/// Why an admin command gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The controller refused or failed it.
    #[error("{controller}: {command}: the drive answers {code:#x}: {words}", code = status.0, words = status.name().unwrap_or("a status that this program does not know"))]
    Status {
        /// The controller.
        controller: String,
        /// Which command.
        command: String,
        /// What it answered.
        status: StatusCode,
    },
    /// The system did not send it.
    #[error("{controller}: {command}: {source}{advice}")]
    System {
        /// The controller.
        controller: String,
        /// Which command.
        command: String,
        /// The system's answer.
        source: std::io::Error,
        /// What to do about it.
        advice: &'static str,
    },
    /// It answers, and is not the controller of the drive that is meant.
    #[error(
        "{controller}: this is not the controller of {drive} any more: the serial of that is {serial:?}, and this one's is {found:?}; nothing was changed on it. Drives are \
         numbered anew when one is removed or added: look at `assay list`, and begin again"
    )]
    OtherDrive {
        /// The controller.
        controller: String,
        /// The drive that is meant, as named.
        drive: String,
        /// Its serial.
        serial: String,
        /// The controller's.
        found: String,
    },
    /// What came back makes no sense.
    #[error(
        "{controller}: {command}: what the drive answered makes no sense: {what}; `nvme {command}` shows it raw"
    )]
    Nonsense {
        /// The controller.
        controller: String,
        /// Which command.
        command: String,
        /// What is wrong with it.
        what: String,
    },
}

impl CommandError {
    /// Did the drive itself refuse: what it does not have, rather than what could not be asked?
    pub fn refused(&self) -> bool {
        matches!(self, CommandError::Status { .. })
    }
}
