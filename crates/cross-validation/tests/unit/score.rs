//! Scores: coverage on synthetic predictions, independence of a drive's own errors, the table.

use super::*;
use crate::learn::FIGURE_SCALE;
use assay_calibrate::measurement::Measurement;
use assay_calibrate::published::published;
use assay_units::Rng;

/// Predictions of seven drives with errors of a factor that the spread does not know.
fn synthetic(factor: f64) -> Vec<Prediction> {
    let mut rng = Rng::new(11);
    let mut out = Vec::new();
    for drive in ["a", "b", "c", "d", "e", "f", "g"] {
        for measurement in published("samsung-951").unwrap().into_iter().take(20) {
            let normal: f64 = (0..12).map(|_| rng.unit_f64()).sum::<f64>() - 6.0;
            let spread = 0.05 + 0.2 * rng.unit_f64();
            let total = (spread * spread + FIGURE_SCALE * FIGURE_SCALE).sqrt();
            out.push(Prediction {
                fold: "x".to_owned(),
                drive: drive.to_owned(),
                simulated: measurement.value * (factor * total * normal).exp(),
                measurement,
                situation: Situation::AnotherDepth,
                spread,
                anchor: None,
                data_sheet: None,
                nearest: Some(1.0),
            });
        }
    }
    out
}

#[test]
fn calibrated_intervals_cover_nine_of_ten_whatever_the_members_say() {
    for factor in [0.3, 1.0, 3.0] {
        let summary = summary(&score(&synthetic(factor)));
        assert_eq!(summary.len(), 1);
        let coverage = summary[0].coverage;
        // Every drive counts as one, so that six drives leave the scale open and intervals are wide
        // rather than narrow.
        assert!((87.0..=99.0).contains(&coverage), "{factor}: {coverage}");
        assert!(summary[0].half_width > 5.0 * factor);
    }
}

#[test]
fn a_drives_own_errors_do_not_change_its_intervals() {
    let mut all = synthetic(1.0);
    let before = score(&all);
    for p in all.iter_mut().filter(|p| p.drive == "c") {
        p.measurement.value *= 3.0;
    }
    let after = score(&all);
    for (a, b) in before.iter().zip(&after).filter(|(a, _)| a.drive == "c") {
        assert_eq!((a.low, a.high), (b.low, b.high));
    }
    assert!(before[0].low != after[0].low || before[0].high != after[0].high);
}

#[test]
fn errors_of_throttled_drives_do_not_widen_other_intervals() {
    let all = synthetic(1.0);
    let drives = ["mydigitalssd-bpx", "plextor-m8pe-g"];
    let figures = drives.iter().flat_map(|drive| published(drive).unwrap());
    let throttled: Vec<Prediction> = figures
        .filter(|m| FigureKind::of(m) == FigureKind::Throttling)
        .map(|measurement| Prediction {
            drive: "h".to_owned(),
            simulated: measurement.value * 20.0,
            measurement,
            ..all[0].clone()
        })
        .collect();
    assert!(!throttled.is_empty());
    let both: Vec<Prediction> = all.iter().cloned().chain(throttled).collect();
    for (alone, beside) in score(&all).iter().zip(&score(&both)) {
        assert_eq!((alone.low, alone.high), (beside.low, beside.high));
    }
}

#[test]
fn intervals_are_percentiles_of_published_over_predicted() {
    let scored = score(&synthetic(1.0));
    let intervals = intervals(&scored);
    assert_eq!(intervals.len(), 1);
    assert_eq!(intervals[0].predictions, 140);
    let within = scored.iter().filter(|s| {
        let ratio = s.published / s.predicted;
        (intervals[0].low..=intervals[0].high).contains(&ratio)
    });
    let share = within.count() as f64 / 140.0;
    assert!((0.88..=0.93).contains(&share), "{share}");
}

