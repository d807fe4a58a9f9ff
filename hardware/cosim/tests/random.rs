//! The verilated core with every handshake held back at random, answers out of order, and all
//! configurations.

use crate::common;

use assay_cosim::config::CONFIGURATIONS;
use assay_cosim::map;
use assay_cosim::memory::MemoryOptions;
use assay_cosim::pace::Pace;
use assay_cosim::pcie_drive::{LinkOptions, PcieDrive};
use assay_cosim::streamer::CoreStreamer;
use assay_cosim::world::{World, WorldOptions};
use assay_integrity::pattern::Pattern;
use assay_ssd::Profile;
use assay_stream::record::RecordOptions;
use assay_stream::registers::{Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::SizedSource;
use assay_stream::streamer::Streamer;
use common::{Rough, range, rough_core};

/// Record and replay; the bytes are the same.
fn round_trip(core: &mut CoreStreamer<PcieDrive>, bytes: u64, what: &str) -> [u64; 2] {
    let chunk = u64::from(core.configuration().chunk_bytes());
    let drives = u64::from(core.configuration().drives);
    let range = range(core, bytes.div_ceil(chunk * drives));
    let pattern = Pattern::new(bytes);
    let mut source = SizedSource::pattern(pattern, bytes);
    let registers = Registers::default();
    let recorded = core
        .record(&range, &mut source, &RecordOptions::default(), &registers)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let status = recorded.status;
    assert!(status.status.has(StatusBits::FINISHED), "{what}: {status:?}");
    assert_eq!(status.bytes, bytes, "{what}: {status:?}");
    let (mut sink, registers) = (Vec::new(), Registers::default());
    let options = ReplayOptions::default();
    let replayed = core
        .replay(&range, Some(bytes), &mut sink, options, &registers)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let read = replayed.status;
    assert!(read.status.has(StatusBits::FINISHED), "{what}: {read:?}");
    let mut expected = vec![0; bytes as usize];
    pattern.at(0).fill(&mut expected);
    let wrong = sink.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(wrong, None, "{what}: first wrong byte");
    assert_eq!(sink.len() as u64, bytes, "{what}");
    for drive in &core.world().drives {
        assert_eq!(drive.violations(), &[] as &[String], "{what}");
    }
    [status.elapsed_ns, read.elapsed_ns]
}

#[test]
fn every_configuration_records_and_replays() {
    for configuration in CONFIGURATIONS {
        let rough = Rough::default();
        let Some(mut core) = rough_core(configuration.name, &rough) else {
            continue;
        };
        let chunk = u64::from(configuration.chunk_bytes());
        let drives = u64::from(configuration.drives);
        for bytes in [4 * chunk * drives, 2 * chunk * drives + 1, 100] {
            round_trip(&mut core, bytes, configuration.name);
        }
        core.world().check_idle().expect("all is answered");
    }
}

#[test]
fn handshakes_are_held_back_at_random() {
    for seed in 0..6 {
        let pauses = [20, 64, 128, 200][seed as usize % 4];
        let pace = Pace { pauses, seed };
        let rough = Rough {
            link: LinkOptions::unlimited(),
            percent: pauses / 3,
            world: WorldOptions {
                memory: MemoryOptions { reorder: seed % 2 == 1, pace, ..MemoryOptions::default() },
                source_pace: pace.with_lane(10),
                sink_pace: pace.with_lane(11),
                seed: seed as u32,
                ..WorldOptions::default()
            },
            ..Rough::default()
        };
        let Some(mut core) = rough_core("w128c16", &rough) else {
            return;
        };
        let what = format!("seed {seed}, pauses {pauses}");
        for bytes in [300_000, 123_457] {
            round_trip(&mut core, bytes, &what);
        }
    }
}

/// Streams take the same time, whether idle cycles are skipped or not.
#[test]
fn streams_take_the_same_time_with_skipped_cycles() {
    let times = [false, true].map(|skip_quiet| {
        let rough = Rough {
            world: WorldOptions { skip_quiet, ..WorldOptions::default() },
            ..Rough::default()
        };
        let profile = Profile::builtin("mle-brief-960gb").expect("a built-in profile");
        let mut core = common::core_in("w128c16", profile, &rough, None)?;
        let times = round_trip(&mut core, 500_000, "skipping");
        let world = core.world();
        Some((times, world.skipped_cycles()))
    });
    let [Some((whole, none)), Some((skipping, some))] = times else {
        return;
    };
    assert_eq!(none, 0);
    assert!(some > 10_000, "{some} cycles skipped");
    for (whole, skipping) in whole.into_iter().zip(skipping) {
        // Polls of STATUS come at other times, and so does the start of the session within a
        // microsecond.
        let difference = whole.abs_diff(skipping);
        assert!(difference < 2000, "{whole} and {skipping} ns");
    }
}

/// Run the second world, and check after each of its steps that the outputs of both are the same.
fn compare(cycles: u64, whole: &mut World<PcieDrive>, skipping: &mut World<PcieDrive>) {
    let end = skipping.cycle() + cycles;
    while skipping.cycle() < end {
        skipping.step().expect("no rule is broken");
        let behind = skipping.cycle() - whole.cycle();
        whole.run(behind).expect("no rule is broken");
        assert_eq!(whole.outputs(), skipping.outputs(), "cycle {}", whole.cycle());
    }
}

/// The same while the stream waits for a slow drive.
#[test]
fn skipped_cycles_of_a_waiting_stream_change_nothing() {
    let worlds = [false, true].map(|skip_quiet| {
        let rough = Rough {
            world: WorldOptions { skip_quiet, ..WorldOptions::default() },
            ..Rough::default()
        };
        let profile = Profile::builtin("intel-600p").expect("a built-in profile");
        let core = common::core_in("w128c16", profile, &rough, None);
        core.map(CoreStreamer::into_world)
    });
    let [Some(mut whole), Some(mut skipping)] = worlds else {
        return;
    };
    compare(600_000, &mut whole, &mut skipping);
    for world in [&mut whole, &mut skipping] {
        world.write64(map::LAST_ADDRESS, 19 << 14).expect("a register");
        world.source.push(&vec![5; 20 << 14]);
        world.write32(map::CONTROL, 1).expect("a register");
    }
    let mut waiting = 0;
    while skipping.source.is_busy() {
        let before = skipping.skipped_cycles();
        compare(1, &mut whole, &mut skipping);
        if skipping.source.is_held() {
            waiting += skipping.skipped_cycles() - before;
        }
    }
    assert!(waiting > 10_000, "{waiting} cycles skipped");
}

/// A world in which idle cycles are skipped goes the same way as one in which every cycle is
/// evaluated, cycle by cycle.
#[test]
fn skipped_cycles_change_nothing() {
    let worlds = [false, true].map(|skip_quiet| {
        let rough = Rough {
            world: WorldOptions { skip_quiet, ..WorldOptions::default() },
            ..Rough::default()
        };
        rough_core("w128c16", &rough).map(CoreStreamer::into_world)
    });
    let [Some(mut whole), Some(mut skipping)] = worlds else {
        return;
    };
    compare(600_000, &mut whole, &mut skipping);
    assert!(skipping.skipped_cycles() > 100_000);
    for world in [&mut whole, &mut skipping] {
        world.write64(map::FIRST_ADDRESS, 0).expect("a register");
        world.write64(map::LAST_ADDRESS, 9 << 14).expect("a register");
        world.source.push(&vec![5; 100_000]);
        world.source.end();
        world.write32(map::CONTROL, 1).expect("a register");
    }
    compare(200_000, &mut whole, &mut skipping);
    let address = map::READ_BANK;
    for world in [&mut whole, &mut skipping] {
        world.write64(address + map::LAST_ADDRESS, 5 << 14).expect("a register");
        world.write32(address + map::CONTROL, 1).expect("a register");
    }
    compare(200_000, &mut whole, &mut skipping);
    assert_eq!(skipping.sink.bytes(), &[5; 6 << 14][..]);
    // CYCLES counts evaluated cycles; `World::elapsed_cycles` adds the others.
    let cycles = [map::CYCLES, map::READ_BANK + map::CYCLES];
    for address in (0..0x240).step_by(4).filter(|at| !cycles.contains(at)) {
        let values = (whole.read32(address), skipping.read32(address));
        assert_eq!(values.0, values.1, "register {address:#x}");
    }
}
