//! The procedure of a task as a state machine: events in, actions out; no I/O, no clock, no thread.
//! Each drive goes through claim, folder, `assay run`, shipping, per suite of the plan.
//! [`Machine::child_ended`] implements the table of exit statuses in docs/fleet.md.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::view::TaskState;
use crate::Serial;
use crate::claim::{ClaimState, SuiteOutcome};

mod child;
mod drive;
mod protocol;

pub use child::{ChildEnd, JournalEnd};
pub use drive::DriveEnd;
pub use protocol::{Action, Control, Event, FolderState, Limits, SuiteProgress};

use drive::{DriveTask, Phase};

#[derive(Clone, Debug)]
pub struct Machine {
    limits: Limits,
    drives: BTreeMap<Serial, DriveTask>,
    /// Drives are measured in this order.
    order: Vec<Serial>,
    control: Control,
    end_signal: bool,
    near_limit: bool,
    has_until: bool,
    finished: bool,
    timers: u64,
    actions: VecDeque<Action>,
}

impl Machine {
    /// `has_until`: the plan says until when.
    pub fn new(drives: Vec<Serial>, suites: usize, limits: Limits, has_until: bool) -> Machine {
        let tasks = drives.iter().map(|serial| (serial.clone(), DriveTask::new(suites)));
        Machine {
            drives: tasks.collect(),
            order: drives,
            limits,
            control: Control::Running,
            end_signal: false,
            near_limit: false,
            has_until,
            finished: false,
            timers: 0,
            actions: VecDeque::new(),
        }
    }

    pub fn start(&mut self) -> Vec<Action> {
        self.schedule();
        self.take_actions()
    }

    pub fn handle(&mut self, event: Event) -> Vec<Action> {
        if !self.finished {
            self.apply(event);
            self.schedule();
        }
        self.take_actions()
    }

    pub fn ends(&self) -> impl Iterator<Item = (&Serial, Option<&DriveEnd>)> {
        let of = |serial| (serial, self.drives.get(serial).and_then(DriveTask::end));
        self.order.iter().map(of)
    }

    /// The number is that of complete suites.
    pub fn states(&self) -> impl Iterator<Item = (&Serial, TaskState, usize)> {
        self.drives.iter().map(|(serial, drive)| {
            let done = drive.outcomes.iter().flatten().count();
            (serial, drive.state(), done)
        })
    }

