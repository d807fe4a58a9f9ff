//! Texts that a user writes or receives: files in TOML, INI and CSV, words of the command line.

use std::io::{Cursor, ErrorKind};
use std::path::Path;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_fio_job::substitute::Substitution;
use assay_fio_job::{JobFile, convert};
use assay_fleet::Plan;
use assay_fleet::sweep::SweepFile;
use assay_import::Parsed;
use assay_import::fio::logs::{self, Rates};
use assay_import::fio::options::Options;
use assay_import::format::Format;
use assay_import::judge::judge;
use assay_ssd::profile::Profile;
use assay_stats::Histogram;
use assay_suite::expand::{RunSettings, expand};
use assay_suite::schema::{Suite, VerdictRules};
use assay_trace::{TraceFormat, TraceReader};
use assay_units::text::parse_rate;
use assay_units::text::printable;
use assay_units::{Nanos, Op, parse_duration, parse_size};
use assay_workload::options::{JOB_OPTIONS, JobOptions};
use assay_workload::plan::Workload;

/// Suites are expanded over it.
const DRIVE: &str = "null:size=1g";

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

fn null_drive() -> DriveSession {
    let spec = DriveSpec::parse(DRIVE).expect("a null target");
    DriveSession::open(&spec, &SessionOptions::default()).expect("a null target")
}

/// Drive profiles are `sim:FILE.toml`.
pub fn profile(data: &[u8]) {
    if let Some(text) = text(data) {
        let _ = Profile::from_toml(text);
    }
}

/// Reads the format that the trace's head suggests, and each of the others.
pub fn trace(data: &[u8]) {
    let formats = TraceFormat::all().map(Some);
    for format in formats.chain([None]) {
        let input = Box::new(Cursor::new(data.to_vec()));
        let Ok(mut reader) = TraceReader::new("trace".to_owned(), input, format, None) else {
            continue;
        };
        let mut last = Nanos::ZERO;
        while let Ok(Some(record)) = reader.next_record() {
            assert!(record.time >= last, "times go back");
            assert!(record.len_bytes > 0 || record.op == Op::Flush);
            assert!(
                record.offset_bytes.checked_add(record.len_bytes).is_some_and(|end| end <= 1 << 63)
            );
            last = record.time;
        }
    }
}

/// Parses a suite and expands it into cells.
pub fn suite(data: &[u8]) {
    let Some(Ok(suite)) = text(data).map(|text| Suite::parse("suite.toml", text)) else {
        return;
    };
    let settings = RunSettings { set: Vec::new(), scale: 0.01, seed: 1 };
    let _ = expand(&suite, &settings, &[null_drive()]);
}

pub fn policy(data: &[u8]) {
    if let Some(text) = text(data) {
        let _ = VerdictRules::parse("policy.toml", text);
        let _ = VerdictRules::parse_facts("facts.toml", text);
    }
}

/// Reads a plan and its list of serials. The canonical text of a plan is the same plan.
pub fn fleet_plan(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (plan, list) = text.split_once('\u{1}').unwrap_or((text, ""));
    let read = |file: &str| match file.ends_with(".toml") {
        true => Err(ErrorKind::NotFound.into()),
        false => Ok(list.to_owned()),
    };
    let Ok(plan) = Plan::parse("plan.toml", plan, &read) else {
        return;
    };
    let again = Plan::parse("plan.toml", &plan.canonical(), &read);
    let again = again.expect("a canonical text is a plan");
    assert_eq!(again.canonical(), plan.canonical());
    assert_eq!(again.id().ok(), plan.id().ok());
}

pub fn fleet_sweep(data: &[u8]) {
    if let Some(text) = text(data) {
        let _ = SweepFile::parse("sweep.toml", text);
    }
}

pub fn fio_job(data: &[u8]) {
    let mut reads = 0;
    let mut read = |_: &Path| {
        reads += 1;
        match reads {
            1 => Ok(data.to_vec()),
            _ => Err(ErrorKind::NotFound.into()),
        }
    };
    let with = Substitution {
        variable: &|name| (name == "SIZE").then(|| "1m".to_owned()),
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 2,
    };
    if let Ok(file) = JobFile::read(Path::new("job.fio"), &with, &mut read) {
        let _ = convert(&file, Some(DRIVE));
    }
}

/// Measurements as `assay fit --to FILE.csv` reads them.
pub fn csv_table(data: &[u8]) {
    if let Some(text) = text(data) {
        let _ = assay_calibrate::table::measurements("table.csv", text);
    }
}

/// A histogram that is read is written with the same counts.
pub fn histogram(data: &[u8]) {
    let Some(Ok(read)) = text(data).map(Histogram::decode) else {
        return;
    };
    let again = Histogram::decode(&read.encode()).expect("a written histogram is read");
    assert_eq!(again.count(), read.count());
    assert_eq!(again.encode(), read.encode());
}

/// Drives, options of jobs, quantities: lines, each `NAME VALUE` or a word.
pub fn words(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let mut options = JobOptions::default();
    for line in text.lines() {
        let _ = DriveSpec::parse(line);
        let _ = (parse_size(line), parse_rate(line), parse_duration(line));
        assert!(!printable(line).contains(char::is_control));
        if let Some((name, value)) = line.split_once(' ')
            && JOB_OPTIONS.iter().any(|option| option.name == name)
        {
            let _ = options.set(name, value);
        }
    }
    let target = null_drive().target_properties();
    let _ = Workload::plan(&options, &target);
}

/// Results of other programs: whatever a file holds, every figure is a number that JSON can hold.
pub fn import(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else {
        return;
    };
    let logs = ["a_bw.1.log", "a_iops.2.log", "a_clat.log", "a_clat_hist.1.log"];
    let name = match usize::from(kind % 5) {
        0 => "result",
        log => logs[log - 1],
    };
    let assumed = Options::new([("direct", "1"), ("iodepth", "8")]);
    let parsed = match (Format::detect(name, text), logs::kind_of(name)) {
        (Some(Format::FioLog), Some((_, kind))) => Parsed {
            jobs: Rates::parse(kind, text).job(name, &assumed).into_iter().collect(),
            ..Parsed::default()
        },
        (Some(format), _) => format.parse(text, &assumed).unwrap_or_default(),
        (None, _) => Parsed::default(),
    };
    for mut job in parsed.jobs {
        judge(&mut job);
        for direction in job.directions() {
            let summary = &direction.summary;
            let latency = &summary.latency_ns;
            for value in [summary.iops, summary.mib_per_s, latency.mean, latency.stddev] {
                assert!((0.0..=1e18).contains(&value), "{value} in {summary:?}");
            }
        }
    }
}
