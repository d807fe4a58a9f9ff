//! Fixtures: synthetic runs with rates of the order of magnitude of DragonFly 2018.
#![allow(dead_code, unused_imports, clippy::unwrap_used)] // every test file uses its own part of this; it is test code

pub mod page;
mod suite;
pub mod views;

pub use suite::{bandwidth, seven};

use std::collections::BTreeMap;

use assay_stats::{Histogram, HostLoad, LatencySummary, OpInterval, OpSummary};
use assay_store::model::*;
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_store::series::OpSample;
use assay_units::text::compact_size;
use assay_units::{GIB, KIB, Nanos, Op, Rng};

/// Block sizes of the random read sweep.
pub const SIZES: [u64; 10] =
    [512, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB];

/// Parameters of a synthetic cell.
pub struct Shape {
    pub mib_per_s: f64,
    pub seconds: u64,
    pub course: fn(u64, u64) -> f64,
    pub temperature: Option<fn(u64, u64) -> f64>,
    pub errors: u64,
}

pub const STEADY: Shape =
    Shape { mib_per_s: 0.0, seconds: 5, course: |_, _| 1.0, temperature: None, errors: 0 };

pub fn workload(rw: &str, bs: u64, numjobs: u32) -> WorkloadRecord {
    WorkloadRecord {
        rw: rw.to_owned(),
        bs_bytes: bs,
        iodepth: 1,
        numjobs,
        engine: "sim".to_owned(),
        direct: true,
        span_bytes: 16 * GIB,
        offset_bytes: 0,
        data: "incompressible".to_owned(),
        runtime_ns: 5_000_000_000,
        ramp_ns: 1_000_000_000,
        rate_iops: 0.0,
        options: format!(
            "--rw {rw} --bs {} --numjobs {numjobs} --iodepth 1 --size 16g",
            compact_size(bs)
        ),
        ..WorkloadRecord::default()
    }
}

pub fn plan(
    id: &str,
    step: &str,
    title: &str,
    kind: CellKind,
    drives: &[usize],
    workload: WorkloadRecord,
) -> CellPlan {
    CellPlan {
        id: id.to_owned(),
        step: step.to_owned(),
        title: title.to_owned(),
        kind,
        drives: drives.to_vec(),
        workload,
        ..CellPlan::default()
    }
}

/// A drive's data in a cell, with consistent histograms and intervals.
pub fn part(
    drive: usize,
    cell: &str,
    workload: &WorkloadRecord,
    shape: &Shape,
    seed: u64,
) -> CellDrive {
    let mut rng = Rng::stream(seed, cell);
    let op = if workload.rw.contains("write") { Op::Write } else { Op::Read };
    let ramp = workload.ramp_ns / 1_000_000_000;
    let in_flight = f64::from(workload.numjobs * workload.iodepth);
    let mut total = OpInterval::default();
    let mut series = Vec::new();
    let mut telemetry = Vec::new();
    for second in 0..shape.seconds + ramp {
        let jitter = 0.985 + 0.03 * rng.unit_f64();
        let rate = shape.mib_per_s * (shape.course)(second, shape.seconds) * jitter;
        let ios = ((rate * (1 << 20) as f64) / workload.bs_bytes as f64) as u64;
        let mean_ns = in_flight * 1e9 / (ios.max(1) as f64);
        let mut latency = Histogram::new();
        let samples = ios.min(if shape.seconds > 300 { 60 } else { 2500 });
        for _ in 0..samples {
            let u = rng.unit_f64();
            let tail = if u > 0.9990 {
                14.0
            } else if u > 0.99 {
                4.0
            } else if u > 0.9 {
                1.8
            } else {
                0.92
            };
            latency.record(Nanos((mean_ns * tail * (0.85 + 0.3 * rng.unit_f64())) as u64));
        }
        let (start, end) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        let errors = if second == ramp { shape.errors } else { 0 };
        let bytes = ios * workload.bs_bytes;
        series.push(OpSample {
            index: second as u32,
            ramp: second < ramp,
            start,
            end,
            op,
            ios,
            bytes,
            errors,
            latency: LatencySummary::new(&latency),
        });
        if second >= ramp {
            total.merge(&OpInterval { ios, bytes, errors, latency, ..OpInterval::default() });
        }
        if let Some(temperature) = shape.temperature {
            telemetry.push(TelemetryRecord {
                cell: cell.to_owned(),
                drive,
                at: end,
                temperature_c: Some(temperature(second, shape.seconds).round()),
                throttled: Some((shape.course)(second, shape.seconds) < 0.75),
                power_mw: Some(4200 + rng.below(300)),
                ..TelemetryRecord::default()
            });
        }
    }
    let elapsed = Nanos::from_secs(shape.seconds);
    let summary = OpSummary::new(&total, elapsed);
    let mut result = CellResult { drive, elapsed, ..CellResult::default() };
    if op == Op::Write {
        result.write = summary;
    } else {
        result.read = summary;
    }
    CellDrive {
        drive,
        result: Some(result),
        series,
        telemetry,
        distributions: vec![(op, total.latency.cumulative())],
        gaps: Vec::new(),
    }
}

