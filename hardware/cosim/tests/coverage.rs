//! The verilated core under its register words alone: what the other tests of the core do not
//! reach, as `hardware/rtl/check coverage` and `hardware/rtl/check cosim-mutants` showed.

use crate::common;

use assay_cosim::config::Configuration;
use assay_cosim::map::{READ_BANK, SEQUENCER, WRITE_BANK, drive_bank};
use assay_cosim::pcie_drive::{
    CompletionFault, LinkEvent, PcieDrive, PcieFault, unlimited_profile,
};
use assay_cosim::world::World;
use assay_nvme_spec::opcode::{AdminOpcode, NvmOpcode};
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{RegisterField, StatusBits};
use common::core;

const CHUNK: u64 = 16 << 10;
const START: u32 = 1;
const STOP: u32 = 1 << 1;
const ABORT: u32 = 1 << 2;
const PATTERN: u32 = 1 << 6;
const DRIVE: u32 = drive_bank(0);
/// Number of cycles within which everything in these tests ends.
const LIMIT_CYCLES: u64 = 4_000_000;

/// A core with a ready drive.
fn ready_world() -> Option<World<PcieDrive>> {
    let mut core = core("w128c16", unlimited_profile())?;
    core.bring_up().expect("bring-up ends");
    Some(core.into_world())
}

fn read32(world: &mut World<PcieDrive>, address: u32) -> u32 {
    world.read32(address).expect("a register")
}

fn read64(world: &mut World<PcieDrive>, address: u32) -> u64 {
    world.read64(address).expect("a register")
}

fn write32(world: &mut World<PcieDrive>, address: u32, value: u32) {
    world.write32(address, value).expect("a register");
}

fn run(world: &mut World<PcieDrive>, cycles: u64) {
    world.run(cycles).expect("no rule is broken");
}

/// Start a session on chunks 0 to `chunks` - 1.
fn start(world: &mut World<PcieDrive>, bank: u32, chunks: u64, bits: u32) {
    let last = (chunks - 1) * CHUNK;
    for (register, value) in [(stream::FIRST_ADDRESS, 0), (stream::LAST_ADDRESS, last)] {
        world.write64(bank + register.offset(), value).expect("a register");
    }
    write32(world, bank + stream::CONTROL.offset(), START | bits);
}

/// Wait until a register satisfies a condition.
fn wait(world: &mut World<PcieDrive>, address: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let end = world.cycle() + LIMIT_CYCLES;
    loop {
        let value = read32(world, address);
        if holds(value) {
            return value;
        }
        assert!(world.cycle() < end, "register {address:#x} stays {value:#x}");
        run(world, 500);
    }
}

/// Wait for the end of a session.
fn end(world: &mut World<PcieDrive>, bank: u32) -> StatusBits {
    let status = bank + stream::STATUS.offset();
    let value = wait(world, status, |value| !StatusBits::from_raw(value).has(StatusBits::RUNNING));
    StatusBits::from_raw(value)
}

/// Wait until the drive is ready.
fn wait_ready(world: &mut World<PcieDrive>) {
    wait(world, DRIVE + SEQUENCER, |value| value & 1 << 16 != 0);
}

/// Record `chunks` chunks and read them; all must be right.
fn round_trip(world: &mut World<PcieDrive>, chunks: u64) {
    let bytes: Vec<u8> = (0..chunks * CHUNK).map(|at| (at / 5) as u8).collect();
    world.source.push(&bytes);
    start(world, WRITE_BANK, chunks, 0);
    assert!(end(world, WRITE_BANK).has(StatusBits::FINISHED));
    world.sink.clear();
    start(world, READ_BANK, chunks, 0);
    assert!(end(world, READ_BANK).has(StatusBits::FINISHED));
    run(world, 100);
    assert!(world.sink.bytes() == bytes, "the bytes replayed differ");
    world.sink.clear();
    assert_eq!(read64(world, WRITE_BANK + stream::BEATS.offset()), chunks * CHUNK / 16);
}

