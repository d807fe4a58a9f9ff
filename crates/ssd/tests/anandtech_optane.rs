//! AnandTech Optane Memory: statements of the review, and the published percentiles
//! (latency_percentiles.csv).
//!
//! The review preconditions with two full random 4 KiB overwrites. Here only the tested area is
//! overwritten twice, on a filled drive, which fragments it as much in a fraction of the time.

use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{GIB, Nanos, Op};
use common::queued::{CommandTiming, Queued, run_queued};

use crate::common;

/// Host time per I/O of the review and the percentiles.
const HOST: Nanos = Nanos(900);
const SEQUENTIAL: u32 = 131_072;

/// A drive whose first `area` bytes were overwritten twice at random, and the time when its
/// programs have ended.
struct Conditioned {
    drive: Drive,
    now: Nanos,
    area: u64,
}

impl Conditioned {
    fn new(name: &str, area: u64) -> Conditioned {
        let mut drive = common::drive(name, DriveOptions::default());
        let mut job = Queued::report_e(Op::Write, true, 32, 4096, 2 * area / 4096);
        job.area = area;
        let end = run_queued(&mut drive, job, Nanos::ZERO, HOST).end;
        let now = end + Nanos::from_millis(100);
        Conditioned { drive, now, area }
    }

    fn run(&self, op: Op, random: bool, depth: u32, block: u32, commands: u64) -> CommandTiming {
        let mut job = Queued::report_e(op, random, depth, block, commands);
        job.area = self.area;
        run_queued(&mut self.drive.clone(), job, self.now, HOST)
    }

    /// Sequential MB/s at this depth, 128 KiB.
    fn rate(&self, op: Op, depth: u32) -> f64 {
        self.run(op, false, depth, SEQUENTIAL, 8_000).mb_per_s
    }
}

fn near(name: &str, simulated: f64, published: f64, percent: f64) {
    let error = (simulated / published - 1.0) * 100.0;
    assert!(error.abs() <= percent, "{name}: {simulated:.1}, published {published}: {error:+.1} %");
}

/// Rows of latency_percentiles.csv. `mb_s` matches neither MB/s nor MiB/s of `kiops` (4 KiB each);
/// compared as decimal megabytes.
#[test]
fn published_percentiles() {
    let optane = Conditioned::new("intel-optane-p4800x", GIB);
    let flash = Conditioned::new("intel-p3700", 8 * GIB);
    for (name, drive, depth, [mb_s, kiops, mean, median, p99, p99999]) in [
        ("P4800X", &optane, 1, [413.0, 108.3, 8.9, 9.0, 10.0, 37.0]),
        ("P4800X", &optane, 16, [2231.0, 584.8, 25.5, 25.0, 41.0, 81.0]),
        ("P3700", &flash, 1, [48.7, 12.8, 77.9, 76.0, 96.0, 2768.0]),
        ("P3700", &flash, 16, [637.9, 167.2, 93.9, 91.0, 163.0, 2320.0]),
    ] {
        let out = drive.run(Op::Read, true, depth, 4096, 1_500_000);
        let name = |what: &str| format!("{name} at depth {depth}, {what}");
        near(&name("MB/s"), out.mb_per_s, mb_s, 10.0);
        near(&name("kIOPS"), out.kiops, kiops, 10.0);
        near(&name("mean"), out.mean, mean, 10.0);
        near(&name("median"), out.median, median, 10.0);
        near(&name("p99"), out.p99, p99, 10.0);
        near(&name("p99.999"), out.p99999, p99999, 25.0);
    }
}

#[test]
fn both_optane_drives_saturate_at_depth_two_and_flash_nearly_at_depth_one() {
    for name in ["intel-optane-p4800x", "intel-optane-memory-32gb"] {
        let drive = Conditioned::new(name, GIB);
        for op in [Op::Read, Op::Write] {
            let rates = [1, 2, 8].map(|depth| drive.rate(op, depth));
            assert!(rates[0] < 0.985 * rates[2], "{name} {op:?} {rates:?}");
            assert!(rates[1] > 0.985 * rates[2], "{name} {op:?} {rates:?}");
        }
    }
    for (name, area) in [("samsung-960-evo", 16 * GIB), ("crucial-mx300", 16 * GIB)] {
        let drive = Conditioned::new(name, area);
        let rates = [1, 2, 8].map(|depth| drive.rate(Op::Read, depth));
        assert!(rates[0] > 0.85 * rates[2], "{name} {rates:?}");
    }
}

#[test]
fn the_960_evo_is_close_at_depth_one_and_its_tails_are_about_twice_as_long() {
    let evo = Conditioned::new("samsung-960-evo", 16 * GIB);
    let optane = Conditioned::new("intel-optane-memory-32gb", GIB);
    let rate = |depth| optane.rate(Op::Read, depth) / evo.rate(Op::Read, depth);
    assert!((1.0..1.2).contains(&rate(1)), "{}", rate(1));
    assert!(rate(8) > 1.0, "{}", rate(8));
    let [flash, media] =
        [&evo, &optane].map(|drive| drive.run(Op::Read, false, 16, SEQUENTIAL, 120_000));
    let (p99, p99999) = (flash.p99 / media.p99, flash.p99999 / media.p99999);
    assert!((1.5..2.5).contains(&p99), "{p99}");
    assert!((1.5..4.0).contains(&p99999), "{p99999}");
}

#[test]
fn the_p4800x_is_slow_at_small_sequential_writes() {
    let [p4800x, memory, evo] =
        ["intel-optane-p4800x", "intel-optane-memory-32gb", "samsung-960-evo"]
            .map(|name| Conditioned::new(name, GIB));
    let rate = |drive: &Conditioned, block| drive.run(Op::Write, false, 1, block, 4_000).mb_per_s;
    for block in [512, 1024, 2048] {
        assert!(rate(&p4800x, block) < rate(&memory, block), "{block}");
    }
    assert!(rate(&p4800x, 512) < rate(&evo, 512));
    assert!(rate(&p4800x, 4096) > rate(&memory, 4096), "from 4 KiB on");
}

