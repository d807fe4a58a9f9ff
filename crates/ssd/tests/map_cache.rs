//! A map on flash with a cache, on a small drive whose times can be summed by hand.

use crate::common;

use assay_ssd::{Drive, DriveError, DriveOptions, InitialState, Profile};
use assay_units::{Nanos, Op, Rng};
use common::{command, one};

/// 1 GiB: four dies on two channels, 256 map pages of 4 MiB each, four of them in the cache.
const DRIVE: &str = r#"
name = "paper"
title = "A drive on paper"
[identity]
model = "PAPER"
nvme_version = "1.3"
capacity_bytes      = { value = 1_073_741_824, assumed = "a test" }
logical_block_bytes = { value = 512, assumed = "a test" }
queue_pairs         = { value = 8, assumed = "a test" }
max_queue_entries   = { value = 1024, assumed = "a test" }
max_transfer_bytes  = { value = 131_072, assumed = "a test" }
warning_celsius     = { value = 0, assumed = "a test" }
critical_celsius    = { value = 0, assumed = "a test" }
power_states_mw     = { value = [9000], assumed = "a test" }
[link]
generation            = { value = 3, assumed = "a test" }
lanes                 = { value = 4, assumed = "a test" }
max_payload_bytes     = { value = 128, assumed = "a test" }
packet_overhead_bytes = { value = 0, assumed = "a test" }
fetch_ns              = { value = 1_000, assumed = "a test" }
completion_ns         = { value = 1_000, assumed = "a test" }
[firmware]
cores            = { value = 2, assumed = "a test" }
read_command_ns  = { value = 5_000, assumed = "a test" }
read_page_ns     = { value = 0, assumed = "a test" }
read_kib_ns      = { value = 0, assumed = "a test" }
write_command_ns = { value = 5_000, assumed = "a test" }
write_unit_ns    = { value = 0, assumed = "a test" }
other_command_ns = { value = 5_000, assumed = "a test" }
[data_path]
direct_bytes_per_second = { value = 4_096_000_000, assumed = "a test" }
staged_bytes_per_second = { value = 4_096_000_000, assumed = "a test" }
direct_limit_bytes      = { value = 131_072, assumed = "a test" }
[nand]
channels                 = { value = 2, assumed = "a test" }
dies                     = { value = 4, assumed = "a test" }
planes                   = { value = 1, assumed = "a test" }
page_bytes               = { value = 16_384, assumed = "a test" }
pages_per_block          = { value = 64, assumed = "a test" }
blocks_per_plane         = { value = 300, assumed = "a test" }
program_pages            = { value = 1, assumed = "a test" }
read_ns                  = { value = [50_000], assumed = "a test" }
read_jitter_ns           = { value = 0, assumed = "a test" }
read_sigma_ns            = { value = 0, assumed = "a test" }
partial_read_saving_ns   = { value = 0, assumed = "a test" }
cache_read               = { value = true, assumed = "a test" }
program_ns               = { value = [600_000], assumed = "a test" }
erase_ns                 = { value = 3_000_000, assumed = "a test" }
channel_bytes_per_second = { value = 1_000_000_000, assumed = "a test" }
channel_command_ns       = { value = 0, assumed = "a test" }
[buffer]
bytes       = { value = 1_048_576, assumed = "a test" }
ack_ns      = { value = 4_000, assumed = "a test" }
ack_unit_ns = { value = 0, assumed = "a test" }
[ftl]
gc_low_superblocks = { value = 8, assumed = "a test" }
skip_unmapped      = { value = true, assumed = "a test" }
elide_zero         = { value = false, assumed = "a test" }
[map_cache]
capacity_bytes = { value = 16_384, assumed = "a test" }
page_bytes     = { value = 4_096, assumed = "a test" }
read_ns        = { value = 40_000, assumed = "a test" }
program_ns     = { value = 300_000, assumed = "a test" }
[prefetch]
window_bytes     = { value = 0, assumed = "a test" }
streams          = { value = 4, assumed = "a test" }
trigger_commands = { value = 2, assumed = "a test" }
[power]
idle_mw         = { value = 1_000, assumed = "a test" }
command_nj      = { value = 1_000, assumed = "a test" }
read_page_nj    = { value = 1_000, assumed = "a test" }
program_page_nj = { value = 1_000, assumed = "a test" }
transfer_kib_nj = { value = 1_000, assumed = "a test" }
[thermal]
ambient_celsius      = { value = 25.0, assumed = "a test" }
resistance_k_per_w   = { value = 1.0, assumed = "a test" }
time_constant_s      = { value = 40.0, assumed = "a test" }
sensor_offsets_k     = { value = [], assumed = "a test" }
throttle_on_celsius  = { value = 0.0, assumed = "a test" }
throttle_off_celsius = { value = 0.0, assumed = "a test" }
throttle_percent     = { value = 100, assumed = "a test" }
[bench]
sync_io_ns = { value = 1_000, assumed = "a test" }
async_io_ns = { value = 1_000, assumed = "a test" }
"#;

