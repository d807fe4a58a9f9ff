//! A test driver in the same process.
#![allow(dead_code)]

use std::collections::HashMap;

use assay_nvme_ctrl::{Controller, ControllerOptions, FlatMemory, HostMemory, VectorSet};
use assay_nvme_spec::admin::{
    CreateCompletionQueue, CreateSubmissionQueue, GetFeatures, GetLogPage, IdentifyCommand,
    SetFeatures,
};
use assay_nvme_spec::feature::{FeatureId, NumberOfQueues};
use assay_nvme_spec::identify::{Cns, IdentifyController, IdentifyNamespace};
use assay_nvme_spec::log::LogId;
use assay_nvme_spec::nvm::{Read, Write};
use assay_nvme_spec::register::{self, Capabilities, Configuration, ControllerStatus};
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry};
use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::Nanos;

pub const PAGE: u64 = 4096;
/// Address of host memory; not 0, so that a missing address is an error.
pub const BASE: u64 = 0x10_0000;

/// The driver's state of a queue pair.
#[derive(Debug)]
pub struct QueuePair {
    pub sq: u64,
    pub cq: u64,
    pub entries: u32,
    pub tail: u32,
    pub head: u32,
    pub phase: bool,
    next_cid: u16,
}

#[derive(Debug)]
pub struct TestDriver {
    pub controller: Controller,
    pub memory: FlatMemory,
    pub now: Nanos,
    pub raised: VectorSet,
    pub pairs: HashMap<u16, QueuePair>,
    /// Completions of other commands than the one waited for.
    pub others: Vec<CompletionEntry>,
    next_page: u64,
    pub block_bytes: u64,
}

/// A drive of a profile with options as spelled on the command line.
pub fn drive(name: &str, settings: &[(&str, &str)]) -> Drive {
    let mut options = DriveOptions::default();
    for (key, value) in settings {
        options.set(key, value).expect("a known option");
    }
    Drive::new(Profile::builtin(name).expect("a profile"), options).expect("a drive")
}

/// The profile samsung-951 cut down to 4 GiB, to be cheap to create and to read.
pub fn small(options: DriveOptions) -> Drive {
    let mut profile = Profile::builtin("samsung-951").expect("a profile");
    profile.nand.blocks_per_plane.value = 64;
    profile.identity.capacity_bytes.value = 4 << 30;
    Drive::new(profile, options).expect("a drive")
}

impl TestDriver {
    /// A controller after power-on, with 64 MiB of memory.
    pub fn powered_on(drive: Drive) -> TestDriver {
        let block_bytes = drive.identity().logical_block_bytes;
        TestDriver {
            controller: Controller::new(drive, ControllerOptions::default()),
            memory: FlatMemory::new(BASE, 64 << 20),
            now: Nanos::ZERO,
            raised: VectorSet::default(),
            pairs: HashMap::new(),
            others: Vec::new(),
            next_page: BASE,
            block_bytes,
        }
    }

    /// Initialized, with one I/O queue pair of 64 entries, or the most supported.
    pub fn new(name: &str, settings: &[(&str, &str)]) -> TestDriver {
        let mut driver = TestDriver::powered_on(drive(name, settings));
        driver.enable();
        driver.set_queues(1);
        let most = u32::from(driver.capabilities().mqes()) + 1;
        driver.create_pair(1, most.min(64));
        driver
    }

    /// Allocates page-aligned memory.
    pub fn pages(&mut self, bytes: u64) -> u64 {
        let at = self.next_page;
        self.next_page += bytes.next_multiple_of(PAGE);
        at
    }

    pub fn read32(&self, offset: u64) -> u32 {
        self.controller.read_register(offset, 4) as u32
    }

    pub fn write32(&mut self, offset: u64, value: u32) {
        self.controller.write_register(self.now, offset, 4, u64::from(value));
    }

    pub fn status(&self) -> ControllerStatus {
        ControllerStatus::from_raw(self.read32(register::CSTS))
    }

    pub fn capabilities(&self) -> Capabilities {
        Capabilities::from_raw(self.controller.read_register(register::CAP, 8))
    }

    /// Advances to `until`.
    pub fn advance_to(&mut self, until: Nanos) {
        while let Some(event) = self.controller.next_event()
            && event <= until
        {
            self.now = self.now.max(event);
            self.step(self.now);
        }
        self.now = self.now.max(until);
        self.step(self.now);
    }

    fn step(&mut self, until: Nanos) {
        let raised = self.controller.advance(until, &mut self.memory);
        raised.iter().for_each(|vector| self.raised.insert(vector));
    }

    /// Advances to the next event; `false` if there is none.
    pub fn next_event(&mut self) -> bool {
        let Some(event) = self.controller.next_event() else {
            return false;
        };
        self.now = self.now.max(event);
        self.step(self.now);
        true
    }

