//! How fast the model runs on one core, submission and completion included, against the goals it is held to.
//!
//! ```text
//! cargo build --release -p assay-ssd --example speed
//! ./target/release/examples/speed                      # every goal, then cost against depth, run length and capacity
//! ./target/release/examples/speed quick                # the same with fewer commands
//! ./target/release/examples/speed PROFILE CASE [COMMANDS] [AREA_GIB] [DEPTH]
//! ```
//! Cases: `read` (4 KiB random reads on the filled drive), `mapped` (the same after every unit of the area was rewritten, so that
//! the map's tables are in memory), `write` (4 KiB random writes on the filled drive), `fresh` (the same on a fresh one),
//! `fill` (the area of a fresh drive once from end to end, 128 KiB at a time, whatever number of commands is asked for). The depth
//! is 32 unless said otherwise. Each line ends in a hash of every completion: a change that only makes the model faster
//! leaves all of them as they are.
//!
//! Tables larger than the processor's address cache gain from huge pages, which the C library gives when asked:
//! `GLIBC_TUNABLES=glibc.malloc.hugetlb=1`.
#![allow(missing_docs)]
// The one place here that asks what time it is: a stopwatch around the model, which itself never does.
#![allow(clippy::disallowed_methods)]

use std::error::Error;
use std::time::Instant;

use assay_ssd::{Command, Drive, DriveOptions, InitialState, Profile};
use assay_units::rng::mix;
use assay_units::{DataClass, GIB, Nanos, Op, Rng};

type Failure = Box<dyn Error>;

/// What is asked of a drive.
#[derive(Clone, Copy)]
struct Load {
    op: Op,
    len: u32,
    random: bool,
    area: u64,
    depth: u32,
    count: u64,
}

/// What it cost.
struct Cost {
    seconds: f64,
    simulated: Nanos,
    programs: u64,
    host_writes: u64,
    hash: u64,
}

fn run(drive: &mut Drive, load: Load, start: Nanos) -> Cost {
    let before = drive.telemetry(start);
    let clock = Instant::now();
    let mut rng = Rng::stream(1, "offsets");
    let mut out = Vec::with_capacity(64);
    let blocks = load.area / u64::from(load.len);
    let mut next = 0_u64;
    let mut sent = 0_u64;
    let mut send = |drive: &mut Drive, now: Nanos, tag: u32| {
        let block = if load.random {
            rng.below(blocks)
        } else {
            next += 1;
            if next > blocks {
                next = 1;
            }
            next - 1
        };
        let command = Command {
            tag,
            queue: tag as u16,
            op: load.op,
            offset_bytes: block * u64::from(load.len),
            len_bytes: load.len,
            data: DataClass::Incompressible,
        };
        drive.submit(now, command);
    };
    while sent < load.count.min(u64::from(load.depth)) {
        send(drive, start, sent as u32);
        sent += 1;
    }
    let mut now = start;
    let mut hash = 0_u64;
    while let Some(event) = drive.next_event() {
        now = event;
        drive.advance(now, &mut out);
        for completion in out.drain(..) {
            let word = completion.at.0 ^ u64::from(completion.tag) << 48;
            hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
            if sent < load.count {
                send(drive, now, completion.tag);
                sent += 1;
            }
        }
    }
    let seconds = clock.elapsed().as_secs_f64();
    let after = drive.telemetry(now);
    let health = after.nand_bytes_written ^ after.superblocks_erased << 40;
    Cost {
        seconds,
        simulated: now,
        programs: (after.nand_bytes_written - before.nand_bytes_written) / 4096,
        host_writes: (after.host_bytes_written - before.host_bytes_written) / 4096,
        hash: mix(mix(hash, health), u64::from(after.power_mw)),
    }
}

/// A profile with `factor` times the dies and the capacity.
fn scaled(name: &str, factor: u64) -> Result<Profile, Failure> {
    let mut profile = Profile::builtin(name)?;
    profile.nand.dies.value *= u16::try_from(factor)?;
    profile.identity.capacity_bytes.value *= factor;
    Ok(profile)
}

fn fresh() -> DriveOptions {
    DriveOptions {
        state: InitialState::Fresh,
        ..DriveOptions::default()
    }
}

