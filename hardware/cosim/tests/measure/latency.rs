//! Latencies from the events on the core's ports.

use assay_cosim::map;
use assay_cosim::timeline::{PortEvent, Timeline};
use assay_stream::registers::ControlBits;

use super::Core;

/// BAR 0 of the drive on `bar_*`, with the doorbells of I/O queue pairs 1 and 2 (CAP.DSTRD is 0).
const DOORBELLS: u32 = 0x1000_1000;
const QUEUE_BYTES: u32 = 8;
/// Submission queues 1 and 2 on the bus.
const SUBMISSION_QUEUES: [u64; 2] = [1 << 39 | 0x2000, 1 << 39 | 0x4000];
const LIMIT_CYCLES: u64 = 100_000;

/// Cycles on the way to the first command of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstCommand {
    /// Cycle 0: a recording's last page of the first chunk was acknowledged by memory; the write of
    /// START to a replay was taken. From there to the cycle in which the doorbell is shown on
    /// `bar`.
    pub doorbell: u64,
    /// To the last beat of the drive's read of the submission entry: the command has left the core.
    pub entry: u64,
    /// Recordings: from the last beat of the chunk that memory took to its acknowledgement.
    pub memory: u64,
}

/// Latency of the first command of a recording (0) or a replay (1).
pub fn first_command(core: &mut Core, direction: usize) -> FirstCommand {
    let chunk = core.configuration().chunk_bytes() as usize;
    let pages = chunk / 4096;
    let bank = [map::WRITE_BANK, map::READ_BANK][direction];
    let world = core.world();
    world.timeline = Some(Timeline::default());
    let set = |world: &mut assay_cosim::world::World<_>| -> Result<(), _> {
        world.write64(bank + map::FIRST_ADDRESS, 0)?;
        world.write64(bank + map::LAST_ADDRESS, 0)?;
        world.source.push(&vec![0x5a; [chunk, 0][direction]]);
        world.write32(bank + map::CONTROL, ControlBits::START.to_raw())
    };
    set(world).expect("registers answer");
    let address = DOORBELLS + QUEUE_BYTES * (direction as u32 + 1);
    let rung = |event: &PortEvent| matches!(event, PortEvent::DriveRegisterWrite { address: at, .. } if *at == address);
    let queue = SUBMISSION_QUEUES[direction];
    let read = |event: &PortEvent| matches!(event, PortEvent::DriveRead { address: at, .. } if *at == queue);
    let entry_end = |timeline: &Timeline| {
        let (at, event) = *timeline.events.iter().find(|(_, event)| read(event))?;
        let PortEvent::DriveRead { id, .. } = event else {
            return None;
        };
        timeline.first(
            at,
            |event| matches!(event, PortEvent::DriveReadEnded { id: of, .. } if *of == id),
        )
    };
    let seen = |world: &assay_cosim::world::World<_>| {
        world.timeline.as_ref().is_some_and(|timeline| entry_end(timeline).is_some())
    };
    world.run_until("the first command", LIMIT_CYCLES, seen).expect("the simulation runs");
    let timeline = world.timeline.take().expect("it was set");
    let nth = |wanted: PortEvent, n: usize| {
        let mut events = timeline.events.iter().filter(|(_, event)| *event == wanted);
        events.nth(n).expect("all pages of the chunk").0
    };
    let (from, memory) = if direction == 0 {
        let written = nth(PortEvent::MemoryWritten, pages - 1);
        let acknowledged = nth(PortEvent::MemoryAcknowledged, pages - 1);
        (acknowledged, acknowledged - written)
    } else {
        let control = PortEvent::RegisterWrite { address: bank + map::CONTROL };
        (nth(control, 0), 0)
    };
    let doorbell = timeline.first(from, rung).expect("before the entry was read");
    let latency = FirstCommand {
        doorbell: doorbell - from,
        entry: entry_end(&timeline).expect("waited for") - from,
        memory,
    };
    // To the end of the session.
    world.run(LIMIT_CYCLES).expect("the simulation runs");
    world.sink.clear();
    world.check_idle().expect("all is answered");
    latency
}
