//! A target with planned faults: what drives and streamers do wrong, done on purpose, so that a test bench can be tested.
//!
//! # Mechanism
//! [`FaultyTarget`] stands before any [`Target`] and passes I/Os on, but for those that a plan names: these are dropped, shortened, sent elsewhere,
//! answered too early or too old. It needs nothing of the target but the trait, and one slot of its own for I/Os that nobody asked for. What
//! a fault has to remember (what stood there before, what was not flushed) is kept in [`Faults`], which outlives the target: a drive is opened
//! anew for each test and stays the same drive.
//!
//! # Loss of power
//! With [`Faults::volatile`] everything written since the last flush is remembered as it was before. [`Faults::lose_power`] puts all of it back: the
//! harshest drive that keeps the contract. A lost flush is then a flush that is answered and not done.
//!
//! # Non-goals
//! Not for measuring: what is remembered is read first, and costs time. Errors that a drive reports are left to the simulated ones
//! (`fault=write-error@N`): nothing has to be found out about them.
//!
//! # Key constants
//! [`BLOCK_BYTES`], the granule of what is remembered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_io::{Completion, DataClass, Io, Nanos, Op, Target, TargetError, Telemetry};

use assay_integrity::pattern;

/// Granule of what is remembered, bytes.
pub const BLOCK_BYTES: u64 = 512;

/// How long a wait for an I/O of its own lasts before it looks again.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The write is acknowledged and nothing is stored.
    DroppedWrite,
    /// The write is acknowledged and only its beginning is stored.
    TornWrite {
        /// Bytes that are; whole blocks of the drive.
        kept_bytes: u32,
    },
    /// One bit of the write's data is flipped.
    BitFlip {
        /// Which, counted from its first; beyond its end it comes round again.
        bit: u64,
    },
    /// The write goes to another address.
    MisdirectedWrite {
        /// How far off, bytes.
        by_bytes: i64,
    },
    /// The write runs over its end: the stream's next bytes go where nobody asked for them.
    Overrun {
        /// How far, bytes; at most a chunk.
        bytes: u32,
    },
    /// The write is acknowledged at once and done later.
    EarlyWrite {
        /// So many I/Os later.
        late_ios: u64,
    },
    /// The read returns each block as it was before its last write.
    StaleRead,
    /// The read is acknowledged and moves nothing: the buffer holds what was left over in it.
    UnfilledRead,
    /// The flush is acknowledged and not done.
    LostFlush,
}

impl Fault {
    /// What kind of I/O it strikes.
    pub fn op(self) -> Op {
        match self {
            Fault::StaleRead | Fault::UnfilledRead => Op::Read,
            Fault::LostFlush => Op::Flush,
            _ => Op::Write,
        }
    }
}

/// Which I/Os of its kind a fault strikes, counted from 1 since the faults were armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// This one.
    Once(u64),
    /// Every so many.
    Every(u64),
}

impl Trigger {
    fn hits(self, ordinal: u64) -> bool {
        match self {
            Trigger::Once(at) => ordinal == at,
            Trigger::Every(each) => each > 0 && ordinal.is_multiple_of(each),
        }
    }
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

/// A write that was acknowledged and is still to be done.
#[derive(Debug)]
struct DelayedWrite {
    left_ios: u64,
    offset_bytes: u64,
    bytes: Vec<u8>,
}

#[derive(Debug, Default)]
struct FaultState {
    plan: Vec<(Fault, Trigger)>,
    armed: bool,
    counts: Counts,
    triggered: u64,
    volatile: bool,
    /// By block number: what stood there at the last flush.
    before_flush: BTreeMap<u64, Block>,
    /// By block number: what stood there before the last write.
    before_write: BTreeMap<u64, Block>,
    late: Vec<DelayedWrite>,
    /// Power was lost: what was not flushed is to be put back.
    lost: bool,
}

/// The faults of one drive, planned, and what they have to remember. A handle: clones are the same faults.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<FaultState>>);

impl Faults {
    /// Faults to strike, armed.
    pub fn new(plan: &[(Fault, Trigger)]) -> Faults {
        Faults(Arc::new(Mutex::new(FaultState {
            plan: plan.to_vec(),
            armed: true,
            ..FaultState::default()
        })))
    }

