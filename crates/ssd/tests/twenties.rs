//! Drives of the 2020s, made of hardware facts alone: what their mechanisms and their data sheets
//! imply. No figure is fitted.

use crate::common;

use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{KIB, Nanos, Op};
use common::{Job, drive, run};

const DRIVES: [&str; 3] = ["samsung-980-pro", "samsung-pm9d3a", "solidigm-d5-p5336"];

fn fresh(name: &str) -> Drive {
    drive(name, DriveOptions::default())
}

/// Bytes per second of a job of `count` commands, from the first submission to the last completion.
fn rate(name: &str, op: Op, random: bool, threads: u32, block: u32, count: u64) -> f64 {
    let mut drive = fresh(name);
    let job = Job { op, random, threads, block, area: 64 << 30, first: 0 };
    let (bytes, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, count);
    bytes as f64 / end.as_secs_f64()
}

/// Payload of the link: raw rate, less line coding and packet overhead (PCIe Base Specification
/// 5.0, sections 4.2 and 2.1).
fn link_bytes_per_second(profile: &Profile) -> f64 {
    let link = &profile.link;
    let gt_per_s = 2.5 * f64::from(1 << (link.generation.value - 1)) * 8.0 / 10.0;
    // 5 GT/s and 8b/10b up to generation 2; 8 GT/s and 128b/130b from generation 3 on.
    let lane = match link.generation.value {
        generation @ 3.. => 8.0 * f64::from(1 << (generation - 3)) * 128.0 / 130.0,
        _ => gt_per_s,
    };
    let payload = f64::from(link.max_payload_bytes.value);
    let packet = payload + f64::from(link.packet_overhead_bytes.value);
    lane / 8.0 * 1e9 * f64::from(link.lanes.value) * payload / packet
}

#[test]
fn no_number_is_fitted() {
    for name in DRIVES {
        assert!(Profile::is_from_facts_alone(name), "{name}");
    }
    assert!(!Profile::is_from_facts_alone("samsung-951"));
    assert!(!Profile::is_from_facts_alone("no such drive"));
}

/// Within the link, and at least 80 % of the data sheet's (reference/hardware.toml).
#[test]
fn sequential_reads_stay_within_the_link_and_near_the_data_sheet() {
    for (name, rated) in
        [("samsung-980-pro", 7_000e6), ("samsung-pm9d3a", 12_000e6), ("solidigm-d5-p5336", 7_000e6)]
    {
        let profile = Profile::builtin(name).expect("a built-in profile");
        let limit = link_bytes_per_second(&profile);
        let got = rate(name, Op::Read, false, 64, 131_072, 40_000);
        println!("{name}: {got:.3e} B/s, data sheet {rated:.3e}, link {limit:.3e}");
        assert!(got <= limit * 1.001, "{name}: {got:.3e} of {limit:.3e} B/s of the link");
        assert!(got >= 0.8 * rated, "{name}: {got:.3e} of {rated:.3e} B/s");
    }
    let pcie_4 = rate("samsung-980-pro", Op::Read, false, 64, 131_072, 40_000);
    let pcie_5 = rate("samsung-pm9d3a", Op::Read, false, 64, 131_072, 40_000);
    assert!(pcie_5 > 1.5 * pcie_4, "{pcie_5:.3e} and {pcie_4:.3e}");
}

/// With many in flight the cores, made to serve the rated reads, or the planes, with one sense each
/// at a time, are the limit.
#[test]
fn random_reads_are_limited_by_cores_or_dies_and_by_latency_at_depth_1() {
    for name in DRIVES {
        let profile = Profile::builtin(name).expect("a built-in profile");
        let (firmware, nand) = (&profile.firmware, &profile.nand);
        let core_ns = firmware.read_command_ns.value + firmware.read_page_ns.value;
        let sense_ns = nand.read_ns.value.iter().sum::<u64>() / nand.read_ns.value.len() as u64;
        let cores = f64::from(firmware.cores.value) * 1e9 / core_ns as f64;
        assert!(nand.independent_plane_reads.as_ref().is_some_and(|reads| reads.value));
        let planes = f64::from(nand.dies.value) * f64::from(nand.planes.value);
        let planes = planes * 1e9 / sense_ns as f64;
        let many = rate(name, Op::Read, true, 1024, 4096, 400_000) / 4096.0;
        let limit = cores.min(planes);
        println!("{name}: {many:.0} reads/s; cores allow {cores:.0}, planes {planes:.0}");
        assert!((0.8 * limit..1.02 * limit).contains(&many), "{name}: {many} of {limit}");
        let one = rate(name, Op::Read, true, 1, 4096, 2_000) / 4096.0;
        assert!(one < 1e9 / sense_ns as f64, "{name}: {one}");
    }
}

