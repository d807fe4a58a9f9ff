use super::*;

#[test]
fn welch_is_that_of_a_worked_example() {
    // Variances of the means 8.9167 / 4 and 1 / 3: t = 3.25 / sqrt(2.5625), degrees 2.5625^2 /
    // (2.2292^2 / 3 + 0.3333^2 / 2).
    let found = welch(&[2.0, 4.0, 6.0, 9.0], &[1.0, 2.0, 3.0], 0.95).expect("a difference");
    assert_eq!(found.difference, -3.25);
    let error =
        (found.high - found.low) / 2.0 / student::two_sided(0.95, found.degrees).expect("t");
    assert!((error - (8.916_666_666_666_666_f64 / 4.0 + 1.0 / 3.0).sqrt()).abs() < 1e-9);
    assert!(
        (found.probability - student::two_sided_probability(3.25 / error, found.degrees)).abs()
            < 1e-12
    );
    assert!((found.degrees - 3.8356).abs() < 1e-4, "{}", found.degrees);
}

#[test]
fn pairs_remove_the_spread_between_drives() {
    let (before, after) = ([1.0, 5.0, 9.0], [1.1, 5.2, 9.3]);
    let pairs = paired(&before, &after, 0.95).expect("pairs");
    assert!((pairs.difference - 0.2).abs() < 1e-12 && pairs.paired);
    // t = 0.2 / (0.1 / sqrt(3)) = 3.4641 with 2 degrees of freedom: p = 0.07418.
    assert!((pairs.probability - 0.074_18).abs() < 1e-5, "{}", pairs.probability);
    assert!(welch(&before, &after, 0.95).expect("groups").probability > 0.9);
    assert_eq!(paired(&[1.0], &[2.0], 0.95), None);
    assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0], 0.95), None);
}