/// Command fetched, firmware, sense, channel at 1 GB/s, data path at 4.096 GB/s, link at 3.93846
/// GB/s (1040.0004 ns), completion.
const READ_NS: u64 = 1_000 + 5_000 + 50_000 + 4_096 + 1_000 + 1_041 + 1_000;
/// Sense and transfer of a map page.
const FETCH_NS: u64 = 40_000 + 4_096;
/// Units per map page.
const REACH: u64 = 4 << 20;

const IN_HOST_MEMORY: &str = r#"[map_cache]
place          = { value = "host-memory", assumed = "a test" }
host_access_ns = { value = 800, assumed = "a test" }"#;

fn made(text: &str, options: DriveOptions) -> Drive {
    let profile = Profile::from_toml(text).expect("a profile");
    Drive::new(profile, options).expect("a drive")
}

fn paper() -> Drive {
    made(DRIVE, DriveOptions::default())
}

/// A microsecond between commands: the drive is idle at the next.
struct Alone {
    drive: Drive,
    now: Nanos,
}

impl Alone {
    fn new(drive: Drive) -> Alone {
        Alone { drive, now: Nanos::ZERO }
    }

    fn run(&mut self, op: Op, offset: u64, len: u32) -> u64 {
        self.now += Nanos(1_000);
        let done = one(&mut self.drive, self.now, command(0, op, offset, len));
        assert!(done.status.is_ok());
        let took = done.at - self.now;
        self.now = done.at;
        took.0
    }

    /// Mean latency in nanoseconds of reads of one unit at random within the first `span` bytes.
    fn random_reads(&mut self, span: u64, count: u64) -> f64 {
        let mut rng = Rng::stream(5, "offsets");
        let mut sum = 0;
        for _ in 0..count {
            sum += self.run(Op::Read, rng.below(span / 4096) * 4096, 4096);
        }
        sum as f64 / count as f64
    }

    fn misses(&self) -> u64 {
        self.drive.map_cache().expect("a map on flash").misses
    }
}

#[test]
fn a_read_senses_the_map_page_that_is_absent_and_then_its_data() {
    let mut host = Alone::new(paper());
    assert_eq!(host.run(Op::Read, 0, 4096), READ_NS + FETCH_NS);
    assert_eq!(host.run(Op::Read, REACH - 4096, 4096), READ_NS);
    assert_eq!(host.run(Op::Read, REACH, 4096), READ_NS + FETCH_NS);
    let counters = host.drive.map_cache().expect("a map on flash");
    assert_eq!((counters.lookups, counters.misses, counters.pages_read), (3, 2, 2));
    // Four pages are cached: 0, 1, 2, 3, then 4 replaces 0, the least recently used.
    for page in [2, 3, 1, 4] {
        host.run(Op::Read, page * REACH, 4096);
    }
    assert_eq!(host.misses(), 5);
    assert_eq!(host.run(Op::Read, REACH, 4096), READ_NS);
    assert_eq!(host.run(Op::Read, 0, 4096), READ_NS + FETCH_NS);
}

#[test]
fn random_reads_beyond_the_map_cache_have_about_half_the_rate() {
    let mut near = Alone::new(paper());
    for page in 0..4 {
        near.run(Op::Read, page * REACH, 4096);
    }
    assert_eq!(near.random_reads(4 * REACH, 2_000), READ_NS as f64);
    // Of 256 pages four are in the cache: 63 of 64 reads miss.
    let mut far = Alone::new(paper());
    let mean_ns = far.random_reads(256 * REACH, 4_000);
    let expected_ns = READ_NS as f64 + FETCH_NS as f64 * 63.0 / 64.0;
    assert!((mean_ns / expected_ns - 1.0).abs() < 0.005, "{mean_ns} {expected_ns}");
    assert!(READ_NS as f64 / mean_ns < 0.6);
}

