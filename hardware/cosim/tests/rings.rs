//! Recordings of several packets, and those that go round their range until a trigger.

use crate::faults::raw::{CHUNK, Raw, stream};

use assay_stream::registers::map::stream as registers;
use assay_stream::registers::{ControlBits, StatusBits};

/// Chunks that the core has in flight at most.
const SLOTS: u64 = 8;
/// Chunks of the range.
const RANGE: u64 = SLOTS + 1;

fn start(raw: &mut Raw, options: ControlBits, post_chunks: u32) {
    let bank = raw.bank(false);
    raw.write64(bank, registers::FIRST_ADDRESS, 0);
    raw.write64(bank, registers::LAST_ADDRESS, (RANGE - 1) * CHUNK);
    raw.write32(bank, registers::POST_CHUNKS, post_chunks);
    let control = ControlBits::START.to_raw() | options.to_raw();
    raw.write32(bank, registers::CONTROL, control);
}

fn await_bytes(raw: &mut Raw, bytes: u64) {
    let bank = raw.bank(false);
    while raw.read64(bank, registers::BYTES) < bytes {
        raw.run(100);
    }
}

/// A partial last beat is filled with zeroes, and the next packet begins with the next beat.
#[test]
fn packets_follow_each_other_in_one_recording() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    start(&mut raw, ControlBits::PACKETS, 0);
    let mut expected = Vec::new();
    for (seed, bytes) in [1, 16, 5000, 3 * CHUNK + 7, 40].into_iter().enumerate() {
        let packet = stream(seed as u64, bytes);
        raw.source(&packet, true);
        while raw.world().source.is_busy() {
            raw.run(10);
        }
        expected.extend(packet);
        expected.resize(expected.len().next_multiple_of(16), 0);
    }
    raw.run(200);
    let bank = raw.bank(false);
    raw.write32(bank, registers::CONTROL, ControlBits::CLOSE.to_raw());
    raw.await_end(false);
    assert_eq!(raw.read64(bank, registers::BYTES), expected.len() as u64);
    expected.resize(expected.len().next_multiple_of(512), 0);
    assert!(raw.content(expected.len() as u64) == expected, "content");
    raw.check_next("packets");
}

/// The chunks of the ring in their order are the end of the stream, up to the trigger and the
/// chunks behind it.
#[test]
fn a_ring_keeps_what_was_before_its_trigger() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    for (turn, post) in [0, 1, 7, RANGE as u32].into_iter().enumerate() {
        let given = stream(turn as u64 + 3, 6 * RANGE * CHUNK);
        raw.source(&given, false);
        start(&mut raw, ControlBits::RING, post);
        await_bytes(&mut raw, (RANGE + 9) * CHUNK);
        let bank = raw.bank(false);
        raw.write32(bank, registers::CONTROL, ControlBits::TRIGGER.to_raw());
        raw.await_end(false);
        let status = [
            StatusBits::FINISHED,
            StatusBits::LAST_VALID,
            StatusBits::WRAPPED,
            StatusBits::TRIGGERED,
        ];
        let expected = status.into_iter().fold(StatusBits::default(), StatusBits::with);
        assert_eq!(raw.status(false), expected, "turn {turn}");
        let bytes = raw.read64(bank, registers::BYTES);
        let last = raw.read64(bank, registers::LAST_ADDRESS_WRITTEN);
        let next = raw.read64(bank, registers::NEXT_ADDRESS);
        assert_eq!(last, (bytes / CHUNK - 1) % RANGE * CHUNK, "turn {turn}");
        assert_eq!(next, bytes / CHUNK % RANGE * CHUNK, "turn {turn}");
        let mut content = raw.content(RANGE * CHUNK);
        content.rotate_left(next as usize);
        let kept = &given[(bytes - RANGE * CHUNK) as usize..bytes as usize];
        assert!(content == kept, "turn {turn}: content");
        raw.drop_stream();
    }
    raw.check_next("a ring");
}

/// Two chunks at one place are never under way together.
#[test]
fn a_ring_is_longer_than_what_is_in_flight() {
    let Some(mut raw) = Raw::new("w128c16", 0) else {
        return;
    };
    let bank = raw.bank(false);
    raw.write64(bank, registers::FIRST_ADDRESS, 0);
    raw.write64(bank, registers::LAST_ADDRESS, (SLOTS - 2) * CHUNK);
    let control = ControlBits::START.to_raw() | ControlBits::RING.to_raw();
    raw.write32(bank, registers::CONTROL, control);
    raw.await_end(false);
    assert_eq!(raw.status(false), StatusBits::OUT_OF_RANGE);
    raw.check_next("a ring that was refused");
}
