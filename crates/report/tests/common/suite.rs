//! Fixture: the bandwidth suite on two synthetic drives.

use std::collections::BTreeMap;

use assay_stats::{HostAudit, HostLoad};
use assay_store::model::*;
use assay_store::read::Run;
use assay_units::text::compact_size;
use assay_units::{GIB, KIB, Rng};

use super::{SIZES, STEADY, Shape, drive, finished, manifest, plan, skipped, workload};

/// MiB/s of random reads per drive, thread count and block size.
const RANDOM: [[[f64; 10]; 2]; 2] = [
    [
        [81.0, 162.0, 322.0, 635.0, 987.0, 1245.0, 1465.0, 1434.0, 1450.0, 1456.0],
        [133.0, 266.0, 533.0, 1070.0, 1661.0, 1680.0, 1660.0, 1410.0, 1406.0, 1415.0],
    ],
    [
        [29.0, 57.0, 115.0, 231.0, 361.0, 498.0, 646.0, 789.0, 905.0, 947.0],
        [30.0, 59.0, 117.0, 236.0, 366.0, 505.0, 650.0, 792.0, 908.0, 950.0],
    ],
];

/// The bandwidth suite as shipped, on seven simulated drives: those of [`bandwidth`] and five
/// slower ones.
pub fn seven() -> Run {
    let mut run = bandwidth();
    run.manifest.suite.text = include_str!("../../../../suites/bandwidth.toml").to_owned();
    let own: Vec<_> = run.cells.clone();
    for n in 2..7usize {
        let mut drive = run.manifest.drives[n % 2].clone();
        drive.label = format!("drive-number-{n}");
        drive.serial = format!("SIM-NUMBER-{n}");
        drive.spec = format!("sim:drive-number-{n}");
        run.manifest.drives.push(drive);
        run.verdicts.push(run.verdicts[n % 2].clone());
        for cell in own.iter().filter(|c| c.plan.drives == [n % 2]) {
            let mut cell = cell.clone();
            cell.plan.drives = vec![n];
            cell.plan.id = format!("{n}-{}", cell.plan.id);
            for part in &mut cell.drives {
                part.drive = n;
                if let Some(result) = &mut part.result {
                    for op in [&mut result.read, &mut result.write] {
                        op.mib_per_s *= 1.0 - 0.07 * n as f64;
                        op.iops *= 1.0 - 0.07 * n as f64;
                    }
                }
            }
            run.cells.push(cell);
        }
    }
    run.manifest.cells = run.cells.iter().map(|c| c.plan.clone()).collect();
    run
}

