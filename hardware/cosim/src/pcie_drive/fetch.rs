//! Reads of the drive: submission queue entries, PRP lists and data, by the drive's tags.

use std::collections::VecDeque;

use assay_nvme_spec::SubmissionEntry;
use assay_nvme_spec::wire::Wire;
use assay_ssd::Identity;

use super::command::{FetchedCommand, Piece, Stage};

/// Most entries of one read.
const BATCH: u32 = 8;
/// Most commands of a queue that wait for their bytes.
const FETCHED_AHEAD: usize = 32;
const ENTRY_BYTES: u64 = SubmissionEntry::SIZE as u64;

#[derive(Clone, Debug)]
struct HostSubmissionQueue {
    base: u64,
    entries: u32,
    completion_queue: u16,
    /// Next entry to be requested, and the host's tail.
    head: u32,
    tail: u32,
    is_reading: bool,
    not_before: u64,
    /// Keys of commands that the controller does not have yet, in order.
    waiting: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Purpose {
    Entries {
        queue: u16,
        index: u32,
        count: u32,
    },
    Piece {
        key: u32,
        piece: Piece,
    },
    /// The command is gone, or there never was one.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadRequest {
    pub(super) tag: u8,
    pub(super) address: u64,
    pub(super) len_bytes: u32,
}

/// All reads and the commands that wait for them.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    queues: Vec<Option<HostSubmissionQueue>>,
    commands: Vec<Option<FetchedCommand>>,
    free_keys: Vec<u32>,
    /// Commands with something to request, in order.
    lists: VecDeque<u32>,
    data: VecDeque<u32>,
    /// Reads without a command: address, length.
    pub(super) extra: VecDeque<(u64, u32)>,
    tags: Vec<Option<Purpose>>,
    free_tags: u16,
    next_tag: usize,
    /// Bytes of commands whose data were requested and which have not ended, and the limit.
    staged_bytes: u64,
    staging_bytes: u64,
    /// I/O commands whose entries were requested and which have not ended, and the limit.
    held_commands: u32,
    max_commands: u32,
    next_queue: usize,
}

impl Fetcher {
    pub(super) fn new(tags: u16, staging_bytes: u64, max_commands: u32) -> Fetcher {
        assert!(max_commands > 0, "a drive without commands");
        Fetcher {
            queues: Vec::new(),
            commands: Vec::new(),
            free_keys: Vec::new(),
            lists: VecDeque::new(),
            data: VecDeque::new(),
            extra: VecDeque::new(),
            tags: vec![None; usize::from(tags)],
            free_tags: tags,
            next_tag: 0,
            staged_bytes: 0,
            staging_bytes,
            held_commands: 0,
            max_commands,
            next_queue: 0,
        }
    }

    pub(super) fn add_queue(&mut self, queue: u16, base: u64, entries: u32, completion_queue: u16) {
        let index = usize::from(queue);
        if self.queues.len() <= index {
            self.queues.resize(index + 1, None);
        }
        self.queues[index] = Some(HostSubmissionQueue {
            base,
            entries,
            completion_queue,
            head: 0,
            tail: 0,
            is_reading: false,
            not_before: 0,
            waiting: VecDeque::new(),
        });
    }

    pub(super) fn entries(&self, queue: u16) -> u32 {
        let queue = self.queues[usize::from(queue)].as_ref();
        queue.expect("a queue with commands").entries
    }

    pub(super) fn completion_queue(&self, queue: u16) -> u16 {
        let queue = self.queues.get(usize::from(queue));
        queue.and_then(Option::as_ref).map_or(0, |queue| queue.completion_queue)
    }

    /// `false` if the drive has no such queue or entry.
    pub(super) fn ring(&mut self, queue: u16, tail: u32, not_before: u64) -> bool {
        let Some(Some(queue)) = self.queues.get_mut(usize::from(queue)) else {
            return false;
        };
        if tail >= queue.entries {
            return false;
        }
        if queue.head == queue.tail {
            queue.not_before = not_before;
        }
        queue.tail = tail;
        true
    }

    /// First cycle with something to request.
    pub(super) fn next_cycle(&self) -> Option<u64> {
        if !self.lists.is_empty() || !self.extra.is_empty() || self.may_stage() {
            return Some(0);
        }
        let queues = self.queues.iter().enumerate();
        let queues = queues.filter(|&(index, _)| self.may_fetch(index));
        let queues = queues.filter_map(|(_, queue)| queue.as_ref());
        let queues = queues.filter(|queue| queue.can_read());
        queues.map(|queue| queue.not_before).min()
    }