pub fn finished(plan: CellPlan, shapes: &[Shape], seed: u64) -> CellRecord {
    let drives = plan
        .drives
        .iter()
        .zip(shapes)
        .map(|(drive, shape)| part(*drive, &plan.id, &plan.workload, shape, seed + *drive as u64))
        .collect();
    CellRecord { plan, state: CellState::Finished, drives, host: Vec::new() }
}

pub fn skipped(mut plan: CellPlan, why: &str) -> CellRecord {
    plan.skipped = Some(why.to_owned());
    CellRecord {
        plan,
        state: CellState::Skipped(why.to_owned()),
        drives: Vec::new(),
        host: Vec::new(),
    }
}

pub fn drive(label: &str, model: &str, serial: &str, capacity_bytes: u64) -> DriveRecord {
    DriveRecord {
        spec: format!("sim:{label}"),
        label: label.to_owned(),
        kind: "simulated".to_owned(),
        model: model.to_owned(),
        serial: serial.to_owned(),
        firmware: "BXV7301Q".to_owned(),
        capacity_bytes,
        logical_block_bytes: 512,
        simulated: true,
        profile: Some(label.to_owned()),
        details: BTreeMap::from([
            ("link".to_owned(), "PCIe 3.0 x4".to_owned()),
            ("queue_pairs".to_owned(), "8".to_owned()),
            ("temperature_warning".to_owned(), "75 °C".to_owned()),
        ]),
        probe: Vec::new(),
        power_limits_mw: BTreeMap::new(),
        warning_c: None,
        critical_c: None,
        published: Vec::new(),
        predictive: predictive(label),
        link_bytes_per_second: None,
        host: None,
        endurance: None,
    }
}

/// Intervals of the kinds that were predicted: of one drive, by depth too.
fn predictive(label: &str) -> Vec<PredictiveFactors> {
    let factors = |figure: &str, in_flight, situation: &str, low, high| PredictiveFactors {
        figure: figure.to_owned(),
        in_flight,
        situation: situation.to_owned(),
        drives: 5,
        low,
        high,
    };
    match label {
        "samsung-951" => vec![
            factors("random_read", None, "another_depth", 0.8, 1.3),
            factors("random_read", Some(16), "another_block", 0.93, 1.08),
            factors("random_read", Some(64), "another_block", 0.93, 1.08),
            factors("sequential_read", None, "other_kinds", 0.7, 1.5),
            factors(LATENCY_PERCENTILE, None, "other_kinds", 0.5, 2.0),
        ],
        "intel-600p" => vec![factors("random_read", None, "facts_only", 0.6, 1.7)],
        _ => Vec::new(),
    }
}

