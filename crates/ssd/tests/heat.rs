//! Heat follows work: directions that hold on every drive, whatever its numbers.

use crate::common;

use assay_ssd::{Drive, DriveError, DriveOptions, Profile, Telemetry};
use assay_units::{GIB, Nanos, Op, Rng};
use common::{Job, command, drive, run};

/// The smaller drive of the M8Pe family with its over-provisioning share, at a sixteenth of its
/// size.
fn small(spare_percent: Option<u8>) -> Drive {
    let mut profile = Profile::builtin("plextor-m8pe-gn").expect("a built-in profile");
    let capacity = &mut profile.identity.capacity_bytes.value;
    *capacity = (*capacity / 16) & !((1 << 20) - 1);
    profile.ftl.gc_low_superblocks.value = 3;
    profile.gc = None;
    let blocks = &mut profile.nand.blocks_per_plane.value;
    *blocks = *blocks / 16 + 8;
    // Steady in seconds.
    profile.thermal.speed_up(100.0);
    let options =
        DriveOptions { over_provisioning_percent: spare_percent, ..DriveOptions::default() };
    Drive::new(profile, options).expect("a drive")
}

/// Random writes of 4 KiB at a fixed rate, once over twice the capacity: health at the end.
fn written(spare_percent: Option<u8>) -> Telemetry {
    let mut drive = small(spare_percent);
    let units = drive.identity().capacity_bytes / 4096;
    // As many host bytes for both, at a rate that both hold.
    let (count, every_ns) = (12_000_000_u64, 100_000);
    let mut rng = Rng::stream(7, "fixed rate");
    let mut done = Vec::new();
    for n in 0..count {
        let at = Nanos(n * every_ns);
        drive.submit(at, command(0, Op::Write, rng.below(units) * 4096, 4096));
        drive.advance(at, &mut done);
        done.clear();
    }
    drive.telemetry(Nanos(count * every_ns))
}

#[test]
fn the_same_bytes_with_more_relocation_are_hotter() {
    let (none, spare) = (written(None), written(Some(25)));
    assert_eq!(none.host_bytes_written, spare.host_bytes_written);
    let amplified = none.nand_bytes_written as f64 / spare.nand_bytes_written as f64;
    assert!(amplified > 2.0, "{amplified}");
    assert!(
        none.composite_celsius > spare.composite_celsius + 3,
        "{} and {} C",
        none.composite_celsius,
        spare.composite_celsius
    );
    assert!(none.energy_uj > spare.energy_uj);
}

/// The controller's sensor rises above the flash's with the power.
#[test]
fn a_sensors_distance_follows_the_power_of_its_node() {
    let mut drive = drive("samsung-960-evo", DriveOptions::default());
    let apart = |health: &Telemetry| health.sensors[0] - health.composite_celsius;
    let idle = apart(&drive.telemetry(Nanos::ZERO));
    let job =
        Job { op: Op::Read, random: true, threads: 64, block: 65_536, area: 16 * GIB, first: 0 };
    let busy_until = Nanos::from_secs(60);
    run(&mut drive, job, Nanos::ZERO, busy_until, u64::MAX);
    let busy = apart(&drive.telemetry(busy_until));
    assert!((5..=12).contains(&idle) && busy > 2 * idle, "{idle} K and {busy} K");
    let rested = apart(&drive.telemetry(Nanos::from_secs(2000)));
    assert!(rested.abs_diff(idle) <= 1, "{rested} K");
}

#[test]
fn a_heat_sink_that_the_profile_lacks_is_refused() {
    let options = DriveOptions { heat_sink: Some(true), ..DriveOptions::default() };
    let profile = Profile::builtin("samsung-951").expect("a built-in profile");
    let error = Drive::new(profile, options).unwrap_err();
    assert!(matches!(error, DriveError::NoHeatSink { .. }), "{error}");
    assert!(error.to_string().contains("[thermal.heat_sink]"), "{error}");
}
