//! A run that looks like a real one, made up: nothing was measured. Rates are of the size that report A published.
#![allow(dead_code, clippy::unwrap_used)] // every test file uses its own part of this; it is test code

use std::collections::BTreeMap;

use assay_measure::{Histogram, HostLoad, LatencySummary, OpInterval, OpSummary};
use assay_store::model::*;
use assay_store::read::{CellDrive, CellRecord, CellState, Run, SeriesPoint};
use assay_units::text::compact_size;
use assay_units::{GIB, KIB, Nanos, Op, Rng};

/// Block sizes of the random read sweep.
pub const SIZES: [u64; 10] = [
    512,
    KIB,
    2 * KIB,
    4 * KIB,
    8 * KIB,
    16 * KIB,
    32 * KIB,
    64 * KIB,
    128 * KIB,
    256 * KIB,
];

/// MiB/s of random reads per drive, thread count and block size.
const RANDOM: [[[f64; 10]; 2]; 2] = [
    [
        [
            81.0, 162.0, 322.0, 635.0, 987.0, 1245.0, 1465.0, 1434.0, 1450.0, 1456.0,
        ],
        [
            133.0, 266.0, 533.0, 1070.0, 1661.0, 1680.0, 1660.0, 1410.0, 1406.0, 1415.0,
        ],
    ],
    [
        [
            29.0, 57.0, 115.0, 231.0, 361.0, 498.0, 646.0, 789.0, 905.0, 947.0,
        ],
        [
            30.0, 59.0, 117.0, 236.0, 366.0, 505.0, 650.0, 792.0, 908.0, 950.0,
        ],
    ],
];

/// What a cell's figures are made from.
pub struct Shape {
    pub mib_per_s: f64,
    pub seconds: u64,
    pub course: fn(u64, u64) -> f64,
    pub temperature: Option<fn(u64, u64) -> f64>,
    pub errors: u64,
}

pub const STEADY: Shape = Shape {
    mib_per_s: 0.0,
    seconds: 5,
    course: |_, _| 1.0,
    temperature: None,
    errors: 0,
};

pub fn workload(rw: &str, bs: u64, numjobs: u32) -> Workload {
    Workload {
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
    }
}

pub fn plan(
    id: &str,
    step: &str,
    title: &str,
    kind: CellKind,
    drives: &[usize],
    workload: Workload,
) -> CellPlan {
    CellPlan {
        id: id.to_owned(),
        step: step.to_owned(),
        title: title.to_owned(),
        kind,
        drives: drives.to_vec(),
        workload,
        skipped: None,
    }
}

/// One drive's part in a cell, with histograms and intervals that agree with each other.
pub fn part(drive: usize, cell: &str, workload: &Workload, shape: &Shape, seed: u64) -> CellDrive {
    let mut rng = Rng::stream(seed, cell);
    let op = if workload.rw.contains("write") {
        Op::Write
    } else {
        Op::Read
    };
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
            latency.record(Nanos(
                (mean_ns * tail * (0.85 + 0.3 * rng.unit_f64())) as u64,
            ));
        }
        let (start, end) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        let errors = if second == ramp { shape.errors } else { 0 };
        let bytes = ios * workload.bs_bytes;
        series.push(SeriesPoint {
            index: second as u32,
            ramp: second < ramp,
            start,
            end,
            op,
            ios,
            bytes,
            errors,
            latency: LatencySummary::of(&latency),
        });
        if second >= ramp {
            total.merge(&OpInterval {
                ios,
                bytes,
                errors,
                latency,
                service: None,
            });
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
    let summary = OpSummary::of(&total, elapsed);
    let mut result = CellResult {
        drive,
        elapsed,
        ..CellResult::default()
    };
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
    }
}

pub fn finished(plan: CellPlan, shapes: &[Shape], seed: u64) -> CellRecord {
    let drives = plan
        .drives
        .iter()
        .zip(shapes)
        .map(|(drive, shape)| {
            part(
                *drive,
                &plan.id,
                &plan.workload,
                shape,
                seed + *drive as u64,
            )
        })
        .collect();
    CellRecord {
        plan,
        state: CellState::Finished,
        drives,
        host: Vec::new(),
    }
}

