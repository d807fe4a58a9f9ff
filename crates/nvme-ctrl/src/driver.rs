//! A minimal NVMe driver with queue depth 1, to probe a simulated controller and to measure the
//! round-trip overhead of a served one.
//!
//! The driver has an admin queue pair and at most one I/O queue pair of [`ENTRIES`] entries each.
//! It handles no asynchronous events.

use assay_nvme_spec::admin::{CreateCompletionQueue, CreateSubmissionQueue};
use assay_nvme_spec::register::{
    ACQ, AQA, ASQ, CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, cq_doorbell,
    sq_doorbell,
};
use assay_nvme_spec::{CompletionEntry, SubmissionEntry};
use assay_units::Nanos;

use crate::controller::{Controller, PAGE_BYTES};
use crate::memory::{FlatMemory, HostMemory, Unmapped};

pub const ENTRIES: u32 = 16;
pub const DATA_BYTES: usize = 16 * PAGE_BYTES as usize;
/// Driver memory from [`Transport::base`] on: one page per queue, one for a PRP list, then data.
pub const MEMORY_BYTES: usize = DATA as usize + DATA_BYTES;
/// Offset from [`Transport::base`], as [`DATA`] and [`QUEUES`].
const PRP_LIST: u64 = 4 * PAGE_BYTES;
const DATA: u64 = 5 * PAGE_BYTES;
/// Submission and completion queue: admin, I/O.
const QUEUES: [(u64, u64); 2] = [(0, PAGE_BYTES), (2 * PAGE_BYTES, 3 * PAGE_BYTES)];
/// Identifier of the I/O queue pair, and its interrupt vector.
const IO: u16 = 1;

/// Access to a controller; fails when the controller is not reachable.
pub trait Transport {
    type Error: std::error::Error + 'static;

    /// Page-aligned address of [`MEMORY_BYTES`] of driver memory, as seen by the controller.
    fn base(&self) -> u64;

    /// `size` is 4 or 8 bytes.
    fn read_register(&mut self, offset: u64, size: usize) -> Result<u64, Self::Error>;

    /// `size` is 4 or 8 bytes.
    fn write_register(&mut self, offset: u64, size: usize, value: u64) -> Result<(), Self::Error>;

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Self::Error>;

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Waits for the vector's interrupt, or any event; `false` after a timeout, or if none can
    /// follow.
    fn wait(&mut self, vector: Option<u16>) -> Result<bool, Self::Error>;
}

#[derive(Debug, thiserror::Error)]
pub enum DriverError<E: std::error::Error + 'static> {
    #[error("the controller is not reachable: {0}")]
    Transport(#[from] E),
    /// Controller Fatal Status, or the controller does not become ready: CSTS.
    #[error("the controller does not become ready (CSTS {0:#x}); reset it")]
    NotReady(u32),
    #[error(
        "the controller rejected an I/O queue with status {0:#x}; the queue exists already or is \
         not supported"
    )]
    QueueRefused(u16),
    /// Opcode of the command.
    #[error("the controller does not complete command {0:#x}: the drive was removed")]
    NoCompletion(u8),
    /// More data than [`DATA_BYTES`].
    #[error("{0} bytes of data exceed the driver's limit of {DATA_BYTES}; split the command")]
    TransferTooLarge(usize),
}

pub type DriverResult<B, T = CompletionEntry> = Result<T, DriverError<<B as Transport>::Error>>;

#[derive(Clone, Copy, Debug, Default)]
struct QueuePair {
    qid: u16,
    sq: u64,
    cq: u64,
    tail: u32,
    head: u32,
    phase: bool,
    next_cid: u16,
    /// The completion queue head doorbell is to be written.
    doorbell_pending: bool,
}

impl QueuePair {
    fn new(qid: u16, base: u64) -> QueuePair {
        let (sq, cq) = QUEUES[usize::from(qid)];
        QueuePair { qid, sq: base + sq, cq: base + cq, phase: true, ..QueuePair::default() }
    }

