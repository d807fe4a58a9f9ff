//! Figures and pages of cohorts.

mod common;

use assay_analysis::cohort::observe::Origin;
use assay_report::cohort;

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
    assert!(
        sections
            .iter()
            .all(|o| o.value.is_finite() && !o.unit.is_empty())
    );
    assert!(found.len() > sections.len());
}
