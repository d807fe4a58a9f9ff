//! Fixture: bursts of drives by their state of fill, and the first read after idle time.

use assay_store::model::*;
use assay_store::read::Run;
use assay_units::{KIB, MIB};

use super::super::{STEADY, Shape, finished, plan, workload};
use super::{label, suite_run};

/// Steps, variants, and the rates of random reads, random writes, sequential reads and sequential
/// writes relative to the empty drive.
const STATES: [(&str, &str, [f64; 4]); 3] = [
    ("empty", "empty", [1.0; 4]),
    ("full", "full", [0.5, 0.2, 0.8, 0.25]),
    ("recovered", "full, after idle time", [0.5, 1.0, 0.8, 0.75]),
];

/// Idle times in milliseconds, and the median of the read after them, microseconds.
const WAKES: [(u64, f64); 4] = [(0, 80.0), (10, 80.0), (300, 1_580.0), (1_000, 6_080.0)];

/// The suite as shipped, without the steps that other fixtures have.
pub fn fill(drives: usize) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        let rates = [50.0, 200.0, 2_000.0, 1_500.0].map(|rate| rate / (d + 1) as f64);
        let workloads = [
            ("randread", 4 * KIB),
            ("randwrite", 4 * KIB),
            ("read", 128 * KIB),
            ("write", 128 * KIB),
        ];
        for (step, variant, shares) in STATES {
            for (at, (rw, bs)) in workloads.into_iter().enumerate() {
                let id = format!("{}/{step}/rw={rw}", label(d));
                let mut w = workload(rw, bs, 1);
                w.ramp_ns = 0;
                let mut plan = plan(&id, step, step, CellKind::Measure, &[d], w);
                plan.view = Some(CellView::Fill);
                plan.variant = Some(variant.to_owned());
                let shape = Shape { mib_per_s: rates[at] * shares[at], ..STEADY };
                cells.push(finished(plan, &[shape], 5));
            }
        }
        for (idle_ms, median_us) in WAKES {
            let mut w = workload("randread", 4 * KIB, 1);
            w.ramp_ns = 0;
            w.idle_before_io_ns = (idle_ms > 0).then_some(idle_ms * 1_000_000);
            let id = format!("{}/wake/thinktime={idle_ms}ms", label(d));
            let title = "First read after idle time";
            let mut plan = plan(&id, "wake", title, CellKind::Measure, &[d], w);
            plan.view = Some(CellView::Wake);
            // A closed loop of one read at a time: its latency is the inverse of its rate.
            let shape = Shape { mib_per_s: 4096.0 / MIB as f64 * 1e6 / median_us, ..STEADY };
            cells.push(finished(plan, &[shape], 7));
        }
    }
    let title = "Empty and full drive, wake-up, deallocation, time to steady state";
    suite_run("fill", title, "Bursts by state of fill.", drives, cells)
}
