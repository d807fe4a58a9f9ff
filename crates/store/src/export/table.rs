//! Tables of the CSV and Parquet exports: columns and rows.

use assay_stats::summary::PERCENTILES;
use assay_stats::{HostLoad, LatencySummary, OpSummary};

use crate::model::{CellResult, DriveRecord, TelemetryRecord};
use crate::read::{CellDrive, CellRecord, CellState, Run};
use crate::series::OpSample;

/// The tables, which are also the names of their files.
pub(crate) const NAMES: [&str; 4] = ["cells", "intervals", "telemetry", "host"];

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Unsigned, 64 bits.
    Count,
    /// Double.
    Figure,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

/// A value; `Absent` where nothing was measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Absent,
    Count(u64),
    Figure(f64),
    Flag(bool),
    Text(String),
}

macro_rules! value_from {
    ($($from:ty => $variant:ident($value:ident, $into:expr);)+) => {$(
        impl From<$from> for Value {
            fn from($value: $from) -> Value {
                Value::$variant($into)
            }
        }
    )+};
}

value_from! {
    u64 => Count(n, n);
    u32 => Count(n, n.into());
    usize => Count(n, n as u64);
    f64 => Figure(x, x);
    bool => Flag(flag, flag);
    &str => Text(text, text.to_owned());
    String => Text(text, text);
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Absent, Into::into)
    }
}

type Getter<R> = Box<dyn Fn(&R) -> Value>;

/// A column: name (unit last), type, and getter of its values.
pub(crate) struct Column<R> {
    pub(crate) name: String,
    pub(crate) kind: ValueType,
    pub(crate) get: Getter<R>,
}

/// Builder of columns.
struct Columns<R>(Vec<Column<R>>);

impl<R> Columns<R> {
    fn add<V: Into<Value>>(
        &mut self,
        name: impl Into<String>,
        kind: ValueType,
        get: impl Fn(&R) -> V + 'static,
    ) {
        self.0.push(Column {
            name: name.into(),
            kind,
            get: Box::new(move |row| get(row).into()),
        });
    }

    /// The figures of a latency distribution.
    fn latency(
        &mut self,
        prefix: &str,
        of: impl Fn(&R) -> Option<LatencySummary> + Copy + 'static,
    ) {
        self.add(format!("{prefix}_samples"), ValueType::Count, move |r| {
            of(r).map(|l| l.samples)
        });
        self.add(format!("{prefix}_mean_ns"), ValueType::Figure, move |r| {
            of(r).map(|l| l.mean)
        });
        self.add(format!("{prefix}_stddev_ns"), ValueType::Figure, move |r| {
            of(r).map(|l| l.stddev)
        });
        self.add(format!("{prefix}_min_ns"), ValueType::Count, move |r| {
            of(r).map(|l| l.min)
        });
        for (key, _) in PERCENTILES {
            self.add(format!("{prefix}_{key}_ns"), ValueType::Count, move |r| {
                of(r).and_then(|l| l.percentile(key)).map(|ns| ns.0)
            });
        }
        self.add(format!("{prefix}_max_ns"), ValueType::Count, move |r| {
            of(r).map(|l| l.max)
        });
        self.add(format!("{prefix}_overflow"), ValueType::Count, move |r| {
            of(r).map(|l| l.overflow)
        });
    }

    /// Processor time of the host.
    fn host(&mut self, of: impl Fn(&R) -> Option<HostLoad> + Copy + 'static) {
        type Share = (&'static str, fn(&HostLoad) -> f64);
        let shares: [Share; 7] = [
            ("host_user_pct", |l| l.user_pct),
            ("host_system_pct", |l| l.system_pct),
            ("host_irq_pct", |l| l.irq_pct),
            ("host_iowait_pct", |l| l.iowait_pct),
            ("host_idle_pct", |l| l.idle_pct),
            ("host_steal_pct", |l| l.steal_pct),
            ("context_switches_per_s", |l| l.context_switches_per_s),
        ];
        for (name, share) in shares {
            self.add(name, ValueType::Figure, move |r| of(r).map(|l| share(&l)));
        }
    }
}

/// A drive in a cell of a run: row of `cells`.
#[derive(Clone, Copy)]
pub(crate) struct DriveRow<'a> {
    pub(crate) run: &'a Run,
    pub(crate) cell: &'a CellRecord,
    pub(crate) part: &'a CellDrive,
}

impl DriveRow<'_> {
    fn drive(&self) -> Option<&DriveRecord> {
        self.run.manifest.drives.get(self.part.drive)
    }

    fn op(&self, of: fn(&CellResult) -> &OpSummary) -> Option<&OpSummary> {
        self.part.result.as_ref().map(of)
    }
}

/// A row about a drive in a cell.
trait InCell<'a> {
    fn drive_row(&self) -> DriveRow<'a>;
}

impl<'a> InCell<'a> for DriveRow<'a> {
    fn drive_row(&self) -> DriveRow<'a> {
        *self
    }
}

