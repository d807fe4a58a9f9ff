//! The drive: NVMe controller model, with its queues and data on the bus. The controller is
//! notified of an entry when everything that it will read for it has come over the bus
//! ([`super::fetch`]). What it writes is collected and goes over the bus ([`super::posted`]).

use std::collections::BTreeMap;

use assay_nvme_ctrl::Controller;
use assay_nvme_spec::admin::{
    CreateCompletionQueue, CreateSubmissionQueue, DeleteCompletionQueue, DeleteSubmissionQueue,
};
use assay_nvme_spec::opcode::{AdminOpcode, NvmOpcode};
use assay_nvme_spec::register::{
    self, AdminQueueAttributes, Configuration, ControllerStatus, sq_doorbell,
};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry};
use assay_units::Nanos;

use super::command::FetchedCommand;
use super::faults::{CommandHook, CompletionFault, Disposition, Wedge};
use super::fetch::Fetcher;
use super::memory::{BusMemory, FetchedBytes};
use super::posted::{HostQueue, PendingEntry, PostedWrites};
use crate::CYCLE_NS;

/// CSTS.CFS.
const FATAL_STATUS: u32 = 1 << 1;

/// An opcode that no controller supports, for commands that the hook answers.
const UNSUPPORTED: u8 = 0x7f;

#[derive(Clone, Debug)]
struct StartedCommand {
    queue: u16,
    /// As read over the bus.
    entry: SubmissionEntry,
    pages: Vec<(u64, u32)>,
    /// Addresses of bytes held in the controller's memory.
    held: Vec<u64>,
    staged_bytes: u64,
    disposition: Disposition,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriveCounters {
    /// Commands given to the controller, admin commands included.
    pub commands: u64,
    /// Completion entries, admin commands included, before faults.
    pub completions: u64,
    /// Completion entries of I/O commands, before faults.
    pub io_completions: u64,
    pub doorbells: u64,
}

pub(super) struct Endpoint {
    pub(super) controller: Controller,
    pub(super) fetcher: Fetcher,
    pub(super) posted: PostedWrites,
    pub(super) counters: DriveCounters,
    pub(super) hook: Option<Box<dyn CommandHook>>,
    pub(super) completion_faults: BTreeMap<u64, CompletionFault>,
    pub(super) wedge: Option<Wedge>,
    /// Its identifier to the host; that of the controller model is 1.
    namespace: u32,
    memory: BusMemory,
    /// Commands announced to the controller, by key; then started ones, by queue and identifier.
    announced: BTreeMap<u32, StartedCommand>,
    started: BTreeMap<(u16, u16), StartedCommand>,
    next_key: u32,
    /// Data written by the controller since the last completion entry.
    written: Vec<(u64, Vec<u8>)>,
    fetch_delay_cycles: u64,
    completion_delay_cycles: u64,
    /// `u64::MAX` for none.
    event_cycle: u64,
}

impl Endpoint {
    pub(super) fn new(
        controller: Controller,
        fetcher: Fetcher,
        fetch_delay_cycles: u32,
        completion_delay_cycles: u32,
        namespace: u32,
    ) -> Endpoint {
        let mut endpoint = Endpoint {
            controller,
            fetcher,
            posted: PostedWrites::default(),
            counters: DriveCounters::default(),
            hook: None,
            completion_faults: BTreeMap::new(),
            wedge: None,
            namespace,
            memory: BusMemory::default(),
            announced: BTreeMap::new(),
            started: BTreeMap::new(),
            next_key: 0,
            written: Vec::new(),
            fetch_delay_cycles: u64::from(fetch_delay_cycles),
            completion_delay_cycles: u64::from(completion_delay_cycles),
            event_cycle: u64::MAX,
        };
        endpoint.update_event();
        endpoint
    }

    fn update_event(&mut self) {
        let next = self.controller.next_event();
        self.event_cycle = next.map_or(u64::MAX, |at| at.0.div_ceil(CYCLE_NS));
    }

    pub(super) fn is_present(&self) -> bool {
        self.controller.drive().is_present()
    }

    /// Present, and no controller that hangs.
    pub(super) fn is_working(&self) -> bool {
        self.is_present() && self.wedge.is_none()
    }

