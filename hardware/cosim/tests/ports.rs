//! What no other stream brings: every bit of the writable registers, accesses of the drive
//! anywhere, errors of the memory, the largest payloads, packets of any length, ranges that cannot
//! be, failed flushes.

use crate::common;

use assay_cosim::map::{READ_BANK, WRITE_BANK, drive_bank};
use assay_cosim::pcie_drive::{
    CommandHook, Disposition, LinkEvent, LinkOptions, PcieDrive, PcieFault,
};
use assay_cosim::world::World;
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_ssd::Drive;
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{Register, StatusBits};
use assay_units::Rng;
use common::{Rough, rough_core};

const CHUNK: u64 = 16 << 10;
const START: u32 = 1;
const STOP: u32 = 1 << 1;
const FLUSH_AFTER_WRITE: u32 = 1 << 4;
const PATTERN: u32 = 1 << 6;
const LIMIT_CYCLES: u64 = 4_000_000;

/// A core with ready drives.
fn ready(name: &str, rough: &Rough) -> Option<World<PcieDrive>> {
    let mut core = rough_core(name, rough)?;
    core.bring_up().expect("bring-up ends");
    Some(core.into_world())
}

fn set(world: &mut World<PcieDrive>, bank: u32, register: Register, value: u64) {
    let address = bank + register.offset();
    world.write64(address, value).expect("a register");
}

fn get(world: &mut World<PcieDrive>, bank: u32, register: Register) -> u64 {
    world.read64(bank + register.offset()).expect("a register")
}

fn run(world: &mut World<PcieDrive>, cycles: u64) {
    world.run(cycles).expect("no rule is broken");
}

/// A session on the first chunks of all drives, to its end.
fn session(world: &mut World<PcieDrive>, bank: u32, chunks: u64, bits: u32) -> StatusBits {
    let drives = world.drives.len() as u64;
    assert!(chunks.is_multiple_of(drives), "as many of each drive");
    session_at(world, bank, [0, (chunks / drives - 1) * CHUNK], bits)
}

/// A session on a range, to its end.
fn session_at(world: &mut World<PcieDrive>, bank: u32, range: [u64; 2], bits: u32) -> StatusBits {
    set(world, bank, stream::FIRST_ADDRESS, range[0]);
    set(world, bank, stream::LAST_ADDRESS, range[1]);
    let control = bank + stream::CONTROL.offset();
    world.write32(control, START | bits).expect("a register");
    let end = world.cycle() + LIMIT_CYCLES;
    loop {
        run(world, 500);
        let status = world.read32(bank + stream::STATUS.offset());
        let status = StatusBits::from_raw(status.expect("a register"));
        if !status.has(StatusBits::RUNNING) {
            return status;
        }
        assert!(world.cycle() < end, "the session stays {status:?}");
    }
}

fn record(world: &mut World<PcieDrive>, bytes: &[u8]) -> StatusBits {
    world.source.clear();
    world.source.push(bytes);
    session(world, WRITE_BANK, bytes.len() as u64 / CHUNK, 0)
}

fn replay(world: &mut World<PcieDrive>, chunks: u64) -> StatusBits {
    world.sink.clear();
    let status = session(world, READ_BANK, chunks, 0);
    run(world, 200);
    status
}

/// Status of a session that did all.
fn complete() -> StatusBits {
    StatusBits::FINISHED.with(StatusBits::LAST_VALID)
}

/// Registers keep each byte that is written, and nothing else; an address that is no register reads
/// as 0 and does nothing.
#[test]
fn registers_keep_what_is_written() {
    for name in ["w128c16", "w128c16d2"] {
        let Some(mut world) = ready(name, &Rough::default()) else {
            continue;
        };
        let mut words: Vec<(u32, u32)> = [
            stream::FIRST_ADDRESS,
            stream::LAST_ADDRESS,
            stream::PATTERN_SEED,
            stream::PACKET_BEATS,
            stream::PATTERN_SEED_HIGH,
        ]
        .iter()
        .flat_map(|register| [0, 4].map(|half| register.offset() + half))
        .flat_map(|offset| [WRITE_BANK + offset, READ_BANK + offset])
        .chain([0, 4].map(|half| READ_BANK + stream::LENGTH.offset() + half))
        .map(|address| (address, 0))
        .collect();
        for number in 0..world.drives.len() {
            let timeout = drive_bank(number) + drive::COMMAND_TIMEOUT.offset();
            words.push((timeout, 10_000_000));
        }
        let mut random = Rng::stream(2, name);
        for round in 0..12 {
            for (address, value) in &mut words {
                let new = random.next_u64() as u32;
                let strobes = random.below(16) as u8;
                for byte in (0..4).filter(|byte| strobes >> byte & 1 != 0) {
                    let mask = 0xff << (8 * byte);
                    *value = *value & !mask | new & mask;
                }
                // The lowest two bits of an address say nothing.
                let address = *address | random.below(4) as u32;
                world.write_bytes(address, new, strobes).expect("a register");
                // Nor is a register twice in the space of 4 KiB.
                let other = address | [0x800, 0xc00][random.below(2) as usize];
                world.write32(other, !new).expect("an answer");
                assert_eq!(world.read32(other).expect("an answer"), 0);
            }
            for &(address, value) in &words {
                let at = address | random.below(4) as u32;
                let read = world.read32(at).expect("a register");
                assert_eq!(read, value, "{name}, round {round}, {address:#x}");
            }
        }
    }
}

