//! Figures and pages of cohorts.

use crate::common;
use crate::synthetic;

use assay_analysis::cohort::observe::Origin;
use assay_analysis::cohort::{Cohort, CohortSettings, Soaks, conclude};
use assay_report::cohort;
use assay_report::terminal::Style;

#[test]
fn headline_metrics_come_before_the_figures_of_cells() {
    let run = common::seven();
    let found = cohort::observations(&run, &Origin::default());
    let names: Vec<&str> = found.iter().map(|o| o.figure.as_str()).collect();
    assert_eq!(names[0], "bandwidth.random-read-4k");
    let of_cells =
        |name: &&&str| name.starts_with("bandwidth/random-read/") && name.ends_with(".iops");
    assert!(names.iter().filter(of_cells).count() > 7, "{names:?}");
    let sections = cohort::headlines(&run, &Origin::default());
    assert!(sections.iter().all(|o| o.value.is_finite() && !o.unit.is_empty()));
    assert!(found.len() > sections.len());
}

fn concluded(n: usize, cells: usize) -> Cohort {
    let settings = CohortSettings {
        primary: vec!["quick.random-read".to_owned()],
        ..CohortSettings::default()
    };
    let all = synthetic::observations(n, cells);
    let found = conclude(&all, &synthetic::soaks(n), &settings);
    found.with_audits(&synthetic::runs(n))
}

#[test]
fn the_terminal_shows_drives_hosts_groups_and_what_chance_explains() {
    let text = cohort::text(&concluded(40, 8), &synthetic::runs(40), 80, Style::Plain);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_page_holds_every_conclusion_and_loads_nothing() {
    for n in [8, 40, 2000, 2400] {
        let page = cohort::html(&concluded(n, 8), &synthetic::runs(n)).expect("a page");
        if let Ok(folder) = std::env::var("COHORT_PAGES") {
            std::fs::write(format!("{folder}/cohort-{n}.html"), &page).expect("written");
        }
        for id in
            ["conclusions", "outliers", "drift", "groups", "figures", "drives", "runs", "left-out"]
        {
            assert!(page.contains(&format!("id=\"{id}\"")), "{id} of {n}");
        }
        assert!(page.contains("S1XYNYAG000005"));
        // In groups of fewer than six, no drive is judged.
        assert_eq!(page.contains("<title>S1XYNYAG000006: "), n > 12, "{n}");
        assert_eq!(page.contains("class=\"band\""), n > 200, "{n}");
        assert!(!page.contains("id=\"library\""), "no chart needs plotly");
        assert!(page.contains("time to read the clock") == (n > 12), "{n}");
        assert!(page.len() < 4_000_000, "{} bytes", page.len());
    }
}

#[test]
fn names_from_drives_are_escaped() {
    let mut all = synthetic::observations(8, 1);
    all.iter_mut().for_each(|o| o.host = "<script>alert(1)</script>\u{7}".to_owned());
    let found = conclude(&all, &Soaks::default(), &CohortSettings::default());
    let page = cohort::html(&found, &[]).expect("a page");
    assert!(!page.contains("<script>alert(1)") && !page.contains('\u{7}'));
    assert!(!cohort::text(&found, &[], 80, Style::Plain).contains('\u{7}'));
    let none = conclude(&[], &Soaks::default(), &CohortSettings::default());
    assert!(cohort::html(&none, &[]).is_ok());
    assert!(cohort::text(&none, &[], 80, Style::Plain).contains("0 drives"));
}
