//! Published behaviour of the modelled drives (DragonFly NVMe tests), within this version's
//! tolerances.

use crate::common;

use assay_ssd::{Command, Drive, DriveOptions, InitialState, Profile, Provenance, Sourced};
use assay_units::rate::mib_per_second;
use assay_units::{GIB, MIB, Nanos, Op};
use common::{Job, command, drive, one, run};

fn read_rate(name: &str, random: bool, threads: u32, block: u32) -> f64 {
    let mut drive = drive(name, DriveOptions::default());
    let job = Job { op: Op::Read, random, threads, block, area: 16 * GIB, first: 0 };
    let (bytes, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, 10_000);
    mib_per_second(bytes, end)
}

/// Cells of random_read_bandwidth.csv.
#[test]
fn random_read_bandwidth_is_within_ten_percent_of_the_published() {
    for (name, threads, block, published) in [
        ("samsung-951", 16, 512, 81.0),
        ("samsung-951", 16, 4096, 635.0),
        ("samsung-951", 16, 16_384, 1245.0),
        ("samsung-951", 16, 32_768, 1465.0),
        ("samsung-951", 64, 512, 133.0),
        ("samsung-951", 64, 4096, 1070.0),
        ("samsung-951", 64, 8192, 1661.0),
        ("samsung-951", 64, 32_768, 1660.0),
        ("samsung-951", 64, 65_536, 1410.0),
        ("samsung-951", 64, 262_144, 1407.0),
        ("intel-600p", 16, 512, 23.0),
        ("intel-600p", 16, 4096, 180.0),
        ("intel-600p", 64, 4096, 180.0),
        ("intel-600p", 16, 16_384, 570.0),
        ("intel-600p", 64, 65_536, 865.0),
        ("intel-600p", 16, 262_144, 945.0),
    ] {
        let rate = read_rate(name, true, threads, block);
        let error = rate / published - 1.0;
        assert!(error.abs() < 0.10, "{name}, {threads} x {block}: {rate:.0} MiB/s for {published}");
    }
}

/// Cells of sequential_read_bandwidth.csv.
#[test]
fn sequential_read_bandwidth_is_within_ten_percent_of_the_published() {
    for (name, threads, block, published) in [
        ("samsung-951", 1, 65_536, 1090.0),
        ("intel-600p", 1, 65_536, 220.0),
        ("intel-600p", 1, 131_072, 350.0),
        ("intel-600p", 2, 65_536, 430.0),
        ("intel-600p", 3, 65_536, 544.0),
        ("intel-600p", 4, 65_536, 715.0),
    ] {
        let rate = read_rate(name, false, threads, block);
        let error = rate / published - 1.0;
        assert!(error.abs() < 0.10, "{name}, {threads} x {block}: {rate:.0} MiB/s for {published}");
    }
}

/// "170 at first, then 20 for long periods once the SLC front end is full": 16 GiB of sequential
/// writing, one in flight.
#[test]
fn the_600p_slows_down_when_its_slc_cache_is_full() {
    let mut drive = drive("intel-600p", DriveOptions::default());
    let job =
        Job { op: Op::Write, random: false, threads: 1, block: 65_536, area: 16 * GIB, first: 0 };
    let mut now = Nanos::ZERO;
    let mut rates = Vec::new();
    for gib in 0..10 {
        let job = Job { first: gib * GIB, ..job };
        let (bytes, end) = run(&mut drive, job, now, Nanos::MAX, GIB / 65_536);
        rates.push(bytes as f64 / (end - now).as_secs_f64() / 1e6);
        now = end;
    }
    assert!((155.0..185.0).contains(&rates[0]), "{rates:?}");
    assert!((155.0..185.0).contains(&rates[6]), "{rates:?}");
    assert!((18.0..22.0).contains(&rates[9]), "{rates:?}");
    // After ten idle minutes the cache is empty again.
    now += Nanos::from_secs(600);
    let (bytes, end) = run(&mut drive, job, now, Nanos::MAX, GIB / 65_536);
    let rested = bytes as f64 / (end - now).as_secs_f64() / 1e6;
    assert!((155.0..185.0).contains(&rested), "{rested}");
}

