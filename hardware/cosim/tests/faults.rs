//! The core with drives that break rules or are lost: what its registers say, and that the next
//! session works. Pattern generator and checker, discarding, and a recording beside a replay.

use crate::common;
#[path = "faults/raw.rs"]
pub mod raw;

use assay_cosim::CYCLE_NS;
use assay_cosim::config::Configuration;
use assay_cosim::map::drive_bank;
use assay_cosim::pcie_drive::{CompletionFault, LinkEvent, PcieFault};
use assay_integrity::pattern::Pattern;
use assay_stream::registers::map::{drive, stream};
use assay_stream::registers::{ControlBits, StatusBits};
use common::slot::{Loss, Plan};
use raw::{CHUNK, Raw};

const TIMEOUT_US: u32 = 400;

/// Chunks of a session with a fault, and the fault's place among its commands.
const CHUNKS: u64 = 20;
const NTH: u64 = 6;

fn bits(all: &[StatusBits]) -> StatusBits {
    all.iter().copied().fold(StatusBits::default(), StatusBits::with)
}

/// What a session with a fault left in the registers.
fn check_failed(raw: &mut Raw, is_replay: bool, expected: &[StatusBits], what: &str) {
    let bank = raw.bank(is_replay);
    let bytes = raw.read64(bank, stream::BYTES);
    let valid = if bytes > 0 { StatusBits::LAST_VALID } else { StatusBits::default() };
    let status = raw.status(is_replay);
    assert_eq!(status, bits(expected).with(valid), "{what}");
    let whole = (NTH - 1) * CHUNK;
    assert!(bytes <= whole && bytes.is_multiple_of(CHUNK), "{what}: {bytes}");
    let device = raw.read64(bank, stream::DEVICE_STATUS);
    assert_eq!(stream::DEVICE_STATUS_VALID.value_in(device), 1, "{what}");
    assert_eq!(stream::DEVICE_STATUS_DRIVE.value_in(device), 0, "{what}");
    let status = stream::DEVICE_STATUS_STATUS_FIELD.value_in(device);
    assert_eq!(status, 0x7fff, "{what}: a command without completion");
    let lba = stream::DEVICE_STATUS_LBA.value_in(device);
    if !is_replay {
        assert_eq!(lba * 512, bytes, "{what}");
    } else {
        // Chunks that were retired and not yet delivered.
        assert!(lba * 512 >= bytes && lba * 512 <= whole, "{what}: {lba}");
    }
}

#[test]
fn completions_that_break_a_rule_end_the_session() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    for is_replay in [false, true] {
        for (fault, is_seen) in [
            (CompletionFault::WrongPhase, true),
            (CompletionFault::WrongCid(0x55), true),
            (CompletionFault::WrongCid(0x8000), true),
            (CompletionFault::WrongIndex, true),
            (CompletionFault::Doubled, true),
            (CompletionFault::Missing, false),
        ] {
            let what = format!("{fault:?}, replay: {is_replay}");
            let errors = raw.drive32(drive::PROTOCOL_ERRORS);
            let far = &mut raw.slot().far;
            let ordinal = far.counters().drive.io_completions + NTH;
            far.add_fault(PcieFault::Completion { ordinal, fault });
            raw.session(is_replay, 0, CHUNKS, 1);
            let seen = raw.drive32(drive::PROTOCOL_ERRORS) - errors;
            assert_eq!(seen > 0, is_seen, "{what}: PROTOCOL_ERRORS");
            if fault == CompletionFault::Doubled {
                // Nothing is missing: what was completed before counts, and what was outstanding is
                // awaited.
                let status = raw.status(is_replay);
                let expected = [StatusBits::DEVICE_ERROR, StatusBits::PROTOCOL_ERROR];
                assert!(status.has(bits(&expected)), "{what}: {status:?}");
                assert!(!status.has(StatusBits::FINISHED), "{what}: {status:?}");
            } else {
                let mut expected = vec![StatusBits::DEVICE_ERROR];
                expected.extend(is_seen.then_some(StatusBits::PROTOCOL_ERROR));
                check_failed(&mut raw, is_replay, &expected, &what);
            }
            raw.check_next(&what);
        }
    }
}

