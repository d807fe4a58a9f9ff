//! Faults of drive and link, and the hook for faults of commands.

use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_ssd::Drive;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionFault {
    WrongPhase,
    /// The command identifier is exclusive-ored with this.
    WrongCid(u16),
    /// Status field without the phase: status, More, Do Not Retry (Base 3.3.3.2.1).
    Status(u16),
    /// Posted twice, in two entries of the queue.
    Doubled,
    /// Written one entry behind its place.
    WrongIndex,
    /// Leaves the drive before the data of its read.
    BeforeData,
    /// Never posted; the next completion takes its place.
    Missing,
}

/// How a controller hangs until it is reset. Nothing completes, and doorbells have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wedge {
    /// CSTS.CFS is set. A reset of the controller ends it.
    Fatal,
    /// Writes to registers have no effect: CSTS.RDY stays 1. PERST# or a hot reset ends it.
    StuckReady,
    /// Registers read as ones, but the configuration space answers. PERST# or a hot reset ends it.
    Ones,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Packets on the link are lost, the endpoint is reset.
    Down,
    /// The endpoint is reset.
    Up,
    /// The drive loses power and the link, and has power again when the link comes up.
    PowerLoss,
    /// The link is still reported up: register reads are ones, and nothing completes.
    SurpriseRemoval,
    /// The endpoint does not answer register accesses any more. PERST# or a hot reset ends it.
    SilentRegisters,
    /// The controller hangs.
    Wedge(Wedge),
    /// The drive reads a bus address without a command; the length is within 4 KiB.
    Read {
        /// Bus address.
        address: u64,
        len_bytes: u32,
    },
    /// The drive writes to a bus address without a command.
    Write {
        /// Bus address.
        address: u64,
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PcieFault {
    /// At the n-th completion of an I/O command since the start, from 1.
    Completion {
        ordinal: u64,
        /// What is wrong.
        fault: CompletionFault,
    },
    At {
        cycle: u64,
        /// What happens.
        event: LinkEvent,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disposition {
    /// The controller executes the entry, as changed.
    #[default]
    Execute,
    /// The command completes with this status without being executed.
    Answer(StatusCode),
    /// The command never completes.
    Drop,
}

/// Changes I/O commands on their way to the controller, and their completions on the way back.
pub trait CommandHook: Send {
    /// Called before the controller gets a command with its data. Data, operation and blocks may be
    /// changed, but not to more blocks; of the drive, only kept data ([`Drive::write_kept`]).
    fn submitted(
        &mut self,
        drive: &mut Drive,
        queue: u16,
        entry: &mut SubmissionEntry,
        data: &mut [u8],
    ) -> Disposition {
        let _ = (drive, queue, entry, data);
        Disposition::Execute
    }

    /// `data` are the pages of a read, in order. Returns a delay in cycles.
    fn completed(
        &mut self,
        queue: u16,
        entry: &SubmissionEntry,
        data: &mut [Vec<u8>],
        status: &mut StatusCode,
    ) -> u64 {
        let _ = (queue, entry, data, status);
        0
    }
}