fn random(op: Op, area: u64, depth: u32, count: u64) -> Load {
    Load {
        op,
        len: 4096,
        random: true,
        area,
        depth,
        count,
    }
}

fn sequential(area: u64) -> Load {
    Load {
        op: Op::Write,
        len: 131_072,
        random: false,
        area,
        depth: 32,
        count: area / 131_072,
    }
}

fn reads(name: &str, count: u64) -> Result<(), Failure> {
    let mut drive = Drive::new(Profile::builtin(name)?, DriveOptions::default())?;
    let area = drive.identity().capacity_bytes;
    let cost = run(&mut drive, random(Op::Read, area, 32, count), Nanos::ZERO);
    println!(
        "{name}, 4 KiB random reads, filled: {:.2} M/s (goal 10)",
        count as f64 / cost.seconds / 1e6
    );
    Ok(())
}

/// Every goal with its measured rate. `share` scales the numbers of commands.
fn goals(share: f64) -> Result<(), Failure> {
    let some = |count: u64| (count as f64 * share) as u64;
    reads("samsung-951", some(20_000_000))?;
    reads("intel-600p", some(20_000_000))?;

    let mut drive = Drive::new(scaled("samsung-951", 2)?, fresh())?;
    let area = drive.identity().capacity_bytes;
    let units = area / 4096;
    let cost = run(
        &mut drive,
        random(Op::Write, area, 32, some(20_000_000)),
        Nanos::ZERO,
    );
    println!(
        "256 GB fresh, 4 KiB random writes: {:.2} M/s (goal 4)",
        some(20_000_000) as f64 / cost.seconds / 1e6
    );

    let mut drive = Drive::new(scaled("samsung-951", 2)?, DriveOptions::default())?;
    let count = some(units * 2);
    let cost = run(&mut drive, random(Op::Write, area, 32, count), Nanos::ZERO);
    println!(
        "256 GB preconditioned by {:.2} random overwrites: {:.1} s (goal 40 for 2)",
        count as f64 / units as f64,
        cost.seconds
    );
    let cost = run(
        &mut drive,
        random(Op::Write, area, 32, some(10_000_000)),
        cost.simulated,
    );
    println!(
        "256 GB steady: {:.1} M page programs/s (goal 25), {:.2} M host writes/s (goal 3 at amplification 8) at amplification {:.2}",
        cost.programs as f64 / cost.seconds / 1e6,
        cost.host_writes as f64 / cost.seconds / 1e6,
        cost.programs as f64 / cost.host_writes.max(1) as f64
    );
    println!(
        "memory: {:.2} bytes per 4 KiB of drive (goal at most 10)",
        drive.resident_bytes() as f64 / units as f64
    );
    let end = cost.simulated;
    let cost = run(
        &mut drive,
        random(Op::Read, area, 32, some(10_000_000)),
        end,
    );
    println!(
        "256 GB steady, 4 KiB random reads: {:.2} M/s",
        some(10_000_000) as f64 / cost.seconds / 1e6
    );
    drop(drive);

    for name in ["samsung-951", "intel-600p"] {
        let mut profile = scaled(name, 1)?;
        let factor = 1_000_204_886_016 / profile.identity.capacity_bytes.value;
        profile = scaled(name, factor.max(1))?;
        let mut drive = Drive::new(profile, fresh())?;
        let area = drive.identity().capacity_bytes & !131_071;
        let area = some(area) & !131_071;
        let cost = run(&mut drive, sequential(area), Nanos::ZERO);
        println!(
            "{name} scaled to {} GB, {} GB filled sequentially: {:.2} s (goal 3 for 1000)",
            drive.identity().capacity_bytes / 1_000_000_000,
            area / 1_000_000_000,
            cost.seconds
        );
    }
    Ok(())
}