#[test]
fn a_completion_before_its_data_ends_nothing() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    let far = &mut raw.slot().far;
    let ordinal = far.counters().drive.io_completions + NTH;
    let fault = CompletionFault::BeforeData;
    far.add_fault(PcieFault::Completion { ordinal, fault });
    raw.session(true, 0, CHUNKS, 1);
    // No host can see it but by the data.
    let expected = [StatusBits::FINISHED, StatusBits::LAST_VALID];
    assert_eq!(raw.status(true), bits(&expected));
    raw.check_next("a completion before its data");
}

#[test]
fn accesses_without_a_command_are_protocol_errors() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    let address = 0x77_0000_0a20;
    for event in [
        LinkEvent::Read { address, len_bytes: 64 },
        LinkEvent::Write { address, bytes: vec![7; 40] },
        // The ring of recordings is not for writing, and that of replays not for reading.
        LinkEvent::Write { address: 0x1000, bytes: vec![7; 40] },
        LinkEvent::Read { address: 1 << 19, len_bytes: 64 },
    ] {
        let what = format!("{event:?}");
        let errors = raw.drive32(drive::PROTOCOL_ERRORS);
        raw.slot().now(event.clone());
        raw.run(4000);
        assert_eq!(raw.drive32(drive::PROTOCOL_ERRORS), errors + 1, "{what}");
        // In a session: it ends.
        raw.start(false, 0, CHUNKS, 1);
        raw.slot().now(event);
        raw.await_end(false);
        assert!(raw.drive32(drive::PROTOCOL_ERRORS) > errors + 1, "{what}");
        let expected = [StatusBits::DEVICE_ERROR, StatusBits::PROTOCOL_ERROR];
        let status = raw.status(false);
        assert!(status.has(bits(&expected)), "{what}: {status:?}");
        assert!(!status.has(StatusBits::FINISHED), "{what}: {status:?}");
        raw.check_next(&what);
    }
}

#[test]
fn lost_drives_end_the_session_and_come_back() {
    for loss in [Loss::LinkDown, Loss::Removal, Loss::NoCompletion, Loss::SilentRegisters] {
        let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
            return;
        };
        raw.fill(CHUNKS, 1);
        // Each access to silent registers takes 50 ms.
        let sessions = if loss == Loss::SilentRegisters { 1 } else { 2 };
        for is_replay in [false, true].into_iter().take(sessions) {
            let what = format!("{loss:?}, replay: {is_replay}");
            raw.slot().plan.set(Plan { loss: Some((NTH, loss)), ..Plan::default() });
            raw.session(is_replay, 0, CHUNKS, 1);
            check_failed(&mut raw, is_replay, &[StatusBits::DEVICE_ERROR], &what);
            raw.check_lost(loss, &what);
            raw.recover(loss);
            raw.check_next(&what);
        }
    }
}

