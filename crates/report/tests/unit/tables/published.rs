use super::*;

#[test]
fn medians_and_the_worst_go_by_size_not_sign() {
    let published = Published::default();
    let errors = |list: &[f64]| -> Vec<Compared<'_>> {
        let one = |&error_pct| Compared {
            row: 0,
            column: 0,
            published: &published,
            simulated_mib_per_s: 0.0,
            error_pct,
        };
        list.iter().map(one).collect()
    };
    assert_eq!(median_size(&errors(&[-3.0, 1.0, 2.0])), Some(2.0));
    assert_eq!(median_size(&errors(&[-3.0, 1.0])), Some(2.0));
    let three = errors(&[-3.0, 1.0, 2.0]);
    assert_eq!(worst(&three).map(|c| c.error_pct), Some(-3.0));
    assert_eq!(median_size(&[]), None);
}
