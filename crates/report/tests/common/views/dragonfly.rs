//! Fixtures: steps of the DragonFly tests with views of their own.

use assay_store::model::warning::code;
use assay_store::model::*;
use assay_store::read::Run;
use assay_units::KIB;

use super::super::{STEADY, Shape, finished, plan, workload};
use super::{label, suite_run};

/// I/Os in flight of [`queues`].
pub const IN_FLIGHT: u32 = 64;

/// MiB/s of [`queues`] by the number of threads: one thread is limited by its processor, many lose
/// a little between queues.
pub const BY_THREADS: [(u32, f64); 5] =
    [(1, 900.0), (4, 1500.0), (8, 1600.0), (16, 1600.0), (64, 1520.0)];

/// The same number in flight by one thread to many, on a drive with eight I/O queues. One thread is
/// CPU-limited.
pub fn queues() -> Run {
    let cell = |(threads, mib_per_s): (u32, f64)| {
        let mut w = workload("randread", 4 * KIB, threads);
        w.iodepth = IN_FLIGHT / threads;
        let id = format!("{}/queues/numjobs={threads}", label(0));
        let mut plan = plan(&id, "queues", "Depth per queue", CellKind::Measure, &[0], w);
        plan.view = Some(CellView::Queues);
        let shape = Shape { mib_per_s, ..STEADY };
        let mut cell = finished(plan, &[shape], 3);
        let result = cell.drives[0].result.as_mut().unwrap();
        result.busiest_thread_pct = Some(if threads == 1 { 99.0 } else { 40.0 });
        cell
    };
    let cells: Vec<_> = BY_THREADS.map(cell).into();
    let limited = cells[0].plan.id.clone();
    let mut run = suite_run("bandwidth", "Bandwidth", "Depth per queue.", 1, cells);
    let details = &mut run.manifest.drives[0].details;
    details.insert("queue pairs".to_owned(), "8".to_owned());
    run.warnings.push(host_limited(&limited, 0));
    run
}

/// The warning that the host set a drive's rate in a cell.
pub fn host_limited(cell: &str, drive: usize) -> Warning {
    Warning {
        code: code::HOST_LIMITED.to_owned(),
        cell: Some(cell.to_owned()),
        drive: Some(drive),
        message: "a worker thread used 99 % of a processor".to_owned(),
        advice: "use more threads".to_owned(),
    }
}

/// Three drives read at once for 150 seconds: the first warms from 40 degrees by 0.2 K per second
/// up to 70; the second, at 80 throughout, counts the seconds above its warning temperature and
/// sets the critical warning after a minute; the third reports no temperature.
pub fn aboard() -> Run {
    let drives = [0, 1, 2];
    let mut plan = plan(
        "together/aboard",
        "aboard",
        "All drives at once, temperatures",
        CellKind::Concurrent,
        &drives,
        workload("randread", 32 * KIB, 64),
    );
    plan.view = Some(CellView::Thermal);
    plan.workload.ramp_ns = 0;
    let shape = |mib_per_s, temperature| Shape { mib_per_s, seconds: 150, temperature, ..STEADY };
    let warming: fn(u64, u64) -> f64 = |s, _| (40.0 + 0.2 * s as f64).min(70.0);
    let hot: fn(u64, u64) -> f64 = |_, _| 80.0;
    let shapes = [shape(1600.0, Some(warming)), shape(650.0, Some(hot)), shape(900.0, None)];
    let mut cell = finished(plan, &shapes, 11);
    for (second, reading) in cell.drives[1].telemetry.iter_mut().enumerate() {
        reading.warning_time_s = Some(1000 + second as u64);
        reading.sensors_c = vec![105.0, 90.0];
        if second >= 60 {
            reading.critical_warnings = vec!["temperature".to_owned()];
        }
    }
    suite_run("bandwidth", "Bandwidth", "Temperatures.", 3, vec![cell])
}
