use super::*;
use proptest::prelude::*;

proptest! {
    /// The order of a stable sort by arrival, for any interleaving of adding and popping.
    #[test]
    fn events_are_ordered_by_time_and_then_by_tie(
        steps in prop::collection::vec((0_u64..50, 0_u32..20, any::<bool>()), 0..200),
        by_slot in any::<bool>(),
    ) {
        let order = if by_slot { TieOrder::Slot } else { TieOrder::Submission };
        let (mut arrivals, mut plain) = (Arrivals::new(order), Vec::new());
        for (number, (at, slot, take)) in (0_u32..).zip(steps) {
            let at = Nanos(at);
            // Without ties by slot, the submission number identifies the I/O.
            let slot = if by_slot { slot } else { number };
            if take {
                let first = plain.iter().copied().min().filter(|&(first, _)| first <= at);
                prop_assert_eq!(arrivals.pop(at), first);
                if let Some(index) = plain.iter().position(|&one| Some(one) == first) {
                    plain.remove(index);
                }
            } else {
                arrivals.add(at, slot);
                plain.push((at, slot));
            }
            let next = plain.iter().map(|&(at, _)| at).min().unwrap_or(Nanos::MAX);
            prop_assert_eq!(arrivals.next_event(), next);
        }
    }
}
