//! Scores and intervals of predictions whose errors are known.

use super::*;

fn prediction(drive: &str, published: f64, half_width: Option<f64>) -> Scored {
    Scored {
        fold: "drive".to_owned(),
        drive: drive.to_owned(),
        kind: FigureKind::RandomRead,
        key: "randread bs=4k threads=16 depth=1, mib_per_s".to_owned(),
        unit: "MiB/s".to_owned(),
        situation: Situation::FactsOnly,
        published,
        predicted: 100.0,
        half_width,
        simulated: Some(100.0),
        curve: half_width.map(|_| 100.0),
        data_sheet: None,
        nearest: Some(50.0),
    }
}

#[test]
fn a_missed_figure_costs_twenty_times_its_distance() {
    let inside = prediction("a", 100.0, Some(0.2));
    assert!((inside.winkler().unwrap() - 0.4).abs() < 1e-12 && inside.is_covered());
    let outside = prediction("a", 100.0 * 0.3_f64.exp(), Some(0.2));
    assert!((outside.winkler().unwrap() - 2.4).abs() < 1e-9 && !outside.is_covered());
}

#[test]
fn more_figures_of_a_drive_narrow_no_interval_and_more_drives_do() {
    let few = half_width_of_drives(&vec![vec![0.1]; 5]).unwrap();
    // Student's 95th percentile with 4 degrees of freedom, and the mean's own error.
    assert!((few - 2.132 * 0.1 * 1.2_f64.sqrt()).abs() < 1e-3, "{few}");
    let cells = half_width_of_drives(&vec![vec![0.1, -0.1, 0.1, -0.1]; 5]).unwrap();
    assert!((cells - few).abs() < 1e-12);
    assert!(half_width_of_drives(&vec![vec![0.1]; 20]).unwrap() < few);
    assert_eq!(half_width_of_drives(&[vec![0.1], vec![0.1]]), None);
}

#[test]
fn no_drive_changes_its_own_intervals() {
    let of = |own: f64, curve: Option<f64>| {
        let others = ["b", "c", "d"].map(|d| prediction(d, 110.0, curve));
        let all = [vec![prediction("a", own, curve)], others.into()].concat();
        let scored = with_intervals(&all);
        [0, 1].map(|place| scored[place].half_width.unwrap())
    };
    for curve in [None, Some(0.2)] {
        let ([own, other], [own_again, other_again]) = (of(100.0, curve), of(900.0, curve));
        assert_eq!(own, own_again);
        assert!(other_again > other, "{other} {other_again}");
    }
}

#[test]
fn intervals_are_centred_on_the_simulation_and_count_drives() {
    let all = ["a", "b", "c"].map(|d| prediction(d, 120.0, Some(0.2)));
    let found = intervals(&[all.clone(), all].concat());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].drives, found[0].situation), (3, Situation::FactsOnly));
    assert!((found[0].low * found[0].high - 1.0).abs() < 1e-9 && found[0].high > 1.2);
}

#[test]
fn the_table_reads_back() {
    let all = [prediction("a", 120.0, Some(0.25)), prediction("b", 81.5, None)];
    assert_eq!(parse(&table(&all)).unwrap(), all);
    let score = &summary(&all)[0];
    assert_eq!((score.count, score.drives), (2, 2));
    assert!((score.coverage - 50.0).abs() < 1e-9 && score.alone[3].is_some());
}
