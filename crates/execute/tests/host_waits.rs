//! How long a simulated drive makes its host wait: no command of any writing workload of any suite
//! takes longer than [`LIMIT`], but for [`EXCEPTIONS`].
//!
//! Each drive is filled in order and overwritten at random; then each workload of the catalogue
//! runs for a while, after a burst of small random writes into the cache and a pause in which the
//! drive folds and collects garbage. So the drive is full, behind with its work, and has begun some.
//!
//! The drives are reduced ([`Reduced`]), so that all take about a minute; `make test-long` leaves
//! those of up to 512 GB their whole bandwidth.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, OpenMode, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_io::{Nanos, Telemetry};
use assay_ssd::Profile;
use assay_stats::{HostLoad, Interval};
use assay_suite::catalogue;
use assay_suite::expand::expand;
use assay_workload::options::JobOptions;
use assay_workload::plan::{Pacing, Workload};
use assay_workload::run::{DriveJob, RunObserver, run_jobs};

use crate::common::settings;

/// A sixth of the time after which Linux aborts a command and then resets the drive (30 s, module
/// parameter `io_timeout` of `nvme_core`).
const LIMIT: Nanos = Nanos(5_000_000_000);
/// With fewer blocks per plane, the spare area would be too few superblocks to collect garbage.
const LEAST_BLOCKS: i64 = 300;
/// Idle time before a workload, in turn: none, just begun, in the middle, nearly over.
const PAUSES_S: [u64; 4] = [0, 2, 5, 60];

/// Workloads whose commands wait longer, because of what their host sends at once.
struct Exception {
    drive: &'static str,
    in_flight_bytes: u64,
    limit: Nanos,
    source: &'static str,
}

const EXCEPTIONS: &[Exception] = &[Exception {
    drive: "wd-black",
    in_flight_bytes: 128 << 20,
    limit: Nanos(6_000_000_000),
    source: "233 MB/s of steady sequential writing (DragonFly NVMe tests): 128 MiB sent at once take \
             0.6 s times the write amplification, 8 to 9 of a drive with 6 % of spare area",
}];

/// A drive's profile with a part of its dies and planes, and as much less cache and buffer: a block,
/// a program and the way of data through the cache take as long as on the drive.
struct Reduced {
    profile: toml::Table,
    /// The bandwidth of its flash and the bytes of its cache are this part of the drive's.
    parts: i64,
}

impl Reduced {
    fn new(name: &str, most_bytes: i64) -> Reduced {
        let profile: toml::Table = toml::from_str(Profile::builtin_text(name).unwrap()).unwrap();
        let mut reduced = Reduced { profile, parts: 1 };
        if reduced.profile.contains_key("in_place") {
            // Media that are written in place answer alike whatever the capacity.
            let capacity = reduced.number("identity", "capacity_bytes").unwrap();
            *capacity = most_bytes.min(*capacity) & !((1 << 20) - 1);
        }
        while reduced.get("identity", "capacity_bytes").unwrap() > most_bytes
            && (reduced.halve_blocks() || reduced.divide_by_dies() || reduced.divide_by_planes())
        {
        }
        reduced
    }

