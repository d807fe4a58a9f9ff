//! Tables of runs, of the CSV, Parquet and JSON exports and of joined tables of many runs.

use assay_analysis::conclusions::{CellIntervals, Conclusions};
use assay_stats::summary::PERCENTILES;
use assay_stats::{Estimate, HostLoad, LatencySummary, OpSummary};
use assay_store::model::{
    CACHE_HIT_PCT, CellKind, CellResult, DriveRecord, OFFERED_IOPS, TelemetryRecord, WorkloadRecord,
};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_store::series::OpSample;
use assay_units::text::hexadecimal;
use assay_units::{Nanos, Op};
use sha2::{Digest, Sha256};

mod conclusions;
mod joined;
pub(super) mod telemetry;
mod value;

pub use conclusions::{conclusion_table, mode_table, phase_table};
use value::ColumnValue;
pub use value::{Value, ValueType};

pub use joined::{JoinedRun, RunFacts, inventory_table, soak_table, warning_table};

/// Name and type of a column.
pub type Column = (String, ValueType);

/// One value for each column of a table.
pub type Row = Vec<Value>;

/// A table: names (unit last) and types of its columns, and its rows.
pub struct Table<'a> {
    /// Also the name of its file.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Its rows: a value for each column.
    pub rows: Box<dyn Iterator<Item = Row> + 'a>,
}

/// The tables of the export of a run, with what is concluded from it.
pub fn tables<'a>(run: &'a Run, found: &'a Conclusions) -> [Table<'a>; 8] {
    [
        run_table(run, None),
        cell_table(run, found),
        interval_table(run),
        telemetry_table(run),
        host_table(run),
        conclusion_table(run, found),
        phase_table(run, found),
        mode_table(run, found),
    ]
}

type Getter<'a, R> = Box<dyn Fn(&R) -> Value + 'a>;

/// Under construction: each column with the getter of its values.
struct Columns<'a, R> {
    columns: Vec<Column>,
    getters: Vec<Getter<'a, R>>,
}

impl<'a, R: 'a> Columns<'a, R> {
    fn new() -> Columns<'a, R> {
        Columns { columns: Vec::new(), getters: Vec::new() }
    }

    fn add<V: ColumnValue>(&mut self, name: impl Into<String>, get: impl Fn(&R) -> V + 'a) {
        self.columns.push((name.into(), V::TYPE));
        self.getters.push(Box::new(move |row| get(row).value()));
    }

    fn table(self, name: &'static str, rows: impl Iterator<Item = R> + 'a) -> Table<'a> {
        let Columns { columns, getters } = self;
        let values = move |row| getters.iter().map(|get| get(&row)).collect();
        Table { name, columns, rows: Box::new(rows.map(values)) }
    }

    /// First in every table, so that tables of many runs can be concatenated.
    fn keys(&mut self, of: impl Fn(&R) -> DriveRow<'a> + Copy + 'a) {
        self.add("run_id", move |r| of(r).run.manifest.run_id.as_str());
        self.add("simulated", move |r| of(r).drive().simulated);
        self.add("drive", move |r| of(r).part.drive);
        self.add("drive_label", move |r| of(r).drive().label.as_str());
        self.add("cell", move |r| of(r).cell.plan.id.as_str());
    }

    /// Without samples only their number is known.
    fn latency(&mut self, name: &str, of: impl Fn(&R) -> Option<LatencySummary> + Copy + 'a) {
        let sampled = move |r: &R| of(r).filter(|l| l.samples > 0);
        self.add(format!("{name}_samples"), move |r| of(r).map(|l| l.samples));
        self.add(format!("{name}_mean_ns"), move |r| sampled(r).map(|l| l.mean));
        self.add(format!("{name}_stddev_ns"), move |r| sampled(r).map(|l| l.stddev));
        self.add(format!("{name}_min_ns"), move |r| sampled(r).map(|l| l.min));
        for (key, _) in PERCENTILES {
            let percentile = move |r: &R| of(r).and_then(|l| l.percentile(key));
            self.add(format!("{name}_{key}_ns"), percentile);
        }
        self.add(format!("{name}_max_ns"), move |r| sampled(r).map(|l| l.max));
        self.add(format!("{name}_overflow"), move |r| of(r).map(|l| l.overflow));
    }

    fn host(&mut self, of: impl Fn(&R) -> Option<HostLoad> + Copy + 'a) {
        type Share = (&'static str, fn(HostLoad) -> f64);
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
            self.add(name, move |r| of(r).map(share));
        }
    }
}

#[derive(Clone, Copy)]
struct DriveRow<'a> {
    run: &'a Run,
    cell: &'a CellRecord,
    part: &'a CellDrive,
}

