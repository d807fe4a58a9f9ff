//! How fast the model runs, in simulated commands per second of one core, submission and completion included.
//!
//! ```text
//! cargo build --release -p assay-ssd --example speed && perf stat ./target/release/examples/speed [PROFILE] [CASE] [COMMANDS] [AREA_GIB]
//! ```
//! Cases: `read` (4 KiB random reads, depth 32, on the filled drive), `mapped` (the same after every unit of the area (16 GiB) was
//! rewritten, so that the map's tables are in memory), `write` (4 KiB random writes, depth 32, on the filled drive). It prints what
//! was simulated; the time comes from the shell, because nothing here reads a clock.
#![allow(missing_docs)]

use std::error::Error;

use assay_ssd::{Command, Drive, DriveOptions, Profile};
use assay_units::{DataClass, GIB, Nanos, Op, Rng};

fn run(drive: &mut Drive, op: Op, count: u64, len: u32, random: bool, area: u64) -> Nanos {
    let mut rng = Rng::stream(1, "offsets");
    let mut out = Vec::with_capacity(64);
    let mut sent = 0_u64;
    let mut now = drive.next_event().unwrap_or_default();
    let mut send = |drive: &mut Drive, now: Nanos, tag: u32| {
        let block = u64::from(len);
        let offset_bytes = block
            * if random {
                rng.below(area / block)
            } else {
                sent % (area / block)
            };
        sent += 1;
        let command = Command {
            tag,
            queue: tag as u16,
            op,
            offset_bytes,
            len_bytes: len,
            data: DataClass::Incompressible,
        };
        drive.submit(now, command);
    };
    for tag in 0..32 {
        send(drive, now, tag);
    }
    let mut done = 0;
    while done < count {
        let Some(event) = drive.next_event() else {
            break;
        };
        now = event;
        drive.advance(now, &mut out);
        for completion in out.drain(..) {
            done += 1;
            send(drive, now, completion.tag);
        }
    }
    drive.advance(Nanos(u64::MAX - 1), &mut out);
    now
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "samsung-951".to_owned());
    let case = args.next().unwrap_or_else(|| "read".to_owned());
    let count: u64 = args.next().map_or(Ok(20_000_000), |n| n.parse())?;
    let area = GIB * args.next().map_or(Ok(16), |n| n.parse())?;
    let mut drive = Drive::new(Profile::builtin(&name)?, DriveOptions::default())?;
    let start = match case.as_str() {
        "mapped" => run(&mut drive, Op::Write, area / 131_072, 131_072, false, area),
        _ => Nanos::ZERO,
    };
    let op = if case == "write" { Op::Write } else { Op::Read };
    let end = run(&mut drive, op, count, 4096, true, area);
    let health = drive.telemetry(end);
    println!(
        "{name} {case}: {count} commands in {} simulated, {:.0}/s; written to flash / by host {:.2}; {} MiB of memory",
        end - start,
        count as f64 / (end - start).as_secs_f64(),
        health.nand_bytes_written as f64 / health.host_bytes_written.max(1) as f64,
        drive.resident_bytes() >> 20,
    );
    Ok(())
}
