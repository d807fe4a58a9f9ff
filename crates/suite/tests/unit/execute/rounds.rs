use assay_stats::steady::SteadyRule;

use super::*;

fn rounds() -> RoundCriterion {
    RoundCriterion {
        rule: SteadyRule::default(),
        dwell: 0,
        figure: TrackingVariable::Iops,
    }
}

fn fio(text: &str) -> RoundCriterion {
    RoundCriterion {
        rule: SteadyRule::from_fio(text, 5).unwrap().1,
        ..rounds()
    }
}

fn course(values: &[Option<f64>]) -> Vec<(u32, Option<f64>)> {
    (1..).zip(values.iter().copied()).collect()
}

#[test]
fn five_equal_rounds_are_at_rest_and_four_are_not() {
    let four = evaluate(&rounds(), 0, "s", "d/s".into(), &course(&[Some(100.0); 4]));
    assert!(!four.achieved && four.why.is_some());
    let five = evaluate(&rounds(), 0, "s", "d/s".into(), &course(&[Some(100.0); 5]));
    assert!(five.achieved, "{five:?}");
    assert_eq!((five.window, five.mean), ((1, 5), 100.0));
    assert_eq!(five.band, Some(10.0), "20 % from lowest to highest");
    let five = evaluate(
        &fio("iops:3%"),
        0,
        "s",
        "d/s".into(),
        &course(&[Some(100.0); 5]),
    );
    assert_eq!(five.band, Some(3.0));
    let five = evaluate(
        &fio("iops_slope:3%"),
        0,
        "s",
        "d/s".into(),
        &course(&[Some(100.0); 5]),
    );
    assert_eq!(five.band, None);
}

#[test]
fn a_dwell_asks_for_further_rounds_and_says_so() {
    let dwelling = RoundCriterion {
        dwell: 2,
        ..rounds()
    };
    let six = evaluate(&dwelling, 0, "s", "d/s".into(), &course(&[Some(100.0); 6]));
    assert!(!six.achieved);
    assert!(six.rule.contains("2 further rounds"), "{}", six.rule);
    let seven = evaluate(&dwelling, 0, "s", "d/s".into(), &course(&[Some(100.0); 7]));
    assert!(seven.achieved && seven.window == (3, 7), "{seven:?}");
}

#[test]
fn a_round_that_failed_begins_the_count_anew() {
    let mut values = vec![Some(100.0); 4];
    values.push(None);
    values.extend([Some(100.0); 4]);
    let steady = evaluate(&rounds(), 0, "s", "d/s".into(), &course(&values));
    assert!(!steady.achieved);
    assert!(steady.why.unwrap().contains("round 5"));
    values.push(Some(100.0));
    let steady = evaluate(&rounds(), 0, "s", "d/s".into(), &course(&values));
    assert!(steady.achieved);
    assert_eq!(steady.window, (6, 10));
}
