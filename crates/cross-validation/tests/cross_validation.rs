//! The cross-validation of this repository: complete, consistent, and no worse than what has been
//! reached.

use assay_calibrate::predictive::{self, FigureKind};
use assay_calibrate::public_reads;
use assay_calibrate::published::published;
use assay_calibrate::read_curve::kind::Kind;
use assay_cross_validation::public::{held, of_kind, predictions};
use assay_cross_validation::score::{FoldScore, embedded, intervals, summary};
use assay_cross_validation::{page, public_page, twins};

/// Fold and kind, with the highest median and 90th percentile of the errors, least coverage in per
/// cent, and highest Winkler score.
type Reached = (&'static str, FigureKind, [f64; 2], f64, f64);
const REACHED: [Reached; 8] = [
    ("threads=64", FigureKind::RandomRead, [11.5, 26.0], 88.0, 0.76),
    ("threads=16", FigureKind::RandomRead, [8.0, 15.5], 88.0, 0.60),
    ("long blocks", FigureKind::RandomRead, [16.0, 31.0], 88.0, 0.85),
    ("two cells", FigureKind::RandomRead, [7.5, 39.0], 85.0, 1.60),
    ("quick", FigureKind::RandomRead, [5.5, 20.5], 88.0, 0.60),
    ("drive", FigureKind::RandomRead, [20.0, 40.0], 88.0, 1.40),
    ("drive", FigureKind::SequentialRead, [85.0, 290.0], 88.0, 3.50),
    ("sequential", FigureKind::SequentialRead, [70.0, 275.0], 88.0, 3.70),
];

#[test]
fn no_fold_is_worse_than_reached() {
    let all = summary(&embedded().unwrap());
    assert_eq!(all.len(), REACHED.len());
    for (fold, kind, [median, p90], coverage, winkler) in REACHED {
        let is = |s: &&FoldScore| s.fold == fold && s.kind == kind;
        let score = all.iter().find(is).unwrap_or_else(|| panic!("no {kind:?} in {fold}"));
        assert!(score.errors[0] <= median && score.errors[1] <= p90, "{score:?}");
        assert!(score.coverage >= coverage && score.winkler <= winkler, "{score:?}");
    }
}

#[test]
fn every_published_read_is_predicted_and_equals_the_published_tables() {
    let all = embedded().unwrap();
    let mut predicted = 0;
    for name in assay_ssd::Profile::names() {
        let mine = || all.iter().filter(|s| s.drive == name);
        if mine().count() == 0 {
            continue;
        }
        for m in published(name).unwrap() {
            let kind = FigureKind::from_measurement(&m);
            let is_read = kind == FigureKind::RandomRead && !m.key().starts_with("zeroed");
            if !is_read && kind != FigureKind::SequentialRead {
                continue;
            }
            let here: Vec<_> = mine().filter(|s| s.key == m.key()).collect();
            assert!(here.iter().any(|s| s.fold == "drive"), "{name}: {}", m.key());
            let is_same = here.iter().all(|s| (s.published - m.value).abs() < 1e-9);
            assert!(is_same, "{name}: {}", m.key());
            predicted += 1;
        }
        assert!(mine().all(|s| s.half_width.is_some_and(|half| half > 0.0)));
    }
    assert!(predicted > 120, "{predicted}");
}

#[test]
fn predictive_intervals_are_those_of_the_cross_validation() {
    let computed = predictive::table(&intervals(&embedded().unwrap()));
    assert_eq!(computed, predictive::table(&predictive::embedded().unwrap()));
}

fn assert_page_contains(section: &str) {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fidelity.md");
    let page = std::fs::read_to_string(page).expect("the page is in the repository");
    assert!(page.contains(section), "docs/fidelity.md lacks this section:\n{section}");
}

#[test]
fn the_page_shows_the_cross_validation() {
    assert_page_contains(&page::markdown(&embedded().unwrap()));
}

#[test]
fn public_drives_are_predicted_as_the_table_and_the_page_say() {
    let all = public_reads::embedded().unwrap();
    assert_eq!(public_reads::table(&all), public_reads::table(&predictions().unwrap()));
    assert_page_contains(&public_page::markdown(&all));
    let score = |kind| held(&of_kind(&all, Some(kind)), |r| r.predicted).unwrap();
    let cached = score(Kind::Cached);
    assert!(cached.errors[0] <= 22.0 && cached.errors[1] <= 40.0);
    assert!(cached.inside >= 8 && cached.of == 9, "{cached:?}");
    for few in [Kind::Sata, Kind::XPoint].map(score) {
        assert!(few.inside == few.of && few.errors[2] <= 25.0, "{few:?}");
    }
}

#[test]
fn twins_meet_their_goal() {
    let cells = assay_calibrate::twin_cells::embedded().unwrap();
    assert!(cells.len() >= 35 * twins::TRUTHS.len(), "{}", cells.len());
    let share = twins::share_within(&cells);
    assert!(share >= twins::SHARE_GOAL, "{share}");
}

#[test]
fn the_page_shows_the_twins() {
    assert_page_contains(&twins::markdown(&assay_calibrate::twin_cells::embedded().unwrap()));
}
