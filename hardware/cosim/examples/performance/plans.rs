//! Planning of recorders: the core against the streamer's model, and an hour by the model.

use std::sync::Mutex;
use std::thread;

use assay_io::clock::Clock;
use assay_ssd::Profile;

use crate::drives::profiles;
use crate::measure::model::{self, HourPlan, Ring, Span};
use crate::measure::plan::{bus_rate, core_rate, record_at, ring};
use crate::measure::{self, Surroundings};
use crate::{head, row};

/// Chunks per stream of the comparison: configuration and chunks.
const COMPARED: [(&str, u64); 2] = [("w128c16", 256), ("w128", 192)];
/// Drives of the comparison: both kinds of medium, with and without an SLC cache, slow and fast.
const COMPARED_DRIVES: [&str; 6] = [
    "intel-600p",
    "intel-optane-p4800x",
    "intel-p3700",
    "mle-brief-960gb",
    "samsung-960-evo",
    "samsung-983-dct",
];
/// Rates of the compared backlogs, percent of the limit.
const BACKLOGS_PERCENT: [u64; 2] = [90, 110];
/// The core's limit is looked for within this share of the model's, and found within a tenth of it.
const AROUND: f64 = 0.05;
/// Shares of the mean whose buffers are planned.
const SHARES: [f64; 2] = [0.5, 0.9];

fn mb(bytes_per_s: f64) -> String {
    format!("{:.0}", bytes_per_s / 1e6)
}

fn seconds_since(clock: &Clock, began: assay_io::Nanos) -> String {
    format!("{:.1}", (clock.now() - began).0 as f64 * 1e-9)
}

/// The least rate at which the ring overflows, and the buffer that sources of a fixed rate need:
/// core and model.
pub fn plan(of: Option<&str>) {
    head(&[
        "core",
        "drive",
        "ring covers, MB/s, model",
        "core",
        "ratio",
        "backlog at 90 %, KiB, model",
        "core",
        "at 110 %, model",
        "core",
        "time to simulate, s",
    ]);
    for (configuration, chunks) in COMPARED {
        let names = of.map_or(COMPARED_DRIVES.to_vec(), |name| vec![name]);
        for name in names {
            match compared(configuration, name, chunks) {
                Ok(cells) => row(&cells),
                Err(reason) => println!("{configuration}, {name}: {reason}"),
            }
        }
    }
}

fn compared(configuration: &str, name: &str, chunks: u64) -> Result<Vec<String>, String> {
    let clock = Clock::monotonic();
    let began = clock.now();
    let surroundings = Surroundings::from_profile(name);
    let core = measure::core(configuration, &surroundings)?;
    let (ring, bus_rate) = (ring(&core), bus_rate(&core));
    let limit = model::short_rate(&surroundings.profile, ring, chunks, bus_rate);
    let near = |share: f64| (limit as f64 * share) as u64;
    let around = [near(1.0 - AROUND), near(1.0 + AROUND)];
    let step = near(AROUND / 10.0);
    let ours = core_rate(configuration, &surroundings, chunks, around, step)?;
    let mut cells = vec![
        configuration.to_owned(),
        name.to_owned(),
        mb(limit as f64),
        mb(ours as f64),
        format!("{:.3}", ours as f64 / limit as f64),
    ];
    for percent in BACKLOGS_PERCENT {
        let rate = limit * percent / 100;
        let span = Span::chunks(chunks);
        let model = model::run(&surroundings.profile, ring, Some(rate), span);
        let mut core = measure::core(configuration, &surroundings)?;
        let ours = record_at(&mut core, chunks, rate, false);
        for bytes in [model.backlog_bytes, ours.backlog_bytes] {
            cells.push((bytes >> 10).to_string());
        }
    }
    cells.push(seconds_since(&clock, began));
    Ok(cells)
}

/// An hour of each drive, by the streamer's model.
pub fn hour(of: Option<&str>) {
    head(&[
        "drive",
        "mean of the drive, MB/s",
        "sustained with a ring of 4 MiB, MB/s",
        "of the mean",
        "most in the ring, MiB",
        "rounds of the drive in this hour",
        "ring of 1 GiB, MB/s",
        "buffer at 0.5 of the mean, MiB",
        "at 0.9",
        "recordings",
        "time to simulate, s",
    ]);
    let drives = Mutex::new(profiles(of).into_iter());
    let next = || drives.lock().expect("no thread panics").next();
    let work = || {
        while let Some((name, profile)) = next() {
            row(&planned(&name, &profile));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

fn planned(name: &str, profile: &Profile) -> Vec<String> {
    let clock = Clock::monotonic();
    let began = clock.now();
    let HourPlan { saturated, sustained: (rate, hour), shares, runs } =
        model::hour(profile, Ring::W128, &SHARES);
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    let mut cells = vec![
        name.to_owned(),
        mb(saturated.mean_rate),
        mb(rate as f64),
        format!("{:.2}", rate as f64 / saturated.mean_rate),
        mib(hour.backlog_bytes),
        format!("{:.2}", hour.rounds),
        mb(saturated.table.rate_for(1 << 30) as f64),
    ];
    cells.extend(shares.iter().map(|share| mib(share.backlog_bytes)));
    cells.push(runs.to_string());
    cells.push(seconds_since(&clock, began));
    cells
}
