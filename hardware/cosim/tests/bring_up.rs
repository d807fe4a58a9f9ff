//! Bring-up of drives that describe themselves in all ways: each is either refused with the step
//! and the reason of `hardware/rtl/nvs_init.sv`, or its description is in the registers.

#[path = "bring_up/altered.rs"]
mod altered;
use crate::common;

use altered::{Altered, Changes, DOORBELLS};
use assay_cosim::config::Configuration;
use assay_cosim::map::{WRITE_BANK, drive_bank};
use assay_cosim::pcie_drive::LinkOptions;
use assay_cosim::world::{World, WorldOptions};
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{Register, RegisterField, StatusBits};
use assay_units::Rng;

const ROOT_PORT: u32 = 0x8000_0000;
const ENDPOINT: u32 = 0x8010_0000;
const REGISTERS: u32 = 0x1000_0000;
const CAPABILITIES: u32 = REGISTERS + 4;
const CONTROLLER_STATUS: u32 = REGISTERS + 0x1c;
const ADMIN_COMPLETIONS: u64 = 0x80_0000_1000;
const IDENTIFY: u64 = 0x80_0000_6000;

/// Cycles within which a bring-up ends.
const LIMIT_CYCLES: u64 = 4_000_000;

/// A core whose drives are ready.
fn world(name: &str) -> Option<World<Altered>> {
    let namespace = Configuration::named(name)?.namespace;
    let mut world = world_of(name, namespace)?;
    assert_eq!(ended(&mut world), (40, 0), "without changes");
    Some(world)
}

/// Of drives whose namespace has this identifier.
fn world_of(name: &str, namespace: u32) -> Option<World<Altered>> {
    let configuration = Configuration::named(name).expect("a configuration");
    let drive = |_| Altered::new(LinkOptions::new(3, 4), namespace);
    let drives = (0..configuration.drives).map(drive).collect();
    common::built(World::new(configuration, drives, &WorldOptions::default()))
}

/// Both models have another one.
#[test]
fn a_drive_without_the_namespace_is_refused() {
    for name in ["w128c16", "w128"] {
        let Some(mut world) = world_of(name, 7) else {
            return;
        };
        assert_eq!(ended(&mut world), (33, 15), "{name}");
    }
}

/// The bank of the drive that is changed: the last one.
fn bank(world: &World<Altered>) -> u32 {
    drive_bank(world.drives.len() - 1)
}

fn read(world: &mut World<Altered>, register: Register) -> u64 {
    let address = bank(world) + register.offset();
    let value = if register.bits() == 64 {
        world.read64(address)
    } else {
        world.read32(address).map(u64::from)
    };
    value.expect("a register")
}

fn control(world: &mut World<Altered>, bit: RegisterField) {
    let address = bank(world) + drive::CONTROL.offset();
    world.write32(address, bit.mask() as u32).expect("a register");
    world.run(100).expect("no rule is broken");
}

/// Step and reason with which the sequencer ends, ready, shut down or failed.
fn ended(world: &mut World<Altered>) -> (u64, u64) {
    let end = world.cycle() + LIMIT_CYCLES;
    loop {
        let word = read(world, drive::SEQUENCER);
        let failed = drive::SEQUENCER_FAILED.value_in(word);
        if failed | drive::SEQUENCER_READY.value_in(word) | drive::SEQUENCER_DOWN.value_in(word)
            != 0
        {
            let reason = drive::SEQUENCER_REASON.value_in(word);
            assert_eq!(failed != 0, reason != 0, "{word:#x}");
            return (drive::SEQUENCER_STEP.value_in(word), reason);
        }
        assert!(world.cycle() < end, "the sequencer stays {word:#x}");
        world.run(500).expect("no rule is broken");
    }
}

fn change(world: &mut World<Altered>, changes: &Changes) {
    world.drives.last_mut().expect("a drive").changes = changes.clone();
}

fn bring_up(world: &mut World<Altered>, changes: &Changes) -> (u64, u64) {
    change(world, changes);
    control(world, drive::CONTROL_RESTART);
    ended(world)
}

fn register(address: u32, mask: u32, value: u32) -> Changes {
    Changes { registers: vec![(address, mask, value)], ..Changes::default() }
}

fn error(address: u32) -> Changes {
    Changes { errors: vec![address], ..Changes::default() }
}

