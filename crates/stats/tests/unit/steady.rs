use proptest::prelude::*;

use super::*;

fn snia() -> SteadyRule {
    SteadyRule::default()
}

fn fio(text: &str, window: usize) -> SteadyRule {
    SteadyRule::from_fio(text, window).unwrap().1
}

#[test]
fn snia_by_hand() {
    // Mean 100, range 20 (exactly the limit), slope: sum of (x - 2)(y - 100) = -2*-10 + -1*10 +
    // 1*-4 + 2*4 = 14, over 10 = 1.4 per round, 5.6 across four steps.
    let rounds = [90.0, 110.0, 100.0, 96.0, 104.0];
    let judged = snia().evaluate(&rounds);
    assert!(judged.achieved, "{judged:?}");
    assert_eq!(judged.window, (1, 5));
    assert_eq!((judged.mean, judged.range_pct), (100.0, 20.0));
    assert!((judged.slope_per_step - 1.4).abs() < 1e-12);
    assert!((judged.excursion_pct - 5.6).abs() < 1e-12);
    assert_eq!(judged.why, None);
}

#[test]
fn snia_reports_the_failed_criterion() {
    // Mean 100, range 31; symmetric, so no slope.
    let wide = snia().evaluate(&[100.0, 84.5, 115.5, 115.5, 84.5]);
    assert!(!wide.achieved);
    assert_eq!(wide.why.as_deref(), Some("range 31 % of the mean, at most 20 %"));
    // A straight line from 94 to 106: range 12 %, and all of it is drift.
    let drift = snia().evaluate(&[94.0, 97.0, 100.0, 103.0, 106.0]);
    assert_eq!(
        drift.why.as_deref(),
        Some("least-squares line rises by 12 % of the mean across the window, at most 10 %")
    );
    let fall = snia().evaluate(&[160.0, 130.0, 100.0, 70.0, 40.0]);
    assert_eq!(
        fall.why.as_deref(),
        Some(
            "range 120 % of the mean, at most 20 %; least-squares line falls by 120 % of the mean \
             across the window, at most 10 %"
        )
    );
    assert_eq!((fall.slope_per_step, fall.excursion_pct), (-30.0, 120.0));
    let barely = snia().evaluate(&[100.0, 89.98, 110.01, 110.01, 90.0]);
    assert_eq!(barely.why.as_deref(), Some("range 20.03 % of the mean, at most 20 %"));
    assert_eq!(snia().evaluate(&[5.0, 5.0, 5.0]).why.as_deref(), Some("only 3 of 5 rounds"));
    assert_eq!(snia().evaluate(&[]).window, (0, 0));
}

#[test]
fn only_the_last_rounds_count() {
    let mut rounds = vec![900.0, 500.0, 200.0];
    rounds.extend([100.0, 101.0, 99.0, 100.0, 100.0]);
    let judged = snia().evaluate(&rounds);
    assert!(judged.achieved);
    assert_eq!((judged.window, judged.mean), ((4, 8), 100.0));
}

#[test]
fn dwell_requires_consecutive_windows() {
    let rounds = [300.0, 100.0, 101.0, 99.0, 100.0, 100.0, 102.0];
    // The windows that end with round 6 and round 7 hold, the one that ends with round 5 does not.
    assert!(snia().evaluate(&rounds[..6]).achieved);
    assert!(!snia().evaluate(&rounds[..5]).achieved);
    assert!(snia().evaluate_with_dwell(&rounds, 0).achieved);
    assert!(snia().evaluate_with_dwell(&rounds, 1).achieved);
    let two = snia().evaluate_with_dwell(&rounds, 2);
    assert!(!two.achieved);
    assert_eq!(two.why.as_deref(), Some("holds now, but for 2 of 3 windows in a row so far"));
    assert!(!snia().evaluate_with_dwell(&rounds, usize::MAX).achieved);
}

