use super::drive::{DriveEnd, Phase};
use super::{Action, Machine};
use crate::Serial;
use crate::claim::SuiteOutcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildEnd {
    Exit(i32),
    Signal(i32),
    NotStarted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalEnd {
    /// Every cell was run or skipped.
    Complete(SuiteOutcome),
    Interrupted {
        /// The drive disappeared.
        drive_lost: bool,
    },
    /// No end, or no run folder.
    Open,
}

impl Machine {
    /// Implements the table of exit statuses in docs/fleet.md.
    pub(super) fn child_ended(
        &mut self,
        serial: Serial,
        end: ChildEnd,
        journal: JournalEnd,
        why: String,
    ) {
        let Some(Phase::Running { suite }) = self.phase(&serial).cloned() else {
            return;
        };
        let stopping = self.drives.get_mut(&serial).and_then(|drive| drive.stopping.take());
        match stopping {
            // Another attempt holds the claim.
            Some(end @ DriveEnd::Fenced { .. }) => return self.set(&serial, Phase::Ended(end)),
            Some(end) => return self.release(&serial, end),
            None => {}
        }
        match (end, journal) {
            // Whatever the status: a complete run is a result, and is not measured again.
            (_, JournalEnd::Complete(outcome)) => self.complete(serial, suite, outcome),
            // The status follows from the signal that the task got.
            _ if self.end_signal => self.next_suite(serial),
            (ChildEnd::Exit(0 | 1 | 130), JournalEnd::Interrupted { drive_lost: true }) => {
                self.drive_lost(serial, suite);
            }
            (ChildEnd::Exit(0 | 1 | 130), JournalEnd::Interrupted { .. }) => {
                self.interrupted(&serial);
            }
            (ChildEnd::Exit(status @ (2 | 3)), _) => {
                let status = u8::try_from(status).unwrap_or(2);
                self.release(&serial, DriveEnd::Refused { status, why });
            }
            (ChildEnd::Exit(4), _) => self.io_error(serial, suite, why),
            (ChildEnd::Exit(75), _) => self.wait_in_use(serial, suite, &why),
            (ChildEnd::Exit(130), JournalEnd::Open) => self.interrupted(&serial),
            (ChildEnd::Exit(_) | ChildEnd::Signal(_), _) => self.killed(serial, suite, why),
            (ChildEnd::NotStarted, _) => self.release(&serial, DriveEnd::IoError { why }),
        }
    }

    /// Causes are `until`, a request of the task, and a person on the host.
    fn interrupted(&mut self, serial: &Serial) {
        let end = self.stop_reason().unwrap_or_else(|| {
            let why = match self.has_until {
                true => "the next cell could end after the plan's `until`",
                false => "assay run was interrupted on its host",
            };
            DriveEnd::Interrupted { why: why.to_owned(), requeue: false }
        });
        self.release(serial, end);
    }

    fn io_error(&mut self, serial: Serial, suite: usize, why: String) {
        let limit = self.limits.io_error_attempts;
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        drive.io_errors[suite] += 1;
        let errors = drive.io_errors[suite];
        self.actions.push_back(Action::CountIoError { serial: serial.clone(), suite });
        if self.stop_reason().is_some() {
            self.next_suite(serial);
        } else if errors >= limit {
            self.release(&serial, DriveEnd::IoError { why });
        } else {
            let pause = self.limits.pause * 2_u32.pow((errors - 1).min(5));
            self.wait(serial, suite, pause);
        }
    }

    fn killed(&mut self, serial: Serial, suite: usize, why: String) {
        let limit = self.limits.kills;
        if self.stop_reason().is_some() {
            return self.next_suite(serial);
        }
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        drive.kills += 1;
        if drive.kills > limit {
            self.release(&serial, DriveEnd::IoError { why });
        } else {
            drive.phase = Phase::Preparing { suite };
            self.actions.push_back(Action::Prepare { serial, suite });
        }
    }

    fn drive_lost(&mut self, serial: Serial, suite: usize) {
        let limit = self.limits.io_error_attempts;
        if self.stop_reason().is_some() {
            return self.next_suite(serial);
        }
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        drive.losses += 1;
        if drive.losses > limit {
            return self.release(&serial, DriveEnd::Lost);
        }
        drive.phase = Phase::Lost { suite, timer: None };
        self.actions.push_back(Action::LookFor { serial });
    }
}
