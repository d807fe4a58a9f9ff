//! What the fixture's drives would have answered.

use assay_stats::{Interval, Recorder};
use assay_units::{Nanos, Op, Rng};

use super::{SHAPES, Size};
use crate::model::{CellPlan, TelemetryRecord};

/// Warms up towards 75 degrees; the second drive throttles above 70.
pub(super) fn telemetry(cell: &str, drive: usize, second: u64) -> TelemetryRecord {
    let idle = SHAPES[drive].idle_temperature_c;
    let temperature = 75.0 - (75.0 - idle) * (-(second as f64) / 20.0).exp();
    let rounded = (temperature * 10.0).round() / 10.0;
    TelemetryRecord {
        cell: cell.to_owned(),
        drive,
        at: Nanos::from_secs(second),
        temperature_c: Some(rounded),
        sensors_c: vec![rounded + 3.0],
        throttled: Some(drive == 1 && temperature > 70.0),
        warning_time_s: Some(if temperature > 70.0 { second / 5 } else { 0 }),
        power_mw: Some(4_500 + 100 * drive as u64),
        ..TelemetryRecord::default()
    }
}

/// Makes up the completions of one drive in one cell.
pub(super) struct Made<'a> {
    cell: &'a CellPlan,
    recorder: Recorder,
    rng: Rng,
    ios_per_interval: u64,
    latency_floor_ns: f64,
    latency_spread_ns: f64,
    written_permille: u64,
}

impl<'a> Made<'a> {
    pub(super) fn new(cell: &'a CellPlan, drive: usize, number: u64, size: Size) -> Made<'a> {
        let shape = &SHAPES[drive];
        let load = &cell.workload;
        let mib_per_s = if load.rw == "write" {
            shape.write_mib_per_s
        } else {
            shape.read_mib_per_s
        };
        let in_flight = f64::from(load.numjobs * load.iodepth);
        let limit = (mib_per_s * (1 << 20) as f64 / load.bs_bytes as f64).min(shape.max_iops);
        let iops = limit * in_flight / (in_flight + 3.0);
        // Little's law gives the mean latency that these completions would have had.
        let mean_ns = in_flight / iops * 1e9;
        Made {
            cell,
            recorder: Recorder::new(Nanos::ZERO, Nanos::SECOND, Nanos(load.ramp_ns), false),
            rng: Rng::stream(7, &format!("fixture {number} {drive}")),
            ios_per_interval: (iops as u64).min(size.max_ios_per_interval),
            latency_floor_ns: mean_ns * 0.7,
            latency_spread_ns: mean_ns * 0.3,
            written_permille: match load.rw.as_str() {
                "write" => 1000,
                "randrw" => 300,
                _ => 0,
            },
        }
    }

    pub(super) fn interval(&mut self) -> Interval {
        let wobble = self.ios_per_interval / 20;
        for _ in 0..self.ios_per_interval - self.rng.below(wobble + 1) {
            let op = if self.rng.below(1000) < self.written_permille {
                Op::Write
            } else {
                Op::Read
            };
            // One in a thousand meets garbage collection.
            let slow = if self.rng.below(1000) == 0 { 12.0 } else { 1.0 };
            let latency =
                self.latency_floor_ns + self.rng.exponential(self.latency_spread_ns * slow);
            let latency = Nanos(latency as u64);
            let bytes = self.cell.workload.bs_bytes as u32;
            self.recorder.record(op, bytes, latency, latency);
        }
        if self.cell.step == "zero-area" && self.rng.below(4) == 0 {
            self.recorder.record_error(Op::Read, -61);
        }
        self.recorder.roll(self.recorder.boundary())
    }
}