/// The whole bandwidth suite on two simulated drives.
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
            &[Shape { mib_per_s: rate, seconds: 24, ..STEADY }],
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
            &[Shape { mib_per_s: 900.0, seconds: 1, ..STEADY }],
            2,
        );
        cell.drives[0].result.as_mut().unwrap().values =
            BTreeMap::from([("zstd_ratio".to_owned(), 1.0), ("zero_blocks_pct".to_owned(), 0.0)]);
        cells.push(cell);
        for (t, threads) in [16, 64].into_iter().enumerate() {
            for (b, bs) in SIZES.into_iter().enumerate() {
                let w = workload("randread", bs, threads);
                let cell = id("random-read", &format!("bs={},numjobs={threads}", compact_size(bs)));
                let plan = plan(&cell, "random-read", "Random read", CellKind::Measure, &[d], w);
                let errors = if d == 1 && b == 9 && t == 1 { 3 } else { 0 };
                let shape = Shape { mib_per_s: RANDOM[d][t][b], errors, ..STEADY };
                cells.push(finished(plan, &[shape], 3));
            }
        }
        let sequential = [[1090.0, 1310.0, 1540.0, 1610.0], [220.0, 430.0, 544.0, 715.0]][d];
        for (t, rate) in sequential.into_iter().enumerate() {
            for bs in [64 * KIB, 128 * KIB] {
                let threads = t as u32 + 1;
                let cell =
                    id("sequential-read", &format!("bs={},numjobs={threads}", compact_size(bs)));
                let w = workload("read", bs, threads);
                let plan =
                    plan(&cell, "sequential-read", "Sequential read", CellKind::Measure, &[d], w);
                let gain = if bs == 64 * KIB { 1.0 } else { 1.22 };
                cells.push(finished(plan, &[Shape { mib_per_s: rate * gain, ..STEADY }], 4));
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
            Shape { mib_per_s: 655.0, seconds: 25, ..STEADY }
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
                    &[Shape { mib_per_s: rate, ..STEADY }],
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
                    if s < 40 { 36.0 + s as f64 } else { 72.0 + 3.0 * ((s as f64) / 6.4).sin() }
                }),
                ..STEADY
            }
        };
        cells.push(finished(soak, &[shape], 7));
        let alone = plan(
            &id("all-aboard", "alone"),
            "all-aboard",
            "All aboard",
            CellKind::Concurrent,
            &[d],
            workload("randread", 32 * KIB, 64),
        );
        cells.push(finished(
            alone,
            &[Shape { mib_per_s: [1660.0, 650.0][d], seconds: 30, ..STEADY }],
            8,
        ));
    }
    let together = plan(
        "all/all-aboard",
        "all-aboard",
        "All aboard",
        CellKind::Concurrent,
        &[0, 1],
        workload("randread", 32 * KIB, 64),
    );
    let mut together = finished(
        together,
        &[
            Shape { mib_per_s: 1580.0, seconds: 30, ..STEADY },
            Shape { mib_per_s: 642.0, seconds: 30, ..STEADY },
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
                package_w: None,
            };
            (i, load)
        })
        .collect();
    cells.push(together);
    let mut manifest = manifest(vec![
        drive("samsung-951", "SAMSUNG MZVPV128HDGM", "SIM-951-7", 128_035_676_160),
        drive("intel-600p", "INTEL SSDPEKKW256G7", "SIM-600P-7", 256_060_514_304),
    ]);
    manifest.cells = cells.iter().map(|c| c.plan.clone()).collect();
    let reason = |weight, text: &str| Reason { weight, text: text.to_owned() };
    Run {
        path: "/srv/assay/20261121T031514Z-bandwidth-k3q8".into(),
        manifest,
        audit: Some(HostAudit {
            null_iops_per_thread: 21_400_000.0,
            engine_ns_per_io: 46.7,
            clock_ns: 18.2,
            clock_step_ns: 1,
            clock_drift_ppm: 0.4,
        }),
        cells,
        steady: Vec::new(),
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
                limits: Some("NVMe client drives of 2017".to_owned()),
                result: VerdictResult::Recommended,
                reasons: vec![
                    reason(
                        ReasonWeight::For,
                        "gains from queues: 1,070 MiB/s at 4 KiB with 64 threads, 1.7 times the \
                         rate of 16",
                    ),
                    reason(
                        ReasonWeight::For,
                        "keeps its rate in the soak: slowest interval 98 % of the mean at 76 °C",
                    ),
                    reason(
                        ReasonWeight::Caution,
                        "answers blank areas 1.9 times as fast as written ones: benchmarks of an \
                         empty drive flatter it",
                    ),
                    reason(ReasonWeight::Missing, "through-the-filesystem read: no file was named"),
                ],
            }),
            Some(Verdict {
                limits: Some("NVMe client drives of 2017".to_owned()),
                result: VerdictResult::NotRecommended,
                reasons: vec![
                    reason(
                        ReasonWeight::Against,
                        "sequential write falls from 170 to 20 MiB/s after 35 s, when its SLC \
                         cache is full",
                    ),
                    reason(
                        ReasonWeight::Against,
                        "throttles to 35 % for 12 of every 40 s at 75 °C",
                    ),
                    reason(ReasonWeight::Against, "gains nothing from 64 threads"),
                ],
            }),
        ],
        attempts: Vec::new(),
        outcome: Some(RunEnd::Complete),
        damaged_lines: Vec::new(),
        segments: Default::default(),
    }
}