#[test]
fn sequential_reads_hardly_depend_on_the_map_cache() {
    let span = 16 * REACH;
    let time = |options| {
        let mut host = Alone::new(made(DRIVE, options));
        let sum: u64 = (0..span / 131_072).map(|n| host.run(Op::Read, n * 131_072, 131_072)).sum();
        (sum, host)
    };
    let (on_flash, host) = time(DriveOptions::default());
    assert_eq!(host.misses(), 16, "each page once");
    let (in_dram, host) =
        time(DriveOptions { map_cache_bytes: Some(0), ..DriveOptions::default() });
    assert!(host.drive.map_cache().is_none());
    assert_eq!(on_flash - in_dram, 16 * FETCH_NS);
    assert!(on_flash * 100 < in_dram * 103, "{on_flash} {in_dram}");
}

#[test]
fn reads_of_one_page_share_one_sense() {
    let mut drive = paper();
    for tag in 0..4 {
        // Four different flash pages on different dies.
        drive.submit(Nanos::ZERO, command(tag, Op::Read, u64::from(tag) * 16_384, 4096));
    }
    let mut out = Vec::new();
    drive.advance(Nanos(u64::MAX - 1), &mut out);
    assert_eq!(out[0].at, Nanos(READ_NS + FETCH_NS));
    assert!(out.iter().all(|done| done.at.0 >= READ_NS + FETCH_NS));
    let counters = drive.map_cache().expect("a map on flash");
    assert_eq!((counters.lookups, counters.pages_read), (4, 1));
}

#[test]
fn dirty_pages_are_evicted_in_groups() {
    let written = |options| {
        let mut host = Alone::new(made(DRIVE, options));
        for page in 0..256 {
            host.run(Op::Write, page * REACH, 4096);
        }
        host.run(Op::Flush, 0, 0);
        let telemetry = host.drive.telemetry(host.now);
        (telemetry.nand_bytes_written, host)
    };
    let (with, host) = written(DriveOptions::default());
    let counters = host.drive.map_cache().expect("a map on flash");
    assert_eq!((counters.misses, counters.pages_read), (256, 256));
    // The last four stay; 252 are evicted, four per group.
    assert_eq!(counters.pages_programmed, 252);
    let (without, _) =
        written(DriveOptions { map_cache_bytes: Some(0), ..DriveOptions::default() });
    assert_eq!(without, 256 * 4096);
    assert_eq!(with - without, 252 * 4096);
    // Clean pages are evicted without a program.
    let (fresh, host) =
        written(DriveOptions { state: InitialState::Fresh, ..DriveOptions::default() });
    let counters = host.drive.map_cache().expect("a map on flash");
    assert_eq!((counters.misses, counters.pages_read), (256, 0));
    assert_eq!(fresh, with);
}

#[test]
fn relocation_dirties_the_map_too() {
    let amplification = |options: DriveOptions| {
        let mut drive = made(DRIVE, options);
        let units = drive.identity().capacity_bytes / 4096;
        let mut rng = Rng::stream(1, "offsets");
        let (mut now, mut out) = (Nanos::ZERO, Vec::new());
        for n in 0..units {
            let place = rng.below(units) * 4096;
            drive.submit(now, command(n as u32, Op::Write, place, 4096));
            while let Some(event) = drive.next_event() {
                now = event;
                drive.advance(event, &mut out);
            }
        }
        assert_eq!(out.len() as u64, units);
        let health = drive.telemetry(now);
        let amplification = health.nand_bytes_written as f64 / health.host_bytes_written as f64;
        (amplification, health, drive.map_cache())
    };
    let (in_dram, health, _) =
        amplification(DriveOptions { map_cache_bytes: Some(0), ..DriveOptions::default() });
    assert!(health.relocated_bytes > health.host_bytes_written / 2);
    let (on_flash, with, counters) = amplification(DriveOptions::default());
    let map = counters.expect("a map on flash");
    assert_eq!(with.relocated_bytes, health.relocated_bytes, "the same data is moved");
    assert_eq!(with.nand_bytes_written - health.nand_bytes_written, map.pages_programmed * 4096);
    // A host write nearly always dirties a page, garbage collection some more.
    assert!(on_flash > in_dram + 1.1, "{on_flash} {in_dram}");
    let (reached, _, counters) =
        amplification(DriveOptions { map_cache_bytes: Some(1 << 20), ..DriveOptions::default() });
    assert_eq!(reached, in_dram);
    assert_eq!(counters.expect("a map on flash").misses, 256);
}