pub fn manifest(drives: Vec<DriveRecord>) -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_id: "20261121T031514Z-bandwidth-k3q8".to_owned(),
        created: "2026-11-21T03:15:14Z".to_owned(),
        tool: BuildRecord {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            commit: "b628d64f00c1".to_owned(),
        },
        command_line: [
            "assay",
            "run",
            "bandwidth",
            "sim:samsung-951",
            "sim:intel-600p",
            "--scale",
            "0.05",
            "--destroy",
            "SIM-951-7",
        ]
        .map(str::to_owned)
        .to_vec(),
        suite: SuiteRecord {
            name: "bandwidth".to_owned(),
            title: "NVMe bandwidth".to_owned(),
            summary: "Random reads over block sizes and thread counts, sequential reads and \
                      writes, zeroed against incompressible data, a read soak with temperatures, \
                      and all drives at once."
                .to_owned(),
            source: "M. Dillon, NVMe M.2 bandwidth tests, seven consumer drives (DragonFly)"
                .to_owned(),
            text: "name = \"bandwidth\"\n\n[[step]]\nname = \"random-read\"\nrw = \
                   \"randread\"\nbs = [\"512\", \"1k\", \"2k\"]\nnumjobs = [16, 64]\n"
                .to_owned(),
        },
        parameters: BTreeMap::from([
            ("area".to_owned(), "16g".to_owned()),
            ("runtime".to_owned(), "5s".to_owned()),
            ("soak".to_owned(), "30m".to_owned()),
        ]),
        scale: 0.05,
        seed: 7,
        host: HostRecord {
            kernel: "6.12.8".to_owned(),
            cpu_model: "AMD EPYC 7B13".to_owned(),
            logical_cpus: 2,
            memory_bytes: 24 * GIB,
            details: BTreeMap::from([
                ("clock source".to_owned(), "tsc".to_owned()),
                ("hypervisor".to_owned(), "kvm".to_owned()),
            ]),
        },
        drives,
        cells: Vec::new(),
        imported: None,
    }
}

/// `assay job` on a real block device, with the host's load.
pub fn job() -> Run {
    let mut d = drive("zram0", "zram", "zram0", 4 * GIB);
    d.simulated = false;
    d.profile = None;
    d.kind = "block".to_owned();
    d.spec = "/dev/zram0".to_owned();
    let mut manifest = manifest(vec![d]);
    manifest.scale = 1.0;
    manifest.run_id = "20261121T040000Z-job-a1b2".to_owned();
    manifest.suite = SuiteRecord {
        name: "job".to_owned(),
        title: "One workload".to_owned(),
        summary: String::new(),
        source: String::new(),
        text: String::new(),
    };
    let mut w = workload("randread", 4 * KIB, 1);
    w.iodepth = 32;
    w.engine = "uring".to_owned();
    let mut cell = finished(
        plan("zram0/job", "job", "Job", CellKind::Measure, &[0], w),
        &[Shape { mib_per_s: 2140.0, seconds: 10, ..STEADY }],
        11,
    );
    cell.drives[0].result.as_mut().unwrap().host = Some(HostLoad {
        user_pct: 21.4,
        system_pct: 28.3,
        irq_pct: 0.6,
        iowait_pct: 0.0,
        idle_pct: 49.7,
        steal_pct: 0.0,
        context_switches_per_s: 1200.0,
        package_w: None,
    });
    manifest.cells = vec![cell.plan.clone()];
    Run {
        path: "/tmp/run".into(),
        manifest,
        audit: None,
        cells: vec![cell],
        warnings: vec![Warning {
            code: "host-limited".to_owned(),
            cell: Some("zram0/job".to_owned()),
            drive: Some(0),
            message: "one processor was 98 % busy while the drive waited for work".to_owned(),
            advice: "use more threads (--numjobs), or read the figure as the host's".to_owned(),
        }],
        steady: Vec::new(),
        verdicts: vec![None],
        attempts: Vec::new(),
        outcome: Some(RunEnd::Complete),
        damaged_lines: Vec::new(),
        segments: Default::default(),
    }
}
