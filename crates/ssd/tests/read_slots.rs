//! Reads that a controller works on at a time; PRP lists; planes that read one after the other;
//! read-ahead over stripes shorter than a page.

use crate::common;

use assay_ssd::{Drive, DriveOptions, InitialState, Profile, Sourced};
use assay_units::rate::mib_per_second;
use assay_units::{Nanos, Op};
use common::{Job, command, one, run};

const LIST_NS: u64 = 5_000;

fn number<T>(profile: &Profile, value: T) -> Sourced<T> {
    let of = &profile.firmware.read_command_ns;
    Sourced { value, provenance: of.provenance, source: of.source.clone() }
}

fn plain() -> Profile {
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.data_path.read_cache = None;
    profile.nand.single_plane_bytes = None;
    profile
}

fn with_slots(slots: u16) -> Profile {
    let mut profile = plain();
    profile.firmware.read_slots = Some(number(&profile, slots));
    profile
}

fn filled(profile: &Profile) -> Drive {
    let options = DriveOptions { state: InitialState::Filled, ..DriveOptions::default() };
    Drive::new(profile.clone(), options).expect("a drive")
}

fn latency_ns(profile: &Profile, len: u32) -> u64 {
    let now = Nanos(1_000);
    let done = one(&mut filled(profile), now, command(0, Op::Read, 0, len));
    (done.at - now).0
}

fn job(random: bool, threads: u32, block: u32) -> Job {
    Job { op: Op::Read, random, threads, block, area: 1 << 32, first: 0 }
}

/// MiB/s of reads.
fn rate(profile: &Profile, job: Job, commands: u64) -> f64 {
    let mut drive = filled(profile);
    let (bytes, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, commands);
    mib_per_second(bytes, end)
}

#[test]
fn slots_limit_the_reads_in_flight() {
    // Little's law: 8 slots give 64 threads the rate of 8 threads, but for the time that a read
    // spends outside the controller.
    let eight = rate(&plain(), job(true, 8, 4096), 6_000);
    let limited = rate(&with_slots(8), job(true, 64, 4096), 6_000);
    assert!((1.0..1.15).contains(&(limited / eight)), "{limited} {eight}");
    let free = rate(&plain(), job(true, 64, 4096), 6_000);
    assert!(free > 1.5 * limited, "{free} {limited}");
    let many = rate(&with_slots(64), job(true, 64, 4096), 6_000);
    assert_eq!(many, free, "as many slots as threads change nothing");
}

#[test]
fn one_read_finds_a_slot() {
    for len in [512, 4096, 65_536] {
        assert_eq!(latency_ns(&with_slots(1), len), latency_ns(&plain(), len));
    }
}

#[test]
fn a_block_read_by_hardware_takes_no_slot() {
    let mut hardware = with_slots(4);
    hardware.firmware.read_block_by_hardware = Some(number(&hardware, true));
    let blocks = job(true, 64, 512);
    assert_eq!(rate(&hardware, blocks, 6_000), rate(&plain(), blocks, 6_000));
    let longer = job(true, 64, 1024);
    assert!(rate(&hardware, longer, 6_000) < 0.5 * rate(&plain(), longer, 6_000));
}

