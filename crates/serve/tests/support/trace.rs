//! Command traces, and access paths to drives to replay them on.
#![allow(dead_code, reason = "each test program uses a part of it")]

use assay_nvme_ctrl::driver::{Driver, InProcessTransport};
use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_nvme_spec::{SubmissionEntry, nvm};
use assay_ssd::{Command, Completion, Drive};
use assay_units::{DataClass, Nanos, Op, Rng};

/// Operation of a trace.
#[derive(Clone, Copy, Debug)]
pub enum TraceOp {
    Write(bool),
    Read,
    Trim,
    Zero,
    Flush,
}

/// A random trace, long enough to start garbage collection.
pub fn trace(seed: u64, blocks: u64, count: usize) -> Vec<(TraceOp, u64, u32)> {
    let mut rng = Rng::new(seed);
    let op = |rng: &mut Rng| match rng.below(20) {
        0 => TraceOp::Trim,
        1 => TraceOp::Zero,
        2 => TraceOp::Flush,
        3 => TraceOp::Write(true),
        4..=6 => TraceOp::Read,
        _ => TraceOp::Write(false),
    };
    let one = |rng: &mut Rng| {
        let (op, len) = (op(rng), 1 + rng.below(32));
        (op, rng.below(blocks - len) * 512, len as u32 * 512)
    };
    (0..count).map(|_| one(&mut rng)).collect()
}

pub fn payload(n: usize, len: u32) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    // One of five is a single repeated byte, some of them 0.
    match n % 5 {
        0 => bytes.fill((n / 5) as u8),
        _ => Rng::new(n as u64).fill(&mut bytes),
    }
    bytes
}

/// Access path to a drive. Every command must succeed.
pub trait DriveAccess {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8>;
    /// With `durable`, a write followed by a flush, as a drive with a volatile write cache executes
    /// Force Unit Access.
    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool);
    fn trim(&mut self, offset: u64, len: u32);
    fn zero(&mut self, offset: u64, len: u32);
    fn flush(&mut self);
}

/// Replays the trace at queue depth 1; returns the data of its reads.
pub fn replay(drive: &mut impl DriveAccess, trace: &[(TraceOp, u64, u32)]) -> Vec<Vec<u8>> {
    let mut reads = Vec::new();
    for (n, &(op, offset, len)) in trace.iter().enumerate() {
        match op {
            TraceOp::Write(durable) => drive.write(offset, &payload(n, len), durable),
            TraceOp::Read => reads.push(drive.read(offset, len)),
            TraceOp::Trim => drive.trim(offset, len),
            TraceOp::Zero => drive.zero(offset, len),
            TraceOp::Flush => drive.flush(),
        }
    }
    reads
}

/// All data of a drive.
pub fn content(drive: &mut impl DriveAccess, bytes: u64) -> Vec<u8> {
    const PIECE: u32 = 64 << 10;
    assert_eq!(bytes % u64::from(PIECE), 0);
    let pieces = (0..bytes).step_by(PIECE as usize);
    pieces.flat_map(|at| drive.read(at, PIECE)).collect()
}

/// The drive model itself.
pub struct DirectAccess {
    pub drive: Drive,
    now: Nanos,
}

impl DirectAccess {
    pub fn new(drive: Drive) -> DirectAccess {
        let now = Nanos::ZERO;
        DirectAccess { drive, now }
    }

    fn one(&mut self, op: Op, offset_bytes: u64, len_bytes: u32, bytes: &[u8]) -> Completion {
        let zero = op != Op::Read && bytes.iter().all(|&byte| byte == 0);
        let command = Command {
            tag: 0,
            queue: 0,
            op,
            offset_bytes,
            len_bytes,
            data: if zero { DataClass::Zero } else { DataClass::Incompressible },
            fua: false,
        };
        if op == Op::Write {
            self.drive.submit_write(self.now, command, bytes);
        } else {
            self.drive.submit(self.now, command);
        }
        let mut done = Vec::new();
        while done.is_empty() {
            self.now = self.drive.next_event().unwrap();
            self.drive.advance(self.now, &mut done);
        }
        assert!(done[0].status.is_ok());
        done.remove(0)
    }
}

/// A drive behind an NVMe controller in this process.
pub struct ControllerAccess(pub Driver<InProcessTransport>);

impl ControllerAccess {
    pub fn new(drive: Drive) -> ControllerAccess {
        let controller = Controller::new(drive, ControllerOptions::default());
        ControllerAccess(Driver::new(InProcessTransport::new(controller)).unwrap())
    }

    fn one(&mut self, entry: SubmissionEntry, data: &mut [u8]) {
        let done = self.0.io(entry, data).unwrap();
        assert!(done.status().is_success(), "{done:?}");
    }
}

impl DriveAccess for ControllerAccess {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        let mut bytes = vec![0; len as usize];
        self.one(nvm::Read::for_blocks(1, offset / 512, len / 512).entry(), &mut bytes);
        bytes
    }

    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool) {
        let blocks = bytes.len() as u32 / 512;
        let entry = nvm::Write::for_blocks(1, offset / 512, blocks).entry();
        self.one(entry, &mut bytes.to_vec());
        if durable {
            self.flush();
        }
    }

    fn trim(&mut self, offset: u64, len: u32) {
        let mut range = nvm::DatasetRange::default();
        range.set_slba(offset / 512).set_blocks(len / 512);
        let mut dataset = nvm::DatasetManagement::new();
        dataset.set_nsid(1).set_deallocate(true);
        self.one(dataset.entry(), &mut range.as_bytes().to_vec());
    }

    fn zero(&mut self, offset: u64, len: u32) {
        let zeroes = nvm::WriteZeroes::for_blocks(1, offset / 512, len / 512);
        self.one(zeroes.entry(), &mut []);
    }

    fn flush(&mut self) {
        let mut flush = nvm::Flush::new();
        flush.set_nsid(1);
        self.one(flush.entry(), &mut []);
    }
}

impl DriveAccess for DirectAccess {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        let done = self.one(Op::Read, offset, len, &[]);
        let mut bytes = vec![0; len as usize];
        self.drive.read_data(&done, offset, &mut bytes);
        bytes
    }

    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool) {
        self.one(Op::Write, offset, bytes.len() as u32, bytes);
        if durable {
            self.flush();
        }
    }

    fn trim(&mut self, offset: u64, len: u32) {
        self.one(Op::Discard, offset, len, &[]);
    }

    fn zero(&mut self, offset: u64, len: u32) {
        self.one(Op::WriteZeroes, offset, len, &[]);
    }

    fn flush(&mut self) {
        self.one(Op::Flush, 0, 0, &[]);
    }
}