    pub(super) fn event_cycle(&self) -> u64 {
        match self.wedge {
            Some(_) => u64::MAX,
            None => self.event_cycle,
        }
    }

    /// Lets the controller work up to this cycle.
    #[inline]
    pub(super) fn run(&mut self, cycle: u64) {
        if self.wedge.is_some() {
            return;
        }
        if self.event_cycle <= cycle {
            self.advance(cycle);
        }
        self.posted.run(cycle);
    }

    fn advance(&mut self, cycle: u64) {
        self.controller.advance(Nanos(cycle * CYCLE_NS), &mut self.memory);
        while let Some((key, bytes)) = self.memory.take_fetched() {
            self.start(key, bytes);
        }
        for (address, bytes) in std::mem::take(&mut self.memory.writes) {
            let queues = self.posted.queues.iter();
            let owner = queues
                .flatten()
                .position(|queue| queue.contains(address) && bytes.len() == CompletionEntry::SIZE);
            match owner {
                Some(_) => self.complete(cycle, CompletionEntry::load(&bytes)),
                None => self.written.push((address, bytes)),
            }
        }
        for (address, bytes) in std::mem::take(&mut self.written) {
            self.posted.data(address, bytes);
        }
        self.update_event();
    }

    /// The controller has fetched a command, and its data if it writes.
    fn start(&mut self, key: u32, bytes: FetchedBytes) {
        let started = self.announced.remove(&key);
        let mut started = started.expect("an announced command");
        // Lists and data of all others are read again when they end.
        let opcode = NvmOpcode(bytes.entry.opcode());
        let is_write = started.queue > 0 && opcode == NvmOpcode::WRITE;
        if !is_write && started.disposition == Disposition::Execute {
            let mut offset = 0;
            for &(address, len) in &bytes.pages {
                let page = bytes.data.get(offset..offset + len as usize);
                if let Some(page) = page {
                    self.memory.hold(address, page.to_vec());
                    started.held.push(address);
                }
                offset += len as usize;
            }
            for (address, list) in bytes.lists {
                self.memory.hold(address, list);
                started.held.push(address);
            }
        }
        self.counters.commands += 1;
        let of_entry = (started.queue, started.entry.cid());
        if let Some(old) = self.started.insert(of_entry, started) {
            // The host uses a command identifier twice, which the controller permits.
            self.release(&old);
        }
    }

    fn release(&mut self, command: &StartedCommand) {
        for &address in &command.held {
            self.memory.release(address);
        }
        self.fetcher.unstage(command.staged_bytes);
    }

    /// Gives the controller all commands whose bytes have arrived.
    pub(super) fn submit(&mut self, cycle: u64) {
        while self.wedge.is_none()
            && let Some(command) = self.fetcher.take_ready()
        {
            self.announce(cycle, command);
        }
    }

    fn announce(&mut self, cycle: u64, command: FetchedCommand) {
        let (queue, mut bytes) = (command.queue, command.bytes);
        bytes.entry.set_nsid(match bytes.entry.nsid() {
            known if known == self.namespace => 1,
            1 => self.namespace,
            other => other,
        });
        let entry = bytes.entry;
        let hook = self.hook.as_mut().filter(|_| queue > 0);
        let disposition = hook.map_or(Disposition::Execute, |hook| {
            let drive = self.controller.drive_mut();
            hook.submitted(drive, queue, &mut bytes.entry, &mut bytes.data)
        });
        if disposition != Disposition::Execute {
            bytes.entry.set_opcode(UNSUPPORTED);
        }
        bytes.entry.set_cid(entry.cid());
        if disposition == Disposition::Execute && !bytes.pages.is_empty() {
            bytes.shorten(&entry, self.controller.drive().identity());
        }
        self.next_key = self.next_key.wrapping_add(1);
        let started = StartedCommand {
            queue,
            entry,
            pages: bytes.pages.clone(),
            held: Vec::new(),
            staged_bytes: bytes.data.len() as u64,
            disposition,
        };
        self.announced.insert(self.next_key, started);
        self.memory.announce(self.next_key, bytes);
        let entries = self.fetcher.entries(queue);
        let tail = u64::from((command.index + 1) % entries);
        let now = Nanos(cycle * CYCLE_NS);
        self.controller.write_register(now, sq_doorbell(queue, 0), 4, tail);
        self.advance(cycle);
    }

