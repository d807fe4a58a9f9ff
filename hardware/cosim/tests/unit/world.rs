use super::*;
use crate::map;

/// A world without drives, or `None` if the model is not built.
fn world(name: &str, options: &WorldOptions) -> Option<World<EmptySlot>> {
    let configuration = Configuration::named(name).expect("a configuration");
    let drives = vec![EmptySlot; configuration.drives as usize];
    match World::new(configuration, drives, options) {
        Ok(world) => Some(world),
        Err(WorldError::Model(error)) => {
            let reason = error.skip_reason().expect("the model is built or cannot be");
            println!("skipped: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn registers_are_read_and_written() {
    for name in ["w128", "w128c16"] {
        let Some(mut world) = world(name, &WorldOptions::default()) else {
            return;
        };
        let chunk_bytes = world.configuration().chunk_bytes();
        for bank in [map::WRITE_BANK, map::READ_BANK] {
            assert_eq!(world.read32(bank + map::ID), Ok(map::ID_VALUE));
            assert_eq!(world.read32(bank + map::VERSION), Ok(map::VERSION_VALUE));
            assert_eq!(world.read32(bank + map::CHUNK_BYTES), Ok(chunk_bytes));
            let address = 0x1234_5678_9abc_0000 + u64::from(bank);
            world.write64(bank + map::FIRST_ADDRESS, address).expect("a register");
            assert_eq!(world.read64(bank + map::FIRST_ADDRESS), Ok(address));
        }
        world.check_idle().expect("nothing is under way");
    }
}

/// Time passes for the core, whether cycles are skipped or not; a core without a drive is quiet.
#[test]
fn quiet_cycles_are_skipped() {
    let mut worlds = [false, true].map(|skip_quiet| {
        let options = WorldOptions { skip_quiet, ..WorldOptions::default() };
        world("w128c16", &options)
    });
    let [Some(whole), Some(skipping)] = &mut worlds else {
        return;
    };
    for world in [&mut *whole, &mut *skipping] {
        world.run(1_000_000).expect("no rule is broken");
        assert_eq!(world.cycle(), 1_000_000);
    }
    assert_eq!(whole.skipped_cycles(), 0);
    let skipped = skipping.skipped_cycles();
    assert!(skipped > 500_000, "{skipped}");
    for address in (0..0x240).step_by(4) {
        let values = (whole.read32(address), skipping.read32(address));
        assert_eq!(values.0, values.1, "register {address:#x}");
    }
    assert_eq!(whole.outputs(), skipping.outputs());
}

#[test]
fn a_wave_file_is_written() {
    let Some(mut world) = world("w128c16", &WorldOptions::default()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("core.fst");
    match world.trace_start(&path) {
        Ok(()) => {}
        Err(error) => {
            assert!(error.to_string().contains("zlib"), "{error}");
            println!("skipped: {error}");
            return;
        }
    }
    assert!(world.trace_start(&path).is_err(), "one at a time");
    world.run(1000).expect("no rule is broken");
    world.trace_stop();
    let bytes = std::fs::metadata(&path).expect("the file").len();
    assert!(bytes > 1000, "{bytes} bytes");
    let nowhere = folder.path().join("missing/core.fst");
    assert!(world.trace_start(&nowhere).is_err());
}
