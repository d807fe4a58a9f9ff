//! Fault injection: a target with planned faults, to test the test bench.
//!
//! [`FaultyTarget`] wraps any [`Target`] and passes I/Os on, except those selected by a plan: these are dropped, shortened, misdirected, or completed too
//! early or with old data. It needs one slot for its own I/Os. Old data (before the last write, before the last flush) are kept in [`Faults`], which outlives
//! the target: a drive is reopened for each test.
//!
//! # Power loss
//! With [`Faults::volatile`], the data before every write since the last flush are saved, and [`Faults::lose_power`] restores all of them: the worst case that
//! the specification permits. A lost flush is acknowledged without effect.
//!
//! # Non-goals
//! Not for measurements: old data are read before each write. Reported errors are left to simulated drives (`fault=write-error@N`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_io::{Completion, DataClass, Io, Nanos, Op, Target, TargetError, Telemetry};

use assay_integrity::pattern;

/// Granularity of saved data, bytes.
pub const BLOCK_BYTES: u64 = 512;

/// Longest wait for an own I/O before polling again.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchFault {
    /// The write is acknowledged and nothing is stored.
    DroppedWrite,
    /// The write is acknowledged and only this many bytes of it, whole blocks of the drive, are stored.
    TornWrite(u32),
    /// This bit of the write's data, modulo the length, is flipped.
    BitFlip(u64),
    /// The write goes to an address this many bytes away.
    MisdirectedWrite(i64),
    /// The write continues past its end with this many of the stream's next bytes, at most a chunk.
    Overrun(u32),
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
    /// Operation affected.
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
    /// This one.
    Once(u64),
    /// Every n-th.
    Every(u64),
}

/// Reads, writes and flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
}

type Block = [u8; BLOCK_BYTES as usize];

/// A delayed write.
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
    /// These faults, armed.
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

    /// I/Os since they were armed.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// Number of faults triggered.
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

    /// No operation under this lock is left incomplete by a panic.
    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultState {
    /// Count an I/O; returns its fault.
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

    /// Whether old data must be saved before writes.
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

    /// Replace the data read by the data before the last write.
    fn make_stale(&self, offset_bytes: u64, bytes: &mut [u8]) {
        let (blocks, _) = bytes.as_chunks_mut::<{ BLOCK_BYTES as usize }>();
        for (number, block) in (offset_bytes / BLOCK_BYTES..).zip(blocks) {
            if let Some(before) = self.before_write.get(&number) {
                *block = *before;
            }
        }
    }

    /// Blocks to restore after a power loss.
    fn take_lost(&mut self) -> BTreeMap<u64, Block> {
        if !std::mem::take(&mut self.lost) {
            return BTreeMap::new();
        }
        std::mem::take(&mut self.before_flush)
    }

    /// Delayed writes that are due.
    fn take_due(&mut self) -> Vec<DelayedWrite> {
        for late in &mut self.late {
            // A delay of 0 is due at once.
            late.left_ios = late.left_ios.saturating_sub(1);
        }
        self.late
            .extract_if(.., |late| late.left_ios == 0)
            .collect()
    }
}

/// Change of a completion.
#[derive(Clone, Copy, Debug)]
enum Fixup {
    /// A shortened write is reported as complete.
    Whole { stored: u32, requested: u32 },
    /// The data read are replaced by old data.
    Stale(Io),
}

/// A target with planned faults.
#[derive(Debug)]
pub struct FaultyTarget<T> {
    inner: T,
    faults: Faults,
    /// Slot for own I/Os.
    spare: u32,
    fixups: BTreeMap<u32, Fixup>,
    /// Completions for the next [`Target::reap`].
    done: Vec<Completion>,
}

impl<T: Target> FaultyTarget<T> {
    /// Wraps a target whose slot `spare` is otherwise unused and whose buffers hold the longest I/O.
    pub fn new(inner: T, faults: Faults, spare: u32) -> FaultyTarget<T> {
        FaultyTarget {
            inner,
            faults,
            spare,
            fixups: BTreeMap::new(),
            done: Vec::new(),
        }
    }