#[test]
fn waiting_for_a_slot_costs_no_energy() {
    let joules = |profile: &Profile| {
        let mut drive = filled(profile);
        let (_, end) = run(&mut drive, job(true, 64, 4096), Nanos::ZERO, Nanos::MAX, 6_000);
        let idle_uj = u64::from(profile.power.idle_mw.value) * end.0 / 1_000_000;
        // Past the step of 50 ms under way.
        let later = drive.telemetry(end + Nanos::SECOND);
        let rest_uj =
            u64::from(profile.power.idle_mw.value) * (later.energy_until.0 - end.0) / 1_000_000;
        (later.energy_uj - idle_uj - rest_uj) as f64
    };
    let ratio = joules(&with_slots(8)) / joules(&plain());
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

fn with_list() -> Profile {
    let mut profile = plain();
    profile.data_path.prp_list_ns = Some(number(&profile, LIST_NS));
    profile
}

#[test]
fn a_read_of_more_than_two_memory_pages_fetches_a_prp_list() {
    let more = |len| latency_ns(&with_list(), len) - latency_ns(&plain(), len);
    assert_eq!([512, 4096, 8192].map(more), [0, 0, 0]);
    assert_eq!([12_288, 16_384].map(more), [LIST_NS, LIST_NS]);
}

#[test]
fn a_saturated_data_path_is_slower_by_one_list_per_long_read() {
    let slow = |mut profile: Profile| {
        profile.data_path.direct_bytes_per_second.value = 200_000_000;
        profile.data_path.staged_bytes_per_second.value = 200_000_000;
        profile
    };
    for (block, lists) in [(8192, 0.0), (65_536, 1.0)] {
        let took = |profile: Profile| {
            let mut drive = filled(&profile);
            let ran = run(&mut drive, job(true, 64, block), Nanos::ZERO, Nanos::MAX, 2_000);
            ran.1.0 as f64
        };
        let more_ns = (took(slow(with_list())) - took(slow(plain()))) / 2_000.0;
        assert!((more_ns - lists * LIST_NS as f64).abs() < 250.0, "{block}: {more_ns} ns");
    }
}

#[test]
fn read_ahead_takes_the_stripes_of_a_page_with_one_sense() {
    let mut wide = plain();
    wide.nand.read_ns.value = vec![200_000];
    wide.nand.read_jitter_ns.value = 0;
    wide.data_path.direct_bytes_per_second.value = 3_000_000_000;
    wide.data_path.staged_bytes_per_second.value = 3_000_000_000;
    let mut striped = wide.clone();
    striped.nand.stripe_bytes = Some(number(&wide, 4096));
    let sequential = job(false, 1, 65_536);
    let rates = [&wide, &striped].map(|profile| rate(profile, sequential, 2_000));
    assert!((rates[1] / rates[0] - 1.0).abs() < 0.1, "{rates:?}");
    // At random each stripe is a sense of its own: sixteen dies give 16 x 4 KiB per sense.
    let random = rate(&striped, job(true, 64, 65_536), 2_000);
    let bound = 16.0 * 4096.0 / 200e-6 / f64::from(1 << 20);
    assert!((0.9 * bound..1.02 * bound).contains(&random), "{random} {bound}");
}

/// Two planes of 16 KiB, a mapping unit on each in turn; sense times do not vary.
fn with_planes(single: Option<u64>) -> Profile {
    let mut profile = plain();
    let nand = &mut profile.nand;
    (nand.planes.value, nand.page_bytes.value) = (2, 16_384);
    nand.read_ns.value = vec![50_000, 50_000];
    nand.read_jitter_ns.value = 0;
    nand.single_plane_bytes = None;
    let number = |bytes| number(&plain(), bytes);
    profile.nand.read_sigma_ns = Some(number(0));
    profile.nand.stripe_bytes = Some(number(8192));
    profile.nand.single_plane_bytes = single.map(number);
    profile
}

#[test]
fn planes_of_a_die_read_one_after_the_other() {
    let more = |single| {
        let latency = |len| latency_ns(&with_planes(single), len);
        [latency(8192) - latency(4096), latency(16_384) - latency(8192)]
    };
    let [transfer_ns, die_ns] = more(None);
    let [sense_ns, dies_ns] = more(Some(4096));
    // The second sense begins when the first one ends, and its transfer is that of a read of 4 KiB.
    assert_eq!(sense_ns, 50_000);
    assert!(transfer_ns < 30_000, "{transfer_ns}");
    // Two dies work at the same time.
    assert!(die_ns < 30_000 && dies_ns < 30_000, "{die_ns} {dies_ns}");
}

#[test]
fn read_ahead_senses_all_planes() {
    let rate = |single| rate(&with_planes(single), job(false, 1, 65_536), 4_000);
    let (one, all) = (rate(Some(4096)), rate(None));
    assert!((one / all - 1.0).abs() < 0.02, "{one} {all}");
}
