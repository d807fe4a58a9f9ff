//! Planned faults of a drive that break the integrity of data without an error status, to test what
//! must detect them.
//!
//! # Purpose
//! A plan selects commands by operation and ordinal; [`Faults::begin`] says how each command is to
//! be executed: not at all, shortened, elsewhere, later, or with old data. It needs no more of the
//! drive than [`FaultMedia`], so the same plan serves a layer between software and drive, and the
//! NVMe controller model behind a hardware core.
//!
//! # State
//! [`Faults`] holds counters and old data (before the last write, before the last flush). Clones
//! share it, and it outlives the drive's being opened and closed.
//!
//! # Power loss
//! With [`Faults::volatile`], the data before every write since the last flush are saved, and
//! [`Faults::lose_power`] lets the next command restore all of them: the worst case that the
//! specification permits. A lost flush is acknowledged without effect.
//!
//! # Non-goals
//! No error status: simulated drives have those (`fault=write-error@N`). Not for measurements: old
//! data are read before each write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_units::Op;

use crate::pattern;

pub const BLOCK_BYTES: u64 = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchFault {
    /// The write is acknowledged and nothing is stored.
    DroppedWrite,
    /// Whole blocks of the drive.
    TornWrite(u32),
    /// This bit of the write's data, modulo the length, is flipped.
    BitFlip(u64),
    /// The write goes to an address this many bytes away.
    MisdirectedWrite(i64),
    /// The write continues past its end with this many of the stream's next bytes, at most a chunk.
    Overrun(u32),
    /// The write is stored, and so is the inverse of what is in the block this many bytes from its
    /// start: damage to a neighbour.
    DamagedBlock(i64),
    /// The write is acknowledged at once and executed this many I/Os later.
    EarlyWrite(u64),
    /// The read returns each block's data before its last write.
    StaleRead,
    /// The read is acknowledged without data transfer: the buffer keeps its old content.
    UnfilledRead,
    /// The flush is acknowledged without effect.
    LostFlush,
}

impl BenchFault {
    pub fn op(self) -> Op {
        match self {
            BenchFault::StaleRead | BenchFault::UnfilledRead => Op::Read,
            BenchFault::LostFlush => Op::Flush,
            _ => Op::Write,
        }
    }
}

/// I/Os affected, counted by operation from 1 since the faults were armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Once(u64),
    Every(u64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub op: Op,
    pub offset_bytes: u64,
    pub len_bytes: u32,
}

/// How a command is to be executed. It is always acknowledged as successful and complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    Omit,
    /// Here, with the first bytes of its data; as submitted unless there is a fault.
    Execute {
        offset_bytes: u64,
        len_bytes: u32,
    },
    /// A read, as submitted. Its data are then replaced by [`Faults::make_stale`].
    ExecuteStale,
}

/// Reads and writes of the medium are synchronous, and no commands themselves: no fault strikes
/// them.
pub trait FaultMedia {
    /// Failure of the drive as a whole.
    type Error;

    /// Data of a write, which may be changed; empty where data are not moved.
    fn data(&mut self) -> &mut [u8];

    fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), Self::Error>;

    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Self::Error>;
}

type Block = [u8; BLOCK_BYTES as usize];

#[derive(Debug)]
struct DelayedWrite {
    left_ios: u64,
    offset_bytes: u64,
    bytes: Vec<u8>,
}

#[derive(Debug, Default)]
struct FaultState {
    plan: Vec<(BenchFault, Trigger)>,
    armed: bool,
    counts: Counts,
    triggered: u64,
    volatile: bool,
    /// Data at the last flush, by block number.
    before_flush: BTreeMap<u64, Block>,
    /// Data before the last write, by block number.
    before_write: BTreeMap<u64, Block>,
    late: Vec<DelayedWrite>,
    /// Power was lost: unflushed blocks must be restored.
    lost: bool,
}