    /// NVMe over PCIe 1.0c, 3.1.2.2.
    fn acknowledge<B: Transport>(&mut self, transport: &mut B, stride: u8) -> Result<(), B::Error> {
        if !std::mem::take(&mut self.doorbell_pending) {
            return Ok(());
        }
        transport.write_register(cq_doorbell(self.qid, stride), 4, u64::from(self.head))
    }

    /// Submits a command and waits for its completion.
    fn run<B: Transport>(
        &mut self,
        transport: &mut B,
        stride: u8,
        mut entry: SubmissionEntry,
    ) -> DriverResult<B> {
        entry.set_cid(self.next_cid);
        self.next_cid = self.next_cid.wrapping_add(1);
        self.acknowledge(transport, stride)?;
        let at = self.sq + u64::from(self.tail) * SubmissionEntry::SIZE as u64;
        transport.write_memory(at, entry.as_bytes())?;
        self.tail = (self.tail + 1) % ENTRIES;
        transport.write_register(sq_doorbell(self.qid, stride), 4, u64::from(self.tail))?;
        loop {
            let mut raw = [0; CompletionEntry::SIZE];
            let at = self.cq + u64::from(self.head) * CompletionEntry::SIZE as u64;
            transport.read_memory(at, &mut raw)?;
            let done = CompletionEntry::from_bytes(raw);
            if done.phase() == self.phase {
                self.head = (self.head + 1) % ENTRIES;
                self.phase ^= self.head == 0;
                self.doorbell_pending = true;
                return Ok(done);
            }
            if !transport.wait(Some(self.qid))? {
                return Err(DriverError::NoCompletion(entry.opcode()));
            }
        }
    }
}

#[derive(Debug)]
pub struct Driver<B> {
    pub transport: B,
    stride: u8,
    admin: QueuePair,
    io: Option<QueuePair>,
}

impl<B: Transport> Driver<B> {
    /// Base 3.5.1: disable, set the admin queues, enable, wait until ready.
    pub fn new(mut transport: B) -> DriverResult<B, Driver<B>> {
        let base = transport.base();
        let admin = QueuePair::new(0, base);
        let raw = transport.read_register(CAP, 8)?;
        let stride = Capabilities::from_raw(raw).doorbell_stride();
        let size = u64::from(ENTRIES - 1);
        let mut on = Configuration::default();
        // Entries of 64 and 16 bytes, as powers of two (Base 3.3.3).
        on.set_enable(true).set_io_sq_entry_size(6).set_io_cq_entry_size(4);
        // Stale entries of an earlier use could match the phase tag.
        for at in QUEUES.into_iter().flat_map(|(sq, cq)| [sq, cq]) {
            transport.write_memory(base + at, &[0; PAGE_BYTES as usize])?;
        }
        for (offset, bytes, value) in [
            (CC, 4, 0),
            (AQA, 4, size << 16 | size),
            (ASQ, 8, admin.sq),
            (ACQ, 8, admin.cq),
            (CC, 4, u64::from(on.raw())),
        ] {
            transport.write_register(offset, bytes, value)?;
        }
        loop {
            let csts = transport.read_register(CSTS, 4)? as u32;
            let status = ControllerStatus::from_raw(csts);
            // All ones: the device is gone.
            let failed = status.fatal() || csts == u32::MAX;
            if status.ready() && !failed {
                break;
            }
            if failed || !transport.wait(None)? {
                return Err(DriverError::NotReady(csts));
            }
        }
        Ok(Driver { transport, stride, admin, io: None })
    }

    /// Completions raise vector 1.
    pub fn create_io_queue(&mut self) -> DriverResult<B, ()> {
        let pair = QueuePair::new(IO, self.transport.base());
        let size = (ENTRIES - 1) as u16;
        let mut cq = CreateCompletionQueue::new();
        cq.set_qid(IO).set_size(size).set_contiguous(true).set_interrupts(true).set_vector(IO);
        let mut sq = CreateSubmissionQueue::new();
        sq.set_qid(IO).set_size(size).set_contiguous(true).set_cqid(IO);
        for (mut entry, at) in [(cq.entry(), pair.cq), (sq.entry(), pair.sq)] {
            entry.set_prps(at, 0);
            let created = self.admin.run(&mut self.transport, self.stride, entry)?;
            let created = created.status();
            if !created.is_success() {
                return Err(DriverError::QueueRefused(created.0));
            }
        }
        self.io = Some(pair);
        Ok(())
    }

