//! A host in software: bring-up as a sequencer does it, one I/O queue pair per direction, commands
//! of whole pages.

use assay_cosim::pcie_drive::PcieDrive;
use assay_cosim::signals::{DriveInputs, DriveOutputs};
use assay_nvme_spec::admin::{
    CreateCompletionQueue, CreateSubmissionQueue, DeleteSubmissionQueue, IdentifyCommand,
    SetFeatures,
};
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::identify::{Cns, IdentifyController, IdentifyNamespace};
use assay_nvme_spec::register::{self, Configuration, ControllerStatus};
use assay_nvme_spec::{CompletionEntry, SubmissionEntry, nvm};

use crate::core_side::{BarState, CoreSide};

pub const ECAM: u32 = 1 << 31;
pub const ENDPOINT: u32 = ECAM | 1 << 20;
pub const BAR: u32 = 0x1000_0000;
/// Bus addresses; the high bits are BusBase.
pub const BUS_BASE: u64 = 0x12_0000_0000_0000;
const CONTROL: u64 = 1 << 39;
const IDENTIFY: u64 = CONTROL + 0x6000;
const LISTS: u64 = CONTROL + 0x1_0000;
pub const ENTRIES: u32 = 64;
const PAGE: u64 = 4096;

struct Pair {
    sq: u64,
    cq: u64,
    entries: u32,
    tail: u32,
    head: u32,
    phase: bool,
}

pub struct Host {
    pub far: PcieDrive,
    pub core: CoreSide,
    pub inputs: DriveInputs,
    pub cycle: u64,
    pub skips: bool,
    /// Cycles in which the drive was asked.
    pub steps: u64,
    old_outputs: DriveOutputs,
    pairs: Vec<Pair>,
    pub block_bytes: u64,
    pub media_blocks: u64,
}

impl Host {
    pub fn new(far: PcieDrive) -> Host {
        let beat_bytes = u64::from(far.options().data_width / 8);
        let pair = |sq, cq, entries| Pair {
            sq: CONTROL + sq,
            cq: CONTROL + cq,
            entries,
            tail: 0,
            head: 0,
            phase: true,
        };
        Host {
            core: CoreSide::new(beat_bytes),
            inputs: DriveInputs::ZERO,
            cycle: 0,
            skips: false,
            steps: 0,
            old_outputs: DriveOutputs::ZERO,
            pairs: vec![
                pair(0, 0x1000, 2),
                pair(0x2000, 0x3000, ENTRIES),
                pair(0x4000, 0x5000, ENTRIES),
            ],
            far,
            block_bytes: 0,
            media_blocks: 0,
        }
    }

    pub fn step(&mut self) {
        let outputs = self.core.outputs;
        let is_due = self.far.next_event_cycle().is_some_and(|at| at <= self.cycle);
        if !self.skips || is_due || outputs != self.old_outputs || is_valid(&outputs) {
            self.far.step(self.cycle, &outputs, &mut self.inputs);
            self.steps += 1;
        }
        let old = self.old_outputs;
        self.old_outputs = outputs;
        self.core.edge(self.cycle, &old, &self.inputs);
        self.cycle += 1;
    }

