//! Simulated drives share nothing, and a step of one drive decides nothing about another's: each
//! thread executes its drive's cells as a run of that drive alone would, and sends what it records
//! to the thread that holds the run folder. That thread takes the cells in turns, the first of each
//! drive, then the second of each, and so on, so that journal and progress have the same order
//! however the threads were scheduled, and the events of a cell stay together.

use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use assay_store::model::Entry;
use assay_store::{EncodedEntries, StoreError};

use super::run_log::RunLog;
use super::{ExecutionState, Executor, Resume, warnings};
use crate::ExecuteError;
use crate::events::{Events, RunEvent, RunListener};
use assay_suite::expand::RunPlan;

/// A drive begins no further cell while more than this waits to be written.
const MAX_WAITING_BYTES: usize = 64 << 20;

enum Event {
    Entry(EncodedEntries),
    Sync,
    /// Check whether this cell was in steady state.
    CheckSteadyState(String),
    Run(RunEvent<'static>),
}

#[derive(Default)]
struct Waiting {
    bytes: Mutex<usize>,
    fewer: Condvar,
}

impl Waiting {
    fn add(&self, bytes: usize) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) += bytes;
    }

    fn remove(&self, bytes: usize) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
        self.fewer.notify_one();
    }

    fn wait(&self) {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_much = |bytes: &mut usize| *bytes > MAX_WAITING_BYTES;
        drop(self.fewer.wait_while(bytes, is_much));
    }
}

/// A drive's end of its events. The receiver takes all until the thread ends.
struct ThreadLog {
    events: Sender<Event>,
    waiting: Arc<Waiting>,
    run_id: String,
    folder: PathBuf,
}

impl ThreadLog {
    fn send(&self, event: Event) {
        let _ = self.events.send(event);
    }
}

impl RunLog for ThreadLog {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn append(&self, entry: &Entry) -> Result<(), StoreError> {
        let mut entries = EncodedEntries::default();
        entries.push(entry, &self.folder)?;
        self.append_encoded(entries)
    }

    fn append_encoded(&self, entry: EncodedEntries) -> Result<(), StoreError> {
        self.waiting.add(entry.bytes());
        self.send(Event::Entry(entry));
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.send(Event::Sync);
        Ok(())
    }

    fn wait_for_room(&self) {
        self.waiting.wait();
    }

    fn not_steady_reasons(&self, cell: &str) -> Result<Vec<(usize, String)>, StoreError> {
        self.send(Event::CheckSteadyState(cell.to_owned()));
        Ok(Vec::new())
    }
}

struct ThreadListener(Sender<Event>);

impl RunListener for ThreadListener {
    fn event(&mut self, _plan: &RunPlan, event: &RunEvent<'_>) {
        if let Some(event) = event.deferred() {
            let _ = self.0.send(Event::Run(event));
        }
    }
}

struct DriveThread<'scope> {
    drive: usize,
    /// Until the thread has ended.
    events: Option<Receiver<Event>>,
    waiting: Arc<Waiting>,
    thread: thread::ScopedJoinHandle<'scope, Result<ExecutionState, ExecuteError>>,
}

struct Taker<'a, 'e> {
    log: &'a dyn RunLog,
    events: &'a Events<'e>,
}

impl Taker<'_, '_> {
    fn take(&self, event: Event) -> Result<(), StoreError> {
        match event {
            Event::Entry(entry) => self.log.append_encoded(entry)?,
            Event::Sync => self.log.sync()?,
            Event::CheckSteadyState(cell) => {
                let reasons = self.log.not_steady_reasons(&cell)?;
                for warning in warnings::not_steady(&cell, reasons) {
                    warnings::record_warning(self.log, self.events, warning)?;
                }
            }
            Event::Run(event) => self.events.pass_on(&event),
        }
        Ok(())
    }

    /// After an error the threads are stopped.
    fn take_all(
        &self,
        threads: &mut [DriveThread<'_>],
        stop: &AtomicBool,
    ) -> Result<(), StoreError> {
        let mut taken = Ok(());
        while threads.iter().any(|thread| thread.events.is_some()) {
            for thread in threads.iter_mut() {
                while let Some(events) = &thread.events {
                    let Ok(event) = events.recv() else {
                        thread.events = None;
                        break;
                    };
                    let is_last = matches!(event, Event::Run(RunEvent::CellPassed { .. }));
                    if let Event::Entry(entry) = &event {
                        thread.waiting.remove(entry.bytes());
                    }
                    if taken.is_ok() {
                        taken = self.take(event);
                        if taken.is_err() {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                    if is_last {
                        break;
                    }
                }
            }
        }
        taken
    }
}

impl Executor<'_, '_> {
    pub(super) fn run_in_threads(
        &mut self,
        cells: Range<usize>,
        drives: &BTreeSet<usize>,
        resume: &Resume,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        let (plan, stop, audit) = (self.plan, self.stop, self.audit);
        let (drive_states, start_celsius) = (self.drive_states, self.start_celsius);
        let (log, events) = (self.log, self.events);
        let live = events.live;
        thread::scope(|scope| {
            let mut threads = Vec::with_capacity(drives.len());
            for (drive, sessions) in self.drives.split() {
                if !drives.contains(&drive) {
                    continue;
                }
                let (sender, events) = mpsc::channel();
                let waiting = Arc::new(Waiting::default());
                let log = ThreadLog {
                    events: sender.clone(),
                    waiting: waiting.clone(),
                    run_id: log.run_id().to_owned(),
                    folder: log.folder().to_owned(),
                };
                let (cells, mut state) = (cells.clone(), state.for_drive());
                let thread = scope.spawn(move || {
                    let mut listener = ThreadListener(sender);
                    let events = Events::new(plan, live, &mut listener);
                    let mut executor = Executor {
                        plan,
                        drives: sessions,
                        log: &log,
                        events: &events,
                        audit,
                        stop,
                        drive_states,
                        start_celsius,
                    };
                    let ran = executor.run_in_turn(cells, Some(drive), resume, &mut state);
                    if ran.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    ran.map(|()| state)
                });
                threads.push(DriveThread { drive, events: Some(events), waiting, thread });
            }
            let taker = Taker { log, events };
            let mut result = taker.take_all(&mut threads, stop).map_err(ExecuteError::Store);
            for DriveThread { drive, thread, .. } in threads {
                match thread.join() {
                    Ok(Ok(of_drive)) => state.merge(drive, of_drive),
                    Ok(Err(error)) => result = result.and(Err(error)),
                    // A panic is a defect.
                    Err(panic) => resume_unwind(panic),
                }
            }
            result
        })
    }
}
