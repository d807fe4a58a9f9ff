//! Random scenarios: kind, base profile and all numbers.
//!
//! Drives are small and slow, so that a second is a few hundred I/Os: geometry, rates and heat are
//! random, mechanisms are the shipped ones. A pilot run without limits gives power and rate of the
//! flash; thresholds, caps and host times are relative to it.

use assay_analysis::attribution::{CellContext, ObservedCell};
use assay_ssd::profile::SlcOverflow;
use assay_ssd::{Drive, DriveOptions, InitialState, Profile};
use assay_units::{Op, Rng};

use super::bench::{Job, Second, mean_iops, work};
use super::parts::{Dice, MIB, assumed, heat, set_host, small, with_cache};
use super::truth::{slowed, truths_of};
use super::{Label, Scenario, Truth};

/// Seconds of a pilot run.
const PILOT_S: u32 = 5;
/// A cause is visible when the rate differs by this factor.
pub const SHOWS: f64 = 0.92;

/// Kinds of scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Quiet,
    InPlace,
    Cache,
    CacheRandom,
    CacheThenCollection,
    CollectionFromFresh,
    CollectionFromFilled,
    HotReads,
    HotWrites,
    CacheAndHeat,
    Power,
    Host,
    /// A limit of the workload, below or above the drive's rate.
    Rate,
    /// Limited by the workload, then by the flash behind a full cache.
    RateThenCache,
    /// Limited by the host, then by the flash behind a full cache.
    HostThenCache,
    /// A cache that fills while the drive reports throttling that slows nothing.
    CacheWhileHot,
    /// A cache that fills when the drive begins to throttle.
    CacheAtOnset,
}

const KINDS: [Kind; 17] = [
    Kind::Quiet,
    Kind::InPlace,
    Kind::Cache,
    Kind::CacheRandom,
    Kind::CacheThenCollection,
    Kind::CollectionFromFresh,
    Kind::CollectionFromFilled,
    Kind::HotReads,
    Kind::HotWrites,
    Kind::CacheAndHeat,
    Kind::Power,
    Kind::Host,
    Kind::Rate,
    Kind::RateThenCache,
    Kind::HostThenCache,
    Kind::CacheWhileHot,
    Kind::CacheAtOnset,
];

const BASES: [&str; 8] = [
    "samsung-951",
    "intel-600p",
    "samsung-960-evo",
    "toshiba-rd400",
    "wd-black",
    "mydigitalssd-bpx",
    "plextor-m8pe-g",
    "intel-p4510",
];

fn run(
    profile: &Profile,
    state: InitialState,
    power_state: u8,
    job: Job,
    seed: u64,
) -> Vec<Second> {
    let options = DriveOptions { seed, state, power_state, ..DriveOptions::default() };
    let mut drive = Drive::new(profile.clone(), options).unwrap();
    work(&mut drive, job, seed)
}

/// Seconds in which neither a drive with these causes nor the same one without its limit, which
/// makes it slower by `share`, changes its rate.
fn undisturbed(truths: &[Truth], share: f64) -> usize {
    let first = truths.iter().map(|t| t.from_s).fold(20.0, f64::min);
    let share = if share > 0.0 { share } else { 1.0 };
    ((first * share) as usize).clamp(4, 20)
}

