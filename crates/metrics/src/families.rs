//! The metrics: one table of families, from which the text and docs/metrics.md follow.

use assay_execute::live::{CONDITIONS, DriveSnapshot, LiveSnapshot, OpFigures, Phase};

use crate::encode::{Encoder, FamilyKind};

/// What does not change during a run.
#[derive(Clone, Debug, Default)]
pub struct RunIdentity {
    /// Name of the run folder.
    pub run: String,
    /// Version of assay.
    pub version: String,
}

/// A metric family.
pub struct Family {
    /// Without the suffixes of its samples.
    pub name: &'static str,
    pub kind: FamilyKind,
    /// The end of its name that is a unit, or empty.
    pub unit: &'static str,
    /// Labels of its samples, separated by commas.
    pub labels: &'static str,
    pub help: &'static str,
    samples: fn(&mut Samples<'_>),
}

/// A family being written.
struct Samples<'a> {
    encoder: &'a mut Encoder,
    live: &'a LiveSnapshot,
    run: &'a RunIdentity,
}

impl Samples<'_> {
    fn one(&mut self, value: f64) {
        self.encoder.sample("", &[], value);
    }

    fn per_drive(&mut self, suffix: &str, value: impl Fn(&DriveSnapshot) -> Option<f64>) {
        for drive in &self.live.drives {
            if let Some(value) = value(drive) {
                self.encoder.sample(suffix, &[("drive", &drive.label)], value);
            }
        }
    }

    fn latencies(&mut self, op: fn(&DriveSnapshot) -> &OpFigures) {
        for drive in &self.live.drives {
            let figures = op(drive);
            if let Some(latency) = figures.latency.filter(|_| is_loaded(drive)) {
                for (quantile, latency) in
                    [("0.5", latency.p50), ("0.99", latency.p99), ("0.999", latency.p999)]
                {
                    let labels = [("drive", drive.label.as_str()), ("quantile", quantile)];
                    self.encoder.sample("", &labels, latency.as_secs_f64());
                }
            }
            let labels = [("drive", drive.label.as_str())];
            let (sum, count) = (figures.latency_sum_s, figures.latency_count as f64);
            self.encoder.sample("_sum", &labels, sum);
            self.encoder.sample("_count", &labels, count);
        }
    }

    /// One sample per drive and name, 1 where the drive is in that state.
    fn states(&mut self, names: &[&str], label: &str, now: fn(&DriveSnapshot) -> Option<&str>) {
        for drive in &self.live.drives {
            for name in names {
                let labels = [("drive", drive.label.as_str()), (label, name)];
                let is = now(drive) == Some(name);
                self.encoder.sample("", &labels, flag(is));
            }
        }
    }
}

/// The figures of the last interval are those of now.
fn is_loaded(drive: &DriveSnapshot) -> bool {
    matches!(drive.phase, Phase::Ramp | Phase::Measuring)
}

fn rate(drive: &DriveSnapshot, rate: f64) -> Option<f64> {
    Some(if is_loaded(drive) { rate } else { 0.0 })
}

fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

const COUNTER: FamilyKind = FamilyKind::Counter;
const GAUGE: FamilyKind = FamilyKind::Gauge;
const SUMMARY: FamilyKind = FamilyKind::Summary;

macro_rules! families {
    ($($name:literal $kind:ident $unit:literal $labels:literal $help:literal $samples:expr;)*) => {
        /// All metrics, in the order of the text.
        pub const FAMILIES: &[Family] = &[$(Family {
            name: $name,
            kind: $kind,
            unit: $unit,
            labels: $labels,
            help: $help,
            samples: $samples,
        }),*];
    };
}