impl<'a, T> InCell<'a> for (DriveRow<'a>, T) {
    fn drive_row(&self) -> DriveRow<'a> {
        self.0
    }
}

/// Run, drive and cell of a row: first in every table, so that tables of many runs can be concatenated.
fn key_columns<'a, R: InCell<'a> + 'a>(columns: &mut Columns<R>) {
    columns.add("run_id", ValueType::Text, |r| {
        r.drive_row().run.manifest.run_id.clone()
    });
    columns.add("simulated", ValueType::Flag, |r| {
        r.drive_row().drive().map(|d| d.simulated)
    });
    columns.add("drive", ValueType::Count, |r| r.drive_row().part.drive);
    columns.add("drive_label", ValueType::Text, |r| {
        r.drive_row().drive().map(|d| d.label.clone())
    });
    columns.add("cell", ValueType::Text, |r| {
        r.drive_row().cell.plan.id.clone()
    });
}

/// Name of a state, and its reason if it has one.
pub(crate) fn state_text(state: &CellState) -> (&'static str, Option<&str>) {
    match state {
        CellState::Planned => ("planned", None),
        CellState::Skipped(why) => ("skipped", Some(why)),
        CellState::Unfinished => ("unfinished", None),
        CellState::Finished => ("finished", None),
        CellState::Failed(why) => ("failed", Some(why)),
    }
}

/// JSON name of a unit variant.
pub(crate) fn variant_name(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// `cells`: one row per cell and drive.
pub(crate) fn cell_columns<'a>() -> Vec<Column<DriveRow<'a>>> {
    use ValueType::{Count, Figure, Flag, Text};
    let mut c: Columns<DriveRow<'a>> = Columns(Vec::new());
    key_columns(&mut c);
    c.add("drive_kind", Text, |r| r.drive().map(|d| d.kind.clone()));
    c.add("drive_model", Text, |r| r.drive().map(|d| d.model.clone()));
    c.add("step", Text, |r| r.cell.plan.step.clone());
    c.add("title", Text, |r| r.cell.plan.title.clone());
    c.add("kind", Text, |r| variant_name(&r.cell.plan.kind));
    c.add("state", Text, |r| state_text(&r.cell.state).0);
    c.add("state_reason", Text, |r| {
        state_text(&r.cell.state).1.map(str::to_owned)
    });
    c.add("rw", Text, |r| r.cell.plan.workload.rw.clone());
    c.add("bs_bytes", Count, |r| r.cell.plan.workload.bs_bytes);
    c.add("iodepth", Count, |r| r.cell.plan.workload.iodepth);
    c.add("numjobs", Count, |r| r.cell.plan.workload.numjobs);
    c.add("engine", Text, |r| r.cell.plan.workload.engine.clone());
    c.add("direct", Flag, |r| r.cell.plan.workload.direct);
    c.add("span_bytes", Count, |r| r.cell.plan.workload.span_bytes);
    c.add("offset_bytes", Count, |r| r.cell.plan.workload.offset_bytes);
    c.add("data", Text, |r| r.cell.plan.workload.data.clone());
    c.add("runtime_ns", Count, |r| r.cell.plan.workload.runtime_ns);
    c.add("ramp_ns", Count, |r| r.cell.plan.workload.ramp_ns);
    c.add("rate_iops", Figure, |r| r.cell.plan.workload.rate_iops);
    c.add("scale", Figure, |r| r.run.manifest.scale);
    c.add("elapsed_ns", Count, |r| {
        r.part.result.as_ref().map(|x| x.elapsed.0)
    });
    type Side = (&'static str, fn(&CellResult) -> &OpSummary);
    let sides: [Side; 2] = [("read", |x| &x.read), ("write", |x| &x.write)];
    for (name, of) in sides {
        c.add(format!("{name}_ios"), Count, move |r| {
            r.op(of).map(|o| o.ios)
        });
        c.add(format!("{name}_bytes"), Count, move |r| {
            r.op(of).map(|o| o.bytes)
        });
        c.add(format!("{name}_errors"), Count, move |r| {
            r.op(of).map(|o| o.errors)
        });
        c.add(format!("{name}_iops"), Figure, move |r| {
            r.op(of).map(|o| o.iops)
        });
        c.add(format!("{name}_mib_per_s"), Figure, move |r| {
            r.op(of).map(|o| o.mib_per_s)
        });
        c.latency(&format!("{name}_latency"), move |r: &DriveRow<'a>| {
            r.op(of).map(|o| o.latency_ns)
        });
        c.latency(&format!("{name}_service"), move |r: &DriveRow<'a>| {
            r.op(of).and_then(|o| o.service_ns)
        });
    }
    c.host(|r| r.part.result.as_ref().and_then(|x| x.host));
    c.add("verify_blocks_checked", Count, |r| {
        let verify = r.part.result.as_ref()?.verify.as_ref()?;
        Some(verify.blocks_checked)
    });
    c.add("verify_findings", Count, |r| {
        let verify = r.part.result.as_ref()?.verify.as_ref()?;
        Some(
            verify
                .found
                .values()
                // A damaged journal can hold any counts.
                .fold(0_u64, |sum, n| sum.saturating_add(*n)),
        )
    });
    c.add("values_json", Text, |r| {
        let values = &r.part.result.as_ref()?.values;
        serde_json::to_string(values)
            .ok()
            .filter(|_| !values.is_empty())
    });
    c.0
}

