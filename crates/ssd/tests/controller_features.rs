//! Features for a controller around the drive.

use crate::common;

use assay_ssd::thermal::{HOST_HYSTERESIS_K, HostThrottling};
use assay_ssd::{DriveOptions, Profile};
use assay_units::{Nanos, Op};
use common::{Job, command, drive, one, run};

const SECOND: u64 = 1_000_000_000;

fn options(settings: &[(&str, &str)]) -> DriveOptions {
    let mut options = DriveOptions::default();
    for (key, value) in settings {
        options.set(key, value).expect("a known option");
    }
    options
}

#[test]
fn commands_must_match_a_changed_block_size() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    assert!(
        !drive.set_logical_block_bytes(8192)
            && !drive.set_logical_block_bytes(520)
            && !drive.set_logical_block_bytes(256)
    );
    assert_eq!(drive.identity().logical_block_bytes, 512);
    assert!(drive.set_logical_block_bytes(4096));
    let status = one(&mut drive, Nanos::ZERO, command(0, Op::Read, 512, 512)).status;
    assert_eq!(status, assay_ssd::Status::InvalidField);
    assert!(one(&mut drive, Nanos::ZERO, command(0, Op::Read, 4096, 4096)).status.is_ok());
}

#[test]
fn a_host_sets_the_autonomous_transitions() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    assert_eq!(drive.autonomous_transitions(), []);
    // State 2 is operational and 9 does not exist: neither is accepted.
    let table = [(1, 2), (5, 9), (7, 4), (2, 3)].map(|(s, state)| (Nanos(s * SECOND), state));
    drive.set_autonomous_transitions(Nanos(SECOND), &table);
    assert_eq!(drive.autonomous_transitions(), [(Nanos(2 * SECOND), 3), (Nanos(7 * SECOND), 4)]);
    let done = one(&mut drive, Nanos(10 * SECOND), command(0, Op::Read, 0, 4096)).at;
    for (after_s, state) in [(1, 0), (3, 3), (8, 4)] {
        let at = Nanos(done.0 + after_s * SECOND);
        assert_eq!(drive.telemetry(at).power_state, state, "after {after_s} s");
    }
    drive.set_autonomous_transitions(Nanos(30 * SECOND), &[]);
    let woken = one(&mut drive, Nanos(31 * SECOND), command(0, Op::Read, 0, 4096)).at;
    assert!(woken.0 >= 31 * SECOND + 22_000_000, "it was asleep");
    assert_eq!(drive.telemetry(Nanos(90 * SECOND)).power_state, 0);
}

#[test]
fn coalescing_settings_are_kept_by_the_drive() {
    let read = || command(0, Op::Read, 0, 4096);
    let setting = options(&[("coalescing", "100us/4")]);
    let mut waiting = drive("samsung-951", setting.clone());
    let mut handed = drive("samsung-951", setting);
    let taken = handed.take_coalescing().expect("it was on");
    assert_eq!((taken.time_100us, taken.threshold), (1, 3));
    assert_eq!(handed.take_coalescing(), None);
    let late = one(&mut waiting, Nanos::ZERO, read()).at;
    let soon = one(&mut handed, Nanos::ZERO, read()).at;
    assert_eq!(late.0, soon.0 + 100_000);
}

/// Host controlled throttling keeps a drive that throttles at 80 C near 60 C, and is counted.
#[test]
fn host_thermal_management_throttles_the_drive() {
    let heat = |throttling: HostThrottling| {
        let mut profile = Profile::builtin("plextor-m8pe-g").unwrap();
        profile.thermal.time_constant_s.value = 5.0;
        let mut drive = assay_ssd::Drive::new(profile, DriveOptions::default()).unwrap();
        drive.set_host_throttling(Nanos::ZERO, throttling);
        let job =
            Job { op: Op::Read, random: true, threads: 8, block: 131_072, area: 8 << 30, first: 0 };
        let (bytes, end) = run(&mut drive, job, Nanos::ZERO, Nanos(60 * SECOND), u64::MAX);
        let counts = drive.host_throttling_counts();
        (bytes, drive.telemetry(end).composite_celsius, counts)
    };
    let (free_bytes, free_celsius, counts) = heat(HostThrottling::default());
    assert_eq!(counts, [(0, 0), (0, 0)]);
    assert!(free_celsius > 70, "{free_celsius}");
    let limit = f64::from(free_celsius) - 10.0;
    let (bytes, celsius, counts) =
        heat(HostThrottling { light_celsius: Some(limit - 4.0), heavy_celsius: Some(limit) });
    assert!(bytes < free_bytes, "{bytes} of {free_bytes}");
    assert!(f64::from(celsius) <= limit + HOST_HYSTERESIS_K, "{celsius} of {free_celsius}");
    assert!(counts[0].0 > 0 && counts[0].1 > 0, "{counts:?}");
}

/// Setting thresholds after an idle minute does not change that minute.
#[test]
fn setting_temperatures_keeps_earlier_idle_time() {
    let sleeper = drive("samsung-951", options(&[("apst", "on")]));
    let later = Nanos(60 * SECOND);
    let mut asked = sleeper.clone();
    asked.set_host_throttling(later, HostThrottling::default());
    let mut left_alone = sleeper;
    assert_eq!(asked.telemetry(later), left_alone.telemetry(later));
    assert_eq!(asked.telemetry(later).power_state, 4);
    assert_eq!(asked.telemetry(later).power_mw, 5);
}

#[test]
fn age_and_bad_media_are_options() {
    let drive = drive(
        "samsung-951",
        options(&[
            ("cycles", "1500"),
            ("fault", "media-error@1g+64k"),
            ("fault", "media-error@1m+4k"),
        ]),
    );
    assert_eq!((drive.age().cycles, drive.first_bad_byte()), (1500, Some(1 << 20)));
}