/// The generator records a pattern and the checker accepts it, without the stream ports; a changed
/// seed is an error at beat 0.
#[test]
fn the_core_makes_and_checks_patterns() {
    let Some(mut world) = ready_world() else {
        return;
    };
    let chunks = 12;
    let beats = chunks * CHUNK / 16;
    for bank in [WRITE_BANK, READ_BANK] {
        for (register, value) in [
            (stream::PATTERN_SEED, 0x0123_4567_89ab_cdef),
            (stream::PATTERN_SEED_HIGH, 0xfedc_ba98_7654_3210),
            (stream::PACKET_BEATS, 0),
        ] {
            world.write64(bank + register.offset(), value).expect("a register");
        }
    }
    // What lies at the port must be neither needed nor taken.
    for offered in [0, 4096] {
        world.source.push(&vec![9; offered]);
        start(&mut world, WRITE_BANK, chunks, PATTERN);
        assert!(end(&mut world, WRITE_BANK).has(StatusBits::FINISHED));
        let recorded = read64(&mut world, WRITE_BANK + stream::BEATS.offset());
        assert_eq!(recorded, beats);
        let taken = world.source.taken_bytes();
        assert!(taken <= 32, "{taken} bytes of the stream were taken");
    }

    let wrong = StatusBits::from_raw(1 << 10);
    for (high, is_wrong) in [(0xfedc_ba98_7654_3210, false), (1, true)] {
        let register = READ_BANK + stream::PATTERN_SEED_HIGH.offset();
        world.write64(register, high).expect("a register");
        start(&mut world, READ_BANK, chunks, PATTERN);
        let status = end(&mut world, READ_BANK);
        assert!(status.has(StatusBits::FINISHED), "{status:?}");
        assert_eq!(status.has(wrong), is_wrong, "{status:?}");
        if is_wrong {
            let beat = read64(&mut world, READ_BANK + stream::ERROR_BEAT.offset());
            assert_eq!(beat, 0);
        }
    }
    assert!(world.sink.bytes().is_empty(), "the port showed the pattern");
    // The media hold the pattern, not zeroes.
    start(&mut world, READ_BANK, 1, 0);
    end(&mut world, READ_BANK);
    run(&mut world, 100);
    let seed: u128 = 0xfedc_ba98_7654_3210_0123_4567_89ab_cdef;
    assert_eq!(world.sink.bytes()[..16], seed.to_le_bytes());
    assert_eq!(world.sink.bytes().len() as u64, CHUNK);
}

#[test]
fn the_drive_is_described_by_its_registers() {
    let Some(mut world) = ready_world() else {
        return;
    };
    let link = read32(&mut world, DRIVE + drive::LINK.offset());
    assert_eq!(link, 4 << 8 | 3 << 4 | 1, "generation 3, 4 lanes, up");
    let block = read32(&mut world, DRIVE + drive::BLOCK_BYTES.offset());
    assert_eq!(block, 512);
    let transfer = read32(&mut world, DRIVE + drive::MAX_TRANSFER.offset());
    assert_eq!(transfer, 2 << 20);
    let cap = read64(&mut world, DRIVE + drive::CAP.offset());
    let expected = world.drives[0].controller().read_register(0, 8);
    assert_eq!(cap, expected);
    // More chunks than slots, so that commands have to wait.
    round_trip(&mut world, 20);
    let commands = read32(&mut world, DRIVE + drive::COMMANDS.offset());
    assert_eq!(commands, 40);
    let doorbells = read32(&mut world, DRIVE + drive::DOORBELLS.offset());
    assert!((2..=160).contains(&doorbells), "{doorbells}");
    let errors = read32(&mut world, DRIVE + drive::PROTOCOL_ERRORS.offset());
    assert_eq!(errors, 0);
    let oldest = read32(&mut world, DRIVE + drive::OLDEST_COMMAND.offset());
    assert_eq!(oldest, 0);
    assert_eq!(world.outputs().irq, 0b11, "both sessions have ended");
    start(&mut world, READ_BANK, 1, 0);
    run(&mut world, 20);
    assert_eq!(world.outputs().irq, 0b01, "the recording has ended");
    world.source.push(&[1; 64]);
    start(&mut world, WRITE_BANK, 64, 0);
    run(&mut world, 20);
    assert_eq!(world.outputs().irq, 0b00, "both are running");
    end(&mut world, READ_BANK);
    assert_eq!(world.outputs().irq, 0b10, "the replay has ended");
}