#[test]
fn invalid_values_are_never_steady() {
    for (bad, why) in [
        (f64::NAN, "round 2 has no value"),
        (f64::INFINITY, "round 2 has no value"),
        (-1.0, "round 2 measured -1, below zero"),
    ] {
        let judged = snia().evaluate(&[100.0, bad, 100.0, 100.0, 100.0]);
        assert_eq!((judged.achieved, judged.why.as_deref()), (false, Some(why)));
    }
    assert!(!snia().evaluate(&[0.0; 5]).achieved);
    assert!(!snia().evaluate(&[f64::MAX; 5]).achieved);
    for window in [0, 1] {
        let rule = SteadyRule::Snia { window, range_pct: 20.0, excursion_pct: 10.0 };
        assert!(!rule.evaluate(&[1.0; 9]).achieved);
    }
    let nan = SteadyRule::Fio {
        criterion: FioCriterion::Slope,
        limit: SteadyLimit::Percent(f64::NAN),
        window: 3,
    };
    assert!(!nan.evaluate(&[1.0; 9]).achieved);
}

/// Hand figures after fio's `steadystate.c`: slope = (Sxy - Sx Sy / n) / (Sxx - Sx^2 / n) with x =
/// 0, 1, ..., the criterion is 100 slope / mean, and must be *less* than the limit.
#[test]
fn fio_slope_by_hand() {
    // x = 0..3, y = 1000, 1002, 1004, 1006: Sx 6, Sy 4012, Sxx 14, Sxy 0 + 1002 + 2008 + 3018 =
    // 6028; slope = (6028 - 6 * 4012 / 4) / (14 - 36 / 4) = 10 / 5 = 2; mean 1003; 0.1994 % per
    // sample.
    let values = [1000.0, 1002.0, 1004.0, 1006.0];
    assert!(fio("iops_slope:0.2%", 4).evaluate(&values).achieved);
    assert!(!fio("iops_slope:0.199%", 4).evaluate(&values).achieved);
    assert!(fio("bw_slope:2.01", 4).evaluate(&values).achieved);
    let at_limit = fio("bw_slope:2", 4).evaluate(&values);
    assert_eq!(at_limit.slope_per_step, 2.0);
    assert!(!at_limit.achieved, "fio requires less than the limit");
    // A falling line counts by its size.
    let falling = [1006.0, 1004.0, 1002.0, 1000.0];
    assert!(!fio("iops_slope:1.9", 4).evaluate(&falling).achieved);
}

#[test]
fn fio_mean_deviation_by_hand() {
    // Mean 100, farthest value 97: 3 %.
    let values = [500.0, 101.0, 102.0, 97.0, 100.0];
    assert!(fio("iops:3.1%", 4).evaluate(&values).achieved);
    let no = fio("iops:3%", 4).evaluate(&values);
    assert!(!no.achieved);
    assert_eq!(
        no.why.as_deref(),
        Some("largest distance from the mean 3 % of the mean, must be less than 3 % of the mean")
    );
    assert!(fio("bw:4", 4).evaluate(&values).achieved);
    assert!(!fio("bw:3", 4).evaluate(&values).achieved);
    assert!(!fio("iops:3.1%", 5).evaluate(&values).achieved, "500 is in the window");
}

#[test]
fn fio_spelling() {
    assert_eq!(
        SteadyRule::from_fio("bw_slope:0.3%", 30).unwrap(),
        (
            FioFigure::Bandwidth,
            SteadyRule::Fio {
                criterion: FioCriterion::Slope,
                limit: SteadyLimit::Percent(0.3),
                window: 30
            }
        )
    );
    for wrong in
        ["", "iops", "iops:", "iops:%", "lat:3%", "iops:-1", "iops:0", "iops:nan", "iops:inf"]
    {
        let error = SteadyRule::from_fio(wrong, 5).unwrap_err();
        assert!(error.to_string().contains("iops_slope:0.3%"), "{wrong}");
    }
}

