//! The model runs in this process and thread, the whole of it, submission and completion included.
//! Processor time, not wall time: the model never waits, and other programs on the machine then
//! disturb only through caches and memory.

use anyhow::Result;
use assay_ssd::{Command, Drive, DriveOptions, InitialState, Profile};
use assay_units::{DataClass, Nanos, Op, Rng};

use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{Spread, cpu_s};

/// The profile that is scaled to the capacities asked for: 128 GB.
const SCALED: &str = "samsung-951";
const HOUR: &str = "plextor-m8pe-y";
/// Length of a command of a sequential fill in bytes.
const FILL_BYTES: u32 = 131_072;
const QUEUE_DEPTH: u32 = 32;
/// An odd number with its bits well spread: the multiplier of the Fx hash.
const HASH_FACTOR: u64 = 0x517c_c1b7_2722_0a95;
const GB: u64 = 1_000_000_000;

#[derive(Clone, Copy)]
pub struct Load {
    op: Op,
    len_bytes: u32,
    random: bool,
    depth: u32,
    count: u64,
    /// No command is sent from then on.
    until: Nanos,
    /// Consecutive loads on a drive need different ones: rewriting the same offsets would make them
    /// hot, and garbage collection cheaper than under uniform writes.
    seed: u64,
    /// All commands in queue 0, else one queue per tag.
    pub one_queue: bool,
}

impl Load {
    pub fn random(op: Op, depth: u32, count: u64) -> Load {
        Load {
            op,
            len_bytes: 4096,
            random: true,
            depth,
            count,
            until: Nanos::MAX,
            seed: 1,
            one_queue: false,
        }
    }

    fn with(self, op: Op) -> Load {
        Load { op, ..self }
    }

    fn fill(bytes: u64) -> Load {
        Load {
            len_bytes: FILL_BYTES,
            random: false,
            ..Load::random(Op::Write, QUEUE_DEPTH, bytes / u64::from(FILL_BYTES))
        }
    }
}

pub struct Cost {
    cpu_s: f64,
    /// Virtual time of the last completion.
    pub end: Nanos,
    programs: f64,
    host_writes: f64,
    hash: u64,
}

impl Cost {
    fn ns_each(&self, load: Load) -> f64 {
        self.cpu_s * 1e9 / load.count as f64
    }

    /// Millions of commands per second of processor time.
    pub fn millions_per_s(&self, load: Load) -> f64 {
        1e3 / self.ns_each(load)
    }
}

pub fn command(tag: u32, queue: u16, op: Op, offset_bytes: u64, len_bytes: u32) -> Command {
    Command { tag, queue, op, offset_bytes, len_bytes, data: DataClass::Incompressible, fua: false }
}

/// A closed loop of `load.depth` commands in flight.
pub fn run(bench: &Bench, drive: &mut Drive, load: Load, start: Nanos) -> Result<Cost> {
    bench.runner.check_stopped()?;
    let before = drive.telemetry(start);
    let blocks = (drive.identity().capacity_bytes / u64::from(load.len_bytes)).max(1);
    let mut rng = Rng::stream(load.seed, "offsets");
    let mut out = Vec::with_capacity(64);
    let mut sent = 0;
    let mut send = |drive: &mut Drive, now: Nanos, tag: u32| {
        let block = if load.random { rng.below(blocks) } else { sent % blocks };
        sent += 1;
        let queue = if load.one_queue { 0 } else { tag as u16 };
        let offset_bytes = block * u64::from(load.len_bytes);
        drive.submit(now, command(tag, queue, load.op, offset_bytes, load.len_bytes));
    };
    let from_s = cpu_s();
    let at_once = load.count.min(u64::from(load.depth));
    for tag in 0..at_once {
        send(drive, start, tag as u32);
    }
    let mut left = load.count - at_once;
    let mut hash = 0_u64;
    let mut now = start;
    while let Some(event) = drive.next_event() {
        now = event;
        drive.advance(now, &mut out);
        for completion in out.drain(..) {
            let word = completion.at.0 ^ u64::from(completion.tag) << 48;
            hash = (hash.rotate_left(5) ^ word).wrapping_mul(HASH_FACTOR);
            if left > 0 && now < load.until {
                left -= 1;
                send(drive, now, completion.tag);
            }
        }
    }
    let cpu_s = cpu_s() - from_s;
    let after = drive.telemetry(now);
    let units = |after: u64, before: u64| (after - before) as f64 / 4096.0;
    Ok(Cost {
        cpu_s,
        end: now,
        programs: units(after.nand_bytes_written, before.nand_bytes_written),
        host_writes: units(after.host_bytes_written, before.host_bytes_written),
        hash,
    })
}

