//! A file system in this process, through /dev/fuse, whose power fails at a chosen change.
//! Afterwards it holds what POSIX promises and no more: contents as of the last fsync of the file,
//! names as of the last fsync of the folder. Of later changes, each write may have reached the
//! medium or not, whole or torn at a sector, in any order; each name may be new or old. Or it
//! refuses changes from a chosen one on: full, over quota, read-only, failing.

pub mod state;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, FUSE_ROOT_ID, Filesystem, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyWrite, Request, TimeOrNow,
};
use tempfile::TempDir;

use crate::fuse::{self, ENOENT};
use state::{Change, EEXIST, NameChange, Node, State};

const ENOTEMPTY: i32 = 39;

/// The mounted file system. Dropping it unmounts it.
pub struct PowerFailFs {
    state: Arc<Mutex<State>>,
    session: Option<BackgroundSession>,
    folder: TempDir,
}

impl PowerFailFs {
    /// With these files, durable; the power fails at change `fails_at`, from 0. `None`, with a
    /// message, where nothing can be mounted.
    pub fn mount(files: &[(&str, Vec<u8>)], fails_at: u64) -> Option<PowerFailFs> {
        let mut nodes = BTreeMap::from([(FUSE_ROOT_ID, Node::folder())]);
        for (at, (name, bytes)) in files.iter().enumerate() {
            let inode = FUSE_ROOT_ID + 1 + at as u64;
            let node =
                Node { bytes: bytes.clone(), durable: bytes.clone(), links: 1, ..Node::default() };
            nodes.insert(inode, node);
            let root = nodes.get_mut(&FUSE_ROOT_ID).unwrap();
            root.durable_names.insert((*name).to_owned(), inode);
            root.names.as_mut().unwrap().insert((*name).to_owned(), inode);
        }
        PowerFailFs::with(State::new(nodes, fails_at))
    }

    /// As [`PowerFailFs::mount`], with empty folders.
    pub fn mount_folders(folders: &[&str], fails_at: u64) -> Option<PowerFailFs> {
        let mut state = State::new(BTreeMap::from([(FUSE_ROOT_ID, Node::folder())]), u64::MAX);
        for name in folders {
            state.add(FUSE_ROOT_ID, name, Node::folder()).unwrap();
        }
        state.sync_names(FUSE_ROOT_ID);
        PowerFailFs::with(State::new(state.nodes, fails_at))
    }