fn identified(bytes: &[(u64, u8)]) -> Changes {
    Changes {
        bytes: bytes.iter().map(|&(at, value)| (IDENTIFY + at, value)).collect(),
        ..Changes::default()
    }
}

/// In both entries of the queue.
fn completed(bytes: &[(u64, u8)]) -> Changes {
    let places = bytes.iter().flat_map(|&(at, value)| [(at, value), (at + 16, value)]);
    Changes {
        bytes: places.map(|(at, value)| (ADMIN_COMPLETIONS + at, value)).collect(),
        ..Changes::default()
    }
}

#[test]
fn drives_that_cannot_be_used_are_refused() {
    let Some(mut world) = world("w128c16") else {
        return;
    };
    // LBA format 0: metadata size, data size as a power of two.
    let format =
        |metadata, size| identified(&[(25, 0), (26, 0), (128, metadata), (129, 0), (130, size)]);
    let rows = [
        ("an error response", error(ENDPOINT + 8), (6, 1)),
        ("an error response to a doorbell", error(DOORBELLS), (32, 1)),
        ("ones", register(ENDPOINT + 8, !0, !0), (6, 2)),
        ("another class", register(ENDPOINT + 8, 0xff00, 0x0100), (6, 5)),
        ("no capabilities, root port", register(ROOT_PORT + 0x34, 0xff, 0), (7, 6)),
        ("no PCI Express, root port", register(ROOT_PORT + 0x34, 0xff, 0xf0), (8, 6)),
        ("no capabilities", register(ENDPOINT + 0x34, 0xff, 0), (10, 6)),
        ("no PCI Express", register(ENDPOINT + 0x34, 0xff, 0xf0), (11, 6)),
        ("a BAR of 512 MiB", register(ENDPOINT + 0x10, 0x1fff_e000, 0), (16, 7)),
        ("a BAR of 4 KiB", register(ENDPOINT + 0x10, 0x1000, 0x1000), (16, 7)),
        ("an I/O BAR", register(ENDPOINT + 0x10, 1, 1), (16, 7)),
        ("short queues", register(REGISTERS, 0xffff, 62), (21, 8)),
        ("no NVM command set", register(CAPABILITIES, 1 << 5, 0), (22, 9)),
        ("pages of 8 KiB", register(CAPABILITIES, 0xf << 16, 1 << 16), (22, 10)),
        ("a fatal status", register(CONTROLLER_STATUS, 2, 2), (31, 13)),
        ("a failed command", completed(&[(15, 1)]), (32, 15)),
        ("another identifier", completed(&[(12, 0xff)]), (32, 16)),
        ("blocks of 1 KiB", format(0, 10), (34, 18)),
        ("metadata", format(8, 9), (34, 19)),
        (
            "metadata of 256 bytes and more",
            identified(&[(25, 0), (26, 0), (129, 1), (130, 9)]),
            (34, 19),
        ),
        ("one completion queue", completed(&[(2, 0), (3, 0)]), (35, 20)),
        ("one submission queue", completed(&[(0, 0), (1, 0)]), (35, 20)),
    ];
    for (what, changes, expected) in rows {
        assert_eq!(bring_up(&mut world, &changes), expected, "{what}");
        // No session is possible.
        let status = WRITE_BANK + stream::STATUS.offset();
        let start = WRITE_BANK + stream::CONTROL.offset();
        world.write32(start, 1).expect("a register");
        world.run(200).expect("no rule is broken");
        let status = StatusBits::from_raw(world.read32(status).expect("a register"));
        assert_eq!(status, StatusBits::DEVICE_ERROR, "{what}");
    }
    assert_eq!(bring_up(&mut world, &Changes::default()), (40, 0));
    // A fatal status while it shuts down.
    change(&mut world, &register(CONTROLLER_STATUS, 2, 2));
    control(&mut world, drive::CONTROL_SHUTDOWN);
    assert_eq!(ended(&mut world), (42, 13));
    assert_eq!(bring_up(&mut world, &Changes::default()), (40, 0));
    control(&mut world, drive::CONTROL_SHUTDOWN);
    assert_eq!(ended(&mut world), (43, 0));
}

/// All doorbell strides, LBA formats and values without a meaning for the core.
#[test]
fn drives_are_described_by_their_registers() {
    for name in ["w128c16", "w128c16d2"] {
        if let Some(world) = world(name) {
            check_descriptions(world);
        }
    }
}

