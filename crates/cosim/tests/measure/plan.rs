//! Planning of recorders: what a drive behind the core takes, and what the software streamer's model says.

use assay_cosim::CYCLE_NS;
use assay_cosim::map;
use assay_sim_host::SimTarget;
use assay_ssd::{DriveOptions, Profile};
use assay_stream::buffer_table::BufferTable;
use assay_stream::queue::StreamQueue;
use assay_stream::range::StreamRange;
use assay_stream::record::{self, RecordOptions, RecordOutcome, SourceRate};
use assay_stream::registers::{ControlBits, Registers, StatusBits};
use assay_stream::source::SizedSource;
use assay_units::Nanos;

use super::{Core, range};

/// Chunk of all plans, bytes.
pub const CHUNK_BYTES: u32 = 128 << 10;
/// Chunks of the ring of configuration `w128`.
pub const RING_CHUNKS: u32 = 32;
/// The ring, bytes.
pub const RING_BYTES: u64 = (CHUNK_BYTES * RING_CHUNKS) as u64;
/// What may wait before the core's input: a small queue in front of it.
pub const INPUT_BYTES: usize = 4096;

fn start(core: &mut Core, chunks: u64) -> u64 {
    let range = range(core, chunks);
    let world = core.world();
    let mut set = || {
        world.write64(map::WRITE_BANK + map::FIRST_ADDRESS, range.first)?;
        world.write64(map::WRITE_BANK + map::LAST_ADDRESS, range.last)?;
        world.write32(map::WRITE_BANK + map::CONTROL, ControlBits::START.to_raw())
    };
    set().expect("registers answer");
    world.cycle()
}

fn finish(core: &mut Core) {
    let world = core.world();
    loop {
        let status = world.read32(map::WRITE_BANK + map::STATUS);
        let status = StatusBits::from_raw(status.expect("registers answer"));
        if !status.has(StatusBits::RUNNING) {
            assert!(status.has(StatusBits::FINISHED), "{status:?}");
            world.source.clear();
            return;
        }
        world.run(1000).expect("the simulation runs");
    }
}

/// Buffer needed per rate, from the cycles in which the drive behind the core ended commands while the stream was as fast as the bus.
pub fn core_table(core: &mut Core, chunks: u64) -> BufferTable {
    let chunk = u64::from(core.configuration().chunk_bytes());
    let began = start(core, chunks);
    let world = core.world();
    let before = world.drives[0].counters().drive.io_completions;
    let mut table = BufferTable::new(Nanos::ZERO);
    let data = vec![0; chunk as usize];
    let (mut given, mut ended) = (0, 0);
    while ended < chunks {
        if given < chunks && world.source.queued_bytes() < data.len() {
            world.source.push(&data);
            given += 1;
        }
        world.step().expect("the simulation runs");
        let now = world.drives[0].counters().drive.io_completions - before;
        if now > ended {
            let at = Nanos((world.cycle() - began) * CYCLE_NS);
            table.taken(at, (now - ended) * chunk);
            ended = now;
        }
    }
    finish(core);
    table
}

/// Most bytes that waited before the input of the core while a source of this rate, which cannot wait, gave so many chunks.
pub fn waiting_bytes(core: &mut Core, chunks: u64, bytes_per_s: u64) -> usize {
    let chunk = u64::from(core.configuration().chunk_bytes());
    let beat = core.configuration().beat_bytes() as u64;
    let began = start(core, chunks);
    let world = core.world();
    let data = vec![0; chunk as usize];
    let (mut given, mut most) = (0, 0);
    while given < chunks * chunk {
        let ns = u128::from((world.cycle() - began) * CYCLE_NS);
        let due = (ns * u128::from(bytes_per_s) / 1_000_000_000) as u64;
        let due = (due / beat * beat).min(chunks * chunk);
        world.source.push(&data[..(due - given) as usize]);
        given = due;
        world.step().expect("the simulation runs");
        most = most.max(world.source.queued_bytes());
    }
    finish(core);
    most
}

/// The streamer's model of the same: commands of a chunk, as many in flight as the core's ring has slots. Around the drive `chunks` in
/// all, as a ring.
pub fn model(profile: &Profile, chunks: u64, drive_chunks: u64) -> RecordOutcome {
    let options = RecordOptions {
        buffer_table: true,
        ring: drive_chunks < chunks,
        ..RecordOptions::default()
    };
    model_with(profile, chunks, drive_chunks, &options)
}

fn model_with(
    profile: &Profile,
    chunks: u64,
    drive_chunks: u64,
    options: &RecordOptions,
) -> RecordOutcome {
    let name = "planned";
    let target = SimTarget::new(name, profile.clone(), DriveOptions::default());
    let mut target = target.expect("a drive");
    target
        .begin_job(1, RING_CHUNKS, CHUNK_BYTES)
        .expect("no buffers are needed");
    let queue = StreamQueue::new(name, target, RING_CHUNKS, CHUNK_BYTES);
    let range = StreamRange {
        first: 0,
        last: (drive_chunks.min(chunks) - 1) * u64::from(CHUNK_BYTES),
        chunk_bytes: CHUNK_BYTES,
        drives: 1,
    };
    let mut source = SizedSource::uninit(chunks * u64::from(CHUNK_BYTES));
    record::record(
        &mut [queue],
        &range,
        &mut source,
        options,
        &Registers::default(),
    )
    .expect("a simulated drive takes its stream")
}

/// The greatest rate, within 1 MB/s, of a source that cannot wait, whose `chunks` chunks never find the model's ring full; at most that of the
/// core's bus.
pub fn model_rate(profile: &Profile, chunks: u64) -> u64 {
    let fits = |rate_bytes_per_s| {
        let options = RecordOptions {
            source_rate: Some(SourceRate {
                rate_bytes_per_s,
                deadline: None,
            }),
            ..RecordOptions::default()
        };
        model_with(profile, chunks, chunks, &options)
            .status
            .stalls
            .count
            == 0
    };
    let (mut good, mut bad) = (0, 16 * 1_000_000_000 / CYCLE_NS);
    while bad - good > 1_000_000 {
        let middle = (good + bad) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// An hour on the model, as a ring around the whole drive; at least the given share of it if a drive's first round takes less.
pub fn model_hour(profile: &Profile) -> RecordOutcome {
    const HOUR_NS: u64 = 3_600_000_000_000;
    let capacity = profile.identity.capacity_bytes.value / u64::from(CHUNK_BYTES);
    let mut chunks = capacity;
    loop {
        let outcome = model(profile, chunks, capacity);
        let elapsed = outcome.status.elapsed_ns;
        if elapsed >= HOUR_NS * 98 / 100 {
            return outcome;
        }
        chunks = (chunks as f64 * HOUR_NS as f64 / elapsed as f64 * 1.02) as u64;
    }
}