fn skipped(mut plan: CellPlan, why: &str) -> CellRecord {
    plan.skipped = Some(why.to_owned());
    CellRecord {
        plan,
        state: CellState::Skipped(why.to_owned()),
        drives: Vec::new(),
        host: Vec::new(),
    }
}

pub fn drive(label: &str, model: &str, serial: &str, capacity_bytes: u64) -> Drive {
    Drive {
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
    }
}

fn manifest(drives: Vec<Drive>) -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_id: "20261121T031514Z-bandwidth-k3q8".to_owned(),
        created: "2026-11-21T03:15:14Z".to_owned(),
        tool: Tool { name: "assay".to_owned(), version: "0.1.0".to_owned(), commit: "b628d64f00c1".to_owned() },
        command_line: ["assay", "run", "bandwidth", "sim:samsung-951", "sim:intel-600p", "--scale", "0.05", "--destroy", "SIM-951-7"]
            .map(str::to_owned)
            .to_vec(),
        suite: Suite {
            name: "bandwidth".to_owned(),
            title: "NVMe bandwidth".to_owned(),
            summary: "Random reads over block sizes and thread counts, sequential reads and writes, zeroed against incompressible data, a read soak with temperatures, and all drives at once.".to_owned(),
            source: "M. Dillon, NVMe M.2 bandwidth tests, seven consumer drives (DragonFly)".to_owned(),
            text: "name = \"bandwidth\"\n\n[[step]]\nname = \"random-read\"\nrw = \"randread\"\nbs = [\"512\", \"1k\", \"2k\"]\nnumjobs = [16, 64]\n".to_owned(),
        },
        parameters: BTreeMap::from([
            ("area".to_owned(), "16g".to_owned()),
            ("runtime".to_owned(), "5s".to_owned()),
            ("soak".to_owned(), "30m".to_owned()),
        ]),
        scale: 0.05,
        seed: 7,
        host: Host {
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
    }
}

