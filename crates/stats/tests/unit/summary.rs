use super::*;

#[test]
fn every_listed_percentile_has_its_field() {
    let mut histogram = Histogram::new();
    for ns in 1..=1_000_000 {
        histogram.record(Nanos(ns));
    }
    let summary = LatencySummary::new(&histogram);
    for (key, per_million) in PERCENTILES {
        let value = summary.percentile(key).unwrap();
        let truth = f64::from(per_million);
        assert!((value.0 as f64 - truth).abs() <= truth / 1000.0, "{key}: {value:?}");
        let json = serde_json_key(key);
        assert!(json, "{key} is not a field");
    }
    assert_eq!(summary.percentile("p12"), None);
}

/// The JSON contract names its percentiles as this table does.
fn serde_json_key(key: &str) -> bool {
    let fields = format!("{:?}", LatencySummary::default());
    fields.contains(&format!("{key}:"))
}

#[test]
fn rates_are_over_the_measured_span() {
    let mut counts = OpInterval { ios: 100, bytes: 100 << 20, ..OpInterval::default() };
    counts.latency.record(Nanos(5));
    let summary = OpSummary::new(&counts, Nanos::from_secs(2));
    assert_eq!((summary.iops, summary.mib_per_s), (50.0, 50.0));
    assert_eq!(summary.service_ns, None);
}
