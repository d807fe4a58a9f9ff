//! Power loss, dropped flushes, media errors and surprise removal.

use crate::common;

use std::collections::BTreeMap;

use assay_ssd::{Command, Completion, Drive, DriveOptions, Profile, Provenance, Sourced, Status};
use assay_units::{Nanos, Op};
use common::{command, one};
use proptest::prelude::*;

const END: Nanos = Nanos(u64::MAX - 1);
/// Units of 4 KiB that the tests use.
const UNITS: u64 = 64;

fn keeping(settings: &[(&str, &str)], protected: bool) -> Drive {
    let mut options = DriveOptions::default();
    options.set("data", "keep").expect("a known option");
    for (key, value) in settings {
        options.set(key, value).expect("a known option");
    }
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.buffer.power_loss_protected = protected.then(|| Sourced {
        value: true,
        provenance: Provenance::Assumed,
        source: "a test".to_owned(),
    });
    Drive::new(profile, options).expect("a drive")
}

fn write(drive: &mut Drive, now: Nanos, unit: u64, units: u32, byte: u8) -> Completion {
    let io = command(0, Op::Write, unit * 4096, units * 4096);
    drive.submit_write(now, io, &vec![byte; units as usize * 4096]);
    let mut out = Vec::new();
    drive.advance(END, &mut out);
    out[0]
}

/// A write with FUA of one unit; when it completes.
fn forced_write(drive: &mut Drive, unit: u64, byte: u8) -> Nanos {
    let io = Command { fua: true, ..command(0, Op::Write, unit * 4096, 4096) };
    drive.submit_write(Nanos::ZERO, io, &[byte; 4096]);
    let mut out = Vec::new();
    drive.advance(END, &mut out);
    out[0].at
}

/// First byte of a unit, once nothing is in flight.
fn read(drive: &mut Drive, now: Nanos, unit: u64) -> u8 {
    let done = one(drive, now, command(0, Op::Read, unit * 4096, 4096));
    let mut bytes = [0; 4096];
    assert!(drive.read_data(&done, unit * 4096, &mut bytes));
    assert!(bytes.iter().all(|&byte| byte == bytes[0]), "mixed");
    bytes[0]
}

#[test]
fn acknowledged_writes_are_lost_unless_they_were_flushed_or_forced_or_capacitors_hold_them() {
    for (flush, fua, protected, kept) in [
        (false, false, false, false),
        (true, false, false, true),
        (false, true, false, true),
        (false, false, true, true),
    ] {
        let mut drive = keeping(&[("state", "fresh")], protected);
        let mut now = match fua {
            true => forced_write(&mut drive, 3, 7),
            false => write(&mut drive, Nanos::ZERO, 3, 1, 7).at,
        };
        if flush {
            now = one(&mut drive, now, command(0, Op::Flush, 0, 0)).at;
        }
        drive.power_loss(now);
        assert_eq!(read(&mut drive, now, 3), if kept { 7 } else { 0 });
        assert_eq!(drive.telemetry(now).unsafe_shutdowns, 1);
    }
}

#[test]
fn a_rejected_deallocation_makes_no_write_durable() {
    let mut drive = keeping(&[("state", "fresh")], false);
    let now = write(&mut drive, Nanos::ZERO, 3, 1, 7).at;
    let rejected = one(&mut drive, now, command(0, Op::Discard, 3 * 4096, 4097));
    assert_eq!(rejected.status, Status::InvalidField);
    drive.power_loss(rejected.at);
    assert_eq!(read(&mut drive, rejected.at, 3), 0);
}

#[test]
fn a_dropped_flush_is_visible_after_power_loss() {
    let mut drive = keeping(&[("state", "fresh"), ("fault", "drop-flush@1")], false);
    let written = write(&mut drive, Nanos::ZERO, 3, 1, 7).at;
    let flushed = one(&mut drive, written, command(0, Op::Flush, 0, 0));
    assert_eq!(flushed.status, Status::Ok);
    assert!(flushed.at - written < Nanos::from_micros(100));
    drive.power_loss(flushed.at);
    assert_eq!(read(&mut drive, flushed.at, 3), 0);
}

