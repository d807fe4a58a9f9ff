//! Why a drive could not be opened or used.

use assay_io::TargetError;
use assay_sim_host::profile_file::ProfileFileError;
use assay_ssd::OptionError;

use crate::identity::IdentityError;
use crate::interlock::Refusal;
use crate::nvme::CommandError;
use crate::nvme::purge::EraseError;
use crate::open::OpenError;
use crate::purge::PurgeError;
use crate::spec::SpecError;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("{spec}: {source}")]
    Profile { spec: String, source: ProfileFileError },
    #[error("{spec}: {source}")]
    Option {
        /// As named.
        spec: String,
        source: OptionError,
    },
    #[error("{spec}: {why}")]
    Cache {
        /// As named.
        spec: String,
        why: String,
    },
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(
        "{drive}: this would overwrite its data, which needs authorisation: if all of it may be \
         lost, add --destroy {serial}"
    )]
    NoPermit {
        /// As named.
        drive: String,
        serial: String,
    },
    #[error(
        "{drive}: {} writes to it, and figures of both would be taken for its own; try again when \
         that has ended",
        pid.map_or("another program".to_owned(), |pid| format!("process {pid}"))
    )]
    BeingWritten {
        /// As named.
        drive: String,
        pid: Option<u32>,
    },
    #[error(transparent)]
    Purge(#[from] PurgeError),
    /// The states are missing, or cannot be read.
    #[error("{drive}: power state {state} cannot be set: {why}")]
    NoPowerControl { drive: String, state: u8, why: String },
    #[error(
        "{drive}: it has no power state {state}, only {states}; use one of those, or leave \
         power_states out"
    )]
    NoSuchPowerState { drive: String, state: u8, states: String },
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Erase(#[from] EraseError),
    #[error("{drive}: cannot open its controller {controller}: {source}; admin commands need root")]
    Controller { drive: String, controller: String, source: std::io::Error },
    #[error(
        "{drive}: cannot be erased by this method: {why}; --how auto uses the best available one"
    )]
    NotErasable {
        /// As named.
        drive: String,
        why: &'static str,
    },
    #[error(
        "{drive}: its zones take writes at their write pointers only (it is host-managed), and \
         this command writes elsewhere too; `assay job --rw write` writes zone by zone"
    )]
    OnlyInZones {
        /// As named.
        drive: String,
    },
    /// More would or may be erased than was named.
    #[error("{drive}: this {what}")]
    ErasesMore {
        /// As named.
        drive: String,
        what: String,
    },
}
