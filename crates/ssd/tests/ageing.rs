//! Directions of age: cycles, retention and temperature lengthen the tail and change no data;
//! refresh shortens it again and costs writes; the health log follows.

use crate::common;

use assay_ssd::{Drive, DriveError, DriveOptions, Profile, Status};
use assay_units::{GIB, MIB, Nanos, Op};
use common::queued::{Queued, run_queued};
use common::{command, one};

fn with(name: &str, settings: &[(&str, &str)]) -> Drive {
    let mut options = DriveOptions::default();
    for (key, value) in settings {
        options.set(key, value).expect("a known option");
    }
    common::drive(name, options)
}

fn flash_drives() -> impl Iterator<Item = &'static str> {
    let has_flash =
        |name: &&str| Profile::builtin(name).is_ok_and(|profile| profile.in_place.is_none());
    Profile::names().into_iter().filter(has_flash)
}

/// Rated cycles as Percentage Used tells them.
fn rated_cycles(name: &str) -> u64 {
    let worn = with(name, &[("cycles", "1000000")]).telemetry(Nanos::ZERO);
    100_000_000 / worn.used_percent
}

/// Mean, p99 and p99.9 of 4 KiB random reads, one at a time, in microseconds.
fn latencies(drive: &mut Drive, start: Nanos) -> [f64; 3] {
    let mut now = start;
    let mut rng = assay_units::Rng::new(5);
    let capacity = drive.identity().capacity_bytes;
    let mut times: Vec<u64> = (0..6_000)
        .map(|_| {
            let place = rng.below(capacity.min(64 * GIB) / 4096) * 4096;
            let done = one(drive, now, command(0, Op::Read, place, 4096));
            assert_eq!(done.status, Status::Ok);
            let latency = done.at - now;
            now = done.at + Nanos(1_000);
            latency.0
        })
        .collect();
    times.sort_unstable();
    let at = |share: f64| times[(share * times.len() as f64) as usize] as f64 / 1e3;
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e3;
    [mean, at(0.99), at(0.999)]
}

#[test]
fn every_drive_with_flash_slows_down_with_age() {
    for name in flash_drives() {
        let cycles = (2 * rated_cycles(name)).to_string();
        let settings = [("cycles", cycles.as_str()), ("retention", "365d@40C")];
        let new = latencies(&mut with(name, &[]), Nanos::ZERO);
        let old = latencies(&mut with(name, &settings), Nanos::ZERO);
        assert!(old[0] > new[0], "{name}: {new:?} {old:?}");
        assert!(old[2] > 1.5 * new[2], "{name}: {new:?} {old:?}");
    }
}

#[test]
fn tails_grow_with_cycles_with_retention_and_with_its_temperature() {
    for name in ["samsung-983-dct", "samsung-951", "wd-black"] {
        let rated = rated_cycles(name);
        let of = |percent: u64, retention: &str| {
            let cycles = (rated * percent / 100).to_string();
            let mut drive = with(name, &[("cycles", &cycles), ("retention", retention)]);
            latencies(&mut drive, Nanos::ZERO)
        };
        let series = [
            [of(0, "180d"), of(100, "180d"), of(200, "180d")],
            [of(100, "0h"), of(100, "180d"), of(100, "730d")],
            [of(100, "180d@20C"), of(100, "180d@30C"), of(100, "180d@55C")],
        ];
        for times in series {
            for pair in times.windows(2) {
                let [young, old] = pair else { unreachable!() };
                assert!(old[0] > young[0], "{name}: {times:?}");
                assert!(old[1] >= young[1] && old[2] >= young[2], "{name}: {times:?}");
            }
            assert!(times[2][1] > times[0][1] + 30.0, "{name}: {times:?}");
        }
    }
}

#[test]
fn age_changes_no_data() {
    let aged = [("cycles", "5000"), ("retention", "3650d"), ("data", "keep")];
    let (mut new, mut old) = (with("samsung-951", &aged[2..]), with("samsung-951", &aged));
    let len = 1 << 20;
    let mut bytes = [vec![0; len], vec![1; len]];
    let written: Vec<u8> = (0..len).map(|n| (n * 7 % 251) as u8).collect();
    let mut now = Nanos::ZERO;
    for n in 0..40 {
        let place = n * 37 * MIB;
        for (drive, bytes) in [&mut new, &mut old].into_iter().zip(&mut bytes) {
            if n % 2 == 0 {
                drive.submit_write(now, command(1, Op::Write, place, len as u32), &written);
                drive.advance(now + Nanos::from_secs(1), &mut Vec::new());
            }
            let read = command(0, Op::Read, place, len as u32);
            let done = one(drive, now + Nanos::from_secs(2), read);
            assert!(drive.read_data(&done, 0, bytes));
        }
        assert_eq!(bytes[0], bytes[1], "at {place}");
        // Patrol and refresh run in between.
        now += Nanos::from_secs(20_000);
    }
    assert!(old.telemetry(now).relocated_bytes > GIB && new.telemetry(now).relocated_bytes == 0);
}