/// The scenario of a seed.
pub fn scenario(seed: u64) -> Scenario {
    let mut dice = Dice(Rng::stream(seed, "scenario"));
    let kind = KINDS[(seed % KINDS.len() as u64) as usize];
    let base = dice.pick(&BASES);
    let mut state = dice.pick(&[InitialState::Fresh, InitialState::Filled]);
    let mut job = Job {
        op: Op::Write,
        random: false,
        block_bytes: dice.pick(&[16_384, 32_768]),
        threads: 1,
        depth: dice.pick(&[4, 8, 16]),
        seconds: 150,
        limit_iops: None,
    };
    let capacity_mib = dice.from(200.0, 400.0).floor();
    let spare = dice.from(0.07, 0.28);
    let reads = |job: &mut Job, dice: &mut Dice| {
        job.op = Op::Read;
        job.random = dice.chance(50);
        job.block_bytes = dice.pick(&[16_384, 65_536]);
    };
    let random_writes = |job: &mut Job, _: &mut Dice| {
        job.random = true;
        job.block_bytes = 4_096;
        job.depth = 32;
    };
    let mut power_state = 0;
    // Threshold well above the equilibrium temperature, unless the kind sets it: decoy heating.
    let mut above_k = -dice.from(4.0, 20.0);
    let (mut gap_k, mut percent, mut onset_s) = (2.0, 200, dice.from(5.0, 40.0));
    let mut hot = |above: &mut f64, dice: &mut Dice| {
        *above = dice.from(4.0, 25.0);
        onset_s = dice.from(15.0, 60.0);
        (gap_k, percent) = if dice.chance(65) {
            (dice.from(2.0, 10.0), dice.from(300.0, 900.0) as u32)
        } else {
            (dice.from(0.5, 1.0), dice.from(250.0, 500.0) as u32)
        };
    };
    let mut p;
    // MiB/s into and behind the cache, where there is one.
    let mut levels = (0.0, 0.0);
    match kind {
        Kind::Quiet => {
            let write = dice.from(5.0, 20.0);
            p = small(base, capacity_mib, spare, write, dice.from(10.0, 40.0), &mut dice);
            if dice.chance(60) {
                state = InitialState::Filled;
                reads(&mut job, &mut dice);
            }
        }
        Kind::InPlace => {
            p = Profile::builtin("intel-optane-memory-32gb").unwrap();
            p.firmware.write_command_ns.value *= 100;
            p.firmware.read_command_ns.value *= 100;
            p.identity.power_states_mw.value = vec![25_000];
            p.power.states = None;
            p.bench.host_cores = None;
            random_writes(&mut job, &mut dice);
            job.seconds = 60;
            if dice.chance(30) {
                reads(&mut job, &mut dice);
            }
        }
        Kind::Cache
        | Kind::CacheRandom
        | Kind::CacheAndHeat
        | Kind::CacheThenCollection
        | Kind::RateThenCache
        | Kind::HostThenCache
        | Kind::CacheWhileHot
        | Kind::CacheAtOnset => {
            let cache = capacity_mib * MIB * dice.from(0.1, 0.35);
            let fast = cache / MIB / dice.from(8.0, 40.0);
            let slow = fast * dice.from(0.15, 0.6);
            let flash = if dice.chance(50) { fast * 1.5 } else { slow };
            p = small(base, capacity_mib, spare, flash, 40.0, &mut dice);
            let overflow = if flash > slow { SlcOverflow::Fold } else { SlcOverflow::Direct };
            with_cache(&mut p, cache, fast, slow, overflow);
            levels = (fast, slow);
            if matches!(kind, Kind::CacheRandom | Kind::CacheThenCollection) {
                random_writes(&mut job, &mut dice);
            }
            if kind == Kind::CacheThenCollection {
                job.seconds = 600;
            }
            if matches!(kind, Kind::CacheAndHeat | Kind::CacheWhileHot | Kind::CacheAtOnset) {
                job.seconds = 200;
                hot(&mut above_k, &mut dice);
            }
            let full_s = cache / MIB / fast;
            if kind == Kind::CacheWhileHot {
                (onset_s, percent) = (full_s * dice.from(0.3, 0.8), 100);
            }
            if kind == Kind::CacheAtOnset {
                onset_s = full_s * dice.from(0.9, 1.1);
            }
        }
        Kind::CollectionFromFresh | Kind::CollectionFromFilled => {
            random_writes(&mut job, &mut dice);
            let until_s = dice.from(10.0, 40.0);
            let ready = if kind == Kind::CollectionFromFresh {
                state = InitialState::Fresh;
                capacity_mib * (1.0 + spare)
            } else {
                state = InitialState::Filled;
                capacity_mib * spare
            };
            p = small(base, capacity_mib, spare, ready / until_s, 40.0, &mut dice);
            job.seconds = 500;
        }
        Kind::HotReads => {
            state = InitialState::Filled;
            p = small(base, capacity_mib, spare, 10.0, dice.from(10.0, 30.0), &mut dice);
            reads(&mut job, &mut dice);
            hot(&mut above_k, &mut dice);
            job.seconds = 200;
        }
        Kind::HotWrites => {
            p = small(base, capacity_mib, spare, dice.from(5.0, 20.0), 40.0, &mut dice);
            hot(&mut above_k, &mut dice);
            job.seconds = 200;
        }
        Kind::Power | Kind::Host | Kind::Rate => {
            p = small(
                base,
                capacity_mib,
                spare,
                dice.from(5.0, 20.0),
                dice.from(10.0, 40.0),
                &mut dice,
            );
            if dice.chance(60) {
                state = InitialState::Filled;
                reads(&mut job, &mut dice);
            }
            job.seconds = 90;
        }
    }
    let pilot = run(&p, state, 0, Job { seconds: PILOT_S, ..job }, seed);
    let power_w = pilot[2..].iter().filter_map(|s| s.observed.power_mw).sum::<u64>() as f64
        / (pilot.len() - 2) as f64
        / 1000.0;
    let mut power_cap_mw = None;
    if kind == Kind::Power {
        let idle = f64::from(p.power.idle_mw.value) / 1000.0;
        let share = if dice.chance(75) { dice.from(0.3, 0.8) } else { dice.from(1.3, 2.0) };
        let cap = ((idle + (power_w - idle) * share) * 1000.0) as u32;
        p.identity.power_states_mw.value = vec![25_000, cap];
        power_state = 1;
        power_cap_mw = Some(u64::from(cap));
    }
    if kind == Kind::Host {
        let threads = dice.pick(&[1, 2, 4]);
        job.threads = threads;
        let cores = dice.pick(&[1, 2]).min(threads);
        let share = if dice.chance(75) { dice.from(0.3, 0.8) } else { dice.from(1.4, 3.0) };
        let rate = mean_iops(&pilot[1..]) * share;
        p.bench.host_cores = Some(assumed(cores as u16));
        set_host(&mut p, (f64::from(cores) / rate * 1e9) as u64);
    }
    let full_iops = mean_iops(&pilot[1..]);
    // Between the rates into and behind the cache.
    let between = (levels.1 + (levels.0 - levels.1) * dice.from(0.3, 0.8)) / levels.0.max(1e-9);
    match kind {
        Kind::Rate => {
            let share = if dice.chance(75) { dice.from(0.3, 0.8) } else { dice.from(1.4, 3.0) };
            job.limit_iops = Some(full_iops * share);
        }
        Kind::RateThenCache => job.limit_iops = Some(full_iops * between),
        Kind::HostThenCache => {
            p.bench.host_cores = Some(assumed(1));
            set_host(&mut p, (1e9 / (full_iops * between)) as u64);
        }
        _ => {}
    }
    if kind != Kind::InPlace {
        heat(&mut p, power_w, above_k, gap_k, percent, onset_s, &mut dice);
    }
    let seconds = run(&p, state, power_state, job, seed);
    let purged = state == InitialState::Fresh && dice.chance(50);
    let context = CellContext {
        write_share: if job.op == Op::Write { 1.0 } else { 0.0 },
        random: job.random,
        capacity_bytes: p.identity.capacity_bytes.value,
        span_bytes: p.identity.capacity_bytes.value,
        written_before_bytes: purged.then_some(0),
        power_cap_mw,
        unlimited: None,
        asked_iops: job.limit_iops,
    };
    let mut truths = truths_of(&p, job, &seconds, kind == Kind::InPlace);
    // A status without an effect is no cause of the rate.
    let mut unslowed = p.clone();
    unslowed.thermal.throttle_percent.value = 100;
    if truths.iter().any(|t| t.label == Label::Thermal) {
        let other = run(&unslowed, state, power_state, job, seed);
        let share = slowed(&seconds, &other).unwrap_or(1.0);
        for truth in truths.iter_mut().filter(|t| t.label == Label::Thermal) {
            // Neither clearly slower nor clearly not.
            truth.optional = (SHOWS - 0.06..SHOWS + 0.06).contains(&share);
        }
        let reported = truths.iter().find(|t| t.label == Label::Thermal);
        if let Some(at_s) = reported.map(|t| t.from_s).filter(|_| share >= SHOWS + 0.06) {
            for t in truths.iter_mut().filter(|t| t.label == Label::Slc) {
                t.or = ((t.from_s - at_s).abs() <= 3.0).then_some(Label::Thermal);
            }
            truths.retain(|t| t.label != Label::Thermal);
        }
    }
    // Causes that begin during throttling, or within the three seconds before, do not set the rate
    // alone and are not scored.
    let hot = seconds.iter().rposition(|s| s.telemetry.throttled).map(|at| at as f64);
    if let Some(first) = truths.iter().find(|t| t.label == Label::Thermal).map(|t| t.from_s) {
        for t in truths.iter_mut().filter(|t| t.label != Label::Thermal) {
            t.optional |= t.from_s + 3.0 >= first && t.from_s <= hot.unwrap_or(first);
        }
    }
    let free = Job { seconds: 20, threads: job.threads, ..job };
    if kind == Kind::Power {
        let other = run(&p, state, 0, free, seed);
        if mean_iops(&seconds[2..20]) < mean_iops(&other[2..]) * SHOWS {
            truths = vec![Truth::from(Label::Power, 0.0)];
        }
    }
    if matches!(kind, Kind::Host | Kind::HostThenCache) {
        let mut quick = p.clone();
        set_host(&mut quick, 1_000);
        quick.bench.host_cores = None;
        let other = run(&quick, state, power_state, free, seed);
        let until = undisturbed(&truths, between);
        if mean_iops(&seconds[1..until]) < mean_iops(&other[1..until]) * SHOWS {
            truths.retain(|t| t.label == Label::Slc && kind == Kind::HostThenCache);
            truths.push(Truth::from(Label::Host, 0.0));
        }
    }
    if matches!(kind, Kind::Rate | Kind::RateThenCache) {
        let unlimited = Job { limit_iops: None, ..free };
        let other = run(&p, state, power_state, unlimited, seed);
        let until = undisturbed(&truths, between);
        if mean_iops(&seconds[1..until]) < mean_iops(&other[1..until]) * SHOWS {
            truths.push(Truth::from(Label::Rate, 0.0));
        }
    }
    let limited =
        truths.iter().any(|t| matches!(t.label, Label::Power | Label::Host | Label::Rate));
    let ending = || truths.iter().filter(|t| matches!(t.label, Label::Slc | Label::Collection));
    let (ends, sure) = (ending().count() > 0, ending().any(|t| !t.optional && t.or.is_none()));
    let first = truths.iter().map(|t| t.from_s as usize).min().unwrap_or(seconds.len());
    let ready: u64 = seconds[..first].iter().map(|s| s.observed.sample.write.bytes).sum();
    let unwritten = purged && ready < p.identity.capacity_bytes.value / 100 * 97;
    if job.op == Op::Write && !limited && (ends || unwritten) {
        truths.push(Truth { optional: ends && !sure, ..Truth::from(Label::Fresh, 0.0) });
    }
    // A write rate that drops permanently when a high temperature is first reached: throttling and
    // a full cache are indistinguishable if the drive does not report the cause. Without counters,
    // neither is a correct label.
    let level = |at: usize| {
        seconds[at.saturating_sub(2)..=at]
            .iter()
            .map(|s| s.telemetry.composite_celsius)
            .max()
            .unwrap_or(0)
    };
    let alike = |truth: &Truth| {
        let at = truth.from_s as usize;
        let before = mean_iops(&seconds[at.saturating_sub(6)..at]);
        let back =
            seconds[(at + 3).min(seconds.len())..].windows(3).any(|w| mean_iops(w) > before * 0.93);
        let earlier = seconds[..at.saturating_sub(8)]
            .iter()
            .map(|s| s.telemetry.composite_celsius)
            .max()
            .unwrap_or(0);
        job.op == Op::Write
            && matches!(truth.label, Label::Thermal | Label::Slc)
            && level(at) >= 58
            && !back
            && earlier < level(at)
    };
    let in_doubt: Vec<bool> = truths.iter().map(alike).collect();
    let doubt = truths
        .iter()
        .zip(&in_doubt)
        .filter(|(_, d)| **d)
        .map(|(t, _)| t.from_s)
        .fold(f64::MAX, f64::min);
    for truth in &mut truths {
        let ends_there = truth.label == Label::Fresh && doubt < f64::MAX;
        truth.visible &= truth.from_s < doubt && !ends_there;
    }
    Scenario {
        seed,
        name: format!("{kind:?} {base} {job:?} {state:?}"),
        observed: ObservedCell {
            intervals: seconds.into_iter().map(|s| s.observed).collect(),
            context,
        },
        truths,
    }
}
