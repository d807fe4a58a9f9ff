//! The other side: as little of a host as it takes to ask a controller things, one command after the other.
//!
//! For hosts that have no driver of their own: who wants to know what a simulated controller says of itself, and who measures what the way to
//! one costs. [`Bus`] is where the controller is; [`InProcess`] is one in this process, whose time jumps to whatever happens next.
//!
//! The host has an admin queue pair and, if it makes one, an I/O queue pair of [`ENTRIES`] entries each. It takes no asynchronous events.

use assay_nvme_spec::admin::{CreateCompletionQueue, CreateSubmissionQueue};
use assay_nvme_spec::register::{
    ACQ, AQA, ASQ, CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, cq_doorbell,
    sq_doorbell,
};
use assay_nvme_spec::{CompletionEntry, SubmissionEntry};
use assay_units::Nanos;

use crate::controller::{Controller, PAGE_BYTES};
use crate::memory::{FlatMemory, HostMemory, Unmapped};

/// Entries of each queue.
pub const ENTRIES: u32 = 16;
/// Most data of one command, in bytes.
pub const DATA_BYTES: usize = 16 * PAGE_BYTES as usize;
/// Memory that a host takes from [`Bus::base`] on, in bytes: a page for each queue, one for a list of pages, then data.
pub const MEMORY_BYTES: usize = DATA as usize + DATA_BYTES;
/// Where the list of a command's data pages lies, from [`Bus::base`] on (PRP list; Base 2.0c, 4.1.1).
const LIST: u64 = 4 * PAGE_BYTES;
/// Where data lies, from [`Bus::base`] on.
const DATA: u64 = 5 * PAGE_BYTES;
/// Where the submission and completion queues lie, from [`Bus::base`] on: admin, I/O.
const QUEUES: [(u64, u64); 2] = [(0, PAGE_BYTES), (2 * PAGE_BYTES, 3 * PAGE_BYTES)];
/// Entries of the two kinds are 64 and 16 bytes (Base 2.0c, 3.3.3): powers of two for CC.
const ENTRY_SIZES: (u8, u8) = (6, 4);
/// The I/O queue pair, and its interrupt vector.
const IO: u16 = 1;

/// Where a controller is.
pub trait Bus {
    /// Why it cannot be reached.
    type Error: std::error::Error + 'static;

    /// Where this host's memory begins for the controller: a page's beginning, with [`MEMORY_BYTES`] from there on.
    fn base(&self) -> u64;

    /// Read a register of 4 or 8 bytes.
    ///
    /// # Errors
    /// When the controller cannot be reached, here and below.
    fn read_register(&mut self, offset: u64, size: usize) -> Result<u64, Self::Error>;

    /// Write a register of 4 or 8 bytes.
    ///
    /// # Errors
    /// As above.
    fn write_register(&mut self, offset: u64, size: usize, value: u64) -> Result<(), Self::Error>;

    /// Read the host's own memory.
    ///
    /// # Errors
    /// When it is not there.
    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Self::Error>;

    /// Write it.
    ///
    /// # Errors
    /// When it is not there.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Wait until something has happened: with `None` anything, with a vector its interrupt. `false`: nothing ever will.
    ///
    /// # Errors
    /// When it cannot be waited for.
    fn wait(&mut self, vector: Option<u16>) -> Result<bool, Self::Error>;
}

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum HostError<E: std::error::Error + 'static> {
    /// The controller cannot be reached.
    #[error("the controller cannot be reached: {0}")]
    Bus(E),
    /// It reports that it cannot go on, or does not become ready.
    #[error("the controller does not become ready (CSTS {csts:#x}); reset it")]
    NotReady {
        /// Its status register.
        csts: u32,
    },
    /// It refused a queue.
    #[error(
        "the controller refused an I/O queue with status {status:#x}; it has one already, or none at all"
    )]
    NoQueue {
        /// Its answer.
        status: u16,
    },
    /// A command was not answered.
    #[error("the controller never answers command {opcode:#x}: the drive is gone")]
    NoAnswer {
        /// Its opcode.
        opcode: u8,
    },
    /// More data than the host has room for.
    #[error(
        "{bytes} bytes of data are more than the {DATA_BYTES} that this host has room for; ask for parts"
    )]
    TooMuchData {
        /// How many.
        bytes: usize,
    },
}

/// A queue pair as a host keeps it.
#[derive(Clone, Copy, Debug)]
struct Pair {
    qid: u16,
    sq: u64,
    cq: u64,
    tail: u32,
    head: u32,
    phase: bool,
    next_cid: u16,
    /// A completion was taken that the controller was not told of.
    owed: bool,
}

impl Pair {
    fn new(qid: u16, base: u64) -> Pair {
        let (sq, cq) = QUEUES[usize::from(qid.min(IO))];
        Pair {
            qid,
            sq: base + sq,
            cq: base + cq,
            tail: 0,
            head: 0,
            phase: true,
            next_cid: 0,
            owed: false,
        }
    }

