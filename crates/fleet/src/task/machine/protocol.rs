use std::time::Duration;

use super::{ChildEnd, JournalEnd};
use crate::Serial;
use crate::claim::{ClaimState, SuiteOutcome};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Measured at once.
    pub concurrent: usize,
    /// Resumptions of a suite after I/O errors of the host (`run.attempts`).
    pub io_error_attempts: u32,
    /// Resumptions of a suite after kills of `assay run`.
    pub kills: u32,
    /// Pause after the first I/O error; doubles after each further one, up to 32 times as long.
    pub pause: Duration,
    /// While a folder or drive is in use, or a lost drive is looked for.
    pub poll: Duration,
    /// Looks whether a folder or drive is still in use.
    pub polls: u32,
    /// While the shared store is away.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    #[default]
    Running,
    /// End with the cell under way.
    Paused,
    /// End at once.
    Cancelled,
}

/// State of a suite, from the claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuiteProgress {
    /// Set where the suite is complete.
    pub outcome: Option<SuiteOutcome>,
    /// Attempts that ended with an I/O error of the host.
    pub io_error_attempts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// There is no folder: a new run.
    New,
    Resumable,
    Complete(SuiteOutcome),
    /// Another process writes the folder.
    InUse,
}

/// Mostly of the drive with this serial; `why` is for a person.
#[expect(missing_docs, reason = "the fields are what their names and types say")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Claimed {
        serial: Serial,
        suites: Vec<SuiteProgress>,
    },
    /// The claim says that nothing is left to do.
    AlreadyFinished {
        serial: Serial,
        state: ClaimState,
    },
    /// An operator must act first.
    Refused {
        serial: Serial,
        why: String,
    },
    ClaimFailed {
        serial: Serial,
        why: String,
    },
    Fenced {
        serial: Serial,
        why: String,
    },
    Prepared {
        serial: Serial,
        folder: FolderState,
    },
    PrepareFailed {
        serial: Serial,
        why: String,
        is_temporary: bool,
    },
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
    ShipFailed {
        serial: Serial,
        why: String,
    },
    /// After a signal: what was measured stays on this host.
    NotShipped {
        serial: Serial,
        why: String,
    },
    TimerFired {
        serial: Serial,
        timer: u64,
    },
    /// Whether the inventory has a lost drive.
    Looked {
        serial: Serial,
        is_there: bool,
    },
    Control(Control),
    /// SIGTERM, SIGINT or SIGHUP.
    EndSignal,
    /// SIGUSR1: a time limit is near.
    NearLimit,
}

/// For the drive with this serial; `suite` counts from 0 in the order of the plan.
#[expect(missing_docs, reason = "the fields are what their names and types say")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Take the claim.
    Claim { serial: Serial },
    /// Make the folder of a suite ready.
    Prepare { serial: Serial, suite: usize },
    /// Start `assay run`.
    Start { serial: Serial, suite: usize, resume: bool },
    /// SIGUSR1 to `assay run`.
    StopAfterCell { serial: Serial },
    /// End `assay run` at once.
    Terminate { serial: Serial },
    /// Record an attempt that ended with an I/O error of the host.
    CountIoError { serial: Serial, suite: usize },
    /// Ship the complete folder and record the outcome. Does not wait.
    Seal { serial: Serial, suite: usize, outcome: SuiteOutcome },
    /// Ship what there is of all suites, record the state of the claim, then report
    /// [`Event::Released`].
    Release { serial: Serial, state: ClaimState, reason: Option<String> },
    /// Report [`Event::TimerFired`] after this time.
    SetTimer { serial: Serial, timer: u64, after: Duration },
    /// Look for a lost drive; report [`Event::Looked`].
    LookFor { serial: Serial },
    /// The task is done.
    Finish { status: u8 },
}

impl Event {
    /// Writes it as an event of `tracing`; timers and looks as details.
    pub(crate) fn log(&self) {
        match self {
            Event::TimerFired { .. } | Event::Looked { .. } => tracing::debug!(event = ?self),
            Event::Fenced { serial, why } => {
                tracing::warn!(%serial, ?why, "the drive was taken over by another attempt");
            }
            _ => tracing::info!(event = ?self),
        }
    }
}

impl Action {
    /// Writes it as an event of `tracing`; timers and looks as details.
    pub(crate) fn log(&self) {
        match self {
            Action::SetTimer { .. } | Action::LookFor { .. } => tracing::debug!(action = ?self),
            _ => tracing::info!(action = ?self),
        }
    }
}
