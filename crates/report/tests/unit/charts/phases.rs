use super::*;

#[test]
fn a_cause_of_several_drives_is_listed_once() {
    let phase = |from_s| RatePhase {
        from_s,
        to_s: from_s + 10.0,
        cause: Cause::ThermalThrottling {
            onset_c: Some(84.0),
            onset_s: from_s,
            duty_pct: 50.0,
            period_s: None,
        },
        mean_mib_per_s: 1.0,
        mean_iops: 256.0,
        evidence: "84 C".to_owned(),
    };
    let (several, one) = ([phase(0.0), phase(30.0)], [phase(5.0)]);
    let row = |name: &str, phases| PhaseRow { name: name.to_owned(), drive: 0, phases };
    let rows = [row("one", &several[..]), row("two", &one)];
    let traces = strip(&rows, "y2");
    assert_eq!(traces.len(), 1);
    assert_eq!(traces[0]["base"], json!([0.0, 30.0, 5.0]));
    assert_eq!(traces[0]["y"], json!(["one", "one", "two"]));
    let mut layout = json!({"yaxis": {}, "yaxis2": {"domain": [0.0, 0.4]}});
    let mut data = Vec::new();
    put(&mut layout, &mut data, &rows[..1], 400);
    assert_eq!((data.len(), layout["shapes"].as_array().map(Vec::len)), (1, Some(2)));
    let top = layout["yaxis"]["domain"][1].as_f64();
    assert!(top < layout["yaxis9"]["domain"][0].as_f64(), "{layout}");
}