#[test]
fn texts_contain_the_limits() {
    assert!(snia().text().contains("last 5 rounds"));
    assert!(snia().text().contains("20 %") && snia().text().contains("10 %"));
    assert_eq!(
        fio("iops_slope:0.3%", 30).text(),
        "fio: over the last 30 rounds, slope of the least-squares line per round less than 0.3 % \
         of the mean"
    );
}

/// A naive implementation of the definition: normal equations with x from 0.
fn naive_snia(values: &[f64]) -> Option<(f64, f64)> {
    let w = &values[values.len().checked_sub(5)?..];
    let average = w.iter().sum::<f64>() / 5.0;
    let max = w.iter().copied().fold(0.0, f64::max);
    let min = w.iter().copied().fold(f64::INFINITY, f64::min);
    let sxy: f64 = (0..5).map(|x| x as f64 * w[x]).sum();
    let slope = (5.0 * sxy - 10.0 * w.iter().sum::<f64>()) / (5.0 * 30.0 - 100.0);
    let at = |x: f64| average + slope * (x - 2.0);
    Some(((max - min) / average, (at(4.0) - at(0.0)).abs() / average))
}

proptest! {
    #[test]
    fn snia_agrees_with_the_definition(values in prop::collection::vec(50.0_f64..150.0, 0..12)) {
        let judged = snia().evaluate(&values);
        match naive_snia(&values) {
            None => prop_assert!(!judged.achieved),
            Some((range, excursion)) => {
                prop_assert!((judged.range_pct - range * 100.0).abs() < 1e-6);
                prop_assert!((judged.excursion_pct - excursion * 100.0).abs() < 1e-6);
                // Not exactly at the limits, where rounding decides.
                if (range - 0.2).abs() > 1e-6 && (excursion - 0.1).abs() > 1e-6 {
                    prop_assert_eq!(judged.achieved, range < 0.2 && excursion < 0.1);
                }
            }
        }
    }

    #[test]
    fn evaluations_are_finite_and_have_a_reason(
        values in prop::collection::vec(prop_oneof![4 => 0.0_f64..1e9, 1 => any::<f64>()], 0..40),
        window in 0_usize..10,
        dwell in 0_usize..4,
        slope in any::<bool>(),
        percent in any::<bool>(),
        fio in any::<bool>(),
    ) {
        let rule = match fio {
            false => SteadyRule::Snia { window, range_pct: 20.0, excursion_pct: 10.0 },
            true => SteadyRule::Fio {
                criterion: if slope { FioCriterion::Slope } else { FioCriterion::MeanDeviation },
                limit: if percent { SteadyLimit::Percent(5.0) } else { SteadyLimit::Absolute(5e7) },
                window,
            },
        };
        let judged = rule.evaluate_with_dwell(&values, dwell);
        prop_assert_eq!(judged.achieved, judged.why.is_none());
        for figure in [judged.mean, judged.range_pct, judged.excursion_pct, judged.slope_per_step] {
            prop_assert!(figure.is_finite(), "{:?}", judged);
        }
        prop_assert!(judged.range_pct >= 0.0 && judged.excursion_pct >= 0.0);
        if judged.achieved {
            for back in 0..=dwell {
                prop_assert!(rule.evaluate(&values[..values.len() - back]).achieved);
            }
        }
    }

    /// Neither the unit of the figure nor a reversal of time changes the result (percent limits).
    #[test]
    fn unit_and_direction_have_no_effect(values in prop::collection::vec(80.0_f64..120.0, 5..9), unit in 1e-3_f64..1e6) {
        let other: Vec<f64> = values.iter().map(|v| v * unit).collect();
        let (a, b) = (snia().evaluate(&values), snia().evaluate(&other));
        prop_assert!((a.range_pct - b.range_pct).abs() < 1e-6);
        prop_assert!((a.excursion_pct - b.excursion_pct).abs() < 1e-6);
        let mut turned = values[values.len() - 5..].to_vec();
        turned.reverse();
        let c = snia().evaluate(&turned);
        prop_assert!((a.slope_per_step + c.slope_per_step).abs() < 1e-9);
    }
}