/// One operation in one interval.
pub(crate) type PointRow<'a> = (DriveRow<'a>, &'a OpSample);

/// `intervals`: one row per interval, drive and operation.
pub(crate) fn interval_columns<'a>() -> Vec<Column<PointRow<'a>>> {
    use ValueType::{Count, Figure, Flag, Text};
    let mut c: Columns<PointRow<'a>> = Columns(Vec::new());
    key_columns(&mut c);
    c.add("index", Count, |(_, p)| p.index);
    c.add("ramp", Flag, |(_, p)| p.ramp);
    c.add("start_ns", Count, |(_, p)| p.start.0);
    c.add("end_ns", Count, |(_, p)| p.end.0);
    c.add("op", Text, |(_, p)| p.op.name());
    c.add("ios", Count, |(_, p)| p.ios);
    c.add("bytes", Count, |(_, p)| p.bytes);
    c.add("errors", Count, |(_, p)| p.errors);
    c.add("iops", Figure, |(_, p)| p.iops());
    c.add("mib_per_s", Figure, |(_, p)| p.mib_per_s());
    c.latency("latency", |(_, p): &PointRow<'a>| Some(p.latency));
    c.0
}

/// One reading of a drive's sensors.
pub(crate) type TelemetryRow<'a> = (DriveRow<'a>, &'a TelemetryRecord);

/// `telemetry`: one row per reading.
pub(crate) fn telemetry_columns<'a>() -> Vec<Column<TelemetryRow<'a>>> {
    use ValueType::{Count, Figure, Flag, Text};
    let mut c: Columns<TelemetryRow<'a>> = Columns(Vec::new());
    key_columns(&mut c);
    c.add("at_ns", Count, |(_, t)| t.at.0);
    c.add("temperature_c", Figure, |(_, t)| t.temperature_c);
    c.add("sensors_c_json", Text, |(_, t)| {
        serde_json::to_string(&t.sensors_c)
            .ok()
            .filter(|_| !t.sensors_c.is_empty())
    });
    c.add("throttled", Flag, |(_, t)| t.throttled);
    c.add("warning_time_s", Count, |(_, t)| t.warning_time_s);
    c.add("power_mw", Count, |(_, t)| t.power_mw);
    c.add("host_bytes_read", Count, |(_, t)| t.host_bytes_read);
    c.add("host_bytes_written", Count, |(_, t)| t.host_bytes_written);
    c.add("nand_bytes_written", Count, |(_, t)| t.nand_bytes_written);
    c.0
}

/// The host's load in one interval of a cell.
pub(crate) struct HostRow<'a> {
    run: &'a Run,
    cell: &'a CellRecord,
    index: u32,
    load: HostLoad,
}

/// `host`: one row per cell and interval.
pub(crate) fn host_columns<'a>() -> Vec<Column<HostRow<'a>>> {
    let mut c: Columns<HostRow<'a>> = Columns(Vec::new());
    c.add("run_id", ValueType::Text, |r| r.run.manifest.run_id.clone());
    c.add("simulated", ValueType::Flag, |r| {
        let drives = &r.run.manifest.drives;
        let mut measured = r.cell.plan.drives.iter().filter_map(|&d| drives.get(d));
        measured.any(|d| d.simulated)
    });
    c.add("cell", ValueType::Text, |r| r.cell.plan.id.clone());
    c.add("index", ValueType::Count, |r| r.index);
    c.host(|r| Some(r.load));
    c.0
}

/// Rows of `cells`.
pub(crate) fn cell_rows(run: &Run) -> impl Iterator<Item = DriveRow<'_>> {
    run.cells.iter().flat_map(move |cell| {
        cell.drives
            .iter()
            .map(move |part| DriveRow { run, cell, part })
    })
}

/// Rows of `intervals`.
pub(crate) fn interval_rows(run: &Run) -> impl Iterator<Item = PointRow<'_>> {
    cell_rows(run).flat_map(|row| row.part.series.iter().map(move |point| (row, point)))
}

/// Rows of `telemetry`.
pub(crate) fn telemetry_rows(run: &Run) -> impl Iterator<Item = TelemetryRow<'_>> {
    cell_rows(run).flat_map(|row| row.part.telemetry.iter().map(move |t| (row, t)))
}

/// Rows of `host`.
pub(crate) fn host_rows(run: &Run) -> impl Iterator<Item = HostRow<'_>> {
    run.cells.iter().flat_map(move |cell| {
        cell.host.iter().map(move |&(index, load)| HostRow {
            run,
            cell,
            index,
            load,
        })
    })
}