    pub fn wait(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// Response code and data.
    pub fn access(&mut self, state: BarState) -> (u32, u8) {
        assert_eq!(self.core.bar, BarState::Idle);
        self.core.bar = state;
        for _ in 0..200_000 {
            self.step();
            if let BarState::Done { data, code } = self.core.bar {
                self.core.bar = BarState::Idle;
                return (data, code);
            }
        }
        panic!("no answer to {state:x?}");
    }

    pub fn read(&mut self, address: u32) -> u32 {
        self.access(BarState::Read { address }).0
    }

    pub fn write(&mut self, address: u32, data: u32) {
        let (_, code) = self.access(BarState::Write { address: Some(address), data: Some(data) });
        assert_eq!(code, 0, "write of {data:#x} to {address:#x}");
    }

    /// Offset of a capability of a function.
    pub fn capability(&mut self, function: u32, id: u32) -> Option<u32> {
        let mut at = self.read(function + 0x34) & 0xfc;
        for _ in 0..16 {
            if at == 0 {
                return None;
            }
            let value = self.read(function + at);
            if value & 0xff == id {
                return Some(at);
            }
            at = value >> 8 & 0xfc;
        }
        None
    }

    /// Enumeration: bus numbers, window, BAR, payload and request sizes.
    pub fn enumerate(&mut self) {
        while self.inputs.link_up == 0 {
            self.step();
        }
        self.write(ECAM + 0x18, 0x0001_0100);
        assert_eq!(self.read(ENDPOINT + 0x08) >> 8, 0x01_0802, "class code");
        self.write(ECAM + 0x20, BAR | BAR >> 16);
        let (root, endpoint) = (self.capability(ECAM, 0x10), self.capability(ENDPOINT, 0x10));
        let (root, endpoint) = (
            ECAM + root.expect("PCI Express capability of the root port"),
            ENDPOINT + endpoint.expect("PCI Express capability of the endpoint"),
        );
        let supported = (self.read(root + 4) & 7).min(self.read(endpoint + 4) & 7);
        for at in [root, endpoint] {
            let control = self.read(at + 8) & 0xffff;
            let sizes = supported << 5 | 2 << 12;
            self.write(at + 8, control & !0x70e0 | sizes);
        }
        self.write(ENDPOINT + 0x10, u32::MAX);
        assert_eq!(self.read(ENDPOINT + 0x10), 0xffff_c004, "BAR 0 of 16 KiB, 64-bit");
        self.write(ENDPOINT + 0x10, BAR);
        self.write(ENDPOINT + 0x14, 0);
        self.write(ECAM + 4, 6);
        self.write(ENDPOINT + 4, 6);
    }

    pub fn register(&mut self, offset: u64) -> u32 {
        self.read(BAR + offset as u32)
    }

    pub fn set_register(&mut self, offset: u64, value: u32) {
        self.write(BAR + offset as u32, value);
    }

    fn set_address(&mut self, offset: u64, address: u64) {
        let address = BUS_BASE | address;
        self.set_register(offset, address as u32);
        self.set_register(offset + 4, (address >> 32) as u32);
    }

    pub fn enable(&mut self) {
        self.set_register(register::CC, 0);
        self.set_register(register::AQA, 0x0001_0001);
        let (sq, cq) = (self.pairs[0].sq, self.pairs[0].cq);
        self.set_address(register::ASQ, sq);
        self.set_address(register::ACQ, cq);
        let mut cc = Configuration::default();
        cc.set_enable(true).set_io_sq_entry_size(6).set_io_cq_entry_size(4);
        self.set_register(register::CC, cc.raw());
        while !ControllerStatus::from_raw(self.register(register::CSTS)).ready() {
            self.wait(1000);
        }
    }

    /// Everything up to the queues.
    pub fn bring_up(&mut self) {
        self.enumerate();
        self.enable();
        let controller = self.identify(Cns::CONTROLLER, 0);
        let controller = IdentifyController::from_bytes(controller);
        assert!(controller.model().contains("(sim"), "{}", controller.model());
        let namespace = IdentifyNamespace::from_bytes(self.identify(Cns::NAMESPACE, 1));
        self.block_bytes = namespace.format().block_bytes().expect("a format");
        self.media_blocks = namespace.size_blocks();
        let mut queues = SetFeatures::new();
        queues.set_fid(FeatureId::NUMBER_OF_QUEUES.0).set_value(0x0001_0001);
        assert!(self.admin(queues.entry()).status().is_success());
        for queue in [1, 2] {
            let (sq, cq) = (self.pairs[usize::from(queue)].sq, self.pairs[usize::from(queue)].cq);
            let size = (ENTRIES - 1) as u16;
            let mut create = CreateCompletionQueue::new();
            create.set_qid(queue).set_size(size).set_contiguous(true);
            let mut entry = create.entry();
            entry.set_prps(BUS_BASE | cq, 0);
            assert!(self.admin(entry).status().is_success());
            let mut create = CreateSubmissionQueue::new();
            create.set_qid(queue).set_size(size).set_contiguous(true).set_cqid(queue);
            let mut entry = create.entry();
            entry.set_prps(BUS_BASE | sq, 0);
            assert!(self.admin(entry).status().is_success());
        }
    }

    fn identify(&mut self, cns: Cns, nsid: u32) -> [u8; 4096] {
        let mut command = IdentifyCommand::new();
        command.set_cns(cns.0);
        let mut entry = command.entry();
        entry.set_nsid(nsid).set_prps(BUS_BASE | IDENTIFY, 0);
        self.core.memory.write(IDENTIFY, &[0xee; 4096]);
        assert!(self.admin(entry).status().is_success());
        let mut data = [0; 4096];
        self.core.memory.read(IDENTIFY, &mut data);
        data
    }

    pub fn delete_submission_queue(&mut self, queue: u16) {
        let mut command = DeleteSubmissionQueue::new();
        command.set_qid(queue);
        assert!(self.admin(command.entry()).status().is_success());
    }

    pub fn admin(&mut self, mut entry: SubmissionEntry) -> CompletionEntry {
        entry.set_cid(0x4242);
        self.put(0, entry);
        self.ring(0);
        let done = self.next_completion(0, 1_000_000).expect("an admin command completes");
        assert_eq!(done.cid(), 0x4242);
        done
    }

    pub fn put(&mut self, queue: usize, entry: SubmissionEntry) {
        let pair = &mut self.pairs[queue];
        let at = pair.sq + u64::from(pair.tail) * 64;
        pair.tail = (pair.tail + 1) % pair.entries;
        self.core.memory.write(at, entry.as_bytes());
    }

    pub fn ring(&mut self, queue: usize) {
        let tail = self.pairs[queue].tail;
        self.set_register(register::sq_doorbell(queue as u16, 0), tail);
    }

    /// The next entry of a completion queue, if it is there.
    pub fn poll(&mut self, queue: usize) -> Option<CompletionEntry> {
        let pair = &mut self.pairs[queue];
        let mut raw = [0; 16];
        let at = pair.cq + u64::from(pair.head) * 16;
        self.core.memory.read(at, &mut raw);
        let entry = CompletionEntry::from_bytes(raw);
        if entry.phase() != pair.phase {
            return None;
        }
        pair.head += 1;
        if pair.head == pair.entries {
            pair.head = 0;
            pair.phase = !pair.phase;
        }
        Some(entry)
    }

    pub fn acknowledge(&mut self, queue: usize) {
        let head = self.pairs[queue].head;
        self.set_register(register::cq_doorbell(queue as u16, 0), head);
    }

    /// Waits for a completion and acknowledges it.
    pub fn next_completion(&mut self, queue: usize, limit: u64) -> Option<CompletionEntry> {
        for _ in 0..limit {
            if let Some(entry) = self.poll(queue) {
                self.acknowledge(queue);
                return Some(entry);
            }
            self.step();
        }
        None
    }

    /// Puts a read or write of whole pages from a slot's memory.
    pub fn put_io(&mut self, is_read: bool, slot: u16, lba: u64, bytes: u64) {
        let blocks = (bytes / self.block_bytes) as u32;
        let mut entry = match is_read {
            true => nvm::Read::for_blocks(1, lba, blocks).entry(),
            false => nvm::Write::for_blocks(1, lba, blocks).entry(),
        };
        let base = slot_address(is_read, slot);
        let pages = bytes.div_ceil(PAGE);
        let list = LISTS + u64::from(is_read) * 0x10_0000 + u64::from(slot) * 4096;
        let second = match pages {
            0 | 1 => 0,
            2 => BUS_BASE | (base + PAGE),
            _ => {
                for page in 1..pages {
                    let address = BUS_BASE | (base + page * PAGE);
                    self.core.memory.write(list + 8 * (page - 1), &address.to_le_bytes());
                }
                BUS_BASE | list
            }
        };
        entry.set_cid(slot).set_prps(BUS_BASE | base, second);
        self.put(1 + usize::from(is_read), entry);
    }
}

/// Memory of a slot: 2 MiB each.
pub fn slot_address(is_read: bool, slot: u16) -> u64 {
    (u64::from(is_read) << 30) | u64::from(slot) << 21
}

fn is_valid(outputs: &DriveOutputs) -> bool {
    let dev = outputs.dev_r_valid | outputs.dev_b_valid;
    dev | outputs.bar_aw_valid | outputs.bar_w_valid | outputs.bar_ar_valid != 0
}
