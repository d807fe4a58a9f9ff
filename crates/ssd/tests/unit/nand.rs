use super::*;
use crate::Profile;
use crate::sourced::tests::assumed;

/// Eight dies of two planes on two channels: pages of 4 units, 10 us per unit on the channel,
/// senses of 50 and 70 us by row.
pub fn small() -> NandProfile {
    let mut nand = Profile::builtin("samsung-951").unwrap().nand;
    nand.channels.value = 2;
    nand.dies.value = 4;
    nand.planes.value = 2;
    nand.page_bytes.value = 16384;
    nand.pages_per_block.value = 4;
    nand.single_plane_bytes = None;
    nand.program_pages.value = 1;
    nand.read_ns.value = vec![50_000, 70_000];
    nand.read_jitter_ns.value = 0;
    nand.read_sigma_ns = Some(assumed(0));
    nand.partial_read_saving_ns.value = 0;
    nand.cache_read.value = false;
    nand.program_ns.value = vec![500_000, 1_500_000];
    nand.channel_bytes_per_second.value = 409_600_000; // 10 us per unit
    nand.channel_command_ns.value = 0;
    nand
}

#[test]
fn consecutive_groups_use_consecutive_dies_and_rows_alternate_page_types() {
    let nand = Nand::new(&small(), None, u32::MAX, 0);
    assert_eq!(nand.locate(0).die, 0);
    assert_eq!(nand.locate(7), nand.locate(0));
    assert_eq!(nand.locate(8).die, 1);
    assert_eq!(nand.locate(31).die, 3);
    assert_eq!(nand.locate(32).die, 0);
    assert_eq!(nand.locate(0).read_ns, 50_000);
    assert_eq!(nand.locate(32).read_ns, 70_000);
    assert_eq!(nand.units_in_sense(5, 100), 3);
    assert_eq!(nand.pages_touched(3, 2, 2), 2);
    assert_eq!(nand.pages_touched(4, 4, 4), 1);
}

/// Reads of parts of a page that wait together take one sense; a later one takes its own.
#[test]
fn joint_reads_share_a_sense_until_it_ends() {
    let mut profile = small();
    profile.stripe_bytes = Some(assumed(4096));
    profile.cache_read.value = true;
    profile.joint_reads = Some(assumed(true));
    let mut nand = Nand::new(&profile, None, u32::MAX, 0);
    // Stripes of a unit: every fourth unit lies in the page of the first, and 32 in another row.
    let [first, same, other] = [0, 4, 32].map(|unit| nand.locate_read(unit));
    assert_eq!((first.die, other.die), (same.die, 0));
    assert_eq!(nand.join(0, 0, first, 1), None);
    assert_eq!(nand.read(0, 0, first, 1), 60_000);
    assert_eq!(nand.join(0, 0, other, 1), None);
    assert_eq!(nand.read(0, 0, other, 1), 130_000);
    // In its register at 50 us, and transferred behind the first.
    assert_eq!(nand.join(0, 20_000, same, 1), Some(70_000));
    assert_eq!(nand.join(0, 50_001, same, 1), None);
    let mut apart = Nand::new(&small(), None, u32::MAX, 0);
    apart.read(0, 0, first, 1);
    assert_eq!(apart.join(0, 0, same, 1), None);
}

/// Stripes of a page: 2 planes of 4 units, so that each die's second page follows the first of all
/// dies.
#[test]
fn stripes_of_a_page_use_the_dies_in_turn_and_the_planes_last() {
    let mut profile = small();
    profile.stripe_bytes = Some(assumed(16_384));
    let nand = Nand::new(&profile, None, u32::MAX, 0);
    let dies: Vec<u32> = (0..64).map(|unit| nand.locate_read(unit).die).collect();
    for (unit, &die) in dies.iter().enumerate() {
        assert_eq!(die, unit as u32 / 4 % 4, "unit {unit}");
    }
    assert_eq!(nand.units_in_sense(5, 100), 3);
    assert_eq!(nand.units_in_sense(4, 100), 4);
    // Both planes of a die are one group, and rows alternate page types as without stripes.
    assert_eq!(nand.locate_read(0), nand.locate_read(16));
    assert_eq!(nand.locate_read(31).read_ns, 50_000);
    assert_eq!(nand.locate_read(32).read_ns, 70_000);
    // Programs do not depend on it.
    assert_eq!(nand.locate(8).die, 1);
}