    /// Writes pending completion queue doorbells; the next command does it as well.
    pub fn acknowledge(&mut self) -> DriverResult<B, ()> {
        let pairs = [Some(&mut self.admin), self.io.as_mut()];
        for pair in pairs.into_iter().flatten() {
            pair.acknowledge(&mut self.transport, self.stride)?;
        }
        Ok(())
    }

    /// `data` is sent and received as bits 1:0 of the opcode specify (Base 3.3.3.1). A command that
    /// fails is not an error: see the status of its completion.
    pub fn admin(&mut self, entry: SubmissionEntry, data: &mut [u8]) -> DriverResult<B> {
        self.execute(false, entry, data)
    }

    /// Creates the I/O queue pair on first use.
    pub fn io(&mut self, entry: SubmissionEntry, data: &mut [u8]) -> DriverResult<B> {
        if self.io.is_none() {
            self.create_io_queue()?;
        }
        self.execute(true, entry, data)
    }

    fn execute(
        &mut self,
        is_io: bool,
        mut entry: SubmissionEntry,
        data: &mut [u8],
    ) -> DriverResult<B> {
        let bytes = data.len();
        if bytes > DATA_BYTES {
            return Err(DriverError::TransferTooLarge(bytes));
        }
        let transport = &mut self.transport;
        let (at, list) = (transport.base() + DATA, transport.base() + PRP_LIST);
        let second = match (bytes as u64).div_ceil(PAGE_BYTES) {
            0 | 1 => 0,
            2 => at + PAGE_BYTES,
            pages => {
                let rest = (1..pages).map(|page| (at + page * PAGE_BYTES).to_le_bytes());
                let rest: Vec<u8> = rest.flatten().collect();
                transport.write_memory(list, &rest)?;
                list
            }
        };
        if bytes > 0 {
            entry.set_prps(at, second);
        }
        let (sends, receives) = (entry.opcode() & 1 != 0, entry.opcode() & 2 != 0);
        if sends {
            transport.write_memory(at, data)?;
        }
        let io = self.io.as_mut().filter(|_| is_io);
        let pair = io.unwrap_or(&mut self.admin);
        let done = pair.run(transport, self.stride, entry)?;
        if receives && done.status().is_success() {
            transport.read_memory(at, data)?;
        }
        Ok(done)
    }
}

/// A controller in this process, whose model time advances to the next event.
#[derive(Debug)]
pub struct InProcessTransport {
    pub controller: Controller,
    memory: FlatMemory,
    now: Nanos,
}

/// Not 0, so that a missing address is an error.
const BASE: u64 = 0x10_0000;

impl InProcessTransport {
    /// The controller is in its state after power-on.
    pub fn new(controller: Controller) -> InProcessTransport {
        InProcessTransport {
            controller,
            memory: FlatMemory::new(BASE, MEMORY_BYTES),
            now: Nanos::ZERO,
        }
    }

    pub fn now(&self) -> Nanos {
        self.now
    }
}

impl Transport for InProcessTransport {
    type Error = Unmapped;

    fn base(&self) -> u64 {
        BASE
    }

    fn read_register(&mut self, offset: u64, size: usize) -> Result<u64, Unmapped> {
        Ok(self.controller.read_register(offset, size))
    }

    fn write_register(&mut self, offset: u64, size: usize, value: u64) -> Result<(), Unmapped> {
        self.controller.write_register(self.now, offset, size, value);
        Ok(())
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
        self.memory.read(address, bytes)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Unmapped> {
        self.memory.write(address, bytes)
    }

    fn wait(&mut self, _vector: Option<u16>) -> Result<bool, Unmapped> {
        let Some(event) = self.controller.next_event() else {
            return Ok(false);
        };
        self.now = self.now.max(event);
        self.controller.advance(self.now, &mut self.memory);
        Ok(true)
    }
}