/// Writes are acknowledged at once, but sustained no faster than their map pages arrive.
#[test]
fn writes_wait_for_the_map_only_when_the_buffer_is_full_of_them() {
    let mut host = Alone::new(paper());
    let alone_ns = host.run(Op::Write, 0, 4096);
    // Fetch, firmware or data (1041 ns after 5000), acknowledgement, completion.
    assert_eq!(alone_ns, 1_000 + 5_000 + 1_041 + 4_000 + 1_000);
    let rate = |options| {
        let mut drive = made(DRIVE, options);
        let mut rng = Rng::stream(1, "offsets");
        let mut out = Vec::new();
        for n in 0..4_000 {
            let place = rng.below(1 << 18) * 4096;
            drive.submit(Nanos::ZERO, command(n, Op::Write, place, 4096));
        }
        drive.advance(Nanos(u64::MAX - 1), &mut out);
        out.last().map_or(0, |last| last.at.0)
    };
    let in_dram = rate(DriveOptions { map_cache_bytes: Some(0), ..DriveOptions::default() });
    let on_flash = rate(DriveOptions::default());
    assert!(on_flash > in_dram * 3 / 2, "{on_flash} {in_dram}");
}

#[test]
fn host_memory_takes_a_round_trip_for_each_entry() {
    let mut host =
        Alone::new(made(&DRIVE.replace("[map_cache]", IN_HOST_MEMORY), DriveOptions::default()));
    assert_eq!(host.run(Op::Read, 0, 4096), READ_NS + FETCH_NS);
    // 64 bytes of the link: 16.25 ns.
    assert_eq!(host.run(Op::Read, 4096, 4096), READ_NS + 800 + 17);
}

#[test]
fn deallocated_blocks_need_no_map_page() {
    let mut host = Alone::new(paper());
    host.run(Op::Discard, 0, 1 << 30);
    host.run(Op::Read, 512 << 20, 4096);
    // Deallocating part of a page changes it; the page is known to be empty.
    host.run(Op::Discard, 4096, 4096);
    let counters = host.drive.map_cache().expect("a map on flash");
    assert_eq!((counters.misses, counters.pages_read), (2, 0));
    let mut host = Alone::new(paper());
    host.run(Op::Discard, 4096, (2 * REACH) as u32);
    let counters = host.drive.map_cache().expect("a map on flash");
    assert_eq!(counters.pages_read, 2, "the first and the last");
}

#[test]
fn a_loss_of_power_empties_the_cache() {
    let mut host = Alone::new(paper());
    host.run(Op::Read, 0, 4096);
    host.now += Nanos(1_000);
    host.drive.power_loss(host.now);
    assert_eq!(host.run(Op::Read, 0, 4096), READ_NS + FETCH_NS);
}

#[test]
fn the_option_adds_a_map_cache_to_any_flash_drive() {
    let options = |bytes| DriveOptions { map_cache_bytes: Some(bytes), ..DriveOptions::default() };
    let profile = Profile::builtin("samsung-951").expect("a built-in profile");
    let mut host = Alone::new(Drive::new(profile.clone(), options(1 << 16)).expect("a drive"));
    let slow_ns = host.random_reads(1 << 30, 500);
    let mut host = Alone::new(Drive::new(profile, options(0)).expect("a drive"));
    let quick_ns = host.random_reads(1 << 30, 500);
    assert!(slow_ns > quick_ns * 1.4, "{slow_ns} {quick_ns}");
    let profile = Profile::builtin("intel-optane-p4800x").expect("a built-in profile");
    assert!(matches!(Drive::new(profile, options(1 << 20)), Err(DriveError::NoMap { .. })));
}

