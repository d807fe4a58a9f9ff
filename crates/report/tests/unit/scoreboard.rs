use super::*;

fn score(value: f64, interval: Option<[f64; 2]>) -> Option<Score> {
    Some(Score {
        value,
        interval,
        ..Score::default()
    })
}

fn standings(mut scores: Vec<Option<Score>>, figure: HeadlineFigure) -> Vec<Option<Standing>> {
    stand(&mut scores, figure);
    scores
        .iter()
        .map(|s| s.as_ref().map(|s| s.standing))
        .collect()
}

#[test]
fn a_difference_within_the_intervals_is_no_difference() {
    use Standing::{Behind, Best, Tied};
    // 5 % each: 7 % together. 6 % less cannot be told apart, 10 % less can.
    let near = |value: f64| score(value, Some([value * 0.95, value * 1.05]));
    let scores = vec![near(1000.0), near(940.0), near(900.0), None];
    let found = standings(scores, HeadlineFigure::MibPerS);
    assert_eq!(found, [Some(Best), Some(Tied), Some(Behind), None]);
    // Of latencies the lowest is best.
    let scores = vec![near(100.0), near(94.0), near(80.0)];
    let found = standings(scores, HeadlineFigure::P99Us);
    assert_eq!(found, [Some(Behind), Some(Behind), Some(Best)]);
}

#[test]
fn without_intervals_one_percent_counts() {
    use Standing::{Behind, Best, Tied};
    let scores = vec![score(100.0, None), score(99.5, None), score(98.0, None)];
    let found = standings(scores, HeadlineFigure::Iops);
    assert_eq!(found, [Some(Best), Some(Tied), Some(Behind)]);
    let scores = vec![score(50.0, None), score(50.9, None), score(51.0, None)];
    let found = standings(scores, HeadlineFigure::TemperatureMaxC);
    assert_eq!(found, [Some(Best), Some(Tied), Some(Behind)]);
}

#[test]
fn a_single_drive_is_not_ranked() {
    let found = standings(vec![score(1.0, None), None], HeadlineFigure::Iops);
    assert_eq!(found, [Some(Standing::Behind), None]);
}

#[test]
fn zero_is_best_of_faults_and_worst_of_rates() {
    use Standing::{Behind, Best};
    let scores = || vec![score(0.0, None), score(7.0, None)];
    let found = standings(scores(), HeadlineFigure::BadBlocks);
    assert_eq!(found, [Some(Best), Some(Behind)]);
    let found = standings(scores(), HeadlineFigure::MibPerS);
    assert_eq!(found, [Some(Behind), Some(Best)]);
}