/// 4 KiB random writes program four times what the host writes, 16 KiB ones once; the TLC drives
/// write 4 KiB as they are.
#[test]
fn the_write_amplification_of_the_qlc_drive_is_its_indirection_unit() {
    let amplification = |name: &str, block: u32| {
        let mut drive = fresh(name);
        let job = Job { op: Op::Write, random: true, threads: 32, block, area: 64 << 30, first: 0 };
        let (_, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, 40_000);
        let health = drive.telemetry(end + Nanos::from_millis(100));
        health.nand_bytes_written as f64 / health.host_bytes_written as f64
    };
    let small = amplification("solidigm-d5-p5336", 4096);
    let whole = amplification("solidigm-d5-p5336", 16_384);
    assert!((3.9..4.1).contains(&small), "{small}");
    assert!((0.9..1.1).contains(&whole), "{whole}");
    let tlc = amplification("samsung-pm9d3a", 4096);
    assert!((0.9..1.1).contains(&tlc), "{tlc}");
    let profile = Profile::builtin("solidigm-d5-p5336").expect("a built-in profile");
    assert_eq!(profile.indirection_unit_bytes(), 16 * KIB);
}

/// Small random writes cost the QLC drive a read and a program of a whole unit each: fewer of them
/// per second than of 16 KiB.
#[test]
fn small_writes_to_the_qlc_drive_are_slower_than_whole_units() {
    let name = "solidigm-d5-p5336";
    // More than its buffer holds.
    let small = rate(name, Op::Write, true, 64, 4096, 60_000) / 4096.0;
    let whole = rate(name, Op::Write, true, 64, 16_384, 60_000) / 16_384.0;
    assert!(small <= 1.02 * whole, "{small} and {whole} writes/s");
    let sequential = rate(name, Op::Write, false, 16, 131_072, 20_000);
    println!(
        "{small:.0} writes/s of 4 KiB, {whole:.0} of 16 KiB, {sequential:.3e} B/s in sequence"
    );
    assert!(sequential > 4.0 * small * 4096.0, "{sequential:.3e}");
}

/// The client drive writes into its SLC cache first, then directly to TLC: about the data sheet's
/// 5,000 and 2,000 MB/s.
#[test]
fn the_client_drive_falls_from_slc_to_tlc_rate() {
    let mut drive = drive(
        "samsung-980-pro",
        DriveOptions { state: assay_ssd::InitialState::Fresh, ..DriveOptions::default() },
    );
    let job = |first| Job {
        op: Op::Write,
        random: false,
        threads: 8,
        block: 1 << 20,
        area: 900 << 30,
        first,
    };
    let gib = 1 << 10;
    let (cached, at) = run(&mut drive, job(0), Nanos::ZERO, Nanos::MAX, 40 * gib);
    let cached = cached as f64 / at.as_secs_f64();
    let (_, full) = run(&mut drive, job(5 << 30), at, Nanos::MAX, 80 * gib);
    let (direct, end) = run(&mut drive, job(15 << 30), full, Nanos::MAX, 20 * gib);
    let direct = direct as f64 / (end - full).as_secs_f64();
    println!("into the cache {cached:.3e} B/s, beside it {direct:.3e}");
    assert!((3.5e9..6e9).contains(&cached), "{cached:.3e}");
    assert!((1.4e9..2.6e9).contains(&direct), "{direct:.3e}");
}
