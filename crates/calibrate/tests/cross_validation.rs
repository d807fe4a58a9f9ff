//! The cross-validation of this repository: complete, consistent, and no worse than what has been reached.
//!
//! The goals are in the page's table; a fold that misses its goal is pinned at what is reached, so that it can only improve.

use assay_calibrate::prediction::score::{
    FoldScore, Scored, embedded, intervals, markdown, summary,
};
use assay_calibrate::prediction::twins;
use assay_calibrate::predictive::{self, FigureKind};
use assay_calibrate::published::published;

/// Fold, kind, highest median and 90th percentile of the errors, lowest coverage, and whether the model beats 0.8 times the data sheet
/// and the nearest figure.
type Reached = (&'static str, FigureKind, f64, f64, f64, [bool; 2]);
const REACHED: [Reached; 8] = {
    use FigureKind::{RandomRead, SequentialRead, SequentialWrite, Temperature};
    [
        // Of the M8Pe, 16 threads say nothing of the 16 reads that it works on at a time: its 64 threads are predicted half too fast.
        ("threads=64", RandomRead, 8.6, 44.3, 85.0, [true, false]),
        ("threads=16", RandomRead, 6.2, 19.5, 85.0, [true, true]),
        ("long blocks", RandomRead, 10.0, 43.2, 85.0, [true, true]),
        ("drive", RandomRead, 21.3, 46.5, 85.0, [true, true]),
        ("drive", SequentialRead, 93.8, 226.8, 85.0, [true, false]),
        (
            "sequential",
            SequentialRead,
            79.6,
            305.4,
            81.0,
            [true, true],
        ),
        ("temperature", Temperature, 1.1, 18.1, 62.0, [true, true]),
        ("writes", SequentialWrite, 29.4, 191.0, 66.0, [true, true]),
    ]
};

fn of(all: &[FoldScore], fold: &str, kind: FigureKind) -> FoldScore {
    let found = all.iter().find(|s| s.fold == fold && s.kind == kind);
    found
        .unwrap_or_else(|| panic!("no predictions of {kind:?} in {fold}"))
        .clone()
}

#[test]
fn no_fold_is_worse_than_reached() {
    let all = summary(&embedded().unwrap());
    assert_eq!(all.len(), REACHED.len());
    for (fold, kind, median, p90, coverage, beats) in REACHED {
        let score = of(&all, fold, kind);
        assert!(score.median <= median && score.p90 <= p90, "{score:?}");
        // A dozen figures cannot tell 95 from 100 %.
        let most = if score.count < 20 { 100.0 } else { 95.0 };
        assert!((coverage..=most).contains(&score.coverage), "{score:?}");
        for (baseline, beaten) in score.baselines.into_iter().zip(beats) {
            let Some((_, naive, own)) = baseline else {
                continue;
            };
            assert!(own <= naive || !beaten, "a baseline wins: {score:?}");
            // One that is beaten after all is to be pinned as such.
            assert!(own > naive || beaten, "pin it as beaten: {score:?}");
        }
    }
}

#[test]
fn every_published_read_is_predicted_and_equals_the_published_tables() {
    let all = embedded().unwrap();
    let mut predicted = 0;
    for name in assay_ssd::Profile::names() {
        let figures = published(name).unwrap();
        let mine: Vec<&Scored> = all.iter().filter(|s| s.drive == name).collect();
        if mine.is_empty() {
            continue;
        }
        for m in figures
            .iter()
            .filter(|m| m.key().starts_with("randread") || m.key().starts_with("read"))
        {
            let here = mine.iter().filter(|s| s.key == m.key());
            assert!(
                here.clone().any(|s| s.fold == "drive"),
                "{name}: {}",
                m.key()
            );
            assert!(
                here.clone().all(|s| (s.published - m.value).abs() < 1e-9),
                "{name}: {}",
                m.key()
            );
            assert!(
                here.count() >= 2 || m.key().contains("threads=16"),
                "{name}: {}",
                m.key()
            );
            predicted += 1;
        }
        assert!(
            mine.iter()
                .all(|s| s.low < s.predicted && s.predicted < s.high)
        );
    }
    assert!(predicted > 120, "{predicted}");
}

#[test]
fn predictive_intervals_are_those_of_the_cross_validation() {
    let computed = intervals(&embedded().unwrap());
    let stored = predictive::embedded().unwrap();
    assert_eq!(computed.len(), stored.len());
    for (a, b) in computed.iter().zip(&stored) {
        assert_eq!(
            (a.kind, a.situation, a.predictions),
            (b.kind, b.situation, b.predictions)
        );
        assert!(
            (a.low - b.low).abs() < 0.02 && (a.high - b.high).abs() < 0.02,
            "{a:?} {b:?}"
        );
    }
}

fn assert_page_contains(section: &str) {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fidelity.md");
    let page = std::fs::read_to_string(page).expect("the page is in the repository");
    assert!(
        page.contains(section),
        "docs/fidelity.md lacks this section:\n{section}"
    );
}

#[test]
fn the_page_shows_the_cross_validation() {
    assert_page_contains(&markdown(&embedded().unwrap()));
}

#[test]
fn the_page_shows_the_twins() {
    assert_page_contains(&twins::markdown(&twins::embedded().unwrap()));
}