    fn start(&mut self, io: &Io) -> Result<(), TargetError> {
        // After a power loss, restore unflushed blocks.
        let lost = self.faults.state().take_lost();
        for (number, mut block) in lost {
            self.side_io(Op::Write, number * BLOCK_BYTES, &mut block)?;
        }
        let due = self.faults.state().take_due();
        for mut late in due {
            self.side_write(late.offset_bytes, &mut late.bytes)?;
        }
        let fault = self.faults.state().trigger(io.op);
        let Some(fault) = fault else {
            return self.pass(*io);
        };
        match fault {
            BenchFault::DroppedWrite | BenchFault::UnfilledRead | BenchFault::LostFlush => {
                self.answer(io)
            }
            BenchFault::TornWrite(0) => self.answer(io),
            BenchFault::TornWrite(kept_bytes) => {
                let (stored, requested) = (kept_bytes.min(io.len_bytes), io.len_bytes);
                let whole = Fixup::Whole { stored, requested };
                self.fixups.insert(io.slot, whole);
                let len_bytes = stored;
                self.pass(Io { len_bytes, ..*io })
            }
            BenchFault::BitFlip(bit) => {
                let bit = bit % (u64::from(io.len_bytes.max(1)) * 8);
                let buffer = self.inner.buffer(io.slot).unwrap_or_default();
                if let Some(byte) = buffer.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                self.pass(*io)
            }
            BenchFault::MisdirectedWrite(by_bytes) => self.pass(Io {
                offset_bytes: io.offset_bytes.saturating_add_signed(by_bytes),
                ..*io
            }),
            BenchFault::Overrun(bytes) => {
                let chunk = self.bytes_of(io);
                let mut beyond = vec![0; bytes.min(io.len_bytes) as usize];
                if !pattern::continue_stream(&chunk, &mut beyond) {
                    let own = &chunk[..beyond.len()];
                    beyond.copy_from_slice(own);
                }
                let end = io.offset_bytes + u64::from(io.len_bytes);
                self.side_write(end, &mut beyond)?;
                self.pass(*io)
            }
            BenchFault::EarlyWrite(late_ios) => {
                let bytes = self.bytes_of(io);
                self.faults.state().late.push(DelayedWrite {
                    left_ios: late_ios,
                    offset_bytes: io.offset_bytes,
                    bytes,
                });
                self.answer(io)
            }
            BenchFault::StaleRead => {
                self.fixups.insert(io.slot, Fixup::Stale(*io));
                self.pass(*io)
            }
        }
    }

    /// Complete an I/O without executing it.
    fn answer(&mut self, io: &Io) -> Result<(), TargetError> {
        let moved = if io.op == Op::Flush { 0 } else { io.len_bytes };
        self.done.push(Completion {
            slot: io.slot,
            result: moved as i32,
        });
        Ok(())
    }

    fn pass(&mut self, io: Io) -> Result<(), TargetError> {
        match io.op {
            Op::Write => self.save_old_data(io.offset_bytes, io.len_bytes)?,
            Op::Flush => self.faults.state().before_flush.clear(),
            _ => {}
        }
        self.inner.submit(&[io])
    }

    fn bytes_of(&mut self, io: &Io) -> Vec<u8> {
        let buffer = self.inner.buffer(io.slot).unwrap_or_default();
        let len = io.len_bytes as usize;
        let mut bytes = buffer[..len.min(buffer.len())].to_vec();
        bytes.resize(len, 0);
        bytes
    }

    /// Save the data that a write will replace.
    fn save_old_data(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<(), TargetError> {
        let saves = self.faults.state().saves_old_data();
        if saves {
            let mut bytes = vec![0; len_bytes as usize];
            self.side_io(Op::Read, offset_bytes, &mut bytes)?;
            self.faults.state().save_old_data(offset_bytes, &bytes);
        }
        Ok(())
    }

    fn side_write(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), TargetError> {
        self.save_old_data(offset_bytes, bytes.len() as u32)?;
        self.side_io(Op::Write, offset_bytes, bytes)
    }

    /// An own, synchronous I/O.
    fn side_io(&mut self, op: Op, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), TargetError> {
        let spare = self.spare;
        if let (Op::Write, Some(buffer)) = (op, self.inner.buffer(spare)) {
            buffer[..bytes.len()].copy_from_slice(bytes);
        }
        self.inner.submit(&[Io {
            op,
            data: DataClass::Incompressible,
            slot: spare,
            len_bytes: bytes.len() as u32,
            offset_bytes,
        }])?;
        let mut came = Vec::new();
        let mut waiting = true;
        while waiting {
            let until = self.inner.now() + POLL_INTERVAL;
            self.inner.reap(1, until, &mut came)?;
            for completion in came.drain(..) {
                if completion.slot == spare {
                    waiting = false;
                } else {
                    let fix_up = self.fix_up(completion);
                    self.done.push(fix_up);
                }
            }
        }
        if let (Op::Read, Some(buffer)) = (op, self.inner.buffer(spare)) {
            bytes.copy_from_slice(&buffer[..bytes.len()]);
        }
        Ok(())
    }

    fn fix_up(&mut self, mut completion: Completion) -> Completion {
        match self.fixups.remove(&completion.slot) {
            Some(Fixup::Whole { stored, requested }) if completion.moved(stored) => {
                completion.result = requested as i32;
            }
            Some(Fixup::Stale(io)) => {
                if let Some(buffer) = self.inner.buffer(completion.slot) {
                    let bytes = &mut buffer[..io.len_bytes as usize];
                    self.faults.state().make_stale(io.offset_bytes, bytes);
                }
            }
            _ => {}
        }
        completion
    }
}

impl<T: Target> Target for FaultyTarget<T> {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        batch.iter().try_for_each(|io| self.start(io))
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let ready = self.done.len();
        out.append(&mut self.done);
        let first = out.len();
        self.inner.reap(min.saturating_sub(ready), until, out)?;
        for completion in out.iter_mut().skip(first) {
            *completion = self.fix_up(*completion);
        }
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.inner.buffer(slot)
    }

    fn telemetry(&mut self) -> Option<Telemetry> {
        self.inner.telemetry()
    }
}
