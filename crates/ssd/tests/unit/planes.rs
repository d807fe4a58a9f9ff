use assay_units::Rng;

use crate::nand::Nand;
use crate::nand::tests::small;
use crate::profile::NandProfile;
use crate::sourced::tests::assumed;

/// [`small`] of so many dies and planes on one channel.
fn flash(dies: u16, planes: u8) -> NandProfile {
    let mut nand = small();
    nand.channels.value = 1;
    nand.dies.value = dies;
    nand.planes.value = planes;
    nand.stripe_bytes = None;
    nand.pages_per_block.value = 64;
    nand.program_ns.value = vec![500_000];
    nand
}

fn independent() -> Nand {
    let mut profile = flash(1, 4);
    profile.independent_plane_reads = Some(assumed(true));
    Nand::new(&profile, None, u32::MAX, 0)
}

fn read(nand: &mut Nand, issue_ns: u64, unit: u32, sectors: u32) -> u64 {
    let sense = nand.locate_read(unit);
    nand.read(0, issue_ns, sense, sectors)
}

/// Without programs, four planes of one die read as four dies of one plane on the same channel do.
#[test]
fn planes_that_only_read_are_as_dies() {
    for cache_read in [false, true] {
        let (mut one, mut four) = (flash(1, 4), flash(4, 1));
        one.independent_plane_reads = Some(assumed(true));
        one.cache_read.value = cache_read;
        four.cache_read.value = cache_read;
        let [mut one, mut four] = [one, four].map(|nand| Nand::new(&nand, None, u32::MAX, 0));
        let mut rng = Rng::stream(7, "planes");
        let mut at_ns = 0;
        for _ in 0..20_000 {
            at_ns += rng.below(60_000);
            let unit = rng.below(64 * 16) as u32;
            let sectors = 1 + rng.below(u64::from(4 - unit % 4)) as u32;
            let ends = [&mut one, &mut four].map(|nand| read(nand, at_ns, unit, sectors));
            assert_eq!(ends[0], ends[1], "unit {unit} at {at_ns}");
        }
    }
}

#[test]
fn planes_of_a_die_sense_one_after_the_other_unless_independent() {
    let mut together = Nand::new(&flash(1, 4), None, u32::MAX, 0);
    assert_eq!(read(&mut together, 0, 0, 1), 60_000);
    assert_eq!(read(&mut together, 0, 20, 1), 140_000, "another row, 70 us");
    let mut nand = independent();
    assert_eq!(read(&mut nand, 0, 0, 1), 60_000);
    assert_eq!(read(&mut nand, 0, 20, 1), 80_000, "plane 1 at once");
    assert_eq!(read(&mut nand, 0, 2, 1), 120_000, "plane 0 again");
    // One sense of all planes waits for each, and holds each: from 120 us on, and 160 us for the
    // channel.
    let all = nand.locate(0);
    assert_eq!(nand.read(0, 0, all, 16), 330_000);
    assert_eq!(read(&mut nand, 10_000, 12, 1), 390_000, "plane 3");
}

/// Two programs are in sequence from 160 us on, each of 500 us; two reads come during the first.
#[test]
fn programs_hold_all_planes_and_are_put_off_by_what_the_reads_take_together() {
    let mut nand = independent();
    assert_eq!(nand.program(0, 0, 0), 660_000);
    nand.program(0, 0, 16);
    let before_ns = nand.idle_ns();
    assert_eq!(read(&mut nand, 200_000, 1024, 1), 720_000);
    assert_eq!(read(&mut nand, 210_000, 1028, 1), 730_000, "senses beside it");
    assert_eq!(nand.idle_ns(), before_ns + 70_000);
    // The second program runs from 730 us on.
    assert_eq!(read(&mut nand, 800_000, 1024, 1), 1_290_000);
}
