//! Suites on a small copy of a drive (`shrink=N`): what they measure, what they leave out, and that
//! the steady state is that of the whole drive.

use std::collections::BTreeSet;

use crate::common;

use assay_analysis::score::score_of_cell;
use assay_ssd::Profile;
use assay_store::read::CellState;
use assay_suite::catalogue;
use assay_suite::expand::{Cell, RunPlan};

use common::{cells, plan, run_built_in};

/// Of the whole drive, in two hours.
const WHOLE: f64 = 21_900.0;
const WHOLE_SPARE: f64 = 92_300.0;
/// Why cells are skipped, as the reasons say it.
const REASONS: [&str; 4] = [
    "is not smaller, and has less of the idle time",
    "leaves a burst of",
    "a stream is as long as its chunks say",
    "of its runtime",
];
/// Cells of a suite that are skipped on a Plextor M8Pe(Y) with `shrink=64`, by reason.
const SKIPPED: &[(&str, [usize; 4])] = &[
    ("streamer-peak", [0, 0, 96, 0]),
    ("interference", [8, 0, 0, 0]),
    ("fill", [14, 16, 0, 0]),
    ("cache", [0, 6, 0, 0]),
];

fn refusal(suite: &str) -> Option<&'static str> {
    match suite {
        "thermal" => Some("measures heat"),
        "snia-hir" => Some("measures bursts of writes"),
        _ => None,
    }
}

/// Soaks are divided into hours.
fn ids(plan: &RunPlan) -> BTreeSet<String> {
    let id = |cell: &Cell| cell.plan.id.replace("-shrink64", "");
    let without_segment = |id: String| id.split("/segment=").next().unwrap().to_owned();
    plan.cells.iter().map(id).map(without_segment).collect()
}

#[test]
fn each_suite_states_what_it_leaves_out() {
    let mut found = Vec::new();
    for suite in catalogue::names() {
        let small = plan(suite, &["sim:plextor-m8pe-y,shrink=64"], &[], 1.0);
        if let Some(why) = refusal(suite) {
            let error = small.unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("--scale"), "{suite}: {error}");
            continue;
        }
        let small = small.unwrap();
        let whole = plan(suite, &["sim:plextor-m8pe-y"], &[], 1.0).unwrap();
        assert_eq!(ids(&small), ids(&whole), "{suite}");
        let skipped = |plan: &RunPlan| -> Vec<String> {
            plan.cells.iter().filter_map(|cell| cell.plan.skipped.clone()).collect()
        };
        let (small, whole) = (skipped(&small), skipped(&whole));
        let by_reason =
            REASONS.map(|reason| small.iter().filter(|why| why.contains(reason)).count());
        assert_eq!(
            by_reason.iter().sum::<usize>(),
            small.len() - whole.len(),
            "{suite}: {small:?}"
        );
        if by_reason != [0; 4] {
            found.push((suite, by_reason));
        }
    }
    assert_eq!(found, SKIPPED);
}

/// Durations, sizes in bytes and bytes to write become an Nth; depths, threads and blocks do not.
#[test]
fn plans_of_every_drive_take_an_nth() {
    for name in Profile::names() {
        let spec = format!("sim:{name}");
        let profile = Profile::builtin(name).unwrap();
        let Ok(_) = profile.shrunk(16) else { continue };
        let small = plan("enterprise", &[&format!("{spec},shrink=16")], &[], 1.0).unwrap();
        let whole = plan("enterprise", &[&spec], &[], 1.0).unwrap();
        for (small, whole) in small.cells.iter().zip(&whole.cells) {
            for (small, whole) in small.workloads.iter().zip(&whole.workloads) {
                assert_eq!(small.numjobs, whole.numjobs, "{name}");
                let (Some(small), Some(whole)) = (small.planned_span(), whole.planned_span())
                else {
                    continue;
                };
                assert_eq!(small.0, whole.0 / 16, "{name}");
            }
        }
    }
}

#[test]
fn drives_of_different_sizes_are_not_measured_together() {
    let together = ["sim:plextor-m8pe-y,shrink=64", "sim:plextor-m8pe-y"];
    let error = plan("consistency", &together, &[], 1.0).unwrap_err();
    assert!(error.to_string().contains("all of the same shrink="), "{error}");
}

#[test]
fn the_consistency_score_is_that_of_the_whole_drive() {
    let (run, _folder) = run_built_in("consistency", &[], "sim:plextor-m8pe-y,shrink=64");
    for (step, whole) in [("random-write", WHOLE), ("random-write-spare", WHOLE_SPARE)] {
        let cell = cells(&run, step)[0];
        assert_eq!(cell.state, CellState::Finished, "{step}");
        let mean = score_of_cell(&cell.drives[0]).unwrap().score.mean;
        assert!((mean / whole - 1.0).abs() < 0.03, "{step}: {mean}");
        assert_eq!(assay_analysis::steady_state::not_steady_reason(&run, cell, 0), None);
    }
    let drive = &run.manifest.drives[0];
    assert_eq!(drive.details["shrink"], "64");
    assert!(drive.model.contains("1/64"), "{}", drive.model);
    let warned = run.warnings.iter().any(|warning| warning.code == "shrunk");
    assert!(warned, "{:?}", run.warnings);
}

/// In a tenth of the time.
#[test]
fn the_consistency_score_needs_no_hour_from_steady_state_on() {
    let drive = "sim:plextor-m8pe-y,shrink=32,state=fresh";
    let (run, _folder) = run_built_in("consistency-steady", &[], drive);
    let cell = cells(&run, "random-write")[0];
    assert_eq!(cell.state, CellState::Finished);
    let scored = score_of_cell(&cell.drives[0]).unwrap();
    assert!((scored.score.mean / WHOLE - 1.0).abs() < 0.03, "{scored:?}");
    assert_eq!(assay_analysis::steady_state::not_steady_reason(&run, cell, 0), None);
    let hour = plan("consistency", &[drive], &[], 1.0).unwrap();
    let hour = hour.cells.iter().find(|c| c.plan.step == "random-write");
    let span_ns = |plan: &assay_store::model::CellPlan| plan.workload.runtime_ns;
    assert_eq!(span_ns(&hour.unwrap().plan), 10 * span_ns(&cell.plan));
}