    /// The controller posted a completion entry.
    fn complete(&mut self, cycle: u64, mut entry: CompletionEntry) {
        self.counters.completions += 1;
        let queue = entry.sqid();
        let mut fault = None;
        if queue > 0 {
            self.counters.io_completions += 1;
            self.fetcher.release_command();
            let ordinal = self.counters.io_completions;
            fault = self.completion_faults.remove(&ordinal);
        }
        let mut pending = PendingEntry {
            queue: self.fetcher.completion_queue(queue),
            entry,
            fault,
            delay_cycles: self.completion_delay_cycles,
        };
        let Some(command) = self.started.remove(&(queue, entry.cid())) else {
            return self.posted.entry(cycle, pending, false);
        };
        self.release(&command);
        if queue == 0 {
            self.apply_admin(&command.entry, entry.status());
            let has_data = !command.pages.is_empty();
            return self.posted.entry(cycle, pending, has_data);
        }
        match command.disposition {
            Disposition::Execute => {}
            Disposition::Answer(status) => {
                entry.set_status(status).set_more(false).set_do_not_retry(false);
            }
            Disposition::Drop => pending.fault = Some(CompletionFault::Missing),
        }
        let is_read = command.disposition == Disposition::Execute
            && command.entry.opcode() == NvmOpcode::READ.0
            && entry.status().is_success();
        let (addresses, mut data) = match is_read {
            true => self.take_data(&command),
            false => (Vec::new(), Vec::new()),
        };
        if let Some(hook) = &mut self.hook {
            let mut status = entry.status();
            let delay = hook.completed(queue, &command.entry, &mut data, &mut status);
            pending.delay_cycles += delay;
            if status != entry.status() {
                entry.set_status(status);
            }
        }
        pending.entry = entry;
        let has_data = !data.is_empty();
        let is_first = pending.fault == Some(CompletionFault::BeforeData);
        if is_first {
            let at_once = PendingEntry { delay_cycles: 0, ..pending };
            self.posted.entry(cycle, at_once, false);
        }
        for (address, bytes) in addresses.into_iter().zip(data) {
            self.posted.data(address, bytes);
        }
        if !is_first {
            self.posted.entry(cycle, pending, has_data);
        }
    }

    /// What the controller wrote for a read, or zeroes from a drive that keeps no data.
    fn take_data(&mut self, command: &StartedCommand) -> (Vec<u64>, Vec<Vec<u8>>) {
        if self.controller.drive().keeps_data() {
            return std::mem::take(&mut self.written).into_iter().unzip();
        }
        let pages = command.pages.iter();
        pages.map(|&(at, len)| (at, vec![0; len as usize])).unzip()
    }

    /// Queues that an admin command created or deleted.
    fn apply_admin(&mut self, entry: &SubmissionEntry, status: StatusCode) {
        if !status.is_success() {
            return;
        }
        match AdminOpcode(entry.opcode()) {
            AdminOpcode::CREATE_COMPLETION_QUEUE => {
                let command = CreateCompletionQueue::from(*entry);
                let entries = u32::from(command.size()) + 1;
                self.add_completion_queue(command.qid(), entry.prp1(), entries);
            }
            AdminOpcode::CREATE_SUBMISSION_QUEUE => {
                let command = CreateSubmissionQueue::from(*entry);
                let entries = u32::from(command.size()) + 1;
                let (queue, base) = (command.qid(), entry.prp1());
                self.fetcher.add_queue(queue, base, entries, command.cqid());
            }
            AdminOpcode::DELETE_SUBMISSION_QUEUE => {
                let queue = DeleteSubmissionQueue::from(*entry).qid();
                self.fetcher.remove_queue(queue);
                let (orphans, kept) = std::mem::take(&mut self.started)
                    .into_iter()
                    .partition(|((of, _), _)| *of == queue);
                self.started = kept;
                let orphans: BTreeMap<_, StartedCommand> = orphans;
                orphans.values().for_each(|command| self.release(command));
            }
            AdminOpcode::DELETE_COMPLETION_QUEUE => {
                let queue = DeleteCompletionQueue::from(*entry).qid();
                if let Some(slot) = self.posted.queues.get_mut(usize::from(queue)) {
                    *slot = None;
                }
            }
            _ => {}
        }
    }

