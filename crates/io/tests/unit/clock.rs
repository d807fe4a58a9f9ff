use super::*;

#[test]
fn the_clock_agrees_with_the_kernel_and_is_monotonic() {
    let clock = Clock::monotonic();
    let mut last = clock.now();
    for _ in 0..100_000 {
        let now = clock.now();
        assert!(now >= last);
        last = now;
    }
    clock.wait_until(clock.now() + Nanos::from_millis(30));
    assert!(
        clock.drift_ppm().abs() < 500.0,
        "drift {} ppm",
        clock.drift_ppm()
    );
}

#[test]
fn waiting_never_returns_early() {
    let clock = Clock::monotonic();
    for wait_us in [0, 10, 300, 2_000] {
        let until = clock.now() + Nanos::from_micros(wait_us);
        clock.wait_until(until);
        assert!(clock.now() >= until);
    }
    clock.wait_until(Nanos::ZERO);
}
