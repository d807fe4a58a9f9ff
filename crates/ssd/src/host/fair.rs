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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(fair: &mut Fair) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| fair.take(u64::MAX).map(|(at, io)| (at.0, io))).collect()
    }

    #[test]
    fn the_thread_that_had_the_least_time_runs_first() {
        let mut fair = Fair::new(10, 1, 3);
        for io in 0..3 {
            fair.hand_over(0, io, 0);
        }
        assert_eq!(all(&mut fair), [(10, 0), (20, 1), (30, 2)]);
        // Thread 0 had 30 ns more than the others: it waits until they have had as much.
        for io in [0, 10, 11, 12, 20] {
            fair.hand_over(io / 10, io, 100);
        }
        let served = all(&mut fair);
        assert_eq!(served[0], (110, 0), "the processor was idle");
        let order: Vec<_> = served[1..].iter().map(|&(_, io)| io).collect();
        assert_eq!(order, [10, 20, 11, 12]);
        assert_eq!(fair.next_ns(), u64::MAX);
    }

    /// A closed loop of several I/Os per thread gets no more than the processors have time for.
    #[test]
    fn no_more_is_submitted_than_there_is_time_for() {
        for (processors, threads, depth) in [(1, 4, 8), (2, 4, 16), (1, 2, 1), (3, 8, 2)] {
            let mut fair = Fair::new(1000, processors, threads);
            let (mut back, mut order) = (BTreeSet::new(), 0);
            for slot in 0..threads as u32 * depth {
                back.insert((0_u64, slot));
            }
            let mut served = 0_u64;
            loop {
                let next = back.first().map_or(u64::MAX, |first| first.0);
                if let Some((at, slot)) = fair.take(next.min(10_000_000)) {
                    served += 1;
                    // The drive answers after a while, not always the same.
                    order += 1;
                    back.insert((at.0 + 500 + order * 7919 % 1000, slot));
                    continue;
                }
                match back.pop_first() {
                    Some((at, slot)) if at < 10_000_000 => fair.hand_over(slot / depth, slot, at),
                    _ => break,
                }
            }
            let most = 10_000 * processors as u64;
            assert!(served <= most, "{served} of {most} at most");
            assert!(
                threads == 2 || served * 10 >= most * 9,
                "{served} of {most}"
            );
        }
    }

    /// A thread that slept for long does not keep others out for as long.
    #[test]
    fn sleep_earns_half_a_scheduling_latency_at_most() {
        let ms = 1_000_000;
        let mut fair = Fair::new(ms, 1, 2);
        for io in 0..100 {
            fair.hand_over(0, io, 0);
        }
        assert_eq!(all(&mut fair).len(), 100);
        // Thread 1 is 100 ms behind, which counts as 3 ms behind the processor's time of 100 ms.
        for n in 0..10 {
            fair.hand_over(0, n, 200 * ms);
            fair.hand_over(1, 100 + n, 200 * ms);
        }
        let order: Vec<_> = all(&mut fair).iter().map(|&(_, io)| io).collect();
        assert_eq!(order[..6], [0, 100, 101, 102, 103, 1]);
    }

    #[test]
    fn who_finds_its_processor_idle_stays_there() {
        let mut fair = Fair::new(10, 4, 8);
        for round in 0..50 {
            for thread in 0..4 {
                fair.hand_over(thread, thread, round * 100);
            }
            let ends: Vec<_> = all(&mut fair).iter().map(|&(at, _)| at).collect();
            assert_eq!(ends, [round * 100 + 10; 4]);
        }
    }

    proptest! {
        /// Each I/O comes out once, one per processor and overhead, and a thread's own in order.
        #[test]
        fn every_io_is_submitted_once(
            processors in 1_usize..5,
            threads in 1_usize..9,
            steps in prop::collection::vec((0_u64..30, 0_u32..9), 1..200),
        ) {
            let mut fair = Fair::new(10, processors, threads);
            let (mut now, mut out) = (0, Vec::new());
            let mut handed = vec![Vec::new(); threads];
            for (io, (wait, thread)) in (0..).zip(&steps) {
                now += wait;
                while let Some((at, io)) = fair.take(now) {
                    prop_assert!(at.0 <= now);
                    out.push((at.0, io));
                }
                prop_assert!(fair.next_ns() > now);
                fair.hand_over(*thread, io, now);
                handed[*thread as usize % threads].push(io);
            }
            out.extend(all(&mut fair));
            prop_assert_eq!(out.len(), steps.len());
            prop_assert!(out.is_sorted_by_key(|one| one.0));
            for ios in handed {
                let served: Vec<_> = out.iter().map(|one| one.1).filter(|io| ios.contains(io)).collect();
                prop_assert_eq!(served, ios);
            }
            for (n, &(at, _)) in out.iter().enumerate() {
                let together = out[n..].iter().take_while(|other| other.0 < at + 10).count();
                prop_assert!(together <= processors);
            }
        }
    }
}
