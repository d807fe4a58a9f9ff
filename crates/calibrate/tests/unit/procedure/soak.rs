use super::*;

fn course(rates: impl Iterator<Item = f64>) -> Vec<SoakSecond> {
    rates
        .enumerate()
        .map(|(n, mib_per_s)| SoakSecond {
            mib_per_s,
            celsius: 40.0 + n as f64 * 0.1,
            second_sensor: None,
            throttled_s: 0,
        })
        .collect()
}

#[test]
fn intervals_and_rates_of_a_drive_that_throttles_on_and_off() {
    // 200 s cool, then cycles of 10 s slow and 30 s fast.
    let rates = (0..600).map(|n| if n >= 200 && (n - 200) % 40 < 10 { 177.0 } else { 1400.0 });
    let seconds = course(rates);
    assert_eq!(figure(&seconds, SoakFigure::ThrottledS), Some(10.0));
    assert_eq!(figure(&seconds, SoakFigure::RecoveredS), Some(30.0));
    assert_eq!(figure(&seconds, SoakFigure::ThrottledRead), Some(177.0));
    let began = figure(&seconds, SoakFigure::ThrottleCelsius).expect("it throttles");
    assert!((began - 60.0).abs() < 1e-9, "{began}");
    assert_eq!(figure(&seconds, SoakFigure::SecondSensor), None);
}

#[test]
fn a_drive_that_never_throttles_has_no_such_figures() {
    let seconds = course((0..600).map(|_| 1000.0));
    for none in [
        SoakFigure::ThrottledS,
        SoakFigure::RecoveredS,
        SoakFigure::ThrottledRead,
        SoakFigure::ThrottleCelsius,
    ] {
        assert_eq!(figure(&seconds, none), None);
    }
    assert_eq!(figure(&seconds, SoakFigure::SettledRead), Some(1000.0));
    assert_eq!(figure(&[], SoakFigure::SettledRead), None);
}
