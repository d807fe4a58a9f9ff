//! Planned faults: each on a medium in memory.

use std::convert::Infallible;

use super::*;
use crate::pattern::Pattern;

const BLOCK: usize = BLOCK_BYTES as usize;

/// A medium of 16 blocks, and the data of the command that begins.
struct Memory {
    bytes: Vec<u8>,
    data: Vec<u8>,
}

impl FaultMedia for Memory {
    type Error = Infallible;

    fn data(&mut self) -> &mut [u8] {
        &mut self.data
    }

    fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), Infallible> {
        let offset = offset_bytes as usize;
        bytes.copy_from_slice(&self.bytes[offset..offset + bytes.len()]);
        Ok(())
    }

    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Infallible> {
        let offset = offset_bytes as usize;
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// A drive that executes commands as the faults say.
struct Drive {
    memory: Memory,
    faults: Faults,
}

impl Drive {
    fn new(faults: Faults) -> Drive {
        Drive { memory: Memory { bytes: vec![0; 16 * BLOCK], data: Vec::new() }, faults }
    }

    fn with_fault(fault: BenchFault, nth: u64) -> Drive {
        Drive::new(Faults::new(&[(fault, Trigger::Once(nth))]))
    }

    fn begin(&mut self, op: Op, block: usize, len_bytes: usize) -> Execution {
        let command =
            Command { op, offset_bytes: (block * BLOCK) as u64, len_bytes: len_bytes as u32 };
        let Ok(execution) = self.faults.begin(command, &mut self.memory);
        execution
    }

    fn write(&mut self, block: usize, data: &[u8]) {
        self.memory.data = data.to_vec();
        if let Execution::Execute { offset_bytes, len_bytes } =
            self.begin(Op::Write, block, data.len())
        {
            let data = self.memory.data[..len_bytes as usize].to_vec();
            let Ok(()) = self.memory.write(offset_bytes, &data);
        }
    }

    /// Into a buffer of 0xee.
    fn read(&mut self, block: usize, blocks: usize) -> Vec<u8> {
        let mut bytes = vec![0xee; blocks * BLOCK];
        let execution = self.begin(Op::Read, block, bytes.len());
        if execution != Execution::Omit {
            let Ok(()) = self.memory.read((block * BLOCK) as u64, &mut bytes);
        }
        if execution == Execution::ExecuteStale {
            self.faults.make_stale((block * BLOCK) as u64, &mut bytes);
        }
        bytes
    }

    /// The first byte of each block of the medium.
    fn heads(&self) -> Vec<u8> {
        let blocks = self.memory.bytes.chunks(BLOCK);
        blocks.map(|block| block[0]).collect()
    }
}

fn blocks(value: u8, count: usize) -> Vec<u8> {
    vec![value; count * BLOCK]
}

#[test]
fn damage_is_to_one_block_at_a_distance() {
    for (distance, block) in [(-2, 6), (1, 9), (5, 13)] {
        let mut drive = Drive::with_fault(BenchFault::DamagedBlock(distance * BLOCK as i64), 1);
        drive.write(8, &blocks(1, 1));
        let mut expected = [0; 16];
        (expected[8], expected[block]) = (1, 255);
        assert_eq!(drive.heads(), expected);
        drive.write(8, &blocks(2, 1));
        expected[8] = 2;
        assert_eq!(drive.heads(), expected, "once");
    }
    // There is nothing before the first block.
    let mut drive = Drive::with_fault(BenchFault::DamagedBlock(-512), 1);
    drive.write(0, &blocks(1, 1));
    assert_eq!(drive.heads()[1..], [0; 15]);
}

#[test]
fn commands_without_a_fault_are_executed_as_submitted_and_counted() {
    let mut drive = Drive::with_fault(BenchFault::DroppedWrite, 3);
    drive.write(0, &blocks(1, 2));
    drive.write(2, &blocks(2, 1));
    assert_eq!(drive.read(0, 3), [blocks(1, 2), blocks(2, 1)].concat());
    assert_eq!(drive.begin(Op::Flush, 0, 0), Execution::Execute { offset_bytes: 0, len_bytes: 0 });
    drive.begin(Op::Discard, 0, 512);
    let counts = Counts { reads: 1, writes: 2, flushes: 1 };
    assert_eq!((drive.faults.counts(), drive.faults.triggered()), (counts, 0));
    // The third write is dropped, and after arming the third again.
    for _ in 0..2 {
        drive.write(5, &blocks(9, 1));
        assert_eq!(drive.heads()[5], 0);
        drive.faults.arm(false);
        drive.write(6, &blocks(6, 1));
        assert_eq!(drive.heads()[6], 6);
        drive.faults.arm(true);
        assert_eq!(drive.faults.counts(), Counts::default());
        drive.write(0, &blocks(1, 2));
        drive.write(2, &blocks(2, 1));
    }
    assert_eq!(drive.faults.triggered(), 2);
}

#[test]
fn writes_are_torn_flipped_and_misdirected() {
    let mut drive = Drive::with_fault(BenchFault::TornWrite(512), 1);
    drive.write(0, &blocks(1, 3));
    assert_eq!(drive.heads()[..4], [1, 0, 0, 0]);
    let mut drive = Drive::with_fault(BenchFault::TornWrite(0), 1);
    drive.write(0, &blocks(1, 3));
    assert_eq!(drive.heads()[..4], [0; 4]);
    let mut drive = Drive::with_fault(BenchFault::BitFlip(8 * BLOCK as u64 + 3), 1);
    drive.write(0, &blocks(0, 2));
    assert_eq!(drive.heads()[..3], [0, 8, 0]);
    let mut drive = Drive::with_fault(BenchFault::MisdirectedWrite(1024), 1);
    drive.write(1, &blocks(1, 1));
    assert_eq!(drive.heads()[..4], [0, 0, 0, 1]);
}

#[test]
fn a_write_runs_over_its_end_with_the_stream_s_next_bytes() {
    let mut stream = blocks(0, 9);
    Pattern::new(5).at(0).fill(&mut stream);
    let mut drive = Drive::with_fault(BenchFault::Overrun(512), 1);
    drive.write(0, &stream[..8 * BLOCK]);
    assert!(drive.memory.bytes[..9 * BLOCK] == stream[..]);
    assert_eq!(drive.heads()[9..], [0; 7]);
    // With its own bytes where they are too few to tell the stream.
    let mut drive = Drive::with_fault(BenchFault::Overrun(512), 1);
    drive.write(0, &blocks(7, 1));
    assert_eq!(drive.heads()[..3], [7, 7, 0]);
}

#[test]
fn a_delayed_write_is_executed_before_a_later_command() {
    let mut drive = Drive::with_fault(BenchFault::EarlyWrite(2), 1);
    drive.write(0, &blocks(1, 1));
    drive.write(1, &blocks(2, 1));
    assert_eq!(drive.heads()[..2], [0, 2]);
    assert_eq!(drive.read(0, 1), blocks(1, 1));
}

#[test]
fn reads_are_stale_or_move_nothing() {
    let mut drive = Drive::with_fault(BenchFault::StaleRead, 2);
    drive.write(0, &blocks(1, 2));
    drive.write(0, &blocks(2, 1));
    assert_eq!(drive.read(0, 2), [blocks(2, 1), blocks(1, 1)].concat());
    assert_eq!(drive.read(0, 2), [blocks(1, 1), blocks(0, 1)].concat());
    let mut drive = Drive::with_fault(BenchFault::UnfilledRead, 1);
    drive.write(0, &blocks(1, 1));
    assert_eq!(drive.read(0, 1), blocks(0xee, 1));
    assert_eq!(drive.read(0, 1), blocks(1, 1));
}

#[test]
fn a_loss_of_power_restores_the_data_of_the_last_flush() {
    assert!(!Faults::new(&[]).lose_power());
    let plan = [(BenchFault::LostFlush, Trigger::Once(2))];
    let mut drive = Drive::new(Faults::new(&plan).volatile());
    drive.write(0, &blocks(1, 1));
    drive.begin(Op::Flush, 0, 0);
    drive.write(0, &blocks(2, 1));
    drive.write(0, &blocks(3, 1));
    drive.write(1, &blocks(3, 1));
    // The second flush is lost.
    assert_eq!(drive.begin(Op::Flush, 0, 0), Execution::Omit);
    assert!(drive.faults.lose_power());
    assert_eq!(drive.read(0, 2), [blocks(1, 1), blocks(0, 1)].concat());
    // Nothing is restored twice.
    drive.write(0, &blocks(4, 1));
    assert_eq!(drive.read(0, 1), blocks(4, 1));
}
