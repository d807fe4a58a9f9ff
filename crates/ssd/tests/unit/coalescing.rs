use super::*;
use crate::command::Status;
use proptest::prelude::*;

fn entry(tag: u32, at_ns: u64) -> Completion {
    Completion { tag, at: Nanos(at_ns), status: Status::Ok, ordinal: 0 }
}

fn coalescer(time_100us: u8, threshold: u8, queues: u16) -> Coalescer {
    let setting = CoalescingSetting { time_100us, threshold };
    Coalescer::new(setting, queues)
}

fn delivered(out: &[Completion]) -> Vec<(u32, u64)> {
    out.iter().map(|entry| (entry.tag, entry.at.0)).collect()
}

/// 100 us and 4 entries (DragonFly NVMe tests): three wait, the fourth raises the interrupt for
/// all.
#[test]
fn the_threshold_entry_raises_an_interrupt() {
    let mut vectors = coalescer(1, 3, 1);
    let mut out = Vec::new();
    for (tag, at) in [(1, 1000), (2, 2000), (3, 3000)] {
        vectors.add(0, entry(tag, at), &mut out);
    }
    assert_eq!((out.len(), waiting(&vectors)), (0, 3));
    assert_eq!(vectors.next_ns, 101_000);
    vectors.add(0, entry(4, 9000), &mut out);
    assert_eq!(delivered(&out), [(1, 9000), (2, 9000), (3, 9000), (4, 9000)]);
    assert_eq!((vectors.next_ns, waiting(&vectors)), (u64::MAX, 0));
}

#[test]
fn the_aggregation_time_starts_with_the_first_entry_of_each_queue() {
    let mut vectors = coalescer(1, 3, 2);
    let mut out = Vec::new();
    vectors.add(1, entry(1, 5000), &mut out);
    vectors.add(0, entry(2, 7000), &mut out);
    vectors.add(1, entry(3, 8000), &mut out);
    vectors.expire(105_000, &mut out);
    assert!(out.is_empty(), "not before its time");
    vectors.expire(105_001, &mut out);
    assert_eq!(delivered(&out), [(1, 105_000), (3, 105_000)]);
    vectors.expire(u64::MAX, &mut out);
    assert_eq!(delivered(&out)[2..], [(2, 107_000)]);
}

#[test]
fn a_threshold_of_one_or_no_time_is_off() {
    let setting = |time_100us, threshold| CoalescingSetting { time_100us, threshold };
    assert!(!setting(0, 9).is_on() && !setting(9, 0).is_on() && setting(1, 1).is_on());
}

proptest! {
    /// Everything is delivered once, in order of time, never early, never later than the
    /// aggregation time allows.
    #[test]
    fn waits_are_bounded_and_nothing_is_lost(
        time in 1_u8..5, threshold in 0_u8..6, steps in prop::collection::vec((0_u64..60_000, 0_u16..3), 1..200),
    ) {
        let mut vectors = coalescer(time, threshold, 3);
        let mut out = Vec::new();
        let mut written = Vec::new();
        let mut now = 0;
        for (tag, (wait, queue)) in (0..).zip(steps) {
            now += wait;
            vectors.expire(now, &mut out);
            vectors.add(queue, entry(tag, now), &mut out);
            written.push(now);
        }
        vectors.expire(u64::MAX, &mut out);
        prop_assert_eq!(out.len(), written.len());
        prop_assert!(out.is_sorted_by_key(|entry| entry.at));
        let mut seen = vec![false; written.len()];
        for entry in &out {
            let at = written[entry.tag as usize];
            let waited = entry.at.0 - at;
            prop_assert!(entry.at.0 >= at && waited <= u64::from(time) * TIME_UNIT_NS);
            prop_assert!(!std::mem::replace(&mut seen[entry.tag as usize], true));
        }
    }
}

fn waiting(vectors: &Coalescer) -> usize {
    vectors.queues.iter().map(|queue| queue.entries.len()).sum()
}
