use std::path::PathBuf;
use std::sync::Arc;

use assay_device::session::TargetProperties;
use assay_io::MAX_IO_BYTES;
use assay_trace::replay::{
    AddressMap, PhaseRule, ReplayArea, ReplayOptions, ReplayPlan, SkippedOps, Timing, parse_align,
    parse_passes,
};
use assay_trace::{TraceFormat, TraceSource};

use super::checks::area;
use super::values::{invalid, unit_bytes};
use super::{PlanError, Workload};
use crate::options::{JOB_OPTIONS, JobOption, JobOptions};

pub const TRACE_RW: &str = "trace";
const DEFAULT_DEPTH: u32 = 32;

/// Options that say what the trace says, or that a replay has no meaning for.
const EXCLUDED: [&str; 28] = [
    "rw",
    "bs",
    "rwmixread",
    "segments",
    "offset_increment",
    "split",
    "ramp_time",
    "random_distribution",
    "blockalign",
    "zonesize",
    "zonerange",
    "zoneskip",
    "rate",
    "arrival",
    "rate_iops",
    "rate_bw",
    "thinktime",
    "thinktime_blocks",
    "thinktime_iotime",
    "flow",
    "flow_id",
    "flow_sleep",
    "fsync",
    "fdatasync",
    "verify",
    "do_verify",
    "verify_backlog",
    "verify_interval",
];

fn is_of_trace(option: &JobOption) -> bool {
    option.name.starts_with("trace_")
}

pub(super) fn none_without_trace(options: &JobOptions) -> Result<(), PlanError> {
    match options.given().find(|option| is_of_trace(option)) {
        None => Ok(()),
        Some(option) => {
            Err(invalid(format!("--{} needs --trace: the trace that is replayed", option.name)))
        }
    }
}

fn replay_options(options: &JobOptions) -> Result<ReplayOptions, PlanError> {
    let format =
        TraceFormat::parse(options.trace_format.as_deref(), options.trace_columns.as_deref())?;
    let skipped = options.trace_skip.as_deref().map(SkippedOps::parse);
    let align = options.trace_align.as_deref().map(parse_align);
    Ok(ReplayOptions {
        source: TraceSource {
            path: PathBuf::from(options.trace.clone().unwrap_or_default()),
            format,
            device: options.trace_device.clone(),
        },
        skipped: skipped.transpose()?.unwrap_or_default(),
        timing: Timing::parse(
            options.trace_timing.as_deref(),
            options.trace_time_scale.as_deref(),
            options.trace_idle_limit.as_deref(),
        )?,
        map: AddressMap::parse(options.trace_map.as_deref())?,
        phases: PhaseRule::parse(options.trace_phases.as_deref())?,
        align_bytes: align.transpose()?,
        passes: parse_passes(options.trace_repeat.unwrap_or(1))?,
    })
}

/// The other options are checked as those of a job with the trace's operations and its longest I/O.
pub(super) fn plan(options: &JobOptions, target: &TargetProperties) -> Result<Workload, PlanError> {
    let excluded = |option: &&JobOption| EXCLUDED.contains(&option.name);
    if let Some(option) = options.given().find(excluded) {
        return Err(invalid(format!(
            "--{} and --trace exclude one another: a replay does what the trace says, once and in \
             its order; remove one of them",
            option.name
        )));
    }
    if options.numjobs.is_some_and(|numjobs| numjobs != 1) {
        return Err(invalid(
            "--numjobs with --trace is 1: one thread keeps the order of the trace; for more in \
             flight use --iodepth",
        ));
    }
    let replay = replay_options(options)?;
    let unit = unit_bytes(options.direct.unwrap_or(true), target);
    let (region, _) = area(options, target, (unit, unit), 1, false)?;
    let trace = ReplayPlan::new(
        &replay,
        ReplayArea {
            offset_bytes: region.offset_bytes,
            size_bytes: region.size_bytes,
            unit_bytes: u64::from(unit),
            most_bytes: MAX_IO_BYTES,
        },
    )?;
    let read_percent = trace.read_percent();
    let mut plain = options.clone();
    for option in JOB_OPTIONS.iter().filter(|option| is_of_trace(option)) {
        plain.clear(option.name);
    }
    plain.trace = None;
    plain.bs = Some(trace.longest_io_bytes().to_string());
    plain.iodepth = Some(options.iodepth.unwrap_or(DEFAULT_DEPTH));
    plain.rw = Some(match (read_percent, trace.only_trims()) {
        (100, _) => "read".to_owned(),
        (0, true) => "trim".to_owned(),
        (0, false) => "write".to_owned(),
        _ => "rw".to_owned(),
    });
    let workload = Workload::plan(&plain, target)?;
    Ok(Workload {
        rw: TRACE_RW.to_owned(),
        read_percent,
        trims: trace.only_trims(),
        io_bytes: options.io_size.as_ref().and(workload.io_bytes),
        trace: Some(Arc::new(trace)),
        ..workload
    })
}