/// Whatever a drive asks for outside its part of the ring and of the queues is answered and
/// counted, and harms nothing.
#[test]
fn accesses_anywhere_are_answered() {
    let mut link = LinkOptions::new(3, 4);
    link.root_max_payload_bytes = 4096;
    link.endpoint_max_payload_bytes = 4096;
    let rough = Rough { link, ..Rough::default() };
    for name in ["w128c16", "w128c16d2"] {
        if let Some(world) = ready(name, &rough) {
            check_accesses(world);
        }
    }
}

fn check_accesses(mut world: World<PcieDrive>) {
    let stream: Vec<u8> = (0..6 * CHUNK).map(|at| (at / 7) as u8).collect();
    assert_eq!(record(&mut world, &stream), complete());
    let mut random = Rng::stream(3, "addresses");
    for number in 0..world.drives.len() {
        let errors = drive_bank(number) + drive::PROTOCOL_ERRORS.offset();
        let before = world.read32(errors).expect("a register");
        let requests = |world: &World<PcieDrive>| {
            let counters = world.drives[number].counters();
            assert_eq!(counters.refused_requests, 0);
            counters.reads + counters.writes
        };
        let began = requests(&world);
        for _ in 0..60 {
            // Above the ring and beside the root port's window; above the queues, the Identify data
            // and the PRP lists.
            let low = random.next_u64() & 0x7f_ffff_ffff;
            let address = match random.below(2) {
                0 => low | 1 << 32,
                _ => low | 1 << 39 | 1 << 17,
            };
            let len_bytes = 1 + random.below(4096 - address % 4096) as u32;
            let event = match random.below(2) {
                0 => LinkEvent::Read { address, len_bytes },
                _ => LinkEvent::Write {
                    address,
                    bytes: vec![random.next_u64() as u8; len_bytes as usize],
                },
            };
            let cycle = world.cycle() + 10;
            world.drives[number].add_fault(PcieFault::At { cycle, event });
            run(&mut world, 1500);
        }
        run(&mut world, 4000);
        let counted = u64::from(world.read32(errors).expect("a register") - before);
        assert_eq!(counted, requests(&world) - began, "drive {number}");
        assert!(counted >= 60);
        assert_eq!(world.drives[number].violations(), &[] as &[String]);
    }
    assert_eq!(replay(&mut world, 6), complete());
    assert!(world.sink.bytes() == stream, "the stream");
    world.check_idle().expect("all is answered");
}

/// A chunk that memory did not take is not recorded, one that memory did not give is not delivered
/// without an error.
#[test]
fn errors_of_the_memory_end_the_session() {
    for name in ["w128c16", "w128c16d2"] {
        let Some(mut world) = ready(name, &Rough::default()) else {
            continue;
        };
        let stream: Vec<u8> = (0..12 * CHUNK).map(|at| (at / 3) as u8).collect();
        let failed = [StatusBits::DEVICE_ERROR, StatusBits::PROTOCOL_ERROR];
        for round in 0..2 {
            assert_eq!(record(&mut world, &stream), complete(), "round {round}");
            assert_eq!(replay(&mut world, 12), complete(), "round {round}");
            assert!(world.sink.bytes() == stream, "round {round}");

            // What the stream writes, and what a drive reads of it.
            for read in [false, true] {
                world.memory.write_errors = u32::from(!read);
                world.memory.read_errors = u32::from(read);
                let status = record(&mut world, &stream);
                assert!(failed.iter().all(|&bit| status.has(bit)), "{status:?}");
                assert!(!status.has(StatusBits::FINISHED), "{status:?}");
                assert_eq!(world.memory.write_errors + world.memory.read_errors, 0);
                // What was left of the stream.
                world.source.clear();
                let flush = WRITE_BANK + stream::FLUSH_CONTROL.offset();
                for bit in [1, 2] {
                    world.write32(flush, bit).expect("a register");
                    run(&mut world, 100);
                }
            }
            // What a drive writes, and what the stream reads of it. The media are whole again
            // first.
            for read in [false, true] {
                assert_eq!(record(&mut world, &stream), complete(), "round {round}");
                world.memory.write_errors = u32::from(!read);
                // The other accesses of a recording have ended: the first read is the stream's.
                world.memory.read_errors = u32::from(read);
                let status = replay(&mut world, 12);
                assert!(failed.iter().all(|&bit| status.has(bit)), "{status:?}");
                assert!(!status.has(StatusBits::FINISHED), "{status:?}");
                assert_eq!(world.memory.write_errors + world.memory.read_errors, 0);
            }
        }
    }
}

