use super::result::errno_of;
use super::*;

#[test]
fn failed_commands_have_the_numbers_of_the_kernel() {
    // Status code types 2, 0, 3 and 7; "do not retry" and "more" do not count.
    let errors = [0x281, 0x4281, 0x280, 0x080, 0x002, 0x370, 0x7fff].map(errno_of);
    assert_eq!(errors, [61, 61, 61, 121, 121, 5, 5]);
}

#[test]
fn an_abort_is_not_a_stop() {
    let registers = Registers::default();
    registers.command(ControlBits::STOP);
    assert_eq!(stop_bit(&registers), ControlBits::STOP);
    registers.command(ControlBits::ABORT);
    assert_eq!(stop_bit(&registers), ControlBits::ABORT);
}

#[test]
fn reasons_of_a_failed_bring_up_have_a_text() {
    let texts: std::collections::BTreeSet<_> = (0..=21).map(reason_text).collect();
    assert_eq!(texts.len(), 22);
    assert!(!texts.contains(reason_text(22)));
}