/// Planned faults of one drive and the old data they need. Clones are shared.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<FaultState>>);

impl Faults {
    pub fn new(plan: &[(BenchFault, Trigger)]) -> Faults {
        Faults(Arc::new(Mutex::new(FaultState {
            plan: plan.to_vec(),
            armed: true,
            ..FaultState::default()
        })))
    }

    /// Unflushed data are lost on power loss.
    #[must_use]
    pub fn volatile(self) -> Faults {
        self.state().volatile = true;
        self
    }

    /// Arm or disarm. Arming resets the counters.
    pub fn arm(&self, armed: bool) {
        let mut state = self.state();
        if armed {
            state.counts = Counts::default();
        }
        state.armed = armed;
    }

    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    pub fn triggered(&self) -> u64 {
        self.state().triggered
    }

    /// Lose power, with nothing in flight; false unless [`Faults::volatile`].
    pub fn lose_power(&self) -> bool {
        let mut state = self.state();
        if state.volatile {
            state.lost = true;
            state.late.clear();
        }
        state.volatile
    }

    /// A command begins: count it, and do on the medium what is due before it and because of its
    /// fault.
    pub fn begin<M: FaultMedia>(
        &self,
        command: Command,
        media: &mut M,
    ) -> Result<Execution, M::Error> {
        // After a power loss, restore unflushed blocks.
        let lost = self.state().take_lost();
        for (number, block) in lost {
            media.write(number * BLOCK_BYTES, &block)?;
        }
        let due = self.state().take_due();
        for late in due {
            self.write(late.offset_bytes, &late.bytes, media)?;
        }
        let Command { op, offset_bytes, len_bytes } = command;
        let fault = self.state().trigger(op);
        let (mut offset_bytes, mut len_bytes) = (offset_bytes, len_bytes);
        match fault {
            None => {}
            Some(
                BenchFault::DroppedWrite
                | BenchFault::UnfilledRead
                | BenchFault::LostFlush
                | BenchFault::TornWrite(0),
            ) => return Ok(Execution::Omit),
            Some(BenchFault::StaleRead) => return Ok(Execution::ExecuteStale),
            Some(BenchFault::TornWrite(kept_bytes)) => len_bytes = kept_bytes.min(len_bytes),
            Some(BenchFault::BitFlip(bit)) => {
                let bit = bit % (u64::from(len_bytes.max(1)) * 8);
                if let Some(byte) = media.data().get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            Some(BenchFault::MisdirectedWrite(by_bytes)) => {
                offset_bytes = offset_bytes.saturating_add_signed(by_bytes);
            }
            Some(BenchFault::Overrun(bytes)) => {
                let chunk = data_of(media, len_bytes);
                let mut beyond = vec![0; bytes.min(len_bytes) as usize];
                if !pattern::continue_stream(&chunk, &mut beyond) {
                    let own = &chunk[..beyond.len()];
                    beyond.copy_from_slice(own);
                }
                self.write(offset_bytes + u64::from(len_bytes), &beyond, media)?;
            }
            Some(BenchFault::DamagedBlock(by)) => self.invert(offset_bytes, by, media)?,
            Some(BenchFault::EarlyWrite(late_ios)) => {
                let bytes = data_of(media, len_bytes);
                self.state().late.push(DelayedWrite { left_ios: late_ios, offset_bytes, bytes });
                return Ok(Execution::Omit);
            }
        }
        match op {
            Op::Write => self.save_old_data(offset_bytes, len_bytes, media)?,
            Op::Flush => self.state().before_flush.clear(),
            _ => {}
        }
        Ok(Execution::Execute { offset_bytes, len_bytes })
    }

    pub fn make_stale(&self, offset_bytes: u64, bytes: &mut [u8]) {
        let state = self.state();
        let (blocks, _) = bytes.as_chunks_mut::<{ BLOCK_BYTES as usize }>();
        for (number, block) in (offset_bytes / BLOCK_BYTES..).zip(blocks) {
            if let Some(before) = state.before_write.get(&number) {
                *block = *before;
            }
        }
    }

    /// Save the data that a write will replace.
    fn save_old_data<M: FaultMedia>(
        &self,
        offset_bytes: u64,
        len_bytes: u32,
        media: &mut M,
    ) -> Result<(), M::Error> {
        let saves = self.state().saves_old_data();
        if saves {
            let mut bytes = vec![0; len_bytes as usize];
            media.read(offset_bytes, &mut bytes)?;
            self.state().save_old_data(offset_bytes, &bytes);
        }
        Ok(())
    }

    /// Inverts the bits of the block at this distance; nothing is before the first one.
    fn invert<M: FaultMedia>(&self, from: u64, by: i64, media: &mut M) -> Result<(), M::Error> {
        let Some(at) = from.checked_add_signed(by) else {
            return Ok(());
        };
        let mut bytes = [0; BLOCK_BYTES as usize];
        media.read(at, &mut bytes)?;
        self.write(at, &bytes.map(|byte| !byte), media)
    }

    /// A write of the fault itself.
    fn write<M: FaultMedia>(
        &self,
        offset_bytes: u64,
        bytes: &[u8],
        media: &mut M,
    ) -> Result<(), M::Error> {
        self.save_old_data(offset_bytes, bytes.len() as u32, media)?;
        media.write(offset_bytes, bytes)
    }

    /// No operation under this lock is left incomplete by a panic.
    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Data of a write of this length; zeroes where data are not moved.
fn data_of<M: FaultMedia>(media: &mut M, len_bytes: u32) -> Vec<u8> {
    let data = media.data();
    let len = len_bytes as usize;
    let mut bytes = data[..len.min(data.len())].to_vec();
    bytes.resize(len, 0);
    bytes
}

impl FaultState {
    fn trigger(&mut self, op: Op) -> Option<BenchFault> {
        if !self.armed {
            return None;
        }
        let counter = match op {
            Op::Read => &mut self.counts.reads,
            Op::Write => &mut self.counts.writes,
            Op::Flush => &mut self.counts.flushes,
            Op::Discard | Op::WriteZeroes => return None,
        };
        *counter += 1;
        let ordinal = *counter;
        let plan = self.plan.iter().filter(|(fault, _)| fault.op() == op);
        let mut hits = plan.filter(|(_, trigger)| match *trigger {
            Trigger::Once(at) => ordinal == at,
            Trigger::Every(each) => each > 0 && ordinal.is_multiple_of(each),
        });
        let (fault, _) = *hits.next()?;
        self.triggered += 1;
        Some(fault)
    }

    fn saves_old_data(&self) -> bool {
        let stale = |&(fault, _): &(BenchFault, Trigger)| fault == BenchFault::StaleRead;
        self.volatile || self.plan.iter().any(stale)
    }

    fn save_old_data(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let (blocks, _) = bytes.as_chunks::<{ BLOCK_BYTES as usize }>();
        for (number, block) in (offset_bytes / BLOCK_BYTES..).zip(blocks) {
            if self.volatile {
                self.before_flush.entry(number).or_insert(*block);
            }
            self.before_write.insert(number, *block);
        }
    }

    /// Blocks to restore after a power loss.
    fn take_lost(&mut self) -> BTreeMap<u64, Block> {
        if !std::mem::take(&mut self.lost) {
            return BTreeMap::new();
        }
        std::mem::take(&mut self.before_flush)
    }

    fn take_due(&mut self) -> Vec<DelayedWrite> {
        for late in &mut self.late {
            // A delay of 0 is due at once.
            late.left_ios = late.left_ios.saturating_sub(1);
        }
        self.late.extract_if(.., |late| late.left_ios == 0).collect()
    }
}

#[cfg(test)]
#[path = "../tests/unit/planned_faults.rs"]
mod tests;