#[test]
fn the_table_is_read_as_written() {
    let all = score(&synthetic(1.0));
    let again = parse(&table(&all)).unwrap();
    assert_eq!(again.len(), all.len());
    for (a, b) in all.iter().zip(&again) {
        assert_eq!(
            (&a.key, &a.drive, a.kind, a.situation),
            (&b.key, &b.drive, b.kind, b.situation)
        );
        assert!((a.predicted - b.predicted).abs() < 0.01 && b.nearest == Some(1.0));
    }
    assert!(markdown(&all).contains("| x | random read | 140 |"));
    assert!(parse(&table(&all).replace("random_read", "random_reads")).is_err());
}

#[test]
fn a_figure_that_no_member_has_is_an_error_outside_of_its_interval() {
    let mut all = synthetic(1.0);
    let before = score(&all);
    all[0].simulated = 0.0;
    let after = score(&all);
    assert_eq!((after[0].low, after[0].high), (0.0, 0.0));
    assert_eq!(after[0].error(), 100.0);
    assert!(!after[0].is_covered());
    let (one, two) = (&summary(&before)[0], &summary(&after)[0]);
    assert_eq!(one.count, two.count);
    assert!(two.half_width.is_finite() && two.coverage <= one.coverage);
    assert!(intervals(&after).iter().all(|i| i.high.is_finite()));
}

/// Predictions of seven drives in a fold of writes, with an anchor each: `members` and `anchors`
/// are standard deviations of their errors.
fn anchored(members: f64, anchors: f64) -> Vec<Prediction> {
    let mut rng = Rng::new(5);
    let figures = published("plextor-m8pe-g").unwrap();
    let is_write = |m: &Measurement| FigureKind::of(m) == FigureKind::SequentialWrite;
    let measurement = figures.into_iter().find(is_write).unwrap();
    let drives = ["a", "b", "c", "d", "e", "f", "g"].into_iter();
    let one = |drive: &str| Prediction {
        fold: "writes".to_owned(),
        drive: drive.to_owned(),
        simulated: measurement.value * (members * rng.normal()).exp(),
        measurement: measurement.clone(),
        situation: Situation::OtherKinds,
        spread: 0.01,
        anchor: Some((measurement.value * (anchors * rng.normal()).exp(), anchors)),
        data_sheet: None,
        nearest: None,
    };
    drives.map(one).collect()
}

#[test]
fn the_more_precise_of_members_and_data_sheet_has_the_greater_weight() {
    let weight = |s: &Scored| {
        let (anchor, _) = s.anchor.unwrap();
        (s.predicted / s.simulated).ln() / (anchor / s.simulated).ln()
    };
    // Members that erred by a factor of two with six other drives say less than a ratio that is
    // known within a tenth, and the other way round.
    for s in score(&anchored(0.7, 0.1)) {
        assert!(weight(&s) > 0.9, "{s:?}");
    }
    for s in score(&anchored(0.05, 1.0)) {
        assert!(weight(&s) < 0.1, "{s:?}");
    }
    // No drive's own error changes its weight.
    let mut all = anchored(0.3, 0.3);
    let before = weight(&score(&all)[2]);
    all[2].measurement.value *= 2.0;
    assert!((weight(&score(&all)[2]) - before).abs() < 1e-9);
}

#[test]
fn the_table_has_what_the_predictions_are_made_of() {
    let mut all = score(&anchored(0.5, 0.3));
    all.extend(score(&synthetic(1.0)));
    let again = parse(&table(&all)).unwrap();
    for (a, b) in rescored(&all).iter().zip(&rescored(&again)) {
        assert!(
            (a.predicted / b.predicted - 1.0).abs() < 1e-3,
            "{a:?} {b:?}"
        );
        assert!((a.high / b.high - 1.0).abs() < 2e-3, "{a:?} {b:?}");
    }
    // Intervals surround what a drive simulates, not what is predicted with a data sheet beside it.
    let found = intervals(&all).into_iter();
    let mut writes = found.filter(|i| i.kind == FigureKind::SequentialWrite);
    let writes = writes.next().unwrap();
    let is_inside = |s: &&Scored| (writes.low..=writes.high).contains(&(s.published / s.simulated));
    let here = all.iter().filter(|s| s.kind == writes.kind);
    assert_eq!(here.filter(is_inside).count(), 7);
}
