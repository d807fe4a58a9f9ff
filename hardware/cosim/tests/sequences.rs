//! 1,000 random sequences of commands: the core and the software streamer agree on what is on the
//! media and on their registers.
//!
//! # Compared
//! After every operation: `STATUS`, `LAST_ADDRESS_WRITTEN` (where `LAST_VALID`), `BYTES`, `BEATS`,
//! `DURABLE_BYTES` as words of the core's registers, as the result of both streamers, and as their
//! [`assay_stream::registers::Registers`]; the first failed command; the bytes of a region around
//! the range on both drives; the bytes that a replay delivers.
//!
//! # Exempt
//! | what | why |
//! |---|---|
//! | `STALLS`, `STALL_TIME`, `CYCLES` | times: those of the bus, and of a host |
//! | `DROPPED_BEATS`, `FLUSH_STATUS`, pattern registers | hardware only |
//! | STOP inside a chunk | the core gives the chunk up, the software writes what it has: compared without that chunk |
//! | STOP with the last chunk of a range | the core may have finished before the command |
//! | `DURABLE_BYTES` after FLUSH_NOW | depends on what had completed: at most `BYTES`, at the end of a chunk |
//! | `EARLY_LAST`, `STOPPED`, `ABORTED` with `DEVICE_ERROR` | depends on what was noticed first |
//! | chunks behind a failed command | new or old |
//! | a lost drive | completions under way are lost, too: the core's run is a part of the software's; chunks up to the loss are new or old |

use crate::common;
#[path = "sequences/operation.rs"]
mod operation;
#[path = "sequences/pair.rs"]
mod pair;
#[path = "sequences/software.rs"]
mod software;

use assay_cosim::map;
use assay_cosim::memory::MemoryOptions;
use assay_cosim::pace::Pace;
use assay_cosim::pcie_drive::{LinkOptions, unlimited_profile};
use assay_cosim::world::WorldOptions;
use assay_device::host::wall_clock;
use assay_ssd::{DriveOptions, InitialState};
use assay_stream::registers::map::drive;
use assay_units::Rng;
use common::Rough;
use operation::Operation;
use pair::Pair;
use software::Software;

const CHUNK: u64 = 16 << 10;
const REGION_CHUNKS: u64 = 20;
const REGION_BYTES: u64 = REGION_CHUNKS * CHUNK;

/// Sequences on one core after its reset.
const SEQUENCES: u64 = 25;

/// Microseconds after which a command is given up: above all latencies of the drive.
const TIMEOUT_US: u32 = 400;

fn rough(world: u64) -> Rough {
    let pauses = [0, 0, 30, 120][world as usize % 4];
    let pace = Pace { pauses, seed: world };
    Rough {
        link: if world.is_multiple_of(2) {
            LinkOptions::unlimited()
        } else {
            LinkOptions::new(4, 4)
        },
        percent: pauses / 4,
        world: WorldOptions {
            memory: MemoryOptions { reorder: world % 8 > 3, pace, ..MemoryOptions::default() },
            source_pace: pace.with_lane(10),
            sink_pace: pace.with_lane(11),
            seed: world as u32,
            ..WorldOptions::default()
        },
        ..Rough::default()
    }
}

/// Sequences of one world.
fn run(world: u64) {
    let options = DriveOptions {
        state: InitialState::Fresh,
        keep_data: true,
        no_power_loss: true,
        ..DriveOptions::default()
    };
    let core = common::slot_core("w128c16", unlimited_profile(), &rough(world), &options);
    let Some(mut core) = core else {
        return;
    };
    let timeout = map::drive_bank(0) + drive::COMMAND_TIMEOUT.offset();
    core.world().write32(timeout, TIMEOUT_US).expect("a register");
    core.bring_up().expect("the drive is ready");
    let mut software = Software::new(unlimited_profile(), options);
    let media = software.content();
    let end = software.extent.capacity_bytes / CHUNK * CHUNK;
    let mut pair = Pair { core, software, media, what: String::new() };
    for sequence in 0..SEQUENCES {
        let mut random = Rng::stream(world * SEQUENCES + sequence, "sequence");
        for number in 0..1 + random.below(3) {
            let operation = Operation::random(&mut random, end);
            pair.what =
                format!("world {world}, sequence {sequence}, operation {number}: {operation:?}");
            pair.run(&operation);
        }
        let content = pair.software.content();
        assert!(content == pair.media, "{}: software's media", pair.what);
        assert!(pair.core_content() == content, "{}: core's media", pair.what);
    }
    pair.core.world().check_idle().expect("all is answered");
}

#[test]
fn sequences_1_to_250() {
    (0..10).for_each(run);
}

/// Runs a quarter of the sequences; of the last three quarters, one a day, or all with
/// `ASSAY_TESTS_LONG`.
fn sampled(quarter: u64) {
    let day: u64 = wall_clock()[8..10].parse().expect("a day of the month");
    if 1 + day % 3 != quarter && std::env::var_os("ASSAY_TESTS_LONG").is_none() {
        println!("sampled: random sequences of quarter {quarter} do not run today: make test-long");
        return;
    }
    (10 * quarter..10 * (quarter + 1)).for_each(run);
}

#[test]
fn sequences_251_to_500() {
    sampled(1);
}

#[test]
fn sequences_501_to_750() {
    sampled(2);
}

#[test]
fn sequences_751_to_1000() {
    sampled(3);
}
