//! Attribution of measured series: a file, and a zram device where the kernel has one (as root).
//! Neither has an SLC cache, garbage collection or throttling, so only steady, host-limited and
//! unexplained are correct labels.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use assay_analysis::attribution::{Cause, CellContext, ObservedCell, ObservedInterval, phases};
use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_io::Telemetry;
use assay_stats::{HostLoad, Interval, LatencySummary};
use assay_store::read::CellDrive;
use assay_store::series::OpSample;
use assay_units::Nanos;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveJob, RunObserver, run_jobs};

/// Lock file that serialises the tests of all processes that use block devices.
const LOCK: &str = "/tmp/assay-devices.lock";
const SIZE_MIB: u64 = 64;

#[derive(Default)]
struct Seen {
    intervals: BTreeMap<u32, Interval>,
    host: BTreeMap<u32, HostLoad>,
    celsius: Vec<(Nanos, f64)>,
}

impl RunObserver for Seen {
    fn interval(&mut self, _drive: usize, interval: &Interval) {
        self.intervals
            .entry(interval.index)
            .and_modify(|known| known.merge(interval))
            .or_insert_with(|| interval.clone());
    }

    fn telemetry(&mut self, _drive: usize, at: Nanos, telemetry: Telemetry) {
        self.celsius.extend(telemetry.temperature_c.map(|c| (at, c)));
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        self.host.insert(index, load);
    }
}

/// Runs a workload for some seconds with five intervals per second; returns the data of a run
/// folder.
fn watch(path: &str, serial: Option<&str>, rw: &str, bs: &str, iodepth: u32) -> ObservedCell {
    let options = SessionOptions {
        will_write: rw.ends_with("write"),
        destroy: serial.map(str::to_owned).into_iter().collect(),
        ..SessionOptions::default()
    };
    let mut session = DriveSession::open(&DriveSpec::parse(path).unwrap(), &options).unwrap();
    let job = JobOptions {
        rw: Some(rw.to_owned()),
        bs: Some(bs.to_owned()),
        iodepth: Some(iodepth),
        runtime: Some("4s".to_owned()),
        interval: Some("200ms".to_owned()),
        ..JobOptions::default()
    };
    let workload = Workload::plan(&job, &session.target_properties()).unwrap();
    let mut target = session.acquire(workload.open_mode()).unwrap();
    let mut seen = Seen::default();
    let mut parts = [DriveJob { drive: 0, workload: &workload, target: &mut target }];
    let outcome = run_jobs(&mut parts, &AtomicBool::new(false), &mut seen).unwrap();
    let busiest = outcome.drives[0].busiest_thread_pct;
    let ops = seen.intervals.values().flat_map(|interval| {
        interval.ops.iter().map(|(op, counts)| OpSample {
            index: interval.index,
            ramp: interval.ramp,
            start: interval.start,
            end: interval.end,
            op: *op,
            ios: counts.ios,
            bytes: counts.bytes,
            errors: counts.errors,
            latency: LatencySummary::new(&counts.latency),
        })
    });
    let part = CellDrive {
        drive: 0,
        result: None,
        series: ops.collect(),
        telemetry: Vec::new(),
        distributions: Vec::new(),
        gaps: Vec::new(),
    };
    let samples = part.measured_intervals().into_iter();
    let intervals = samples.map(|sample| ObservedInterval {
        sample,
        temperature_c: seen.celsius.iter().rev().find(|(at, _)| *at <= sample.end).map(|(_, c)| *c),
        host_idle_pct: seen.host.get(&sample.index).map(|load| load.idle_pct + load.iowait_pct),
        busiest_thread_pct: Some(busiest),
        ..ObservedInterval::default()
    });
    let intervals = intervals.collect();
    let capacity_bytes = session.info().capacity_bytes;
    let context = CellContext {
        write_share: if workload.writes() { 1.0 } else { 0.0 },
        random: rw.starts_with("rand"),
        capacity_bytes,
        span_bytes: capacity_bytes,
        ..CellContext::default()
    };
    session.release(target);
    ObservedCell { intervals, context }
}

fn assert_no_false_label(path: &str, serial: Option<&str>) {
    for (rw, bs, iodepth) in
        [("write", "128k", 4), ("randwrite", "4k", 8), ("read", "128k", 4), ("randread", "4k", 8)]
    {
        let observed = watch(path, serial, rw, bs, iodepth);
        assert!(observed.intervals.len() > 10, "{path} {rw}: {observed:?}");
        let found = phases(&observed);
        for phase in &found {
            println!(
                "{path} {rw} {bs}: {:.1} to {:.1} s, {:.0} MiB/s, {}: {}",
                phase.from_s,
                phase.to_s,
                phase.mean_mib_per_s,
                phase.cause.label(),
                phase.evidence
            );
            assert!(
                matches!(phase.cause, Cause::Steady | Cause::HostLimited | Cause::Unexplained),
                "{path} {rw}: {phase:?}\n{:?}",
                observed.intervals.iter().map(|m| m.sample.iops() as u64).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn no_false_cause_is_reported_for_a_file() {
    let dir = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("drive.bin");
    // Written, not sparse: holes would be filled during the measurement.
    fs::write(&path, vec![0xa5u8; (SIZE_MIB << 20) as usize]).unwrap();
    assert_no_false_label(path.to_str().unwrap(), Some("drive.bin"));
}

/// A zram device, removed on drop.
struct Zram(String);

impl Drop for Zram {
    fn drop(&mut self) {
        // udev may still hold the device open.
        let remove = format!(
            "for n in 1 2 3 4 5 6 7 8 9; do echo {} > /sys/class/zram-control/hot_remove && exit; \
             sleep 0.2; done; exit 1",
            self.0
        );
        let removed = Command::new("sh").args(["-c", &remove]).status();
        if !removed.is_ok_and(|status| status.success()) {
            eprintln!("zram{} is left behind", self.0);
        }
    }
}

#[test]
fn no_false_cause_is_reported_for_zram() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: setting up block devices needs root");
        return;
    }
    // Dropped after the device.
    let lock = File::options().create(true).truncate(false).write(true).open(LOCK).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let Ok(number) = fs::read_to_string("/sys/class/zram-control/hot_add") else {
        println!("skipped: no zram here");
        return;
    };
    let zram = Zram(number.trim().to_owned());
    let size = format!("/sys/block/zram{}/disksize", zram.0);
    fs::write(size, format!("{SIZE_MIB}M")).unwrap();
    let path = format!("/dev/zram{}", zram.0);
    let spec = DriveSpec::parse(&path).unwrap();
    let serial =
        DriveSession::open(&spec, &SessionOptions::default()).unwrap().info().serial.clone();
    assert_no_false_label(&path, Some(&serial));
}
