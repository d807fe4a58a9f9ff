use assay_stats::steady::SteadyRule;

use super::*;

fn rounds() -> RoundCriterion {
    RoundCriterion { rule: SteadyRule::default(), dwell: 0, figure: TrackingVariable::Iops }
}

fn fio(text: &str) -> RoundCriterion {
    RoundCriterion { rule: SteadyRule::from_fio(text, 5).unwrap().1, ..rounds() }
}

fn by_round(values: &[Option<f64>]) -> Vec<(u32, Option<f64>)> {
    (1..).zip(values.iter().copied()).collect()
}

#[test]
fn five_equal_rounds_are_steady_and_four_are_not() {
    let four = evaluate(&rounds(), by_round(&[Some(100.0); 4]));
    assert!(!four.achieved && four.why.is_some());
    let five = evaluate(&rounds(), by_round(&[Some(100.0); 5]));
    assert!(five.achieved, "{five:?}");
    assert_eq!((five.window, five.mean), ((1, 5), 100.0));
    assert_eq!(five.band, Some(10.0), "20 % from lowest to highest");
    let five = evaluate(&fio("iops:3%"), by_round(&[Some(100.0); 5]));
    assert_eq!(five.band, Some(3.0));
    let five = evaluate(&fio("iops_slope:3%"), by_round(&[Some(100.0); 5]));
    assert_eq!(five.band, None);
}

#[test]
fn a_dwell_requires_further_rounds() {
    let dwelling = RoundCriterion { dwell: 2, ..rounds() };
    let six = evaluate(&dwelling, by_round(&[Some(100.0); 6]));
    assert!(!six.achieved);
    assert!(six.rule.contains("2 further rounds"), "{}", six.rule);
    let seven = evaluate(&dwelling, by_round(&[Some(100.0); 7]));
    assert!(seven.achieved && seven.window == (3, 7), "{seven:?}");
}

#[test]
fn a_failed_round_restarts_the_window() {
    let mut values = vec![Some(100.0); 4];
    values.push(None);
    values.extend([Some(100.0); 4]);
    let steady = evaluate(&rounds(), by_round(&values));
    assert!(!steady.achieved);
    assert!(steady.why.unwrap().contains("round 5"));
    values.push(Some(100.0));
    let steady = evaluate(&rounds(), by_round(&values));
    assert!(steady.achieved);
    assert_eq!(steady.window, (6, 10));
}
