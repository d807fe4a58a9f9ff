use super::*;
use proptest::prelude::*;

proptest! {
    /// Against a sorted list.
    #[test]
    fn completions_are_returned_in_order(
        first: u64,
        // Close together; as from a drive; mostly beyond the wheel's turn.
        scale in prop_oneof![Just(1_u64), Just(700), Just(40_000)],
        steps in prop::collection::vec((0_u64..300, any::<bool>(), 0_u64..300), 1..300),
    ) {
        let mut queue = CompletionSchedule::new();
        let mut fast_path: Vec<(u64, u64)> = Vec::new();
        let mut base = 0;
        let first = first >> 1;
        for (seq, (ahead, pop, until)) in (first..).zip(steps) {
            let at_ns = base + ahead * scale;
            queue.push(at_ns, seq, (seq - first) as u32);
            fast_path.push((at_ns, seq));
            fast_path.sort_unstable();
            prop_assert_eq!(queue.next_ns, fast_path[0].0);
            base += 3 * scale;
            if !pop {
                continue;
            }
            loop {
                let expected = fast_path.first().copied().filter(|&(at, _)| at <= base + until * scale);
                let got = queue.pop(base + until * scale);
                prop_assert_eq!(got, expected.map(|(at, seq)| (at, (seq - first) as u32)));
                if expected.is_none() {
                    break;
                }
                fast_path.remove(0);
            }
        }
    }
}
