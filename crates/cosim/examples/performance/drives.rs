//! The core with simulated drives: sweep of lengths, queue depth, planning of recorders.

use assay_cosim::CYCLE_NS;
use assay_io::clock::Clock;
use assay_ssd::Profile;
use assay_units::MIB;

use crate::measure::plan::{self, CHUNK_BYTES, INPUT_BYTES, RING_BYTES};
use crate::measure::{self, Surroundings, record, replay};
use crate::{head, row};

const PUBLISHED: &str = include_str!("../../../../reference/streamer_chunk_sweep.csv");
const SWEPT: &str = "mle-brief-960gb";
/// Chunks per stream of the depth table.
const DEPTH_CHUNKS: u64 = 64;
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Chunks per stream of the plan.
const PLAN_CHUNKS: u64 = 192;

fn mib_per_s(chunks: u64, cycles: u64) -> f64 {
    let bytes = (chunks * u64::from(CHUNK_BYTES)) as f64;
    bytes / (cycles as f64 * CYCLE_NS as f64 / 1e9) / MIB as f64
}

/// Rate of a row of the published sweep.
fn published(operation: &str, chunks: u64) -> String {
    let wanted = format!("{SWEPT},{operation},{chunks},");
    let line = PUBLISHED.lines().find(|line| line.starts_with(&wanted));
    line.and_then(|line| line.rsplit(',').next())
        .unwrap_or("-")
        .to_owned()
}

/// Pause between writing and reading a stream, cycles: 10 ms, in which the drive writes out its buffer.
const PAUSE_CYCLES: u64 = 10_000_000 / CYCLE_NS;

/// Streams of 1, 2, 4 ... chunks, each written to a new drive and read back.
pub fn sweep(largest: u64) {
    head(&[
        "chunks",
        "written, MiB/s",
        "published",
        "read, MiB/s",
        "published",
        "cycles to write",
        "cycles to read",
        "processor time, s",
    ]);
    let mut chunks = 1;
    while chunks <= largest {
        let clock = Clock::monotonic();
        let began = clock.now();
        let mut core = match measure::core("w128", &Surroundings::of_profile(SWEPT)) {
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

fn profiles(of: Option<&str>) -> Vec<String> {
    match of {
        Some(name) => vec![name.to_owned()],
        None => Profile::names()
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
    }
}

/// Rate against commands in flight, per profile.
pub fn depth(of: Option<&str>) {
    let mut titles = vec!["drive".to_owned(), "direction".to_owned()];
    titles.extend(DEPTHS.map(|depth| depth.to_string()));
    titles.push("for 95 %".to_owned());
    head(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for name in profiles(of) {
        let mut rates = [Vec::new(), Vec::new()];
        let mut refused = None;
        for depth in DEPTHS {
            let mut surroundings = Surroundings::of_profile(&name);
            surroundings.max_commands = depth;
            match measure::core("w128", &surroundings) {
                Ok(mut core) => {
                    rates[0].push(mib_per_s(DEPTH_CHUNKS, record(&mut core, DEPTH_CHUNKS)));
                    rates[1].push(mib_per_s(DEPTH_CHUNKS, replay(&mut core, DEPTH_CHUNKS)));
                }
                Err(reason) => refused = Some(reason),
            }
        }
        if let Some(reason) = refused {
            println!("{name}: {reason}");
            continue;
        }
        for (direction, rates) in ["write", "read"].iter().zip(rates) {
            let best = rates.iter().copied().fold(0.0, f64::max);
            let enough = rates.iter().position(|&rate| rate >= 0.95 * best);
            let mut cells = vec![name.clone(), (*direction).to_owned()];
            cells.extend(rates.iter().map(|rate| format!("{rate:.0}")));
            cells.push(DEPTHS[enough.expect("the best is one of them")].to_string());
            row(&cells);
        }
    }
}

fn mb(bytes_per_s: f64) -> String {
    format!("{:.0}", bytes_per_s / 1e6)
}

/// What the ring covers: by the streamer's model for a source of a fixed rate, tried on the core; and both drives' means.
pub fn plan(of: Option<&str>) {
    head(&[
        "drive",
        "mean MB/s, core",
        "mean MB/s, model",
        "ring covers MB/s, model",
        "core at 97 % of it: bytes waiting",
        "core at 103 %",
        "processor time, s",
    ]);
    for name in profiles(of) {
        let clock = Clock::monotonic();
        let began = clock.now();
        let surroundings = Surroundings::of_profile(&name);
        let fresh = || measure::core("w128", &surroundings);
        let mut core = match fresh() {
            Ok(core) => core,
            Err(reason) => {
                println!("{name}: {reason}");
                continue;
            }
        };
        let ours = plan::core_table(&mut core, PLAN_CHUNKS);
        let model = plan::model(&surroundings.profile, PLAN_CHUNKS, PLAN_CHUNKS);
        let model = model.buffer_table.expect("it was asked for");
        let rate = plan::model_rate(&surroundings.profile, PLAN_CHUNKS);
        let tried = [97, 103].map(|percent| {
            let mut core = fresh().expect("as before");
            let waiting = plan::waiting_bytes(&mut core, PLAN_CHUNKS, rate * percent / 100);
            let lost = if waiting > INPUT_BYTES {
                "loses data"
            } else {
                "no loss"
            };
            format!("{waiting}, {lost}")
        });
        let [slower, faster] = tried;
        row(&[
            name,
            mb(ours.mean_rate()),
            mb(model.mean_rate()),
            mb(rate as f64),
            slower,
            faster,
            format!("{:.1}", (clock.now() - began).0 as f64 * 1e-9),
        ]);
    }
}

/// An hour of each drive, by the streamer's model.
pub fn hour(of: Option<&str>) {
    head(&[
        "drive",
        "mean MB/s of an hour",
        "4 MiB ring covers",
        "1 GiB",
        "4 GiB",
        "buffer for 90 % of the mean, MiB",
        "for 99 %",
        "hours",
        "processor time, s",
    ]);
    for name in profiles(of) {
        let clock = Clock::monotonic();
        let began = clock.now();
        let profile = Profile::builtin(&name).expect("a built-in profile");
        let outcome = plan::model_hour(&profile);
        let table = outcome.buffer_table.expect("it was asked for");
        let mean = table.mean_rate();
        let need = |share: f64| {
            let bytes = table.buffer_for(mean * share);
            bytes.map_or("-".to_owned(), |bytes| (bytes >> 20).to_string())
        };
        row(&[
            name,
            mb(mean),
            mb(table.rate_for(RING_BYTES) as f64),
            mb(table.rate_for(1 << 30) as f64),
            mb(table.rate_for(4 << 30) as f64),
            need(0.9),
            need(0.99),
            format!("{:.2}", outcome.status.elapsed_ns as f64 / 3.6e12),
            format!("{:.1}", (clock.now() - began).0 as f64 * 1e-9),
        ]);
    }
}
