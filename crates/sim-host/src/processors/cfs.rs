//! Completely Fair Scheduler, see the parent module.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use assay_units::{Nanos, Rng};

/// `sysctl_sched_latency` of one processor; grows by `sched_tunable_scaling` (logarithmic).
const LATENCY_NS: u64 = 6_000_000;
/// More processors than this do not make the latency grow (`get_update_sysctl_factor`).
const SCALED_PROCESSORS: usize = 8;

#[derive(Clone, Debug, Default)]
struct Processor {
    running: Option<u32>,
    /// Runnable threads by virtual runtime, then by order of arrival.
    waiting: BTreeSet<(u64, u64, u32)>,
    /// `min_vruntime`: that of the thread that is furthest behind; never decreases.
    virtual_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    processor: usize,
    virtual_ns: u64,
    /// I/Os to submit, and the processor time of each.
    ios: VecDeque<(u32, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct CfsScheduler {
    /// A waking thread is at most this far behind its processor's virtual time.
    credit_ns: u64,
    processors: Vec<Processor>,
    threads: Vec<Thread>,
    /// Time, order, processor.
    ends: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// Finished and not popped yet.
    done: VecDeque<(Nanos, u32)>,
    order: u64,
    placement: Rng,
}

impl CfsScheduler {
    /// Threads are assigned to processors round-robin.
    pub(super) fn new(processors: usize, threads: usize) -> CfsScheduler {
        let factor = 1 + u64::from(processors.clamp(1, SCALED_PROCESSORS).ilog2());
        CfsScheduler {
            credit_ns: LATENCY_NS * factor / 2,
            processors: vec![Processor::default(); processors],
            threads: (0..threads)
                .map(|thread| Thread { processor: thread % processors, ..Thread::default() })
                .collect(),
            ends: BinaryHeap::new(),
            done: VecDeque::new(),
            order: 0,
            placement: Rng::stream(0, "processors that wake threads"),
        }
    }

    /// `wake_ns` is added to the work of an I/O of a thread that slept.
    pub(super) fn submit(
        &mut self,
        thread: u32,
        io: u32,
        [work_ns, wake_ns]: [u64; 2],
        now_ns: u64,
    ) {
        while self.finish_next(now_ns) {}
        let number = thread as usize;
        let ios = &mut self.threads[number].ios;
        let slept = ios.is_empty();
        ios.push_back((io, if slept { work_ns + wake_ns } else { work_ns }));
        if slept {
            self.wake(number, now_ns);
        }
    }

    /// `u64::MAX` when all processors are idle.
    pub(super) fn next_ns(&self) -> u64 {
        let done = self.done.front().map(|&(at, _)| at.0);
        let ends = self.ends.peek().map(|&Reverse((at_ns, _, _))| at_ns);
        done.or(ends).unwrap_or(u64::MAX)
    }

    pub(super) fn pop(&mut self, until_ns: u64) -> Option<(Nanos, u32)> {
        // Only to the first, because the caller's reaction to it may come before the next.
        while self.done.is_empty() && self.finish_next(until_ns) {}
        match self.done.front() {
            Some(&(at, _)) if at.0 <= until_ns => self.done.pop_front(),
            _ => None,
        }
    }

    fn finish_next(&mut self, until_ns: u64) -> bool {
        match self.ends.peek() {
            Some(&Reverse((at_ns, _, processor))) if at_ns <= until_ns => {
                self.ends.pop();
                self.finish(processor, at_ns);
                true
            }
            _ => false,
        }
    }

    /// On the processor where the thread ran last if idle, else on that of the drive's interrupt.
    fn wake(&mut self, number: usize, now_ns: u64) {
        let before = self.threads[number].processor;
        let mut chosen = before;
        if self.processors[before].running.is_some() {
            chosen = self.placement.below(self.processors.len() as u64) as usize;
        }
        let from_ns = self.processors[before].virtual_ns;
        let to_ns = self.processors[chosen].virtual_ns;
        let thread = &mut self.threads[number];
        thread.processor = chosen;
        // Lead or lag migrate too; virtual time begins at 0, so both differences saturate.
        let migrated_ns = (thread.virtual_ns + to_ns).saturating_sub(from_ns);
        thread.virtual_ns = migrated_ns.max(to_ns.saturating_sub(self.credit_ns));
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

    /// Run the thread that is furthest behind for one I/O.
    fn begin(&mut self, processor: usize, now_ns: u64) {
        if let Some((_, _, thread)) = self.processors[processor].waiting.pop_first() {
            self.processors[processor].running = Some(thread);
            let first = self.threads[thread as usize].ios.front();
            let end_ns = now_ns + first.map_or(0, |&(_, work_ns)| work_ns);
            self.ends.push(Reverse((end_ns, self.order, processor)));
            self.order += 1;
        }
    }

    fn finish(&mut self, processor: usize, at_ns: u64) {
        let running = self.processors[processor].running.take();
        let number = running.expect("only a processor that runs a thread has an end") as usize;
        let thread = &mut self.threads[number];
        let io = thread.ios.pop_front();
        let (io, work_ns) = io.expect("a thread runs only with an I/O to submit");
        thread.virtual_ns += work_ns;
        let virtual_ns = thread.virtual_ns;
        self.done.push_back((Nanos(at_ns), io));
        let has_more = !thread.ios.is_empty();
        let here = &mut self.processors[processor];
        let first_ns = here.waiting.first().map_or(virtual_ns, |first| first.0);
        here.virtual_ns = here.virtual_ns.max(virtual_ns.min(first_ns));
        if has_more {
            self.enqueue(number);
        }
        self.begin(processor, at_ns);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/processors/cfs.rs"]
mod tests;
