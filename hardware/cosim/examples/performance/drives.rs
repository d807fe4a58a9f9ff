//! The core with simulated drives: sweep of lengths, queue depth.

use assay_cosim::CYCLE_NS;
use assay_io::clock::Clock;
use assay_ssd::Profile;
use assay_units::MIB;

use crate::measure::{self, Surroundings, record, replay};
use crate::{head, row};

const PUBLISHED: &str = include_str!("../../../../reference/streamer_chunk_sweep.csv");
const SWEPT: &str = "mle-brief-960gb";
const CHUNK_BYTES: u64 = 128 << 10;
/// Chunks per stream of the depth table.
const DEPTH_CHUNKS: u64 = 48;
/// Commands in flight that are tried, ascending; the last is the core's ring.
const DEPTHS: [u32; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// Share of the rate with a full ring that is enough.
const ENOUGH: f64 = 0.98;

fn mib_per_s(chunks: u64, cycles: u64) -> f64 {
    let bytes = (chunks * CHUNK_BYTES) as f64;
    bytes / (cycles as f64 * CYCLE_NS as f64 / 1e9) / MIB as f64
}

/// Rate of a row of the published sweep.
fn published(operation: &str, chunks: u64) -> String {
    let wanted = format!("{SWEPT},{operation},{chunks},");
    let line = PUBLISHED.lines().find(|line| line.starts_with(&wanted));
    line.and_then(|line| line.rsplit(',').next()).unwrap_or("-").to_owned()
}

/// Pause between writing and reading a stream, cycles: 10 ms, in which the drive writes out its
/// buffer.
const PAUSE_CYCLES: u64 = 10_000_000 / CYCLE_NS;

/// Streams of `smallest`, twice `smallest` ... `largest` chunks, each written to a new drive and
/// read back.
pub fn sweep(smallest: u64, largest: u64) {
    head(&[
        "chunks",
        "written, MiB/s",
        "published",
        "read, MiB/s",
        "published",
        "cycles to write",
        "cycles to read",
        "time to simulate, s",
    ]);
    let mut chunks = smallest.max(1);
    while chunks <= largest {
        let clock = Clock::monotonic();
        let began = clock.now();
        let mut core = match measure::core("w128", &Surroundings::from_profile(SWEPT)) {
            Ok(core) => core,
            Err(reason) => return println!("{reason}"),
        };
        let written = record(&mut core, chunks);
        core.world().run(PAUSE_CYCLES).expect("the simulation runs");
        let read = replay(&mut core, chunks);
        row(&[
            chunks.to_string(),
            format!("{:.0}", mib_per_s(chunks, written)),
            published("write", chunks),
            format!("{:.0}", mib_per_s(chunks, read)),
            published("read", chunks),
            written.to_string(),
            read.to_string(),
            format!("{:.1}", (clock.now() - began).0 as f64 * 1e-9),
        ]);
        chunks *= 2;
    }
}

/// The drive of this name, or all that are NVMe drives.
pub fn profiles(of: Option<&str>) -> Vec<(String, Profile)> {
    let names = match of {
        Some(name) => vec![name.to_owned()],
        None => Profile::names().iter().map(|&n| n.to_owned()).collect(),
    };
    let profiles = names.into_iter().map(|name| {
        let profile = Profile::builtin(&name).expect("a built-in profile");
        (name, profile)
    });
    profiles.filter(|(_, profile)| of.is_some() || profile.link.sata.is_none()).collect()
}

/// Rates of recording and replay with so many commands in flight.
fn rates(name: &str, depth: u32) -> Result<[f64; 2], String> {
    let mut surroundings = Surroundings::from_profile(name);
    surroundings.max_commands = depth;
    let mut core = measure::core("w128", &surroundings)?;
    let written = record(&mut core, DEPTH_CHUNKS);
    core.world().run(PAUSE_CYCLES).expect("the simulation runs");
    let read = replay(&mut core, DEPTH_CHUNKS);
    Ok([written, read].map(|cycles| mib_per_s(DEPTH_CHUNKS, cycles)))
}

/// Commands in flight that hide a drive's latency, per profile.
pub fn depth(of: Option<&str>) {
    head(&[
        "drive",
        "direction",
        "32 in flight, MiB/s",
        "1 in flight, MiB/s",
        "latency of one, us",
        "by Little's law",
        "least for 98 %",
        "its rate, MiB/s",
        "time to simulate, s",
    ]);
    for (name, _) in profiles(of) {
        let clock = Clock::monotonic();
        let began = clock.now();
        match depths_of(&name) {
            Ok(rows) => {
                let seconds = (clock.now() - began).0 as f64 * 1e-9;
                for mut cells in rows {
                    cells.push(format!("{seconds:.1}"));
                    row(&cells);
                }
            }
            Err(reason) => println!("{name}: {reason}"),
        }
    }
}

fn depths_of(name: &str) -> Result<Vec<Vec<String>>, String> {
    let [least, .., most] = DEPTHS;
    let (full, single) = (rates(name, most)?, rates(name, least)?);
    let mut found = [(most, full[0]), (most, full[1])];
    let is_enough = |direction: usize, rate: f64| rate >= ENOUGH * full[direction];
    let mut open = [true; 2];
    for depth in DEPTHS {
        if open == [false; 2] || depth == most {
            break;
        }
        let rates = if depth == least { single } else { rates(name, depth)? };
        for direction in 0..2 {
            if open[direction] && is_enough(direction, rates[direction]) {
                open[direction] = false;
                found[direction] = (depth, rates[direction]);
            }
        }
    }
    let rows = ["record", "replay"].iter().enumerate();
    let rows = rows.map(|(at, direction)| {
        // With one in flight, the time per chunk is its latency.
        let latency_us = CHUNK_BYTES as f64 / (single[at] * MIB as f64) * 1e6;
        let (depth, rate) = found[at];
        vec![
            name.to_owned(),
            (*direction).to_owned(),
            format!("{:.0}", full[at]),
            format!("{:.0}", single[at]),
            format!("{latency_us:.0}"),
            format!("{:.1}", full[at] / single[at]),
            depth.to_string(),
            format!("{rate:.0}"),
        ]
    });
    Ok(rows.collect())
}
