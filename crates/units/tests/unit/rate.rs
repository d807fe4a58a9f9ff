use super::*;

#[test]
fn transfer_time_rounds_up_and_handles_the_edges() {
    assert_eq!(transfer_time(4096, 4_096_000_000), Nanos(1_000));
    assert_eq!(transfer_time(1, 3_000_000_000), Nanos(1));
    assert_eq!(transfer_time(0, 0), Nanos::ZERO);
    assert_eq!(transfer_time(1, 0), Nanos::MAX);
    assert_eq!(transfer_time(u64::MAX, 1), Nanos::MAX);
}

#[test]
fn rates_over_no_time_are_zero() {
    assert_eq!(per_second(5, Nanos::ZERO), 0.0);
    assert_eq!(mib_per_second(3 << 20, Nanos::SECOND), 3.0);
}
