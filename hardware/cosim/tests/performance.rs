//! Performance of the verilated core, in clock cycles. The cycles are the same in every run, so the
//! limits are exact. Longer streams and tables: `examples/performance`.

use crate::measure;

use assay_cosim::CYCLE_NS;
use assay_cosim::map::READ_BANK;
use assay_cosim::pcie_drive::LinkOptions;
use assay_stream::registers::Register;
use assay_stream::registers::map::stream;
use measure::{ChunkCycles, Core, Surroundings, chunk_cycles, ideal_cycles, latency};
use measure::{model, plan};

/// Of what bus and link allow.
const GOAL_EFFICIENCY: f64 = 0.99;
/// Chunks of the shorter of two streams, at least the slots of a drive.
const CHUNKS: u64 = 32;
const DIRECTIONS: [&str; 2] = ["record", "replay"];

fn core(name: &str, surroundings: &Surroundings) -> Option<Core> {
    match measure::core(name, surroundings) {
        Ok(core) => Some(core),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

fn check_efficiency(name: &str, link: LinkOptions) -> Option<[ChunkCycles; 2]> {
    let mut core = core(name, &Surroundings::unlimited(link))?;
    let ideal = ideal_cycles(&core, &link);
    let measured = chunk_cycles(&mut core, CHUNKS);
    for ((direction, ideal), cycles) in DIRECTIONS.iter().zip(ideal).zip(measured) {
        let efficiency = ideal / cycles.steady();
        println!("{name}, {direction}: {cycles:?}, efficiency {efficiency:.4}");
        assert!(
            (GOAL_EFFICIENCY..=1.0).contains(&efficiency),
            "{name}, {direction}: {cycles:?} is {efficiency:.4} of {ideal:.0} cycles per chunk"
        );
    }
    core.world().check_idle().expect("all is answered");
    Some(measured)
}

#[test]
fn chunks_stream_at_the_rate_of_the_bus() {
    for name in ["w128", "w256", "w512"] {
        check_efficiency(name, LinkOptions::unlimited());
    }
}

#[test]
fn chunks_stream_at_the_rate_of_the_link() {
    check_efficiency("w128", LinkOptions::new(3, 4));
    check_efficiency("w256", LinkOptions::new(4, 4));
}

#[test]
fn four_drives_are_four_times_as_fast() {
    let link = LinkOptions::new(3, 4);
    let one = check_efficiency("w512", link);
    let four = check_efficiency("w512d4", link);
    let (Some(one), Some(four)) = (one, four) else {
        return;
    };
    for ((direction, one), four) in DIRECTIONS.iter().zip(one).zip(four) {
        let ratio = one.steady() / four.steady();
        assert!(ratio >= 3.8, "{direction}: {ratio:.3} times one drive");
    }
}

#[test]
fn the_first_command_comes_within_150_cycles() {
    for link in [LinkOptions::unlimited(), LinkOptions::new(3, 4)] {
        let Some(mut core) = core("w128", &Surroundings::unlimited(link)) else {
            return;
        };
        for (direction, what) in DIRECTIONS.iter().enumerate() {
            let latency = latency::first_command(&mut core, direction);
            println!("{what}: {latency:?}");
            assert!(latency.doorbell <= 16, "{what}: {latency:?}");
            assert!(latency.entry <= 150, "{what}: {latency:?}");
        }
    }
}

/// A replay waits for its first chunk, and for each one that comes slower than the stream takes the
/// one before. STALL_TIME is the time beyond that of the beats.
#[test]
fn a_replay_stalls_where_its_drive_is_slower() {
    const STALL_CHUNKS: u64 = 16;
    const TOLERANCE_CYCLES: u64 = 1000;
    for (link, stalls) in [(LinkOptions::unlimited(), 1), (LinkOptions::new(3, 4), STALL_CHUNKS)] {
        let Some(mut core) = core("w128", &Surroundings::unlimited(link)) else {
            return;
        };
        let cycles = measure::replay(&mut core, STALL_CHUNKS);
        let mut read = |register: Register| {
            let address = READ_BANK + register.offset();
            core.world().read64(address).expect("a register")
        };
        assert_eq!(read(stream::STALLS), stalls);
        let stalled = read(stream::STALL_TIME) / CYCLE_NS;
        let beats = read(stream::BEATS);
        println!("{cycles} cycles, {beats} beats, {stalled} cycles stalled");
        assert!((cycles - beats).abs_diff(stalled) < TOLERANCE_CYCLES);
    }
}

/// A source that cannot wait loses data on the core above the rate that the streamer's model finds
/// for its ring, and below it does not.
#[test]
fn core_and_model_need_the_same_buffer() {
    const PLAN_CHUNKS: u64 = 128;
    for name in
        ["intel-600p", "intel-optane-p4800x", "intel-p3700", "mle-brief-960gb", "samsung-983-dct"]
    {
        let surroundings = Surroundings::from_profile(name);
        let Some(mut slower) = core("w128c16", &surroundings) else {
            return;
        };
        let mut faster = core("w128c16", &surroundings).expect("as before");
        let (ring, bus_rate) = (plan::ring(&slower), plan::bus_rate(&slower));
        let limit = model::short_rate(&surroundings.profile, ring, PLAN_CHUNKS, bus_rate);
        assert!(limit * 103 / 100 < bus_rate, "{name}: {limit}, nothing is lost");
        let below = plan::record_at(&mut slower, PLAN_CHUNKS, limit * 97 / 100, false);
        let above = plan::record_at(&mut faster, PLAN_CHUNKS, limit * 103 / 100, true);
        println!("{name}: {limit} bytes per second, {below:?}, {above:?}");
        assert!(!below.is_lost, "{name}: loses data at 97 % of {limit}");
        assert!(above.is_lost, "{name}: loses nothing at 103 % of {limit}");
    }
}