    fn add_completion_queue(&mut self, queue: u16, base: u64, entries: u32) {
        let (index, queues) = (usize::from(queue), &mut self.posted.queues);
        if queues.len() <= index {
            queues.resize(index + 1, None);
        }
        queues[index] = Some(HostQueue::new(base, entries));
    }

    pub(super) fn write_register(&mut self, cycle: u64, offset: u64, value: u32) {
        if self.wedge == Some(Wedge::Fatal)
            && offset == register::CC
            && !Configuration::from_raw(value).enable()
        {
            self.wedge = None;
        }
        if self.wedge.is_some() {
            return;
        }
        self.run(cycle);
        let now = Nanos(cycle * CYCLE_NS);
        if offset >= register::DOORBELLS {
            self.write_doorbell(cycle, offset, value);
        } else {
            let was_enabled = self.is_enabled();
            self.controller.write_register(now, offset, 4, u64::from(value));
            match (was_enabled, self.is_enabled()) {
                (true, false) => self.reset(),
                (false, true) => self.enable(),
                _ => {}
            }
        }
        self.update_event();
    }

    pub(super) fn read_register(&mut self, cycle: u64, offset: u64) -> u32 {
        self.run(cycle);
        let value = self.controller.read_register(offset, 4) as u32;
        match self.wedge {
            Some(Wedge::Ones) => u32::MAX,
            Some(Wedge::Fatal) if offset == register::CSTS => value | FATAL_STATUS,
            _ => value,
        }
    }

    fn is_enabled(&self) -> bool {
        let cc = self.controller.read_register(register::CC, 4) as u32;
        self.is_present() && Configuration::from_raw(cc).enable()
    }

    fn write_doorbell(&mut self, cycle: u64, offset: u64, value: u32) {
        self.counters.doorbells += 1;
        let status = self.controller.read_register(register::CSTS, 4) as u32;
        if !self.is_present() || !ControllerStatus::from_raw(status).ready() {
            return;
        }
        let doorbell = (offset - register::DOORBELLS) / 4;
        let (queue, mut value) = (doorbell / 2, value & 0xffff);
        if doorbell.is_multiple_of(2) {
            let not_before = cycle + self.fetch_delay_cycles;
            if self.fetcher.ring(queue as u16, value, not_before) {
                return;
            }
        } else if let Some(Some(queue)) = self.posted.queues.get(queue as usize) {
            value = queue.head_of_controller(value);
        }
        // Invalid doorbells are left to the controller, too.
        let now = Nanos(cycle * CYCLE_NS);
        self.controller.write_register(now, offset, 4, u64::from(value));
    }

    /// CC.EN was set: the admin queues.
    fn enable(&mut self) {
        let read = |offset, size| self.controller.read_register(offset, size);
        let attributes = AdminQueueAttributes::from_raw(read(register::AQA, 4) as u32);
        let (sq, cq) = (read(register::ASQ, 8), read(register::ACQ, 8));
        self.fetcher.add_queue(0, sq, u32::from(attributes.sq_size()) + 1, 0);
        self.add_completion_queue(0, cq, u32::from(attributes.cq_size()) + 1);
    }

    /// Controller reset: nothing of before is sent or used any more.
    fn reset(&mut self) {
        self.fetcher.reset();
        self.posted.clear();
        self.memory.clear();
        self.announced.clear();
        self.started.clear();
        self.written.clear();
    }

    /// The link is down, which resets the controller.
    pub(super) fn disconnect(&mut self, cycle: u64) {
        self.wedge = None;
        self.write_register(cycle, register::CC, 0);
        self.reset();
        self.fetcher.disconnect();
    }

    /// The link is down already.
    pub(super) fn lose_power(&mut self, cycle: u64) {
        let now = Nanos(cycle * CYCLE_NS);
        self.controller.drive_mut().power_loss(now);
        self.update_event();
    }

    /// With everything that the drive has not sent.
    pub(super) fn remove(&mut self, cycle: u64) {
        let now = Nanos(cycle * CYCLE_NS);
        self.controller.drive_mut().surprise_removal(now);
        self.reset();
        self.update_event();
    }
}