    /// The drive forgets what was not flushed when it loses power.
    #[must_use]
    pub fn volatile(self) -> Faults {
        self.state().volatile = true;
        self
    }

    /// Arm or disarm them. Arming begins to count anew.
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

    /// How often a fault has struck.
    pub fn triggered(&self) -> u64 {
        self.state().triggered
    }

    /// The drive loses its power now, with nothing in flight; false where it is not [`Faults::volatile`].
    pub fn lose_power(&self) -> bool {
        let mut state = self.state();
        if state.volatile {
            state.lost = true;
            state.late.clear();
        }
        state.volatile
    }

    /// Nothing is done half under this lock.
    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Count an I/O and say what strikes it.
    fn trigger(&self, op: Op) -> Option<Fault> {
        let mut state = self.state();
        if !state.armed {
            return None;
        }
        let counter = match op {
            Op::Read => &mut state.counts.reads,
            Op::Write => &mut state.counts.writes,
            Op::Flush => &mut state.counts.flushes,
            Op::Discard | Op::WriteZeroes => return None,
        };
        *counter += 1;
        let ordinal = *counter;
        let hit = |&&(fault, strike): &&(Fault, Trigger)| fault.op() == op && strike.hits(ordinal);
        let fault = state.plan.iter().find(hit).map(|&(fault, _)| fault)?;
        state.triggered += 1;
        Some(fault)
    }

    /// Must it be known what stands where something is written?
    fn saves_old_data(&self) -> bool {
        let state = self.state();
        let stale = |&(fault, _): &(Fault, Trigger)| fault == Fault::StaleRead;
        state.volatile || state.plan.iter().any(stale)
    }

    fn save_old_data(&self, offset_bytes: u64, bytes: &[u8]) {
        let mut state = self.state();
        let (blocks, _) = bytes.as_chunks::<{ BLOCK_BYTES as usize }>();
        for (number, block) in (offset_bytes / BLOCK_BYTES..).zip(blocks) {
            if state.volatile {
                state.before_flush.entry(number).or_insert(*block);
            }
            state.before_write.insert(number, *block);
        }
    }

    /// Put what stood there before the last write over what was read.
    fn make_stale(&self, offset_bytes: u64, bytes: &mut [u8]) {
        let state = self.state();
        let (blocks, _) = bytes.as_chunks_mut::<{ BLOCK_BYTES as usize }>();
        for (number, block) in (offset_bytes / BLOCK_BYTES..).zip(blocks) {
            if let Some(before) = state.before_write.get(&number) {
                *block = *before;
            }
        }
    }

    fn flushed(&self) {
        self.state().before_flush.clear();
    }

    /// What has to be put back after a loss of power.
    fn take_lost(&self) -> BTreeMap<u64, Block> {
        let mut state = self.state();
        if !std::mem::take(&mut state.lost) {
            return BTreeMap::new();
        }
        std::mem::take(&mut state.before_flush)
    }

    fn delay(&self, late: DelayedWrite) {
        self.state().late.push(late);
    }

    /// Acknowledged writes whose time has come.
    fn take_due(&self) -> Vec<DelayedWrite> {
        let mut state = self.state();
        for late in &mut state.late {
            late.left_ios = late.left_ios.saturating_sub(1);
        }
        state
            .late
            .extract_if(.., |late| late.left_ios == 0)
            .collect()
    }
}

/// What is to become of a completion.
#[derive(Clone, Copy, Debug)]
enum Fixup {
    /// The short write that it is of is told to have been whole.
    Whole { wrote: u32, told: u32 },
    /// What was read from here is made stale.
    Stale { offset_bytes: u64, len_bytes: u32 },
}

/// A target before which faults stand.
#[derive(Debug)]
pub struct FaultyTarget<T> {
    inner: T,
    faults: Faults,
    /// The slot of its own.
    spare: u32,
    mend: BTreeMap<u32, Fixup>,
    /// To be handed on with the next [`Target::reap`].
    done: Vec<Completion>,
}

impl<T: Target> FaultyTarget<T> {
    /// Faults before a target, whose slot `spare` nobody else uses and whose buffers hold the longest I/O.
    pub fn new(inner: T, faults: Faults, spare: u32) -> FaultyTarget<T> {
        FaultyTarget {
            inner,
            faults,
            spare,
            mend: BTreeMap::new(),
            done: Vec::new(),
        }
    }

