//! Workloads fitted to traces that known workloads made: the options are recovered.

use std::fs;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_trace::fit::FittedWorkload;
use assay_trace::profile::TraceProfile;
use assay_trace::{TraceSource, TraceSurvey};
use assay_units::Rng;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

const REQUESTS: u64 = 60_000;

/// The trace of a job: its own addresses and sizes, `rate` requests per second with random gaps.
fn fitted(options: &[(&str, &str)], reads_pct: u64, rate: f64) -> (FittedWorkload, TraceProfile) {
    let mut job = JobOptions::default();
    for (name, value) in options {
        job.set(name, value).unwrap();
    }
    let spec = DriveSpec::parse("sim:samsung-951").unwrap();
    let session = DriveSession::open(&spec, &SessionOptions::default()).unwrap();
    let workload = Workload::plan(&job, &session.target_properties()).unwrap();
    let mut addresses = workload.addresses(0).unwrap();
    let (mut choice, mut gaps) = (Rng::stream(5, "mix"), Rng::stream(5, "gaps"));
    let mut at_us = 0.0;
    let mut text = String::new();
    for _ in 0..REQUESTS {
        let write = choice.below(100) >= reads_pct;
        let (offset, len) = addresses.next(write);
        at_us += gaps.exponential(1e6 / rate);
        let letter = if write { "W" } else { "R" };
        text += &format!("1,{letter},{offset},{len},{}\n", at_us as u64);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, text).unwrap();
    let source = TraceSource { path, format: None, device: None };
    let survey = TraceSurvey::load(&source).unwrap();
    let profile = TraceProfile::new(&source, &survey).unwrap();
    (FittedWorkload::new(&survey, &profile), profile)
}

/// Bounds stated in docs/traces.md: theta from 0.5 on within 0.05 and none of a uniform order, runs
/// and rate within 2 %, mix and sizes within 1 percentage point.
#[test]
fn known_workloads_are_recovered() {
    for theta in [0.0, 0.5, 0.8, 0.99, 1.2] {
        for run in [1, 4, 16] {
            let rw = match run {
                1 => "randrw".to_owned(),
                _ => format!("randrw:{run}"),
            };
            let law = format!("zipf:{theta}");
            let mut options =
                vec![("rw", rw.as_str()), ("bs", "4k"), ("size", "256m"), ("offset", "1g")];
            if theta > 0.0 {
                options.push(("random_distribution", &law));
            }
            let (fit, profile) = fitted(&options, 70, 5000.0);
            let case = format!("theta {theta}, run {run}: {fit:?}");
            assert!((profile.theta - theta).abs() < 0.05, "{case}: {}", profile.theta);
            assert_eq!(fit.rw, rw, "{case}");
            let length = profile.requests as f64 / profile.runs as f64;
            assert!((length / f64::from(run) - 1.0).abs() < 0.02, "{case}: {length}");
            assert!(fit.read_percent.unwrap().abs_diff(70) <= 1, "{case}");
            assert_eq!(fit.bs, "4k", "{case}");
            let (rate, poisson) = fit.rate.unwrap();
            assert!((rate as f64 / 5000.0 - 1.0).abs() < 0.02 && poisson, "{case}");
            let (low, size) = fit.area;
            assert!(
                low.abs_diff(1 << 30) < 8 << 20 && (low + size).abs_diff(5 << 28) < 8 << 20,
                "{case}"
            );
        }
    }
}

#[test]
fn sizes_of_reads_and_writes_are_recovered() {
    let options = [("rw", "randrw"), ("bs", "4k/60:64k/40,8k/25:128k/75"), ("size", "8g")];
    let (fit, _) = fitted(&options, 50, 1000.0);
    let shares = |text: &str| -> Vec<(String, u32)> {
        let parts = text.split(':').map(|part| part.split_once('/').unwrap());
        parts.map(|(size, share)| (size.to_owned(), share.parse().unwrap())).collect()
    };
    let (reads, writes) = fit.bs.split_once(',').unwrap();
    for (found, wanted) in
        [(reads, [("4k", 60), ("64k", 40)]), (writes, [("8k", 25), ("128k", 75)])]
    {
        for ((size, share), (known, percent)) in shares(found).into_iter().zip(wanted) {
            assert_eq!(size, known);
            assert!(share.abs_diff(percent) <= 1, "{}", fit.bs);
        }
    }
}

#[test]
fn sequential_workloads_are_recovered() {
    for (rw, reads) in [("read", 100), ("write", 0), ("rw", 30)] {
        let (fit, _) = fitted(&[("rw", rw), ("bs", "128k"), ("size", "16g")], reads, 2000.0);
        assert_eq!((fit.rw.as_str(), fit.bs.as_str()), (rw, "128k"));
        assert_eq!(fit.distribution, None);
    }
}