#[test]
fn refresh_shortens_the_tail_and_writes_flash() {
    let settings = [("cycles", "2000"), ("retention", "365d")];
    for name in ["samsung-960-evo", "intel-600p"] {
        let mut drive = with(name, &settings);
        let before = latencies(&mut drive, Nanos::ZERO);
        let rested = Nanos::from_secs(2 * 86_400);
        let health = drive.telemetry(rested);
        assert!(health.nand_bytes_written >= drive.identity().capacity_bytes, "{name}");
        assert_eq!(health.host_bytes_written, 0);
        let after = latencies(&mut drive, rested);
        assert!(after[0] < before[0] && after[1] < before[1], "{name}: {before:?} {after:?}");
    }
}

/// Refresh is independent of how often the drive is asked meanwhile.
#[test]
fn refresh_is_independent_of_polling() {
    let settings = [("cycles", "2000"), ("retention", "365d")];
    let mut polled = with("samsung-951", &settings);
    let mut left_alone = polled.clone();
    for second in 0..5_000 {
        polled.telemetry(Nanos::from_secs(10 * second));
    }
    let end = Nanos::from_secs(50_000);
    assert_eq!(polled.telemetry(end), left_alone.telemetry(end));
    assert_eq!(latencies(&mut polled, end), latencies(&mut left_alone, end));
}

#[test]
fn the_health_log_follows_wear() {
    let at = |cycles: u64| {
        let cycles = cycles.to_string();
        with("samsung-951", &[("cycles", &cycles)]).telemetry(Nanos::ZERO)
    };
    let (new, rated, worn) = (at(0), at(3000), at(6300));
    assert_eq!((new.used_percent, new.spare_percent), (0, 100));
    assert_eq!(rated.used_percent, 100);
    assert!((1..=10).contains(&worn.spare_percent), "{}", worn.spare_percent);
    assert_eq!((worn.used_percent, worn.read_only), (210, false));
    let dead = at(20_000);
    assert!(dead.read_only && dead.spare_percent == 0);
    let mut dead = with("samsung-951", &[("cycles", "20000")]);
    let write = one(&mut dead, Nanos::ZERO, command(0, Op::Write, 0, 131_072));
    assert_eq!(write.status, Status::WriteFault);
    let read = one(&mut dead, write.at, command(0, Op::Read, 0, 131_072));
    assert_eq!(read.status, Status::Ok);
}

/// Erases of a run count: a drive at its rated cycles is beyond them after two overwrites, and
/// blocks fail.
#[test]
fn wear_accumulates_in_a_run() {
    let mut profile = Profile::builtin("samsung-951").unwrap();
    profile.identity.capacity_bytes.value = 1 << 30;
    profile.nand.blocks_per_plane.value = 50;
    profile.nand.pages_per_block.value = 64;
    let mut options = DriveOptions::default();
    options.set("cycles", "2999").unwrap();
    let mut drive = Drive::new(profile, options).unwrap();
    assert_eq!(drive.telemetry(Nanos::ZERO).used_percent, 99);
    let job = Queued { area: 1 << 30, ..Queued::report_e(Op::Write, true, 32, 4096, 1_500_000) };
    run_queued(&mut drive, job, Nanos::ZERO, Nanos(1_000));
    let health = drive.telemetry(Nanos::from_secs(600));
    assert!(health.used_percent >= 100, "{}", health.used_percent);
    assert!(health.mean_cycles >= 3001 && health.most_cycles > health.least_cycles);
}

#[test]
fn media_written_in_place_refuse_to_age() {
    for name in ["intel-optane-p4800x", "intel-optane-memory-32gb"] {
        for (key, value) in [("cycles", "1"), ("retention", "1d")] {
            let mut options = DriveOptions::default();
            options.set(key, value).unwrap();
            let error = Drive::new(Profile::builtin(name).unwrap(), options).unwrap_err();
            assert!(matches!(error, DriveError::NoAgeing { .. }));
            assert!(error.to_string().contains("3D XPoint"), "{error}");
        }
    }
}
