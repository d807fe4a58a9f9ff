//! Closed-loop load: threads that keep a fixed number of I/Os in flight each.
//!
//! A thread submits the next I/O of a slot at the completion of the last. Latency counts from then,
//! as assay's engine counts it, host overhead included.
//!
//! An I/O longer than [`BenchProfile::max_io_bytes`] is sent in pieces, each when the one before
//! has completed and at the host overhead again, as DragonFly BSD does with raw devices (`physio`
//! in `sys/kern/kern_physio.c`: `dev_dstrategy`, then `biowait`, per piece of `si_iosize_max`,
//! which `sys/dev/disk/nvme/nvme_disk.c` sets to MAXPHYS, 128 KiB).
//!
//! [`BenchProfile::max_io_bytes`]: assay_ssd::profile::BenchProfile::max_io_bytes

use assay_ssd::{Command, Completion, Drive};
use assay_units::Nanos;

use crate::HostCosts;
use crate::event_loop::{EventLoop, TieOrder};
use crate::processors::HostProcessors;

/// Time between the first I/Os of two slots: threads do not start in the same instant.
const STAGGER_NS: u64 = 100;
/// The same where long I/Os are sent in pieces, about the time to fork a process: threads that
/// start together would send all first pieces, then all second ones, for ever.
const FORK_NS: u64 = 100_000;

#[derive(Clone, Debug)]
struct Pieces {
    longest_bytes: u32,
    /// Per slot: what is left of its I/O beyond the piece in flight.
    left: Vec<Option<Command>>,
}

impl Pieces {
    /// The next piece of a slot's I/O, which is `begun` if none is under way.
    #[inline]
    fn next(&mut self, slot: u32, begun: impl FnOnce(u32) -> Command) -> Command {
        let left = &mut self.left[slot as usize];
        let mut piece = left.take().unwrap_or_else(|| begun(slot));
        if piece.len_bytes > self.longest_bytes {
            *left = Some(Command {
                offset_bytes: piece.offset_bytes + u64::from(self.longest_bytes),
                len_bytes: piece.len_bytes - self.longest_bytes,
                ..piece
            });
            piece.len_bytes = self.longest_bytes;
        }
        piece
    }
}

#[derive(Clone, Debug)]
pub struct ClosedLoop {
    events: EventLoop,
    depth: u32,
    io_bytes: u32,
    /// Per slot: when its I/O in flight was submitted.
    submitted: Vec<Nanos>,
    pieces: Pieces,
    completions: Vec<Completion>,
}

impl ClosedLoop {
    /// An idle drive at time 0; see [`ClosedLoop::begin`].
    pub fn new(drive: Drive) -> ClosedLoop {
        ClosedLoop {
            events: EventLoop::new(drive, TieOrder::Slot),
            depth: 1,
            io_bytes: 0,
            submitted: Vec::new(),
            pieces: Pieces { longest_bytes: u32::MAX, left: Vec::new() },
            completions: Vec::new(),
        }
    }

    pub fn events(&self) -> &EventLoop {
        &self.events
    }

    pub fn drive_mut(&mut self) -> &mut Drive {
        self.events.drive_mut()
    }

    /// Start threads with `depth` slots each, for I/Os of `io_bytes`. Nothing may be in flight.
    pub fn begin(&mut self, host: &HostCosts, threads: u32, depth: u32, io_bytes: u32) {
        let now = self.events.now();
        let processors = HostProcessors::new(host, threads, depth, now);
        self.events.set_processors(processors);
        self.io_bytes = io_bytes;
        self.depth = depth;
        self.submitted = vec![now; (threads * depth) as usize];
        let longest = self.events.drive().profile().bench.max_io_bytes.as_ref();
        self.pieces = Pieces {
            longest_bytes: longest.map_or(u32::MAX, |longest| longest.value),
            left: vec![None; (threads * depth) as usize],
        };
        let stagger_ns = longest.map_or(STAGGER_NS, |_| FORK_NS);
        for slot in 0..threads * depth {
            let at = now + Nanos(u64::from(slot) * stagger_ns);
            self.events.arrive(slot, at);
        }
    }

    /// Process events up to the next completions, if they come by `until`: `command` makes a slot's
    /// next I/O, `completed` takes a completion and its latency.
    #[inline]
    pub fn step(
        &mut self,
        until: Nanos,
        mut command: impl FnMut(u32) -> Command,
        mut completed: impl FnMut(&Completion, Nanos),
    ) -> bool {
        let pieces = &mut self.pieces;
        let start = |drive: &mut Drive, at, slot| drive.submit(at, pieces.next(slot, &mut command));
        let events = &mut self.events;
        let went_on = events.advance_to_completion(until, start, &mut self.completions);
        for completion in &self.completions {
            let slot = completion.tag;
            if completion.status.is_ok()
                && let Some(rest) = &self.pieces.left[slot as usize]
            {
                let bytes = rest.len_bytes.min(self.pieces.longest_bytes);
                events.submit(slot / self.depth, slot, bytes, completion.at);
                continue;
            }
            self.pieces.left[slot as usize] = None;
            let submitted = &mut self.submitted[slot as usize];
            completed(completion, completion.at - *submitted);
            *submitted = completion.at;
            let bytes = self.io_bytes.min(self.pieces.longest_bytes);
            events.submit(slot / self.depth, slot, bytes, completion.at);
        }
        self.completions.clear();
        went_on
    }

    /// Stop submitting and wait for what is in flight.
    pub fn drain(&mut self) {
        let now = self.events.now();
        let processors = HostProcessors::new(&HostCosts::default(), 1, 1, now);
        self.events.set_processors(processors);
        self.events.complete(usize::MAX, &mut self.completions);
        self.completions.clear();
    }

    /// The drive must be drained.
    pub fn idle(&mut self, span: Nanos) {
        self.events.idle_until(self.events.now() + span);
    }

    /// Submit commands past the host's processors with at most `depth` in flight. The drive must be
    /// drained. Returns the time from the first submission to the last completion, or `None` when
    /// commands never complete.
    pub fn stream(
        &mut self,
        depth: u32,
        mut command: impl FnMut() -> Option<Command>,
        mut completed: impl FnMut(&Completion),
    ) -> Option<Nanos> {
        let start = self.events.now();
        let mut in_flight = 0;
        loop {
            while in_flight < depth
                && let Some(command) = command()
            {
                let now = self.events.now();
                self.events.drive_mut().submit(now, command);
                in_flight += 1;
            }
            if in_flight == 0 {
                return Some(self.events.now() - start);
            }
            self.events.complete(1, &mut self.completions);
            if self.completions.is_empty() {
                return None;
            }
            for completion in self.completions.drain(..) {
                completed(&completion);
                in_flight -= 1;
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/closed_loop.rs"]
mod tests;
