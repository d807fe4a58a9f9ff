//! Costs of reads that occupy nothing, and the fast memory that many long reads exceed.

use crate::common;

use assay_ssd::profile::ReadCacheProfile;
use assay_ssd::{Drive, DriveOptions, InitialState, Profile, Sourced};
use assay_units::rate::mib_per_second;
use assay_units::{Nanos, Op};
use common::{Job, command, one, run};

const LATENCY_NS: u64 = 20_000;

fn number(profile: &Profile, value: u64) -> Sourced<u64> {
    Sourced { value, ..profile.firmware.read_command_ns.clone() }
}

/// A drive's profile, the same with read latency, and with that time on the cores instead.
fn variants() -> [Profile; 3] {
    let mut plain = Profile::builtin("samsung-951").expect("a built-in profile");
    plain.firmware.read_latency_ns = None;
    plain.data_path.read_cache = None;
    let (mut pipelined, mut occupying) = (plain.clone(), plain.clone());
    pipelined.firmware.read_latency_ns = Some(number(&plain, LATENCY_NS));
    occupying.firmware.read_command_ns.value += LATENCY_NS;
    [plain, pipelined, occupying]
}

fn filled(profile: &Profile) -> Drive {
    let options = DriveOptions { state: InitialState::Filled, ..DriveOptions::default() };
    Drive::new(profile.clone(), options).expect("a drive")
}

fn latency_ns(profile: &Profile, offset: u64, len: u32) -> u64 {
    let now = Nanos(1_000);
    let done = one(&mut filled(profile), now, command(0, Op::Read, offset, len));
    assert!(done.status.is_ok());
    (done.at - now).0
}

/// MiB/s of random reads.
fn rate(profile: &Profile, threads: u32, block: u32) -> f64 {
    let job = Job { op: Op::Read, random: true, threads, block, area: 1 << 32, first: 0 };
    let (bytes, end) = run(&mut filled(profile), job, Nanos::ZERO, Nanos::MAX, 6_000);
    mib_per_second(bytes, end)
}

#[test]
fn one_read_is_later_by_its_latency_wherever_that_is_spent() {
    let [plain, pipelined, occupying] = variants();
    for (offset, len) in [(0, 512), (4096, 4096), (1 << 30, 65_536)] {
        let plain_ns = latency_ns(&plain, offset, len);
        assert_eq!(latency_ns(&pipelined, offset, len), plain_ns + LATENCY_NS);
        assert_eq!(latency_ns(&occupying, offset, len), plain_ns + LATENCY_NS);
    }
}

#[test]
fn a_latency_that_occupies_nothing_leaves_the_highest_rate() {
    let [plain, pipelined, occupying] = variants();
    let rates = [plain, pipelined, occupying].map(|profile| rate(&profile, 512, 4096));
    assert!((rates[1] / rates[0] - 1.0).abs() < 0.02, "{rates:?}");
    assert!(rates[2] < 0.5 * rates[0], "{rates:?}");
}

#[test]
fn unmapped_data_has_the_latency_too() {
    let [plain, pipelined, _] = variants();
    let fresh = |profile: &Profile| {
        let mut profile = profile.clone();
        profile.ftl.skip_unmapped.value = true;
        let options = DriveOptions { state: InitialState::Fresh, ..DriveOptions::default() };
        let mut drive = Drive::new(profile, options).expect("a drive");
        [4096, 65_536].map(|len| {
            let at = Nanos(1_000_000_000 * u64::from(len));
            (one(&mut drive, at, command(0, Op::Read, 0, len)).at - at).0
        })
    };
    assert_eq!(fresh(&pipelined), fresh(&plain).map(|ns| ns + LATENCY_NS));
}

/// The direction of the published columns: with long reads, 64 threads are slower than 16 (SM951 3
/// %, BPX 4 %), with short ones faster.
#[test]
fn long_reads_of_many_threads_exceed_the_fast_memory() {
    let [mut profile, ..] = variants();
    let staged = profile.data_path.staged_bytes_per_second.value;
    profile.data_path.read_cache = Some(ReadCacheProfile {
        bytes: number(&profile, 4 << 20),
        exceeded_bytes_per_second: number(&profile, staged / 2),
    });
    let rates = |block| [16, 64].map(|threads| rate(&profile, threads, block));
    let long = rates(131_072);
    assert!(long[1] < 0.6 * long[0], "{long:?}");
    let short = rates(4096);
    assert!(short[1] > 1.2 * short[0], "{short:?}");
    let [plain, ..] = variants();
    assert_eq!(rate(&plain, 16, 131_072), long[0], "it fits");
}