    /// Disable, set the admin queues up, enable, wait (Base 3.5.1).
    pub fn enable(&mut self) {
        self.write32(register::CC, 0);
        let (sq, cq) = (self.pages(PAGE), self.pages(PAGE));
        let entries = 32;
        self.write32(register::AQA, (entries - 1) << 16 | (entries - 1));
        self.controller.write_register(self.now, register::ASQ, 8, sq);
        self.controller.write_register(self.now, register::ACQ, 8, cq);
        let mut cc = Configuration::default();
        cc.set_enable(true).set_io_sq_entry_size(6).set_io_cq_entry_size(4);
        self.write32(register::CC, cc.raw());
        while !self.status().ready() {
            assert!(self.next_event(), "it does not become ready: {:?}", self.status());
        }
        self.pairs.clear();
        self.pairs.insert(0, QueuePair::new(sq, cq, entries));
    }

    pub fn set_queues(&mut self, pairs: u16) -> NumberOfQueues {
        let mut requested = NumberOfQueues::default();
        requested.set_submission(pairs - 1).set_completion(pairs - 1);
        let completion = self.set_feature(FeatureId::NUMBER_OF_QUEUES, requested.raw());
        assert_eq!(completion.status(), StatusCode::SUCCESS);
        NumberOfQueues::from_raw(completion.dw0())
    }

    /// Uses existing admin queues of 32 entries.
    pub fn adopt_admin(&mut self, sq: u64, cq: u64) {
        self.pairs.insert(0, QueuePair::new(sq, cq, 32));
    }

    /// An I/O queue pair whose vector is its identifier.
    pub fn create_pair(&mut self, qid: u16, entries: u32) {
        let (sq, cq) = (self.pages(u64::from(entries) * 64), self.pages(u64::from(entries) * 16));
        self.create_pair_at(qid, entries, sq, cq);
    }

    pub fn create_pair_at(&mut self, qid: u16, entries: u32, sq: u64, cq: u64) {
        let mut create = CreateCompletionQueue::new();
        create
            .set_qid(qid)
            .set_size((entries - 1) as u16)
            .set_contiguous(true)
            .set_interrupts(true)
            .set_vector(qid);
        let created = self.admin(create.entry(), cq);
        assert_eq!(created.status(), StatusCode::SUCCESS);
        let mut create = CreateSubmissionQueue::new();
        create.set_qid(qid).set_size((entries - 1) as u16).set_contiguous(true).set_cqid(qid);
        let created = self.admin(create.entry(), sq);
        assert_eq!(created.status(), StatusCode::SUCCESS);
        self.pairs.insert(qid, QueuePair::new(sq, cq, entries));
    }

    /// Writes a queue entry without the doorbell; returns the command identifier.
    pub fn put(&mut self, qid: u16, mut entry: SubmissionEntry) -> u16 {
        let pair = self.pairs.get_mut(&qid).expect("a queue pair");
        let cid = pair.next_cid;
        pair.next_cid = pair.next_cid.wrapping_add(1);
        entry.set_cid(cid);
        let at = pair.sq + u64::from(pair.tail) * 64;
        self.memory.write(at, entry.as_bytes()).expect("a queue in memory");
        pair.tail = (pair.tail + 1) % pair.entries;
        cid
    }

    pub fn ring(&mut self, qid: u16) {
        let tail = self.pairs[&qid].tail;
        self.write32(register::sq_doorbell(qid, 0), tail);
    }

    /// Consumes the available completions.
    pub fn poll(&mut self, qid: u16) -> Vec<CompletionEntry> {
        let pair = self.pairs.get_mut(&qid).expect("a queue pair");
        let mut out = Vec::new();
        loop {
            let mut raw = [0; 16];
            let at = pair.cq + u64::from(pair.head) * 16;
            self.memory.read(at, &mut raw).expect("a queue in memory");
            let entry = CompletionEntry::from_bytes(raw);
            if entry.phase() != pair.phase {
                break;
            }
            pair.head += 1;
            if pair.head == pair.entries {
                pair.head = 0;
                pair.phase = !pair.phase;
            }
            out.push(entry);
        }
        if !out.is_empty() {
            let head = pair.head;
            self.write32(register::cq_doorbell(qid, 0), head);
        }
        out
    }

    /// Submit one command and wait for it.
    pub fn run(&mut self, qid: u16, entry: SubmissionEntry) -> CompletionEntry {
        let cid = self.put(qid, entry);
        self.ring(qid);
        self.wait(qid, cid)
    }

