//! [`FaultyTarget`] needs one slot for its own I/Os.

use std::collections::BTreeMap;

use assay_integrity::planned_faults::{Command, Execution, FaultMedia, Faults};
use assay_io::{Completion, DataClass, Io, Nanos, Op, Target, TargetError, Telemetry};
use assay_stream::drives::TargetLayer;

/// Longest wait for an own I/O before polling again.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

#[derive(Clone, Copy, Debug)]
enum Fixup {
    /// A shortened write is reported as complete.
    Whole { stored: u32, requested: u32 },
    /// The data read are replaced by old data.
    Stale(Io),
}

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

/// The target, and the slot of the I/O that begins.
struct Beginning<'t, T> {
    target: &'t mut FaultyTarget<T>,
    slot: u32,
}

impl<T: Target> FaultMedia for Beginning<'_, T> {
    type Error = TargetError;

    fn data(&mut self) -> &mut [u8] {
        self.target.inner.buffer(self.slot).unwrap_or_default()
    }

    fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), TargetError> {
        self.target.side_io(Op::Read, offset_bytes, bytes.len())?;
        if let Some(buffer) = self.target.inner.buffer(self.target.spare) {
            bytes.copy_from_slice(&buffer[..bytes.len()]);
        }
        Ok(())
    }

    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), TargetError> {
        if let Some(buffer) = self.target.inner.buffer(self.target.spare) {
            buffer[..bytes.len()].copy_from_slice(bytes);
        }
        self.target.side_io(Op::Write, offset_bytes, bytes.len())
    }
}

impl<T: Target> FaultyTarget<T> {
    pub fn new(inner: T, faults: Faults, spare: u32) -> FaultyTarget<T> {
        FaultyTarget { inner, faults, spare, fixups: BTreeMap::new(), done: Vec::new() }
    }

    fn start(&mut self, io: &Io) -> Result<(), TargetError> {
        let command = Command { op: io.op, offset_bytes: io.offset_bytes, len_bytes: io.len_bytes };
        let faults = self.faults.clone();
        let mut beginning = Beginning { target: self, slot: io.slot };
        match faults.begin(command, &mut beginning)? {
            Execution::Omit => {
                let moved = if io.op == Op::Flush { 0 } else { io.len_bytes };
                self.done.push(Completion { slot: io.slot, result: moved as i32 });
                Ok(())
            }
            Execution::Execute { offset_bytes, len_bytes } => {
                if len_bytes < io.len_bytes {
                    let (stored, requested) = (len_bytes, io.len_bytes);
                    let whole = Fixup::Whole { stored, requested };
                    self.fixups.insert(io.slot, whole);
                }
                self.inner.submit(&[Io { offset_bytes, len_bytes, ..*io }])
            }
            Execution::ExecuteStale => {
                self.fixups.insert(io.slot, Fixup::Stale(*io));
                self.inner.submit(&[*io])
            }
        }
    }

    fn side_io(&mut self, op: Op, offset_bytes: u64, bytes: usize) -> Result<(), TargetError> {
        let spare = self.spare;
        self.inner.submit(&[Io {
            op,
            data: DataClass::Incompressible,
            slot: spare,
            len_bytes: bytes as u32,
            offset_bytes,
            fua: false,
            priority: 0,
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
                    self.faults.make_stale(io.offset_bytes, bytes);
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

#[derive(Clone, Debug)]
pub struct FaultInjection(Vec<Faults>);

impl FaultInjection {
    pub fn new(faults: &[Faults]) -> FaultInjection {
        FaultInjection(faults.to_vec())
    }
}

impl TargetLayer for FaultInjection {
    fn spare_slots(&self) -> u32 {
        1
    }

    fn wrap<'t>(
        &mut self,
        drive: usize,
        target: Box<dyn Target + 't>,
        first_spare: u32,
    ) -> Box<dyn Target + 't> {
        match self.0.get(drive) {
            Some(faults) => Box::new(FaultyTarget::new(target, faults.clone(), first_spare)),
            None => target,
        }
    }

    fn lose_power(&mut self) -> bool {
        !self.0.is_empty() && self.0.iter().all(Faults::lose_power)
    }
}
