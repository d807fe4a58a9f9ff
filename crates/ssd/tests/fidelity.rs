//! Agreement with published results (`reference/`; in full in `docs/fidelity.md`). The bounds are
//! what has been reached: a less accurate model fails here.

use crate::common;

use assay_ssd::published::{ReadBandwidth, read_bandwidths};
use assay_ssd::{Drive, DriveOptions, Telemetry};
use assay_units::rate::mib_per_second;
use assay_units::{GIB, MIB, Nanos, Op};
use common::{Job, command, drive, one, run};

const AREA: u64 = 16 * GIB;

/// Bounds of one drive's read bandwidth errors in per cent.
struct Reached {
    name: &'static str,
    random_median: f64,
    random_worst: f64,
    sequential_worst: f64,
}

const REACHED: [Reached; 7] = [
    Reached { name: "samsung-951", random_median: 2.0, random_worst: 5.0, sequential_worst: 2.0 },
    Reached { name: "intel-600p", random_median: 2.5, random_worst: 5.0, sequential_worst: 10.0 },
    Reached {
        name: "samsung-960-evo",
        random_median: 3.0,
        // Reads of 256 KiB, which are two of 128 KiB here and 13 % faster in reality.
        random_worst: 12.0,
        sequential_worst: 10.0,
    },
    Reached { name: "toshiba-rd400", random_median: 2.5, random_worst: 8.0, sequential_worst: 2.0 },
    Reached { name: "wd-black", random_median: 3.0, random_worst: 10.0, sequential_worst: 10.0 },
    Reached {
        name: "mydigitalssd-bpx",
        random_median: 2.5,
        random_worst: 6.0,
        sequential_worst: 5.0,
    },
    Reached {
        name: "plextor-m8pe-g",
        random_median: 3.5,
        random_worst: 9.0,
        sequential_worst: 10.0,
    },
];

fn reads(random: bool, threads: u32, block: u32) -> Job {
    Job { op: Op::Read, random, threads, block, area: AREA, first: 0 }
}

/// Error of a cell in per cent.
fn error_pct(name: &str, cell: &ReadBandwidth) -> f64 {
    let mut drive = drive(name, DriveOptions::default());
    let job = reads(cell.random, cell.threads, cell.block_bytes);
    let fewer = u64::from(cell.block_bytes / 8192).clamp(1, 8);
    let commands = (12_000 / fewer).max(u64::from(cell.threads) * 25);
    let (bytes, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, commands);
    cell.error_pct(mib_per_second(bytes, end))
}

#[test]
fn read_bandwidth_errors_do_not_grow() {
    for reached in &REACHED {
        let name = reached.name;
        let mut random = Vec::new();
        for cell in read_bandwidths(name) {
            let error = error_pct(name, &cell).abs();
            if !cell.random {
                let worst = reached.sequential_worst;
                assert!(error <= worst, "{name}, {cell:?}: {error:.1} %");
                continue;
            }
            random.push(error);
            let worst = reached.random_worst;
            assert!(error <= worst, "{name}, {cell:?}: {error:.1} %");
        }
        assert!(random.len() >= 10, "{name}: {} cells", random.len());
        random.sort_by(f64::total_cmp);
        let median = random[random.len() / 2];
        assert!(median <= reached.random_median, "{name}: median {median:.1} %");
    }
}

/// MB/s of sequential writing, one 128 KiB write in flight, from `first` on for `bytes`; and when
/// it ended.
fn write(drive: &mut Drive, now: Nanos, first: u64, bytes: u64) -> (f64, Nanos) {
    let job = Job { op: Op::Write, first, ..reads(false, 1, 131_072) };
    let (moved, end) = run(drive, job, now, Nanos::MAX, bytes / 131_072);
    (moved as f64 / (end - now).as_secs_f64() / 1e6, end)
}

