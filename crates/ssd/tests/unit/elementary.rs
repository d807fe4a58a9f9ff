use super::*;
use proptest::prelude::*;

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-12 * expected.abs().max(1e-3)
}

/// Tables of the normal distribution (Abramowitz and Stegun, table 26.1 and 26.2).
#[test]
fn tails_of_the_normal_distribution_are_those_of_the_tables() {
    for (z, tail) in [
        (0.0, 0.5),
        (1.0, 0.158_655_253_931_457),
        (2.0, 0.022_750_131_948_179),
        (3.0, 1.349_898_031_630e-3),
        (5.0, 2.866_515_719e-7),
        (6.0, 9.865_876_450e-10),
    ] {
        let got = normal_tail(z);
        assert!((got / tail - 1.0).abs() < 1e-9, "{z}: {got:e}");
        assert!((normal_tail(-z) + got - 1.0).abs() < 1e-15);
    }
}

proptest! {
    #[test]
    fn functions_agree_with_those_of_the_platform(x in -600.0_f64..600.0, y in -3.0_f64..3.0, base in 1e-9_f64..1e9) {
        prop_assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12);
        prop_assert!(is_near(ln(base), base.ln()), "{}", base);
        prop_assert!((power(base, y) / base.powf(y) - 1.0).abs() < 1e-11);
    }

    #[test]
    fn tails_fall(z in -5.0_f64..9.0, step in 1e-3_f64..1.0) {
        prop_assert!(normal_tail(z + step) < normal_tail(z));
    }
}
