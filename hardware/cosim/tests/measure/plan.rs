//! Planning of recorders on the core: a source of a fixed rate that cannot wait.

use assay_cosim::CYCLE_NS;
use assay_cosim::map;
use assay_stream::registers::{ControlBits, StatusBits};

use super::model::{self, Ring};
use super::{Core, Surroundings, range};

/// What may wait before the core's input: a small queue in front of it.
pub const INPUT_BYTES: usize = 4096;

/// Ring of a core.
pub fn ring(core: &Core) -> Ring {
    let configuration = core.configuration();
    Ring { chunk_bytes: configuration.chunk_bytes(), chunks: configuration.slots }
}

/// Rate of a core's bus, bytes per second.
pub fn bus_rate(core: &Core) -> u64 {
    core.configuration().beat_bytes() as u64 * 1_000_000_000 / CYCLE_NS
}

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

/// What a recording from a source of a fixed rate needed.
#[derive(Clone, Copy, Debug)]
pub struct CoreRun {
    /// More than [`INPUT_BYTES`] waited before the core: such a source loses data.
    pub is_lost: bool,
    /// Most bytes delivered and not written, those that waited before the core included.
    pub backlog_bytes: u64,
}

/// Record so many chunks from a source of this rate; with `until_loss` no further than to the first
/// loss, and the core is then in the middle of the recording.
pub fn record_at(core: &mut Core, chunks: u64, rate: u64, until_loss: bool) -> CoreRun {
    let chunk = u64::from(core.configuration().chunk_bytes());
    let beat = core.configuration().beat_bytes() as u64;
    let began = start(core, chunks);
    let world = core.world();
    let data = vec![0; chunk as usize];
    let before = world.drives[0].counters().drive.io_completions;
    let mut run = CoreRun { is_lost: false, backlog_bytes: 0 };
    let mut given = 0;
    while given < chunks * chunk {
        let ns = u128::from((world.cycle() - began) * CYCLE_NS);
        let due = (ns * u128::from(rate) / 1_000_000_000) as u64;
        let due = (due / beat * beat).min(chunks * chunk);
        world.source.push(&data[..(due - given) as usize]);
        given = due;
        let written = world.drives[0].counters().drive.io_completions - before;
        run.backlog_bytes = run.backlog_bytes.max(given - (written * chunk).min(given));
        world.step().expect("the simulation runs");
        run.is_lost |= world.source.queued_bytes() > INPUT_BYTES;
        if run.is_lost && until_loss {
            return run;
        }
    }
    finish(core);
    run
}

/// The greatest rate without loss of the first `chunks` chunks, within `step`: `good` fits and
/// `bad` does not, which is checked.
pub fn core_rate(
    configuration: &str,
    surroundings: &Surroundings,
    chunks: u64,
    [good, bad]: [u64; 2],
    step: u64,
) -> Result<u64, String> {
    let fits = |rate| -> Result<bool, String> {
        let mut core = super::core(configuration, surroundings)?;
        Ok(!record_at(&mut core, chunks, rate, true).is_lost)
    };
    if !fits(good)? {
        return Err(format!("loses data at {good} bytes per second"));
    }
    if fits(bad)? {
        return Err(format!("loses nothing at {bad} bytes per second"));
    }
    let mut failed = None;
    let rate = model::greatest_rate(good, bad, step, |rate| match fits(rate) {
        Ok(fits) => fits,
        Err(reason) => {
            failed.get_or_insert(reason);
            false
        }
    });
    failed.map_or(Ok(rate), Err)
}
