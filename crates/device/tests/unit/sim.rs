use super::*;
use proptest::prelude::*;

proptest! {
    /// As a stable sort by arrival has it, however adding and taking alternate.
    #[test]
    fn arrivals_come_in_order_of_time_and_then_of_submission(
        steps in prop::collection::vec((0_u64..50, any::<bool>()), 0..200)
    ) {
        let (mut arrivals, mut plain) = (Arrivals::default(), Vec::new());
        for (slot, (at, take)) in (0..).zip(steps) {
            let at = Nanos(at);
            if take {
                let first = plain.iter().min_by_key(|&&(at, _)| at).copied().filter(|&(first, _)| first <= at);
                prop_assert_eq!(arrivals.take(at), first);
                plain.retain(|&one| Some(one) != first);
            } else {
                arrivals.add(at, slot);
                plain.push((at, slot));
            }
            prop_assert_eq!(arrivals.next(), plain.iter().map(|&(at, _)| at).min());
        }
    }
}