    fn with(state: State) -> Option<PowerFailFs> {
        let folder = TempDir::new_in("/dev/shm").unwrap();
        let state = Arc::new(Mutex::new(state));
        let session = fuse::mount(Calls(Arc::clone(&state)), folder.path())?;
        Some(PowerFailFs { state, session: Some(session), folder })
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// All changes from this one on fail with an error; `None`: they succeed again.
    pub fn refuse(&self, from: Option<(u64, i32)>) {
        let range = from.map(|(from, errno)| (from..u64::MAX, errno));
        self.state.lock().unwrap().refused = range;
    }

    /// Sets what goes wrong.
    pub fn change(&self, set: impl FnOnce(&mut State)) {
        set(&mut self.state.lock().unwrap());
    }

    /// All names, of files and folders.
    pub fn names(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let folders = state.nodes.values().filter_map(|node| node.names.as_ref());
        folders.flat_map(|names| names.keys().cloned()).collect()
    }

    /// Changes so far.
    pub fn changes(&self) -> u64 {
        self.state.lock().unwrap().changes
    }

    pub fn has_failed(&self) -> bool {
        self.state.lock().unwrap().failed
    }

    /// What a file held when the power failed, and what of it was durable.
    pub fn contents(&self, path: &str) -> Option<(Vec<u8>, Vec<u8>)> {
        let state = self.state.lock().unwrap();
        let inode = Path::new(path).components().try_fold(FUSE_ROOT_ID, |parent, part| {
            state.child(parent, part.as_os_str().to_str()?)
        })?;
        let node = &state.nodes[&inode];
        Some((node.bytes.clone(), node.durable.clone()))
    }

    /// True with a file in the root whose name begins and ends so.
    pub fn has(&self, begin: &str, end: &str) -> bool {
        let state = self.state.lock().unwrap();
        let names = state.nodes[&FUSE_ROOT_ID].names.iter().flatten();
        let mut names = names.map(|(name, _)| name);
        names.any(|name| name.starts_with(begin) && name.ends_with(end))
    }

    /// The file system after power returns; `seed` decides what of the changes that were not
    /// durable is there.
    pub fn after_power_returns(&self, seed: u64) -> PowerFailFs {
        let nodes = self.state.lock().unwrap().survivors(seed);
        PowerFailFs::with(State::new(nodes, u64::MAX)).expect("it could be mounted before")
    }
}

impl PowerFailFs {
    /// The file system after the process was ended at the change at which the power fails: all that
    /// it had written is there.
    pub fn after_a_kill(&self) -> PowerFailFs {
        let nodes = self.state.lock().unwrap().nodes.clone();
        PowerFailFs::with(State::new(nodes, u64::MAX)).expect("it could be mounted before")
    }
}

impl Drop for PowerFailFs {
    fn drop(&mut self) {
        drop(self.session.take());
    }
}

macro_rules! entry {
    ($result:expr, $reply:ident) => {
        match $result {
            Ok(attributes) => $reply.entry(&Duration::ZERO, &attributes, 0),
            Err(errno) => $reply.error(errno),
        }
    };
}
macro_rules! empty {
    ($result:expr, $reply:ident) => {
        match $result {
            Ok(()) => $reply.ok(),
            Err(errno) => $reply.error(errno),
        }
    };
}
macro_rules! attributes {
    ($result:expr, $reply:ident) => {
        match $result {
            Ok(attributes) => $reply.attr(&Duration::ZERO, &attributes),
            Err(errno) => $reply.error(errno),
        }
    };
}

struct Calls(Arc<Mutex<State>>);

fn text(name: &OsStr) -> &str {
    name.to_str().expect("names of the tests are UTF-8")
}

impl Calls {
    fn with<T>(&self, call: impl FnOnce(&mut State) -> Result<T, i32>) -> Result<T, i32> {
        call(&mut self.0.lock().unwrap())
    }

    fn remove(&self, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.with(|state| {
            state.change()?;
            let inode = state.child(parent, text(name)).ok_or(ENOENT)?;
            let names = state.node(inode)?.names.as_ref();
            if names.is_some_and(|names| !names.is_empty()) {
                return Err(ENOTEMPTY);
            }
            let node = state.node(inode)?;
            node.links = node.links.saturating_sub(1);
            state.rename(NameChange { given: None, taken: Some((parent, text(name).to_owned())) });
            Ok(())
        });
        empty!(removed, reply);
    }
}

impl Filesystem for Calls {
    fn lookup(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEntry) {
        let found = self.with(|state| {
            state.alive()?;
            state.attributes(state.child(parent, text(name)).ok_or(ENOENT)?)
        });
        entry!(found, reply);
    }

    fn getattr(&mut self, _: &Request<'_>, inode: u64, _: Option<u64>, reply: ReplyAttr) {
        attributes!(self.with(|state| state.attributes(inode)), reply);
    }

    fn setattr(
        &mut self,
        _: &Request<'_>,
        inode: u64,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<u64>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<u32>,
        reply: ReplyAttr,
    ) {
        let set = self.with(|state| {
            if let Some(size) = size {
                state.change()?;
                state.node(inode)?.edit(Change::Length(size as usize));
            }
            state.attributes(inode)
        });
        attributes!(set, reply);
    }

    fn mkdir(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let made = self.with(|state| {
            state.change()?;
            let inode = state.add(parent, text(name), Node::folder())?;
            state.attributes(inode)
        });
        entry!(made, reply);
    }

