//! Faults of drive and link, and the hook for faults of commands.

use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_ssd::Drive;

/// What is wrong with a completion of an I/O command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionFault {
    /// The phase tag is inverted.
    WrongPhase,
    /// The command identifier is exclusive-ored with this.
    WrongCid(u16),
    /// It is posted twice, in two entries of the queue.
    Doubled,
    /// It is written one entry behind its place.
    WrongIndex,
    /// It leaves the drive before the data of its read.
    BeforeData,
    /// It is never posted; the next completion takes its place.
    Missing,
}

/// What happens at a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The link goes down: packets on it are lost, the endpoint is reset.
    Down,
    /// The link comes up again, with a reset endpoint.
    Up,
    /// The drive loses power, and with it the link. It has power again when the link comes up.
    PowerLoss,
    /// The drive is removed while the link is still reported up: register reads are ones, and
    /// nothing completes.
    SurpriseRemoval,
    /// The endpoint does not answer register accesses any more.
    SilentRegisters,
    /// The drive reads memory without a command. The address is that of the bus, the length within
    /// 4 KiB.
    Read {
        /// Bus address.
        address: u64,
        len_bytes: u32,
    },
    /// The drive writes memory without a command.
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
    /// At a cycle.
    At {
        cycle: u64,
        /// What happens.
        event: LinkEvent,
    },
}

/// What becomes of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disposition {
    /// The controller executes the entry, as changed.
    #[default]
    Execute,
    /// It completes with this status without being executed.
    Answer(StatusCode),
    /// It never completes.
    Drop,
}

/// Changes I/O commands on their way to the controller, and their completions on the way back.
pub trait CommandHook: Send {
    /// An I/O command was read over the bus, with the data of a write, and is going to be given to
    /// the controller. Data, operation and blocks may be changed, but not to more blocks. Of the
    /// drive, only kept data may be changed ([`Drive::write_kept`]).
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

    /// An I/O command completed; `data` are the pages of a read, in order. Returns a delay in
    /// cycles.
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
