use assay_units::Rng;

use super::*;
use crate::Profile;
use crate::link::{Link, payload_bytes_per_second};
use crate::sourced::tests::assumed;

fn sata() -> LinkProfile {
    let mut link = Profile::builtin("samsung-951").unwrap().link;
    link.generation.value = 3;
    link.lanes.value = 1;
    link.max_payload_bytes.value = 8192;
    link.packet_overhead_bytes.value = 0;
    link.sata = Some(SataProfile { frame_ns: assumed(500), queue_depth: assumed(32) });
    link
}

#[test]
fn a_transfer_includes_frame_overhead_and_directions_share_the_link() {
    assert_eq!(payload_bytes_per_second(&sata()), 600_000_000);
    let data_path = Profile::builtin("samsung-951").unwrap().data_path;
    let mut link = Link::new(&sata(), &data_path, None);
    // 12 KiB: 20.48 us of bytes, a DMA Setup FIS and two Data FISes.
    assert_eq!(link.send_to_host(0, 0, 12_288), 20_481 + 1500, "rounded up");
    assert_eq!(link.send_to_drive(0, 0, 12_288), 2 * 21_981, "after the first");
}

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
