//! Background work of idle drives: schedule, energy, and independence of polling.

use crate::common;

use assay_ssd::{Command, Drive, DriveOptions, Telemetry};
use assay_units::{GIB, Nanos, Op};
use common::{Job, command, drive, one, run};

const SECOND: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

fn with(name: &str, settings: &[(&str, &str)]) -> Drive {
    let mut options = DriveOptions::default();
    for (key, value) in settings {
        options.set(key, value).expect("a known option");
    }
    drive(name, options)
}

/// A drive whose SLC cache holds `bytes` of sequential writes, and the last acknowledgement.
fn written(name: &str, settings: &[(&str, &str)], bytes: u64) -> (Drive, Nanos) {
    let mut drive = with(name, settings);
    let job =
        Job { op: Op::Write, random: false, threads: 1, block: 1 << 20, area: 16 * GIB, first: 0 };
    let (_, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, bytes / MIB);
    (drive, end)
}

fn read(tag: u32, place: u64) -> Command {
    command(tag, Op::Read, place << 30, 4096)
}

/// Latencies of consecutive reads from `at` on.
fn reads(drive: &mut Drive, mut at: Nanos, count: u64) -> Vec<Nanos> {
    (0..count)
        .map(|n| {
            let done = one(drive, at, read(0, n % 16));
            let latency = done.at - at;
            at = done.at;
            latency
        })
        .collect()
}

#[test]
fn folding_power_is_not_charged_to_the_next_command() {
    let (mut drive, end) = written("samsung-960-evo", &[("ps", "2")], 2 * GIB);
    let rested = end + Nanos(60 * SECOND);
    let latencies = reads(&mut drive, rested, 64);
    let worst = latencies.iter().max().unwrap();
    assert!(*worst < Nanos::from_millis(1), "{worst}");
    let after = drive.telemetry(rested + Nanos(SECOND));
    let most_mw = drive.identity().power_states[2].max_mw;
    assert!(after.power_mw <= most_mw, "{} mW", after.power_mw);
}

#[test]
fn an_idle_drive_shows_its_folding_and_its_heat_while_it_folds() {
    let (mut drive, end) = written("samsung-960-evo", &[], 2 * GIB);
    let (relocated, power) = {
        let begun = drive.telemetry(end + Nanos(SECOND / 2));
        (begun.relocated_bytes, drive.profile().power.clone())
    };
    let looks: Vec<Telemetry> =
        (2..=40).map(|tenths| drive.telemetry(end + Nanos(tenths * SECOND / 2))).collect();
    let folding: Vec<&Telemetry> = looks
        .windows(2)
        .filter(|pair| pair[1].relocated_bytes > pair[0].relocated_bytes)
        .map(|pair| &pair[1])
        .collect();
    assert!(folding.len() > 2, "{}", folding.len());
    for telemetry in &folding[..folding.len() - 1] {
        assert!(telemetry.power_mw > power.idle_mw.value);
    }
    let last = looks.last().unwrap();
    assert_eq!(last.power_mw, power.idle_mw.value);
    // All except the open superblock.
    let folded = last.relocated_bytes - relocated;
    assert!((GIB * 7 / 4..=2 * GIB).contains(&folded), "{folded}");
    // Conservation: idle power, and sense, decoding, two transfers and program of relocated data.
    let (first, moved) = (&looks[0], last.relocated_bytes - looks[0].relocated_bytes);
    let span_ns = last.energy_until.0 - first.energy_until.0;
    let idle_uj = u128::from(span_ns) * u128::from(power.idle_mw.value) / 1_000_000;
    let page_bytes = drive.profile().nand.page_bytes.value;
    let nand = &drive.profile().nand;
    let kib = |nj: &Option<assay_ssd::Sourced<u64>>| nj.as_ref().expect("in its profile").value;
    // Whole senses of SLC: every plane of a die.
    let sense_page_nj = kib(&power.sense_nj) / u64::from(nand.planes.value);
    let array_nj = sense_page_nj + power.program_page_nj.value;
    let kib_nj = kib(&power.decode_kib_nj) + 2 * kib(&power.flash_transfer_kib_nj);
    let moves_uj = (moved / page_bytes * array_nj + (moved >> 10) * kib_nj) / 1000;
    let used_uj = last.energy_uj - first.energy_uj;
    let expected_uj = idle_uj as u64 + moves_uj;
    assert!(used_uj.abs_diff(expected_uj) <= expected_uj / 100, "{used_uj} of {expected_uj}");
}

/// Polling changes nothing: same completions, flash state, energy and temperature.
#[test]
fn reading_telemetry_changes_nothing() {
    let settings: [&[(&str, &str)]; 4] =
        [&[], &[("ps", "2")], &[("apst", "on")], &[("map_cache", "1m")]];
    for settings in settings {
        let (mut seen, end) = written("samsung-960-evo", settings, GIB);
        let mut alone = seen.clone();
        let rests = [1_013, 1_400, 700, 3_777, 20_000];
        let mut at = end;
        for (n, rest_ms) in (0..).zip(rests) {
            let begun = at;
            at += Nanos::from_millis(rest_ms);
            for look in 1..=17 {
                seen.telemetry(begun + Nanos(rest_ms * look * 1_000_000 / 17));
            }
            let op = if n % 2 == 0 { Op::Read } else { Op::Write };
            let next = command(0, op, n << 30, 1 << 20);
            let (of_seen, of_alone) = (one(&mut seen, at, next), one(&mut alone, at, next));
            assert_eq!(of_seen, of_alone, "{settings:?}");
            at = of_seen.at;
        }
        let later = at + Nanos(30 * SECOND);
        assert_eq!(seen.telemetry(later), alone.telemetry(later));
        assert_eq!(seen.digest(), alone.digest());
    }
}

/// Selecting a power state, the current one or another, does not end the preceding idle period
/// early.
#[test]
fn idle_work_is_kept_across_power_state_changes_and_power_loss() {
    let (rested, end) = written("samsung-960-evo", &[], GIB);
    let later = end + Nanos(60 * SECOND);
    let mut expected = rested.clone();
    let moved = expected.telemetry(later).relocated_bytes;
    assert!(moved > GIB / 2, "{moved}");
    for state in [0, 1] {
        let mut drive = rested.clone();
        drive.set_power_state(later, state).unwrap();
        assert_eq!(drive.telemetry(later).relocated_bytes, moved, "{state}");
    }
    let mut drive = rested.clone();
    drive.power_loss(later);
    assert_eq!(drive.telemetry(later).relocated_bytes, moved);
    let mut drive = rested.clone();
    drive.surprise_removal(later);
    assert_eq!(drive.telemetry(later).relocated_bytes, moved);
    // Repeated selection does not prevent background work.
    let mut drive = rested;
    for tenths in 1..600 {
        let at = end + Nanos(tenths * SECOND / 10);
        drive.set_power_state(at, 0).unwrap();
    }
    assert_eq!(drive.telemetry(later).relocated_bytes, moved);
}
