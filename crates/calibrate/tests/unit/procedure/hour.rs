use super::*;

#[test]
fn outliers_and_transitions_do_not_shift_either_state() {
    let seconds: Vec<f64> = (0..3600)
        .map(|n| match n % 40 {
            7 if n % 400 == 7 => 150_000.0,
            0 | 30 => 9_000.0,
            1..30 => 18_000.0,
            _ => 2_400.0,
        })
        .collect();
    assert_eq!(figure(&seconds, HourFigure::Fast), Some(18_000.0));
    assert_eq!(figure(&seconds, HourFigure::Slow), Some(2_400.0));
}

#[test]
fn figures_of_a_drive_that_alternates() {
    // Three quarters of the time fast.
    let seconds: Vec<f64> =
        (0..3600).map(|n| if n % 40 < 30 { 18_000.0 } else { 2_400.0 }).collect();
    assert_eq!(figure(&seconds, HourFigure::Fast), Some(18_000.0));
    assert_eq!(figure(&seconds, HourFigure::Slow), Some(2_400.0));
    assert_eq!(figure(&seconds, HourFigure::FastShare), Some(0.75));
    assert_eq!(figure(&seconds, HourFigure::Mean), Some(14_100.0));
    let consistency = figure(&seconds, HourFigure::Consistency).expect("it varies");
    // Deviation of a two-valued variable: the distance times sqrt(0.75 * 0.25).
    let expected = 14_100.0 / (15_600.0 * (0.75_f64 * 0.25).sqrt());
    assert!((consistency - expected).abs() < 1e-9);
    assert_eq!(figure(&[1.0; 3600], HourFigure::Consistency), None);
    assert_eq!(figure(&[1.0; 10], HourFigure::Mean), None);
}
