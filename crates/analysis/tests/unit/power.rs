use assay_store::model::TelemetryRecord;

use super::*;

fn part(readings_mw: &[u64]) -> CellDrive {
    let telemetry = readings_mw.iter().zip(1..).map(|(&mw, at)| TelemetryRecord {
        at: Nanos::from_secs(at),
        power_mw: Some(mw),
        ..TelemetryRecord::default()
    });
    CellDrive {
        drive: 0,
        result: None,
        series: Vec::new(),
        telemetry: telemetry.collect(),
        distributions: Vec::new(),
        gaps: Vec::new(),
    }
}

#[test]
fn mean_power_requires_power_readings() {
    assert_eq!(mean_watts(&part(&[])), None);
    assert_eq!(mean_watts(&part(&[0, 0])), None);
    assert_eq!(mean_watts(&part(&[2000, 4000])), Some(3.0));
    assert!(estimate(&part(&[2000, 4000])).is_err(), "too few");
    let many: Vec<u64> = (0..40).map(|n| 3000 + 100 * (n % 3)).collect();
    let estimate = estimate(&part(&many)).unwrap();
    assert!((estimate.mean - mean_watts(&part(&many)).unwrap()).abs() < 1e-9);
    assert!(estimate.low < estimate.mean && estimate.mean < estimate.high);
}
