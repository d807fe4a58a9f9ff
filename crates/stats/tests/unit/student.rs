use super::*;

/// Printed tables (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2), three decimals.
#[test]
fn quantiles_of_the_printed_table() {
    for (degrees, probability, value) in [
        (1.0, 0.90, 3.078),
        (1.0, 0.975, 12.706),
        (1.0, 0.99, 31.821),
        (2.0, 0.975, 4.303),
        (3.0, 0.95, 2.353),
        (4.0, 0.975, 2.776),
        (5.0, 0.99, 3.365),
        (7.0, 0.975, 2.365),
        (10.0, 0.975, 2.228),
        (10.0, 0.999, 4.144),
        (30.0, 0.975, 2.042),
        (60.0, 0.995, 2.660),
        (100.0, 0.975, 1.984),
        (1e9, 0.975, 1.960),
        (1e9, 0.995, 2.576),
    ] {
        let t = quantile(probability, degrees).unwrap();
        assert!((t - value).abs() < 0.0006, "{degrees} {probability}: {t}");
        assert_eq!(
            quantile(1.0 - probability, degrees).map(|t| (t * 1e6).round()),
            Some((-t * 1e6).round())
        );
    }
}

/// Closed forms: one degree is Cauchy's distribution, two degrees have t = (2p - 1) sqrt(2 / (4 p
/// (1 - p))).
#[test]
fn quantiles_of_one_and_two_degrees_in_closed_form() {
    for percent in 51..100 {
        let p = f64::from(percent) / 100.0;
        let cauchy = (std::f64::consts::PI * (p - 0.5)).tan();
        assert!((quantile(p, 1.0).unwrap() / cauchy - 1.0).abs() < 1e-8);
        let two = (2.0 * p - 1.0) * (2.0 / (4.0 * p * (1.0 - p))).sqrt();
        assert!((quantile(p, 2.0).unwrap() / two - 1.0).abs() < 1e-8);
    }
}

#[test]
fn invalid_arguments_have_no_quantile() {
    for (p, degrees) in
        [(0.0, 5.0), (1.0, 5.0), (f64::NAN, 5.0), (0.9, 0.0), (0.9, f64::NAN), (0.9, -1.0)]
    {
        assert_eq!(quantile(p, degrees), None);
    }
    assert_eq!(quantile(0.5, 3.0), Some(0.0));
    assert!((two_sided(0.95, 10.0).unwrap() - 2.228).abs() < 0.0006);
    assert!(quantile(0.99, f64::INFINITY).unwrap() > 2.32);
}