/// "flags TOO_HOT and throttles at 74-75 C within 40 s of random read; warn_temp_time counts".
#[test]
fn the_600p_throttles_within_forty_seconds() {
    let mut drive = drive("intel-600p", DriveOptions::default());
    let job =
        Job { op: Op::Read, random: true, threads: 16, block: 131_072, area: 16 * GIB, first: 0 };
    let (mut now, mut throttled_at, mut hottest) = (Nanos::ZERO, None, 0);
    let mut rates = Vec::new();
    for second in 1..=80 {
        let start = now;
        let bytes;
        (bytes, now) = run(&mut drive, job, now, Nanos::from_secs(second), u64::MAX);
        rates.push(mib_per_second(bytes, now - start));
        let health = drive.telemetry(now);
        hottest = hottest.max(health.composite_celsius);
        if health.throttled && throttled_at.is_none() {
            throttled_at = Some(second);
        }
    }
    let at = throttled_at.expect("it throttles");
    assert!((20..=40).contains(&at), "throttled after {at} s");
    assert!((74..=75).contains(&hottest), "{hottest} C");
    // The published sweep ran for longer than 40 s and does not show it: throttling must cost
    // little on average.
    let cool: f64 = rates[..20].iter().sum::<f64>() / 20.0;
    let hot: f64 = rates[60..].iter().sum::<f64>() / 20.0;
    assert!((0.90..0.98).contains(&(hot / cool)), "{hot} of {cool} MiB/s");
    let health = drive.telemetry(now);
    assert!((40..80).contains(&health.warning_time_s), "{health:?}");
    assert!(health.power_mw > 2_000 && health.power_mw < 9_000, "{health:?}");
    // It cools down while idle.
    let rested = drive.telemetry(now + Nanos::from_secs(300));
    assert!(rested.composite_celsius < 45 && !rested.throttled, "{rested:?}");
}

/// "76 C after 2 min, full speed".
#[test]
fn the_951_reaches_76_degrees_in_two_minutes() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    let job =
        Job { op: Op::Read, random: true, threads: 16, block: 131_072, area: 16 * GIB, first: 0 };
    let (_, end) = run(&mut drive, job, Nanos::ZERO, Nanos::from_secs(120), u64::MAX);
    let health = drive.telemetry(end);
    assert!((75..=77).contains(&health.composite_celsius), "{health:?}");
    assert!(!health.throttled && health.warning_time_s == 0, "{health:?}");
}

#[test]
fn unwritten_and_deallocated_areas_never_touch_flash() {
    let mut fresh = drive(
        "samsung-951",
        DriveOptions { state: InitialState::Fresh, ..DriveOptions::default() },
    );
    let unwritten = one(&mut fresh, Nanos::ZERO, command(0, Op::Read, 0, 4096)).at;
    let mut filled = drive("samsung-951", DriveOptions::default());
    let written = one(&mut filled, Nanos::ZERO, command(0, Op::Read, 0, 4096)).at;
    assert!(unwritten + Nanos::from_micros(30) < written);
    let at = one(&mut filled, written, command(0, Op::Discard, 0, 1 << 20)).at;
    let deallocated = one(&mut filled, at, command(0, Op::Read, 0, 4096)).at - at;
    assert_eq!(deallocated, unwritten);
}

#[test]
fn writes_are_acknowledged_early_and_a_flush_waits_for_flash() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    let write = one(&mut drive, Nanos::ZERO, command(0, Op::Write, 0, 4096)).at;
    assert!(write < Nanos::from_micros(60), "{write}");
    let read = one(&mut drive, write, command(0, Op::Read, 0, 4096)).at - write;
    assert!(read < Nanos::from_micros(30), "from the buffer: {read}");
    let at = write + read;
    let flush = one(&mut drive, at, command(0, Op::Flush, 0, 0)).at - at;
    assert!(flush > Nanos::from_micros(500), "{flush}");
    let at = at + flush;
    let again = one(&mut drive, at, command(0, Op::Flush, 0, 0)).at - at;
    assert!(again < Nanos::from_micros(50), "nothing left: {again}");
}