#[test]
fn commands_in_flight_are_aborted_at_power_loss_and_the_drive_continues() {
    let mut drive = keeping(&[("state", "fresh"), ("fault", "power-loss@5")], false);
    for tag in 0..4 {
        drive.submit(Nanos(u64::from(tag)), command(tag, Op::Read, u64::from(tag) << 20, 4096));
    }
    // The fifth arrives after the restart.
    drive.submit(Nanos(500), command(4, Op::Read, 0, 4096));
    let mut out = Vec::new();
    drive.advance(END, &mut out);
    let ends: Vec<_> = out.iter().map(|done| (done.tag, done.status)).collect();
    let lost = Status::PowerLoss;
    assert_eq!(ends, [(0, lost), (1, lost), (2, lost), (3, lost), (4, Status::Ok)]);
    assert!(out[..4].iter().all(|done| done.at == Nanos(500) && done.is_outcome_unknown()));
}

#[test]
fn a_removed_drive_fails_every_command() {
    let mut drive = keeping(&[("fault", "vanish@3")], false);
    let mut out = Vec::new();
    for tag in 0..5 {
        drive.submit(Nanos(u64::from(tag) * 1000), command(tag, Op::Read, 0, 65_536));
    }
    drive.advance(END, &mut out);
    assert_eq!(out.len(), 5);
    assert!(out.iter().all(|done| done.status == Status::Removed));
    assert!(!drive.is_present());
    assert!(out.iter().all(|done| done.at < Nanos::from_micros(10)), "{out:?}");
    let mut kept = [1; 4096];
    assert!(!drive.read_data(&out[4], 0, &mut kept));
}

#[test]
fn bad_media_fails_reads_and_is_remapped_by_writes() {
    let mut drive = keeping(&[("fault", "media-error@8k+4k")], false);
    let status = |drive: &mut Drive, now, unit: u64| {
        one(drive, now, command(0, Op::Read, unit * 4096, 4096)).status
    };
    assert_eq!(status(&mut drive, Nanos::ZERO, 1), Status::Ok);
    assert_eq!(status(&mut drive, Nanos(1_000_000), 2), Status::UnrecoveredReadError);
    let healed = write(&mut drive, Nanos(2_000_000), 2, 1, 9);
    assert_eq!(healed.status, Status::Ok);
    assert_eq!(read(&mut drive, healed.at, 2), 9);
    assert_eq!(drive.telemetry(healed.at).media_errors, 1);
}

/// A write with an injected failure does not remap media.
#[test]
fn a_failing_write_does_not_remap_bad_media() {
    let mut drive = keeping(&[("fault", "media-error@8k+4k"), ("fault", "write-error@1")], false);
    let status = |drive: &mut Drive, now| {
        one(drive, Nanos(now), command(0, Op::Read, 2 * 4096, 4096)).status
    };
    let failed = write(&mut drive, Nanos::ZERO, 2, 1, 9);
    assert_eq!(failed.status, Status::WriteFault);
    assert_eq!(drive.first_bad_byte(), Some(8192));
    assert_eq!(status(&mut drive, 10_000_000), Status::UnrecoveredReadError);
    let healed = write(&mut drive, Nanos(20_000_000), 2, 1, 9);
    assert_eq!(healed.status, Status::Ok);
    assert_eq!(status(&mut drive, 30_000_000), Status::Ok);
}

/// Contents of a unit since the last that must have survived.
type Versions = BTreeMap<u64, Vec<Vec<u8>>>;