    fn create(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let made = self.with(|state| {
            state.change()?;
            let file = Node { links: 1, ..Node::default() };
            let inode = state.add(parent, text(name), file)?;
            state.attributes(inode)
        });
        match made {
            Ok(attributes) => reply.created(&Duration::ZERO, &attributes, 0, 0, 0),
            Err(errno) => reply.error(errno),
        }
    }

    fn unlink(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rmdir(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rename(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        new_parent: u64,
        new_name: &OsStr,
        flags: u32,
        reply: ReplyEmpty,
    ) {
        /// `RENAME_NOREPLACE`, rename(2).
        const NO_REPLACE: u32 = 1;
        let renamed = self.with(|state| {
            state.change()?;
            let inode = state.child(parent, text(name)).ok_or(ENOENT)?;
            if flags & NO_REPLACE != 0 && state.child(new_parent, text(new_name)).is_some() {
                return Err(EEXIST);
            }
            state.rename(NameChange {
                given: Some((new_parent, text(new_name).to_owned(), inode)),
                taken: Some((parent, text(name).to_owned())),
            });
            Ok(())
        });
        empty!(renamed, reply);
    }

    fn link(&mut self, _: &Request<'_>, inode: u64, parent: u64, name: &OsStr, reply: ReplyEntry) {
        let linked = self.with(|state| {
            state.change()?;
            if state.child(parent, text(name)).is_some() {
                return Err(EEXIST);
            }
            state.node(inode)?.links += 1;
            state.rename(NameChange {
                given: Some((parent, text(name).to_owned(), inode)),
                taken: None,
            });
            state.attributes(inode)
        });
        entry!(linked, reply);
    }

    fn read(
        &mut self,
        _: &Request<'_>,
        inode: u64,
        _: u64,
        offset: i64,
        size: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyData,
    ) {
        let read = self.with(|state| {
            state.alive()?;
            let bytes = &state.node(inode)?.bytes;
            let from = (offset as usize).min(bytes.len());
            let to = (from + size as usize).min(bytes.len());
            Ok(bytes[from..to].to_vec())
        });
        match read {
            Ok(bytes) => reply.data(&bytes),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &mut self,
        _: &Request<'_>,
        inode: u64,
        _: u64,
        offset: i64,
        data: &[u8],
        _: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyWrite,
    ) {
        let written = self.with(|state| {
            let is_short = state.short_at == Some(state.changes);
            state.change()?;
            let data = &data[..data.len() / if is_short { 2 } else { 1 }];
            let change = Change::Write(offset as usize, data.to_vec());
            state.node(inode)?.edit(change);
            Ok(data.len() as u32)
        });
        match written {
            Ok(bytes) => reply.written(bytes),
            Err(errno) => reply.error(errno),
        }
    }

    fn fsync(&mut self, _: &Request<'_>, inode: u64, _: u64, _: bool, reply: ReplyEmpty) {
        let synced = self.with(|state| {
            state.change()?;
            let node = state.node(inode)?;
            node.pending.clear();
            node.durable.clone_from(&node.bytes);
            Ok(())
        });
        empty!(synced, reply);
    }

    fn fsyncdir(&mut self, _: &Request<'_>, inode: u64, _: u64, _: bool, reply: ReplyEmpty) {
        let synced = self.with(|state| {
            state.change()?;
            state.sync_names(inode);
            Ok(())
        });
        empty!(synced, reply);
    }

    fn readdir(
        &mut self,
        _: &Request<'_>,
        inode: u64,
        _: u64,
        offset: i64,
        mut reply: ReplyDirectory,
    ) {
        let names = self.with(|state| {
            state.alive()?;
            let names = state.node(inode)?.names.clone().ok_or(ENOENT)?;
            let entries = names.into_iter();
            let entries = entries.map(|(name, inode)| (inode, state.nodes[&inode].kind(), name));
            Ok(entries.collect::<Vec<_>>())
        });
        match names {
            Ok(entries) => {
                for (at, (inode, kind, name)) in
                    entries.into_iter().enumerate().skip(offset as usize)
                {
                    if reply.add(inode, at as i64 + 1, kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Err(errno) => reply.error(errno),
        }
    }
}
