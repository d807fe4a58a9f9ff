use super::*;

#[test]
fn the_time_axis_ends_early_only_for_one_line_that_is_much_longer() {
    assert_eq!(first_end_s(&[]), None);
    assert_eq!(first_end_s(&[480.0]), None);
    assert_eq!(first_end_s(&[10.0, 480.0, 40.0]), Some(60.0));
    assert_eq!(first_end_s(&[10.0, 120.0, 40.0]), None);
    // Two long ones: the axis has room for both.
    assert_eq!(first_end_s(&[10.0, 480.0, 470.0]), None);
}