/// PACKET_BEATS is a number of 64 bits for the generator and for the checker.
#[test]
fn packets_may_have_any_length() {
    let Some(mut world) = ready("w128c16", &Rough::default()) else {
        return;
    };
    let mut random = Rng::stream(4, "packets");
    for _ in 0..10 {
        for register in [stream::PATTERN_SEED, stream::PATTERN_SEED_HIGH] {
            let seed = random.next_u64();
            set(&mut world, WRITE_BANK, register, seed);
            set(&mut world, READ_BANK, register, seed);
        }
        // Longer than the range: no last beat.
        let beats = random.next_u64() | 1 << 20;
        set(&mut world, WRITE_BANK, stream::PACKET_BEATS, beats);
        assert_eq!(session(&mut world, WRITE_BANK, 1, PATTERN), complete());
        set(&mut world, READ_BANK, stream::PACKET_BEATS, CHUNK / 16);
        assert_eq!(session(&mut world, READ_BANK, 1, PATTERN), complete());
        set(&mut world, READ_BANK, stream::PACKET_BEATS, beats);
        let status = session(&mut world, READ_BANK, 1, PATTERN);
        assert_eq!(status, complete().with(StatusBits::LENGTH_ERROR), "{beats}");
        // A packet within a chunk ends the recording.
        let beats = 1 + random.below(900);
        set(&mut world, WRITE_BANK, stream::PACKET_BEATS, beats);
        let status = session(&mut world, WRITE_BANK, 4, PATTERN);
        assert_eq!(status, complete().with(StatusBits::EARLY_LAST), "{beats}");
        assert_eq!(get(&mut world, WRITE_BANK, stream::BEATS), beats);
        // The next recording does not begin with the rest of a packet.
        assert_eq!(record(&mut world, &vec![7; CHUNK as usize]), complete());
    }
}

/// STOP ends the generator's stream, too, wherever it is in a chunk.
#[test]
fn the_generator_is_stopped() {
    let Some(mut world) = ready("w128c16", &Rough::default()) else {
        return;
    };
    let control = WRITE_BANK + stream::CONTROL.offset();
    for packet_beats in [0, 1 << 20] {
        for cycles in [300, 1000, 3333] {
            set(&mut world, WRITE_BANK, stream::PACKET_BEATS, packet_beats);
            set(&mut world, WRITE_BANK, stream::FIRST_ADDRESS, 0);
            set(&mut world, WRITE_BANK, stream::LAST_ADDRESS, 99 * CHUNK);
            world.write32(control, START | PATTERN).expect("a register");
            run(&mut world, cycles);
            world.write32(control, STOP).expect("a register");
            run(&mut world, 100_000);
            let status = world.read32(WRITE_BANK + stream::STATUS.offset());
            let status = StatusBits::from_raw(status.expect("a register"));
            let bytes = get(&mut world, WRITE_BANK, stream::BYTES);
            let valid = status.has(StatusBits::LAST_VALID);
            assert_eq!(valid, bytes > 0, "{cycles}");
            assert!(bytes.is_multiple_of(CHUNK) && bytes <= cycles * 16, "{bytes}");
            let expected = StatusBits::STOPPED.with_if(valid, StatusBits::LAST_VALID);
            assert_eq!(status, expected, "{cycles}");
            assert_eq!(record(&mut world, &vec![7; CHUNK as usize]), complete());
        }
    }
}

/// A range that cannot be is refused for both directions, and the next one is not.
#[test]
fn ranges_are_refused() {
    let Some(mut world) = ready("w128c16", &Rough::default()) else {
        return;
    };
    let media = get(&mut world, drive_bank(0), drive::MEDIA_BYTES);
    let end = media / CHUNK * CHUNK;
    let first_after_last = StatusBits::FIRST_AFTER_LAST;
    for _ in 0..2 {
        for bank in [WRITE_BANK, READ_BANK] {
            for (first, last, expected) in [
                (CHUNK, 0, first_after_last),
                (1 << 60, 0, first_after_last),
                (512, CHUNK, StatusBits::UNALIGNED),
                (0, CHUNK + 1, StatusBits::UNALIGNED),
                (0, end, StatusBits::OUT_OF_RANGE),
                (1 << 63, 1 << 63, StatusBits::OUT_OF_RANGE),
            ] {
                set(&mut world, bank, stream::FIRST_ADDRESS, first);
                set(&mut world, bank, stream::LAST_ADDRESS, last);
                let control = bank + stream::CONTROL.offset();
                world.write32(control, START).expect("a register");
                run(&mut world, 200);
                let status = world.read32(bank + stream::STATUS.offset());
                let status = StatusBits::from_raw(status.expect("a register"));
                assert_eq!(status, expected, "{first:#x} to {last:#x}");
            }
            let sent = vec![bank as u8; CHUNK as usize];
            assert_eq!(record(&mut world, &sent), complete());
            assert_eq!(replay(&mut world, 1), complete());
            assert!(world.sink.bytes() == sent);
        }
    }
}

