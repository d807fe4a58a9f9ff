use super::*;

#[test]
fn a_cause_of_several_drives_is_listed_once() {
    let phase = |from_s| PhaseBand {
        from_s,
        to_s: from_s + 10.0,
        kind: CauseKind::Thermal,
        cause: "held back".to_owned(),
        mib_per_s: 1.0,
        iops: 256.0,
        cache_bytes: None,
        evidence: "84 C".to_owned(),
    };
    let row = |name: &str, phases| PhaseRow {
        name: name.to_owned(),
        colour: "@0".to_owned(),
        phases: Rc::new(phases),
    };
    let rows = [
        row("one", vec![phase(0.0), phase(30.0)]),
        row("two", vec![phase(5.0)]),
    ];
    let traces = strip(&rows, "y2");
    assert_eq!(traces.len(), 1);
    assert_eq!(traces[0]["base"], json!([0.0, 30.0, 5.0]));
    assert_eq!(traces[0]["y"], json!(["one", "one", "two"]));
    let mut layout = json!({"yaxis": {}, "yaxis2": {"domain": [0.0, 0.4]}});
    let mut data = Vec::new();
    put(&mut layout, &mut data, &rows[..1], 400);
    assert_eq!(
        (data.len(), layout["shapes"].as_array().map(Vec::len)),
        (1, Some(2))
    );
    let top = layout["yaxis"]["domain"][1].as_f64();
    assert!(top < layout["yaxis9"]["domain"][0].as_f64(), "{layout}");
}