/// A write with FUA takes as long as the write and the flush of it, less the second command; under
/// capacitors, and in media written in place, as long as any write. Of Write Zeroes, what is
/// deallocated needs no program.
#[test]
fn a_write_with_fua_waits_for_flash() {
    let fua = |io| Command { fua: true, ..io };
    let fresh = || drive("samsung-951", DriveOptions::default());
    let plain = command(0, Op::Write, 0, 4096);
    let forced = one(&mut fresh(), Nanos::ZERO, fua(plain)).at;
    let mut two = fresh();
    let written = one(&mut two, Nanos::ZERO, plain).at;
    let flushed = one(&mut two, written, command(0, Op::Flush, 0, 0)).at;
    assert!(forced > Nanos::from_micros(500) && forced < flushed, "{forced}, {flushed}");
    // Nothing is left for a flush, and the flash that is programmed is the same.
    let mut three = fresh();
    let at = one(&mut three, Nanos::ZERO, fua(plain)).at;
    let again = one(&mut three, at, command(0, Op::Flush, 0, 0)).at - at;
    assert!(again < Nanos::from_micros(50), "nothing left: {again}");
    let programmed = |drive: &mut Drive| drive.telemetry(Nanos::from_secs(1)).nand_bytes_written;
    assert_eq!(programmed(&mut three), programmed(&mut two));

    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.buffer.power_loss_protected =
        Some(Sourced { value: true, provenance: Provenance::Assumed, source: "a test".to_owned() });
    let mut protected = Drive::new(profile, DriveOptions::default()).expect("a drive");
    assert_eq!(one(&mut protected, Nanos::ZERO, fua(plain)).at, written);
    let in_place = |io| {
        let mut drive = drive("intel-optane-memory-32gb", DriveOptions::default());
        one(&mut drive, Nanos::ZERO, io).at
    };
    assert_eq!(in_place(fua(plain)), in_place(plain));

    let zeroes = command(0, Op::WriteZeroes, 0, 1 << 20);
    let plain = one(&mut fresh(), Nanos::ZERO, zeroes).at;
    assert_eq!(one(&mut fresh(), Nanos::ZERO, fua(zeroes)).at, plain);
}

/// Assumed for the 951 (half the 950 PRO 256 GB): 450 MB/s of sequential writing, bound by its
/// dies.
#[test]
fn sequential_writing_is_bound_by_the_dies() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    let job =
        Job { op: Op::Write, random: false, threads: 4, block: 131_072, area: 16 * GIB, first: 0 };
    let (bytes, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, 32_768);
    let rate = bytes as f64 / end.as_secs_f64() / 1e6;
    assert!((380.0..460.0).contains(&rate), "{rate} MB/s");
}

/// Random overwriting beyond the over-provisioning continues at a steady amplification.
#[test]
fn random_overwriting_reaches_a_steady_state() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    let job =
        Job { op: Op::Write, random: true, threads: 32, block: 4096, area: 8 * GIB, first: 0 };
    let mut now = Nanos::ZERO;
    let mut written = 0;
    let mut amplification = Vec::new();
    for _ in 0..4 {
        let (_, end) = run(&mut drive, job, now, Nanos::MAX, 2_000_000);
        now = end;
        let total = drive.telemetry(now).nand_bytes_written;
        amplification.push((total - written) as f64 / (2_000_000.0 * 4096.0));
        written = total;
    }
    assert!(amplification.iter().all(|&wa| (1.0..4.0).contains(&wa)), "{amplification:?}");
}

#[test]
fn a_long_read_is_split_and_completes_once() {
    let mut drive = drive("samsung-951", DriveOptions::default());
    let long = one(&mut drive, Nanos::ZERO, command(0, Op::Read, 0, 4 << 20)).at;
    let rate = mib_per_second(4 * MIB, long);
    assert!((1000.0..1600.0).contains(&rate), "{rate}");
}