    fn number(&mut self, section: &str, key: &str) -> Option<&mut i64> {
        let mut table = &mut self.profile;
        for part in section.split('.') {
            table = table.get_mut(part)?.as_table_mut()?;
        }
        match table.get_mut(key)?.get_mut("value")? {
            toml::Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    fn get(&mut self, section: &str, key: &str) -> Option<i64> {
        self.number(section, key).copied()
    }

    fn divide(&mut self, section: &str, key: &str, factor: i64, least: i64) {
        if let Some(value) = self.number(section, key) {
            *value = (*value / factor).max(least);
        }
    }

    /// Fewer blocks leave the bandwidth as it is.
    fn halve_blocks(&mut self) -> bool {
        if self.get("nand", "blocks_per_plane") < Some(LEAST_BLOCKS * 2) {
            return false;
        }
        self.divide("nand", "blocks_per_plane", 2, 1);
        // As large a share of the spare area is kept free.
        self.divide("ftl", "gc_low_superblocks", 2, 2);
        self.divide("gc", "high_superblocks", 2, 2);
        self.divide_capacity(2);
        true
    }

    fn divide_by_dies(&mut self) -> bool {
        let Some(factor) = least_factor(self.get("nand", "dies")) else {
            return false;
        };
        self.divide("nand", "dies", factor, 1);
        let dies = self.get("nand", "dies").unwrap();
        let channels = self.number("nand", "channels").unwrap();
        *channels = dies.min(*channels);
        // Engines that fold a die each; where they are fewer than the dies, they become slower.
        match self.get("slc", "fold_parallel") {
            Some(engines) if engines % factor != 0 => {
                *self.number("slc", "fold_ns").unwrap() *= factor;
            }
            _ => self.divide("slc", "fold_parallel", factor, 1),
        }
        self.divide_bytes(factor);
        true
    }

    fn divide_by_planes(&mut self) -> bool {
        let Some(factor) = least_factor(self.get("nand", "planes")) else {
            return false;
        };
        self.divide("nand", "planes", factor, 1);
        // Where reads find their planes does not change how long writes wait.
        let nand = self.profile["nand"].as_table_mut().unwrap();
        for key in ["single_plane_bytes", "stripe_bytes", "independent_plane_reads"] {
            nand.remove(key);
        }
        self.divide_bytes(factor);
        true
    }

    fn divide_bytes(&mut self, factor: i64) {
        self.parts *= factor;
        self.divide("buffer", "bytes", factor, 512 << 10);
        self.divide("buffer.overflow", "through_bytes", factor, 384 << 10);
        self.divide_capacity(factor);
    }

    fn divide_capacity(&mut self, factor: i64) {
        self.divide("identity", "capacity_bytes", factor, 1);
        *self.number("identity", "capacity_bytes").unwrap() &= !((1 << 20) - 1);
        self.divide("slc", "bytes", factor, 0);
        self.divide("slc", "borrowed_bytes", factor, 0);
    }
}

fn least_factor(of: Option<i64>) -> Option<i64> {
    let of = of?;
    (2..=of).find(|factor| of % factor == 0)
}

struct Host {
    session: DriveSession,
    parts: u64,
}

struct Unobserved;

impl RunObserver for Unobserved {
    fn interval(&mut self, _: usize, _: &Interval) {}
    fn telemetry(&mut self, _: usize, _: Nanos, _: Telemetry) {}
    fn host(&mut self, _: u32, _: HostLoad) {}
}

impl Host {
    /// The longest latency of a workload of this test's own.
    fn write(&mut self, options: &[(&str, &str)]) -> Nanos {
        let mut job = JobOptions::default();
        for (name, value) in [("interval", "10s")].iter().chain(options) {
            job.set(name, value).unwrap();
        }
        self.run(Workload::plan(&job, &self.session.target_properties()).unwrap())
    }

    /// The longest latency of a workload, with a part of what is in flight, as the drive is a part.
    fn run(&mut self, mut workload: Workload) -> Nanos {
        let in_flight = u64::from(workload.numjobs) * u64::from(workload.iodepth);
        let in_flight = (in_flight / self.parts).max(1) as u32;
        workload.numjobs = workload.numjobs.min(in_flight);
        workload.iodepth = in_flight / workload.numjobs;
        let mut target = self.session.acquire(OpenMode::default()).unwrap();
        let mut jobs = [DriveJob { drive: 0, workload: &workload, target: &mut target }];
        let outcome = run_jobs(&mut jobs, &AtomicBool::new(false), &mut Unobserved).unwrap();
        self.session.release(target);
        let totals = &outcome.drives[0].totals;
        assert_eq!(totals.errors(), 0);
        let counts = totals.ops().filter_map(|op| totals.counts(op));
        counts.map(|counts| counts.latency.max()).max().unwrap()
    }
}

/// The writing workloads of all suites, each once, with as many bytes and 4,000 I/Os at most.
fn workloads(session: &mut DriveSession, bytes: u64) -> Vec<(String, Workload)> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for name in catalogue::names() {
        let suite = catalogue::load(name).unwrap();
        let plan = expand(&suite, &settings(&[], 1.0), std::slice::from_ref(session)).unwrap();
        for cell in plan.cells {
            let writing = cell.workloads.into_iter();
            for mut workload in writing.filter(|workload| workload.writes()) {
                let threads = u64::from(workload.numjobs);
                workload.runtime = None;
                workload.io_bytes = Some((bytes / threads).max(1 << 20));
                workload.ios = Some((4000 / threads).max(1));
                workload.ramp = Nanos::ZERO;
                workload.start_delay = Nanos::ZERO;
                workload.interval = Nanos::from_secs(1);
                workload.verify_bytes = None;
                workload.verify_backlog = None;
                workload.reads_back = false;
                workload.flow = None;
                // As fast as the drive takes it, so that the drive is behind.
                workload.pacing = Pacing::Closed;
                let access = (&workload.access.block_sizes, &workload.access.write_sizes);
                let pauses = (&workload.flush_every, &workload.synchronous_writes, &workload.think);
                let depth = (workload.numjobs, workload.iodepth);
                let mix = (&workload.rw, workload.read_percent, workload.trims);
                if seen.insert(format!("{mix:?} {access:?} {depth:?} {pauses:?}")) {
                    found.push((format!("{name}: {}", cell.plan.id), workload));
                }
            }
        }
    }
    found
}

fn limit(drive: &str, workload: &Workload) -> (Nanos, &'static str) {
    let largest = workload.access.block_sizes.max_bytes();
    let depth = u64::from(workload.numjobs) * u64::from(workload.iodepth);
    let in_flight_bytes = depth * u64::from(largest);
    let applies = |exception: &&Exception| {
        exception.drive == drive && in_flight_bytes >= exception.in_flight_bytes
    };
    let exception = EXCEPTIONS.iter().find(applies);
    exception.map_or((LIMIT, "no exception"), |exception| (exception.limit, exception.source))
}

/// Returns the longest latency, for the record.
fn check(name: &str, most_bytes: i64) -> Nanos {
    let folder = tempfile::tempdir().unwrap();
    let reduced = Reduced::new(name, most_bytes);
    let path = folder.path().join("drive.toml");
    std::fs::write(&path, toml::to_string(&reduced.profile).unwrap()).unwrap();
    let spec = DriveSpec::parse(&format!("sim:{},state=fresh", path.display())).unwrap();
    let session = DriveSession::open(&spec, &SessionOptions::default()).unwrap();
    let parts = reduced.parts as u64;
    let mut host = Host { session, parts };
    let bytes = host.session.info().capacity_bytes / 100;
    let workloads = workloads(&mut host.session, bytes);
    assert!(workloads.len() > 100, "{}", workloads.len());
    let filled = host.write(&[("rw", "write"), ("bs", "128k"), ("iodepth", "32")]);
    let small = [("rw", "randwrite"), ("bs", "4k"), ("iodepth", "64")];
    let overwrite =
        |host: &mut Host, share| host.write(&[&small[..], &[("io_size", share)]].concat());
    let mut longest = filled.max(overwrite(&mut host, "100%"));
    assert!(longest <= LIMIT, "{name}, preconditioning: {longest}");
    for ((id, workload), pause_s) in workloads.into_iter().zip(PAUSES_S.into_iter().cycle()) {
        let burst = overwrite(&mut host, "2%");
        assert!(burst <= LIMIT, "{name}, before {id}: {burst}");
        host.session.idle(Nanos::from_secs(pause_s));
        let (limit, source) = limit(name, &workload);
        let waited = host.run(workload);
        assert!(waited <= limit, "{name}, {id} after {pause_s} s: {waited}, {source}");
        longest = longest.max(waited).max(burst);
    }
    longest
}

fn check_all(with_cache: bool) {
    // Blocks go first: a drive of up to 512 GB keeps its bandwidth at the greater size.
    let most_bytes = match std::env::var_os("ASSAY_TESTS_LONG") {
        Some(_) => 130_000_000_000,
        None => 2_000_000_000,
    };
    let names = Profile::names().into_iter();
    let has_cache = |name: &&str| Profile::builtin(name).unwrap().slc.is_some() == with_cache;
    let mut checked = 0;
    for name in names.filter(has_cache) {
        println!("{name}: {}", check(name, most_bytes));
        checked += 1;
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn drives_with_a_cache_never_hold_up_their_host_while_they_fold() {
    check_all(true);
}

#[test]
fn drives_without_a_cache_never_hold_up_their_host() {
    check_all(false);
}