#[test]
fn drives_are_shut_down_and_brought_up_again() {
    let Some(mut world) = ready_world() else {
        return;
    };
    round_trip(&mut world, 3);
    write32(&mut world, DRIVE + drive::CONTROL.offset(), 2);
    wait(&mut world, DRIVE + SEQUENCER, |value| value & 1 << 20 != 0);
    let status = world.drives[0].controller().read_register(0x1c, 4);
    assert_eq!(status >> 2 & 3, 2, "the drive was notified, and has shut down: {status:#x}");
    start(&mut world, WRITE_BANK, 1, 0);
    let refused = end(&mut world, WRITE_BANK);
    assert!(refused.has(StatusBits::DEVICE_ERROR), "{refused:?}");
    for _ in 0..2 {
        write32(&mut world, DRIVE + drive::CONTROL.offset(), 1);
        run(&mut world, 1000);
        wait_ready(&mut world);
        round_trip(&mut world, 20);
    }
    world.check_idle().expect("all is answered");
}

/// The link goes down in a recording and in a replay: the session ends with an error that names no
/// command, and the next one is right.
#[test]
fn sessions_end_when_the_link_goes_down() {
    let Some(mut world) = ready_world() else {
        return;
    };
    round_trip(&mut world, 40);
    for bank in [WRITE_BANK, READ_BANK] {
        let cycle = world.cycle() + 12_000;
        for (cycle, event) in [(cycle, LinkEvent::Down), (cycle + 100_000, LinkEvent::Up)] {
            world.drives[0].add_fault(PcieFault::At { cycle, event });
        }
        world.source.push(&vec![3; 40 * CHUNK as usize]);
        start(&mut world, bank, 40, 0);
        let status = end(&mut world, bank);
        assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
        let device = read64(&mut world, bank + stream::DEVICE_STATUS.offset());
        assert_eq!(device as u32, 1 << 31 | 0x7fff, "no command was completed with an error");
        let bytes = read64(&mut world, bank + stream::BYTES.offset());
        assert!(bytes < 40 * CHUNK);
        let link = read32(&mut world, DRIVE + drive::LINK.offset());
        assert_eq!(link & 1, 0, "the link is down");
        world.source.clear();
        wait_ready(&mut world);
        write32(&mut world, WRITE_BANK + stream::FLUSH_CONTROL.offset(), 1);
        run(&mut world, 100);
        write32(&mut world, WRITE_BANK + stream::FLUSH_CONTROL.offset(), 2);
        run(&mut world, 1000);
        round_trip(&mut world, 20);
    }
}

/// A command that never completes ends its session after COMMAND_TIMEOUT, and the drive is brought
/// up again.
#[test]
fn a_command_without_completion_times_out() {
    let Some(mut world) = ready_world() else {
        return;
    };
    round_trip(&mut world, 2);
    write32(&mut world, DRIVE + drive::COMMAND_TIMEOUT.offset(), 300);
    // The third of the commands that follow, and the last, so that nothing takes its place.
    world.drives[0]
        .add_fault(PcieFault::Completion { ordinal: 4 + 3, fault: CompletionFault::Missing });
    world.source.push(&vec![3; 3 * CHUNK as usize]);
    start(&mut world, WRITE_BANK, 3, 0);
    let oldest = DRIVE + drive::OLDEST_COMMAND.offset();
    wait(&mut world, oldest, |age| age > 100);
    let status = end(&mut world, WRITE_BANK);
    assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
    let device = read64(&mut world, WRITE_BANK + stream::DEVICE_STATUS.offset());
    let lba = 2 * CHUNK / 512;
    assert_eq!(device, lba << 32 | 1 << 31 | 0x7fff);
    let bytes = read64(&mut world, WRITE_BANK + stream::BYTES.offset());
    assert_eq!(bytes, 2 * CHUNK);
    let ready = read32(&mut world, DRIVE + SEQUENCER) & 1 << 16;
    assert_eq!(ready, 0, "the drive is being brought up again");
    wait_ready(&mut world);
    round_trip(&mut world, 20);
}

