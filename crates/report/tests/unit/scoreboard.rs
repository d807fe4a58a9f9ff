use super::*;

fn score(value: f64, interval: Option<[f64; 2]>) -> Option<Score> {
    Some(Score { value, interval, ..Score::default() })
}

fn standings(mut scores: Vec<Option<Score>>, figure: Figure) -> Vec<Option<Standing>> {
    stand(&mut scores, figure);
    scores.iter().map(|s| s.as_ref().map(|s| s.standing)).collect()
}

#[test]
fn a_difference_within_the_intervals_is_no_difference() {
    use Standing::{Behind, Best, Tied};
    // 5 % each: 7 % together. 6 % less cannot be told apart, 10 % less can.
    let near = |value: f64| score(value, Some([value * 0.95, value * 1.05]));
    let scores = vec![near(1000.0), near(940.0), near(900.0), None];
    let found = standings(scores, figure::MIB_PER_S);
    assert_eq!(found, [Some(Best), Some(Tied), Some(Behind), None]);
    // Of latencies the lowest is best.
    let scores = vec![near(100.0), near(94.0), near(80.0)];
    let found = standings(scores, figure::MEAN_US);
    assert_eq!(found, [Some(Behind), Some(Behind), Some(Best)]);
}

/// One run has no interval of a tail percentile: there is no best one, however far apart they are.
#[test]
fn tail_percentiles_are_ranked_by_predictive_intervals_only() {
    use Standing::{Behind, Best, Unranked};
    let plain = || vec![score(100.0, None), score(900.0, None), None];
    for figure in [figure::P99_US, figure::P99_9_US, figure::P99_99_US] {
        let found = standings(plain(), figure);
        assert_eq!(found, [Some(Unranked), Some(Unranked), None]);
    }
    let predicted = |value: f64| {
        let interval = Some([value * 0.9, value * 1.1]);
        score(value, interval).map(|s| Score { predictive: true, ..s })
    };
    let found = standings(vec![predicted(100.0), predicted(900.0)], figure::P99_US);
    assert_eq!(found, [Some(Best), Some(Behind)]);
    // One real drive among them.
    let found = standings(vec![predicted(100.0), score(900.0, None)], figure::P99_US);
    assert_eq!(found, [Some(Unranked), Some(Unranked)]);
    // A single value has no rival.
    assert_eq!(standings(vec![score(1.0, None), None], figure::P99_US), [Some(Behind), None]);
}

#[test]
fn without_intervals_one_percent_counts() {
    use Standing::{Behind, Best, Tied};
    let scores = vec![score(100.0, None), score(99.5, None), score(98.0, None)];
    let found = standings(scores, figure::IOPS);
    assert_eq!(found, [Some(Best), Some(Tied), Some(Behind)]);
    let scores = vec![score(50.0, None), score(50.9, None), score(51.0, None)];
    let found = standings(scores, figure::TEMPERATURE_MAX_C);
    assert_eq!(found, [Some(Best), Some(Tied), Some(Behind)]);
}

#[test]
fn a_single_drive_is_not_ranked() {
    let found = standings(vec![score(1.0, None), None], figure::IOPS);
    assert_eq!(found, [Some(Standing::Behind), None]);
}

#[test]
fn zero_is_best_of_faults_and_worst_of_rates() {
    use Standing::{Behind, Best};
    let scores = || vec![score(0.0, None), score(7.0, None)];
    let found = standings(scores(), figure::BAD_BLOCKS);
    assert_eq!(found, [Some(Best), Some(Behind)]);
    let found = standings(scores(), figure::MIB_PER_S);
    assert_eq!(found, [Some(Behind), Some(Best)]);
}
