//! A file system of one file, in this process, through /dev/fuse: each of its calls answers as
//! planned, or never.
//!
//! The kernel waits for an answer without a way to interrupt it once the call has been taken from
//! /dev/fuse: what a lost NFS server or a hung controller does to a process.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fuser::{
    BackgroundSession, FUSE_ROOT_ID, FileAttr, FileType, Filesystem, ReplyAttr, ReplyData,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request,
};
use tempfile::TempDir;

use crate::fuse::{self, EIO, ENOENT};

/// The file's name, and so the serial that `--destroy` names.
pub const NAME: &str = "disk";
const FILE: u64 = 2;

/// A call of the file system on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    Attributes,
    Open,
    Read,
    Write,
    Sync,
    /// The last act of close(2).
    Flush,
}

/// What a call does in place of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No answer, until [`FaultFs::answer_all`].
    Stall,
    /// EIO.
    Fail,
    /// The first half is transferred, and that is the answer.
    Short,
    /// A write keeps its first half only and claims to be whole.
    Tear,
    /// A write is not done and claims to be.
    Lie,
}

/// An answer that was not given: dropping it answers EIO.
type Held = Box<dyn std::any::Any + Send>;

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Fault of a call, how many calls go well before, and how many have it.
    faults: HashMap<Call, (Fault, u64, u64)>,
    held: Vec<Held>,
}

impl State {
    /// The fault of this call, if it is due.
    fn fault(&mut self, call: Call) -> Option<Fault> {
        let (fault, before, times) = self.faults.get_mut(&call)?;
        if *before > 0 {
            *before -= 1;
            return None;
        }
        *times = times.checked_sub(1)?;
        Some(*fault)
    }

    fn attributes(&self, inode: u64) -> FileAttr {
        let (kind, size) = match inode {
            FUSE_ROOT_ID => (FileType::Directory, 0),
            _ => (FileType::RegularFile, self.bytes.len() as u64),
        };
        fuse::attributes(inode, kind, size, 1)
    }
}

/// The mounted file system. Dropping it answers what is held and unmounts it.
pub struct FaultFs {
    state: Arc<Mutex<State>>,
    session: Option<BackgroundSession>,
    folder: TempDir,
}

impl FaultFs {
    /// With a file of these bytes; `None`, with a message, where nothing can be mounted.
    pub fn mount(bytes: Vec<u8>) -> Option<FaultFs> {
        let folder = TempDir::new_in("/dev/shm").unwrap();
        let state = Arc::new(Mutex::new(State { bytes, ..State::default() }));
        let session = fuse::mount(Calls(Arc::clone(&state)), folder.path())?;
        Some(FaultFs { state, session: Some(session), folder })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    /// From the call after `before` more on.
    pub fn plan(&self, call: Call, fault: Fault, before: u64) {
        self.plan_times(call, fault, before, u64::MAX);
    }

    /// As [`FaultFs::plan`], for so many calls.
    pub fn plan_times(&self, call: Call, fault: Fault, before: u64, times: u64) {
        let mut state = self.state.lock().unwrap();
        state.faults.insert(call, (fault, before, times));
    }

    /// No faults, and an answer to every call that waits.
    pub fn answer_all(&self) {
        let held = {
            let mut state = self.state.lock().unwrap();
            state.faults.clear();
            std::mem::take(&mut state.held)
        };
        drop(held);
    }

    /// Calls that wait for an answer.
    pub fn held(&self) -> usize {
        self.state.lock().unwrap().held.len()
    }
}

impl Drop for FaultFs {
    fn drop(&mut self) {
        self.answer_all();
        drop(self.session.take());
    }
}

struct Calls(Arc<Mutex<State>>);

/// Answers of one kind.
trait Answer: Send + Sized + 'static {
    fn fail(self, errno: i32);
}
macro_rules! answers {
    ($($reply:ty),*) => { $(impl Answer for $reply { fn fail(self, errno: i32) { self.error(errno); } })* };
}
answers!(ReplyAttr, ReplyOpen, ReplyData, ReplyWrite, ReplyEmpty);

impl Calls {
    /// Holds or fails the answer where the plan has it so; otherwise `work` gives it.
    fn answer<A: Answer>(
        &self,
        call: Call,
        reply: A,
        work: impl FnOnce(&mut State, Option<Fault>, A),
    ) {
        let mut state = self.0.lock().unwrap();
        match state.fault(call) {
            Some(Fault::Stall) => state.held.push(Box::new(reply)),
            Some(Fault::Fail) => reply.fail(EIO),
            other => work(&mut state, other, reply),
        }
    }
}

impl Filesystem for Calls {
    fn lookup(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEntry) {
        let state = self.0.lock().unwrap();
        match parent == FUSE_ROOT_ID && Path::new(name) == Path::new(NAME) {
            true => reply.entry(&Duration::ZERO, &state.attributes(FILE), 0),
            false => reply.error(ENOENT),
        }
    }

    fn getattr(&mut self, _: &Request<'_>, inode: u64, _: Option<u64>, reply: ReplyAttr) {
        if inode == FUSE_ROOT_ID {
            reply.attr(&Duration::ZERO, &self.0.lock().unwrap().attributes(inode));
            return;
        }
        self.answer(Call::Attributes, reply, |state, _, reply| {
            reply.attr(&Duration::ZERO, &state.attributes(inode));
        });
    }

    fn open(&mut self, _: &Request<'_>, _: u64, _: i32, reply: ReplyOpen) {
        self.answer(Call::Open, reply, |_, _, reply| reply.opened(0, 0));
    }

    fn read(
        &mut self,
        _: &Request<'_>,
        _: u64,
        _: u64,
        offset: i64,
        size: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyData,
    ) {
        self.answer(Call::Read, reply, |state, fault, reply| {
            let from = (offset as usize).min(state.bytes.len());
            let size = if fault == Some(Fault::Short) { size / 2 } else { size };
            let to = (from + size as usize).min(state.bytes.len());
            reply.data(&state.bytes[from..to]);
        });
    }

    fn write(
        &mut self,
        _: &Request<'_>,
        _: u64,
        _: u64,
        offset: i64,
        data: &[u8],
        _: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyWrite,
    ) {
        self.answer(Call::Write, reply, |state, fault, reply| {
            let kept = match fault {
                Some(Fault::Short | Fault::Tear) => data.len() / 2,
                Some(Fault::Lie) => 0,
                _ => data.len(),
            };
            let from = offset as usize;
            let needed = from + kept;
            if state.bytes.len() < needed {
                state.bytes.resize(needed, 0);
            }
            state.bytes[from..needed].copy_from_slice(&data[..kept]);
            reply.written(match fault {
                Some(Fault::Short) => kept as u32,
                _ => data.len() as u32,
            });
        });
    }

    fn fsync(&mut self, _: &Request<'_>, _: u64, _: u64, _: bool, reply: ReplyEmpty) {
        self.answer(Call::Sync, reply, |_, _, reply| reply.ok());
    }

    fn flush(&mut self, _: &Request<'_>, _: u64, _: u64, _: u64, reply: ReplyEmpty) {
        self.answer(Call::Flush, reply, |_, _, reply| reply.ok());
    }
}
