//! Discrete-event simulation of a drive and its host: virtual time jumps from event to event. An
//! I/O passes the host's processors ([`EventLoop::submit`]), waits in the arrival queue until it
//! reaches the drive, and completes there. At one instant, processors come first, then arrivals,
//! then the drive. The caller decides what is submitted when.

use std::collections::VecDeque;

use crate::block_cache::cached::{CachedDisk, HostCompletion};
use assay_io::memory::prefer_huge_pages;
use assay_ssd::{Command, Completion, Drive};
use assay_units::Nanos;

use crate::{HostCosts, HostProcessors};

/// The order of I/Os that reach the drive at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieOrder {
    Submission,
    Slot,
}

/// I/Os on their way to the drive, by arrival, then by tie order; nearly always appended to.
#[derive(Clone, Debug)]
struct Arrivals {
    ring: VecDeque<(Nanos, u32)>,
    order: TieOrder,
}

impl Arrivals {
    fn new(order: TieOrder) -> Arrivals {
        Arrivals { ring: VecDeque::new(), order }
    }

    #[inline]
    fn next_event(&self) -> Nanos {
        self.ring.front().map_or(Nanos::MAX, |&(at, _)| at)
    }

    #[inline]
    fn add(&mut self, at: Nanos, slot: u32) {
        let order = self.order;
        let precedes = |other: &(Nanos, u32)| match order {
            TieOrder::Submission => other.0 <= at,
            TieOrder::Slot => *other <= (at, slot),
        };
        if self.ring.back().is_none_or(precedes) {
            self.ring.push_back((at, slot));
        } else {
            let index = self.ring.partition_point(precedes);
            self.ring.insert(index, (at, slot));
        }
    }

    #[inline]
    fn pop(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        let first = *self.ring.front()?;
        (first.0 <= until).then(|| {
            self.ring.pop_front();
            first
        })
    }
}

#[derive(Clone, Debug)]
pub struct EventLoop {
    drive: Drive,
    processors: HostProcessors,
    arrivals: Arrivals,
    now: Nanos,
    /// I/Os reach the drive in the order in which they are queued.
    in_order: bool,
}

impl EventLoop {
    /// Used by one thread from time 0, on a host that takes no time.
    pub fn new(drive: Drive, order: TieOrder) -> EventLoop {
        EventLoop {
            processors: HostProcessors::new(&HostCosts::default(), 1, 1, Nanos::ZERO),
            arrivals: Arrivals::new(order),
            now: Nanos::ZERO,
            in_order: false,
            drive,
        }
    }

    /// Drops I/Os that have not reached the drive.
    pub fn set_processors(&mut self, processors: HostProcessors) {
        // Another tie order would reorder equal times.
        self.in_order = processors.are_in_order() && self.arrivals.order == TieOrder::Submission;
        self.processors = processors;
        self.arrivals.ring.clear();
    }

    /// Whether I/Os may be submitted to the drive as soon as their arrival is known.
    #[inline]
    pub fn runs_ahead(&self) -> bool {
        self.in_order && self.drive.accepts_ahead()
    }

    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// For everything that does not pass the host's processors (at [`EventLoop::now`]).
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    pub fn into_drive(self) -> Drive {
        self.drive
    }

    /// The instant up to which everything has happened.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Queue an I/O of a thread for the host's processors, not before the last call's time.
    #[inline]
    pub fn submit(&mut self, thread: u32, slot: u32, bytes: u32, at: Nanos) {
        if let Some(arrival) = self.processors.submit(thread, slot, bytes, at) {
            self.arrivals.add(arrival, slot);
        }
    }

    pub fn processors_mut(&mut self) -> &mut HostProcessors {
        &mut self.processors
    }

    /// [`EventLoop::submit`] of an I/O that its shared host, asked by `admit` with its processor
    /// time, lets pass no earlier than a certain time.
    pub fn submit_admitted(
        &mut self,
        thread: u32,
        slot: u32,
        bytes: u32,
        at: Nanos,
        admit: impl FnOnce(Nanos) -> Nanos,
    ) {
        let not_before = admit(self.processors.work(thread, bytes));
        let submitted = self.processors.submit_for(thread, bytes, at);
        self.arrivals.add(submitted.max(not_before), slot);
    }

    /// Queue an I/O that reaches the drive at `at`, past the host's processors.
    #[inline]
    pub fn arrive(&mut self, slot: u32, at: Nanos) {
        self.arrivals.add(at, slot);
    }

