use super::*;

#[test]
fn a_task_shows_state_figures_and_shipment_of_each_drive() {
    let serial = |text| Serial::parse(text).unwrap();
    let (a, b) = (serial("A\"1"), serial("B2"));
    let identity = TaskIdentity {
        plan: PlanId::parse("p-0123456789ab").unwrap(),
        host: HostName::parse("h1").unwrap(),
        models: BTreeMap::from([(a.clone(), "Model X".to_owned())]),
    };
    let measuring = DriveView {
        state: TaskState::Measuring,
        attempt: 2,
        folder: Some("/work/00-quick".into()),
        suites_done: 1,
        suites: 2,
        shipped_at_s: Some(1_800_000_000),
        waiting_bytes: 512,
    };
    let run = RunFigures {
        cell: Some("a/reads".to_owned()),
        cells_done: 3,
        cells: 6,
        iops: Some(1500.5),
        bytes_per_s: None,
        errors: 7,
        temperature_c: Some(41.0),
    };
    let waiting = DriveView { suites: 2, ..DriveView::default() };
    let text =
        of_task(&identity, &[(&a, &measuring, &run), (&b, &waiting, &RunFigures::default())]);
    insta::assert_snapshot!("fleet_task_metrics", text);
    assert!(text.starts_with(HEAD));
}

#[test]
fn every_metric_of_a_task_is_documented() {
    let docs = include_str!("../../../../docs/metrics.md");
    for family in DRIVE_FAMILIES {
        let row = format!("| `{}` | gauge |  | {} |", family.name, family.help);
        assert!(docs.contains(&row), "docs/metrics.md lacks {row}");
    }
}
