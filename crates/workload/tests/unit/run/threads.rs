use std::sync::mpsc;
use std::time::Duration;

use assay_device::session::{TargetKind, TargetProperties};
use assay_stats::HostLoad;

use super::*;
use crate::options::JobOptions;

struct Ignore;

impl RunObserver for Ignore {
    fn interval(&mut self, _: usize, _: &Interval) {}
    fn telemetry(&mut self, _: usize, _: Nanos, _: Telemetry) {}
    fn host(&mut self, _: u32, _: HostLoad) {}
}

fn workload(numjobs: u32) -> Workload {
    let options = JobOptions {
        numjobs: Some(numjobs),
        runtime: Some("50ms".into()),
        ..JobOptions::default()
    };
    let null = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "null:".to_owned(),
        capacity_bytes: 1 << 30,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::Null,
    };
    Workload::plan(&options, &null).unwrap()
}

/// Runs four threads with this body; an error rather than a hang after 20 s.
fn run(body: &'static WorkerBody) -> Result<(), RunError> {
    let (sender, result) = mpsc::channel();
    thread::spawn(move || {
        let workload = workload(4);
        let mut outcome = DriveOutcome::default();
        let mut jobs = [ThreadedJob { workload: &workload, handle: None, outcome: &mut outcome }];
        let ended = run_with(&mut jobs, &AtomicBool::new(false), &mut Ignore, body);
        sender.send(ended).unwrap();
    });
    result.recv_timeout(Duration::from_secs(20)).expect("the collector hangs")
}

#[test]
fn a_thread_that_panics_before_it_is_ready_ends_the_run() {
    let ended = run(&|workload, open, sink| {
        assert!(sink.id.index != 1, "on purpose");
        run_worker(workload, open, sink)
    });
    assert!(matches!(ended, Err(RunError::Panicked { index: 1 })));
}

#[test]
fn a_thread_that_panics_later_ends_the_run_too() {
    let ended = run(&|workload, open, sink| {
        let index = sink.id.index;
        let end = run_worker(workload, open, sink);
        assert!(index != 2, "on purpose");
        end
    });
    assert!(matches!(ended, Err(RunError::Panicked { index: 2 })));
    assert!(run(&run_worker).is_ok());
}
