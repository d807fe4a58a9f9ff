use super::*;

/// Chi-squared of `draws` ranks against the exact law, ranks pooled into cells that expect at least
/// 50.
fn chi_squared(count: u64, theta: f64, draws: u64) -> (f64, usize) {
    let zipf = Zipf::new(count, theta).unwrap();
    let mut rng = Rng::new(42);
    let mut counts = vec![0_u64; count as usize + 1];
    for _ in 0..draws {
        counts[zipf.sample(&mut rng) as usize] += 1;
    }
    let norm: f64 = (1..=count).map(|k| (k as f64).powf(-theta)).sum();
    let (mut chi2, mut cells) = (0.0, 0);
    let (mut seen, mut expected) = (0.0, 0.0);
    for k in 1..=count {
        seen += counts[k as usize] as f64;
        expected += (k as f64).powf(-theta) / norm * draws as f64;
        if expected >= 50.0 {
            chi2 += (seen - expected) * (seen - expected) / expected;
            cells += 1;
            (seen, expected) = (0.0, 0.0);
        }
    }
    (chi2, cells)
}

#[test]
fn follows_the_analytic_law() {
    for theta in [0.2, 0.5, 0.9, 0.99, 1.0, 1.000_000_01, 1.1, 1.2, 2.0, 4.0] {
        for count in [2, 10, 1000, 20_000] {
            let (chi2, cells) = chi_squared(count, theta, 200_000);
            let freedom = cells.max(2) as f64 - 1.0;
            // Mean `freedom`, standard deviation sqrt(2 freedom): 5 sigma plus room for the skew of
            // few cells.
            let limit = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
            assert!(chi2 < limit, "theta {theta} count {count}: {chi2} over {freedom}");
        }
    }
}

#[test]
fn extreme_ranges_stay_inside() {
    let mut rng = Rng::new(1);
    for count in [1, 2, 3, 1 << 40, u64::MAX] {
        for theta in [1e-6, 0.5, 1.0, 1.5, MAX_THETA] {
            let zipf = Zipf::new(count, theta).unwrap();
            for _ in 0..200 {
                assert!((1..=count).contains(&zipf.sample(&mut rng)));
            }
        }
    }
}

#[test]
fn bad_exponents_are_refused() {
    for theta in [0.0, -1.0, f64::NAN, f64::INFINITY, MAX_THETA + 1.0] {
        assert!(matches!(Zipf::new(10, theta), Err(AccessError::BadTheta { .. })));
    }
}
