use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

proptest! {
    /// Against queues and cores searched from end to end, for few queues and for more than a word
    /// has bits.
    #[test]
    fn agrees_with_plain_queues(
        queues in prop_oneof![1_u16..9, 60_u16..128],
        cores in 1_u8..5,
        in_banks in any::<bool>(),
        steps in prop::collection::vec((0_u64..12, 0_u16..140, 0_u64..40, 1_u64..60), 1..200),
    ) {
        let mut front = Frontend::new(queues, cores, in_banks);
        let mut plain: Vec<VecDeque<(u64, u32)>> = vec![VecDeque::new(); usize::from(queues)];
        let mut free = vec![0; usize::from(cores)];
        let (mut now, mut turn) = (0, 0);
        let (mut bank_turns, mut bank) = ([0, 1], 0);
        for (number, (wait, queue, look, busy)) in (0..).zip(steps) {
            now += wait;
            front.push(queue, now, number);
            plain[usize::from(queue % queues)].push_back((now, number));
            let until = now + look;
            loop {
                let core = (0..free.len()).min_by_key(|&core| free[core]).unwrap();
                let first = plain.iter().filter_map(|line| line.front()).map(|&(at, _)| at).min();
                let next_ns = first.map_or(u64::MAX, |first| first.max(free[core]));
                prop_assert_eq!(front.next_ns, next_ns);
                let taken = front.take(until);
                if next_ns > until {
                    prop_assert_eq!(taken, None);
                    break;
                }
                let arrived = |queue: &usize| plain[*queue].front().is_some_and(|&(at, _)| at <= next_ns);
                let order = |from: usize| (from..plain.len()).chain(0..from);
                let of_bank = |bank: usize| {
                    order(bank_turns[bank]).filter(move |queue| queue % 2 == bank).find(arrived)
                };
                let queue = match in_banks {
                    true => of_bank(bank).or_else(|| of_bank(1 - bank)).unwrap(),
                    false => order(turn).find(arrived).unwrap(),
                };
                let (_, expected) = plain[queue].pop_front().unwrap();
                prop_assert_eq!(taken, Some((next_ns, expected)));
                turn = (queue + 1) % plain.len();
                bank_turns[queue % 2] = queue + 1;
                bank = 1 - queue % 2;
                free[core] = next_ns + busy;
                front.occupy(next_ns + busy);
            }
            // Later commands arrive after anything examined.
            now = until;
        }
    }
}

#[test]
fn queues_are_served_round_robin_and_in_order() {
    let mut front = Frontend::new(3, 1, false);
    for n in 0..3 {
        front.push(0, 0, n);
    }
    front.push(2, 0, 20);
    front.push(5, 0, 21);
    let mut order = Vec::new();
    while let Some((start, name)) = front.take(u64::MAX - 1) {
        front.occupy(start + 10);
        order.push((start, name));
    }
    assert_eq!(order, [(0, 0), (10, 20), (20, 1), (30, 21), (40, 2)]);
}

#[test]
fn an_idle_core_starts_a_command_at_once() {
    let mut queued = Frontend::new(3, 2, false);
    let mut direct = Frontend::new(3, 2, false);
    for (queue, arrival) in [(4, 5), (0, 6), (1, 7), (2, 30), (2, 30), (7, 90)] {
        let at_once = direct.take_at_once(queue, arrival);
        queued.push(queue, arrival, 0);
        let taken = queued.take(arrival);
        assert_eq!(at_once, taken.is_some());
        match taken {
            Some((start, _)) => {
                assert_eq!(start, arrival);
                queued.occupy(start + 10);
                direct.occupy(start + 10);
            }
            None => {
                queued.take(u64::MAX - 1);
                queued.occupy(20);
                direct.occupy(20);
                direct.turn = queued.turn;
            }
        }
        assert_eq!((queued.turn, queued.next_ns), (direct.turn, direct.next_ns));
    }
}

#[test]
fn cores_work_in_parallel_and_no_command_starts_before_its_arrival() {
    let mut front = Frontend::new(1, 2, false);
    for (number, arrival) in (0..).zip([5, 5, 5, 100]) {
        front.push(0, arrival, number);
    }
    let mut starts = Vec::new();
    assert!(front.take(4).is_none());
    while let Some((start, _)) = front.take(1000) {
        front.occupy(start + 10);
        starts.push(start);
    }
    assert_eq!(starts, [5, 5, 15, 100]);
    assert_eq!(front.next_ns, u64::MAX);
}
