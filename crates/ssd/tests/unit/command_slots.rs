use assay_units::Rng;

use super::*;

#[test]
fn a_full_drive_admits_a_command_when_the_first_of_the_others_completes() {
    let mut slots = CommandSlots::new(2);
    for (start, admitted, end) in
        [(0, 0, 100), (1, 1, 50), (2, 50, 300), (3, 100, 110), (400, 400, 500)]
    {
        assert_eq!(slots.admit(start), admitted);
        slots.hold(end);
    }
}

/// Commands at random, against the ends of the last `depth` commands in a list.
#[test]
fn a_command_waits_for_the_earliest_end_where_all_slots_are_held() {
    for (depth, mean_ns) in [(3, 10), (64, 200), (65, 200), (100, 350), (100, 600), (320, 1_200)] {
        let mut rng = Rng::stream(depth, "slots");
        let mut slots = CommandSlots::new(depth as u16);
        let mut held: Vec<u64> = Vec::new();
        let (mut now_ns, mut waited) = (0, 0);
        for _ in 0..20_000 {
            now_ns += if rng.below(2_000) == 0 { 4 * mean_ns } else { rng.below(9) };
            let earliest = (0..held.len()).min_by_key(|&slot| held[slot]);
            let free_ns = match earliest.filter(|_| held.len() == depth as usize) {
                Some(slot) => held.swap_remove(slot),
                None => 0,
            };
            let admitted_ns = slots.admit(now_ns);
            assert_eq!(admitted_ns, now_ns.max(free_ns), "{depth} slots");
            waited += u64::from(admitted_ns > now_ns);
            // A few take long.
            let factor = if rng.below(100) == 0 { 8 } else { 1 };
            let end_ns = admitted_ns + factor * rng.below(2 * mean_ns);
            slots.hold(end_ns);
            held.push(end_ns);
        }
        assert!((100..19_900).contains(&waited), "{depth} slots: {waited}");
    }
}
