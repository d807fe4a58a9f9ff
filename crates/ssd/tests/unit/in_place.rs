use super::*;
use crate::sourced::tests::assumed;

/// Two groups of two dies, one per channel. In nanoseconds per unit: 5000 to read, 1000 on the
/// channel, 2000 of the writing current, 3000 to write, 100 for the lookup.
fn media() -> InPlace {
    let profile = InPlaceProfile {
        channels: assumed(2),
        dies: assumed(4),
        stripe_dies: assumed(2),
        stripe_channels: assumed(1),
        granule_bytes: assumed(4096),
        merge_ns: assumed(700),
        indirection_ns: assumed(100),
        read_ns: assumed(5000),
        read_sigma_ns: None,
        write_ns: assumed(3000),
        write_bytes_per_second: assumed(2_048_000_000),
        channel_bytes_per_second: assumed(4_096_000_000),
        retry: None,
    };
    InPlace::new(&profile, 0, [10, 20])
}

#[test]
fn reads_of_one_die_group_are_serialised_and_of_two_are_not() {
    let mut media = media();
    assert_eq!(media.read(0, 0, 0), 6100);
    assert_eq!(media.read(0, 0, 1), 6100);
    assert_eq!(media.read(0, 0, 2), 12_100, "the die group of unit 0");
    assert_eq!(media.take_energy_nj(), 30);
}

#[test]
fn writes_share_the_current_budget_and_have_no_history() {
    let mut media = media();
    assert_eq!(media.write(0, 0, 4096, 0, 0), 100 + 2000 + 1000 + 3000);
    let mut now = 1_000_000;
    for _ in 0..1000 {
        assert_eq!(media.write(now, 0, 8192, now, 0) - now, 100 + 4000 + 4000);
        now += 1_000_000;
    }
    assert_eq!(media.written_bytes, 2001 * 4096);
}

#[test]
fn a_long_write_starts_before_its_last_unit_arrives() {
    let mut media = media();
    // Units arrive at 7000, 8000, 9000 and 10000; the current serves them from 7100 on.
    let end = media.write(0, 0, 16_384, 10_000, 1000);
    assert_eq!(end, 7100 + 4 * 2000 + 1000 + 3000);
}

#[test]
fn a_partial_granule_needs_a_read_then_a_write() {
    let mut media = media();
    let whole = media.write(0, 0, 4096, 0, 0);
    let part = media.write(1_000_000, 0, 512, 1_000_000, 0) - 1_000_000;
    assert_eq!(part, 6100 + 700 + whole);
    // Writes wait for the merge engine though their die group is idle.
    let first = media.write(2_000_000, 512, 1024, 2_000_000, 0);
    let second = media.write(2_000_000, 4096, 8192, 2_000_000, 0);
    assert_eq!((first - 2_000_000, second - 2_000_000), (part, part + whole));
}

/// The ends of an unaligned write are merged before and after the rest.
#[test]
fn an_unaligned_write_needs_two_merges() {
    let mut media = media();
    let middle = media.write(0, 4096, 12_288, 0, 0);
    let merge = 6100 + 700 + 100 + 2000 + 1000 + 3000;
    let end = media.write(1_000_000, 512, 12_800, 1_000_000, 0) - 1_000_000;
    assert_eq!(end, merge + middle + merge);
}

#[test]
fn whole_granules_need_no_merge() {
    let mut media = media();
    media.granule_bytes = 512;
    let sector = media.write(0, 512, 1024, 0, 0);
    assert_eq!(sector, 100 + 250 + 125 + 3000);
}