/// "WD Black 233, BPX 701, M8Pe(G) 656, steady".
#[test]
fn steady_writers_write_steadily_at_the_published_rate() {
    for (name, published) in
        [("wd-black", 233.0), ("mydigitalssd-bpx", 701.0), ("plextor-m8pe-g", 656.0)]
    {
        let mut drive = drive(name, DriveOptions::default());
        let mut now = Nanos::ZERO;
        for gib in 0..6 {
            let rate;
            (rate, now) = write(&mut drive, now, gib * GIB, GIB);
            let error = rate / published - 1.0;
            assert!(error.abs() < 0.05, "{name}, GiB {gib}: {rate:.0} MB/s for {published}");
        }
    }
}

/// AT10833p1: 1,500 MB/s into 13 GB of cache, then 300 MB/s.
#[test]
fn the_960_evo_writes_into_its_cache_and_then_at_the_rate_of_its_flash() {
    let mut drive = drive("samsung-960-evo", DriveOptions::default());
    let (mut now, mut cached) = (Nanos::ZERO, 0);
    let mut rates = Vec::new();
    for piece in 0..64 {
        let rate;
        (rate, now) = write(&mut drive, now, piece * 256 * MIB, 256 * MIB);
        cached += if rate > 700.0 { 256 * MIB } else { 0 };
        rates.push(rate);
    }
    let cached_gb = cached as f64 / 1e9;
    assert!((12.0..14.0).contains(&cached_gb), "{cached_gb} GB");
    let full = rates[60..].iter().sum::<f64>() / 4.0;
    assert!((285.0..315.0).contains(&full), "{full} MB/s");
}

/// "960 EVO gives about 3215 MiB/s (102,900 reads/s of 32 KiB) where incompressible data gives
/// about 1030": the number of threads is not stated; 64 for both.
#[test]
fn zeroed_data_never_touches_the_960_evos_flash() {
    let mut drive = drive("samsung-960-evo", DriveOptions::default());
    let (bytes, written) =
        run(&mut drive, reads(true, 64, 32_768), Nanos::ZERO, Nanos::MAX, 16_000);
    let data = mib_per_second(bytes, written);
    let zero = one(
        &mut drive,
        written,
        assay_ssd::Command {
            data: assay_units::DataClass::Zero,
            ..command(0, Op::Write, 0, 1 << 30)
        },
    );
    let mut job = reads(true, 64, 32_768);
    job.area = GIB;
    let (bytes, end) = run(&mut drive, job, zero.at, Nanos::MAX, 20_000);
    let zeroed = mib_per_second(bytes, end - zero.at);
    assert!((data / 1030.0 - 1.0).abs() < 0.1, "{data} MiB/s");
    assert!((zeroed / 3215.0 - 1.0).abs() < 0.05, "{zeroed} MiB/s");
}

/// Random 64 KiB reads with 64 threads: rate and health per second.
fn soak(name: &str, seconds: u64) -> Vec<(f64, Telemetry)> {
    let mut drive = drive(name, DriveOptions::default());
    let mut now = Nanos::ZERO;
    (1..=seconds)
        .map(|second| {
            let start = now;
            let until = Nanos::from_secs(second);
            let bytes;
            (bytes, now) = run(&mut drive, reads(true, 64, 65_536), now, until, u64::MAX);
            (mib_per_second(bytes, now - start), drive.telemetry(now.max(until)))
        })
        .collect()
}

fn near(what: &str, value: f64, published: f64, share: f64) {
    let error = value / published - 1.0;
    assert!(error.abs() <= share, "{what}: {value:.0} for {published:.0}");
}

/// "62 C (second sensor 88 C), full speed"; "81 C, not flagged, not throttled"; "slow ramp to 72 C,
/// no throttling".
#[test]
fn unthrottled_drives_reach_the_published_temperature() {
    for (name, seconds, celsius, second_sensor) in
        [("samsung-960-evo", 300, 62, Some(88)), ("toshiba-rd400", 300, 81, None)]
    {
        let soaked = soak(name, seconds);
        let (rate, health) = &soaked[soaked.len() - 1];
        assert!(health.composite_celsius.abs_diff(celsius) <= 2, "{name}: {health:?}");
        if let Some(second) = second_sensor {
            assert!(health.sensors[0].abs_diff(second) <= 2, "{name}: {health:?}");
        }
        assert_eq!((health.throttled_time_s, health.warning_time_s), (0, 0));
        near(name, *rate, soaked[0].0, 0.02);
    }
}

