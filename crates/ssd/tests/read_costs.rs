//! Firmware time of reads by length: single commands on an idle drive, so that the cost shows in
//! the latency.

use crate::common;

use assay_ssd::{Drive, DriveOptions, InitialState, Profile};
use assay_units::{Nanos, Op};
use common::{Job, command, one, run};

const BLOCK: u32 = 512;
const PAGE_NS: u64 = 7_000;
const SPLIT_NS: u64 = 9_000;
const SETUP_NS: u64 = 3_000;
const COMMANDS: u64 = 2_000;

fn profile() -> Profile {
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.firmware.read_page_ns.value = PAGE_NS;
    profile
}

/// Latency of the only read of a drive, in nanoseconds.
fn read_ns(profile: &Profile, offset: u64, len: u32) -> u64 {
    let options = DriveOptions { state: InitialState::Filled, ..DriveOptions::default() };
    let mut drive = Drive::new(profile.clone(), options).expect("a drive");
    let now = Nanos(1_000);
    let done = one(&mut drive, now, command(0, Op::Read, offset, len));
    assert!(done.status.is_ok());
    (done.at - now).0
}

#[test]
fn hardware_alone_reads_one_block() {
    let firmware = profile();
    let mut hardware = firmware.clone();
    let mut flag = hardware.ftl.skip_unmapped.clone();
    flag.value = true;
    hardware.firmware.read_block_by_hardware = Some(flag);
    for offset in [0, 512, 1 << 30] {
        let saved = |len| read_ns(&firmware, offset, len) - read_ns(&hardware, offset, len);
        assert_eq!(saved(BLOCK), PAGE_NS, "at {offset}");
        assert_eq!(saved(2 * BLOCK), 0, "at {offset}");
    }
    let flag = hardware.firmware.read_block_by_hardware.as_mut();
    flag.expect("just set").value = false;
    assert_eq!(
        read_ns(&firmware, 0, BLOCK),
        read_ns(&hardware, 0, BLOCK),
        "a switch that is off changes nothing"
    );
}

#[test]
fn a_read_striped_over_dies_has_one_extra_cost() {
    let plain = profile();
    let mut split = plain.clone();
    let mut cost = split.firmware.read_page_ns.clone();
    cost.value = SPLIT_NS;
    split.firmware.read_split_ns = Some(cost);
    let nand = &plain.nand;
    let one_die = u32::from(nand.planes.value) * nand.page_bytes.value as u32;
    let more = |len| read_ns(&split, 0, len) - read_ns(&plain, 0, len);
    assert_eq!(more(4096), 0);
    assert_eq!(more(one_die), 0);
    assert_eq!(more(one_die + 4096), SPLIT_NS);
    assert_eq!(more(4 * one_die), SPLIT_NS);
}

/// A profile, and the same with a data path setup time.
fn with_setup(plain: &Profile) -> Profile {
    let mut setup = plain.clone();
    let mut cost = setup.firmware.read_page_ns.clone();
    cost.value = SETUP_NS;
    setup.data_path.setup_ns = Some(cost);
    setup
}

#[test]
fn the_data_path_is_set_up_for_every_read_of_flash() {
    let plain = profile();
    for (len, offset) in [(BLOCK, 0), (4096, 1 << 30)] {
        let more = read_ns(&with_setup(&plain), offset, len) - read_ns(&plain, offset, len);
        assert_eq!(more, SETUP_NS, "{len} bytes at {offset}");
    }
    // Setup overlaps with the sensing of several dies.
    assert_eq!(read_ns(&with_setup(&plain), 0, 65_536), read_ns(&plain, 0, 65_536));
}

#[test]
fn a_saturated_data_path_is_slower_by_one_setup_per_command() {
    let mut plain = profile();
    plain.data_path.direct_bytes_per_second.value = 200_000_000;
    plain.data_path.staged_bytes_per_second.value = 200_000_000;
    for block in [4096, 65_536] {
        let took = |profile: &Profile| {
            let options = DriveOptions { state: InitialState::Filled, ..DriveOptions::default() };
            let mut drive = Drive::new(profile.clone(), options).expect("a drive");
            let job =
                Job { op: Op::Read, random: true, threads: 64, block, area: 1 << 30, first: 0 };
            run(&mut drive, job, Nanos::ZERO, Nanos::MAX, COMMANDS).1.0
        };
        let more = (took(&with_setup(&plain)) - took(&plain)) as f64;
        let wanted = (COMMANDS * SETUP_NS) as f64;
        assert!((more / wanted - 1.0).abs() < 0.05, "{block}: {more} ns");
    }
}

#[test]
fn no_setup_cost_without_flash_reads() {
    let mut plain = profile();
    plain.ftl.skip_unmapped.value = true;
    for len in [4096, 65_536] {
        let fresh = |profile: &Profile| {
            let options = DriveOptions { state: InitialState::Fresh, ..DriveOptions::default() };
            let mut drive = Drive::new(profile.clone(), options).expect("a drive");
            let done = one(&mut drive, Nanos(1_000), command(0, Op::Read, 0, len));
            assert!(done.status.is_ok());
            done.at
        };
        assert_eq!(fresh(&plain), fresh(&with_setup(&plain)), "{len} bytes");
    }
}
