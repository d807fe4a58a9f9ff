//! AnandTech M8Pe (performance consistency): an hour of 4 KiB random writes at depth 32, scaled to
//! an eighth of size and time.
//!
//! Superblock, dies and over-provisioning share are unchanged, and so are rates and amplification;
//! full hours are in `docs/fidelity.md`.

use crate::common;

use std::sync::OnceLock;

use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{Nanos, Op, Rng};
use common::command;

const SHRINK: u32 = 8;
/// An eighth of an hour and of the 400 s that the review scores, in seconds.
const SECONDS: usize = 450;
const SCORED: usize = 50;
/// Several changes between the fast and the slow state.
const STATES: usize = 150;

/// Superblocks being filled or emptied.
const OPEN: u32 = 3;

struct Run {
    /// Writes completed in each second.
    iops: Vec<f64>,
    /// Write amplification of the scored seconds.
    amplification: f64,
    /// Highest composite temperature of a second, in Celsius.
    hottest: i32,
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
        share_of(self.scored(), holds)
    }
}

fn share_of(seconds: &[f64], holds: impl Fn(f64) -> bool) -> f64 {
    seconds.iter().filter(|&&iops| holds(iops)).count() as f64 / seconds.len() as f64
}

fn shrunk(name: &str) -> Profile {
    let mut profile = Profile::builtin(name).expect("a built-in profile");
    let capacity = &mut profile.identity.capacity_bytes.value;
    *capacity = (*capacity / u64::from(SHRINK)) & !((1 << 20) - 1);
    let low = &mut profile.ftl.gc_low_superblocks.value;
    let full_low = std::mem::replace(low, 4);
    let low = *low;
    // Free and open superblocks do not scale.
    let blocks = &mut profile.nand.blocks_per_plane.value;
    *blocks = (*blocks - full_low - OPEN) / SHRINK + low + OPEN;
    if let Some(high) =
        profile.gc.as_mut().and_then(|collection| collection.high_superblocks.as_mut())
    {
        high.value = low + 2;
    }
    profile
}

fn hour(name: &str, over_provisioning_percent: Option<u8>) -> Run {
    hour_with(name, |options| {
        options.over_provisioning_percent = over_provisioning_percent;
    })
}

fn hour_with(name: &str, set: impl Fn(&mut DriveOptions)) -> Run {
    let profile = shrunk(name);
    let (firmware, collection) = (&profile.firmware, &profile.gc);
    let unit_ns = collection.as_ref().and_then(|of| of.unit_ns.as_ref());
    let mut run = Run {
        iops: vec![0.0; SECONDS + 1],
        amplification: 0.0,
        hottest: 0,
        cores: f64::from(firmware.cores.value),
        write_ns: (firmware.write_command_ns.value + firmware.write_unit_ns.value) as f64,
        moved_ns: unit_ns.expect("the collector's cost").value as f64,
    };
    let mut options = DriveOptions::default();
    set(&mut options);
    let mut drive = Drive::new(profile, options).expect("a drive");
    let units = drive.identity().capacity_bytes / 4096;
    let mut rng = Rng::stream(5, "hour");
    let mut write = |tag| command(tag, Op::Write, rng.below(units) * 4096, 4096);
    for tag in 0..32 {
        drive.submit(Nanos::ZERO, write(tag));
    }
    let mut done = Vec::new();
    let (mut before, mut read_s) = (None, 0);
    while let Some(at) = drive.next_event() {
        let second = at.as_secs_f64() as usize;
        if second > read_s {
            read_s = second;
            run.hottest = run.hottest.max(drive.telemetry(at).composite_celsius);
        }
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
    let (before, after) =
        (before.expect("it ran so long"), drive.telemetry(Nanos::from_secs(SECONDS as u64)));
    run.amplification = (after.nand_bytes_written - before.nand_bytes_written) as f64
        / (after.host_bytes_written - before.host_bytes_written) as f64;
    run.iops.truncate(SECONDS);
    run
}

/// Begin of the steady state. Once over-provisioning is used up, victims are nearly full, then
/// emptier than usual (from the sequential fill): the transition ends with the last three
/// consecutive seconds well above the final rate (outliers are shorter).
fn settled_s(run: &Run, steady_iops: f64) -> usize {
    let above = |iops: &f64| (1.1..1.5).contains(&(iops / steady_iops));
    let last = run.iops.windows(3).rposition(|seconds| seconds.iter().all(above));
    last.expect("there is a transition") + 3
}

/// The M8Pe-Y.
fn cooled() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| hour("plextor-m8pe-y", None))
}