/// "slow ramp to 72 C, no throttling after 10 min at 1.4 GB/s": the ramp's first minutes, against
/// the exponential they imply.
#[test]
fn the_wd_black_warms_slowly() {
    let soaked = soak("wd-black", 150);
    let first = soaked[0].1.composite_celsius;
    let last = &soaked[149];
    // After one time constant of the board, 63 % of the way from 41 to 72 C.
    assert!((40..=42).contains(&first), "{first} C");
    assert!((59..=63).contains(&last.1.composite_celsius), "{:?}", last.1);
    assert_eq!(last.1.throttled_time_s, 0);
    near("MiB/s", last.0, 1.4e9 / MIB as f64, 0.10);
}

/// "At 77 C falls from ~1400 to 177 MiB/s for ~10 s, back for ~30 s, repeating", after a slow ramp
/// and below its warning.
#[test]
fn the_m8pe_g_falls_to_177_for_ten_seconds_and_recovers_for_thirty() {
    let soaked = soak("plextor-m8pe-g", 270);
    let slow = |rate: f64| rate < 1000.0;
    let stretches: Vec<(bool, usize)> = soaked
        .chunk_by(|a, b| slow(a.0) == slow(b.0))
        .map(|stretch| (slow(stretch[0].0), stretch.len()))
        .collect();
    assert!(!stretches[0].0 && stretches[0].1 > 120, "{stretches:?}");
    let whole = &stretches[1..stretches.len() - 1];
    assert!(whole.len() >= 3, "{stretches:?}");
    for &(slow, seconds) in whole {
        // Whole seconds, so one more or less.
        let range = if slow { 8..=13 } else { 24..=37 };
        assert!(range.contains(&seconds), "{stretches:?}");
    }
    let cool = soaked[0].0;
    near("cool", cool, 1400.0, 0.1);
    let slowest = soaked.iter().map(|s| s.0).fold(f64::MAX, f64::min);
    near("throttled", slowest, 177.0, 0.1);
    let hottest = soaked.iter().map(|s| s.1.composite_celsius).max();
    assert!((75..=78).contains(&hottest.unwrap_or(0)), "{hottest:?}");
    assert_eq!(soaked[soaked.len() - 1].1.warning_time_s, 0);
}

/// "Throttles from ~2300 to ~1450 MiB/s at 80 C, then ~1160 at 100 C; not flagged".
#[test]
fn the_bpx_throttles_in_two_steps() {
    let soaked = soak("mydigitalssd-bpx", 200);
    let at = |celsius| soaked.iter().position(|(_, health)| health.composite_celsius >= celsius);
    let (warm, hot) = (at(80).expect("80 C"), at(99).expect("99 C"));
    assert!(warm > 5 && hot > warm + 15, "{warm} {hot}");
    let mean = |range: &[(f64, Telemetry)]| {
        range.iter().map(|second| second.0).sum::<f64>() / range.len() as f64
    };
    near("cool", mean(&soaked[..warm - 1]), 2300.0, 0.1);
    near("from 80 C", mean(&soaked[warm + 2..hot - 3]), 1450.0, 0.1);
    near("from 100 C", mean(&soaked[soaked.len() - 20..]), 1160.0, 0.1);
    let last = &soaked[soaked.len() - 1].1;
    assert!((98..=102).contains(&last.composite_celsius), "{last:?}");
    assert_eq!((last.warning_time_s, last.critical_time_s), (0, 0));
    assert_eq!((&soaked[0].1.sensors[..], &last.sensors[..]), (&[105][..], &[105][..]));
}
