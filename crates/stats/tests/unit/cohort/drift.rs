use super::*;

#[test]
fn a_gap_is_not_bridged() {
    let line = |from: u32, to: u32, level: f64| -> Vec<(f64, f64)> {
        (from..to)
            .map(|t| (f64::from(t), level - 0.01 * f64::from(t)))
            .collect()
    };
    let found = slope(&[line(0, 200, 10.0), line(500, 700, 50.0)], 0.95).expect("a slope");
    assert!((found.slope + 0.01).abs() < 1e-9);
    let until = time_to(&found, found.last - 1.0).expect("a time");
    assert!((until - 100.0).abs() < 1e-6);
    assert_eq!(time_to(&found, found.last + 1.0), None);
}

#[test]
fn too_little_has_no_slope() {
    assert_eq!(slope(&[], 0.95), None);
    assert_eq!(slope(&[Vec::new(), vec![(1.0, 1.0)]], 0.95), None);
    assert_eq!(slope(&[vec![(0.0, 1.0), (1.0, 2.0)]], 0.95), None);
}
