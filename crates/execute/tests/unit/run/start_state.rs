use super::*;

fn reached_after(mut readings: impl Iterator<Item = f64>, limit_c: f64) -> Option<usize> {
    let mut cooling = Cooling::default();
    readings.position(|celsius| cooling.reached(celsius, limit_c))
}

#[test]
fn a_drive_has_cooled_down_by_its_last_readings() {
    let falling = (0..100).map(|second| 80.0 - f64::from(second));
    // The mean of 42, 41 and 40.
    assert_eq!(reached_after(falling, 41.0), Some(40));
    let cool = std::iter::repeat_n(30.0, 5);
    assert_eq!(reached_after(cool, 33.0), Some(0));
}

/// A drive that was hot at the start of the run, or cannot cool down further, is as cool as it
/// gets.
#[test]
fn a_drive_that_gets_no_cooler_idles() {
    let settled = (0..400).map(|second| 50.0 + 30.0 * (-f64::from(second) / 40.0).exp());
    let after = reached_after(settled, 20.0).unwrap();
    assert!((150..300).contains(&after), "{after}");
    // Still falling by a degree a minute.
    let falling = (0..400).map(|second| 80.0 - f64::from(second) / 50.0);
    assert_eq!(reached_after(falling, 20.0), None);
}