/// COMMAND_TIMEOUT is that of its drive, for data commands and flushes; only the drive whose
/// command is late is brought up again.
#[test]
fn each_drive_has_its_own_timeout() {
    let Some(mut raw) = Raw::new("w128c16d2", TIMEOUT_US) else {
        return;
    };
    let bank = raw.bank(false);
    for late in [0, 1] {
        for [timeout_us, other_us] in [[300, 900], [900, 300]] {
            for is_flush in [false, true] {
                let what =
                    format!("drive {late}, {timeout_us} and {other_us} us, flush: {is_flush}");
                raw.set_timeout(late, timeout_us);
                raw.set_timeout(1 - late, other_us);
                let at = if is_flush { u64::MAX } else { NTH };
                raw.slot_of(late)
                    .plan
                    .set(Plan { loss: Some((at, Loss::NoCompletion)), ..Plan::default() });
                raw.start(false, 0, CHUNKS, 1);
                if is_flush {
                    while raw.read64(bank, stream::BYTES) < 2 * CHUNK {
                        raw.run(10);
                    }
                    raw.slot_of(late).plan.get().lost = true;
                    raw.write32(bank, stream::CONTROL, ControlBits::FLUSH_NOW.to_raw());
                }
                let began = raw.cycle();
                raw.await_end(false);
                let waited_us = (raw.cycle() - began) * CYCLE_NS / 1000;
                // When a drive stops answering, a data command may have been under way for some time.
                let under_way_us = if is_flush { 20 } else { 0 };
                let timeout_us = u64::from(timeout_us);
                let expected = timeout_us - under_way_us..timeout_us + 150;
                assert!(expected.contains(&waited_us), "{what}: {waited_us} us");
                let status = raw.status(false);
                assert!(status.has(StatusBits::DEVICE_ERROR), "{what}: {status:?}");
                for drive in [0, 1] {
                    let word = raw.read32(drive_bank(drive), drive::SEQUENCER);
                    let ready = drive::SEQUENCER_READY.value_in(u64::from(word));
                    assert_eq!(ready, u64::from(drive != late), "{what}: drive {drive}");
                }
                let device = raw.read64(bank, stream::DEVICE_STATUS);
                if !is_flush {
                    let drive = stream::DEVICE_STATUS_DRIVE.value_in(device);
                    assert_eq!(drive, late as u64, "{what}");
                }
                raw.slot_of(late).disarm();
                raw.check_next(&what);
            }
        }
    }
}

#[test]
fn a_drive_is_shut_down_and_restarted() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.drive_control(drive::CONTROL_SHUTDOWN);
    raw.await_sequencer(drive::SEQUENCER_DOWN);
    let word = u64::from(raw.drive32(drive::SEQUENCER));
    assert_eq!(drive::SEQUENCER_READY.value_in(word), 0);
    assert_eq!(drive::SEQUENCER_FAILED.value_in(word), 0);
    // A drive that is not ready has no media.
    raw.session(false, 0, CHUNKS, 1);
    assert_eq!(raw.status(false), StatusBits::DEVICE_ERROR);
    assert_eq!(raw.read64(raw.bank(false), stream::BYTES), 0);
    raw.drop_stream();
    raw.drive_control(drive::CONTROL_RESTART);
    raw.check_next("after the shutdown");
}

#[test]
fn a_restart_ends_a_session() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    for is_replay in [false, true] {
        for cycles in [500, 3000, 9000] {
            let what = format!("a restart after {cycles} cycles, replay: {is_replay}");
            raw.start(is_replay, 0, CHUNKS, 1);
            raw.run(cycles);
            raw.drive_control(drive::CONTROL_RESTART);
            raw.await_end(is_replay);
            let status = raw.status(is_replay);
            let valid = status.has(StatusBits::LAST_VALID);
            let expected = StatusBits::DEVICE_ERROR.with_if(valid, StatusBits::LAST_VALID);
            assert_eq!(status, expected, "{what}");
            assert!(raw.read64(raw.bank(is_replay), stream::BYTES) < CHUNKS * CHUNK, "{what}");
            raw.check_next(&what);
        }
    }
}