families! {
    "assay_run_info" GAUGE "" "run, suite, version" "The run, always 1." |s| {
        let (run, suite) = (s.run.run.as_str(), &s.live.suite);
        let labels = [("run", run), ("suite", suite), ("version", &s.run.version)];
        s.encoder.sample("", &labels, 1.0);
    };
    "assay_run_elapsed_seconds" GAUGE "seconds" ""
        "Time since the start of the run, or since it was resumed."
        |s| s.one(s.live.elapsed.as_secs_f64());
    "assay_run_remaining_seconds" GAUGE "seconds" ""
        "Estimated time to the end of the run."
        |s| s.one(if s.live.ended { 0.0 } else { s.live.left.as_secs_f64() });
    "assay_run_done_ratio" GAUGE "ratio" ""
        "Share of the planned work that is done, 0 to 1."
        |s| s.one(s.live.done_share);
    "assay_run_paused" GAUGE "" ""
        "1 while the run is asked to pause."
        |s| s.one(flag(s.live.paused));
    "assay_run_ended" GAUGE "" "" "1 when the run has ended." |s| s.one(flag(s.live.ended));
    "assay_cells" GAUGE "" "status"
        "Cells of the plan: done, skipped during the run, failed, left." |s| {
        let cells = s.live.cells;
        for (status, count) in [
            ("done", cells.done), ("skipped", cells.skipped), ("failed", cells.failed),
            ("left", cells.left),
        ] {
            s.encoder.sample("", &[("status", status)], count as f64);
        }
    };
    "assay_warnings" COUNTER "" "code"
        "Warnings since the start of the run, or since it was resumed." |s| {
        for (code, count) in &s.live.warning_counts {
            s.encoder.sample("_total", &[("code", code)], *count as f64);
        }
    };
    "assay_host_cpu_ratio" GAUGE "ratio" "mode"
        "Share of the host's processor time in the last interval, 0 to 1; real drives only." |s| {
        if let Some(load) = s.live.host {
            for (mode, pct) in [
                ("user", load.user_pct), ("system", load.system_pct), ("irq", load.irq_pct),
                ("iowait", load.iowait_pct), ("idle", load.idle_pct), ("steal", load.steal_pct),
            ] {
                s.encoder.sample("", &[("mode", mode)], pct / 100.0);
            }
        }
    };
    "assay_drive_info" GAUGE "" "drive, model, serial, firmware, simulated"
        "A drive of the run, always 1." |s| {
        for drive in &s.live.drives {
            let simulated = if drive.simulated { "true" } else { "false" };
            let labels = [
                ("drive", drive.label.as_str()), ("model", &drive.model),
                ("serial", &drive.serial), ("firmware", &drive.firmware),
                ("simulated", simulated),
            ];
            s.encoder.sample("", &labels, 1.0);
        }
    };
    "assay_drive_capacity_bytes" GAUGE "bytes" "drive"
        "Capacity of the drive."
        |s| s.per_drive("", |d| Some(d.capacity_bytes as f64));
    "assay_cell_info" GAUGE "" "drive, cell, step"
        "The cell that runs on the drive, or ran last, always 1." |s| {
        for drive in &s.live.drives {
            if let Some(cell) = &drive.cell {
                let labels = [("drive", &drive.label), ("cell", &cell.id), ("step", &cell.step)];
                s.encoder.sample("", &labels.map(|(name, value)| (name, value.as_str())), 1.0);
            }
        }
    };
    "assay_cell_elapsed_seconds" GAUGE "seconds" "drive"
        "Time since the start of that cell, virtual for a simulated drive."
        |s| s.per_drive("", |d| Some(d.cell.as_ref()?.at.as_secs_f64()));
    "assay_drive_phase" GAUGE "" "drive, phase"
        "1 for what the drive is doing, 0 for the other phases." |s| {
        s.states(&Phase::ALL.map(Phase::text), "phase", |drive| Some(drive.phase.text()));
    };
    "assay_drive_state" GAUGE "" "drive, state"
        "1 for the cause that limits the drive, as far as the data prove one \
         (docs/attribution.md), 0 for the others." |s| {
        s.states(&CONDITIONS, "state", |drive| drive.condition.as_ref().map(|c| c.label));
    };
    "assay_reads" COUNTER "" "drive"
        "Reads that completed, in all cells, ramps included."
        |s| s.per_drive("_total", |d| Some(d.read.ios as f64));
    "assay_writes" COUNTER "" "drive"
        "Writes that completed, in all cells, ramps included."
        |s| s.per_drive("_total", |d| Some(d.write.ios as f64));
    "assay_read_bytes" COUNTER "bytes" "drive"
        "Bytes read."
        |s| s.per_drive("_total", |d| Some(d.read.bytes as f64));
    "assay_written_bytes" COUNTER "bytes" "drive"
        "Bytes written."
        |s| s.per_drive("_total", |d| Some(d.write.bytes as f64));
    "assay_read_errors" COUNTER "" "drive"
        "Reads that failed or came back short."
        |s| s.per_drive("_total", |d| Some(d.read.errors as f64));
    "assay_write_errors" COUNTER "" "drive"
        "Writes that failed or came back short."
        |s| s.per_drive("_total", |d| Some(d.write.errors as f64));
    "assay_reads_per_second" GAUGE "" "drive"
        "Read IOPS of the last interval, in the drive's time."
        |s| s.per_drive("", |d| rate(d, d.read.iops));
    "assay_writes_per_second" GAUGE "" "drive"
        "Write IOPS of the last interval, in the drive's time."
        |s| s.per_drive("", |d| rate(d, d.write.iops));
    "assay_read_bytes_per_second" GAUGE "" "drive"
        "Bytes read per second of the last interval, in the drive's time."
        |s| s.per_drive("", |d| rate(d, d.read.bytes_per_s));
    "assay_written_bytes_per_second" GAUGE "" "drive"
        "Bytes written per second of the last interval, in the drive's time."
        |s| s.per_drive("", |d| rate(d, d.write.bytes_per_s));
    "assay_read_latency_seconds" SUMMARY "seconds" "drive, quantile"
        "Latency of reads: quantiles of the last interval, sum and count of all."
        |s| s.latencies(|d| &d.read);
    "assay_write_latency_seconds" SUMMARY "seconds" "drive, quantile"
        "Latency of writes: quantiles of the last interval, sum and count of all."
        |s| s.latencies(|d| &d.write);
    "assay_temperature_celsius" GAUGE "celsius" "drive"
        "Composite temperature of the drive."
        |s| s.per_drive("", |d| d.temperature_c);
    "assay_power_watts" GAUGE "watts" "drive"
        "Power of the drive."
        |s| s.per_drive("", |d| Some(d.power_mw? as f64 / 1e3));
    "assay_throttled" GAUGE "" "drive"
        "1 if the drive reports that it throttles, 0 if it reports that it does not."
        |s| s.per_drive("", |d| d.throttled.map(flag));
    "assay_drive_time_seconds" COUNTER "seconds" "drive"
        "Time that the drive spent in cells, virtual for a simulated drive."
        |s| s.per_drive("_total", |d| Some(d.drive_time.as_secs_f64()));
    "assay_simulation_speed_ratio" GAUGE "ratio" "drive"
        "Virtual time over real time; simulated drives only."
        |s| s.per_drive("", |d| d.speed_up);
}

pub fn text(live: &LiveSnapshot, run: &RunIdentity) -> String {
    let mut encoder = Encoder::default();
    for family in FAMILIES {
        encoder.family(family.name, family.kind, family.unit, family.labels, family.help);
        (family.samples)(&mut Samples { encoder: &mut encoder, live, run });
    }
    encoder.finish()
}

#[cfg(test)]
#[path = "../tests/unit/families.rs"]
mod tests;
