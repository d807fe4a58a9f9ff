//! What the parts around the core may do: consumers that are not ready, streams and bursts that
//! break a rule, retries that a drive asks for, bursts over the end of a PRP list.

use assay_cosim::map::{READ_BANK, drive_bank};
use assay_cosim::pcie_drive::{CompletionFault, LinkEvent, PcieFault};
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{ControlBits, StatusBits};

use crate::common::Rough;
use crate::common::slot::Plan;
use crate::faults::raw::{self, CHUNK, Raw};

const TIMEOUT_US: u32 = 400;
const CHUNKS: u64 = 40;
const CYCLES_PER_US: u64 = 250;

/// Values of `m_user`.
const COMPLETE: u8 = 0;
const STOPPED: u8 = 1;
const ABORTED: u8 = 2;
const FAILED: u8 = 3;

fn finished() -> StatusBits {
    StatusBits::FINISHED.with(StatusBits::LAST_VALID)
}

/// A session that ends although nothing is taken of its stream.
fn await_end_alone(raw: &mut Raw, what: &str) {
    for _ in 0..100 {
        if !raw.status(true).has(StatusBits::RUNNING) {
            return;
        }
        raw.run(1000);
    }
    panic!("{what}: {:?}", raw.status(true));
}

/// A finished chunk that waits for the consumer has no age: the drive is not late, and a recording
/// beside the replay goes on.
#[test]
fn a_consumer_may_pause_for_longer_than_a_command() {
    for name in ["w128c16", "w128c16d2"] {
        let Some(mut raw) = Raw::new(name, TIMEOUT_US) else {
            continue;
        };
        raw.fill(CHUNKS, 1);
        let sent = raw::stream(1, CHUNKS * CHUNK * raw.world().drives.len() as u64);
        raw.world().sink.set_open(false);
        raw.start(true, 0, CHUNKS, 1);
        raw.run(4000);
        raw.start(false, 100, 20, 2);
        for _ in 0..4 {
            raw.run(u64::from(TIMEOUT_US) * CYCLES_PER_US);
            assert_eq!(raw.drive32(drive::OLDEST_COMMAND), 0, "{name}");
        }
        assert_eq!(raw.status(false), finished(), "{name}: the recording");
        assert!(raw.status(true).has(StatusBits::RUNNING), "{name}");
        raw.world().sink.set_open(true);
        raw.await_end(true);
        assert_eq!(raw.status(true), finished(), "{name}: the replay");
        assert!(raw.taken() == sent, "{name}: the stream");
    }
}

/// COMMAND_TIMEOUT 0 is no limit.
#[test]
fn a_timeout_of_zero_is_none() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    raw.session(true, 0, CHUNKS, 1);
    assert_eq!(raw.status(true), finished());
}

/// STOP, ABORT and RESTART end a replay whose consumer takes nothing. Its packet ends with the
/// reason, and the next replay has a packet of its own.
#[test]
fn replays_end_without_their_consumer() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    let sent = raw::stream(1, CHUNKS * CHUNK);
    let restart = (drive_bank(0), drive::CONTROL, drive::CONTROL_RESTART.mask() as u32);
    let command = |bits: ControlBits| (READ_BANK, stream::CONTROL, bits.to_raw());
    for (number, (command, user)) in [
        (command(ControlBits::STOP), STOPPED),
        (command(ControlBits::ABORT), ABORTED),
        (restart, FAILED),
    ]
    .into_iter()
    .enumerate()
    {
        for taken_cycles in [0, 3000, 9001] {
            let what = format!("end {number} after {taken_cycles} cycles");
            raw.world().sink.set_open(taken_cycles > 0);
            raw.start(true, 0, CHUNKS, 1);
            raw.run(taken_cycles);
            raw.world().sink.set_open(false);
            raw.run(20_000);
            raw.write32(command.0, command.1, command.2);
            await_end_alone(&mut raw, &what);
            let bytes = raw.read64(READ_BANK, stream::BYTES);
            raw.await_sequencer(drive::SEQUENCER_READY);
            // The next replay begins before the consumer takes what is left of this one.
            if taken_cycles == 9001 {
                raw.run(2000);
            }
            let at = raw.taken().len();
            raw.world().sink.set_open(true);
            raw.run(2000);
            let ends = raw.world().sink.packet_ends().to_vec();
            let taken = raw.taken();
            assert_eq!(ends.len(), 1, "{what}: {ends:?}");
            assert_eq!((ends[0].at, ends[0].user), (taken.len(), user), "{what}");
            assert!(taken.len() <= at + 64, "{what}: what was at the port");
            assert!(bytes <= taken.len() as u64, "{what}: {bytes}");
            assert!(taken[..] == sent[..taken.len()], "{what}");
            raw.session(true, 0, 1, 1);
            assert_eq!(raw.status(true), finished(), "{what}");
            let ends = raw.world().sink.packet_ends().to_vec();
            assert_eq!(ends.len(), 1, "{what}: {ends:?}");
            assert_eq!((ends[0].at, ends[0].user), (CHUNK as usize, COMPLETE), "{what}");
            assert!(raw.taken()[..] == sent[..CHUNK as usize], "{what}");
        }
    }
}

