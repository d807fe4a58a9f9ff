//! Causes of rates in runs of simulated drives: a cache that fills while the drive is warm, limits
//! of the workload, the modelled host.

use crate::common;

use assay_analysis::attribution::{Cause, RatePhase, of_cell};
use assay_store::model::ReasonWeight;
use assay_store::model::warning::code::HOST_LIMITED;
use assay_store::read::Run;

use common::{run, text};

/// The phases of one cell with this job, and its run.
fn measured(drive: &str, job: &str, rest: &str) -> (Vec<RatePhase>, Run) {
    let suite = text(&format!(
        r#"
[[step]]
id = "cell"
title = "A cell"
kind = "measure"
job = {{ {job} }}
{rest}
"#
    ));
    let (_, run, _folder) = run(&suite, &[drive]);
    let phases = of_cell(&run, &run.cells[0], 0);
    (phases, run)
}

fn labels(phases: &[RatePhase]) -> Vec<&'static str> {
    phases.iter().map(|phase| phase.cause.label()).collect()
}

/// The drive reports throttling from 75 degrees C on, which slows nothing: the rate falls seconds
/// later, when the cache is full, and the drive cools down. Both sides of the fall were "no
/// change", with "thermal throttling" between them.
#[test]
fn a_cache_that_fills_while_the_drive_is_warm_is_a_full_cache() {
    const JOB: &str = r#"rw = "write", bs = "128k", iodepth = 8, size = "60GiB", runtime = "45s""#;
    for ambient in [30, 36, 40] {
        let drive = format!("sim:intel-600p,state=fresh,ambient={ambient}");
        let (phases, run) = measured(&drive, JOB, "");
        assert_eq!(labels(&phases), ["fresh", "SLC cache exhausted"], "{ambient} C: {phases:?}");
        assert!((14.0..=15.0).contains(&phases[1].from_s), "{phases:?}");
        let reported = run.cells[0].drives[0].telemetry.iter();
        let throttled = reported.filter(|t| t.throttled == Some(true)).count();
        assert_eq!(throttled > 0, ambient > 30, "{throttled} readings");
    }
}

#[test]
fn limits_of_the_workload_are_named() {
    for limit in [
        r#"rate_iops = "5000", iodepth = 4"#,
        r#"rate_bw = "20m", iodepth = 4"#,
        r#"rate = "5000", iodepth = 64"#,
        r#"rate = "5000", arrival = "poisson", iodepth = 64"#,
        r#"rate_iops = "2500", numjobs = 2, iodepth = 4"#,
    ] {
        let job = format!(r#"rw = "randread", bs = "4k", runtime = "15s", {limit}"#);
        let (phases, _) = measured("sim:samsung-951", &job, "");
        assert_eq!(labels(&phases), ["rate-limited"], "{limit}: {phases:?}");
        let Cause::RateLimited { iops } = phases[0].cause else {
            unreachable!("by its label");
        };
        assert!((5000.0..=5120.0).contains(&iops), "{limit}: {iops}");
    }
    // The drive is slower than the limit.
    let job = r#"rw = "randread", bs = "4k", runtime = "15s", rate_iops = "100000""#;
    let (phases, _) = measured("sim:samsung-951", job, "");
    assert_eq!(labels(&phases), ["no change"], "{phases:?}");
}

const RULE: &str = r#"
[[verdict.rule]]
about = "reads"
figure = "best_iops"
step = "cell"
good = 1000.0
bad = 500.0
advice = "slow"
[[verdict.rule]]
about = "I/O errors"
figure = "errors"
good = 0.0
bad = 0.0
lower_is_better = true
advice = "bad"
"#;

/// One thread that spends 3.4 us on each asynchronous I/O makes 294,118 of them per second,
/// whatever the drive; 18 processors make 900,000 synchronous ones of 20 us.
#[test]
fn limits_of_a_simulated_host_are_named_and_no_recommendation() {
    let threads = r#"rw = "randread", bs = "4k", numjobs = 512, runtime = "4s""#;
    let (phases, _) = measured("sim:memblaze-pblaze5-c916", threads, "");
    assert_eq!(labels(&phases), ["limited by the host"], "{phases:?}");
    let one = r#"rw = "randread", bs = "4k", iodepth = 128, runtime = "4s""#;
    let (phases, run) = measured("sim:intel-p4510", one, RULE);
    assert_eq!(labels(&phases), ["limited by the host"], "{phases:?}");
    assert!((phases[0].mean_iops - 294_118.0).abs() < 300.0);
    let warned = run.warnings.iter().any(|w| w.code == HOST_LIMITED);
    assert!(warned, "{:?}", run.warnings);
    let verdict = run.verdicts[0].as_ref().unwrap();
    let weights: Vec<_> = verdict.reasons.iter().map(|r| r.weight).collect();
    assert!(weights.contains(&ReasonWeight::Caution), "{verdict:?}");
    // At depth 1 the host waits for the drive.
    let waiting = r#"rw = "randread", bs = "4k", runtime = "12s""#;
    let (phases, run) = measured("sim:intel-p4510", waiting, RULE);
    assert_eq!(labels(&phases), ["no change"], "{phases:?}");
    assert!(!run.warnings.iter().any(|w| w.code == HOST_LIMITED));
}