#[test]
fn stripes_cover_every_page_of_a_one_shot_row_once() {
    let mut profile = small();
    profile.stripe_bytes = Some(assumed(16_384));
    profile.program_pages.value = 2;
    let nand = Nand::new(&profile, None, u32::MAX, 0);
    let mut senses: Vec<(u32, u64)> = (0..64)
        .step_by(4)
        .map(|unit| nand.locate_read(unit))
        .map(|sense| (sense.die, sense.read_ns))
        .collect();
    senses.sort_unstable();
    for die in 0..4 {
        let of_die: Vec<u64> = senses.iter().filter(|s| s.0 == die).map(|s| s.1).collect();
        assert_eq!(of_die, [50_000, 50_000, 70_000, 70_000]);
    }
}

#[test]
fn reads_of_one_die_queue_and_of_two_overlap_on_their_channels() {
    let mut nand = Nand::new(&small(), None, u32::MAX, 0);
    let (a, b, c) = (nand.locate(0), nand.locate(8), nand.locate(16));
    assert_eq!(nand.read(0, 0, a, 1), 60_000);
    assert_eq!(nand.read(0, 0, a, 1), 120_000, "same die");
    assert_eq!(nand.read(0, 0, b, 1), 60_000, "other channel");
    assert_eq!(nand.read(0, 0, c, 4), 100_000, "same channel: its gap from 60");
}

#[test]
fn a_program_moves_its_pages_and_holds_the_die() {
    let mut nand = Nand::new(&small(), None, u32::MAX, 0);
    let end = nand.program(0, 0, 0);
    assert_eq!(end, 80_000 + 500_000);
    let sense = nand.locate(3);
    assert!(nand.is_being_programmed(sense, end - 1));
    assert!(!nand.is_being_programmed(sense, end));
    assert_eq!(nand.program(0, 0, 32), end + 1_500_000);
}

/// Two programs wait on die 0 from 80 us on: lower page to 580, upper page to 2080.
#[test]
fn reads_precede_queued_programs() {
    let mut nand = Nand::new(&small(), None, u32::MAX, 0);
    nand.program(0, 0, 0);
    nand.program(0, 0, 0);
    let sense = nand.locate(3);
    let start = |nand: &Nand, at| nand.dies[0].read_start_ns(at, nand.erase_ns);
    assert_eq!(nand.dies[0].free_ns, 1_080_000);
    assert_eq!(start(&nand, 20_000), 20_000, "the data is still on its way");
    assert_eq!(start(&nand, 100_000), 580_000, "the first is under way");
    assert_eq!(start(&nand, 700_000), 1_080_000, "the second is");
    assert_eq!(start(&nand, 1_080_000), 1_080_000);
    let first = nand.read(0, 100_000, sense, 1);
    assert_eq!(first, 580_000 + 50_000 + 10_000);
    assert_eq!(nand.dies[0].free_ns, 1_140_000, "the second waits");
    assert_eq!(start(&nand, 630_000), 640_000, "reads in their order");
}

#[test]
fn a_read_waits_for_a_running_erase() {
    let mut nand = Nand::new(&small(), None, u32::MAX, 0);
    let erase_ns = nand.erase_ns;
    nand.erase(0, None, 1_000);
    let sense = nand.locate(3);
    assert_eq!(nand.read(0, 2_000, sense, 1), 1_000 + erase_ns + 60_000);
}