    pub fn wait(&mut self, qid: u16, cid: u16) -> CompletionEntry {
        loop {
            let found = self.poll(qid);
            let mut wanted = None;
            for entry in found {
                if entry.cid() == cid && entry.sqid() == qid {
                    wanted = Some(entry);
                } else {
                    self.others.push(entry);
                }
            }
            if let Some(entry) = wanted {
                return entry;
            }
            assert!(self.next_event(), "command {cid} of queue {qid} never completes");
        }
    }

    /// An admin command with its data at `prp1`.
    pub fn admin(&mut self, mut entry: SubmissionEntry, prp1: u64) -> CompletionEntry {
        entry.set_prps(prp1, 0);
        self.run(0, entry)
    }

    pub fn bytes(&self, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.memory.read(at, &mut bytes).expect("mapped memory");
        bytes
    }

    /// Identify data, with the status.
    pub fn identify(&mut self, cns: Cns, nsid: u32) -> (StatusCode, Vec<u8>) {
        let at = self.pages(PAGE);
        let mut command = IdentifyCommand::new();
        command.set_cns(cns.0).set_nsid(nsid);
        let done = self.admin(command.entry(), at);
        (done.status(), self.bytes(at, 4096))
    }

    pub fn controller_data(&mut self) -> IdentifyController {
        let (status, data) = self.identify(Cns::CONTROLLER, 0);
        assert_eq!(status, StatusCode::SUCCESS);
        IdentifyController::read_from(&data).expect("4096 bytes")
    }

    pub fn namespace_data(&mut self) -> IdentifyNamespace {
        let (status, data) = self.identify(Cns::NAMESPACE, 1);
        assert_eq!(status, StatusCode::SUCCESS);
        IdentifyNamespace::read_from(&data).expect("4096 bytes")
    }

    pub fn log(&mut self, lid: LogId, len: usize) -> Vec<u8> {
        let at = self.pages(len as u64);
        let mut command = GetLogPage::for_log(lid, 0, len as u32).entry();
        command.set_nsid(0xffff_ffff).set_prps(at, at + PAGE);
        let done = self.run(0, command);
        assert_eq!(done.status(), StatusCode::SUCCESS, "log {lid}");
        self.bytes(at, len)
    }

    pub fn set_feature(&mut self, fid: FeatureId, value: u32) -> CompletionEntry {
        let mut command = SetFeatures::new();
        command.set_fid(fid.0).set_value(value);
        self.admin(command.entry(), 0)
    }

    pub fn get_feature(&mut self, fid: FeatureId, select: u8, value: u32) -> CompletionEntry {
        let mut command = GetFeatures::new();
        command.set_fid(fid.0).set_select(select).set_value(value);
        self.admin(command.entry(), BASE + (60 << 20))
    }

    /// PRPs of `len` contiguous bytes at `at`; the list has its own page.
    pub fn prps(&mut self, at: u64, len: u64) -> (u64, u64) {
        let first = PAGE - at % PAGE;
        if len <= first {
            return (at, 0);
        }
        let rest = len - first;
        if rest <= PAGE {
            return (at, at + first);
        }
        let list = self.pages(PAGE);
        for n in 0..rest.div_ceil(PAGE) {
            let page = at + first + n * PAGE;
            self.memory.write(list + n * 8, &page.to_le_bytes()).expect("a list in memory");
        }
        (at, list)
    }

    /// Writes blocks from newly allocated memory.
    pub fn write(&mut self, slba: u64, bytes: &[u8]) -> CompletionEntry {
        let at = self.pages(bytes.len() as u64);
        self.memory.write(at, bytes).expect("mapped memory");
        let prps = self.prps(at, bytes.len() as u64);
        let mut entry =
            Write::for_blocks(1, slba, (bytes.len() as u64 / self.block_bytes) as u32).entry();
        entry.set_prps(prps.0, prps.1);
        self.run(1, entry)
    }

    pub fn read(&mut self, slba: u64, blocks: u32) -> (StatusCode, Vec<u8>) {
        let len = u64::from(blocks) * self.block_bytes;
        let at = self.pages(len);
        let prps = self.prps(at, len);
        let mut entry = Read::for_blocks(1, slba, blocks).entry();
        entry.set_prps(prps.0, prps.1);
        let done = self.run(1, entry);
        (done.status(), self.bytes(at, len as usize))
    }
}

impl QueuePair {
    fn new(sq: u64, cq: u64, entries: u32) -> QueuePair {
        QueuePair { sq, cq, entries, tail: 0, head: 0, phase: true, next_cid: 0 }
    }
}

/// A read of one unit of 4 KiB at a block, to `at`.
pub fn read_at(slba: u64, at: u64) -> SubmissionEntry {
    let mut entry = Read::for_blocks(1, slba, 8).entry();
    entry.set_prps(at, 0);
    entry
}