    /// Tell the controller what was taken (completion queue head doorbell; NVMe over PCIe 1.0c, 3.1.2.2).
    fn acknowledge<B: Bus>(&mut self, bus: &mut B, stride: u8) -> Result<(), HostError<B::Error>> {
        if !std::mem::take(&mut self.owed) {
            return Ok(());
        }
        let doorbell = cq_doorbell(self.qid, stride);
        let written = bus.write_register(doorbell, 4, u64::from(self.head));
        written.map_err(HostError::Bus)
    }
}

/// A host with its controller.
#[derive(Debug)]
pub struct Host<B> {
    bus: B,
    stride: u8,
    admin: Pair,
    io: Option<Pair>,
}

impl<B: Bus> Host<B> {
    /// Switch the controller on (Base 2.0c, 3.5.1): disable it, give it its admin queues, enable it, wait until it is ready.
    ///
    /// # Errors
    /// [`HostError::NotReady`] or [`HostError::Bus`].
    pub fn new(mut bus: B) -> Result<Host<B>, HostError<B::Error>> {
        let base = bus.base();
        let admin = Pair::new(0, base);
        let raw = bus.read_register(CAP, 8).map_err(HostError::Bus)?;
        let stride = Capabilities::from_raw(raw).doorbell_stride();
        let size = u64::from(ENTRIES - 1);
        let mut on = Configuration::default();
        on.set_enable(true)
            .set_io_sq_entry_size(ENTRY_SIZES.0)
            .set_io_cq_entry_size(ENTRY_SIZES.1);
        // No entry of an earlier life may pass for one of this.
        for queue in 0..QUEUES.len() as u64 * 2 {
            let page = [0; PAGE_BYTES as usize];
            let at = base + queue * PAGE_BYTES;
            bus.write_memory(at, &page).map_err(HostError::Bus)?;
        }
        for (offset, bytes, value) in [
            (CC, 4, 0),
            (AQA, 4, size << 16 | size),
            (ASQ, 8, admin.sq),
            (ACQ, 8, admin.cq),
            (CC, 4, u64::from(on.raw())),
        ] {
            let written = bus.write_register(offset, bytes, value);
            written.map_err(HostError::Bus)?;
        }
        loop {
            let csts = bus.read_register(CSTS, 4).map_err(HostError::Bus)? as u32;
            let status = ControllerStatus::from_raw(csts);
            // All ones: nobody there.
            let failed = status.fatal() || csts == u32::MAX;
            if status.ready() && !failed {
                break;
            }
            if failed || !bus.wait(None).map_err(HostError::Bus)? {
                return Err(HostError::NotReady { csts });
            }
        }
        Ok(Host {
            bus,
            stride,
            admin,
            io: None,
        })
    }

    /// Where the controller is.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    /// Make the I/O queue pair, whose completions raise vector 1.
    ///
    /// # Errors
    /// [`HostError::NoQueue`], or as [`Host::admin`].
    pub fn create_io_queue(&mut self) -> Result<(), HostError<B::Error>> {
        let pair = Pair::new(IO, self.bus.base());
        let size = (ENTRIES - 1) as u16;
        let mut cq = CreateCompletionQueue::new();
        cq.set_qid(IO)
            .set_size(size)
            .set_contiguous(true)
            .set_interrupts(true)
            .set_vector(IO);
        let mut sq = CreateSubmissionQueue::new();
        sq.set_qid(IO)
            .set_size(size)
            .set_contiguous(true)
            .set_cqid(IO);
        for (mut entry, at) in [(cq.entry(), pair.cq), (sq.entry(), pair.sq)] {
            entry.set_prps(at, 0);
            let created = self.run(0, entry)?;
            if !created.status().is_success() {
                let status = created.status().0;
                return Err(HostError::NoQueue { status });
            }
        }
        self.io = Some(pair);
        Ok(())
    }

    /// Tell the controller which completions were taken. Sending the next command does it too; who times commands does it between them.
    ///
    /// # Errors
    /// [`HostError::Bus`].
    pub fn acknowledge(&mut self) -> Result<(), HostError<B::Error>> {
        for pair in [Some(&mut self.admin), self.io.as_mut()]
            .into_iter()
            .flatten()
        {
            pair.acknowledge(&mut self.bus, self.stride)?;
        }
        Ok(())
    }

    /// Send an admin command with its data and wait for it. `data` is sent, and then overwritten with what came, as the opcode's bits 1:0
    /// say (Base 2.0c, 3.3.3.1).
    ///
    /// # Errors
    /// [`HostError`]; a command that the controller refuses is no error here, but has a status.
    pub fn admin(
        &mut self,
        entry: SubmissionEntry,
        data: &mut [u8],
    ) -> Result<CompletionEntry, HostError<B::Error>> {
        self.exchange(0, entry, data)
    }

