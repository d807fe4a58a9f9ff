use super::*;

#[test]
fn on_a_steady_machine_the_time_left_only_falls() {
    // A run of 100 s whose estimate varies by 5 % from cell to cell.
    let mut eta = Eta::default();
    let mut before = Nanos::MAX;
    for second in 0..=100 {
        let left = Nanos::from_secs(100 - second);
        let estimate = match second % 2 {
            0 => left,
            _ => Nanos((left.0 as f64 * 1.05) as u64),
        };
        let shown = eta.update(Nanos::from_secs(second), estimate);
        assert!(shown <= before, "{second} s: {shown} after {before}");
        before = shown;
    }
    assert_eq!(before, Nanos::ZERO);
}

#[test]
fn a_machine_that_slows_down_is_believed() {
    let mut eta = Eta::default();
    assert_eq!(eta.update(Nanos::ZERO, Nanos::from_secs(100)), Nanos::from_secs(100));
    let later = eta.update(Nanos::from_secs(10), Nanos::from_secs(150));
    assert_eq!(later, Nanos::from_secs(150));
}