impl<'a> DriveRow<'a> {
    fn drive(&self) -> &'a DriveRecord {
        &self.run.manifest.drives[self.part.drive]
    }

    fn workload(&self) -> &'a WorkloadRecord {
        &self.cell.plan.workload
    }

    fn result(&self) -> Option<&'a CellResult> {
        self.part.result.as_ref()
    }

    /// Only some cells have such a value.
    fn value(&self, name: &str) -> Option<f64> {
        self.result()?.values.get(name).copied()
    }
}

fn drive_rows(run: &Run) -> impl Iterator<Item = DriveRow<'_>> {
    run.cells.iter().flat_map(move |cell| {
        let row = move |part| DriveRow { run, cell, part };
        cell.drives.iter().map(row)
    })
}

/// `None` of an operation that the cell does not use and that did nothing.
pub(crate) fn used<'a>(
    cell: &CellRecord,
    result: &'a CellResult,
    direction: Op,
) -> Option<&'a OpSummary> {
    let rw = cell.plan.workload.rw.as_str();
    let (summary, is_meant) = match direction {
        Op::Read => (&result.read, !rw.ends_with("write") && !rw.ends_with("trim")),
        Op::Write => (&result.write, !rw.ends_with("read") && !rw.ends_with("trim")),
        Op::Discard => (&result.discard, rw.ends_with("trim")),
        _ => (&result.flush, false),
    };
    let measures = matches!(
        cell.plan.kind,
        CellKind::Measure | CellKind::Prepare | CellKind::Soak | CellKind::Concurrent
    );
    (!summary.is_unused() || is_meant && measures).then_some(summary)
}

/// Absent where the list or map is empty.
fn json_text(value: &impl serde::Serialize, is_empty: bool) -> Option<String> {
    serde_json::to_string(value).ok().filter(|_| !is_empty)
}

/// As in JSON.
fn json_name(value: impl serde::Serialize) -> Option<String> {
    let name = serde_json::to_value(value).ok()?;
    name.as_str().map(str::to_owned)
}

/// `runs`: one row per run and drive. `run_id`, with `drive` where several were measured, joins it
/// to the other tables. Joined tables of many runs also have where the run was measured, and by
/// which attempt.
pub fn run_table<'a>(run: &'a Run, joined: Option<&'a JoinedRun>) -> Table<'a> {
    // A table: a line per column.
    let mut c: Columns<'a, (usize, &'a DriveRecord)> = Columns::new();
    let manifest = &run.manifest;
    c.add("run_id", |_| manifest.run_id.as_str());
    c.add("simulated", |(_, d)| d.simulated);
    c.add("drive", |(drive, _)| *drive);
    c.add("drive_label", |(_, d)| d.label.as_str());
    c.add("drive_kind", |(_, d)| d.kind.as_str());
    c.add("drive_spec", |(_, d)| d.spec.as_str());
    c.add("serial", |(_, d)| d.serial.as_str());
    c.add("model", |(_, d)| d.model.as_str());
    c.add("firmware", |(_, d)| d.firmware.as_str());
    c.add("profile", |(_, d)| d.profile.as_deref());
    c.add("capacity_bytes", |(_, d)| d.capacity_bytes);
    c.add("logical_block_bytes", |(_, d)| d.logical_block_bytes);
    c.add("suite", |_| manifest.suite.name.as_str());
    // A job has no text.
    let text = Some(manifest.suite.text.as_bytes()).filter(|text| !text.is_empty());
    let suite_sha256 = text.map(|text| hexadecimal(&Sha256::digest(text)));
    c.add("suite_sha256", move |_| suite_sha256.clone());
    c.add("parameters_json", |_| json_text(&manifest.parameters, manifest.parameters.is_empty()));
    c.add("scale", |_| manifest.scale);
    c.add("seed", |_| manifest.seed);
    c.add("tool_version", |_| manifest.tool.version.as_str());
    c.add("tool_commit", |_| manifest.tool.commit.as_str());
    c.add("kernel", |_| manifest.host.kernel.as_str());
    c.add("cpu_model", |_| manifest.host.cpu_model.as_str());
    c.add("created", |_| manifest.created.as_str());
    c.add("began", |_| Some(run.attempts.first()?.began.as_str()));
    c.add("ended", |_| run.attempts.last()?.ended.as_deref());
    c.add("attempts", |_| run.attempts.len());
    c.add("outcome", |_| run.outcome.and_then(json_name));
    let states = |drive: usize| {
        let of_drive = move |cell: &&CellRecord| cell.plan.drives.contains(&drive);
        run.cells.iter().filter(of_drive).map(|cell| &cell.state)
    };
    c.add("cells", move |&(drive, _)| states(drive).count());
    c.add("cells_finished", move |&(drive, _)| {
        let finished = |state: &&CellState| **state == CellState::Finished;
        states(drive).filter(finished).count()
    });
    c.add("cells_failed", move |&(drive, _)| {
        let failed = |state: &&CellState| matches!(state, CellState::Failed(_));
        states(drive).filter(failed).count()
    });
    let counter = |d: &DriveRecord| d.endurance.map(|e| (e.media, e.host));
    c.add("media_counter", move |(_, d)| counter(d)?.0.map(|origin| origin.source.name()));
    c.add("media_counter_step_bytes", move |(_, d)| counter(d)?.0.map(|origin| origin.unit_bytes));
    c.add("host_counter", move |(_, d)| counter(d).map(|(_, origin)| origin.source.name()));
    c.add("host_counter_step_bytes", move |(_, d)| counter(d).map(|(_, origin)| origin.unit_bytes));
    c.add("rated_media_bytes", |(_, d)| Some(d.endurance?.rated?.media_bytes));
    c.add("verdict", |&(drive, _)| json_name(run.verdicts.get(drive)?.as_ref()?.result));
    if let Some(joined) = joined {
        joined.columns(&mut c);
    }
    c.table("runs", manifest.drives.iter().enumerate())
}

