use super::*;

#[test]
fn the_f_test_is_that_of_a_worked_example() {
    // Means 2, 3, 7 of three each: F = 3 x (4 + 1 + 9) / 2 / 1 = 21 with 2 and 6 degrees of
    // freedom: p = 0.001953 (= (1 + 7)^-3).
    let hosts = [vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 4.0], vec![6.0, 7.0, 8.0]];
    let found = compare_hosts(&hosts).expect("hosts");
    assert!((found.probability - 8.0_f64.powi(-3)).abs() < 1e-9, "{}", found.probability);
    assert_eq!(found.within, 1.0);
    assert_eq!(found.hosts[2].0, 4.5);
    assert!(found.hosts[2].1 < 0.01);
}

#[test]
fn one_drive_per_host_is_not_separable() {
    assert_eq!(compare_hosts(&[vec![1.0], vec![2.0], vec![3.0]]), None);
    assert_eq!(compare_hosts(&[vec![1.0, 2.0]]), None);
}