/// Cost per command as depth, run length and capacity grow.
fn growth(share: f64) -> Result<(), Failure> {
    let some = |count: u64| (count as f64 * share) as u64;
    let ns = |cost: &Cost, count: u64| cost.seconds * 1e9 / count as f64;
    for op in [Op::Read, Op::Write] {
        let mut line = format!("cost of a random 4 KiB {op:?} by depth:");
        for depth in [1, 4, 16, 64, 256, 1024] {
            let mut drive = Drive::new(scaled("samsung-951", 1)?, DriveOptions::default())?;
            let area = drive.identity().capacity_bytes;
            let count = some(4_000_000);
            let cost = run(&mut drive, random(op, area, depth, count), Nanos::ZERO);
            line += &format!(" {depth}: {:.0} ns;", ns(&cost, count));
        }
        println!("{line}");
    }
    let mut drive = Drive::new(scaled("samsung-951", 1)?, DriveOptions::default())?;
    let area = drive.identity().capacity_bytes;
    let mut line = "cost of a random read as the run goes on:".to_owned();
    let mut now = Nanos::ZERO;
    for part in 1..=5_u64 {
        let count = some(8_000_000);
        let cost = run(&mut drive, random(Op::Read, area, 32, count), now);
        now = cost.simulated;
        line += &format!(
            " {:.0} M: {:.0} ns;",
            (part * count) as f64 / 1e6,
            ns(&cost, count)
        );
    }
    println!("{line}");
    let mut reads =
        "cost of a random read by capacity (filled; after random overwrites):".to_owned();
    let mut writes =
        "cost of a random write by capacity (filled, before garbage collection):".to_owned();
    for factor in [1, 2, 8, 16, 50] {
        let mut drive = Drive::new(scaled("samsung-951", factor)?, DriveOptions::default())?;
        let area = drive.identity().capacity_bytes;
        let count = some(4_000_000);
        let filled = run(&mut drive, random(Op::Read, area, 32, count), Nanos::ZERO);
        let write = run(
            &mut drive,
            random(Op::Write, area, 32, count),
            filled.simulated,
        );
        let mixed = run(
            &mut drive,
            random(Op::Read, area, 32, count),
            write.simulated,
        );
        let gb = area / 1_000_000_000;
        reads += &format!(
            " {gb} GB: {:.0}, {:.0} ns;",
            ns(&filled, count),
            ns(&mixed, count)
        );
        writes += &format!(" {gb} GB: {:.0} ns;", ns(&write, count));
    }
    println!("{reads}\n{writes}");
    Ok(())
}

/// One case of one profile.
fn case(name: &str, mut args: impl Iterator<Item = String>) -> Result<(), Failure> {
    let case = args.next().unwrap_or_else(|| "read".to_owned());
    let count: u64 = args.next().map_or(Ok(20_000_000), |n| n.parse())?;
    let area = args.next().map_or(Ok(16), |n| n.parse::<u64>())? * GIB;
    let depth: u32 = args.next().map_or(Ok(32), |n| n.parse())?;
    let options = if matches!(case.as_str(), "fresh" | "fill") {
        fresh()
    } else {
        DriveOptions::default()
    };
    let mut drive = Drive::new(Profile::builtin(name)?, options)?;
    let area = area.min(drive.identity().capacity_bytes) & !131_071;
    let start = match case.as_str() {
        "mapped" => run(&mut drive, sequential(area), Nanos::ZERO).simulated,
        _ => Nanos::ZERO,
    };
    let op = if matches!(case.as_str(), "write" | "fresh") {
        Op::Write
    } else {
        Op::Read
    };
    let load = match case.as_str() {
        "fill" => sequential(area),
        _ => random(op, area, depth, count),
    };
    let (count, cost) = (load.count, run(&mut drive, load, start));
    println!(
        "{name} {case} at depth {depth}: {count} commands of {} GiB in {:.2} s, {:.2} M/s; simulated {}; programmed by host write {:.2}; {:.2} M page programs/s; {} MiB of memory; hash {:016x}",
        area / GIB,
        cost.seconds,
        count as f64 / cost.seconds / 1e6,
        cost.simulated - start,
        cost.programs as f64 / cost.host_writes.max(1) as f64,
        cost.programs as f64 / cost.seconds / 1e6,
        drive.resident_bytes() >> 20,
        cost.hash,
    );
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        None => goals(1.0).and_then(|()| growth(1.0)),
        Some("quick") => goals(0.1).and_then(|()| growth(0.1)),
        Some(name) => case(name, args),
    }
}
