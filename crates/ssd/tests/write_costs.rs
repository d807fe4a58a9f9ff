//! Firmware time of long writes: the cores share the units of a command, and the sum of their work
//! limits the rate.

use crate::common;

use assay_ssd::{Drive, DriveOptions, InitialState, Profile};
use assay_units::{Nanos, Op};
use common::{Job, command, one, run};

const CORES: u8 = 8;
/// Much longer than link, buffer and flash take per unit.
const UNIT_NS: u64 = 40_000;
const LEN: u32 = 131_072;
const UNITS: u64 = LEN as u64 / 4_096;
const COMMANDS: u64 = 800;

fn drive(cores: u8, unit_ns: u64) -> Drive {
    let mut profile = Profile::builtin("samsung-pm9d3a").expect("a built-in profile");
    profile.firmware.cores.value = cores;
    profile.firmware.write_command_ns.value = 0;
    profile.firmware.write_unit_ns.value = unit_ns;
    let options = DriveOptions { state: InitialState::Fresh, ..DriveOptions::default() };
    Drive::new(profile, options).expect("a drive")
}

/// Latency of the only write of a drive, in nanoseconds.
fn write_ns(cores: u8, len: u32) -> u64 {
    let now = Nanos(1_000);
    let done = one(&mut drive(cores, UNIT_NS), now, command(0, Op::Write, 0, len));
    assert!(done.status.is_ok());
    (done.at - now).0
}

#[test]
fn cores_share_the_units_of_a_long_write() {
    let unit = write_ns(1, 4_096);
    assert_eq!(write_ns(CORES, 4_096), unit, "one unit has one core");
    let saved = write_ns(1, LEN) - write_ns(CORES, LEN);
    assert_eq!(saved, (UNITS - UNITS / u64::from(CORES)) * UNIT_NS);
    // Nine units are mapped in two rounds.
    let rounds = write_ns(CORES, 9 * 4_096) - write_ns(CORES, 8 * 4_096);
    assert!((UNIT_NS..2 * UNIT_NS).contains(&rounds), "{rounds} ns");
}

#[test]
fn the_sum_of_their_work_limits_the_rate() {
    for threads in [u32::from(CORES), 4 * u32::from(CORES)] {
        let job =
            Job { op: Op::Write, random: false, threads, block: LEN, area: 1 << 30, first: 0 };
        let mut drive = drive(CORES, UNIT_NS);
        let took = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, COMMANDS).1.0 as f64;
        let work = (COMMANDS * UNITS * UNIT_NS / u64::from(CORES)) as f64;
        assert!((took / work - 1.0).abs() < 0.03, "{threads} threads: {took} ns for {work} ns");
    }
}