    /// The next instant at which something happens in host or drive, or [`Nanos::MAX`].
    #[inline]
    pub fn next_event(&self) -> Nanos {
        self.arrivals
            .next_event()
            .min(self.processors.next_event())
            .min(self.drive.next_event().unwrap_or(Nanos::MAX))
    }

    /// Process events in order of time, none after `until`, up to the drive's first completion;
    /// returns whether there was one. An I/O that reaches the drive completes nothing, so the drive
    /// is advanced at its own events only.
    #[inline]
    pub fn advance_to_completion(
        &mut self,
        until: Nanos,
        mut start: impl FnMut(&mut Drive, Nanos, u32),
        out: &mut Vec<Completion>,
    ) -> bool {
        let before = out.len();
        loop {
            let of_host = self.arrivals.next_event().min(self.processors.next_event());
            let of_drive = self.drive.next_event().unwrap_or(Nanos::MAX);
            let next = of_host.min(of_drive);
            if next > until || next == Nanos::MAX {
                return false;
            }
            self.now = self.now.max(next);
            if of_drive < of_host {
                self.drive.advance(next, out);
                if out.len() > before {
                    return true;
                }
                continue;
            }
            while let Some((at, slot)) = self.processors.pop(next) {
                self.arrivals.add(at, slot);
            }
            while let Some((at, slot)) = self.arrivals.pop(next) {
                start(&mut self.drive, at, slot);
            }
        }
    }

    /// [`EventLoop::advance_to_completion`] of a loop that [runs ahead](EventLoop::runs_ahead). No
    /// branch depends on whether an arrival or a completion comes first, which no processor
    /// predicts.
    #[inline]
    pub fn advance_ahead(
        &mut self,
        until: Nanos,
        mut start: impl FnMut(&mut Drive, Nanos, u32),
        mut completed: impl FnMut(Completion),
    ) -> bool {
        while let Some((at, slot)) = self.arrivals.pop(until) {
            start(&mut self.drive, at, slot);
        }
        let Some(first) = self.drive.advance_to_completion(until) else {
            return false;
        };
        let at = first.at;
        self.now = self.now.max(at);
        completed(first);
        while let Some(more) = self.drive.advance_to_completion(at) {
            completed(more);
        }
        true
    }

    /// [`EventLoop::advance_to_completion`] where the drive caches a disk.
    pub fn advance_cached(
        &mut self,
        until: Nanos,
        cache: &mut CachedDisk,
        command: impl Fn(u32) -> Command,
        finished: &mut Vec<Completion>,
        out: &mut Vec<HostCompletion>,
    ) -> bool {
        while out.is_empty() {
            let next = self.next_event().min(cache.next_event());
            if next > until || next == Nanos::MAX {
                return false;
            }
            self.now = self.now.max(next);
            while let Some((at, slot)) = self.processors.pop(next) {
                self.arrivals.add(at, slot);
            }
            while let Some((at, slot)) = self.arrivals.pop(next) {
                cache.submit(at, command(slot), &mut self.drive);
            }
            self.drive.advance(next, finished);
            for completion in finished.drain(..) {
                cache.cache_completed(&completion, out);
            }
            cache.advance(next, &mut self.drive, out);
        }
        true
    }

    /// Let time pass up to `until`, before which nothing happens.
    #[inline]
    pub fn wait_until(&mut self, until: Nanos) {
        debug_assert!(self.next_event() > until, "an event was left out");
        self.now = self.now.max(until);
    }

    /// Process everything up to `until` while no I/O is on its way to the drive.
    #[inline]
    pub fn advance_drive(&mut self, until: Nanos, out: &mut Vec<Completion>) {
        self.now = self.now.max(until);
        self.drive.advance(self.now, out);
    }

    /// Process events until `out` has `count` more completions. No I/O may be on its way.
    pub fn complete(&mut self, count: usize, out: &mut Vec<Completion>) {
        let before = out.len();
        while out.len() - before < count
            && let Some(at) = self.drive.next_event()
        {
            self.advance_drive(at, out);
        }
    }

    /// Has no effect on a drive that has passed `until`.
    pub fn idle_until(&mut self, until: Nanos) {
        self.advance_drive(until, &mut Vec::new());
    }
}

/// Advise huge pages for the drive's tables, which are accessed at random, before use.
pub fn prefer_huge_tables(drive: &Drive) {
    if let Some(tables) = drive.tables() {
        prefer_huge_pages(tables.l2p);
        prefer_huge_pages(tables.p2l);
        prefer_huge_pages(tables.stale);
    }
}

#[cfg(test)]
#[path = "../tests/unit/event_loop.rs"]
mod tests;