/// What a stopped replay left at the port is no chunk of the next one, which starts behind it.
#[test]
fn replays_begin_behind_a_stopped_one() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    let sent = raw::stream(1, CHUNKS * CHUNK);
    raw.world().sink.set_open(false);
    for _ in 0..3 {
        raw.start(true, 0, CHUNKS, 1);
        raw.run(8000);
        raw.write32(READ_BANK, stream::CONTROL, ControlBits::STOP.to_raw());
        await_end_alone(&mut raw, "a stopped replay");
    }
    raw.start(true, 0, 2, 1);
    raw.run(8000);
    assert_eq!(raw.read64(READ_BANK, stream::BYTES), 0);
    assert!(raw.status(true).has(StatusBits::RUNNING));
    raw.world().sink.set_open(true);
    raw.await_end(true);
    assert_eq!(raw.status(true), finished());
    assert_eq!(raw.read64(READ_BANK, stream::BYTES), 2 * CHUNK);
    let ends = raw.world().sink.packet_ends().to_vec();
    let users: Vec<u8> = ends.iter().map(|end| end.user).collect();
    assert_eq!(users, [STOPPED, COMPLETE]);
    assert!(raw.taken()[ends[0].at..] == sent[..2 * CHUNK as usize]);
}

/// FINISHED comes when the consumer has taken the last beat, not before.
#[test]
fn a_replay_is_finished_when_all_is_taken() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(1, 1);
    raw.start(true, 0, 1, 1);
    while raw.taken().len() < CHUNK as usize - 16 {
        raw.run(1);
    }
    raw.world().sink.set_open(false);
    raw.run(2000);
    assert_eq!(raw.status(true), StatusBits::RUNNING);
    assert_eq!(raw.read64(READ_BANK, stream::BYTES), 0);
    raw.world().sink.set_open(true);
    raw.await_end(true);
    assert_eq!(raw.status(true), finished());
}

/// A failed command behind delivered chunks ends the packet, too.
#[test]
fn a_failed_command_ends_the_packet() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    raw.slot().plan.set(Plan { bad: Some((false, 3 * CHUNK)), ..Plan::default() });
    raw.session(true, 0, CHUNKS, 1);
    raw.run(100);
    let status = raw.status(true);
    assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
    let ends = raw.world().sink.packet_ends().to_vec();
    assert_eq!(ends.len(), 1, "{ends:?}");
    assert_eq!((ends[0].at as u64, ends[0].user), (3 * CHUNK, FAILED));
    raw.slot().disarm();
    raw.check_next("a failed command");
}

/// LENGTH above the range is refused; LENGTH of the whole range is not.
#[test]
fn a_length_above_the_range_is_refused() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(2, 1);
    for (length, expected) in [
        (2 * CHUNK + 1, StatusBits::OUT_OF_RANGE),
        (1 << 60, StatusBits::OUT_OF_RANGE),
        (2 * CHUNK, finished()),
        (1, finished().with(StatusBits::EARLY_LAST)),
    ] {
        raw.write64(READ_BANK, stream::LENGTH, length);
        raw.session(true, 0, 2, 1);
        assert_eq!(raw.status(true), expected, "{length}");
    }
}

/// A partial beat inside a packet and a hole are errors: nothing from that chunk on is recorded.
#[test]
fn wrong_beats_of_the_stream_end_the_recording() {
    let mut rough = Rough::default();
    // The rules of AXI4-Stream, which this source breaks.
    rough.world.monitors = false;
    let Some(mut raw) = Raw::within("w128c16", TIMEOUT_US, &rough) else {
        return;
    };
    for (keep, last) in [(0x00ff, false), (0, false), (0xfffe, true), (0x0ff7, true)] {
        let what = format!("keep {keep:#x}, last {last}");
        let bytes = 3 * CHUNK + 4096;
        let at = if last { bytes - 16 } else { 3 * CHUNK + 160 };
        raw.world().source.clear();
        raw.world().source.keep_wrongly(at, keep);
        if last {
            raw.start(false, 0, 4, 1);
            raw.world().source.clear();
            raw.source(&raw::stream(1, bytes), true);
        } else {
            raw.start(false, 0, CHUNKS, 1);
        }
        raw.await_end(false);
        let status = raw.status(false);
        let expected = StatusBits::DEVICE_ERROR.with(StatusBits::PROTOCOL_ERROR);
        assert!(status.has(expected), "{what}: {status:?}");
        assert!(!status.has(StatusBits::FINISHED), "{what}: {status:?}");
        let recorded = raw.read64(raw.bank(false), stream::BYTES);
        assert!(recorded <= 3 * CHUNK, "{what}: {recorded}");
        assert_eq!(raw.drive32(drive::PROTOCOL_ERRORS), 0, "{what}: of the drive");
        raw.check_next(&what);
    }
}

