//! Children of a task: `assay run` processes that write real journals.

use std::collections::VecDeque;
use std::path::PathBuf;

use assay_fleet::Serial;
use assay_fleet::task::folder::journal_end;
use assay_fleet::task::machine::{ChildEnd, Event, JournalEnd};
use assay_store::model::{Entry, RunEnd};
use assay_store::read::CellState;
use assay_store::{Destination, RunWriter, StoreError};

use super::{CELLS, FOLDERS, World, at, manifest};

/// An `assay run`.
pub(super) struct Child {
    pub(super) serial: Serial,
    pub(super) host: usize,
    pub(super) folder: PathBuf,
    pub(super) writer: Option<RunWriter>,
    pub(super) left: VecDeque<String>,
    pub(super) stop_after_cell: bool,
    pub(super) terminated: bool,
    /// Number of the task that receives its end.
    pub(super) task: u64,
}

impl World {
    pub(super) fn prepare(&mut self, index: usize, serial: &Serial, suite: usize) -> Event {
        let source = self.tasks[index].sources[serial][suite].clone();
        let serial = serial.clone();
        match source.prepare() {
            Ok(folder) => Event::Prepared { serial, folder },
            Err(error) => {
                assert!(error.is_temporary(), "{error}");
                Event::PrepareFailed { serial, why: error.to_string(), is_temporary: true }
            }
        }
    }

    pub(super) fn start_child(
        &mut self,
        index: usize,
        serial: &Serial,
        suite: usize,
        resume: bool,
    ) {
        let (number, host) = (self.tasks[index].number, self.tasks[index].host);
        let folder = self.local(host, serial).join(FOLDERS[suite]);
        let ended = |end: ChildEnd| Event::ChildEnded {
            serial: serial.clone(),
            end,
            journal: journal_end(&folder).unwrap(),
            why: "refused".to_owned(),
        };
        // The exclusive claim on the device, and the drive itself.
        let is_measured = self.children.iter().any(|child| child.serial == *serial);
        let is_here = self.drives[serial] == host;
        let refused = match (is_here, is_measured) {
            (false, _) => Some(ended(ChildEnd::Exit(2))),
            (true, true) => Some(ended(ChildEnd::Exit(75))),
            _ => None,
        };
        if let Some(event) = refused {
            self.tasks[index].inbox.push_back(event);
            return;
        }
        let writer = match resume {
            true => RunWriter::resume(&folder).map(|(writer, run)| {
                let left = run.cells.iter().filter(|cell| cell.state != CellState::Finished);
                (writer, left.map(|cell| cell.plan.id.clone()).collect())
            }),
            false => {
                let made = RunWriter::create(
                    &Destination::At(folder.clone()),
                    &manifest(serial, FOLDERS[suite], number),
                );
                made.map(|writer| (writer, (0..CELLS).map(|n| format!("d/c{n}")).collect()))
            }
        };
        let (mut writer, left): (RunWriter, VecDeque<String>) = match writer {
            Ok(begun) => begun,
            // Another attempt's process was faster, as `child::launch` finds it.
            Err(StoreError::Busy(_) | StoreError::NotEmpty(_)) => {
                let event = ended(ChildEnd::Exit(75));
                self.tasks[index].inbox.push_back(event);
                return;
            }
            // An orphan completed it since it was made ready.
            Err(StoreError::AlreadyComplete(_)) => {
                let event = ended(ChildEnd::Exit(2));
                self.tasks[index].inbox.push_back(event);
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let resumed = writer.resumed;
        writer.append(&Entry::Start { at: at(), resumed }).unwrap();
        self.children.push(Child {
            serial: serial.clone(),
            host,
            folder,
            writer: Some(writer),
            left,
            stop_after_cell: false,
            terminated: false,
            task: number,
        });
    }

    /// The next line of a child's journal, or its end.
    pub(super) fn measure(&mut self, index: usize) {
        let child = &mut self.children[index];
        let mut writer = child.writer.take().unwrap();
        if child.terminated || child.stop_after_cell || child.left.is_empty() {
            let complete = child.left.is_empty();
            let (outcome, status) = match complete {
                true => (RunEnd::Complete, 0),
                false => (RunEnd::Interrupted, 130),
            };
            writer.finish(outcome, &at()).unwrap();
            self.end_child(index, ChildEnd::Exit(status));
            return;
        }
        let cell = child.left.pop_front().unwrap();
        let start = Entry::CellStart { cell: cell.clone(), at: at() };
        let finish = Entry::CellFinish { cell: cell.clone(), at: at(), results: Vec::new() };
        writer.append(&start).unwrap();
        writer.append(&finish).unwrap();
        let folder = child.folder.file_name().unwrap().to_string_lossy().into_owned();
        *self.finished.entry((child.serial.clone(), folder, cell)).or_default() += 1;
        child.writer = Some(writer);
    }

    /// The child has ended; its task receives the event, if it still runs.
    pub(super) fn end_child(&mut self, index: usize, end: ChildEnd) {
        let child = self.children.remove(index);
        drop(child.writer);
        let journal = journal_end(&child.folder).unwrap();
        if let Some(task) = self.tasks.iter_mut().find(|task| task.number == child.task) {
            task.inbox.push_back(Event::ChildEnded {
                serial: child.serial,
                end,
                journal,
                why: "as told".to_owned(),
            });
        }
    }

    pub(super) fn lose_drive(&mut self, index: usize) {
        let child = self.children.remove(index);
        if let Some(writer) = child.writer {
            writer.finish(RunEnd::Interrupted, &at()).unwrap();
        }
        if let Some(task) = self.tasks.iter_mut().find(|task| task.number == child.task) {
            task.inbox.push_back(Event::ChildEnded {
                serial: child.serial,
                end: ChildEnd::Exit(1),
                journal: JournalEnd::Interrupted { drive_lost: true },
                why: "drive lost".to_owned(),
            });
        }
    }
}