    fn take_actions(&mut self) -> Vec<Action> {
        self.actions.drain(..).collect()
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Control(control) => {
                self.control = control;
                self.stop_children();
            }
            Event::EndSignal => {
                self.end_signal = true;
                self.stop_children();
            }
            Event::NearLimit => {
                self.near_limit = true;
                self.stop_children();
            }
            Event::Claimed { serial, suites } => self.claimed(serial, &suites),
            Event::AlreadyFinished { serial, state } => {
                let failed = state == ClaimState::Failed;
                self.set(&serial, Phase::Ended(DriveEnd::Done { failed }));
            }
            Event::Refused { serial, why } => match self.phase(&serial) {
                Some(Phase::Claiming) => {
                    self.set(&serial, Phase::Ended(DriveEnd::Refused { status: 3, why }));
                }
                _ => self.release(&serial, DriveEnd::Refused { status: 3, why }),
            },
            Event::ClaimFailed { serial, why } => self.claim_failed(serial, why),
            Event::Fenced { serial, why } => self.fenced(&serial, why),
            Event::Prepared { serial, folder } => self.prepared(serial, folder),
            Event::PrepareFailed { serial, why, is_temporary } => {
                let end = match is_temporary {
                    true => DriveEnd::Unavailable { why },
                    false => DriveEnd::IoError { why },
                };
                self.release(&serial, end);
            }
            Event::ChildEnded { serial, end, journal, why } => {
                self.child_ended(serial, end, journal, why)
            }
            Event::Released { serial } => {
                if let Some(Phase::Releasing(end)) = self.phase(&serial).cloned() {
                    self.set(&serial, Phase::Ended(end));
                }
            }
            Event::ShipFailed { serial, why } => {
                // What was measured stays on the host.
                let end = DriveEnd::IoError { why };
                match self.phase(&serial) {
                    Some(Phase::Running { .. }) => self.stop_for(&serial, end),
                    Some(Phase::Ended(_)) => {}
                    _ => self.set(&serial, Phase::Ended(end)),
                }
            }
            Event::NotShipped { serial, why } => {
                self.set(&serial, Phase::Ended(DriveEnd::NotShipped { why }));
            }
            Event::TimerFired { serial, timer } => self.timer_fired(serial, timer),
            Event::Looked { serial, is_there } => self.looked(serial, is_there),
        }
    }

    fn phase(&self, serial: &Serial) -> Option<&Phase> {
        self.drives.get(serial).map(|drive| &drive.phase)
    }

    fn set(&mut self, serial: &Serial, phase: Phase) {
        if let Some(drive) = self.drives.get_mut(serial) {
            drive.phase = phase;
        }
    }

    /// Why no suite may be begun or resumed.
    fn stop_reason(&self) -> Option<DriveEnd> {
        let interrupted =
            |why: &str, requeue| DriveEnd::Interrupted { why: why.to_owned(), requeue };
        if self.end_signal {
            Some(interrupted("the task was ended by a signal", false))
        } else {
            match self.control {
                Control::Cancelled => Some(interrupted("the plan was cancelled", false)),
                Control::Paused => Some(interrupted("the plan is paused", false)),
                Control::Running if self.near_limit => {
                    Some(interrupted("the time limit of the job is near", true))
                }
                Control::Running => None,
            }
        }
    }

    fn stop_children(&mut self) {
        if self.stop_reason().is_none() {
            return;
        }
        let at_once = self.end_signal || self.control == Control::Cancelled;
        for serial in self.order.clone() {
            match self.phase(&serial) {
                Some(Phase::Running { .. }) => self.actions.push_back(match at_once {
                    true => Action::Terminate { serial },
                    false => Action::StopAfterCell { serial },
                }),
                Some(Phase::Waiting { .. } | Phase::Lost { .. } | Phase::Returned { .. }) => {
                    if let Some(end) = self.stop_reason() {
                        self.release(&serial, end);
                    }
                }
                // A claim or folder under way sees the request when it is ready.
                _ => {}
            }
        }
    }

    fn claimed(&mut self, serial: Serial, suites: &[SuiteProgress]) {
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        if drive.phase != Phase::Claiming {
            return;
        }
        drive.take_over(suites);
        self.next_suite(serial);
    }

    fn claim_failed(&mut self, serial: Serial, why: String) {
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        if drive.phase != Phase::Claiming {
            return;
        }
        drive.claim_tries += 1;
        if drive.claim_tries >= self.limits.claim_tries {
            // No claim is held: nothing to release.
            drive.phase = Phase::Ended(DriveEnd::Unavailable { why });
            return;
        }
        let timer = self.timer(&serial, self.limits.poll);
        self.set(&serial, Phase::Unclaimed { timer });
    }

    fn fenced(&mut self, serial: &Serial, why: String) {
        let end = DriveEnd::Fenced { why };
        match self.phase(serial) {
            Some(Phase::Running { .. }) => self.stop_for(serial, end),
            Some(Phase::Ended(_) | Phase::Queued) | None => {}
            _ => self.set(serial, Phase::Ended(end)),
        }
    }

    /// Ends `assay run` at once; then the drive has this end.
    fn stop_for(&mut self, serial: &Serial, end: DriveEnd) {
        if let Some(drive) = self.drives.get_mut(serial)
            && drive.stopping.is_none()
        {
            drive.stopping = Some(end);
            let serial = serial.clone();
            self.actions.push_back(Action::Terminate { serial });
        }
    }

    fn next_suite(&mut self, serial: Serial) {
        if let Some(end) = self.stop_reason() {
            self.release(&serial, end);
            return;
        }
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        match drive.next_suite() {
            Some(suite) => {
                drive.phase = Phase::Preparing { suite };
                self.actions.push_back(Action::Prepare { serial, suite });
            }
            None => {
                let failed = drive.has_failed();
                self.release(&serial, DriveEnd::Done { failed });
            }
        }
    }

    fn prepared(&mut self, serial: Serial, folder: FolderState) {
        let Some(Phase::Preparing { suite }) = self.phase(&serial).cloned() else {
            return;
        };
        match folder {
            FolderState::Complete(outcome) => self.complete(serial, suite, outcome),
            _ if self.stop_reason().is_some() => self.next_suite(serial),
            FolderState::InUse => self.wait_in_use(serial, suite, "its run folder is in use"),
            FolderState::New | FolderState::Resumable => {
                self.set(&serial, Phase::Running { suite });
                let resume = folder == FolderState::Resumable;
                self.actions.push_back(Action::Start { serial, suite, resume });
            }
        }
    }

    fn complete(&mut self, serial: Serial, suite: usize, outcome: SuiteOutcome) {
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        drive.outcomes[suite] = Some(outcome);
        self.actions.push_back(Action::Seal { serial: serial.clone(), suite, outcome });
        self.next_suite(serial);
    }

    fn wait_in_use(&mut self, serial: Serial, suite: usize, why: &str) {
        let polls = self.limits.polls;
        let Some(drive) = self.drives.get_mut(&serial) else {
            return;
        };
        drive.polls += 1;
        if drive.polls > polls {
            let why = why.to_owned();
            self.release(&serial, DriveEnd::InUse { why });
            return;
        }
        self.wait(serial, suite, self.limits.poll);
    }

    fn wait(&mut self, serial: Serial, suite: usize, after: Duration) {
        let timer = self.timer(&serial, after);
        self.set(&serial, Phase::Waiting { suite, timer });
    }

    fn timer(&mut self, serial: &Serial, after: Duration) -> u64 {
        self.timers += 1;
        let timer = self.timers;
        let serial = serial.clone();
        self.actions.push_back(Action::SetTimer { serial, timer, after });
        timer
    }

    fn timer_fired(&mut self, serial: Serial, fired: u64) {
        match self.phase(&serial).cloned() {
            Some(Phase::Waiting { suite, timer }) if timer == fired => {
                self.set(&serial, Phase::Preparing { suite });
                self.actions.push_back(Action::Prepare { serial, suite });
            }
            Some(Phase::Unclaimed { timer }) if timer == fired => {
                self.set(&serial, Phase::Queued);
            }
            Some(Phase::Lost { timer, .. }) if timer == Some(fired) => {
                self.actions.push_back(Action::LookFor { serial });
            }
            _ => {}
        }
    }

    fn looked(&mut self, serial: Serial, is_there: bool) {
        let Some(Phase::Lost { suite, .. }) = self.phase(&serial).cloned() else {
            return;
        };
        if is_there {
            self.set(&serial, Phase::Returned { suite });
        } else if self.others_active(&serial) {
            let timer = Some(self.timer(&serial, self.limits.poll));
            self.set(&serial, Phase::Lost { suite, timer });
        } else {
            self.release(&serial, DriveEnd::Lost);
        }
    }

    /// Another drive keeps the task alive.
    fn others_active(&self, serial: &Serial) -> bool {
        let others = self.drives.iter().filter(|(other, _)| *other != serial);
        others.map(|(_, drive)| &drive.phase).any(|phase| {
            !matches!(phase, Phase::Ended(_) | Phase::Lost { .. } | Phase::Releasing(_))
        })
    }

    fn release(&mut self, serial: &Serial, end: DriveEnd) {
        let Some(drive) = self.drives.get_mut(serial) else {
            return;
        };
        if matches!(drive.phase, Phase::Ended(_) | Phase::Releasing(_)) {
            return;
        }
        let (state, reason) = end.claim_state();
        drive.phase = Phase::Releasing(end);
        self.actions.push_back(Action::Release { serial: serial.clone(), state, reason });
    }

    /// Begins drives while there is room, and ends when none is left.
    fn schedule(&mut self) {
        for serial in self.order.clone() {
            let phase = self.phase(&serial).cloned();
            let (next, action) = match phase {
                Some(Phase::Queued) => (Phase::Claiming, Action::Claim { serial: serial.clone() }),
                Some(Phase::Returned { suite }) => {
                    let serial = serial.clone();
                    (Phase::Preparing { suite }, Action::Prepare { serial, suite })
                }
                // Waits only for the store: no place is kept, nothing to release.
                Some(Phase::Unclaimed { .. }) if self.stop_reason().is_some() => {
                    if let Some(end) = self.stop_reason() {
                        self.set(&serial, Phase::Ended(end));
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(end) = self.stop_reason() {
                // Not begun: its claim is not touched.
                self.set(&serial, Phase::Ended(end));
                continue;
            }
            let measured = self.drives.values().filter(|drive| drive.is_measured());
            if measured.count() < self.limits.concurrent {
                self.set(&serial, next);
                self.actions.push_back(action);
            }
        }
        let ends: Option<Vec<&DriveEnd>> = self.drives.values().map(DriveTask::end).collect();
        if let Some(ends) = ends
            && !self.finished
        {
            let status = drive::task_status(&ends, self.end_signal);
            self.finished = true;
            self.actions.push_back(Action::Finish { status });
        }
    }
}
