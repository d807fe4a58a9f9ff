use assay_store::model::{CellResult, OpRecord};

use super::*;

fn reading(at_ms: u64, power_mw: u64) -> TelemetryRecord {
    TelemetryRecord {
        at: Nanos::from_millis(at_ms),
        power_mw: Some(power_mw),
        ..TelemetryRecord::default()
    }
}

fn counts(op: Op, latencies_us: &[u64], bytes: u64) -> OpRecord {
    let mut counts = OpInterval {
        ios: latencies_us.len() as u64,
        bytes: bytes * latencies_us.len() as u64,
        ..OpInterval::default()
    };
    for &micros in latencies_us {
        counts.latency.record(Nanos::from_micros(micros));
    }
    OpRecord { op, counts }
}

fn phase(start_ms: u64, end_ms: u64, ops: Vec<OpRecord>) -> TracePhaseRecord {
    TracePhaseRecord { start: Nanos::from_millis(start_ms), end: Nanos::from_millis(end_ms), ops }
}

fn drive(phases: Vec<TracePhaseRecord>, telemetry: Vec<TelemetryRecord>) -> CellDrive {
    CellDrive {
        result: Some(CellResult {
            trace: Some(Box::new(TraceRecord { phases, ..TraceRecord::default() })),
            ..CellResult::default()
        }),
        telemetry,
        ..CellDrive::default()
    }
}

/// Known counts: rates by the length of the phase, percentiles of the merged histograms, energy as
/// power times time.
#[test]
fn figures_of_known_phases() {
    let part = drive(
        vec![
            phase(0, 1500, vec![counts(Op::Read, &[100, 200, 300], 500_000)]),
            phase(
                1500,
                4000,
                vec![counts(Op::Read, &[400], 500_000), counts(Op::Write, &[50, 70], 1_000_000)],
            ),
        ],
        vec![reading(1000, 2000), reading(2000, 4000), reading(3000, 1000), reading(4000, 1000)],
    );
    let figures = figures(&part).unwrap();
    let [first, second] = figures.phases.as_slice() else { panic!("two phases") };
    assert_eq!((first.ios, first.mb_per_s), (3, 1.0));
    assert_eq!(first.read.latency_ns.mean, 200_000.0);
    // 2 W for 1 s and 4 W for half a second; then 4 W for the other half and 1 W for 2 s.
    assert_eq!((first.energy_j, second.energy_j), (Some(4.0), Some(4.0)));
    assert_eq!(second.mb_per_s, 2.5 / 2.5);
    assert_eq!(second.write.latency_ns.mean, 60_000.0);
    let total = &figures.total;
    assert_eq!((total.ios, total.read.ios, total.write.ios), (6, 4, 2));
    assert_eq!((total.elapsed_ns, total.mb_per_s), (Nanos::from_millis(4000), 1.0));
    assert_eq!(total.read.latency_ns.mean, 250_000.0);
    assert_eq!(total.energy_j, Some(8.0));
}

/// Readings that end before the phase give no energy; a drive without a meter has none.
#[test]
fn energy_needs_readings_over_the_whole_phase() {
    let reads = || vec![counts(Op::Read, &[100], 4096)];
    for (readings, expected) in [
        (vec![reading(1000, 2000)], None),
        (vec![reading(1000, 0), reading(2000, 0)], None),
        (vec![], None),
        (vec![reading(1000, 2000), reading(1950, 2000)], Some(4.0)),
    ] {
        let part = drive(vec![phase(0, 2000, reads())], readings);
        let energy = figures(&part).unwrap().total.energy_j;
        match (energy, expected) {
            (Some(found), Some(wanted)) => assert!(f64::abs(found - wanted) < 1e-9, "{found}"),
            pair => assert_eq!(pair, (None, None)),
        }
    }
    assert_eq!(figures(&CellDrive::default()), None);
}