/// Flushes fail.
struct NoFlush;

impl CommandHook for NoFlush {
    fn submitted(
        &mut self,
        _: &mut Drive,
        _: u16,
        entry: &mut SubmissionEntry,
        _: &mut [u8],
    ) -> Disposition {
        if entry.opcode() == NvmOpcode::FLUSH.0 {
            Disposition::Answer(StatusCode::WRITE_FAULT)
        } else {
            Disposition::Execute
        }
    }
}

/// What a failed flush leaves is recorded, but not durable.
#[test]
fn failed_flushes_make_nothing_durable() {
    for name in ["w128c16", "w128c16d2"] {
        let Some(mut world) = ready(name, &Rough::default()) else {
            continue;
        };
        let stream_bytes = vec![5; 8 * CHUNK as usize];
        for failing in 0..world.drives.len() {
            world.drives[failing].set_hook(Some(Box::new(NoFlush)));
            world.source.push(&stream_bytes);
            let status = session(&mut world, WRITE_BANK, 8, FLUSH_AFTER_WRITE);
            assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
            let bytes = get(&mut world, WRITE_BANK, stream::BYTES);
            assert_eq!(bytes, 8 * CHUNK);
            let durable = get(&mut world, WRITE_BANK, stream::DURABLE_BYTES);
            assert_eq!(durable, 0);
            world.drives[failing].set_hook(None);
            world.source.push(&stream_bytes);
            let status = session(&mut world, WRITE_BANK, 8, FLUSH_AFTER_WRITE);
            assert_eq!(status, complete());
            let durable = get(&mut world, WRITE_BANK, stream::DURABLE_BYTES);
            assert_eq!(durable, 8 * CHUNK);
        }
    }
}

/// Commands of one kind fail with a status.
struct Failing(u8, StatusCode);

impl CommandHook for Failing {
    fn submitted(
        &mut self,
        _: &mut Drive,
        _: u16,
        entry: &mut SubmissionEntry,
        _: &mut [u8],
    ) -> Disposition {
        if entry.opcode() == self.0 { Disposition::Answer(self.1) } else { Disposition::Execute }
    }
}

/// DEVICE_STATUS is the status field and the block of the failed command, anywhere on the media.
#[test]
fn failed_commands_are_named() {
    let Some(mut world) = ready("w128c16", &Rough::default()) else {
        return;
    };
    let media = get(&mut world, drive_bank(0), drive::MEDIA_BYTES);
    let mut random = Rng::stream(5, "failures");
    for round in 0..16 {
        // Status code types 0 to 3 and 7, no success.
        let [kind, code] = [random.below(5), 1 + random.below(255)];
        let code = StatusCode::new([0, 1, 2, 3, 7][kind as usize], code as u8);
        let address = random.below(media / CHUNK - 2) * CHUNK;
        for (bank, opcode) in [(WRITE_BANK, NvmOpcode::WRITE), (READ_BANK, NvmOpcode::READ)] {
            let hook = Box::new(Failing(opcode.0, code));
            world.drives[0].set_hook(Some(hook));
            world.source.clear();
            world.source.push(&vec![1; 2 * CHUNK as usize]);
            let status = session_at(&mut world, bank, [address, address + CHUNK], 0);
            let what = format!("round {round}, {code:?} at {address:#x}: {status:?}");
            assert_eq!(status, StatusBits::DEVICE_ERROR, "{what}");
            let device = get(&mut world, bank, stream::DEVICE_STATUS);
            assert_eq!(stream::DEVICE_STATUS_LBA.value_in(device), address / 512, "{what}");
            assert_eq!(stream::DEVICE_STATUS_VALID.value_in(device), 1, "{what}");
            let field = stream::DEVICE_STATUS_STATUS_FIELD.value_in(device);
            let expected = u64::from(code.sct()) << 8 | u64::from(code.sc());
            assert_eq!(field & 0x7ff, expected, "{what}");
        }
        world.drives[0].set_hook(None);
        let flush = WRITE_BANK + stream::FLUSH_CONTROL.offset();
        world.source.clear();
        for bit in [1, 2] {
            world.write32(flush, bit).expect("a register");
            run(&mut world, 100);
        }
    }
}