#[test]
fn the_mx300_gains_nothing_from_depth_one_to_two_in_writes() {
    let drive = Conditioned::new("crucial-mx300", 16 * GIB);
    let [one, two] = [1, 2].map(|depth| drive.rate(Op::Write, depth));
    assert!(two < 1.02 * one, "{one} {two}");
    // One queue of 32 commands: the rest waits in the host.
    let [full, more] = [32, 64].map(|depth| drive.run(Op::Read, true, depth, 4096, 40_000));
    near("MX300 random reads", full.kiops, 92.0, 5.0);
    near("the same at depth 64", more.kiops, full.kiops, 1.0);
}

/// Specifications and measurements of Optane drives: AT11930p1, TH5030p6, AT11930ts, N3DOPT and
/// AT11953p7 in docs/sources.md.
#[test]
fn optane_rates() {
    let drive = Conditioned::new("intel-optane-p4800x", GIB);
    near("P4800X read", drive.rate(Op::Read, 8), 2400.0, 5.0);
    near("P4800X write", drive.rate(Op::Write, 8), 2000.0, 5.0);
    let kiops =
        |drive: &Conditioned, op, depth, block| drive.run(op, true, depth, block, 100_000).kiops;
    near("P4800X random write", kiops(&drive, Op::Write, 16, 4096), 500.0, 5.0);
    near("P4800X 8 KiB at 8", kiops(&drive, Op::Read, 8, 8192), 280.0, 10.0);
    let (four, eight) = (kiops(&drive, Op::Read, 4, 8192), kiops(&drive, Op::Read, 8, 8192));
    assert!(four > 0.95 * eight, "8 KiB reads peak at depth 4: {four} {eight}");
    let shifted = |shift| {
        let mut job = Queued::report_e(Op::Write, false, 1, SEQUENTIAL, 8_000);
        (job.area, job.shift) = (GIB, shift);
        run_queued(&mut drive.drive.clone(), job, drive.now, HOST).mb_per_s
    };
    near("P4800X aligned at depth 1", shifted(0), 2000.0, 10.0);
    near("P4800X unaligned at depth 1", shifted(512), 1300.0, 10.0);

    let memory = Conditioned::new("intel-optane-memory-32gb", GIB);
    near("Optane Memory read", memory.rate(Op::Read, 8), 1350.0, 5.0);
    near("Optane Memory write", memory.rate(Op::Write, 8), 290.0, 5.0);
    near("Optane Memory random write", kiops(&memory, Op::Write, 16, 4096), 65.0, 10.0);
    near("Optane Memory random read", kiops(&memory, Op::Read, 8, 4096), 317.0, 5.0);
    let [slow, fast] =
        [&drive, &memory].map(|drive| drive.run(Op::Read, true, 1, 4096, 20_000).mean);
    near("us less than the P4800X at depth 1", slow - fast, 2.0, 20.0);
}

/// Writing in place has no history effect: here 16 random overwrites of an area.
#[test]
fn xpoint_write_rate_is_constant_for_hours() {
    let fresh = Conditioned::new("intel-optane-memory-32gb", GIB / 4);
    let mut worn = fresh.drive.clone();
    let mut job = Queued::report_e(Op::Write, true, 4, 4096, GIB / 1024);
    job.area = GIB / 4;
    let long = run_queued(&mut worn, job, fresh.now, HOST);
    job.commands = 20_000;
    let first = run_queued(&mut fresh.drive.clone(), job, fresh.now, HOST);
    let last = run_queued(&mut worn, job, long.end + Nanos(1_000_000), HOST);
    near("random writes", last.kiops, first.kiops, 0.5);
    let telemetry = worn.telemetry(last.end);
    assert_eq!(telemetry.nand_bytes_written, telemetry.host_bytes_written);
    assert_eq!(telemetry.superblocks_erased, 0);
}

/// AT13951p3: 16 us at depth 1, and 4 kB is the size with the most IOPS.
#[test]
fn the_983_zet_reads_best_at_four_kib() {
    let drive = Conditioned::new("samsung-983-zet", GIB);
    let at = |block| drive.run(Op::Read, true, 1, block, 20_000);
    let best = at(4096);
    near("983 ZET mean", best.mean, 16.0, 5.0);
    for block in [512, 1024, 2048, 8192, 16_384] {
        assert!(at(block).kiops < best.kiops, "{block}");
    }
    // Its tail is below the mean of MLC and TLC drives.
    assert!(best.p99999 < 60.0, "{}", best.p99999);
}

/// A worn P3700 after JESD218's retention of enterprise drives has read retries, visible only in
/// the tail.
#[test]
fn wear_lengthens_the_tail() {
    let profile = Profile::builtin("intel-p3700").unwrap();
    let tail = |cycles: &str| {
        let mut options = DriveOptions::default();
        options.set("cycles", cycles).unwrap();
        if cycles != "0" {
            options.set("retention", "90d@40C").unwrap();
        }
        let mut drive = Drive::new(profile.clone(), options).unwrap();
        let job = Queued::report_e(Op::Read, true, 1, 4096, 60_000);
        let out = run_queued(&mut drive, job, Nanos::ZERO, HOST);
        (out.median, out.p99)
    };
    let (young, old) = (tail("0"), tail("10000"));
    near("median", old.0, young.0, 8.0);
    assert!(old.1 > 1.3 * young.1, "{young:?} {old:?}");
}