#[test]
fn contradicting_caches_are_refused() {
    let host = |ns: &str| DRIVE.replace("[map_cache]", &IN_HOST_MEMORY.replace("800", ns));
    for (text, reason) in [
        (DRIVE.replace("value = 4_096, ", "value = 4_095, "), "page_bytes"),
        (DRIVE.replace("value = 4_096, ", "value = 32_768, "), "page_bytes"),
        (
            DRIVE.replace("capacity_bytes = { value = 16_384", "capacity_bytes = { value = 4_095"),
            "capacity_bytes",
        ),
        (host("2_000_000_000_000"), "1000 seconds"),
        (host("800").replace("\"host-memory\"", "\"controller\""), "host_access_ns"),
        (host("800").replace("\"host-memory\"", "\"moon\""), "unknown variant"),
        (
            DRIVE.replace(
                "partial_read_saving_ns   = { value = 0",
                "partial_read_saving_ns = { value = 45_000",
            ),
            "map_cache.read_ns",
        ),
    ] {
        let error = Profile::from_toml(&text).expect_err("no profile");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// The drive with 1 MiB of host memory: its whole map.
fn lent() -> Alone {
    Alone::new(made(
        DRIVE,
        DriveOptions { host_memory_bytes: Some(1 << 20), ..DriveOptions::default() },
    ))
}

#[test]
fn a_host_memory_buffer_extends_the_reach_of_random_reads() {
    let mut host = lent();
    for page in 0..256 {
        host.run(Op::Read, page * REACH, 4096);
    }
    assert_eq!(host.misses(), 256);
    let mean_ns = host.random_reads(256 * REACH, 2_000);
    assert_eq!(host.misses(), 256);
    // A round trip of 550 ns and 64 bytes over the link instead of a sense.
    let expected_ns = (READ_NS + 550) as f64;
    assert!((expected_ns..expected_ns + 30.0).contains(&mean_ns), "{mean_ns} {expected_ns}");
    let mut own = Alone::new(paper());
    let own_ns = own.random_reads(256 * REACH, 2_000);
    assert!(own_ns > 1.5 * mean_ns, "{own_ns} {mean_ns}");
}

#[test]
fn host_memory_taken_back_leaves_the_map_whole_and_the_reach_short() {
    let mut host = lent();
    assert_eq!(host.drive.host_memory_bytes(), Some((4096, 1 << 20)));
    for page in 0..10 {
        host.run(Op::Write, page * REACH, 4096);
    }
    let programmed = |host: &Alone| host.drive.map_cache().unwrap().pages_programmed;
    assert_eq!(programmed(&host), 0);
    let end = host.drive.lend_host_memory(host.now, None);
    assert!(end > host.now, "the changed pages are read from host memory");
    host.now = end;
    // Ten changed pages are two groups of four, and two that wait.
    assert_eq!(programmed(&host), 8);
    let before = host.misses();
    host.random_reads(256 * REACH, 640);
    assert!(host.misses() - before > 600, "four of 256 pages are held");
    // Less than preferred.
    host.drive.lend_host_memory(host.now, Some(128 << 12));
    host.random_reads(128 * REACH, 4_000);
    let before = host.misses();
    host.random_reads(128 * REACH, 1_000);
    assert_eq!(host.misses(), before);
}

#[test]
fn host_memory_needs_a_map_on_flash_and_pcie() {
    let hmb = DriveOptions { host_memory_bytes: Some(1 << 20), ..DriveOptions::default() };
    let refused = |name: &str, options: &DriveOptions| {
        let profile = Profile::builtin(name).expect("a built-in profile");
        let error = Drive::new(profile, options.clone()).expect_err("refused");
        assert!(matches!(error, DriveError::NoHostMemory { .. }), "{error}");
    };
    refused("samsung-980-pro", &hmb);
    refused("intel-optane-p4800x", &hmb);
    let mut both = hmb;
    both.map_cache_bytes = Some(65_536);
    let profile = Profile::builtin("samsung-980-pro").expect("a built-in profile");
    let drive = Drive::new(profile, both.clone()).expect("a drive without DRAM");
    assert_eq!(drive.host_memory_bytes(), Some((4096, 1 << 20)));
    both.map_cache_bytes = Some(0);
    refused("samsung-980-pro", &both);
    assert!(paper().host_memory_bytes().is_none());
}
