use super::*;
use proptest::prelude::*;

fn all(cfs: &mut CfsScheduler) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| cfs.pop(u64::MAX).map(|(at, io)| (at.0, io))).collect()
}

#[test]
fn the_thread_with_the_least_runtime_runs_first() {
    let mut cfs = CfsScheduler::new(1, 3);
    for io in 0..3 {
        cfs.submit(0, io, [10, 0], 0);
    }
    assert_eq!(all(&mut cfs), [(10, 0), (20, 1), (30, 2)]);
    // Thread 0 ran 30 ns longer than the others and waits until they reach its runtime.
    for io in [0, 10, 11, 12, 20] {
        cfs.submit(io / 10, io, [10, 0], 100);
    }
    let served = all(&mut cfs);
    assert_eq!(served[0], (110, 0), "the processor was idle");
    let order: Vec<_> = served[1..].iter().map(|&(_, io)| io).collect();
    assert_eq!(order, [10, 20, 11, 12]);
    assert_eq!(cfs.next_ns(), u64::MAX);
}

/// A closed loop of several I/Os per thread is limited by processor time.
#[test]
fn submissions_are_limited_by_cpu_time() {
    for (processors, threads, depth) in [(1, 4, 8), (2, 4, 16), (1, 2, 1), (3, 8, 2)] {
        let mut cfs = CfsScheduler::new(processors, threads);
        let (mut back, mut order) = (BTreeSet::new(), 0);
        for slot in 0..threads as u32 * depth {
            back.insert((0_u64, slot));
        }
        let mut served = 0_u64;
        loop {
            let next = back.first().map_or(u64::MAX, |first| first.0);
            if let Some((at, slot)) = cfs.pop(next.min(10_000_000)) {
                served += 1;
                // The drive's latency varies.
                order += 1;
                back.insert((at.0 + 500 + order * 7919 % 1000, slot));
                continue;
            }
            match back.pop_first() {
                Some((at, slot)) if at < 10_000_000 => {
                    cfs.submit(slot / depth, slot, [1000, 0], at)
                }
                _ => break,
            }
        }
        let most = 10_000 * processors as u64;
        assert!(served <= most, "{served} of {most} at most");
        assert!(threads == 2 || served * 10 >= most * 9, "{served} of {most}");
    }
}

/// A thread after a long sleep does not block others for as long.
#[test]
fn a_sleeper_credit_is_at_most_half_a_scheduling_latency() {
    let ms = 1_000_000;
    let mut cfs = CfsScheduler::new(1, 2);
    for io in 0..100 {
        cfs.submit(0, io, [ms, 0], 0);
    }
    assert_eq!(all(&mut cfs).len(), 100);
    // Thread 1 is 100 ms behind, which counts as 3 ms behind the processor's time of 100 ms.
    for n in 0..10 {
        cfs.submit(0, n, [ms, 0], 200 * ms);
        cfs.submit(1, 100 + n, [ms, 0], 200 * ms);
    }
    let order: Vec<_> = all(&mut cfs).iter().map(|&(_, io)| io).collect();
    assert_eq!(order[..6], [0, 100, 101, 102, 103, 1]);
}

#[test]
fn a_thread_with_an_idle_cpu_is_not_migrated() {
    let mut cfs = CfsScheduler::new(4, 8);
    for round in 0..50 {
        for thread in 0..4 {
            cfs.submit(thread, thread, [10, 0], round * 100);
        }
        let ends: Vec<_> = all(&mut cfs).iter().map(|&(at, _)| at).collect();
        assert_eq!(ends, [round * 100 + 10; 4]);
    }
}

proptest! {
    /// Each I/O is submitted once, one per processor and overhead, and in order within a thread.
    #[test]
    fn every_io_is_submitted_once(
        processors in 1_usize..5,
        threads in 1_usize..9,
        steps in prop::collection::vec((0_u64..30, 0_u32..9), 1..200),
    ) {
        let mut cfs = CfsScheduler::new(processors, threads);
        let (mut now, mut out) = (0, Vec::new());
        let mut handed = vec![Vec::new(); threads];
        for (io, (wait, thread)) in (0..).zip(&steps) {
            now += wait;
            while let Some((at, io)) = cfs.pop(now) {
                prop_assert!(at.0 <= now);
                out.push((at.0, io));
            }
            prop_assert!(cfs.next_ns() > now);
            let thread = *thread % threads as u32;
            cfs.submit(thread, io, [10, 0], now);
            handed[thread as usize].push(io);
        }
        out.extend(all(&mut cfs));
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
