//! An NVMe driver of a PCIe function over vfio-user, modelled on that of Linux.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_serve::vfio::{self, PciFunction};
use assay_serve::{Address, Listener, Pace};
use rustix::event::{EventfdFlags, eventfd};
use tempfile::TempDir;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX,
};
use vfio_user::Client;

use super::trace::DriveAccess;
use super::{options, small_profile};

pub const BAR: u32 = VFIO_PCI_BAR0_REGION_INDEX;
/// Address of the shared memory.
pub const BASE: u64 = 0x8000_0000;
pub const MEMORY_BYTES: u64 = 4 << 20;
/// Offsets in it: queues of 16 entries, data.
const ADMIN_SQ: u64 = 0;
const ADMIN_CQ: u64 = 0x1000;
const IO_SQ: u64 = 0x2000;
const IO_CQ: u64 = 0x3000;
const LIST: u64 = 0x4000;
pub const DATA: u64 = 0x10000;
const ENTRIES: u16 = 16;

/// A driver's view of a queue pair.
pub struct Queue {
    id: u16,
    sq: u64,
    cq: u64,
    tail: u16,
    head: u16,
    phase: u16,
    next_cid: u16,
}

/// Driver of a function. The function's threads end with the process.
pub struct VfioDriver {
    pub client: Client,
    pub memory: File,
    vectors: Vec<File>,
    _folder: TempDir,
}

impl VfioDriver {
    pub fn new(function: &Arc<PciFunction>) -> VfioDriver {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("s");
        let listener = Listener::bind(&Address::Unix(path.clone()), false).unwrap();
        let socket = listener.shared().unwrap();
        let serving = Arc::clone(function);
        std::thread::spawn(move || {
            let stopping = AtomicBool::new(false);
            vfio::serve(&serving, socket, &stopping, |_| {}).unwrap();
        });
        let mut driver = VfioDriver::connect(&path, folder);
        // Keeps the socket file until the folder is removed.
        std::mem::forget(listener);
        driver.share();
        driver
    }

    fn connect(path: &std::path::Path, folder: TempDir) -> VfioDriver {
        let memory = tempfile::tempfile().unwrap();
        memory.set_len(MEMORY_BYTES).unwrap();
        let vectors = (0..2).map(|_| eventfd(0, EventfdFlags::empty()).unwrap());
        VfioDriver {
            client: Client::new(path).unwrap(),
            memory,
            vectors: vectors.map(File::from).collect(),
            _folder: folder,
        }
    }

    /// Shares memory and two interrupt vectors.
    fn share(&mut self) {
        let fd = self.memory.as_raw_fd();
        self.client.dma_map(0, BASE, MEMORY_BYTES, fd).unwrap();
        let fds: Vec<i32> = self.vectors.iter().map(|v| v.as_fd().as_raw_fd()).collect();
        let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
        let index = VFIO_PCI_MSIX_IRQ_INDEX;
        self.client.set_irqs(index, flags, 0, fds.len() as u32, &fds).unwrap();
    }

