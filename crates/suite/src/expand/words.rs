//! A workload in words.

use assay_store::model::{self, CellKind};
use assay_units::Nanos;
use assay_workload::options::JobOptions;
use assay_workload::plan::{Pacing, Workload};

use super::matrix::Combination;
use crate::schema::SuiteStep;

pub(super) fn describe_in_step(
    workload: Option<&Workload>,
    options: &JobOptions,
    step: &SuiteStep,
    combination: &Combination,
    holds: &str,
) -> model::WorkloadRecord {
    let record = workload.map(|workload| describe(workload, options, step.kind(), holds));
    let mut record = record.unwrap_or_default();
    record.power_state = combination.power_state;
    if combination.load_percent.is_some() {
        record.rate_iops = 0.0;
        let known = JobOptions { rate: None, ..options.clone() };
        record.options = known.command_line();
    }
    record
}

pub(super) fn describe(
    w: &Workload,
    options: &JobOptions,
    kind: CellKind,
    holds: &str,
) -> model::WorkloadRecord {
    let data = if kind == CellKind::Inspect || !w.writes() {
        holds.to_owned()
    } else if w.trims {
        "none".to_owned()
    } else {
        w.data.to_string()
    };
    model::WorkloadRecord {
        rw: match kind {
            CellKind::Idle => "idle".to_owned(),
            CellKind::Purge => "purge".to_owned(),
            _ => w.rw.clone(),
        },
        bs_bytes: u64::from(w.access.max_bytes()),
        iodepth: w.iodepth,
        numjobs: w.numjobs,
        engine: w.engine.name().to_owned(),
        direct: w.direct,
        cache_unknown: false,
        span_bytes: w.area.size_bytes,
        offset_bytes: w.area.offset_bytes,
        data,
        runtime_ns: w.runtime.unwrap_or(Nanos::ZERO).0,
        ramp_ns: w.lead().0,
        rate_iops: match w.pacing {
            Pacing::Open { iops, .. } => iops.get() as f64,
            Pacing::Closed | Pacing::Limited { .. } => 0.0,
        },
        rate_limit_iops: limit_iops(w),
        rwmixread: (w.trace.is_some() || matches!(w.rw.as_str(), "rw" | "readwrite" | "randrw"))
            .then_some(w.read_percent),
        power_state: None,
        bursts: w.think.and_then(|think| {
            Some(model::Bursts { active_ns: think.active?.0, idle_ns: think.pause.0 })
        }),
        idle_before_io_ns: w.think.and_then(|think| {
            let one = think.active.is_none() && think.ios.is_some_and(|ios| ios.get() == 1);
            one.then_some(think.pause.0)
        }),
        durability: durability_text(w, options),
        trace: w.trace.as_ref().map(|trace| {
            let options = &trace.options;
            let path = &options.source.path;
            let file = path.file_name().unwrap_or(path.as_os_str());
            format!("{}, {}", file.display(), options.timing.text())
        }),
        options: options.command_line(),
    }
}

/// [`model::WorkloadRecord::rate_limit_iops`]: that of a job, or those of fio's order, of which
/// each thread has its own for every kind of operation.
fn limit_iops(w: &Workload) -> Option<f64> {
    if let Pacing::Limited { rate } = w.pacing {
        return Some(rate.per_second());
    }
    let (access, _) = w.fio.as_ref()?;
    let [reads, writes, trims] = access.rates;
    let writes = if w.trims { trims } else { writes };
    let sides = [(w.read_percent > 0, reads, 100), (w.read_percent < 100, writes, 0)];
    let used = sides.into_iter().filter(|(is_used, ..)| *is_used);
    let limits = used.map(|(_, bytes_per_s, read_percent)| {
        (bytes_per_s > 0).then(|| bytes_per_s as f64 / w.access.mean_bytes(read_percent))
    });
    let sum = limits.sum::<Option<f64>>()?;
    Some(sum * f64::from(w.numjobs))
}

/// [`model::WorkloadRecord::durability`].
pub(super) fn durability_text(w: &Workload, options: &JobOptions) -> Option<String> {
    let flushes = w.flush_every.map(|flush| match flush.writes.get() {
        1 => "flush after each write".to_owned(),
        writes => format!("flush after every {writes} writes"),
    });
    let synchronous = w.synchronous_writes.map(|writes| match writes.metadata {
        true => "synchronous writes (sync)".to_owned(),
        false => "synchronous writes (dsync)".to_owned(),
    });
    let atomic = w.features.atomic.then(|| "atomic writes".to_owned());
    let placed = options.fdp.as_ref();
    let placed = placed.map(|ids| format!("placement identifiers {ids}"));
    let texts = [placed, atomic, synchronous, flushes].into_iter().flatten();
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