#[derive(Clone, Debug)]
enum Step {
    Write { sector: u64, sectors: u64 },
    Flush,
    Discard { unit: u64, units: u64 },
    Wait(u64),
    Lose,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..UNITS * 8, 1_u64..64).prop_map(|(sector, sectors)| Step::Write { sector, sectors: sectors.min(UNITS * 8 - sector) }),
        4 => (0..UNITS, 1_u64..16).prop_map(|(unit, units)| Step::Write { sector: unit * 8, sectors: units.min(UNITS - unit) * 8 }),
        1 => Just(Step::Flush),
        1 => (0..UNITS, 1_u64..8).prop_map(|(unit, units)| Step::Discard { unit, units: units.min(UNITS - unit) }),
        4 => (0_u64..400_000).prop_map(Step::Wait),
        1 => Just(Step::Lose),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// After power loss every unit is what some write left, no older than the last flushed one
    /// (acknowledged one, with power-loss protection), never a mixture. Commands may be in flight
    /// on several queues.
    #[test]
    fn after_power_loss_data_is_old_or_new_and_flushed_data_is_new(protected: bool, fresh: bool, steps in prop::collection::vec(step(), 1..150)) {
        let mut drive = keeping(&[("state", if fresh { "fresh" } else { "filled" })], protected);
        let whole = command(0, Op::Read, 0, (UNITS * 4096) as u32);
        let mut content = vec![0; (UNITS * 4096) as usize];
        let done = one(&mut drive, Nanos::ZERO, whole);
        prop_assert!(drive.read_data(&done, 0, &mut content));
        let unit_of = |content: &[u8], unit: u64| content[unit as usize * 4096..][..4096].to_vec();
        let mut versions: Versions = (0..UNITS).map(|unit| (unit, vec![unit_of(&content, unit)])).collect();
        // Acknowledged writes: units and versions; flushes: what was acknowledged at their begin.
        let mut in_flight: BTreeMap<u32, Vec<(u64, usize)>> = BTreeMap::new();
        let mut acknowledged: BTreeMap<u64, usize> = BTreeMap::new();
        let mut flushes: BTreeMap<u32, BTreeMap<u64, usize>> = BTreeMap::new();
        let mut survives: BTreeMap<u64, usize> = BTreeMap::new();
        let raise = |floor: &mut BTreeMap<u64, usize>, unit: u64, version: usize| {
            let entry = floor.entry(unit).or_default();
            *entry = version.max(*entry);
        };
        let mut now = done.at;
        let mut out = Vec::new();
        for (tag, step) in (1_u32..).zip(&steps) {
            match *step {
                Step::Write { sector, sectors } => {
                    let range = sector as usize * 512..(sector + sectors) as usize * 512;
                    // Every sector of every write is unique.
                    for (n, bytes) in content[range.clone()].chunks_mut(512).enumerate() {
                        bytes.fill(n as u8);
                        bytes[..4].copy_from_slice(&tag.to_le_bytes());
                    }
                    let io = Command { queue: (tag % 3) as u16, ..command(tag, Op::Write, sector * 512, sectors as u32 * 512) };
                    drive.submit_write(now, io, &content[range]);
                    let units = sector / 8..=(sector + sectors - 1) / 8;
                    let noted = units.map(|unit| {
                        let list = versions.get_mut(&unit).expect("a unit of the test");
                        list.push(unit_of(&content, unit));
                        (unit, list.len() - 1)
                    });
                    in_flight.insert(tag, noted.collect());
                }
                Step::Flush => {
                    drive.submit(now, command(tag, Op::Flush, 0, 0));
                    flushes.insert(tag, acknowledged.clone());
                }
                Step::Discard { unit, units } => {
                    drive.submit(now, command(tag, Op::Discard, unit * 4096, units as u32 * 4096));
                    for unit in unit..unit + units {
                        content[unit as usize * 4096..][..4096].fill(0);
                        let list = versions.get_mut(&unit).expect("a unit of the test");
                        list.push(vec![0; 4096]);
                        raise(&mut survives, unit, list.len() - 1);
                    }
                }
                Step::Wait(ns) => now += Nanos(ns),
                Step::Lose => {
                    drive.power_loss(now);
                }
            }
            drive.advance(now, &mut out);
            for done in out.drain(..) {
                if let Some(units) = in_flight.remove(&done.tag).filter(|_| done.status.is_ok()) {
                    for (unit, version) in units {
                        raise(&mut acknowledged, unit, version);
                        if protected {
                            raise(&mut survives, unit, version);
                        }
                    }
                } else if let Some(floor) = flushes.remove(&done.tag).filter(|_| done.status.is_ok()) {
                    for (unit, version) in floor {
                        raise(&mut survives, unit, version);
                    }
                }
            }
            if !matches!(step, Step::Lose) {
                continue;
            }
            prop_assert!(in_flight.is_empty() && flushes.is_empty(), "nothing is in flight after a loss of power");
            let whole = one(&mut drive, now, whole);
            now = whole.at;
            prop_assert!(drive.read_data(&whole, 0, &mut content));
            for (unit, list) in &mut versions {
                let found = unit_of(&content, *unit);
                let floor = survives.get(unit).copied().unwrap_or(0);
                prop_assert!(list[floor..].contains(&found), "unit {unit}, {} versions from {floor} on", list.len());
                *list = vec![found];
            }
            survives.clear();
            acknowledged.clear();
        }
    }
}

#[test]
fn no_data_is_lost_without_power_loss() {
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.buffer.power_loss_protected = None;
    let options = DriveOptions { keep_data: true, no_power_loss: true, ..DriveOptions::default() };
    let mut drive = Drive::new(profile, options).expect("a drive");
    let now = write(&mut drive, Nanos::ZERO, 3, 1, 7).at;
    drive.power_loss(now);
    assert_eq!(read(&mut drive, now, 3), 7);
}
