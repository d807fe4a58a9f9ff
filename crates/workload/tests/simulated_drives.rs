//! Several simulated drives at once: each does exactly what it does alone.

use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, OpenTarget, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_io::Telemetry;
use assay_stats::{HostLoad, Interval};
use assay_units::Nanos;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveJob, RunObserver, run_jobs};

/// Drives of different speed, so that they reach the same virtual time at different times of the
/// clock.
const DRIVES: [&str; 3] = ["sim:intel-600p", "sim:intel-optane-p4800x", "sim:samsung-951"];

#[derive(Debug, PartialEq)]
enum Event {
    Interval(Interval),
    Telemetry(Nanos, Box<Telemetry>),
}

/// What the observer received, with the number of the drive.
#[derive(Default)]
struct Seen(Vec<(usize, Event)>);

impl RunObserver for Seen {
    fn interval(&mut self, drive: usize, interval: &Interval) {
        self.0.push((drive, Event::Interval(interval.clone())));
    }
    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        self.0.push((drive, Event::Telemetry(at, Box::new(telemetry))));
    }
    fn host(&mut self, _index: u32, _load: HostLoad) {
        panic!("times of simulated drives do not come from the host");
    }
}

fn run(drives: &[usize]) -> Seen {
    let options = JobOptions {
        rw: Some("randrw".to_owned()),
        iodepth: Some(4),
        numjobs: Some(2),
        runtime: Some("60ms".to_owned()),
        interval: Some("2ms".to_owned()),
        ..JobOptions::default()
    };
    let mut targets: Vec<(Workload, OpenTarget)> = Vec::new();
    for &drive in drives {
        let spec = DriveSpec::parse(DRIVES[drive]).unwrap();
        let mut session = DriveSession::open(&spec, &SessionOptions::default()).unwrap();
        let workload = Workload::plan(&options, &session.target_properties()).unwrap();
        let target = session.acquire(workload.open_mode()).unwrap();
        targets.push((workload, target));
    }
    let jobs = targets.iter_mut().zip(drives);
    let mut jobs: Vec<DriveJob<'_>> =
        jobs.map(|((workload, target), &drive)| DriveJob { drive, workload, target }).collect();
    let mut seen = Seen::default();
    let outcome = run_jobs(&mut jobs, &AtomicBool::new(false), &mut seen).unwrap();
    let order: Vec<usize> = outcome.drives.iter().map(|done| done.drive).collect();
    assert_eq!(order, drives);
    seen
}

#[test]
fn a_drive_beside_others_measures_what_it_measures_alone() {
    let together = run(&[0, 1, 2]).0;
    for drive in 0..DRIVES.len() {
        let beside_others: Vec<&Event> =
            together.iter().filter_map(|(of, event)| (*of == drive).then_some(event)).collect();
        let alone = run(&[drive]).0;
        assert!(alone.len() >= 60, "30 intervals with telemetry");
        assert_eq!(beside_others, alone.iter().map(|(_, event)| event).collect::<Vec<_>>());
    }
}

#[test]
fn the_observer_receives_intervals_in_order_of_virtual_time_and_then_of_the_drives() {
    let order = |seen: Seen| -> Vec<(Nanos, usize)> {
        let end = |(drive, event): (usize, Event)| match event {
            Event::Interval(interval) => Some((interval.end, drive)),
            Event::Telemetry(..) => None,
        };
        seen.0.into_iter().filter_map(end).collect()
    };
    let ends = order(run(&[0, 1, 2]));
    assert!(ends.is_sorted());
    assert_eq!(ends[0].1, 0, "of equal ends the first drive's comes first");
    assert_eq!(ends[1].1, 1);
}
