//! Terminal tables: snapshots, width, colour, comparisons.

use crate::common;

use assay_report::terminal::{Style, render};
use assay_stats::compare::ComparisonSettings;
use assay_store::Run;
use assay_store::model::{CellView, Round, RunEnd, SteadyRecord};
use assay_store::read::CellState;

/// Runs compared by drive.
fn compare(runs: &[Run], width: usize, style: Style, details: bool) -> String {
    let compared = assay_analysis::compare::compare_runs(runs, ComparisonSettings::default());
    assay_report::terminal::compare(runs, &compared, width, style, details)
}

#[test]
fn a_suite_in_80_columns() {
    insta::assert_snapshot!(render(&common::bandwidth(), 80, Style::Plain));
}

#[test]
fn a_job_in_80_columns() {
    insta::assert_snapshot!(render(&common::job(), 80, Style::Plain));
}

#[test]
fn an_interrupted_job_with_errors_and_an_open_loop() {
    let mut run = common::job();
    run.outcome = Some(RunEnd::Interrupted);
    run.cells[0].state = CellState::Unfinished;
    let result = run.cells[0].drives[0].result.as_mut().unwrap();
    result.read.errors = 2;
    result.read.service_ns = Some(result.read.latency_ns);
    result.verify = Some(assay_store::model::VerifySummary {
        blocks_checked: 100_000,
        found: [("torn".to_owned(), 1)].into(),
        examples: vec!["block at 81920: first half of generation 3, second of 2".to_owned()],
        ..assay_store::model::VerifySummary::default()
    });
    insta::assert_snapshot!(render(&run, 80, Style::Plain));
}

#[test]
fn bursts_by_state_of_fill_and_the_read_after_idle_time() {
    insta::assert_snapshot!(render(&common::views::fill(1), 100, Style::Plain));
}

#[test]
fn two_runs_compared() {
    let mut after = common::job();
    after.manifest.run_id = "after".to_owned();
    let result = after.cells[0].drives[0].result.as_mut().unwrap();
    result.read.mib_per_s *= 1.25;
    result.read.iops *= 1.25;
    insta::assert_snapshot!(compare(&[common::job(), after], 80, Style::Plain, false));
}

#[test]
fn no_line_is_wider_than_requested() {
    let runs = [common::bandwidth(), common::job()];
    for width in [60, 80, 100, 160] {
        let mut texts: Vec<String> = runs.iter().map(|r| render(r, width, Style::Plain)).collect();
        texts.push(compare(&runs, width, Style::Plain, false));
        texts.push(compare(&runs, width, Style::Plain, true));
        for line in texts.iter().flat_map(|t| t.lines()) {
            assert!(line.chars().count() <= width, "{width}: {line:?}");
        }
    }
}

#[test]
fn colour_is_optional_and_changes_no_text() {
    for run in [common::bandwidth(), common::job()] {
        let plain = render(&run, 80, Style::Plain);
        let coloured = render(&run, 80, Style::Colour);
        assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some(at) = rest.find('\u{1b}') {
            stripped.push_str(&rest[..at]);
            rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
        }
        stripped.push_str(rest);
        let trimmed = |s: &str| s.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&stripped), trimmed(&plain));
    }
}

