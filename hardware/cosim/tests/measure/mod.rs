//! Measurements of the core in clock cycles, for `tests/performance.rs` and the program
//! `examples/performance`. All of them are deterministic: the same RTL and the same drive give the
//! same cycles.
#![allow(dead_code, reason = "no user uses all of it")]

pub mod latency;
pub mod model;
pub mod plan;

use assay_cosim::CYCLE_NS;
use assay_cosim::config::Configuration;
use assay_cosim::pcie_drive::{LinkOptions, PcieDrive, PcieDriveOptions, unlimited_profile};
use assay_cosim::streamer::CoreStreamer;
use assay_cosim::world::{World, WorldError, WorldOptions};
use assay_ssd::{DriveOptions, Profile};
use assay_stream::range::StreamRange;
use assay_stream::record::RecordOptions;
use assay_stream::registers::{Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::{DiscardSink, SizedSource};
use assay_stream::status::StreamStatus;
use assay_stream::streamer::Streamer;

/// A core with simulated drives.
pub type Core = CoreStreamer<PcieDrive>;

/// What is at the core's ports.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Of each drive.
    pub profile: Profile,
    /// Of each drive.
    pub link: LinkOptions,
    /// Commands that each drive holds.
    pub max_commands: u32,
    /// The rest.
    pub world: WorldOptions,
}

impl Surroundings {
    /// Drives without limits behind this link, every rule of AXI checked.
    pub fn unlimited(link: LinkOptions) -> Surroundings {
        Surroundings {
            profile: unlimited_profile(),
            link,
            max_commands: u32::MAX,
            world: WorldOptions::default(),
        }
    }

    /// Drives of a profile behind its link. For long streams, so the rules of AXI are not checked.
    pub fn from_profile(name: &str) -> Surroundings {
        let profile = Profile::builtin(name).expect("a built-in profile");
        Surroundings {
            link: LinkOptions::from_profile(&profile.link),
            profile,
            max_commands: u32::MAX,
            world: WorldOptions { monitors: false, ..WorldOptions::default() },
        }
    }
}

/// A core of a configuration with its drives ready, or why there is none: its model is not built,
/// or the drive cannot be used.
pub fn core(name: &str, surroundings: &Surroundings) -> Result<Core, String> {
    let configuration = Configuration::named(name).expect("a configuration");
    let drive = |_| {
        let mut options = PcieDriveOptions::new(surroundings.link, configuration.data_width);
        options.max_commands = surroundings.max_commands;
        options.namespace = configuration.namespace;
        let profile = surroundings.profile.clone();
        PcieDrive::from_profile(profile, DriveOptions::default(), options).expect("a drive")
    };
    let drives = (0..configuration.drives).map(drive).collect();
    let world = match World::new(configuration, drives, &surroundings.world) {
        Ok(world) => world,
        Err(WorldError::Model(error)) => {
            let reason = error.skip_reason().unwrap_or_else(|| panic!("{error}"));
            return Err(reason.to_string());
        }
        Err(error) => panic!("{error}"),
    };
    let names = (0..configuration.drives).map(|n| format!("drive {n}"));
    let mut core = CoreStreamer::new(world, names.collect()).expect("the register map");
    core.bring_up().map_err(|error| error.to_string())?;
    Ok(core)
}

/// The first chunks of all drives, `chunks` together.
pub fn range(core: &Core, chunks: u64) -> StreamRange {
    let configuration = core.configuration();
    let (drives, chunk) = (u64::from(configuration.drives), configuration.chunk_bytes());
    assert!(chunks > 0 && chunks.is_multiple_of(drives));
    StreamRange {
        first: 0,
        last: (chunks / drives - 1) * u64::from(chunk),
        chunk_bytes: chunk,
        drives: configuration.drives,
    }
}

fn cycles_of(range: &StreamRange, status: &StreamStatus) -> u64 {
    assert!(status.status.has(StatusBits::FINISHED), "{status:?}");
    assert_eq!(status.bytes, range.bytes());
    status.elapsed_ns / CYCLE_NS
}

/// Cycles from START to the end of a recording of so many chunks.
pub fn record(core: &mut Core, chunks: u64) -> u64 {
    let range = range(core, chunks);
    let mut source = SizedSource::uninit(range.bytes());
    let (options, registers) = (RecordOptions::default(), Registers::default());
    let outcome = core.record(&range, &mut source, &options, &registers);
    cycles_of(&range, &outcome.expect("the simulation runs").status)
}

/// Cycles from START to the end of a replay of so many chunks.
pub fn replay(core: &mut Core, chunks: u64) -> u64 {
    let range = range(core, chunks);
    let (options, registers) = (ReplayOptions::default(), Registers::default());
    let outcome = core.replay(&range, None, &mut DiscardSink, options, &registers);
    cycles_of(&range, &outcome.expect("the simulation runs").status)
}

/// Duration of sessions of two lengths.
#[derive(Clone, Copy, Debug)]
pub struct ChunkCycles {
    /// Chunks of the shorter session; the longer one has twice as many.
    pub chunks: u64,
    /// Cycles of the shorter session.
    pub short: u64,
    /// Cycles of the longer session.
    pub long: u64,
}

impl ChunkCycles {
    /// Per chunk without begin and end: what the second half of the longer session takes.
    pub fn steady(&self) -> f64 {
        (self.long - self.short) as f64 / self.chunks as f64
    }

    /// Per chunk of the longer session, begin and end included.
    pub fn whole(&self) -> f64 {
        self.long as f64 / (2 * self.chunks) as f64
    }

    /// Begin and end together: what a session takes beside its chunks.
    pub fn overhead(&self) -> f64 {
        self.long as f64 - self.steady() * (2 * self.chunks) as f64
    }
}

/// Recordings, then replays, of `chunks` and of twice as many chunks.
pub fn chunk_cycles(core: &mut Core, chunks: u64) -> [ChunkCycles; 2] {
    let mut measure = |session: fn(&mut Core, u64) -> u64| ChunkCycles {
        chunks,
        short: session(core, chunks),
        long: session(core, 2 * chunks),
    };
    [measure(record), measure(replay)]
}

/// Cycles per chunk that the bus and the links of all drives need at least. Payload of recordings
/// is a read completion, of replays a write packet; requests, entries and doorbells are not
/// counted.
pub fn ideal_cycles(core: &Core, link: &LinkOptions) -> [f64; 2] {
    let configuration = core.configuration();
    let chunk = f64::from(configuration.chunk_bytes());
    let bus = chunk / configuration.beat_bytes() as f64;
    let payload = link.root_max_payload_bytes.min(link.endpoint_max_payload_bytes);
    let completion = link.read_completion_bytes.min(payload);
    [completion, payload].map(|payload| {
        let rate = link.payload_bytes_per_second(payload) as f64;
        let bytes_per_cycle = rate * CYCLE_NS as f64 / 1e9 * f64::from(configuration.drives);
        bus.max(chunk / bytes_per_cycle)
    })
}
