//! Traces of commands, and drives to play them on.
#![allow(dead_code, reason = "each test program uses a part of it")]

use assay_nvme_ctrl::driver::{Driver, InProcessTransport};
use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_nvme_spec::{SubmissionEntry, nvm};
use assay_ssd::{Command, Completion, Drive};
use assay_units::{DataClass, Nanos, Op, Rng};

/// What a trace does at one place.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Write(bool),
    Read,
    Trim,
    Zero,
    Flush,
}

/// Acts at places, so many that collection sets in.
pub fn trace(seed: u64, blocks: u64, acts: usize) -> Vec<(Act, u64, u32)> {
    let mut rng = Rng::new(seed);
    let act = |rng: &mut Rng| match rng.below(20) {
        0 => Act::Trim,
        1 => Act::Zero,
        2 => Act::Flush,
        3 => Act::Write(true),
        4..=6 => Act::Read,
        _ => Act::Write(false),
    };
    let one = |rng: &mut Rng| {
        let (act, len) = (act(rng), 1 + rng.below(32));
        (act, rng.below(blocks - len) * 512, len as u32 * 512)
    };
    (0..acts).map(|_| one(&mut rng)).collect()
}

pub fn payload(n: usize, len: u32) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    // Some are of one byte alone, some of zeroes.
    match n % 5 {
        0 => bytes.fill((n / 5) as u8),
        _ => Rng::new(n as u64).fill(&mut bytes),
    }
    bytes
}

/// A drive, by whatever way it is reached. Everything must succeed.
pub trait Front {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8>;
    /// A durable write is one and then a flush, on every way: that is what a drive with a volatile cache does of Force Unit Access.
    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool);
    fn trim(&mut self, offset: u64, len: u32);
    fn zero(&mut self, offset: u64, len: u32);
    fn flush(&mut self);
}

/// The trace, one act after the other; what its reads gave.
pub fn play(front: &mut impl Front, trace: &[(Act, u64, u32)]) -> Vec<Vec<u8>> {
    let mut reads = Vec::new();
    for (n, &(act, offset, len)) in trace.iter().enumerate() {
        match act {
            Act::Write(durable) => front.write(offset, &payload(n, len), durable),
            Act::Read => reads.push(front.read(offset, len)),
            Act::Trim => front.trim(offset, len),
            Act::Zero => front.zero(offset, len),
            Act::Flush => front.flush(),
        }
    }
    reads
}

/// Everything that a drive holds.
pub fn content(front: &mut impl Front, bytes: u64) -> Vec<u8> {
    const PIECE: u32 = 64 << 10;
    assert_eq!(bytes % u64::from(PIECE), 0);
    let pieces = (0..bytes).step_by(PIECE as usize);
    pieces.flat_map(|at| front.read(at, PIECE)).collect()
}

/// A drive in this process, which nothing stands before.
pub struct Direct {
    pub drive: Drive,
    now: Nanos,
}

impl Direct {
    pub fn new(drive: Drive) -> Direct {
        let now = Nanos::ZERO;
        Direct { drive, now }
    }

    fn one(&mut self, op: Op, offset_bytes: u64, len_bytes: u32, bytes: &[u8]) -> Completion {
        let zero = op != Op::Read && bytes.iter().all(|&byte| byte == 0);
        let command = Command {
            tag: 0,
            queue: 0,
            op,
            offset_bytes,
            len_bytes,
            data: if zero {
                DataClass::Zero
            } else {
                DataClass::Incompressible
            },
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
pub struct Inside(pub Driver<InProcessTransport>);

impl Inside {
    pub fn new(drive: Drive) -> Inside {
        let controller = Controller::new(drive, ControllerOptions::default());
        Inside(Driver::new(InProcessTransport::new(controller)).unwrap())
    }

    fn one(&mut self, entry: SubmissionEntry, data: &mut [u8]) {
        let done = self.0.io(entry, data).unwrap();
        assert!(done.status().is_success(), "{done:?}");
    }
}

impl Front for Inside {
    fn read(&mut self, offset: u64, len: u32) -> Vec<u8> {
        let mut bytes = vec![0; len as usize];
        self.one(
            nvm::Read::of(1, offset / 512, len / 512).entry(),
            &mut bytes,
        );
        bytes
    }

    fn write(&mut self, offset: u64, bytes: &[u8], durable: bool) {
        let blocks = bytes.len() as u32 / 512;
        let entry = nvm::Write::of(1, offset / 512, blocks).entry();
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
        let zeroes = nvm::WriteZeroes::of(1, offset / 512, len / 512);
        self.one(zeroes.entry(), &mut []);
    }

    fn flush(&mut self) {
        let mut flush = nvm::Flush::new();
        flush.set_nsid(1);
        self.one(flush.entry(), &mut []);
    }
}

impl Front for Direct {
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