#[test]
fn a_drive_cannot_write_escape_codes() {
    let mut run = common::bandwidth();
    for drive in &mut run.manifest.drives {
        drive.label.push_str("\u{1b}[2J\r\u{7}");
        drive.model.push_str("\u{1b}]0;title\u{7}");
    }
    let text = render(&run, 80, Style::Plain);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn simulated_drives_are_marked() {
    let text = render(&common::bandwidth(), 80, Style::Plain);
    for label in ["samsung-951", "intel-600p"] {
        for line in text.lines().filter(|l| l.contains(label) && !l.contains('/')) {
            assert!(line.contains(&format!("{label} (simulated)")), "{line}");
        }
    }
}

/// Two runs of each of two drives, with one significant difference and one that is not; and one run
/// of each.
#[test]
fn drives_are_compared_with_answers() {
    let run = |label: &str, mib_per_s: f64, seed: u64| {
        let mut run = common::job();
        run.manifest.drives = vec![common::drive(label, label, label, 1 << 38)];
        run.manifest.seed = seed;
        run.manifest.run_id = format!("{label}-{seed}");
        let plan = |step: &str, bs: u64| {
            let mut plan = run.cells[0].plan.clone();
            plan.id = format!("{step}/{bs}");
            plan.step = step.to_owned();
            plan.title = "Random read".to_owned();
            plan.workload.bs_bytes = bs;
            plan
        };
        let shape = |mib_per_s| common::Shape { mib_per_s, seconds: 60, ..common::STEADY };
        run.cells = vec![
            common::finished(plan("random-read", 4096), &[shape(mib_per_s)], seed),
            common::finished(plan("random-read", 65536), &[shape(2000.0)], seed),
        ];
        run
    };
    let runs = [
        run("samsung-951", 1000.0, 1),
        run("intel-600p", 700.0, 2),
        run("samsung-951", 1010.0, 3),
        run("intel-600p", 702.0, 4),
    ];
    insta::assert_snapshot!("two_drives_once", compare(&runs[..2], 80, Style::Plain, true));
    insta::assert_snapshot!("two_drives_twice", compare(&runs, 80, Style::Plain, true));
}

/// Rounds are compared by the means of the measurement window, and unsteady ones are marked.
#[test]
fn rounds_are_compared_by_the_measurement_window() {
    let run = |label: &str, mib_per_s: f64, seed: u64| {
        let mut run = common::job();
        run.manifest.drives = vec![common::drive(label, label, label, 1 << 38)];
        run.manifest.run_id = format!("{label}-{seed}");
        let like = run.cells[0].plan.clone();
        run.cells.clear();
        for number in 1..=7 {
            let mut plan = like.clone();
            plan.id = format!("{label}/rounds/round={number}");
            plan.step = "rounds".to_owned();
            plan.title = "Rounds".to_owned();
            plan.view = Some(CellView::Rounds);
            plan.round = Some(Round { number, most: 25, window: 5, tracked: true });
            // Fast and fresh, then from 50 below to 50 above.
            let level = match number {
                1 | 2 => 5.0 * mib_per_s,
                n => mib_per_s + 25.0 * (f64::from(n) - 5.0),
            };
            let shape = common::Shape { mib_per_s: level, seconds: 20, ..common::STEADY };
            run.cells.push(common::finished(plan, &[shape], seed));
        }
        run.steady = vec![SteadyRecord {
            group: format!("{label}/rounds"),
            drive: 0,
            step: "rounds".to_owned(),
            figure: "MiB/s".to_owned(),
            window: (3, 7),
            achieved: label == "samsung-951",
            ..SteadyRecord::default()
        }];
        run
    };
    let text = compare(
        &[run("samsung-951", 1000.0, 1), run("intel-600p", 500.0, 2)],
        100,
        Style::Plain,
        true,
    );
    let line = text.lines().find(|l| l.contains("Rounds") && l.contains("-50")).unwrap_or(&text);
    let figures: Vec<f64> =
        line.split_whitespace().filter_map(|word| word.replace(',', "").parse().ok()).collect();
    assert!(
        (figures[0] / 1000.0 - 1.0).abs() < 0.02 && (figures[1] / 500.0 - 1.0).abs() < 0.02,
        "{text}"
    );
    assert!(line.contains("not steady"), "{text}");
    assert!(text.contains("means of the measurement window"), "{text}");
}

/// Two runs of different suites: the summary is a few lines, with the reason why there is no
/// answer.
#[test]
fn runs_of_different_suites_are_compared_in_a_few_lines() {
    let mut other = common::job();
    for cell in &mut other.cells {
        cell.plan.step = "another".to_owned();
    }
    other.manifest.drives[0].serial = "another drive".to_owned();
    other.manifest.drives[0].spec = "/dev/another".to_owned();
    let runs = [common::bandwidth(), other];
    let text = compare(&runs, 80, Style::Plain, false);
    assert!(text.contains("no workload was measured on both"), "{text}");
    assert!(text.lines().count() < 40, "{text}");
    // What only one side has is not listed side by side.
    assert!(!text.contains("MiB/s"), "{text}");
}

/// Cells too short for an interval: the number of workloads, the reason, and what to do.
#[test]
fn what_cannot_be_told_has_its_reason_and_a_remedy() {
    let mut before = common::job();
    before.cells[0].plan.workload.runtime_ns = 3_000_000_000;
    let series = &mut before.cells[0].drives[0].series;
    series.retain(|point| point.start < assay_units::Nanos::from_secs(4));
    let mut after = before.clone();
    after.manifest.run_id = "after".to_owned();
    let text = compare(&[before, after], 100, Style::Plain, false);
    assert!(text.contains("can't tell in 1 workload: a single run per side"), "{text}");
    assert!(text.contains("--scale 11"), "{text}");
}

/// Names in a run folder are foreign text.
#[test]
fn names_of_any_length_and_any_characters_are_shown_in_lines_that_fit() {
    let mut run = common::bandwidth();
    let evil = "\u{202e}\u{1b}[2J\u{2066}";
    for drive in &mut run.manifest.drives {
        drive.label = format!("{evil}{}{}", "x".repeat(70_000), drive.label);
        drive.model = format!("{evil}{}", "y".repeat(70_000));
    }
    for width in [40, 100] {
        let text = render(&run, width, Style::Plain);
        assert!(text.contains('\u{fffd}'));
        let unprintable = |c: char| assay_units::text::is_unprintable(c) && c != '\n';
        assert!(!text.contains(unprintable));
    }
    let page = assay_report::html::render(std::slice::from_ref(&run)).unwrap();
    assert!(!page.contains('\u{202e}') && !page.contains('\u{2066}'));
}
