use super::*;

#[test]
fn a_second_has_ten_events_and_says_that_others_are_left_out() {
    let limit = EventLimit::new();
    let at = |ms: u64| limit.admit(Nanos::from_millis(5000 + ms));
    let first: Vec<Admission> = (0..13).map(at).collect();
    assert_eq!(first[..10], [Admission::Write { left_out: 0 }; 10]);
    assert_eq!(first[10], Admission::Announce);
    assert_eq!(first[11..], [Admission::LeaveOut; 2]);
    assert_eq!(at(999), Admission::LeaveOut);
    assert_eq!(at(1000), Admission::Write { left_out: 4 });
    assert_eq!(at(2000), Admission::Write { left_out: 0 });
}
