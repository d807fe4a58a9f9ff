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
        StatusBits::PATTERN_ERROR,
        StatusBits::LENGTH_ERROR,
        StatusBits::PROTOCOL_ERROR,
        StatusBits::WRAPPED,
        StatusBits::TRIGGERED,
        StatusBits::UNRECORDED,
    ];
    assert_eq!(bits.len(), map::STATUS_NAMES.len());
    let mut all = 0;
    for (bit, (_, name)) in bits.into_iter().zip(map::STATUS_NAMES) {
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

/// Values that stand in recorded JSON documents and in built cores.
#[test]
fn the_register_map_is_that_of_earlier_versions() {
    assert_eq!(StatusBits::LAST_VALID.0, 1 << 9);
    assert_eq!(StatusBits::PROTOCOL_ERROR.names(), ["protocol_error"]);
    assert_eq!(ControlBits::FLUSH_AFTER_WRITE.to_raw(), 1 << 4);
    assert_eq!(ControlBits::PATTERN.to_raw(), 1 << 6);
    assert_eq!(map::stream::DURABLE_BYTES, Register::new(0x60, 64));
    assert_eq!(map::stream::STATUS.offset(), 0x0c);
    assert_eq!(map::stream::STATUS.bits(), 32);
    assert_eq!(map::stream::VERSION_VALUE, 2);
}

#[test]
fn fields_are_cut_out_of_their_register() {
    assert_eq!(map::drive::LINK_SPEED.value_in(0x0000_0431), 3);
    assert_eq!(map::drive::LINK_WIDTH.value_in(0x0000_0431), 4);
    let failed = 0x1234_5678_8002_4281;
    assert_eq!(map::stream::DEVICE_STATUS_STATUS_FIELD.value_in(failed), 0x4281);
    assert_eq!(map::stream::DEVICE_STATUS_DRIVE.value_in(failed), 2);
    assert_eq!(map::stream::DEVICE_STATUS_VALID.value_in(failed), 1);
    assert_eq!(map::stream::DEVICE_STATUS_LBA.value_in(failed), 0x1234_5678);
    assert_eq!(RegisterField::new(63, 0).value_in(failed), failed);
}
