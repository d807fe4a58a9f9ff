//! Report B: an hour of 4 KiB random writes at depth 32, on drives an eighth of the size for an eighth of the time.
//!
//! A superblock, its dies and the share of spare area stay as they are, so that rates and amplification do too; full hours are in
//! `docs/fidelity.md`.

mod common;

use std::sync::OnceLock;

use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{Nanos, Op, Rng};
use common::command;

const SHRINK: u32 = 8;
/// An eighth of an hour, in seconds, and of the 400 s that report B scores.
const SECONDS: usize = 450;
const SCORED: usize = 50;

/// Superblocks being filled or emptied.
const OPEN: u32 = 3;

struct Run {
    /// Writes completed in each second.
    iops: Vec<f64>,
    /// Write amplification of the scored seconds.
    amplification: f64,
    cores: f64,
    write_ns: f64,
    moved_ns: f64,
}

impl Run {
    fn scored(&self) -> &[f64] {
        &self.iops[SECONDS - SCORED..]
    }

    fn mean(&self) -> f64 {
        self.scored().iter().sum::<f64>() / SCORED as f64
    }

    fn share(&self, holds: impl Fn(f64) -> bool) -> f64 {
        let count = self.scored().iter().filter(|&&iops| holds(iops)).count();
        count as f64 / SCORED as f64
    }
}

fn shrunk(name: &str) -> Profile {
    let mut profile = Profile::builtin(name).expect("a built-in profile");
    let capacity = &mut profile.identity.capacity_bytes.value;
    *capacity = (*capacity / u64::from(SHRINK)) & !((1 << 20) - 1);
    let low = &mut profile.ftl.gc_low_superblocks.value;
    let full_low = std::mem::replace(low, 4);
    let low = *low;
    // What is free or open is not an eighth of what it was.
    let blocks = &mut profile.nand.blocks_per_plane.value;
    *blocks = (*blocks - full_low - OPEN) / SHRINK + low + OPEN;
    if let Some(high) = profile
        .gc
        .as_mut()
        .and_then(|collection| collection.high_superblocks.as_mut())
    {
        high.value = low + 2;
    }
    profile
}

fn hour(name: &str, over_provisioning_percent: Option<u8>) -> Run {
    let profile = shrunk(name);
    let (firmware, collection) = (&profile.firmware, &profile.gc);
    let unit_ns = collection.as_ref().and_then(|of| of.unit_ns.as_ref());
    let mut run = Run {
        iops: vec![0.0; SECONDS + 1],
        amplification: 0.0,
        cores: f64::from(firmware.cores.value),
        write_ns: (firmware.write_command_ns.value + firmware.write_unit_ns.value) as f64,
        moved_ns: unit_ns.expect("the collector's cost").value as f64,
    };
    let options = DriveOptions {
        over_provisioning_percent,
        ..DriveOptions::default()
    };
    let mut drive = Drive::new(profile, options).expect("a drive");
    let units = drive.identity().capacity_bytes / 4096;
    let mut rng = Rng::stream(5, "hour");
    let mut write = |tag| command(tag, Op::Write, rng.below(units) * 4096, 4096);
    for tag in 0..32 {
        drive.submit(Nanos::ZERO, write(tag));
    }
    let mut done = Vec::new();
    let mut before = None;
    while let Some(at) = drive.next_event() {
        let second = at.as_secs_f64() as usize;
        if second >= SECONDS - SCORED && before.is_none() {
            before = Some(drive.telemetry(at));
        }
        if second >= SECONDS {
            break;
        }
        drive.advance(at, &mut done);
        for completion in done.drain(..) {
            run.iops[completion.at.as_secs_f64() as usize] += 1.0;
            drive.submit(completion.at, write(completion.tag));
        }
    }
    let (before, after) = (
        before.expect("it ran so long"),
        drive.telemetry(Nanos::from_secs(SECONDS as u64)),
    );
    run.amplification = (after.nand_bytes_written - before.nand_bytes_written) as f64
        / (after.host_bytes_written - before.host_bytes_written) as f64;
    run.iops.truncate(SECONDS);
    run
}

/// When the rate has come to stay at its steady state. After the spare area is used up, collection finds superblocks that are nearly
/// full, then ever emptier ones, those that the sequential fill left too empty for long, and only then the mixture that lasts:
/// the last three seconds in a row that are well above it end the transition (an outlier is shorter).
fn settled_s(run: &Run, steady_iops: f64) -> usize {
    let above = |iops: &f64| (1.1..1.5).contains(&(iops / steady_iops));
    let last = run
        .iops
        .windows(3)
        .rposition(|seconds| seconds.iter().all(above));
    last.expect("there is a transition") + 3
}

/// The M8Pe-Y as it is sold.
fn cooled() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| hour("plextor-m8pe-y", None))
}

#[test]
fn the_m8pe_y_is_almost_constant_with_rare_outliers_upward_and_none_below() {
    let run = cooled();
    let mut sorted = run.scored().to_vec();
    sorted.sort_by(f64::total_cmp);
    // Not the mean: an outlier is as long as on the whole drive, and so weighs eight times as much here.
    let median = sorted[SCORED / 2];
    assert!((median / 22_000.0 - 1.0).abs() < 0.05, "{median}");
    assert!(run.share(|iops| iops < median * 0.95) == 0.0, "{sorted:?}");
    assert!(run.share(|iops| iops > median * 1.05) < 0.1, "{sorted:?}");
    // Over the whole run there are some, once the drive has settled.
    let from = settled_s(run, median);
    let outliers = run.iops[from + 10..]
        .iter()
        .filter(|&&iops| iops > median * 2.0);
    assert!((1..=20).contains(&outliers.count()));
}

#[test]
fn the_bare_m8pe_gn_alternates_between_two_rates_and_is_more_often_fast() {
    let (cooled, bare) = (cooled(), hour("plextor-m8pe-gn", None));
    let near = |iops: f64, rate: f64| (iops / rate - 1.0).abs() < 0.15;
    let fast = bare.share(|iops| near(iops, 18_000.0));
    let slow = bare.share(|iops| near(iops, 2_400.0));
    assert!(fast + slow > 0.75, "{fast} {slow}: {:?}", bare.scored());
    assert!(fast > slow && slow > 0.1, "{fast} {slow}");
    let gap = cooled.mean() - bare.mean();
    assert!((7_000.0..13_000.0).contains(&gap), "{gap}");
    let (soon, later) = (settled_s(cooled, 22_000.0), settled_s(&bare, 18_000.0));
    assert!(later > soon && later < soon * 3, "{soon} s and {later} s");
}

/// Spare area is the only thing that changes, and physics says what follows: less to move per write, and a rate bound by the cores' time
/// for what is written and moved.
#[test]
fn more_spare_area_gives_what_the_amplification_predicts() {
    let mut rates = Vec::new();
    for run in [cooled(), &hour("plextor-m8pe-y", Some(25))] {
        let moved = run.amplification - 1.0;
        let predicted = run.cores * 1e9 / (run.write_ns + moved * run.moved_ns);
        // The mean, as the amplification is one: seconds without collection count in both.
        let got = run.mean();
        assert!(
            (got / predicted - 1.0).abs() < 0.08,
            "{got} for {predicted}"
        );
        rates.push(got);
    }
    let gain = rates[1] / rates[0];
    assert!((3.0..6.0).contains(&gain), "{gain}");
}
