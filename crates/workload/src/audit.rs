use std::sync::atomic::AtomicBool;

use assay_io::clock;
use assay_io::null::NullTarget;
use assay_io::{Target, TargetError, Telemetry};
use assay_stats::{HostAudit, Interval, JobTotals, Recorder};
use assay_units::{Nanos, Op};

use crate::io_loop::{IntervalSink, IoLoopConfig, run_io_loop};
use crate::options::JobOptions;
use crate::plan::{PlanError, Workload};
use crate::worker::{Worker, WorkerError};
use assay_device::session::{TargetKind, TargetProperties};

const AUDIT_SPAN: &str = "60ms";
/// Where every drive is simulated: no time of theirs depends on this host.
const SIMULATED_AUDIT_SPAN: &str = "5ms";

struct AuditSink(JobTotals);

impl IntervalSink for AuditSink {
    fn interval(
        &mut self,
        _job: usize,
        interval: Interval,
        _telemetry: Option<Telemetry>,
    ) -> Option<Interval> {
        self.0.add(&interval);
        Some(interval)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the self-audit's own workload was refused: {0}")]
    Plan(#[from] PlanError),
    #[error("the self-audit's own workload was refused: {0}")]
    Worker(#[from] WorkerError),
    #[error("the self-audit failed: {0}")]
    Target(#[from] TargetError),
}

pub fn audit(simulated: bool) -> Result<HostAudit, AuditError> {
    let span = match simulated {
        true => SIMULATED_AUDIT_SPAN,
        false => AUDIT_SPAN,
    };
    let facts = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "null:".to_owned(),
        capacity_bytes: 16 << 30,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::Null,
    };
    let options = JobOptions {
        rw: Some("randread".to_owned()),
        runtime: Some(span.to_owned()),
        ..JobOptions::default()
    };
    let workload = Workload::plan(&options, &facts)?;
    let mut target = NullTarget::new(1);
    let start = target.now();
    let mut workers = [Worker::new(&workload, 0, 0, start)?];
    let mut recorder = Recorder::new(start, Nanos::SECOND, Nanos::ZERO, false);
    let mut sink = AuditSink(JobTotals::default());
    run_io_loop(
        &mut target,
        &mut workers,
        IoLoopConfig::new(&workload),
        std::slice::from_mut(&mut recorder),
        &AtomicBool::new(false),
        &mut sink,
    )?;
    let iops = sink.0.summary(Op::Read).iops;
    let (clock_ns, clock_step_ns) = clock::self_test();
    Ok(HostAudit {
        null_iops_per_thread: iops,
        engine_ns_per_io: if iops > 0.0 { 1e9 / iops } else { 0.0 },
        clock_ns,
        clock_step_ns,
        clock_drift_ppm: clock::Clock::monotonic().drift_ppm(),
    })
}

#[cfg(test)]
#[path = "../tests/unit/audit.rs"]
mod tests;