/// The generator's stream is that of the software; the checker finds a wrong byte and a wrong
/// length.
#[test]
fn pattern_generator_and_checker() {
    for name in ["w128c16", "w256", "w512"] {
        let Some(mut raw) = Raw::new(name, TIMEOUT_US) else {
            continue;
        };
        let configuration = Configuration::named(name).expect("a configuration");
        let chunk = u64::from(configuration.chunk_bytes());
        let bytes = 3 * chunk;
        let pattern = Pattern::new(0x1234_5678_9abc_def0);
        raw.load_pattern(pattern);
        raw.start_pattern(false, 0, 3);
        raw.await_end(false);
        let expected = bits(&[StatusBits::FINISHED, StatusBits::LAST_VALID]);
        assert_eq!(raw.status(false), expected, "{name}");
        let mut made = vec![0; bytes as usize];
        pattern.at(0).fill(&mut made);
        assert!(raw.content(bytes) == made, "{name}: the pattern");

        let check = |raw: &mut Raw, beats: u64, error: Option<u64>, length: bool| {
            raw.write64(raw.bank(true), stream::PACKET_BEATS, beats);
            raw.start_pattern(true, 0, 3);
            raw.await_end(true);
            let expected = expected
                .with_if(error.is_some(), StatusBits::PATTERN_ERROR)
                .with_if(length, StatusBits::LENGTH_ERROR);
            assert_eq!(raw.status(true), expected, "{name}, {beats} beats");
            if let Some(beat) = error {
                assert_eq!(raw.read64(raw.bank(true), stream::ERROR_BEAT), beat, "{name}");
            }
        };
        check(&mut raw, bytes / 16, None, false);
        check(&mut raw, 0, None, false);
        check(&mut raw, bytes / 16 - 1, None, true);
        check(&mut raw, bytes / 16 + 1, None, true);
        for at in [0, 15, 16, 4096 + 33, chunk + 5, bytes - 1] {
            let right = raw.flip(at);
            check(&mut raw, bytes / 16, Some(at / 16), false);
            raw.put(at, right);
        }
        check(&mut raw, bytes / 16, None, false);
    }
}

/// Beats that no session takes are dropped and counted, and the next session begins with its own.
#[test]
fn beats_are_discarded() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    let bank = raw.bank(false);
    let in_progress = |word: u32| stream::FLUSH_STATUS_IN_PROGRESS.value_in(u64::from(word)) != 0;
    let finished = |word: u32| stream::FLUSH_STATUS_FINISHED.value_in(u64::from(word)) != 0;
    // Between sessions, until the stream's last beat.
    raw.write32(bank, stream::FLUSH_CONTROL, stream::FLUSH_CONTROL_START.mask() as u32);
    assert!(in_progress(raw.read32(bank, stream::FLUSH_STATUS)));
    raw.source(&[7; 163], true);
    raw.run(200);
    assert!(finished(raw.read32(bank, stream::FLUSH_STATUS)));
    assert!(!in_progress(raw.read32(bank, stream::FLUSH_STATUS)));
    assert_eq!(raw.read64(bank, stream::DROPPED_BEATS), 11);
    raw.check_next("after discarding");
    // Behind a session whose range is full.
    raw.start(false, 0, 2, 9);
    raw.source(&[7; 320], false);
    raw.write32(bank, stream::FLUSH_CONTROL, stream::FLUSH_CONTROL_AFTER_WRITE.mask() as u32);
    raw.await_end(false);
    raw.run(500);
    assert!(in_progress(raw.read32(bank, stream::FLUSH_STATUS)));
    assert_eq!(raw.read64(bank, stream::DROPPED_BEATS), 20);
    raw.write32(bank, stream::FLUSH_CONTROL, stream::FLUSH_CONTROL_STOP.mask() as u32);
    assert!(finished(raw.read32(bank, stream::FLUSH_STATUS)));
    raw.check_next("after discarding behind a session");
    // Behind a session with the pattern generator, which takes nothing of the stream; an ABORT of
    // it drops nothing.
    raw.load_pattern(Pattern::new(5));
    let after_write = stream::FLUSH_CONTROL_AFTER_WRITE.mask() as u32;
    let abort = ControlBits::ABORT.to_raw();
    for (register, command, drops) in
        [(stream::FLUSH_CONTROL, after_write, true), (stream::CONTROL, abort, false)]
    {
        raw.start_pattern(false, 0, CHUNKS);
        raw.source(&[7; 80], false);
        raw.write32(bank, register, command);
        raw.await_end(false);
        raw.run(500);
        assert_eq!(in_progress(raw.read32(bank, stream::FLUSH_STATUS)), drops);
        assert_eq!(raw.source_bytes() == 0, drops);
        if drops {
            assert_eq!(raw.read64(bank, stream::DROPPED_BEATS), 5);
        }
        raw.drop_stream();
    }
    raw.check_next("after discarding behind the pattern generator");
}