    pub fn read32(&mut self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.client.region_read(BAR, offset, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    pub fn write32(&mut self, offset: u64, value: u32) {
        self.client.region_write(BAR, offset, &value.to_le_bytes()).unwrap();
    }

    /// Enables the controller; returns its admin queue (Base 2.0c, section 3.5.1).
    pub fn enable(&mut self) -> Queue {
        self.memory.write_all_at(&[0; 0x4000], 0).unwrap();
        self.write32(0x14, 0);
        while self.read32(0x1c) & 1 != 0 {}
        let size = u32::from(ENTRIES - 1);
        self.write32(0x24, size << 16 | size);
        for (register, at) in [(0x28, ADMIN_SQ), (0x30, ADMIN_CQ)] {
            let address = BASE + at;
            self.client.region_write(BAR, register, &address.to_le_bytes()).unwrap();
        }
        self.write32(0x14, 6 << 16 | 4 << 20 | 1);
        while self.read32(0x1c) & 1 == 0 {}
        Queue { id: 0, sq: ADMIN_SQ, cq: ADMIN_CQ, tail: 0, head: 0, phase: 1, next_cid: 0 }
    }

    /// One pair of I/O queues, on vector 1.
    pub fn io_queue(&mut self, admin: &mut Queue) -> Queue {
        let size = u32::from(ENTRIES - 1) << 16 | 1;
        // Physically contiguous, interrupts on, vector 1; then the submission queue for it.
        let flags = 1 << 16 | 3;
        assert_eq!(self.command(admin, 0x05, 0, BASE + IO_CQ, 0, [size, flags, 0]), 0);
        let flags = 1 << 16 | 1;
        assert_eq!(self.command(admin, 0x01, 0, BASE + IO_SQ, 0, [size, flags, 0]), 0);
        Queue { id: 1, sq: IO_SQ, cq: IO_CQ, tail: 0, head: 0, phase: 1, next_cid: 0 }
    }

    /// Submits a command and waits for its interrupt; returns the status of its completion entry.
    pub fn command(
        &mut self,
        queue: &mut Queue,
        op: u8,
        nsid: u32,
        prp1: u64,
        prp2: u64,
        dwords: [u32; 3],
    ) -> u16 {
        let mut entry = [0; 64];
        entry[0] = op;
        entry[2..4].copy_from_slice(&queue.next_cid.to_le_bytes());
        entry[4..8].copy_from_slice(&nsid.to_le_bytes());
        entry[24..32].copy_from_slice(&prp1.to_le_bytes());
        entry[32..40].copy_from_slice(&prp2.to_le_bytes());
        for (at, dword) in (40..).step_by(4).zip(dwords) {
            entry[at..at + 4].copy_from_slice(&dword.to_le_bytes());
        }
        let at = queue.sq + u64::from(queue.tail) * 64;
        self.memory.write_all_at(&entry, at).unwrap();
        queue.tail = (queue.tail + 1) % ENTRIES;
        let doorbell = 0x1000 + u64::from(queue.id) * 8;
        self.write32(doorbell, u32::from(queue.tail));
        // Blocks until the eventfd is signalled.
        let vector = &self.vectors[usize::from(queue.id)];
        let mut count = [0; 8];
        (&*vector).read_exact(&mut count).unwrap();
        let mut done = [0; 16];
        let at = queue.cq + u64::from(queue.head) * 16;
        self.memory.read_exact_at(&mut done, at).unwrap();
        let status = u16::from_le_bytes([done[14], done[15]]);
        assert_eq!(status & 1, queue.phase, "an interrupt without an entry");
        assert_eq!(done[12..14], queue.next_cid.to_le_bytes());
        queue.head = (queue.head + 1) % ENTRIES;
        if queue.head == 0 {
            queue.phase ^= 1;
        }
        queue.next_cid += 1;
        self.write32(doorbell + 4, u32::from(queue.head));
        status >> 1 & 0x7ff
    }

    /// A read or write of the bytes at [`DATA`], with a PRP list for more than two pages.
    pub fn transfer(&mut self, queue: &mut Queue, op: u8, offset: u64, len: u32) -> u16 {
        let pages = u64::from(len).div_ceil(4096);
        let prp2 = match pages {
            0 | 1 => 0,
            2 => BASE + DATA + 4096,
            _ => {
                let list: Vec<u8> =
                    (1..pages).flat_map(|page| (BASE + DATA + page * 4096).to_le_bytes()).collect();
                self.memory.write_all_at(&list, LIST).unwrap();
                BASE + LIST
            }
        };
        let block = offset / 512;
        let dwords = [block as u32, (block >> 32) as u32, len / 512 - 1];
        self.command(queue, op, 1, BASE + DATA, prp2, dwords)
    }
}

/// A function of a small drive with its completion thread.
pub fn function(text: &str, pace: Pace) -> Arc<PciFunction> {
    let function = PciFunction::new(small_profile(), options(text), pace, |_| {}).unwrap();
    let function = Arc::new(function);
    let completing = Arc::clone(&function);
    std::thread::spawn(move || completing.complete());
    function
}

/// Opcodes (Base 2.0c, figure 89; NVM 1.0c, figure 14).
mod opcode {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
}

/// A driver with an I/O queue.
pub struct VfioUserAccess {
    driver: VfioDriver,
    queue: Queue,
}

impl VfioUserAccess {
    pub fn new(function: &Arc<PciFunction>) -> VfioUserAccess {
        let mut driver = VfioDriver::new(function);
        let mut admin = driver.enable();
        let queue = driver.io_queue(&mut admin);
        VfioUserAccess { driver, queue }
    }
}

impl DriveAccess for VfioUserAccess {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        let status = self.driver.transfer(&mut self.queue, opcode::READ, offset, len);
        assert_eq!(status, 0);
        let mut bytes = vec![0; len as usize];
        self.driver.memory.read_exact_at(&mut bytes, DATA).unwrap();
        bytes
    }

    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool) {
        self.driver.memory.write_all_at(bytes, DATA).unwrap();
        let len = bytes.len() as u32;
        let status = self.driver.transfer(&mut self.queue, opcode::WRITE, offset, len);
        assert_eq!(status, 0);
        if durable {
            self.flush();
        }
    }

    fn trim(&mut self, offset: u64, len: u32) {
        let mut range = [0; 16];
        range[4..8].copy_from_slice(&(len / 512).to_le_bytes());
        range[8..].copy_from_slice(&(offset / 512).to_le_bytes());
        self.driver.memory.write_all_at(&range, DATA).unwrap();
        // One range; attribute Deallocate.
        let dwords = [0, 4, 0];
        let (queue, op) = (&mut self.queue, opcode::DATASET_MANAGEMENT);
        assert_eq!(self.driver.command(queue, op, 1, BASE + DATA, 0, dwords), 0);
    }

    fn zero(&mut self, offset: u64, len: u32) {
        let block = offset / 512;
        let dwords = [block as u32, (block >> 32) as u32, len / 512 - 1];
        let (queue, op) = (&mut self.queue, opcode::WRITE_ZEROES);
        assert_eq!(self.driver.command(queue, op, 1, 0, 0, dwords), 0);
    }

    fn flush(&mut self) {
        let (queue, op) = (&mut self.queue, opcode::FLUSH);
        assert_eq!(self.driver.command(queue, op, 1, 0, 0, [0; 3]), 0);
    }
}
