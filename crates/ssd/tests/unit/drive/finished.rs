use super::*;
use proptest::prelude::*;

proptest! {
    /// Against a sorted list.
    #[test]
    fn gives_back_in_order(
        first: u64,
        // Close together; as a drive has them; most of them beyond the wheel's turn.
        scale in prop_oneof![Just(1_u64), Just(700), Just(40_000)],
        steps in prop::collection::vec((0_u64..300, any::<bool>(), 0_u64..300), 1..300),
    ) {
        let mut queue = FinishedQueue::new();
        let mut plain: Vec<(u64, u64)> = Vec::new();
        let mut base = 0;
        let first = first >> 1;
        for (seq, (ahead, pop, until)) in (first..).zip(steps) {
            let at_ns = base + ahead * scale;
            queue.push(at_ns, seq, (seq - first) as u32);
            plain.push((at_ns, seq));
            plain.sort_unstable();
            prop_assert_eq!(queue.next_ns(), plain[0].0);
            base += 3 * scale;
            if !pop {
                continue;
            }
            loop {
                let expected = plain.first().copied().filter(|&(at, _)| at <= base + until * scale);
                let got = queue.pop(base + until * scale);
                prop_assert_eq!(got, expected.map(|(at, seq)| (at, (seq - first) as u32)));
                if expected.is_none() {
                    break;
                }
                plain.remove(0);
            }
        }
    }
}