#[test]
fn a_recording_runs_beside_a_replay() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    let media = raw.content(CHUNKS * CHUNK);
    for (write_first, seed) in [(true, 21), (false, 22)] {
        for is_replay in [!write_first, write_first] {
            let first = if is_replay { 0 } else { CHUNKS };
            raw.start(is_replay, first, CHUNKS, seed);
        }
        raw.await_end(false);
        raw.await_end(true);
        let expected = bits(&[StatusBits::FINISHED, StatusBits::LAST_VALID]);
        for is_replay in [false, true] {
            assert_eq!(raw.status(is_replay), expected);
            assert_eq!(raw.read64(raw.bank(is_replay), stream::BYTES), CHUNKS * CHUNK);
        }
        assert!(raw.taken() == media, "the replay");
        let written = raw.content(2 * CHUNKS * CHUNK);
        let (old, new) = written.split_at((CHUNKS * CHUNK) as usize);
        assert!(old == media, "what was replayed");
        assert!(new == raw::stream(seed, CHUNKS * CHUNK), "the recording");
    }
}

/// An ABORT behind a STOP makes the stopped stream an aborted one: durable, and the rest of the
/// stream is discarded.
#[test]
fn an_abort_behind_a_stop_flushes() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    raw.fill(CHUNKS, 1);
    for is_replay in [false, true] {
        for cycles in [0, 1, 40, 200] {
            let what = format!("ABORT {cycles} cycles behind STOP, replay: {is_replay}");
            let bank = raw.bank(is_replay);
            raw.start(is_replay, 0, CHUNKS, 1);
            while raw.read64(bank, stream::BYTES) < 3 * CHUNK {
                raw.run(10);
            }
            raw.write32(bank, stream::CONTROL, ControlBits::STOP.to_raw());
            raw.run(cycles);
            let running = raw.status(is_replay).has(StatusBits::RUNNING);
            raw.write32(bank, stream::CONTROL, ControlBits::ABORT.to_raw());
            assert!(running, "{what}");
            raw.await_end(is_replay);
            let status = raw.status(is_replay);
            let expected = StatusBits::ABORTED.with(StatusBits::LAST_VALID);
            assert_eq!(status, expected, "{what}");
            let bytes = raw.read64(bank, stream::BYTES);
            assert!((3 * CHUNK..CHUNKS * CHUNK).contains(&bytes), "{what}");
            let durable = if is_replay { 0 } else { bytes };
            assert_eq!(raw.read64(bank, stream::DURABLE_BYTES), durable, "{what}");
            raw.drop_stream();
            raw.check_next(&what);
        }
    }
}

/// An ABORT makes what the stream gave before its end durable, like one before it.
#[test]
fn an_abort_after_the_end_of_the_stream_flushes() {
    let Some(mut raw) = Raw::new("w128c16", TIMEOUT_US) else {
        return;
    };
    let bank = raw.bank(false);
    raw.start(false, 0, CHUNKS, 3);
    // With tlast.
    raw.source(&[], true);
    let left = |raw: &mut Raw| raw.source_bytes();
    while left(&mut raw) > 0 {
        raw.run(10);
    }
    raw.write32(bank, stream::CONTROL, ControlBits::ABORT.to_raw());
    raw.await_end(false);
    let status = raw.status(false);
    assert!(!status.has(StatusBits::DEVICE_ERROR), "{status:?}");
    assert_eq!(raw.read64(bank, stream::DURABLE_BYTES), CHUNKS * CHUNK);
}