/// A drive of `factor` times the profile's dies and capacity.
pub fn scaled(name: &str, factor: u64, state: InitialState) -> Result<Drive> {
    let mut profile = Profile::builtin(name)?;
    profile.nand.dies.value *= u16::try_from(factor)?;
    profile.identity.capacity_bytes.value *= factor;
    let options = DriveOptions { state, ..DriveOptions::default() };
    let drive = Drive::new(profile, options)?;
    // As `sim:` drives have it.
    assay_sim_host::prefer_huge_tables(&drive);
    Ok(drive)
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "simulation",
        "The simulated drive",
        "The whole model on one core, in this process: 4 KiB commands at random addresses of the \
         whole drive at queue depth 32 unless stated otherwise, on the profile samsung-951 scaled \
         by dies to the given capacity. Processor time, including submission and completion.",
    );
    reads(bench, &mut section)?;
    writes(bench, &mut section)?;
    fill(bench, &mut section)?;
    hour(bench, &mut section)?;
    growth(bench, &mut section)?;
    section.commands.push("assay-bench simulation".to_owned());
    Ok(section)
}

/// The number of commands: a tenth when quick.
fn commands(bench: &Bench, full: u64) -> u64 {
    if bench.quick { full / 10 } else { full }
}

fn reads(bench: &Bench, section: &mut Section) -> Result<()> {
    let mut table = Table::new(&["random reads", "M/s", "hash of the completions"]);
    let mut least = f64::MAX;
    for (label, name, factor) in [
        ("samsung-951, filled", "samsung-951", 1),
        ("intel-600p, filled", "intel-600p", 1),
        ("6.4 TB, filled", SCALED, 50),
    ] {
        let mut hash = 0;
        let rates = bench.repeat(label, bench.rounds(), |_| {
            let mut drive = scaled(name, factor, InitialState::Filled)?;
            let load = Load::random(Op::Read, QUEUE_DEPTH, commands(bench, 10_000_000));
            let cost = run(bench, &mut drive, load, Nanos::ZERO)?;
            hash = cost.hash;
            Ok(cost.millions_per_s(load))
        })?;
        let rate = Spread::new(rates);
        table.row([&label, &rate.show(2), &format!("{hash:016x}")]);
        if factor == 1 {
            least = least.min(rate.median);
        } else {
            let reached = format!("{} M/s", rate.show(2));
            section.goal("1 M reads/s at 6.4 TB", reached, rate.median >= 1.0);
        }
    }
    section.goal(
        "10 M random reads/s on every profile measured",
        format!("{least:.2} M/s on the slowest"),
        least >= 10.0,
    );
    section.tables.push(table);
    Ok(())
}