/// `cells`: one row per cell and drive, with the confidence intervals of its figures.
pub fn cell_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    // A table: a line per column.
    let mut c: Columns<'a, DriveRow<'a>> = Columns::new();
    c.keys(|r| *r);
    c.add("drive_kind", |r| r.drive().kind.as_str());
    c.add("drive_model", |r| r.drive().model.as_str());
    c.add("step", |r| r.cell.plan.step.as_str());
    c.add("title", |r| r.cell.plan.title.as_str());
    c.add("kind", |r| json_name(r.cell.plan.kind));
    c.add("state", |r| r.cell.state.text().0);
    c.add("state_reason", |r| r.cell.state.text().1);
    c.add("view", |r| json_name(r.cell.plan.view?));
    c.add("variant", |r| r.cell.plan.variant.as_deref());
    c.add("job", |r| Some(r.cell.plan.job.as_ref()?.name.as_str()));
    c.add("round", |r| Some(r.cell.plan.round.as_ref()?.number));
    c.add("rw", |r| r.workload().rw.as_str());
    c.add("rwmixread", |r| r.workload().rwmixread.map(u32::from));
    c.add("bs_bytes", |r| r.workload().single_bs_bytes());
    c.add("block_sizes", |r| r.workload().block_size_mix());
    c.add("iodepth", |r| r.workload().iodepth);
    c.add("numjobs", |r| r.workload().numjobs);
    c.add("engine", |r| r.workload().engine.as_str());
    c.add("direct", |r| r.workload().known_direct());
    c.add("span_bytes", |r| r.workload().span_bytes);
    c.add("offset_bytes", |r| r.workload().offset_bytes);
    c.add("data", |r| r.workload().data.as_str());
    c.add("runtime_ns", |r| r.workload().runtime_ns);
    c.add("ramp_ns", |r| r.workload().ramp_ns);
    c.add("rate_iops", |r| r.workload().rate_iops);
    c.add("offered_iops", |r| {
        let planned = Some(r.workload().rate_iops).filter(|rate| *rate > 0.0);
        r.value(OFFERED_IOPS).or(planned)
    });
    c.add("load_pct", |r| r.cell.plan.load.as_ref().map(|l| l.percent));
    c.add("power_state", |r| r.workload().power_state.map(u32::from));
    c.add("power_mean_w", |r| r.value("power_mean_w"));
    c.add(CACHE_HIT_PCT, |r| r.value(CACHE_HIT_PCT));
    c.add("temperature_max_c", |r| r.value("temperature_max_c"));
    c.add("write_amplification", |r| r.value("write_amplification"));
    c.add("write_amplification_source", |r| {
        r.value("write_amplification")?;
        r.drive().endurance?.media.map(|origin| origin.source.name())
    });
    c.add("scale", |r| r.run.manifest.scale);
    c.add("elapsed_ns", |r| r.result().map(|x| x.elapsed));
    let measured = |r: &DriveRow<'a>| r.result().filter(|x| x.elapsed > Nanos::ZERO);
    c.add("iops", move |r| measured(r).map(CellResult::iops));
    c.add("mib_per_s", move |r| measured(r).map(CellResult::mib_per_s));
    c.add("latency_mean_ns", move |r| {
        let latency = measured(r)?.latency();
        (latency.samples > 0).then_some(latency.mean)
    });
    type Interval = (&'static str, fn(&CellIntervals) -> Option<Estimate>);
    let intervals: [Interval; 3] = [
        ("iops", |i| i.iops),
        ("mib_per_s", |i| i.mib_per_s),
        ("latency_mean_ns", |i| i.latency_mean_ns),
    ];
    for (name, of) in intervals {
        let estimate = move |r: &DriveRow<'a>| {
            let key = (r.cell.plan.id.clone(), r.part.drive);
            of(found.intervals.get(&key)?)
        };
        c.add(format!("ci_low_{name}"), move |r| estimate(r).map(|e| e.low));
        c.add(format!("ci_high_{name}"), move |r| estimate(r).map(|e| e.high));
    }
    for (name, direction) in [("read", Op::Read), ("write", Op::Write)] {
        let op = move |r: &DriveRow<'a>| used(r.cell, r.result()?, direction);
        c.add(format!("{name}_ios"), move |r| op(r).map(|o| o.ios));
        c.add(format!("{name}_bytes"), move |r| op(r).map(|o| o.bytes));
        c.add(format!("{name}_errors"), move |r| op(r).map(|o| o.errors));
        c.add(format!("{name}_iops"), move |r| op(r).map(|o| o.iops));
        c.add(format!("{name}_mib_per_s"), move |r| op(r).map(|o| o.mib_per_s));
        c.latency(&format!("{name}_latency"), move |r| op(r).map(|o| o.latency_ns));
        c.latency(&format!("{name}_service"), move |r| op(r)?.service_ns);
    }
    c.host(|r| r.result()?.host);
    c.add("verify_blocks_checked", |r| Some(r.result()?.verify.as_ref()?.blocks_checked));
    c.add("verify_findings", |r| {
        let found = r.result()?.verify.as_ref()?.found.values();
        // A damaged journal can hold any counts.
        Some(found.fold(0_u64, |sum, n| sum.saturating_add(*n)))
    });
    c.add("values_json", |r| {
        let values = &r.result()?.values;
        json_text(values, values.is_empty())
    });
    c.table("cells", drive_rows(run))
}

