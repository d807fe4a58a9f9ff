//! Threads on fewer processors than there are threads, see the parent module.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use assay_units::{Nanos, Rng};

/// `sysctl_sched_latency` of one processor, in nanoseconds; it grows with their number (`sched_tunable_scaling` logarithmic).
const LATENCY_NS: u64 = 6_000_000;
/// Processors beyond so many do not make it grow (`get_update_sysctl_factor`).
const SCALED_PROCESSORS: usize = 8;

/// A processor and the threads that wait for it.
#[derive(Clone, Debug, Default)]
struct Processor {
    running: Option<u32>,
    /// By virtual time and then by order of arrival.
    waiting: BTreeSet<(u64, u64, u32)>,
    /// Virtual time of the processor: that of the thread that is furthest behind, and never less than before.
    virtual_ns: u64,
}

/// A thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// Where it ran last.
    processor: usize,
    /// The time it was given by processors so far, as the scheduler counts it.
    virtual_ns: u64,
    /// I/Os that it has to submit.
    ios: VecDeque<u32>,
}

/// The processors of a machine and its scheduler.
#[derive(Clone, Debug)]
pub(super) struct Fair {
    overhead_ns: u64,
    /// A thread that slept is at most so far behind its processor's virtual time.
    credit_ns: u64,
    processors: Vec<Processor>,
    threads: Vec<Thread>,
    /// When the processors that are busy are done with an I/O: time, order, processor.
    ends: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// What was done and not taken yet.
    done: VecDeque<(Nanos, u32)>,
    order: u64,
    placement: Rng,
}

impl Fair {
    /// Idle processors; threads are dealt out to them in turn.
    pub(super) fn new(overhead_ns: u64, processors: usize, threads: usize) -> Fair {
        let factor = 1 + u64::from(processors.clamp(1, SCALED_PROCESSORS).ilog2());
        Fair {
            overhead_ns,
            credit_ns: LATENCY_NS * factor / 2,
            processors: vec![Processor::default(); processors],
            threads: (0..threads)
                .map(|thread| Thread {
                    processor: thread % processors,
                    ..Thread::default()
                })
                .collect(),
            ends: BinaryHeap::new(),
            done: VecDeque::new(),
            order: 0,
            placement: Rng::stream(0, "processors that wake threads"),
        }
    }

    /// A thread has an I/O to submit.
    pub(super) fn hand_over(&mut self, thread: u32, io: u32, now_ns: u64) {
        self.live_until(now_ns);
        let number = thread as usize % self.threads.len();
        self.threads[number].ios.push_back(io);
        if self.threads[number].ios.len() == 1 {
            self.wake(number, now_ns);
        }
    }

    /// When a processor is next done with an I/O, `u64::MAX` when all are idle.
    pub(super) fn next_ns(&self) -> u64 {
        let ended = self.done.front().map(|&(at, _)| at.0);
        let ends = self.ends.peek().map(|&Reverse((at_ns, _, _))| at_ns);
        ended.or(ends).unwrap_or(u64::MAX)
    }

    /// The next I/O submitted by then.
    pub(super) fn take(&mut self, until_ns: u64) -> Option<(Nanos, u32)> {
        // No further than to the first: what it leads to may come before the next.
        while self.done.is_empty() && self.live_once(until_ns) {}
        match self.done.front() {
            Some(&(at, _)) if at.0 <= until_ns => self.done.pop_front(),
            _ => None,
        }
    }

    fn live_until(&mut self, until_ns: u64) {
        while self.live_once(until_ns) {}
    }

    /// On to the next end of an I/O's work, if it is by then.
    fn live_once(&mut self, until_ns: u64) -> bool {
        match self.ends.peek() {
            Some(&Reverse((at_ns, _, processor))) if at_ns <= until_ns => {
                self.ends.pop();
                self.end(processor, at_ns);
                true
            }
            _ => false,
        }
    }

    /// A thread that slept is ready: on the processor where it ran last if that is idle, else on the one that took the drive's interrupt.
    fn wake(&mut self, number: usize, now_ns: u64) {
        let before = self.threads[number].processor;
        let mut chosen = before;
        if self.processors[before].running.is_some() {
            chosen = self.placement.below(self.processors.len() as u64) as usize;
        }
        let (from_ns, to_ns) = (
            self.processors[before].virtual_ns,
            self.processors[chosen].virtual_ns,
        );
        let thread = &mut self.threads[number];
        thread.processor = chosen;
        // What it is ahead or behind goes with it.
        let moved_ns = (thread.virtual_ns + to_ns).saturating_sub(from_ns);
        thread.virtual_ns = moved_ns.max(to_ns.saturating_sub(self.credit_ns));
        self.enqueue(number);
        if self.processors[chosen].running.is_none() {
            self.begin(chosen, now_ns);
        }
    }

    fn enqueue(&mut self, number: usize) {
        let thread = &self.threads[number];
        let waiting = &mut self.processors[thread.processor].waiting;
        waiting.insert((thread.virtual_ns, self.order, number as u32));
        self.order += 1;
    }

    /// The thread that is furthest behind runs, for an I/O.
    fn begin(&mut self, processor: usize, now_ns: u64) {
        if let Some((_, _, thread)) = self.processors[processor].waiting.pop_first() {
            self.processors[processor].running = Some(thread);
            let end_ns = now_ns.saturating_add(self.overhead_ns);
            self.ends.push(Reverse((end_ns, self.order, processor)));
            self.order += 1;
        }
    }

    /// A processor is done with an I/O; its thread sleeps unless it has another.
    fn end(&mut self, processor: usize, at_ns: u64) {
        let Some(number) = self.processors[processor].running.take() else {
            return;
        };
        let thread = &mut self.threads[number as usize];
        thread.virtual_ns += self.overhead_ns;
        let virtual_ns = thread.virtual_ns;
        if let Some(io) = thread.ios.pop_front() {
            self.done.push_back((Nanos(at_ns), io));
        }
        let more = !thread.ios.is_empty();
        let here = &mut self.processors[processor];
        let first_ns = here.waiting.first().map_or(virtual_ns, |first| first.0);
        here.virtual_ns = here.virtual_ns.max(virtual_ns.min(first_ns));
        if more {
            self.enqueue(number as usize);
        }
        self.begin(processor, at_ns);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/host/fair.rs"]
mod tests;