    /// Send an I/O command with its data and wait for it, once [`Host::create_io_queue`] has made the queues.
    ///
    /// # Errors
    /// As [`Host::admin`].
    pub fn io(
        &mut self,
        entry: SubmissionEntry,
        data: &mut [u8],
    ) -> Result<CompletionEntry, HostError<B::Error>> {
        if self.io.is_none() {
            self.create_io_queue()?;
        }
        self.exchange(IO, entry, data)
    }

    fn exchange(
        &mut self,
        qid: u16,
        mut entry: SubmissionEntry,
        data: &mut [u8],
    ) -> Result<CompletionEntry, HostError<B::Error>> {
        let bytes = data.len();
        if bytes > DATA_BYTES {
            return Err(HostError::TooMuchData { bytes });
        }
        let (at, list) = (self.bus.base() + DATA, self.bus.base() + LIST);
        let second = match (bytes as u64).div_ceil(PAGE_BYTES) {
            0 | 1 => 0,
            2 => at + PAGE_BYTES,
            pages => {
                let rest = (1..pages).map(|page| (at + page * PAGE_BYTES).to_le_bytes());
                let rest: Vec<u8> = rest.flatten().collect();
                let written = self.bus.write_memory(list, &rest);
                written.map_err(HostError::Bus)?;
                list
            }
        };
        if bytes > 0 {
            entry.set_prps(at, second);
        }
        let (sends, receives) = (entry.opcode() & 1 != 0, entry.opcode() & 2 != 0);
        if sends {
            self.bus.write_memory(at, data).map_err(HostError::Bus)?;
        }
        let done = self.run(qid, entry)?;
        if receives && done.status().is_success() {
            self.bus.read_memory(at, data).map_err(HostError::Bus)?;
        }
        Ok(done)
    }

    fn run(
        &mut self,
        qid: u16,
        mut entry: SubmissionEntry,
    ) -> Result<CompletionEntry, HostError<B::Error>> {
        let mut pair = match (&self.io, qid) {
            (Some(io), IO) => *io,
            _ => self.admin,
        };
        entry.set_cid(pair.next_cid);
        pair.next_cid = pair.next_cid.wrapping_add(1);
        let answered = self.ask(&mut pair, &entry);
        if pair.qid == IO {
            self.io = Some(pair);
        } else {
            self.admin = pair;
        }
        answered
    }

    fn ask(
        &mut self,
        pair: &mut Pair,
        entry: &SubmissionEntry,
    ) -> Result<CompletionEntry, HostError<B::Error>> {
        let bus = &mut self.bus;
        pair.acknowledge(bus, self.stride)?;
        let at = pair.sq + u64::from(pair.tail) * SubmissionEntry::SIZE as u64;
        bus.write_memory(at, entry.as_bytes())
            .map_err(HostError::Bus)?;
        pair.tail = (pair.tail + 1) % ENTRIES;
        let doorbell = sq_doorbell(pair.qid, self.stride);
        bus.write_register(doorbell, 4, u64::from(pair.tail))
            .map_err(HostError::Bus)?;
        loop {
            let mut raw = [0; CompletionEntry::SIZE];
            let at = pair.cq + u64::from(pair.head) * CompletionEntry::SIZE as u64;
            bus.read_memory(at, &mut raw).map_err(HostError::Bus)?;
            let done = CompletionEntry::from_bytes(raw);
            if done.phase() == pair.phase {
                pair.head = (pair.head + 1) % ENTRIES;
                pair.phase ^= pair.head == 0;
                pair.owed = true;
                return Ok(done);
            }
            if !bus.wait(Some(pair.qid)).map_err(HostError::Bus)? {
                let opcode = entry.opcode();
                return Err(HostError::NoAnswer { opcode });
            }
        }
    }
}

/// A controller in this process, with memory and a time of its own.
#[derive(Debug)]
pub struct InProcess {
    controller: Controller,
    memory: FlatMemory,
    now: Nanos,
}

/// Not at 0, so that a missing address is seen to be one.
const BASE: u64 = 0x10_0000;

impl InProcess {
    /// A controller that was just switched on.
    pub fn new(controller: Controller) -> InProcess {
        InProcess {
            controller,
            memory: FlatMemory::new(BASE, MEMORY_BYTES),
            now: Nanos::ZERO,
        }
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The controller, for its drive. Registers are written through the bus.
    pub fn controller_mut(&mut self) -> &mut Controller {
        &mut self.controller
    }

    /// Its present.
    pub fn now(&self) -> Nanos {
        self.now
    }
}

impl Bus for InProcess {
    type Error = Unmapped;

    fn base(&self) -> u64 {
        BASE
    }

    fn read_register(&mut self, offset: u64, size: usize) -> Result<u64, Unmapped> {
        Ok(self.controller.read_register(offset, size))
    }

    fn write_register(&mut self, offset: u64, size: usize, value: u64) -> Result<(), Unmapped> {
        self.controller
            .write_register(self.now, offset, size, value);
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
