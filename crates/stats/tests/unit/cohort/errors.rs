use super::*;

#[test]
fn tails_are_those_of_the_sum_of_the_distribution() {
    for mean in [0.01_f64, 0.7, 3.0, 12.5, 80.0] {
        let (mut term, mut below) = ((-mean).exp(), 0.0);
        for count in 0..160_u64 {
            let expected = 1.0 - below;
            let found = at_least(count, mean);
            assert!((found - expected).abs() < 1e-11, "{count} of {mean}: {found} {expected}");
            below += term;
            term *= mean / (count + 1) as f64;
        }
    }
    // Normal approximation of a large mean.
    assert!((at_least(1_000_000, 1e6) - 0.5).abs() < 1e-3);
    assert!((at_least(1_001_960, 1e6) - 0.025).abs() < 1e-3);
    assert_eq!((at_least(0, 0.0), at_least(1, 0.0), at_least(1, f64::NAN)), (1.0, 0.0, 0.0));
}

#[test]
fn no_errors_are_within_a_limit_only_where_three_were_to_be_expected() {
    assert_eq!(against_limit(0, 2.9, 1), AgainstLimit::CannotTell);
    assert_eq!(against_limit(0, 3.1, 1), AgainstLimit::Within);
    assert_eq!(against_limit(0, 3.1, 2), AgainstLimit::CannotTell);
    assert_eq!(against_limit(1, 0.06, 1), AgainstLimit::CannotTell);
    assert_eq!(against_limit(1, 0.05, 1), AgainstLimit::Exceeded);
    assert_eq!(against_limit(1, 0.05, 2), AgainstLimit::CannotTell);
    assert_eq!(against_limit(0, f64::NAN, 1), AgainstLimit::CannotTell);
}