#[test]
fn the_m8pe_y_is_nearly_constant_with_rare_upward_outliers() {
    let run = cooled();
    let mut sorted = run.scored().to_vec();
    sorted.sort_by(f64::total_cmp);
    // Median: outliers are as long as on the whole drive and would weigh eight times as much.
    let median = sorted[SCORED / 2];
    assert!((median / 22_000.0 - 1.0).abs() < 0.05, "{median}");
    assert!(run.share(|iops| iops < median * 0.95) == 0.0, "{sorted:?}");
    assert!(run.share(|iops| iops > median * 1.05) < 0.1, "{sorted:?}");
    // Outliers of the whole run, in the steady state.
    let from = settled_s(run, median);
    let outliers = run.iops[from + 10..].iter().filter(|&&iops| iops > median * 2.0);
    assert!((1..=20).contains(&outliers.count()));
}

#[test]
fn the_m8pe_gn_alternates_between_two_rates_mostly_the_fast_one() {
    let (cooled, bare) = (cooled(), hour("plextor-m8pe-gn", None));
    let near = |iops: f64, rate: f64| (iops / rate - 1.0).abs() < 0.15;
    let states = &bare.iops[SECONDS - STATES..];
    let fast = share_of(states, |iops| near(iops, 18_000.0));
    let slow = share_of(states, |iops| near(iops, 2_400.0));
    assert!(fast + slow > 0.75, "{fast} {slow}: {:?}", bare.scored());
    assert!(fast > slow && slow > 0.1, "{fast} {slow}");
    let gap = cooled.mean() - states.iter().sum::<f64>() / STATES as f64;
    assert!((7_000.0..13_000.0).contains(&gap), "{gap}");
    let (soon, later) = (settled_s(cooled, 22_000.0), settled_s(&bare, 18_000.0));
    assert!(later > soon && later < soon * 3, "{soon} s and {later} s");
}

/// Over-provisioning alone changes: fewer units moved per write, and a rate bound by core time per
/// unit written and moved.
#[test]
fn more_over_provisioning_gives_the_rate_predicted_by_write_amplification() {
    let mut rates = Vec::new();
    for run in [cooled(), &hour("plextor-m8pe-y", Some(25))] {
        let moved = run.amplification - 1.0;
        let predicted = run.cores * 1e9 / (run.write_ns + moved * run.moved_ns);
        // Means, as for the amplification: seconds without collection count in both.
        let got = run.mean();
        assert!((got / predicted - 1.0).abs() < 0.08, "{got} for {predicted}");
        rates.push(got);
    }
    let gain = rates[1] / rates[0];
    assert!((3.0..6.0).contains(&gain), "{gain}");
}

/// Share of the whole run spent throttled to the slow rate.
fn throttled_share(run: &Run) -> f64 {
    let mut sorted = run.scored().to_vec();
    sorted.sort_by(f64::total_cmp);
    // Not the rare outliers.
    let fast = sorted[SCORED * 3 / 4];
    share_of(&run.iops, |iops| iops < 0.3 * fast)
}

/// Less relocation outweighs more host writes: less time is throttled, and each byte written needs
/// a third of the energy.
#[test]
fn over_provisioning_reduces_the_time_throttled() {
    for ambient in [25.0, 30.0] {
        let [none, spare] = [None, Some(25)].map(|percent| {
            hour_with("plextor-m8pe-gn", |options| {
                options.over_provisioning_percent = percent;
                options.ambient_celsius = Some(ambient);
            })
        });
        assert!(spare.mean() > 3.0 * none.mean());
        let shares = [throttled_share(&none), throttled_share(&spare)];
        assert!(shares[1] < shares[0] && shares[1] > 0.1, "{shares:?}");
    }
}

#[test]
fn heat_sink_and_cool_air_reduce_the_time_throttled() {
    let at = |ambient, mounted| {
        hour_with("plextor-m8pe-gn", |options| {
            options.ambient_celsius = Some(ambient);
            options.heat_sink = Some(mounted);
        })
    };
    let bare = [20.0, 25.0, 30.0].map(|ambient| at(ambient, false));
    let shares = bare.each_ref().map(throttled_share);
    assert!(shares[0] + 0.05 < shares[1] && shares[1] + 0.05 < shares[2], "{shares:?}");
    let cooled = at(30.0, true);
    assert_eq!(throttled_share(&cooled), 0.0);
    assert!(cooled.hottest < 68, "{} C", cooled.hottest);
}
