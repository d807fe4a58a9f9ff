//! What a file system holds, what of it is durable, and what is left after a loss of power.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use assay_units::Rng;
use fuser::{FUSE_ROOT_ID, FileAttr, FileType};

use crate::fuse::{self, EIO, ENOENT};

pub const EEXIST: i32 = 17;
/// Bytes that reach the medium whole or not at all.
const SECTOR: usize = 512;

#[derive(Clone)]
pub enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Change {
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Write(at, data) => {
                if bytes.len() < at + data.len() {
                    bytes.resize(at + data.len(), 0);
                }
                bytes[*at..at + data.len()].copy_from_slice(data);
            }
            Change::Length(length) => bytes.resize(*length, 0),
        }
    }
}

/// A file, or a folder where `names` is given.
#[derive(Clone, Default)]
pub struct Node {
    pub bytes: Vec<u8>,
    pub durable: Vec<u8>,
    /// Since the last fsync.
    pub pending: Vec<Change>,
    pub names: Option<BTreeMap<String, u64>>,
    pub durable_names: BTreeMap<String, u64>,
    pub links: u32,
}

impl Node {
    pub fn kind(&self) -> FileType {
        match self.names {
            Some(_) => FileType::Directory,
            None => FileType::RegularFile,
        }
    }

    /// Changes the contents; not durable yet.
    pub fn edit(&mut self, change: Change) {
        change.apply(&mut self.bytes);
        self.pending.push(change);
    }

    pub fn folder() -> Node {
        Node { names: Some(BTreeMap::new()), links: 2, ..Node::default() }
    }
}

/// A name that was given or taken away and is not durable: a rename is both at once.
#[derive(Clone)]
pub struct NameChange {
    pub given: Option<(u64, String, u64)>,
    pub taken: Option<(u64, String)>,
}

impl NameChange {
    fn touches(&self, folder: u64) -> bool {
        self.given.as_ref().is_some_and(|(of, ..)| *of == folder)
            || self.taken.as_ref().is_some_and(|(of, _)| *of == folder)
    }
}

#[derive(Clone)]
pub struct State {
    pub nodes: BTreeMap<u64, Node>,
    pub names: Vec<NameChange>,
    /// Changes so far.
    pub changes: u64,
    /// The change at which the power fails.
    pub fails_at: u64,
    pub failed: bool,
    /// The changes that fail, and their error.
    pub refused: Option<(Range<u64>, i32)>,
    /// The change that, if it is a write, writes half and says so.
    pub short_at: Option<u64>,
    /// Called with the number of each change, before it.
    pub at_change: Option<Arc<dyn Fn(u64) + Send + Sync>>,
}

impl State {
    pub fn new(nodes: BTreeMap<u64, Node>, fails_at: u64) -> State {
        State {
            nodes,
            names: Vec::new(),
            changes: 0,
            fails_at,
            failed: false,
            refused: None,
            short_at: None,
            at_change: None,
        }
    }

    /// Counts a change; an error from the one on at which the power fails, or that is refused.
    pub fn change(&mut self) -> Result<(), i32> {
        if let Some(call) = &self.at_change {
            call(self.changes);
        }
        self.failed |= self.changes >= self.fails_at;
        let of_change = |(range, _): &&(Range<u64>, i32)| range.contains(&self.changes);
        let refused = self.refused.as_ref().filter(of_change);
        self.changes += 1;
        match refused {
            Some((_, errno)) => Err(*errno),
            None => self.alive(),
        }
    }

    pub fn alive(&self) -> Result<(), i32> {
        if self.failed { Err(EIO) } else { Ok(()) }
    }

    pub fn node(&mut self, inode: u64) -> Result<&mut Node, i32> {
        self.nodes.get_mut(&inode).ok_or(ENOENT)
    }

    pub fn child(&self, parent: u64, name: &str) -> Option<u64> {
        self.nodes.get(&parent)?.names.as_ref()?.get(name).copied()
    }

    /// Gives and takes names, at once.
    pub fn rename(&mut self, change: NameChange) {
        if let Some((parent, name)) = &change.taken
            && let Some(names) = self.nodes.get_mut(parent).and_then(|n| n.names.as_mut())
        {
            names.remove(name);
        }
        if let Some((parent, name, inode)) = &change.given
            && let Some(names) = self.nodes.get_mut(parent).and_then(|n| n.names.as_mut())
        {
            names.insert(name.clone(), *inode);
        }
        self.names.push(change);
    }

    pub fn add(&mut self, parent: u64, name: &str, node: Node) -> Result<u64, i32> {
        if self.child(parent, name).is_some() {
            return Err(EEXIST);
        }
        let inode = self.nodes.keys().last().map_or(FUSE_ROOT_ID, |last| last + 1);
        self.nodes.insert(inode, node);
        self.rename(NameChange { given: Some((parent, name.to_owned(), inode)), taken: None });
        Ok(inode)
    }

    fn durable_change(nodes: &mut BTreeMap<u64, Node>, change: &NameChange) {
        let (given, taken) = (&change.given, &change.taken);
        if let Some((parent, name, inode)) = given
            && let Some(node) = nodes.get_mut(parent)
        {
            node.durable_names.insert(name.clone(), *inode);
        }
        if let Some((parent, name)) = taken
            && let Some(node) = nodes.get_mut(parent)
        {
            node.durable_names.remove(name);
        }
    }

    pub fn sync_names(&mut self, folder: u64) {
        let (done, left): (Vec<NameChange>, Vec<NameChange>) =
            std::mem::take(&mut self.names).into_iter().partition(|change| change.touches(folder));
        self.names = left;
        for change in &done {
            State::durable_change(&mut self.nodes, change);
        }
    }

    /// The nodes after the failure.
    pub fn survivors(&self, seed: u64) -> BTreeMap<u64, Node> {
        let mut rng = Rng::new(seed);
        let mut nodes = self.nodes.clone();
        for change in &self.names {
            if rng.below(2) == 0 {
                State::durable_change(&mut nodes, change);
            }
        }
        for node in nodes.values_mut() {
            let mut pending = std::mem::take(&mut node.pending);
            // Any order.
            for last in (1..pending.len()).rev() {
                pending.swap(last, rng.below(last as u64 + 1) as usize);
            }
            for change in pending {
                match (rng.below(3), change) {
                    (0, _) => {}
                    (1, Change::Write(at, data)) => {
                        let sectors = (data.len() / SECTOR) as u64;
                        let kept = rng.below(sectors + 1) as usize * SECTOR;
                        let data = data[..kept.min(data.len())].to_vec();
                        Change::Write(at, data).apply(&mut node.durable);
                    }
                    (_, change) => change.apply(&mut node.durable),
                }
            }
            node.bytes.clone_from(&node.durable);
            if let Some(names) = &mut node.names {
                names.clone_from(&node.durable_names);
            }
        }
        nodes
    }

    pub fn attributes(&self, inode: u64) -> Result<FileAttr, i32> {
        let node = self.nodes.get(&inode).ok_or(ENOENT)?;
        let bytes = node.bytes.len() as u64;
        Ok(fuse::attributes(inode, node.kind(), bytes, node.links))
    }
}
