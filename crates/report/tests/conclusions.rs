//! The tables of conclusions say what the page and the terminal say.

use crate::common;

use assay_analysis::conclusions;
use assay_analysis::conclusions::{Conclusion, Conclusions};
use assay_report::html;
use assay_store::read::Run;
use common::page::{Tables, tables};

fn both(run: &Run) -> (Conclusions, Tables) {
    let page = html::render(std::slice::from_ref(run)).unwrap();
    (conclusions::conclude_run(run), tables(&page))
}

/// The rows of the tables with this caption, one after the other.
fn rows<'t>(tables: &'t Tables, caption: &str) -> Vec<&'t Vec<String>> {
    let found: Vec<_> = tables.iter().filter(|t| t.0 == caption).collect();
    let all: Vec<&str> = tables.iter().map(|t| t.0.as_str()).collect();
    assert!(!found.is_empty(), "no table {caption:?} in {all:?}");
    found.iter().flat_map(|t| &t.1).map(|row| &row.1).collect()
}

/// Conclusions of a kind and name, in order.
fn named<'f>(found: &'f Conclusions, kind: &str, name: &str) -> Vec<&'f Conclusion> {
    let all = found.conclusions.iter();
    all.filter(|c| c.kind == kind && c.name == name).collect()
}

/// The figure that a text begins with; after it may come an interval or a mark.
fn number(text: &str) -> f64 {
    let end = text.find(|c: char| !(c.is_ascii_digit() || ",.-".contains(c)));
    let figure = text[..end.unwrap_or(text.len())].replace(',', "");
    figure.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// A shown figure has three significant digits at least, and an interval its half-width.
#[track_caller]
fn is_shown(conclusion: &Conclusion, text: &str, scale: f64) {
    let (shown, value) = (number(text), conclusion.value.unwrap() / scale);
    // Percentages have one decimal.
    let rounding = if conclusion.unit == "%" { 0.051 } else { 0.0006 };
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.006 * b.abs() + rounding;
    assert!(is_near(shown, value), "{conclusion:?} is shown as {text:?}");
    let half = text.split('\u{b1}').nth(1);
    if let Some(((low, high), half)) = conclusion.interval.zip(half) {
        let half = half.trim().trim_start_matches("< ");
        let width = (high - low) / 2.0 / scale;
        assert!(is_near(number(half), width) || width < 0.01, "{conclusion:?}, {text:?}");
    }
}

#[test]
fn scores_and_modes() {
    let run = common::views::consistency(2, 1800);
    let (found, tables) = both(&run);
    let rows = rows(&tables, "An hour of random writes: score");
    for (name, column) in [
        ("mean", 1),
        ("mean_over_stddev", 2),
        ("slowest", 3),
        ("fastest", 4),
        ("modes", 5),
        ("outliers_below", 6),
        ("outliers_above", 7),
    ] {
        let conclusions = named(&found, "score", name);
        assert_eq!(conclusions.len(), rows.len(), "{name}");
        for (conclusion, shown) in conclusions.into_iter().zip(&rows) {
            is_shown(conclusion, &shown[column], 1.0);
            assert_eq!(conclusion.interval.is_some(), shown[column].contains('\u{b1}'));
            assert_eq!(conclusion.span_s, Some((1600.0, 1800.0)));
            assert_eq!(conclusion.text.is_some(), name == "mean", "shortened");
        }
    }
    let scored = |cell: &str| cell.contains("hour");
    let counts: Vec<usize> = ["plextor-m8pe-y/hour", "plextor-m8pe-gn/hour"]
        .map(|cell| found.modes.iter().filter(|m| m.cell == cell).count())
        .to_vec();
    assert_eq!(counts, [1, 2]);
    let slow = found.modes.iter().find(|m| m.cell == "plextor-m8pe-gn/hour").unwrap();
    assert_eq!((slow.number, slow.mode.dwell, slow.span_s), (1, 22.0, (1600.0, 1800.0)));
    assert!(found.modes.iter().all(|m| scored(&m.cell)), "fills are no measurements");
}

#[test]
fn steady_state_of_rounds_and_of_scored_parts() {
    let (found, tables) = both(&common::views::snia(2));
    let shown = rows(&tables, "IOPS test: steady state");
    for (name, column) in [("mean", 4), ("range", 5), ("excursion", 6)] {
        let conclusions = named(&found, "steady_state", name);
        let iops = conclusions.iter().filter(|c| c.step.as_deref() == Some("iops"));
        let iops: Vec<_> = iops.collect();
        assert_eq!(iops.len(), shown.len(), "{name}");
        for (conclusion, row) in iops.into_iter().zip(&shown) {
            is_shown(conclusion, &row[column], 1.0);
            assert_eq!(conclusion.interval.is_some(), row[column].contains('\u{b1}'), "{row:?}");
        }
    }
    let achieved = named(&found, "steady_state", "achieved");
    for (conclusion, row) in achieved.iter().zip(&shown) {
        assert_eq!(conclusion.value, Some(f64::from(u8::from(row[1] == "achieved"))));
        assert_eq!(conclusion.text.is_some(), row[1] != "achieved");
    }
    // Of scored parts: the reason is that of the mark "not steady".
    let run = common::views::consistency(2, 1800);
    let (found, tables) = both(&run);
    let achieved = named(&found, "steady_state", "achieved");
    let shown = rows(&tables, "An hour of random writes: score");
    assert_eq!(achieved.len(), shown.len());
    for (conclusion, row) in achieved.iter().zip(shown) {
        assert_eq!(conclusion.value == Some(0.0), row[1].contains("not steady"), "{row:?}");
        assert_eq!(conclusion.text.is_some(), row[1].contains("not steady"));
    }
}

#[test]
fn knees_power_and_loads() {
    let (found, tables) = both(&common::views::enterprise(1, 20));
    let shown = rows(&tables, "Peak random read: at the knee");
    for (name, column) in [("depth", 1), ("rate", 2)] {
        let conclusions = named(&found, "knee", name);
        assert_eq!(conclusions.len(), shown.len());
        for (conclusion, row) in conclusions.into_iter().zip(&shown) {
            is_shown(conclusion, &row[column], 1.0);
        }
    }
    for (knee, row) in named(&found, "knee", "depth").into_iter().zip(&shown) {
        let at = |name| {
            let mut all = found.conclusions.iter();
            all.find(|c| c.kind == "power" && c.name == name && c.cell == knee.cell).unwrap()
        };
        is_shown(at("mean"), &row[6], 1.0);
        is_shown(at("efficiency"), &row[7], 1e3);
    }
    let mut run = common::views::load(1);
    // As a run records them.
    for cell in &mut run.cells {
        if let Some(load) = &cell.plan.load {
            let offered = 330_000.0 * load.percent / 100.0;
            let result = cell.drives[0].result.as_mut().unwrap();
            result.values.insert("offered_iops".to_owned(), offered);
        }
    }
    let (found, tables) = both(&run);
    let shown = rows(&tables, "Latency by offered load: latency by offered load");
    for (name, column) in [("mean", 3), ("service", 9), ("queueing", 10), ("lateness", 11)] {
        let conclusions = named(&found, "latency", name);
        assert_eq!(conclusions.len(), shown.len(), "{name}");
        for (conclusion, row) in conclusions.into_iter().zip(&shown) {
            is_shown(conclusion, &row[column], 1e3);
        }
    }
    let [load] = named(&found, "knee", "load")[..] else {
        panic!("one knee");
    };
    let [offered] = named(&found, "knee", "offered")[..] else {
        panic!("one knee");
    };
    let at = shown.iter().find(|row| number(&row[0]) == load.value.unwrap()).unwrap();
    is_shown(offered, &at[1], 1.0);
}

#[test]
fn throttling_and_phases() {
    let run = common::views::thermal(2, 900);
    let (found, tables) = both(&run);
    let shown = rows(&tables, "Soak: temperature and rate");
    // The second drive throttles.
    for (name, column) in [
        ("onset_temperature", 1),
        ("rate_before", 2),
        ("rate_throttled", 3),
        ("rate_slow", 4),
        ("slow_share", 8),
    ] {
        let [conclusion] = named(&found, "throttling", name)[..] else {
            panic!("one of {name}");
        };
        assert_eq!((conclusion.drive, conclusion.step.as_deref()), (1, Some("soak")));
        let plain = &shown[1][column];
        let tolerance = if name == "onset_temperature" { 0.5 } else { 0.006 * number(plain) };
        assert!(
            (number(plain) - conclusion.value.unwrap()).abs() <= tolerance,
            "{conclusion:?}: {plain}"
        );
    }
    assert_eq!(named(&found, "causes", "throttle_onset").len(), 1);
    for (step, title) in [("soak", "Soak"), ("recovery", "After the rest")] {
        let phases: Vec<_> = found.phases.iter().filter(|p| p.step == step).collect();
        let shown = rows(&tables, &format!("{title}: causes of the rate"));
        assert_eq!(phases.len(), shown.len());
        for (phase, row) in phases.into_iter().zip(shown) {
            for (value, column) in [
                (phase.span_s.0, 0),
                (phase.span_s.1, 1),
                (phase.mean_mib_per_s, 3),
                (phase.mean_iops, 4),
            ] {
                assert!((number(&row[column]) - value).abs() <= 0.006 * value.max(0.1), "{row:?}");
            }
            assert_eq!(row[5], phase.evidence);
        }
    }
}

#[test]
fn intervals_and_verdicts() {
    let run = common::bandwidth();
    let found = conclusions::conclude_run(&run);
    for (drive, verdict) in run.verdicts.iter().enumerate() {
        let own = found.conclusions.iter().filter(|c| c.kind == "verdict" && c.drive == drive);
        let own: Vec<(&str, &str)> = own.map(|c| (c.name, c.text.as_deref().unwrap())).collect();
        let verdict = verdict.as_ref().unwrap();
        assert_eq!(own.len(), 1 + verdict.reasons.len());
        assert_eq!(own[0].0, "result");
        for ((_, text), reason) in own[1..].iter().zip(&verdict.reasons) {
            assert_eq!(*text, reason.text);
        }
    }
    let mut with_interval = 0;
    for cell in &run.cells {
        for part in cell.drives.iter().filter(|part| part.result.is_some()) {
            let estimates = assay_analysis::estimate::estimate_cell(part);
            let own = found.intervals[&(cell.plan.id.clone(), part.drive)];
            assert_eq!((own.iops, own.mib_per_s), (estimates.iops.ok(), estimates.mib_per_s.ok()));
            with_interval += usize::from(own.iops.is_some());
        }
    }
    assert!(with_interval > 0);
}
