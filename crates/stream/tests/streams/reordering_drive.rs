//! An in-memory drive that guarantees only what NVMe does: commands in flight complete in any
//! order, and until a flush any part of the written data may be lost.
//!
//! Sources: NVMe Base 2.0, 3.4.1 (no order between commands of a queue), 7.1 (Flush covers what had
//! completed when it was submitted).

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use assay_io::{Completion, Io, Nanos, Op, Target, TargetError};
use assay_units::Rng;

const SECTOR: usize = 512;
const EIO: i32 = 5;

/// Cached write.
struct Cached {
    number: u64,
    at: usize,
    bytes: Vec<u8>,
}

struct State {
    rng: Rng,
    /// Data returned by reads.
    seen: Vec<u8>,
    /// Data that survive a power loss at least.
    kept: Vec<u8>,
    cache: Vec<Cached>,
    writes_done: u64,
    /// I/Os until power loss.
    left_ios: Option<u64>,
    /// Unreadable ranges.
    unreadable: Vec<Range<u64>>,
}

/// Clones share the drive.
#[derive(Clone)]
pub(crate) struct ReorderingDrive(Rc<RefCell<State>>);

impl ReorderingDrive {
    pub(crate) fn new(seed: u64, bytes: usize) -> ReorderingDrive {
        ReorderingDrive(Rc::new(RefCell::new(State {
            rng: Rng::new(seed),
            seen: vec![0; bytes],
            kept: vec![0; bytes],
            cache: Vec::new(),
            writes_done: 0,
            left_ios: None,
            unreadable: Vec::new(),
        })))
    }

    /// Reads of any of these bytes fail from now on.
    pub(crate) fn make_unreadable(&self, at: u64, len: u64) {
        self.0.borrow_mut().unreadable.push(at..at + len);
    }

    /// Corrupt bytes silently.
    pub(crate) fn corrupt(&self, at: u64, len: u64) {
        let state = &mut *self.0.borrow_mut();
        let Range { start, end } = at as usize..(at + len) as usize;
        for bytes in [&mut state.seen, &mut state.kept] {
            bytes[start..end].iter_mut().for_each(|byte| *byte ^= 0x5a);
        }
    }

    pub(crate) fn loses_power_after(&self, ios: u64) {
        self.0.borrow_mut().left_ios = Some(ios);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.0.borrow().left_ios == Some(0)
    }

    /// Restore power: any sectors of the cache may have survived.
    pub(crate) fn restore_power(&self) {
        let state = &mut *self.0.borrow_mut();
        for cached in state.cache.drain(..) {
            for (n, sector) in cached.bytes.chunks(SECTOR).enumerate() {
                if state.rng.below(2) == 0 {
                    let at = cached.at + n * SECTOR;
                    state.kept[at..at + sector.len()].copy_from_slice(sector);
                }
            }
        }
        state.seen.clone_from(&state.kept);
        state.left_ios = None;
    }

    pub(crate) fn bytes(&self, at: usize, len: usize) -> Vec<u8> {
        self.0.borrow().seen[at..at + len].to_vec()
    }

    pub(crate) fn target(&self, slots: u32, slot_bytes: u32) -> UnrulyTarget {
        UnrulyTarget {
            drive: self.clone(),
            buffers: vec![vec![0; slot_bytes as usize]; slots as usize],
            in_flight: Vec::new(),
            clock_ns: 0,
        }
    }
}

/// A command, and the number of writes completed when it was submitted.
struct InFlight {
    io: Io,
    writes_before: u64,
}

impl InFlight {
    fn meets(&self, other: &Io) -> bool {
        let end = |io: &Io| io.offset_bytes + u64::from(io.len_bytes);
        self.io.offset_bytes < end(other) && other.offset_bytes < end(&self.io)
    }
}

pub(crate) struct UnrulyTarget {
    drive: ReorderingDrive,
    buffers: Vec<Vec<u8>>,
    in_flight: Vec<InFlight>,
    clock_ns: u64,
}

impl UnrulyTarget {
    fn finish(&mut self, InFlight { io, writes_before }: InFlight) -> Completion {
        let state = &mut *self.drive.0.borrow_mut();
        let (at, len) = (io.offset_bytes as usize, io.len_bytes as usize);
        let buffer = &mut self.buffers[io.slot as usize][..len];
        let dead = state.left_ios == Some(0);
        let span = io.offset_bytes..io.offset_bytes + len as u64;
        let met = |bad: &Range<u64>| bad.start < span.end && span.start < bad.end;
        let unread = io.op == Op::Read && state.unreadable.iter().any(met);
        state.left_ios = state.left_ios.map(|left| left.saturating_sub(1));
        match io.op {
            Op::Write => {
                // A write that fails by power loss may have started.
                state.cache.push(Cached { number: state.writes_done, at, bytes: buffer.to_vec() });
                state.writes_done += 1;
                state.seen[at..at + len].copy_from_slice(buffer);
            }
            Op::Read => buffer.copy_from_slice(&state.seen[at..at + len]),
            Op::Flush if dead => (),
            Op::Flush => {
                let covered = |c: &mut Cached| c.number < writes_before;
                for cached in state.cache.extract_if(.., covered) {
                    let end = cached.at + cached.bytes.len();
                    state.kept[cached.at..end].copy_from_slice(&cached.bytes);
                }
            }
            Op::Discard | Op::WriteZeroes => panic!("a stream has no {}", io.op.name()),
        }
        Completion { slot: io.slot, result: if dead || unread { -EIO } else { len as i32 } }
    }
}

impl Target for UnrulyTarget {
    fn now(&mut self) -> Nanos {
        self.clock_ns += 1;
        Nanos(self.clock_ns)
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        let writes_before = self.drive.0.borrow().writes_done;
        for io in batch {
            let met = self.in_flight.iter().find(|other| other.meets(io));
            assert!(
                io.op == Op::Flush || met.is_none(),
                "two I/Os of one address in flight: {io:?} and {:?}",
                met.map(|other| other.io)
            );
            self.in_flight.push(InFlight { io: *io, writes_before });
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if self.in_flight.is_empty() && min > 0 {
            self.clock_ns = self.clock_ns.max(until.0);
        }
        for _ in 0..min.min(self.in_flight.len()) {
            let last = self.in_flight.len() as u64 - 1;
            let chosen = {
                let rng = &mut self.drive.0.borrow_mut().rng;
                // Prefer the newest.
                if rng.below(2) == 0 { last } else { rng.below(last + 1) }
            };
            let next = self.in_flight.remove(chosen as usize);
            let done = self.finish(next);
            out.push(done);
        }
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.buffers.get_mut(slot as usize).map(Vec::as_mut_slice)
    }
}
