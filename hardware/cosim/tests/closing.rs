//! CLOSE: a stream without a last beat is ended by a register, and nothing of it is lost.

use crate::faults::raw::{CHUNK, Raw, stream};

use assay_stream::registers::map::stream as registers;
use assay_stream::registers::{ControlBits, StatusBits};

const RANGE: u64 = 20;

/// Start a recording of the range; what it is given is another matter.
fn start(raw: &mut Raw, options: u32) {
    let bank = raw.bank(false);
    raw.write64(bank, registers::FIRST_ADDRESS, 0);
    raw.write64(bank, registers::LAST_ADDRESS, (RANGE - 1) * CHUNK);
    let control = ControlBits::START.to_raw() | options;
    raw.write32(bank, registers::CONTROL, control);
}

fn close(raw: &mut Raw) {
    let bank = raw.bank(false);
    raw.write32(bank, registers::CONTROL, ControlBits::CLOSE.to_raw());
    raw.await_end(false);
}

/// The session's end, and that the drive has these bytes, filled up to a whole block with zeroes.
fn check(raw: &mut Raw, expected: &[u8], what: &str) {
    let bytes = expected.len() as u64;
    let status = StatusBits::FINISHED
        .with_if(bytes > 0, StatusBits::LAST_VALID)
        .with_if(!bytes.is_multiple_of(CHUNK), StatusBits::EARLY_LAST);
    assert_eq!(raw.status(false), status, "{what}");
    let bank = raw.bank(false);
    assert_eq!(raw.read64(bank, registers::BYTES), bytes, "{what}");
    assert_eq!(raw.read64(bank, registers::DROPPED_BEATS), 0, "{what}");
    let mut padded = expected.to_vec();
    padded.resize(bytes.next_multiple_of(512) as usize, 0);
    let content = raw.content(padded.len() as u64);
    assert!(content == padded, "{what}: content");
}

/// At every place of a chunk and of a page, and before the first beat.
#[test]
fn a_stream_is_closed_by_a_register() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    let places = [0, 16, 4080, 4096, 4112, 8192, CHUNK - 16];
    for chunks in [0, 1, 7] {
        for place in places {
            let bytes = chunks * CHUNK + place;
            let what = format!("{bytes} bytes");
            let given = stream(bytes + 1, bytes);
            start(&mut raw, ControlBits::FLUSH_AFTER_WRITE.to_raw());
            raw.source(&given, false);
            while raw.source_bytes() > 0 {
                raw.run(10);
            }
            raw.run(2000);
            close(&mut raw);
            check(&mut raw, &given, &what);
            let bank = raw.bank(false);
            let durable = raw.read64(bank, registers::DURABLE_BYTES);
            assert_eq!(durable, bytes, "{what}");
        }
    }
    raw.check_next("streams that were closed");
}

/// A source that never pauses: each session goes on with the byte behind the last one of the
/// session before.
#[test]
fn sessions_cut_a_continuous_stream_without_a_loss() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    let total = 60 * CHUNK;
    let given = stream(5, total);
    raw.source(&given, false);
    let mut at = 0;
    for cycles in [1, 2, 3, 500, 1021, 1022, 1023, 1024, 1025, 1026, 5000, 10_007] {
        start(&mut raw, 0);
        raw.run(cycles);
        close(&mut raw);
        let bank = raw.bank(false);
        let bytes = raw.read64(bank, registers::BYTES);
        let what = format!("closed after {cycles} cycles: {bytes} bytes from {at} on");
        check(&mut raw, &given[at..at + bytes as usize], &what);
        at += bytes as usize;
    }
    assert!(at > 10 * CHUNK as usize, "{at}");
    // The discarder takes the rest, which goes on behind the end of the session.
    start(&mut raw, 0);
    let after_write = registers::FLUSH_CONTROL_AFTER_WRITE.mask() as u32;
    let bank = raw.bank(false);
    raw.write32(bank, registers::FLUSH_CONTROL, after_write);
    close(&mut raw);
    raw.run(50_000);
    assert_eq!(raw.source_bytes(), 0);
    raw.check_next("a continuous stream");
}

/// A STOP behind a CLOSE does not give the chunk up, and a CLOSE without a session does nothing.
#[test]
fn close_meets_other_commands() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    let bank = raw.bank(false);
    raw.write32(bank, registers::CONTROL, ControlBits::CLOSE.to_raw());
    let given = stream(9, 5 * CHUNK + 48);
    start(&mut raw, 0);
    raw.source(&given, false);
    while raw.source_bytes() > 0 {
        raw.run(10);
    }
    raw.run(100);
    for command in [ControlBits::CLOSE, ControlBits::STOP, ControlBits::CLOSE] {
        raw.write32(bank, registers::CONTROL, command.to_raw());
    }
    raw.await_end(false);
    check(&mut raw, &given, "STOP behind CLOSE");
    raw.check_next("STOP behind CLOSE");
}
