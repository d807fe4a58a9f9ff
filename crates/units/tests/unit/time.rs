use super::*;

#[test]
fn arithmetic_saturates_instead_of_wrapping() {
    assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
    assert_eq!(Nanos(1) - Nanos(2), Nanos::ZERO);
}

#[test]
fn display_keeps_three_significant_digits() {
    for (ns, text) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_234, "1.23 µs"),
        (12_345, "12.3 µs"),
        (123_456, "123 µs"),
        (4_560_000, "4.56 ms"),
        (61_000_000_000, "61.0 s"),
    ] {
        assert_eq!(Nanos(ns).to_string(), text);
    }
}
