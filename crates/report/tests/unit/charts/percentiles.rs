use super::*;

#[test]
fn nines_are_where_the_axis_says() {
    // 900 of 1000 within 10 us, 99 more within 20 us, one at 50 us.
    let curve = curve(&[(Nanos(10_000), 900), (Nanos(20_000), 999), (Nanos(50_000), 1000)]);
    let expected = [(0.0, 10.0), (1.0, 20.0), (3.0, 50.0), (3.0, 50.0)];
    assert_eq!(curve.len(), expected.len());
    for (got, want) in curve.iter().zip(expected) {
        assert!((got.0 - want.0).abs() < 1e-9 && got.1 == want.1, "{got:?}");
    }
}

#[test]
fn an_empty_distribution_has_no_curve() {
    assert!(curve(&[]).is_empty());
    assert!(curve(&[(Nanos(5), 0)]).is_empty());
}
