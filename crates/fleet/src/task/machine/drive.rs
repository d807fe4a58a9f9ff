use super::SuiteProgress;
use crate::claim::{ClaimState, SuiteOutcome};
use crate::task::view::TaskState;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveEnd {
    /// Every suite is complete.
    Done {
        /// The drive or its data failed in one.
        failed: bool,
    },
    /// An operator must act.
    Refused {
        /// Exit status of `assay run`: 2 or 3.
        status: u8,
        why: String,
    },
    /// The host failed: I/O errors or kills, more often than is tried.
    IoError { why: String },
    /// The folder or the drive is in use.
    InUse {
        /// The process that uses it, as far as known.
        why: String,
    },
    /// The shared store is away.
    Unavailable { why: String },
    /// Ended by a signal before the shared store could be written.
    NotShipped { why: String },
    /// Ended early; can be resumed.
    Interrupted {
        why: String,
        /// Whether the job is to be queued again at once.
        requeue: bool,
    },
    /// The drive disappeared: a finding.
    Lost,
    /// Another attempt has the drive.
    Fenced {
        /// Which.
        why: String,
    },
}

impl DriveEnd {
    pub fn claim_state(&self) -> (ClaimState, Option<String>) {
        let because = |text: &str| Some(text.to_owned());
        match self {
            DriveEnd::Done { failed: false } => (ClaimState::Done, None),
            DriveEnd::Done { failed: true } => (ClaimState::Failed, None),
            DriveEnd::Refused { why, .. } => (ClaimState::Refused, because(why)),
            DriveEnd::IoError { why }
            | DriveEnd::InUse { why }
            | DriveEnd::Unavailable { why }
            | DriveEnd::NotShipped { why }
            | DriveEnd::Fenced { why }
            | DriveEnd::Interrupted { why, .. } => (ClaimState::Interrupted, because(why)),
            DriveEnd::Lost => (ClaimState::Interrupted, because("drive-lost")),
        }
    }

    /// Exit status that this drive asks for.
    pub fn status(&self) -> u8 {
        match self {
            DriveEnd::Done { failed: false } => 0,
            DriveEnd::Done { failed: true } | DriveEnd::Lost => 1,
            DriveEnd::Refused { status, .. } => *status,
            DriveEnd::IoError { .. } | DriveEnd::NotShipped { .. } => 4,
            DriveEnd::InUse { .. }
            | DriveEnd::Unavailable { .. }
            | DriveEnd::Interrupted { requeue: true, .. } => 75,
            DriveEnd::Interrupted { requeue: false, .. } | DriveEnd::Fenced { .. } => 130,
        }
    }
}

/// After a signal 4 if not everything was shipped, else 130; else 75 where queueing the job again
/// helps a drive; else what needs a person most.
pub(super) fn task_status(ends: &[&DriveEnd], end_signal: bool) -> u8 {
    const ORDER: [u8; 7] = [75, 3, 2, 4, 130, 1, 0];
    let statuses: Vec<u8> = ends.iter().map(|end| end.status()).collect();
    let is_left = |end: &&DriveEnd| matches!(end, DriveEnd::NotShipped { .. });
    match end_signal {
        true if ends.iter().any(is_left) => 4,
        true => 130,
        false => ORDER.into_iter().find(|status| statuses.contains(status)).unwrap_or(0),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Queued,
    Claiming,
    Unclaimed {
        timer: u64,
    },
    Preparing {
        suite: usize,
    },
    Running {
        suite: usize,
    },
    Waiting {
        suite: usize,
        timer: u64,
    },
    /// Looked for while other drives are measured.
    Lost {
        suite: usize,
        timer: Option<u64>,
    },
    /// Was lost and is back; waits for a place.
    Returned {
        suite: usize,
    },
    Releasing(DriveEnd),
    Ended(DriveEnd),
}

#[derive(Clone, Debug)]
pub(super) struct DriveTask {
    pub(super) phase: Phase,
    pub(super) outcomes: Vec<Option<SuiteOutcome>>,
    pub(super) io_errors: Vec<u32>,
    /// Kills of the suite under way.
    pub(super) kills: u32,
    /// Looks at what is in use.
    pub(super) polls: u32,
    pub(super) losses: u32,
    pub(super) claim_tries: u32,
    /// Set while `assay run` is being ended for this reason.
    pub(super) stopping: Option<DriveEnd>,
}

impl DriveTask {
    pub(super) fn new(suites: usize) -> DriveTask {
        DriveTask {
            phase: Phase::Queued,
            outcomes: vec![None; suites],
            io_errors: vec![0; suites],
            kills: 0,
            polls: 0,
            losses: 0,
            claim_tries: 0,
            stopping: None,
        }
    }

    pub(super) fn take_over(&mut self, suites: &[SuiteProgress]) {
        for (index, suite) in suites.iter().enumerate().take(self.outcomes.len()) {
            self.outcomes[index] = suite.outcome;
            self.io_errors[index] = suite.io_error_attempts;
        }
    }

    pub(super) fn next_suite(&mut self) -> Option<usize> {
        (self.kills, self.polls) = (0, 0);
        self.outcomes.iter().position(Option::is_none)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.outcomes.contains(&Some(SuiteOutcome::Failed))
    }

    pub(super) fn end(&self) -> Option<&DriveEnd> {
        match &self.phase {
            Phase::Ended(end) => Some(end),
            _ => None,
        }
    }

    pub(super) fn state(&self) -> TaskState {
        match &self.phase {
            Phase::Running { .. } => TaskState::Measuring,
            Phase::Releasing(_) => TaskState::Shipping,
            Phase::Ended(_) => TaskState::Ended,
            Phase::Queued
            | Phase::Claiming
            | Phase::Unclaimed { .. }
            | Phase::Preparing { .. }
            | Phase::Waiting { .. }
            | Phase::Lost { .. }
            | Phase::Returned { .. } => TaskState::Waiting,
        }
    }

    /// Takes one of the places that `share` gives; shipping takes none.
    pub(super) fn is_measured(&self) -> bool {
        !matches!(
            self.phase,
            Phase::Queued
                | Phase::Unclaimed { .. }
                | Phase::Lost { .. }
                | Phase::Returned { .. }
                | Phase::Releasing(_)
                | Phase::Ended(_)
        )
    }
}
