use super::*;
use proptest::prelude::*;

#[test]
fn fills_gaps_and_joins_neighbours() {
    let mut line = Timeline::new();
    assert_eq!(line.reserve(0, 100, 50), 150);
    assert_eq!(line.reserve(0, 0, 40), 40, "before what is ahead");
    assert_eq!(line.reserve(0, 30, 70), 220, "the gap of 60 is too small");
    assert_eq!(line.reserve(0, 30, 60), 100, "and this fits it exactly");
    assert_eq!(line.busy.len() - line.head, 1, "all joined: {line:?}");
    assert_eq!(line.reserve(500, 500, 1), 501);
    assert_eq!(line.busy.len() - line.head, 1, "the past is forgotten");
}

#[test]
fn joining_the_first_intervals_leaves_no_remainder() {
    let mut line = Timeline::new();
    for n in 0..14 {
        assert_eq!(line.reserve(0, 100 + 20 * n, 10), 110 + 20 * n);
    }
    assert_eq!(line.reserve(0, 110, 10), 120, "between the first two");
    assert_eq!(line.reserve(0, 50, 10), 60);
    assert_eq!(line.reserve(0, 50, 10), 70, "{line:?}");
}

#[test]
fn there_is_always_a_gap_before_the_first_interval() {
    // Each before all others with a gap: the slack before the first is exhausted repeatedly.
    let mut line = Timeline::new();
    for n in 0..3 * SLACK as u64 {
        let ready = 10_000 - 20 * n;
        assert_eq!(line.reserve(0, ready, 10), ready + 10, "{n}");
    }
}

#[test]
fn byte_time_rounds_up() {
    let time = ByteTime::of_rate(4_096_000_000);
    assert_eq!(time.duration_ns(4096), 1000);
    assert_eq!(time.duration_ns(0), 0);
    assert_eq!(ByteTime::of_rate(1_000_000_000).duration_ns(7), 7);
}

proptest! {
    /// Against a naive implementation: a set of busy nanoseconds.
    #[test]
    fn agrees_with_a_set_of_slots(requests in prop::collection::vec((0_u64..40, 0_u64..60, 1_u64..9), 1..60)) {
        let mut line = Timeline::new();
        let mut taken = std::collections::BTreeSet::new();
        let mut floor = 0;
        for (step, ahead, duration) in requests {
            floor += step / 8;
            let ready = floor + ahead;
            let mut start = ready;
            while (start..start + duration).any(|t| taken.contains(&t)) {
                start += 1;
            }
            taken.extend(start..start + duration);
            prop_assert_eq!(line.reserve(floor, ready, duration), start + duration);
        }
    }

    /// A train is its pieces one after the other, on a line long and crowded enough to use both of
    /// its ends.
    #[test]
    fn a_train_equals_its_pieces(
        requests in prop::collection::vec((0_u64..30, 0_u64..4000, 1_u64..9, 1_u64..6), 1..400),
    ) {
        let mut line = Timeline::new();
        let mut plain: Vec<(u64, u64)> = Vec::new();
        let mut floor = 0;
        for (step, ahead, duration, count) in requests {
            floor += step / 8;
            let mut end = floor + ahead;
            for _ in 0..count {
                plain.sort_unstable();
                let start = plain.iter().fold(end, |start, &(from, to)| {
                    if from < start + duration && to > start { to } else { start }
                });
                plain.push((start, start + duration));
                end = start + duration;
            }
            prop_assert_eq!(line.reserve_train(floor, floor + ahead, duration, count), end);
            let ahead = &line.busy[line.head..];
            for pair in ahead.windows(2) {
                prop_assert!(pair[0].1 < pair[1].0, "{:?}", line);
            }
        }
    }

    /// Downstream reservation equals plain reservation, for equal and unequal items and with other
    /// sources between.
    #[test]
    fn a_downstream_timeline_is_a_timeline(
        equal: bool,
        requests in prop::collection::vec((0_u64..60, 0_u64..200, 1_u64..12, 1_u64..12, 0_u32..40), 1..400),
    ) {
        let (mut before, mut follower, mut plain) = (Timeline::new(), DownstreamTimeline::new(), Timeline::new());
        let mut floor = 0;
        for (step, ahead, there, here, other) in requests {
            floor += step / 4;
            let (there, here) = if equal { (9, 7) } else { (there, here) };
            if other == 0 {
                let ready = floor + ahead;
                prop_assert_eq!(follower.reserve(floor, ready, here), plain.reserve(floor, ready, here));
                continue;
            }
            let ready = before.reserve(floor, floor + ahead, there);
            prop_assert_eq!(follower.reserve_downstream(floor, ready, here, there), plain.reserve(floor, ready, here));
        }
    }
}