    /// Whether the drive has room for a command of this queue.
    fn may_fetch(&self, queue: usize) -> bool {
        queue == 0 || self.held_commands < self.max_commands
    }

    pub(super) fn release_command(&mut self) {
        self.held_commands = self.held_commands.saturating_sub(1);
    }

    /// Whether one of the first `tags` tags is free.
    pub(super) fn has_free_tag(&self, tags: u16) -> bool {
        self.tags.len() as u16 - self.free_tags < tags
    }

    fn may_stage(&self) -> bool {
        let Some(&key) = self.data.front() else {
            return false;
        };
        let command = self.command(key);
        let len = command.len_bytes;
        // A command that has begun is counted already.
        command.has_begun_data()
            || self.staged_bytes == 0
            || self.staged_bytes + len <= self.staging_bytes
    }

    fn command(&self, key: u32) -> &FetchedCommand {
        let command = self.commands[key as usize].as_ref();
        command.expect("a key belongs to a command")
    }

    /// At most `limit_bytes` under one of the first `tags` tags: entries, then lists, then data.
    pub(super) fn next_read(
        &mut self,
        cycle: u64,
        limit_bytes: u32,
        tags: u16,
    ) -> Option<ReadRequest> {
        if !self.has_free_tag(tags) {
            return None;
        }
        let (purpose, address, len_bytes) = match self.extra.pop_front() {
            Some((address, len)) => (Purpose::Nothing, address, len),
            None => self
                .next_entries(cycle, limit_bytes)
                .or_else(|| self.next_list(limit_bytes))
                .or_else(|| self.next_data(limit_bytes))?,
        };
        let count = usize::from(tags);
        let order = (self.next_tag..count).chain(0..self.next_tag.min(count));
        let mut free = order.filter(|&tag| self.tags[tag].is_none());
        let tag = free.next().expect("a free tag");
        self.tags[tag] = Some(purpose);
        self.free_tags -= 1;
        self.next_tag = (tag + 1) % count;
        Some(ReadRequest { tag: tag as u8, address, len_bytes })
    }

    fn next_entries(&mut self, cycle: u64, limit_bytes: u32) -> Option<(Purpose, u64, u32)> {
        let count = self.queues.len();
        let mut order = (self.next_queue..count).chain(0..self.next_queue);
        let index = order.find(|&index| {
            let queue = self.queues[index].as_ref();
            queue.is_some_and(|queue| queue.can_read() && queue.not_before <= cycle)
                && self.may_fetch(index)
        })?;
        let room = self.max_commands - self.held_commands;
        self.next_queue = (index + 1) % count;
        let queue = self.queues[index].as_mut()?;
        let address = queue.base + u64::from(queue.head) * ENTRY_BYTES;
        let contiguous = match queue.tail > queue.head {
            true => queue.tail - queue.head,
            false => queue.entries - queue.head,
        };
        // An admin command may affect the next one.
        let batch = if index == 0 { 1 } else { BATCH.min(room) };
        let limit = u64::from(limit_bytes);
        let in_request = (limit - address % limit) / ENTRY_BYTES;
        let count = contiguous.min(batch).min(in_request as u32);
        let purpose = Purpose::Entries { queue: index as u16, index: queue.head, count };
        queue.head = (queue.head + count) % queue.entries;
        queue.is_reading = true;
        if index > 0 {
            self.held_commands += count;
        }
        Some((purpose, address, count * ENTRY_BYTES as u32))
    }

    fn next_list(&mut self, limit_bytes: u32) -> Option<(Purpose, u64, u32)> {
        let &key = self.lists.front()?;
        let piece = self.next_piece(key, limit_bytes);
        if !self.command(key).has_piece() {
            self.lists.pop_front();
        }
        Some((Purpose::Piece { key, piece }, piece.address, piece.len_bytes))
    }

    fn next_data(&mut self, limit_bytes: u32) -> Option<(Purpose, u64, u32)> {
        if !self.may_stage() {
            return None;
        }
        let &key = self.data.front()?;
        if !self.command(key).has_begun_data() {
            self.staged_bytes += self.command(key).len_bytes;
        }
        let piece = self.next_piece(key, limit_bytes);
        if !self.command(key).has_piece() {
            self.data.pop_front();
        }
        Some((Purpose::Piece { key, piece }, piece.address, piece.len_bytes))
    }

    fn next_piece(&mut self, key: u32, limit_bytes: u32) -> Piece {
        let command = self.commands[key as usize].as_mut();
        let piece = command.and_then(|command| command.next_piece(limit_bytes));
        piece.expect("a listed command has something to request")
    }