/// One row per interval, drive and operation.
fn interval_table(run: &Run) -> Table<'_> {
    intervals(run, |_| true)
}

fn intervals(run: &Run, selects: fn(&CellRecord) -> bool) -> Table<'_> {
    let mut c: Columns<'_, (DriveRow<'_>, &OpSample)> = Columns::new();
    c.keys(|&(row, _)| row);
    c.add("index", |(_, p)| p.index);
    c.add("ramp", |(_, p)| p.ramp);
    c.add("start_ns", |(_, p)| p.start);
    c.add("end_ns", |(_, p)| p.end);
    c.add("op", |(_, p)| p.op.name());
    c.add("ios", |(_, p)| p.ios);
    c.add("bytes", |(_, p)| p.bytes);
    c.add("errors", |(_, p)| p.errors);
    c.add("iops", |(_, p)| p.iops());
    c.add("mib_per_s", |(_, p)| p.mib_per_s());
    c.latency("latency", |(_, p)| Some(p.latency));
    let rows = drive_rows(run).filter(move |row| selects(row.cell));
    let rows = rows.flat_map(|row| row.part.series.iter().map(move |p| (row, p)));
    c.table("intervals", rows)
}

/// `telemetry`: one row per reading of a drive's sensors.
pub fn telemetry_table(run: &Run) -> Table<'_> {
    let mut c: Columns<'_, (DriveRow<'_>, &TelemetryRecord)> = Columns::new();
    c.keys(|&(row, _)| row);
    c.add("at_ns", |(_, t)| t.at);
    for reading in telemetry::exported() {
        c.columns.push((reading.column(), reading.kind));
        c.getters.push(Box::new(move |(_, t)| (reading.value)(t)));
    }
    let rows = drive_rows(run).flat_map(|row| row.part.telemetry.iter().map(move |t| (row, t)));
    c.table("telemetry", rows)
}

/// One row per cell and interval.
fn host_table(run: &Run) -> Table<'_> {
    let mut c: Columns<'_, (&CellRecord, u32, HostLoad)> = Columns::new();
    c.add("run_id", |_| run.manifest.run_id.as_str());
    c.add("simulated", |(cell, ..)| {
        let mut measured = cell.plan.drives.iter();
        measured.any(|&drive| run.manifest.drives[drive].simulated)
    });
    c.add("cell", |(cell, ..)| cell.plan.id.as_str());
    c.add("index", |&(_, index, _)| index);
    c.host(|&(.., load)| Some(load));
    let rows = run.cells.iter().flat_map(|cell| {
        let row = move |&(index, load)| (cell, index, load);
        cell.host.iter().map(row)
    });
    c.table("host", rows)
}