    fn start(&mut self, io: &Io) -> Result<(), TargetError> {
        self.put_back()?;
        for mut late in self.faults.take_due() {
            self.side_write(late.offset_bytes, &mut late.bytes)?;
        }
        let Some(fault) = self.faults.trigger(io.op) else {
            return self.pass(*io);
        };
        match fault {
            Fault::DroppedWrite | Fault::UnfilledRead | Fault::LostFlush => {
                self.answer(io);
                Ok(())
            }
            Fault::TornWrite { kept_bytes } => {
                let wrote = kept_bytes.min(io.len_bytes);
                if wrote == 0 {
                    self.answer(io);
                    return Ok(());
                }
                let told = io.len_bytes;
                self.mend.insert(io.slot, Fixup::Whole { wrote, told });
                self.pass(Io {
                    len_bytes: wrote,
                    ..*io
                })
            }
            Fault::BitFlip { bit } => {
                let bit = bit % (u64::from(io.len_bytes.max(1)) * 8);
                let buffer = self.inner.buffer(io.slot).unwrap_or_default();
                if let Some(byte) = buffer.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                self.pass(*io)
            }
            Fault::MisdirectedWrite { by_bytes } => self.pass(Io {
                offset_bytes: io.offset_bytes.saturating_add_signed(by_bytes),
                ..*io
            }),
            Fault::Overrun { bytes } => {
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
            Fault::EarlyWrite { late_ios } => {
                let bytes = self.bytes_of(io);
                self.faults.delay(DelayedWrite {
                    left_ios: late_ios,
                    offset_bytes: io.offset_bytes,
                    bytes,
                });
                self.answer(io);
                Ok(())
            }
            Fault::StaleRead => {
                let stale = Fixup::Stale {
                    offset_bytes: io.offset_bytes,
                    len_bytes: io.len_bytes,
                };
                self.mend.insert(io.slot, stale);
                self.pass(*io)
            }
        }
    }

    /// Say that it is done.
    fn answer(&mut self, io: &Io) {
        self.done.push(Completion {
            slot: io.slot,
            result: if io.op == Op::Flush {
                0
            } else {
                io.len_bytes as i32
            },
        });
    }

    fn pass(&mut self, io: Io) -> Result<(), TargetError> {
        match io.op {
            Op::Write => self.save_old_data(io.offset_bytes, io.len_bytes)?,
            Op::Flush => self.faults.flushed(),
            _ => {}
        }
        self.inner.submit(&[io])
    }

    fn bytes_of(&mut self, io: &Io) -> Vec<u8> {
        let buffer = self.inner.buffer(io.slot).unwrap_or_default();
        let mut bytes = buffer
            .get(..io.len_bytes as usize)
            .unwrap_or(buffer)
            .to_vec();
        bytes.resize(io.len_bytes as usize, 0);
        bytes
    }

    /// Remember what stands where something is about to be written.
    fn save_old_data(&mut self, offset_bytes: u64, len_bytes: u32) -> Result<(), TargetError> {
        if self.faults.saves_old_data() {
            let mut bytes = vec![0; len_bytes as usize];
            self.side_io(Op::Read, offset_bytes, &mut bytes)?;
            self.faults.save_old_data(offset_bytes, &bytes);
        }
        Ok(())
    }

    fn side_write(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), TargetError> {
        self.save_old_data(offset_bytes, bytes.len() as u32)?;
        self.side_io(Op::Write, offset_bytes, bytes)
    }

    /// After a loss of power: what was not flushed is as it was.
    fn put_back(&mut self) -> Result<(), TargetError> {
        for (number, mut block) in self.faults.take_lost() {
            self.side_io(Op::Write, number * BLOCK_BYTES, &mut block)?;
        }
        Ok(())
    }

    /// An I/O of its own, waited for. What comes of it is nobody's business but the drive's.
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
        match self.mend.remove(&completion.slot) {
            Some(Fixup::Whole { wrote, told }) if completion.moved(wrote) => {
                completion.result = told as i32;
            }
            Some(Fixup::Stale {
                offset_bytes,
                len_bytes,
            }) => {
                if let Some(buffer) = self.inner.buffer(completion.slot) {
                    let bytes = &mut buffer[..len_bytes as usize];
                    self.faults.make_stale(offset_bytes, bytes);
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
