//! What the machine is told, and what it asks for.

use std::time::Duration;

use super::{ChildEnd, JournalEnd};
use crate::Serial;
use crate::claim::{ClaimState, SuiteOutcome};

/// Limits of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Drives measured at once.
    pub concurrent: usize,
    /// Resumptions of a suite after I/O errors of the host (`run.attempts`).
    pub io_error_attempts: u32,
    /// Resumptions of a suite after kills of `assay run`.
    pub kills: u32,
    /// Pause after the first I/O error; twice as long after each further one, at most 32 times.
    pub pause: Duration,
    /// Pause while a folder or drive is in use, or a lost drive is looked for.
    pub poll: Duration,
    /// How often it is looked whether a folder or drive is still in use.
    pub polls: u32,
    /// Tries to take a claim while the shared store is away.
    pub claim_tries: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            concurrent: 1,
            io_error_attempts: 5,
            kills: 3,
            pause: Duration::from_secs(10),
            // An hour in all.
            poll: Duration::from_secs(10),
            polls: 360,
            claim_tries: 30,
        }
    }
}

/// What the plan's control document says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    #[default]
    Running,
    /// End with the cell under way.
    Paused,
    /// End at once.
    Cancelled,
}

/// A suite as the claim has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuiteProgress {
    /// Set where it is complete.
    pub outcome: Option<SuiteOutcome>,
    /// Attempts that ended with an I/O error of the host.
    pub io_error_attempts: u32,
}

/// A run folder, ready for `assay run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// There is none: a new run.
    New,
    /// To be resumed.
    Resumable,
    /// Complete already.
    Complete(SuiteOutcome),
    /// Another process writes it.
    InUse,
}

/// What happened, mostly to the drive with this serial; `why` is for a person.
#[expect(missing_docs, reason = "the fields are what their names and types say")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The claim is held.
    Claimed {
        serial: Serial,
        suites: Vec<SuiteProgress>,
    },
    /// Nothing is left to do for the drive, by its claim.
    AlreadyFinished {
        serial: Serial,
        state: ClaimState,
    },
    /// An operator must act first.
    Refused {
        serial: Serial,
        why: String,
    },
    /// The claim could not be taken, for now.
    ClaimFailed {
        serial: Serial,
        why: String,
    },
    /// Another attempt took the claim.
    Fenced {
        serial: Serial,
        why: String,
    },
    /// The folder is ready.
    Prepared {
        serial: Serial,
        folder: FolderState,
    },
    /// The folder cannot be made ready.
    PrepareFailed {
        serial: Serial,
        why: String,
        is_temporary: bool,
    },
    /// `assay run` ended.
    ChildEnded {
        serial: Serial,
        end: ChildEnd,
        journal: JournalEnd,
        why: String,
    },
    /// All that was to be shipped and recorded is.
    Released {
        serial: Serial,
    },
    /// It cannot be shipped.
    ShipFailed {
        serial: Serial,
        why: String,
    },
    TimerFired {
        serial: Serial,
        timer: u64,
    },
    /// Whether the inventory sees a lost drive.
    Looked {
        serial: Serial,
        is_there: bool,
    },
    /// The control document changed.
    Control(Control),
    /// The task got SIGTERM, SIGINT or SIGHUP.
    EndSignal,
    /// The task got SIGUSR1: a time limit is near.
    NearLimit,
}

/// What is to be done, for the drive with this serial; `suite` counts from 0 in the order of the
/// plan.
#[expect(missing_docs, reason = "the fields are what their names and types say")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Take the claim.
    Claim { serial: Serial },
    /// Make the folder of a suite ready.
    Prepare { serial: Serial, suite: usize },
    /// Start `assay run`.
    Start {
        serial: Serial,
        suite: usize,
        resume: bool,
    },
    /// SIGUSR1 to `assay run`.
    StopAfterCell { serial: Serial },
    /// End `assay run` at once.
    Terminate { serial: Serial },
    /// Record an attempt that ended with an I/O error of the host.
    CountIoError { serial: Serial, suite: usize },
    /// Ship the complete folder and record the outcome. Does not wait.
    Seal {
        serial: Serial,
        suite: usize,
        outcome: SuiteOutcome,
    },
    /// Ship what there is of all suites, record the state of the claim, then report
    /// [`Event::Released`].
    Release {
        serial: Serial,
        state: ClaimState,
        reason: Option<String>,
    },
    /// Report [`Event::TimerFired`] after this time.
    SetTimer {
        serial: Serial,
        timer: u64,
        after: Duration,
    },
    /// Look for a lost drive; report [`Event::Looked`].
    LookFor { serial: Serial },
    /// The task is done.
    Finish { status: u8 },
}