/// Two simulated drives through the whole bandwidth suite.
pub fn bandwidth() -> Run {
    let names = ["samsung-951", "intel-600p"];
    let mut cells = Vec::new();
    for d in 0..2 {
        let id = |step: &str, rest: &str| format!("{}/{step}/{rest}", names[d]);
        let mut w = workload("write", 128 * KIB, 1);
        w.runtime_ns = 0;
        w.ramp_ns = 0;
        let rate = [700.0, 340.0][d];
        cells.push(finished(
            plan(
                &id("fill", "area"),
                "fill",
                "Fill the area with incompressible data",
                CellKind::Prepare,
                &[d],
                w,
            ),
            &[Shape {
                mib_per_s: rate,
                seconds: 24,
                ..STEADY
            }],
            1,
        ));
        let mut inspect = workload("read", 128 * KIB, 1);
        inspect.ramp_ns = 0;
        let mut cell = finished(
            plan(
                &id("inspect", "area"),
                "inspect",
                "What the area holds",
                CellKind::Inspect,
                &[d],
                inspect,
            ),
            &[Shape {
                mib_per_s: 900.0,
                seconds: 1,
                ..STEADY
            }],
            2,
        );
        cell.drives[0].result.as_mut().unwrap().values = BTreeMap::from([
            ("zstd_ratio".to_owned(), 1.0),
            ("zero_blocks_pct".to_owned(), 0.0),
        ]);
        cells.push(cell);
        for (t, threads) in [16, 64].into_iter().enumerate() {
            for (b, bs) in SIZES.into_iter().enumerate() {
                let w = workload("randread", bs, threads);
                let cell = id(
                    "random-read",
                    &format!("bs={},numjobs={threads}", compact_size(bs)),
                );
                let plan = plan(
                    &cell,
                    "random-read",
                    "Random read",
                    CellKind::Measure,
                    &[d],
                    w,
                );
                let errors = if d == 1 && b == 9 && t == 1 { 3 } else { 0 };
                let shape = Shape {
                    mib_per_s: RANDOM[d][t][b],
                    errors,
                    ..STEADY
                };
                cells.push(finished(plan, &[shape], 3));
            }
        }
        let sequential = [
            [1090.0, 1310.0, 1540.0, 1610.0],
            [220.0, 430.0, 544.0, 715.0],
        ][d];
        for (t, rate) in sequential.into_iter().enumerate() {
            for bs in [64 * KIB, 128 * KIB] {
                let threads = t as u32 + 1;
                let cell = id(
                    "sequential-read",
                    &format!("bs={},numjobs={threads}", compact_size(bs)),
                );
                let w = workload("read", bs, threads);
                let plan = plan(
                    &cell,
                    "sequential-read",
                    "Sequential read",
                    CellKind::Measure,
                    &[d],
                    w,
                );
                let gain = if bs == 64 * KIB { 1.0 } else { 1.22 };
                cells.push(finished(
                    plan,
                    &[Shape {
                        mib_per_s: rate * gain,
                        ..STEADY
                    }],
                    4,
                ));
            }
        }
        let mut w = workload("read", 128 * KIB, 1);
        w.direct = false;
        cells.push(skipped(
            plan(
                &id("filesystem-read", "bs=128k"),
                "filesystem-read",
                "Read through the file system",
                CellKind::Measure,
                &[d],
                w,
            ),
            "needs a file: name one on a mounted file system as the drive",
        ));
        let mut w = workload("write", 64 * KIB, 1);
        w.runtime_ns = 0;
        let write = plan(
            &id("sequential-write", "bs=64k"),
            "sequential-write",
            "Sequential write",
            CellKind::Measure,
            &[d],
            w,
        );
        let shape = if d == 0 {
            Shape {
                mib_per_s: 655.0,
                seconds: 25,
                ..STEADY
            }
        } else {
            Shape {
                mib_per_s: 170.0,
                seconds: 120,
                course: |s, _| if s < 35 { 1.0 } else { 0.12 },
                ..STEADY
            }
        };
        cells.push(finished(write, &[shape], 5));
        for bs in [4 * KIB, 32 * KIB] {
            for (data, rates) in [
                ("incompressible", [[1070.0, 1660.0], [236.0, 650.0]]),
                ("zero", [[1310.0, 3215.0], [240.0, 655.0]]),
            ] {
                let mut w = workload("randread", bs, 64);
                w.data = data.to_owned();
                w.offset_bytes = if data == "zero" { 16 * GIB } else { 0 };
                let cell = id("zeroed", &format!("bs={},data={data}", compact_size(bs)));
                let rate = rates[d][usize::from(bs != 4 * KIB)];
                cells.push(finished(
                    plan(
                        &cell,
                        "zeroed",
                        "Zeroed against incompressible data",
                        CellKind::Measure,
                        &[d],
                        w,
                    ),
                    &[Shape {
                        mib_per_s: rate,
                        ..STEADY
                    }],
                    6,
                ));
            }
        }
        let soak = plan(
            &id("soak", "bs=32k"),
            "soak",
            "Read soak",
            CellKind::Soak,
            &[d],
            workload("randread", 32 * KIB, 64),
        );
        let shape = if d == 0 {
            Shape {
                mib_per_s: 1660.0,
                seconds: 1800,
                temperature: Some(|s, n| 41.0 + 35.0 * (1.0 - (-6.0 * s as f64 / n as f64).exp())),
                ..STEADY
            }
        } else {
            Shape {
                mib_per_s: 650.0,
                seconds: 1800,
                course: |s, _| if s > 40 && s % 40 < 12 { 0.35 } else { 1.0 },
                temperature: Some(|s, _| {
                    if s < 40 {
                        36.0 + s as f64
                    } else {
                        72.0 + 3.0 * ((s as f64) / 6.4).sin()
                    }
                }),
                ..STEADY
            }
        };
        cells.push(finished(soak, &[shape], 7));
        let alone = plan(
            &id("all-aboard", "alone"),
            "all-aboard",
            "All aboard",
            CellKind::AllAboard,
            &[d],
            workload("randread", 32 * KIB, 64),
        );
        cells.push(finished(
            alone,
            &[Shape {
                mib_per_s: [1660.0, 650.0][d],
                seconds: 30,
                ..STEADY
            }],
            8,
        ));
    }
    let together = plan(
        "all/all-aboard",
        "all-aboard",
        "All aboard",
        CellKind::AllAboard,
        &[0, 1],
        workload("randread", 32 * KIB, 64),
    );
    let mut together = finished(
        together,
        &[
            Shape {
                mib_per_s: 1580.0,
                seconds: 30,
                ..STEADY
            },
            Shape {
                mib_per_s: 642.0,
                seconds: 30,
                ..STEADY
            },
        ],
        9,
    );
    let mut rng = Rng::stream(7, "host");
    together.host = (0..31)
        .map(|i| {
            let user = 3.0 + rng.unit_f64();
            let system = 4.0 + rng.unit_f64();
            let load = HostLoad {
                user_pct: user,
                system_pct: system,
                irq_pct: 0.8,
                iowait_pct: 0.4,
                idle_pct: 100.0 - user - system - 1.2,
                steal_pct: 0.0,
                context_switches_per_s: 52_000.0,
            };
            (i, load)
        })
        .collect();
    cells.push(together);
    let mut manifest = manifest(vec![
        drive(
            "samsung-951",
            "SAMSUNG MZVPV128HDGM",
            "SIM-951-7",
            128_035_676_160,
        ),
        drive(
            "intel-600p",
            "INTEL SSDPEKKW256G7",
            "SIM-600P-7",
            256_060_514_304,
        ),
    ]);
    manifest.cells = cells.iter().map(|c| c.plan.clone()).collect();
    let reason = |weight, text: &str| Reason {
        weight,
        text: text.to_owned(),
    };
    Run {
        path: "/srv/assay/20261121T031514Z-bandwidth-k3q8".into(),
        manifest,
        audit: Some(Audit {
            null_iops_per_thread: 21_400_000.0,
            engine_ns_per_io: 46.7,
            clock_ns: 18.2,
            clock_step_ns: 1,
            clock_drift_ppm: 0.4,
        }),
        cells,
        warnings: vec![
            Warning {
                code: "scaled".to_owned(),
                cell: None,
                drive: None,
                message: "every duration was multiplied by 0.05".to_owned(),
                advice: "run without --scale for figures that can be compared with published ones"
                    .to_owned(),
            },
            Warning {
                code: "errors".to_owned(),
                cell: Some("intel-600p/random-read/bs=256k,numjobs=64".to_owned()),
                drive: Some(1),
                message: "3 reads failed".to_owned(),
                advice: "look at the drive's health with assay probe before trusting its data"
                    .to_owned(),
            },
        ],
        verdicts: vec![
            Some(Verdict {
                result: VerdictResult::Recommended,
                reasons: vec![
                    reason(
                        ReasonWeight::For,
                        "gains from queues: 1,070 MiB/s at 4 KiB with 64 threads, 1.7 times the rate of 16",
                    ),
                    reason(
                        ReasonWeight::For,
                        "keeps its rate in the soak: slowest second 98 % of the mean at 76 °C",
                    ),
                    reason(
                        ReasonWeight::Caution,
                        "answers blank areas 1.9 times as fast as written ones: benchmarks of an empty drive flatter it",
                    ),
                    reason(
                        ReasonWeight::Missing,
                        "through-the-filesystem read: no file was named",
                    ),
                ],
            }),
            Some(Verdict {
                result: VerdictResult::NotRecommended,
                reasons: vec![
                    reason(
                        ReasonWeight::Against,
                        "sequential write falls from 170 to 20 MiB/s after 35 s, when its SLC cache is full",
                    ),
                    reason(
                        ReasonWeight::Against,
                        "throttles to 35 % for 12 of every 40 s at 75 °C",
                    ),
                    reason(ReasonWeight::Against, "gains nothing from 64 threads"),
                ],
            }),
        ],
        outcome: Some(Outcome::Complete),
        damaged_lines: Vec::new(),
    }
}

/// `assay job` on a real block device, with a host's load.
pub fn job() -> Run {
    let mut d = drive("zram0", "zram", "zram0", 4 * GIB);
    d.simulated = false;
    d.profile = None;
    d.kind = "block".to_owned();
    d.spec = "/dev/zram0".to_owned();
    let mut manifest = manifest(vec![d]);
    manifest.scale = 1.0;
    manifest.run_id = "20261121T040000Z-job-a1b2".to_owned();
    manifest.suite = Suite {
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
        &[Shape {
            mib_per_s: 2140.0,
            seconds: 10,
            ..STEADY
        }],
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
        verdicts: vec![None],
        outcome: Some(Outcome::Complete),
        damaged_lines: Vec::new(),
    }
}