    pub(super) fn receive(&mut self, tag: u8, bytes: &[u8], identity: &Identity) {
        let purpose = self.tags[usize::from(tag)].take();
        self.free_tags += 1;
        match purpose.expect("data of a tag in use") {
            Purpose::Nothing => {}
            Purpose::Piece { key, piece } => {
                let command = self.commands[key as usize].as_mut();
                let command = command.expect("a key belongs to a command");
                command.receive(&piece, bytes);
                self.enlist(key);
            }
            Purpose::Entries { queue, index, count } => {
                assert_eq!(bytes.len(), count as usize * SubmissionEntry::SIZE);
                let raw = bytes.chunks_exact(SubmissionEntry::SIZE);
                for (index, raw) in (index..).zip(raw) {
                    self.add_command(queue, index, SubmissionEntry::load(raw), identity);
                }
                if let Some(Some(queue)) = self.queues.get_mut(usize::from(queue)) {
                    queue.is_reading = false;
                }
            }
        }
    }

    fn add_command(
        &mut self,
        queue_id: u16,
        index: u32,
        entry: SubmissionEntry,
        identity: &Identity,
    ) {
        let Some(Some(queue)) = self.queues.get_mut(usize::from(queue_id)) else {
            return;
        };
        let address = queue.base + u64::from(index) * ENTRY_BYTES;
        let command = FetchedCommand::new(queue_id, index, address, entry, identity);
        let key = self.free_keys.pop().unwrap_or(self.commands.len() as u32);
        if key as usize == self.commands.len() {
            self.commands.push(None);
        }
        self.commands[key as usize] = Some(command);
        queue.waiting.push_back(key);
        self.enlist(key);
    }

    /// Lists a command that has something to request and was not listed.
    fn enlist(&mut self, key: u32) {
        let command = self.command(key);
        if !command.has_piece() || command.has_begun() {
            return;
        }
        match command.stage {
            Stage::List => self.lists.push_back(key),
            _ => self.data.push_back(key),
        }
    }

    /// Takes the first command of a queue if it has all its bytes.
    pub(super) fn take_ready(&mut self) -> Option<FetchedCommand> {
        let mut queues = self.queues.iter_mut().flatten();
        let commands = &self.commands;
        let is_ready = |key: &u32| {
            let command = commands[*key as usize].as_ref();
            command.is_some_and(|command| command.stage == Stage::Ready)
        };
        let queue = queues.find(|queue| queue.waiting.front().is_some_and(is_ready))?;
        let key = queue.waiting.pop_front()?;
        let command = self.commands[key as usize].take()?;
        self.free_keys.push(key);
        Some(command)
    }

    /// Data of a command left the staging memory.
    pub(super) fn unstage(&mut self, len_bytes: u64) {
        let left = self.staged_bytes.checked_sub(len_bytes);
        self.staged_bytes = left.expect("what leaves the staging memory was in it");
    }

    /// A submission queue was deleted: its commands that the controller does not have are gone.
    pub(super) fn remove_queue(&mut self, queue: u16) {
        let Some(queue) = self.queues.get_mut(usize::from(queue)) else {
            return;
        };
        self.held_commands = 0;
        for key in queue.take().into_iter().flat_map(|queue| queue.waiting) {
            if let Some(command) = self.commands[key as usize].take()
                && command.has_begun_data()
            {
                self.unstage(command.len_bytes);
            }
            self.lists.retain(|&listed| listed != key);
            self.data.retain(|&listed| listed != key);
            for purpose in self.tags.iter_mut().flatten() {
                if matches!(purpose, Purpose::Piece { key: other, .. } if *other == key) {
                    *purpose = Purpose::Nothing;
                }
            }
            self.free_keys.push(key);
        }
    }

    /// Controller reset: commands are gone, what was requested is dropped when it arrives.
    pub(super) fn reset(&mut self) {
        self.queues.clear();
        self.next_queue = 0;
        self.commands.clear();
        self.free_keys.clear();
        self.lists.clear();
        self.data.clear();
        self.extra.clear();
        self.staged_bytes = 0;
        self.held_commands = 0;
        for purpose in self.tags.iter_mut().flatten() {
            *purpose = Purpose::Nothing;
        }
    }

    /// Link down: nothing arrives any more.
    pub(super) fn disconnect(&mut self) {
        self.reset();
        self.tags.fill(None);
        self.free_tags = self.tags.len() as u16;
    }
}

impl HostSubmissionQueue {
    fn can_read(&self) -> bool {
        self.head != self.tail && !self.is_reading && self.waiting.len() < FETCHED_AHEAD
    }
}