fn check_descriptions(mut world: World<Altered>) {
    let mut random = Rng::stream(1, "descriptions");
    // Of several drives, the last one is described in fewer ways.
    let strides = 16 / (2 * world.drives.len() - 1);
    for stride in (0..strides as u32).chain(0..2) {
        let mut draw = || random.next_u64();
        // At least 64 entries and 500 ms; 4 KiB pages, the NVM command set.
        let low = draw() as u32 | 1 << 24 | 1 << 6;
        let high = draw() as u32 & !0x000f_000f | 1 << 5 | stride;
        let blocks = draw();
        let mdts = [0, 1, 3, 4, 5, 8, 9, 15, 16, 0x31][draw() as usize % 10];
        let format = draw() % 64;
        let shift = [9, 12][draw() as usize % 2];
        let link = (draw() as u8 % 16, draw() as u8);
        // Bits 6:5 of FLBAS count only where there are more than 16 formats.
        let (formats, in_use) = if format < 16 {
            (15, format as u8 | (draw() as u8 & 0x60))
        } else {
            (63, (format & 15 | (format >> 4) << 5) as u8)
        };
        let at = 128 + 4 * format;
        let relative = draw() as u8 & 3;
        let mut bytes = vec![(77, mdts), (25, formats), (26, in_use)];
        bytes.extend([(at, 0), (at + 1, 0), (at + 2, shift), (at + 3, relative)]);
        bytes.extend((0..8).map(|byte| (byte, (blocks >> (8 * byte)) as u8)));
        let changes = Changes {
            registers: vec![(REGISTERS, !0, low), (CAPABILITIES, !0, high)],
            stride,
            link: Some(link),
            ..identified(&bytes)
        };
        let what = format!("{changes:?}");
        assert_eq!(bring_up(&mut world, &changes), (40, 0), "{what}");
        let cap = u64::from(high) << 32 | u64::from(low);
        assert_eq!(read(&mut world, drive::CAP), cap, "{what}");
        let media = read(&mut world, drive::MEDIA_BYTES);
        assert_eq!(media, blocks << shift, "{what}");
        assert_eq!(read(&mut world, drive::BLOCK_BYTES), 1 << shift, "{what}");
        let transfer = if mdts == 0 || mdts > 15 { 0 } else { 4096 << mdts };
        assert_eq!(read(&mut world, drive::MAX_TRANSFER), transfer, "{what}");
        let (speed, width) = link;
        let link = u64::from(width) << 8 | u64::from(speed) << 4 | 1;
        assert_eq!(read(&mut world, drive::LINK), link, "{what}");
    }
}

/// A doorbell that the drive does not take ends the session, and the drive is brought up again.
#[test]
fn a_doorbell_with_an_error_ends_the_session() {
    let Some(mut world) = world("w128c16") else {
        return;
    };
    let control = WRITE_BANK + stream::CONTROL.offset();
    let last = WRITE_BANK + stream::LAST_ADDRESS.offset();
    world.write64(last, 3 << 14).expect("a register");
    for round in 0..2 {
        for changes in [error(DOORBELLS + 8), Changes::default()] {
            let is_failing = !changes.errors.is_empty();
            change(&mut world, &changes);
            world.source.clear();
            world.source.push(&vec![round; 4 << 14]);
            world.write32(control, 1).expect("a register");
            let end = world.cycle() + LIMIT_CYCLES;
            let status = loop {
                world.run(500).expect("no rule is broken");
                let status = world.read32(WRITE_BANK + stream::STATUS.offset());
                let status = StatusBits::from_raw(status.expect("a register"));
                if !status.has(StatusBits::RUNNING) {
                    break status;
                }
                assert!(world.cycle() < end, "{status:?}");
            };
            let expected = match is_failing {
                true => StatusBits::DEVICE_ERROR,
                false => StatusBits::FINISHED.with(StatusBits::LAST_VALID),
            };
            assert_eq!(status, expected, "round {round}");
            change(&mut world, &Changes::default());
            assert_eq!(ended(&mut world), (40, 0), "round {round}");
            // What was left of the stream.
            world.source.clear();
            let flush = WRITE_BANK + stream::FLUSH_CONTROL.offset();
            for bit in [1, 2] {
                world.write32(flush, bit).expect("a register");
                world.run(100).expect("no rule is broken");
            }
        }
    }
}
