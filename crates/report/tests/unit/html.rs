use super::*;

#[test]
fn values_are_not_searched_for_places() {
    let filled = fill(
        "<a>{{one}}</a>{{two}}{{none}}.",
        &[("one", "{{two}}"), ("two", "2")],
    );
    assert_eq!(filled, "<a>{{two}}</a>2.");
    assert_eq!(fill("{{open", &[]), "{{open");
}

#[test]
fn no_runs_no_page() {
    assert!(matches!(render(&[]), Err(ReportError::NoRuns)));
}
