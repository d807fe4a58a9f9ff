//! Runs for tests, made up: nothing was measured.

use assay_stats::{LatencySummary, OpSummary};
use assay_store::Run;
use assay_store::model::{
    CellPlan, CellResult, Drive, Host, Manifest, Outcome, SCHEMA, Suite, Tool, Workload,
};
use assay_store::read::{CellDrive, CellRecord, CellState};
use assay_store::series::OpSample;
use assay_units::{MIB, Nanos, Op, Rng};

/// A simulated drive of this specification.
pub fn drive(spec: &str) -> Drive {
    Drive {
        spec: spec.to_owned(),
        label: spec
            .trim_start_matches("sim:")
            .split(',')
            .next()
            .unwrap_or(spec)
            .to_owned(),
        kind: "simulated".to_owned(),
        simulated: true,
        ..Drive::default()
    }
}

/// A run of drives without cells.
pub fn run(drives: Vec<Drive>) -> Run {
    Run {
        path: "/tmp/made".into(),
        manifest: Manifest {
            schema: SCHEMA,
            run_id: "made".to_owned(),
            created: "2026-11-21T03:15:14Z".to_owned(),
            tool: Tool {
                name: "assay".to_owned(),
                version: "0".to_owned(),
                commit: "unknown".to_owned(),
            },
            command_line: Vec::new(),
            suite: Suite {
                name: "made".to_owned(),
                title: String::new(),
                summary: String::new(),
                source: String::new(),
                text: String::new(),
            },
            parameters: Default::default(),
            scale: 1.0,
            seed: 1,
            host: Host::default(),
            drives,
            cells: Vec::new(),
        },
        audit: None,
        cells: Vec::new(),
        warnings: Vec::new(),
        steady: Vec::new(),
        verdicts: Vec::new(),
        outcome: Some(Outcome::Complete),
        damaged_lines: Vec::new(),
    }
}

/// A random-read workload.
pub fn reads(bs_bytes: u64, numjobs: u32, iodepth: u32) -> Workload {
    Workload {
        rw: "randread".to_owned(),
        bs_bytes,
        numjobs,
        iodepth,
        ..Workload::default()
    }
}

/// A whole cell of a step on drive 0.
pub fn plan(step: &str, workload: Workload) -> CellPlan {
    CellPlan {
        id: format!(
            "{step}/{}/{}x{}",
            workload.bs_bytes, workload.numjobs, workload.iodepth
        ),
        step: step.to_owned(),
        title: step.to_owned(),
        drives: vec![0],
        workload,
        ..CellPlan::default()
    }
}

/// A finished cell: `seconds` of about `iops` with a spread of `spread` (share of 1), drawn from `seed`.
pub fn cell(
    plan: CellPlan,
    iops: f64,
    latency_ns: f64,
    seconds: u32,
    spread: f64,
    seed: u64,
) -> CellRecord {
    let mut rng = Rng::stream(seed, &plan.id);
    let bs = plan.workload.bs_bytes;
    let series: Vec<OpSample> = (0..seconds)
        .map(|index| {
            // Uniform, with this standard deviation.
            let noise = 1.0 + spread * 12.0_f64.sqrt() * (rng.unit_f64() - 0.5);
            let ios = (iops * noise).round() as u64;
            OpSample {
                index,
                ramp: false,
                start: Nanos::from_secs(index.into()),
                end: Nanos::from_secs(u64::from(index) + 1),
                op: Op::Read,
                ios,
                bytes: ios * bs,
                errors: 0,
                latency: LatencySummary {
                    samples: ios,
                    mean: latency_ns / noise,
                    p99: (latency_ns * 3.0 / noise) as u64,
                    ..LatencySummary::default()
                },
            }
        })
        .collect();
    let ios: u64 = series.iter().map(|p| p.ios).sum();
    let elapsed = Nanos::from_secs(seconds.into());
    let rate = ios as f64 / f64::from(seconds);
    let result = CellResult {
        elapsed,
        read: OpSummary {
            ios,
            bytes: ios * bs,
            iops: rate,
            mib_per_s: rate * bs as f64 / MIB as f64,
            latency_ns: LatencySummary {
                samples: ios,
                mean: latency_ns,
                p99: (latency_ns * 3.2) as u64,
                ..LatencySummary::default()
            },
            ..OpSummary::default()
        },
        ..CellResult::default()
    };
    CellRecord {
        plan,
        state: CellState::Finished,
        drives: vec![CellDrive {
            drive: 0,
            result: Some(result),
            series,
            telemetry: Vec::new(),
            distributions: Vec::new(),
        }],
        host: Vec::new(),
    }
}
