use super::*;

#[test]
fn bits_have_names_and_do_not_overlap() {
    let mut all = 0;
    for (bit, name) in NAMES {
        assert_eq!(bit.raw().count_ones(), 1, "{name}");
        assert_eq!(all & bit.raw(), 0, "{name}");
        all |= bit.raw();
    }
    let both = StatusBits::FINISHED.with(StatusBits::EARLY_LAST);
    assert_eq!(both.names(), ["finished", "early_last"]);
    assert!(both.has(StatusBits::FINISHED) && !both.has(StatusBits::ABORTED));
}

#[test]
fn the_last_address_is_valid_after_the_first_chunk() {
    let registers = Registers::default();
    registers.begin(4096, 8192, 4096);
    assert_eq!(registers.last_address_written(), None);
    registers.progress(4096, 17);
    assert_eq!(registers.last_address_written(), Some(4096));
    assert_eq!((registers.bytes(), registers.beats()), (17, 2));
    registers.begin(0, 0, 4096);
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