/// Narrow, fixed and wrapping bursts are refused and counted, and no session with one is finished.
#[test]
fn other_bursts_than_whole_words_are_refused() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    for shape in [(2, 1), (3, 1), (0, 1), (4, 0), (4, 2)] {
        for is_replay in [false, true] {
            let what = format!("AxSIZE {}, AxBURST {}", shape.0, shape.1);
            let errors = raw.drive32(drive::PROTOCOL_ERRORS);
            raw.slot().shape = Some(shape);
            raw.start(is_replay, 0, CHUNKS, 1);
            raw.await_end(is_replay);
            let status = raw.status(is_replay);
            let expected = StatusBits::DEVICE_ERROR.with(StatusBits::PROTOCOL_ERROR);
            assert!(status.has(expected), "{what}: {status:?}");
            assert!(!status.has(StatusBits::FINISHED), "{what}: {status:?}");
            assert!(raw.drive32(drive::PROTOCOL_ERRORS) > errors, "{what}");
            raw.slot().shape = None;
            raw.drive_control(drive::CONTROL_RESTART);
            raw.check_next(&what);
        }
    }
    // The idle value stands for whole words.
    raw.slot().shape = Some((0, 0));
    raw.check_next("AxSIZE and AxBURST 0");
}

/// A drive that reads a PRP list in bursts of a fixed length past the lists' end breaks no rule.
#[test]
fn prp_lists_may_be_read_past_their_end() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    // Two directions, 8 slots, 4 entries of 8 bytes.
    let end = (1 << 39) + 0x1_0000 + 2 * 8 * 4 * 8;
    for (address, len_bytes, is_error) in [
        (end - 32, 512, false),
        (end - 8, 64, false),
        (end + 64, 64, false),
        ((1 << 39) + 0x1_1000, 64, true),
    ] {
        let errors = raw.drive32(drive::PROTOCOL_ERRORS);
        raw.slot().now(LinkEvent::Read { address, len_bytes });
        raw.run(4000);
        let seen = raw.drive32(drive::PROTOCOL_ERRORS) - errors;
        assert_eq!(seen, u32::from(is_error), "{address:#x}");
    }
    raw.check_next("reads past a list");
}

/// A failure is retried three times unless the drive says that a retry fails, too. More and a retry
/// delay are no failure.
#[test]
fn commands_are_retried() {
    const WRITE_FAULT: u16 = 0x280;
    const DO_NOT_RETRY: u16 = 1 << 14;
    const MORE: u16 = 1 << 13;
    const DELAY: u16 = 1 << 11;
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    for is_replay in [false, true] {
        for (status, times, retries) in [
            (WRITE_FAULT, 1, Some(1)),
            (WRITE_FAULT | MORE | DELAY, 1, Some(1)),
            (WRITE_FAULT | DO_NOT_RETRY, 1, None),
            (MORE, 1, Some(0)),
            (MORE | DELAY | DO_NOT_RETRY, 1, Some(0)),
        ] {
            let what = format!("status {status:#x}, replay: {is_replay}");
            let before = raw.slot().far.counters().drive.io_completions;
            for ordinal in 0..times {
                let fault = PcieFault::Completion {
                    ordinal: before + 6 + ordinal,
                    fault: CompletionFault::Status(status),
                };
                raw.slot().far.add_fault(fault);
            }
            raw.session(is_replay, 0, CHUNKS, 1);
            let done = raw.slot().far.counters().drive.io_completions - before;
            match retries {
                Some(retries) => {
                    assert_eq!(raw.status(is_replay), finished(), "{what}");
                    assert_eq!(done, CHUNKS + retries, "{what}");
                }
                None => {
                    let seen = raw.status(is_replay);
                    assert!(seen.has(StatusBits::DEVICE_ERROR), "{what}: {seen:?}");
                    let bank = raw.bank(is_replay);
                    let device = raw.read64(bank, stream::DEVICE_STATUS);
                    let field = stream::DEVICE_STATUS_STATUS_FIELD.value_in(device);
                    assert_eq!(field, u64::from(status), "{what}");
                }
            }
            raw.check_next(&what);
        }
    }
    // Every command fails, and may be retried: one is sent four times in all.
    raw.slot().plan.set(Plan { bad: Some((true, 0)), ..Plan::default() });
    let before = raw.slot().far.counters().drive.io_completions;
    raw.session(false, 0, 1, 1);
    let status = raw.status(false);
    assert!(status.has(StatusBits::DEVICE_ERROR), "{status:?}");
    let done = raw.slot().far.counters().drive.io_completions - before;
    assert_eq!(done, 4);
    raw.slot().disarm();
    raw.check_next("a command that always fails");
}
