//! Ships a drive's folders at the end of each cell, every [`Pace::every`] ticks, and at the end.
//! Measuring never waits for this thread. A shared store that is away is tried again, with pauses
//! up to [`LONGEST_PAUSE`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_device::host::{parse_date, wall_clock};

use super::claimed_drive::{ClaimedDrive, TakeError};
use super::machine::Event;
use super::new_lines::NewLines;
use super::outages::Outages;
use super::view::TaskView;
use crate::Serial;
use crate::claim::{ClaimError, ClaimState, SuiteOutcome};

/// While the shared store is away.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Tries after the task got a signal.
const TRIES_AT_THE_END: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Time between two looks at the journal.
    pub tick: Duration,
    /// Ticks after which data is shipped even in the middle of a cell.
    pub every: u32,
}

pub enum Order {
    /// Ship this suite's folder from now on.
    Activate(usize),
    Seal(usize, SuiteOutcome),
    /// The suite and the number of I/O errors so far.
    CountIoError(usize, u32),
    Release(ClaimState, Option<String>),
}

pub struct Shipping {
    pub claimed_drive: ClaimedDrive,
    pub serial: Serial,
    pub orders: Receiver<Order>,
    pub events: Sender<Event>,
    /// Set when the task got a signal: then tries are few.
    pub ending: Arc<AtomicBool>,
    pub pace: Pace,
    pub view: Arc<TaskView>,
    /// Reads the state for another host; empty for simulated drives.
    pub drive_state: Box<dyn Fn() -> Vec<u8> + Send>,
    pub outages: Arc<Outages>,
}

enum Course {
    GoesOn,
    /// The task ends before the shared store could be written, with the last error.
    GivesUp(String),
    Ends,
}

impl Shipping {
    /// Ends when the drive is released, or its claim is lost.
    pub fn run(mut self) {
        let mut look = Look::default();
        let mut ticks = 0;
        loop {
            match self.orders.recv_timeout(self.pace.tick) {
                Ok(order) => {
                    if let Course::Ends = self.carry_out(order, &mut look) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    ticks += 1;
                    if look.cell_ended() || ticks >= self.pace.every {
                        ticks = 0;
                        if let Course::Ends = self.try_once() {
                            return;
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn carry_out(&mut self, order: Order, look: &mut Look) -> Course {
        match order {
            Order::Activate(suite) => {
                self.claimed_drive.activate(suite);
                *look = Look::at(&self.claimed_drive.folder(suite));
                Course::GoesOn
            }
            Order::Seal(suite, outcome) => self.until_done(|claimed_drive, state| {
                claimed_drive.ship(state)?;
                claimed_drive.seal(suite, outcome)
            }),
            Order::CountIoError(suite, total) => {
                self.until_done(|claimed_drive, _| Ok(claimed_drive.count_io_error(suite, total)?))
            }
            Order::Release(state, reason) => {
                let done = self.until_done(|claimed_drive, drive_state| {
                    claimed_drive.ship(drive_state)?;
                    claimed_drive.release(state, reason.as_deref())
                });
                let serial = self.serial.clone();
                let event = match done {
                    Course::GoesOn => Some(Event::Released { serial }),
                    Course::GivesUp(why) => Some(Event::NotShipped { serial, why }),
                    Course::Ends => None,
                };
                let _ = event.map(|event| self.events.send(event));
                Course::Ends
            }
        }
    }

    /// A store that is away is tried again at the next turn.
    fn try_once(&mut self) -> Course {
        let state = (self.drive_state)();
        let shipped = self.claimed_drive.ship(&state);
        self.show(shipped.is_ok());
        match shipped {
            Ok(()) => Course::GoesOn,
            Err(error) if error.is_temporary() => {
                let waiting_bytes = self.claimed_drive.waiting_bytes();
                self.outages.failed(&self.serial, &error, waiting_bytes);
                Course::GoesOn
            }
            Err(error) => self.fatal(&error),
        }
    }

    fn until_done(
        &mut self,
        mut work: impl FnMut(&mut ClaimedDrive, &[u8]) -> Result<(), TakeError>,
    ) -> Course {
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            let state = (self.drive_state)();
            let worked = work(&mut self.claimed_drive, &state);
            self.show(worked.is_ok());
            let error = match worked {
                Ok(()) => return Course::GoesOn,
                Err(error) if error.is_temporary() => error,
                Err(error) => return self.fatal(&error),
            };
            tries += 1;
            let waiting_bytes = self.claimed_drive.waiting_bytes();
            if self.ending.load(Ordering::SeqCst) && tries >= TRIES_AT_THE_END {
                self.outages.gave_up(&self.serial, &error, waiting_bytes);
                return Course::GivesUp(error.to_string());
            }
            self.outages.failed(&self.serial, &error, waiting_bytes);
            wait(pause, &self.ending);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn show(&self, is_shipped: bool) {
        if is_shipped {
            self.outages.over();
        }
        let waiting_bytes = self.claimed_drive.waiting_bytes();
        self.view.update(&self.serial, |drive| {
            drive.waiting_bytes = waiting_bytes;
            if is_shipped {
                drive.shipped_at_s = parse_date(&wall_clock()).ok();
            }
        });
    }

    fn fatal(&self, error: &TakeError) -> Course {
        let serial = self.serial.clone();
        let why = error.to_string();
        let _ = self.events.send(match error {
            TakeError::Claim(ClaimError::Fenced { .. }) => Event::Fenced { serial, why },
            _ => Event::ShipFailed { serial, why },
        });
        Course::Ends
    }
}

/// Not longer than a moment once the task ends.
fn wait(pause: Duration, ending: &AtomicBool) {
    const STEP: Duration = Duration::from_millis(100);
    let mut left = pause;
    while !left.is_zero() && !ending.load(Ordering::SeqCst) {
        let step = left.min(STEP);
        std::thread::park_timeout(step);
        left = left.saturating_sub(step);
    }
}

/// Finds ends of cells in the new part of a journal.
#[derive(Default)]
struct Look(NewLines);

impl Look {
    fn at(folder: &Path) -> Look {
        Look(NewLines::from_end(folder))
    }

    /// Whether a cell ended since the last look.
    fn cell_ended(&mut self) -> bool {
        const ENDS: [&[u8]; 2] = [b"\"event\":\"cell_finish\"", b"\"event\":\"cell_failed\""];
        let Some(bytes) = self.0.take() else {
            return false;
        };
        let lines = bytes.split(|&byte| byte == b'\n');
        // The event is at the start of a line, after its checksum.
        let heads = lines.map(|line| &line[..line.len().min(48)]);
        heads
            .into_iter()
            .any(|head| ENDS.iter().any(|end| head.windows(end.len()).any(|part| part == *end)))
    }
}