/// Completions for no command, and accesses outside the core's addresses, are counted; a session
/// under way says so.
#[test]
fn broken_rules_are_counted() {
    let Some(mut world) = ready_world() else {
        return;
    };
    let errors = DRIVE + drive::PROTOCOL_ERRORS.offset();
    let cycle = world.cycle() + 1000;
    for (number, event) in [
        LinkEvent::Read { address: 0x80_0000_7000, len_bytes: 64 },
        LinkEvent::Write { address: 0x80_0000_7000, bytes: vec![1; 64] },
    ]
    .into_iter()
    .enumerate()
    {
        let cycle = cycle + 1000 * number as u64;
        world.drives[0].add_fault(PcieFault::At { cycle, event });
    }
    run(&mut world, 6000);
    assert_eq!(read32(&mut world, errors), 2);
    world.drives[0]
        .add_fault(PcieFault::Completion { ordinal: 3, fault: CompletionFault::WrongCid(0x55) });
    write32(&mut world, DRIVE + drive::COMMAND_TIMEOUT.offset(), 300);
    world.source.push(&vec![3; 8 * CHUNK as usize]);
    start(&mut world, WRITE_BANK, 8, 0);
    let status = end(&mut world, WRITE_BANK);
    assert!(status.has(StatusBits::from_raw(1 << 12)), "{status:?}");
    assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
    assert!(read32(&mut world, errors) > 2);
}

/// Completions of commands that a restart has given up break no rule.
#[test]
fn late_completions_are_not_counted() {
    let Some(mut world) = ready_world() else {
        return;
    };
    for cycles in [4000, 9000, 15_000] {
        world.source.push(&vec![3; 40 * CHUNK as usize]);
        start(&mut world, WRITE_BANK, 40, 0);
        run(&mut world, cycles);
        write32(&mut world, DRIVE + drive::CONTROL.offset(), 1);
        let status = end(&mut world, WRITE_BANK);
        assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
        world.source.clear();
        wait_ready(&mut world);
        write32(&mut world, WRITE_BANK + stream::FLUSH_CONTROL.offset(), 1);
        run(&mut world, 100);
        write32(&mut world, WRITE_BANK + stream::FLUSH_CONTROL.offset(), 2);
        run(&mut world, 1000);
        let errors = read32(&mut world, DRIVE + drive::PROTOCOL_ERRORS.offset());
        assert_eq!(errors, 0, "a restart after {cycles} cycles");
    }
}

/// STOP gives up the bytes of an open chunk, and DROPPED_BEATS counts them; what FLUSH_CONTROL
/// drops is counted, too.
#[test]
fn dropped_beats_are_counted() {
    let Some(mut world) = ready_world() else {
        return;
    };
    let dropped = WRITE_BANK + stream::DROPPED_BEATS.offset();
    let flush = WRITE_BANK + stream::FLUSH_CONTROL.offset();
    let flushing = WRITE_BANK + stream::FLUSH_STATUS.offset();
    world.source.push(&vec![3; CHUNK as usize + 1600]);
    start(&mut world, WRITE_BANK, 8, 0);
    run(&mut world, 20_000);
    let control = WRITE_BANK + stream::CONTROL.offset();
    write32(&mut world, control, STOP);
    let status = end(&mut world, WRITE_BANK);
    assert!(status.has(StatusBits::STOPPED), "{status:?}");
    let bytes = read64(&mut world, WRITE_BANK + stream::BYTES.offset());
    assert_eq!(bytes, CHUNK);
    let given_up = read64(&mut world, dropped);
    assert_eq!(given_up, 100);
    write32(&mut world, flush, 1);
    run(&mut world, 50);
    assert_eq!(read32(&mut world, flushing) & 3, 1, "in progress");
    world.source.push(&[3; 320]);
    world.source.end();
    run(&mut world, 200);
    assert_eq!(read32(&mut world, flushing) & 3, 2, "finished");
    assert_eq!(read64(&mut world, dropped) - given_up, 20);
    round_trip(&mut world, 9);
}

/// ABORT ends a replay, and nothing of it comes behind.
#[test]
fn an_aborted_replay_gives_no_more() {
    let Some(mut world) = ready_world() else {
        return;
    };
    round_trip(&mut world, 60);
    for cycles in [3000, 20_000] {
        start(&mut world, READ_BANK, 60, 0);
        run(&mut world, cycles);
        let control = READ_BANK + stream::CONTROL.offset();
        write32(&mut world, control, ABORT);
        let at_abort = world.sink.bytes().len();
        let status = end(&mut world, READ_BANK);
        assert!(status.has(StatusBits::ABORTED), "{status:?}");
        let bytes = world.sink.bytes().len();
        // What waits in the queue of beats is dropped, too.
        assert!(bytes - at_abort <= 1024, "{}", bytes - at_abort);
        assert!(bytes < 60 * CHUNK as usize);
        run(&mut world, 5000);
        assert_eq!(world.sink.bytes().len(), bytes);
        world.sink.clear();
    }
    round_trip(&mut world, 20);
}