fn writes(bench: &Bench, section: &mut Section) -> Result<()> {
    let fresh = bench.repeat("fresh writes", bench.rounds(), |_| {
        let mut drive = scaled(SCALED, 2, InitialState::Fresh)?;
        let load = Load::random(Op::Write, QUEUE_DEPTH, commands(bench, 10_000_000));
        Ok(run(bench, &mut drive, load, Nanos::ZERO)?.millions_per_s(load))
    })?;
    let fresh = Spread::new(fresh);
    section.goal(
        "4 M random writes/s on a fresh 256 GB drive",
        format!("{} M/s", fresh.show(2)),
        fresh.median >= 4.0,
    );

    let mut drive = scaled(SCALED, 2, InitialState::Filled)?;
    let units = drive.identity().capacity_bytes / 4096;
    let load = Load::random(Op::Write, QUEUE_DEPTH, commands(bench, 2 * units));
    let cost = run(bench, &mut drive, load, Nanos::ZERO)?;
    let overwrites = load.count as f64 / units as f64;
    let whole_s = cost.cpu_s * 2.0 / overwrites;
    section.goal(
        "256 GB preconditioned by two random overwrites in less than 40 s",
        format!("{:.1} s for {overwrites:.1}", cost.cpu_s),
        whole_s < 40.0 && !bench.quick,
    );
    let mut now = cost.end;
    let (mut programs, mut host, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let mut amplification = 0.0;
    bench.repeat("steady state", bench.rounds(), |round| {
        let load = Load {
            seed: 1 + round as u64,
            ..Load::random(Op::Write, QUEUE_DEPTH, commands(bench, 10_000_000))
        };
        let read = load.with(Op::Read);
        let cost = run(bench, &mut drive, load, now)?;
        programs.push(cost.programs / cost.cpu_s / 1e6);
        host.push(cost.host_writes / cost.cpu_s / 1e6);
        amplification = cost.programs / cost.host_writes.max(1.0);
        let cost = run(bench, &mut drive, read, cost.end)?;
        after.push(cost.millions_per_s(read));
        now = cost.end;
        Ok(())
    })?;
    let programs = Spread::new(programs);
    section.goal(
        "25 M page programs/s in steady state",
        format!("{} M/s", programs.show(1)),
        programs.median >= 25.0,
    );
    let bytes = drive.resident_bytes() as f64 / units as f64;
    section.goal(
        "at most 10 bytes of memory per 4 KiB of drive",
        format!("{bytes:.2}"),
        bytes <= 10.0,
    );
    let mut table = Table::new(&["256 GB", "M/s"]);
    let host_writes =
        format!("host writes, steady state at write amplification {amplification:.2}");
    for (label, rate) in [
        ("random writes, fresh", fresh),
        ("page programs, steady state", programs),
        (&host_writes, Spread::new(host)),
        ("random reads, steady state", Spread::new(after)),
    ] {
        table.row([&label, &rate.show(2)]);
    }
    section.tables.push(table);
    section.notes.push(
        "Processor time of a steady-state host write, by `perf record -e cpu-clock` on this class \
         of machine (write amplification 8): about a fifth is memory latency, the rest is \
         reservation and bookkeeping of about one page read and one program: some 2,200 \
         instructions by `valgrind --tool=callgrind` (on a drive reduced to 8 GB). About 900 of \
         them find and move a victim's valid data, 170 search gaps on channels and link, 230 are \
         programs, and the rest is the path from submission to completion. The lower bound is \
         memory: a moved unit needs its map entry (one DRAM miss), a host write its map entry and \
         the stale bit of its old location (two). Overlapping misses cost 11 to 15 ns each here, \
         a single one 140: garbage collection prefetches the entries of all units that it will \
         move (about 57), and map updates of host writes are batched by 64. That is 9 to 10 \
         misses or 110 to 130 ns per host write, 14 to 16 ns per program."
            .to_owned(),
    );
    section.notes.push(
        "A random read of a filled drive misses no cache: its 90 to 100 ns are some 1,170 \
         instructions (this measurement's own 90 among them) and four or five unpredictable \
         branches: whether a core is free, whether the die is free, which gap of the channel and \
         of the data path is used. 570 of the instructions are the path from the core over map, \
         die, channel, data path and link to the completion order, 150 the search for gaps, 70 \
         queue arbitration, and 380 submission, events and this measurement. After random \
         overwrites the map entry costs one more DRAM miss."
            .to_owned(),
    );
    Ok(())
}

fn fill(bench: &Bench, section: &mut Section) -> Result<()> {
    let mut table = Table::new(&["sequential fill", "s per TB"]);
    let mut worst: f64 = 0.0;
    for (name, factor) in [("samsung-951", 7), ("intel-600p", 3)] {
        let spans = bench.repeat("sequential fill", bench.rounds().min(3), |_| {
            let mut drive = scaled(name, factor, InitialState::Fresh)?;
            let bytes = commands(bench, drive.identity().capacity_bytes);
            let cost = run(bench, &mut drive, Load::fill(bytes), Nanos::ZERO)?;
            Ok(cost.cpu_s * 1000.0 * GB as f64 / bytes as f64)
        })?;
        let span = Spread::new(spans);
        worst = worst.max(span.median);
        table.row([&format!("{name}, {factor} times"), &span.show(2)]);
    }
    section.tables.push(table);
    section.goal(
        "1 TB filled sequentially in less than 3 s",
        format!("{worst:.2} s on the slower of two"),
        worst < 3.0,
    );
    Ok(())
}

fn hour(bench: &Bench, section: &mut Section) -> Result<()> {
    let mut drive = scaled(HOUR, 1, InitialState::Fresh)?;
    let load = Load::fill(commands(bench, drive.identity().capacity_bytes));
    let filled = run(bench, &mut drive, load, Nanos::ZERO)?;
    let span_s = commands(bench, 3600);
    let load = Load {
        until: filled.end + Nanos::from_secs(span_s),
        ..Load::random(Op::Write, QUEUE_DEPTH, u64::MAX)
    };
    let cost = run(bench, &mut drive, load, filled.end)?;
    let mut table = Table::new(&[HOUR, "s", "hash of the completions"]);
    for (label, cost) in [("sequential fill", &filled), ("random writes after it", &cost)] {
        let hash = format!("{:016x}", cost.hash);
        table.row([&label, &format!("{:.1}", cost.cpu_s), &hash]);
    }
    section.tables.push(table);
    let whole_s = cost.cpu_s * 3600.0 / span_s as f64;
    section.goal(
        "an hour of M8Pe-Y consistency after its fill in less than 30 s",
        format!("{:.1} s for {span_s} s", cost.cpu_s),
        whole_s < 30.0 && !bench.quick,
    );
    Ok(())
}

fn growth(bench: &Bench, section: &mut Section) -> Result<()> {
    let count = commands(bench, 4_000_000);
    let mut table = Table::new(&["queue depth, 128 GB", "read, ns", "write, ns"]);
    for depth in [1, 4, 16, 64, 256, 1024] {
        let cost = |op| {
            let load = Load::random(op, depth, count);
            let title = format!("depth {depth}");
            let costs = bench.repeat(&title, bench.rounds(), |_| {
                let mut drive = scaled(SCALED, 1, InitialState::Filled)?;
                Ok(run(bench, &mut drive, load, Nanos::ZERO)?.ns_each(load))
            })?;
            anyhow::Ok(Spread::new(costs).show(0))
        };
        table.row([&depth, &cost(Op::Read)?, &cost(Op::Write)?]);
    }
    section.tables.push(table);

    let mut table = Table::new(&[
        "capacity",
        "read, filled, ns",
        "write, filled, ns",
        "read, after those writes, ns",
    ]);
    let read = Load::random(Op::Read, QUEUE_DEPTH, count);
    let write = read.with(Op::Write);
    for factor in [1, 2, 8, 16, 50] {
        let mut costs: [Vec<f64>; 3] = Default::default();
        let mut gb = 0;
        bench.repeat("capacity", bench.rounds().min(3), |_| {
            let mut drive = scaled(SCALED, factor, InitialState::Filled)?;
            gb = drive.identity().capacity_bytes / GB;
            let mut now = Nanos::ZERO;
            for (load, costs) in [read, write, read].into_iter().zip(&mut costs) {
                let cost = run(bench, &mut drive, load, now)?;
                now = cost.end;
                costs.push(cost.ns_each(load));
            }
            Ok(())
        })?;
        let [filled, write, after] = costs.map(|costs| Spread::new(costs).show(0));
        table.row([&format!("{gb} GB"), &filled, &write, &after]);
    }
    section.tables.push(table);
    section.notes.push(
        "The first writes to a large filled drive include the allocation of map memory by the \
         operating system, once per 16 MiB of drive written. This causes the growth of the write \
         cost with capacity; it ends when every part of the drive has been written."
            .to_owned(),
    );

    let mut table = Table::new(&["random reads so far, 128 GB", "ns each"]);
    let load = Load::random(Op::Read, QUEUE_DEPTH, commands(bench, 8_000_000));
    let mut drive = scaled(SCALED, 1, InitialState::Filled)?;
    let mut now = Nanos::ZERO;
    for part in 1..=5 {
        let cost = run(bench, &mut drive, load, now)?;
        now = cost.end;
        let millions = (part * load.count) as f64 / 1e6;
        let each = format!("{:.0}", cost.ns_each(load));
        table.row([&format!("{millions:.1} M"), &each]);
    }
    section.tables.push(table);
    Ok(())
}
