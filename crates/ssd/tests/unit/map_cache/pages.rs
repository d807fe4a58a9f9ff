use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Uses a page; inserts it on a miss.
fn access(pages: &mut Pages, page: u32, change: bool) -> (bool, Option<Evicted>) {
    match pages.touch(page, change) {
        Some(_) => (true, None),
        None => (false, pages.insert(page, 0, change)),
    }
}

proptest! {
    /// Against a list searched from end to end.
    #[test]
    fn lru_agrees_with_a_plain_list(
        capacity in 1_u64..9,
        steps in prop::collection::vec((0_u32..14, any::<bool>(), 0_u32..40), 1..300),
    ) {
        let mut pages = Pages::new(Replacement::Lru, capacity, 14);
        let mut plain: VecDeque<(u32, bool)> = VecDeque::new();
        for (page, change, other) in steps {
            if other == 0 {
                pages.clear();
                plain.clear();
            }
            if other == 1 {
                pages.clean(page);
                plain.iter_mut().filter(|one| one.0 == page).for_each(|one| one.1 = false);
            }
            let found = plain.iter().position(|one| one.0 == page);
            let was = found.and_then(|at| plain.remove(at));
            let gone = if was.is_none() && plain.len() as u64 == capacity { plain.pop_front() } else { None };
            plain.push_back((page, change || was.is_some_and(|one| one.1)));
            let gone = gone.map(|(page, dirty)| Evicted { page, dirty });
            prop_assert_eq!(access(&mut pages, page, change), (was.is_some(), gone));
        }
    }

    /// Against a ring of pages with a bit each and a hand.
    #[test]
    fn clock_agrees_with_a_plain_ring(
        capacity in 1_u64..9,
        steps in prop::collection::vec((0_u32..14, any::<bool>()), 1..300),
    ) {
        let mut pages = Pages::new(Replacement::Clock, capacity, 14);
        let mut ring: Vec<(u32, bool, bool)> = Vec::new();
        let mut hand = 0;
        for (page, change) in steps {
            let mut expected = (false, None);
            if let Some(held) = ring.iter_mut().find(|held| held.0 == page) {
                (held.1, held.2) = (true, held.2 || change);
                expected.0 = true;
            } else if (ring.len() as u64) < capacity {
                ring.push((page, true, change));
            } else {
                while ring[hand].1 {
                    ring[hand].1 = false;
                    hand = (hand + 1) % ring.len();
                }
                let (page_before, _, dirty) = std::mem::replace(&mut ring[hand], (page, true, change));
                expected.1 = Some(Evicted { page: page_before, dirty });
                hand = (hand + 1) % ring.len();
            }
            prop_assert_eq!(access(&mut pages, page, change), expected);
        }
    }
}
