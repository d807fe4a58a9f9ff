use super::*;

#[test]
fn bits_have_names_and_do_not_overlap() {
    let bits = [
        StatusBits::RUNNING,
        StatusBits::FINISHED,
        StatusBits::EARLY_LAST,
        StatusBits::STOPPED,
        StatusBits::ABORTED,
        StatusBits::FIRST_AFTER_LAST,
        StatusBits::UNALIGNED,
        StatusBits::OUT_OF_RANGE,
        StatusBits::DEVICE_ERROR,
        StatusBits::LAST_VALID,
    ];
    let mut all = 0;
    for (bit, name) in bits.into_iter().zip(NAMES) {
        assert_eq!(bit.0.count_ones(), 1, "{name}");
        assert_eq!(all & bit.0, 0, "{name}");
        assert_eq!(bit.names(), [name]);
        all |= bit.0;
    }
    let both = StatusBits::FINISHED.with(StatusBits::EARLY_LAST);
    assert_eq!(both.names(), ["finished", "early_last"]);
    assert!(both.has(StatusBits::FINISHED) && !both.has(StatusBits::ABORTED));
}

#[test]
fn the_last_address_is_valid_after_the_first_chunk() {
    let registers = Registers::default();
    registers.begin();
    assert_eq!(registers.last_address_written(), None);
    registers.progress(4096, 17);
    assert_eq!(registers.last_address_written(), Some(4096));
    assert_eq!(registers.bytes(), 17);
    registers.begin();
    assert_eq!(registers.last_address_written(), None);
}

#[test]
fn control_bits_are_kept_until_acknowledged() {
    let registers = Registers::default();
    registers.command(ControlBits::FLUSH_NOW);
    assert!(!registers.stop_requested());
    registers.command(ControlBits::STOP);
    assert!(registers.stop_requested());
    assert!(registers.acknowledge(ControlBits::FLUSH_NOW));
    assert!(!registers.acknowledge(ControlBits::FLUSH_NOW));
    assert!(registers.stop_requested());
}

#[test]
fn a_refusal_is_any_of_its_bits() {
    for (bit, refused) in [
        (StatusBits::FIRST_AFTER_LAST, true),
        (StatusBits::UNALIGNED, true),
        (StatusBits::OUT_OF_RANGE, true),
        (StatusBits::DEVICE_ERROR, false),
        (StatusBits::FINISHED, false),
    ] {
        let status = StatusBits::from_raw(bit.0).with(StatusBits::LAST_VALID);
        assert_eq!(status.is_refusal(), refused, "{bit:?}");
    }
}
