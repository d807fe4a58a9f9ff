use super::*;

const DRAWS: u32 = 100_000;

fn drawn(law: RankLaw, count: u64) -> Vec<u64> {
    let ranks = Ranks::new(law, count).unwrap();
    let mut rng = Rng::new(5);
    (0..DRAWS).map(|_| ranks.sample(&mut rng)).collect()
}

/// By its definition: 1 - h of the I/Os go to the first h of the ranks, and the same within them.
#[test]
fn pareto_shares_are_exact() {
    for h in [0.1, 0.2, 0.5, 0.7] {
        let ranks = drawn(RankLaw::Pareto { h }, 1 << 20);
        for power in [1, 2] {
            let limit = (1 << 20) as f64 * f64::powi(h, power);
            let inside = ranks.iter().filter(|&&rank| (rank as f64) < limit).count();
            let (share, expected) = (inside as f64 / f64::from(DRAWS), f64::powi(1.0 - h, power));
            // Four standard deviations of a binomial share.
            assert!((share - expected).abs() < 4.0 * 0.5 / f64::from(DRAWS).sqrt(), "{h}: {share}");
        }
    }
}

/// Mean and deviation, where next to nothing is cut off; and inside of the area where much is.
#[test]
fn normal_ranks_have_their_moments() {
    let count = 1_000_000_u64;
    let law = |deviation_percent| RankLaw::Normal { deviation_percent };
    let ranks = drawn(law(10.0), count);
    let n = f64::from(DRAWS);
    let mean = ranks.iter().map(|&r| r as f64).sum::<f64>() / n;
    let variance = ranks.iter().map(|&r| (r as f64 - mean).powi(2)).sum::<f64>() / n;
    assert!((mean / 500_000.0 - 1.0).abs() < 0.003, "{mean}");
    assert!((variance.sqrt() / 100_000.0 - 1.0).abs() < 0.01, "{variance}");
    assert!(drawn(law(99.0), 3).iter().all(|&rank| rank < 3));
    assert!(drawn(law(50.0), 1).iter().all(|&rank| rank == 0));
}

#[test]
fn parameters_out_of_range_are_refused() {
    for h in [0.0, 1.0, -0.5, f64::NAN] {
        let error = Ranks::new(RankLaw::Pareto { h }, 10).unwrap_err();
        assert!(error.to_string().contains("pareto"), "{error}");
    }
    for deviation_percent in [0.0, 100.0, f64::NAN] {
        let law = RankLaw::Normal { deviation_percent };
        let error = Ranks::new(law, 10).unwrap_err();
        assert!(error.to_string().contains("normal"), "{error}");
    }
}