/// LENGTH ends a replay inside its range and inside a chunk.
#[test]
fn a_replay_ends_at_its_length() {
    let Some(mut world) = ready_world() else {
        return;
    };
    round_trip(&mut world, 6);
    let length = 2 * CHUNK + 100;
    let register = READ_BANK + stream::LENGTH.offset();
    world.write64(register, length).expect("a register");
    start(&mut world, READ_BANK, 6, 0);
    let status = end(&mut world, READ_BANK);
    assert!(status.has(StatusBits::FINISHED), "{status:?}");
    assert!(status.has(StatusBits::EARLY_LAST), "{status:?}");
    let bytes = read64(&mut world, READ_BANK + stream::BYTES.offset());
    assert_eq!(bytes, length);
    run(&mut world, 5000);
    assert_eq!(world.sink.bytes().len() as u64, length);
}

/// A field of a register of 32 bits.
fn bits(field: RegisterField) -> u32 {
    field.mask() as u32
}

/// Sends a command of the software and returns PASS_STATUS when it has ended.
fn pass(world: &mut World<PcieDrive>, opcode: u32, namespace: u32, words: [u32; 3]) -> u32 {
    let registers = [
        (drive::PASS_DW0, opcode),
        (drive::PASS_DW1, namespace),
        (drive::PASS_DW10, words[0]),
        (drive::PASS_DW11, words[1]),
        (drive::PASS_DW12, words[2]),
        (drive::PASS_DW13, 0),
        (drive::PASS_DW14, 0),
        (drive::PASS_DW15, 0),
    ];
    for (register, value) in registers {
        write32(world, DRIVE + register.offset(), value);
    }
    write32(world, DRIVE + drive::CONTROL.offset(), bits(drive::CONTROL_PASS));
    let is_over = |status| status & bits(drive::PASS_STATUS_BUSY) == 0;
    wait(world, DRIVE + drive::PASS_STATUS.offset(), is_over)
}

/// Identify and Get Log Page on the admin queue, a write on the I/O queue, one that the drive does
/// not know, one that moves data both ways, and one during a session.
#[test]
fn commands_of_the_software_are_sent_between_sessions() {
    let done = bits(drive::PASS_STATUS_DONE);
    let refused = bits(drive::PASS_STATUS_REFUSED);
    let namespace = Configuration::named("w128c16").expect("a configuration").namespace;
    let identify = AdminOpcode::IDENTIFY.0.into();
    let health = AdminOpcode::GET_LOG_PAGE.0.into();
    let write = bits(drive::PASS_DW0_IO) | u32::from(NvmOpcode::WRITE.0);
    let Some(mut world) = ready_world() else {
        return;
    };
    let data: Vec<u8> = (0..CHUNK).map(|at| (at * 7 / 8) as u8).collect();
    world.source.push(&data);
    start(&mut world, WRITE_BANK, 1, 0);
    assert!(end(&mut world, WRITE_BANK).has(StatusBits::FINISHED));
    assert_eq!(pass(&mut world, identify, 0, [1, 0, 0]), done, "Identify Controller");
    assert_eq!(pass(&mut world, health, u32::MAX, [0x007f_0002, 0, 0]), done, "health log");
    // One page of what was recorded is written again, behind it.
    let blocks = (CHUNK / 512) as u32;
    assert_eq!(pass(&mut world, write, namespace, [blocks, 0, 7]), done, "write");
    let unknown = pass(&mut world, 0x7c, 0, [0; 3]);
    assert_eq!((unknown & 0xffff, unknown >> 16 & 0x7ff), (done, 1), "Invalid Command Opcode");
    assert_eq!(pass(&mut world, 0x03, 0, [0; 3]), refused, "data both ways");
    world.sink.clear();
    start(&mut world, READ_BANK, 2, 0);
    assert_eq!(pass(&mut world, identify, 0, [1, 0, 0]), refused, "a session runs");
    assert!(end(&mut world, READ_BANK).has(StatusBits::FINISHED));
    run(&mut world, 1000);
    let replayed = world.sink.bytes();
    assert_eq!(replayed[..CHUNK as usize], data);
    assert_eq!(replayed[CHUNK as usize..][..4096], data[..4096]);
    assert_ne!(replayed[CHUNK as usize + 4096..][..4096], data[..4096], "one page was written");
}