/// A program that begins at 80 us and takes 500 us; a read issued at 100 us takes 50 us and 10 us
/// on the channel.
#[test]
fn a_read_of_a_die_that_programs_waits_for_the_suspension_where_there_is_one() {
    let mut profile = small();
    profile.suspend = Some(crate::profile::SuspendProfile {
        suspend_ns: assumed(20_000),
        resume_ns: assumed(5_000),
        limit: assumed(1),
    });
    let mut nand = Nand::new(&profile, None, u32::MAX, 0);
    assert_eq!(nand.program(0, 0, 0), 580_000);
    let other = nand.locate(32);
    assert_eq!(nand.read(0, 100_000, other, 1), 100_000 + 20_000 + 80_000);
    let programmed = 580_000 + 20_000 + 80_000 + 5_000;
    assert_eq!(nand.dies[0].free_ns, programmed);
    let again = nand.read(0, 300_000, other, 1);
    assert_eq!(again, programmed + 80_000, "not a second time");
    nand.erase(0, None, 800_000);
    assert_eq!(nand.read(0, 900_000, other, 1), 900_000 + 20_000 + 80_000);
    let erased = 800_000 + nand.erase_ns + 20_000 + 80_000 + 5_000;
    assert_eq!(nand.read(0, 1_100_000, other, 1), erased + 80_000);
}

/// Half of the reads of a block at the limit of error correction are retried, and a step takes a
/// sense, a transfer and decoding.
#[test]
fn old_flash_needs_read_retries_and_programs_sooner() {
    let profile = small();
    let of_age = |cycles| {
        let mut nand = Nand::new(&profile, None, u32::MAX, 0);
        let age = Age { cycles, ..Age::default() };
        nand.set_age(&profile, age, 1);
        nand
    };
    let late = |cycles| {
        let mut nand = of_age(cycles);
        let sense = nand.locate(0);
        // A sense of 50 us and a unit of 10; the mean sense, a page of 40 us and 20 us of decoding
        // for a retry.
        let times = (1..=10_000_u64).map(|n| nand.read(n << 24, n << 24, sense, 1) - (n << 24));
        let times: Vec<u64> = times.collect();
        // Decoding a sector takes up to 5 us more at the limit of error correction.
        let plain_ns = times.iter().copied().min().unwrap();
        assert!((60_000..=65_000).contains(&plain_ns), "{plain_ns}");
        assert!(times.iter().all(|ns| (ns - plain_ns).is_multiple_of(120_000)));
        times.iter().filter(|&&ns| ns > plain_ns).count()
    };
    // An error rate of 1 + 100 (cycles / 3000)^2 reaches the margin of 1000 at 9,482 cycles; the
    // table has steps of 6 %.
    assert_eq!((late(0), late(3000)), (0, 0));
    assert!((4300..=5100).contains(&late(9482)), "{}", late(9482));
    let program_ns = |cycles| of_age(cycles).program(0, 0, 0);
    assert_eq!(program_ns(0), 580_000);
    assert_eq!(program_ns(3000), 580_000 - 500_000 * 102 / 1024);
    let erased_ns = |cycles| {
        let mut nand = of_age(cycles);
        nand.erase(0, None, 0);
        nand.idle_ns()
    };
    assert_eq!(erased_ns(3000), 3_000_000 + 3_000_000 * 307 / 1024);
    assert_eq!((erased_ns(0), erased_ns(6000)), (3_000_000, erased_ns(60_000)));
}

#[test]
fn one_shot_flash_keeps_a_word_line_on_a_die() {
    let mut profile = small();
    profile.program_pages.value = 2;
    let nand = Nand::new(&profile, None, 3, 0);
    assert_eq!(nand.locate(15).die, 0);
    assert_eq!(nand.locate(16).die, 1);
    assert_eq!(nand.locate(0).read_ns, 50_000);
    assert_eq!(nand.locate(8).read_ns, 70_000);
    let slc = 3 << nand.shift;
    assert_eq!(nand.geometry(slc).superblock_units, 8 * 4 * 2);
    assert_eq!(nand.locate(slc + 8).die, 1);
}
