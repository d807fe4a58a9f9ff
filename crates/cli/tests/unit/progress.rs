use super::*;

#[test]
fn times_read_like_a_clock() {
    assert_eq!(clock_text(Nanos::from_secs(65)), "0:01:05");
    assert_eq!(clock_text(Nanos::from_secs(36_000)), "10:00:00");
}
