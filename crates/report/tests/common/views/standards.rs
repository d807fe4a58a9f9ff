//! Fixtures of rounds, saturation, throttling, capacity and offered load.

use std::collections::BTreeMap;

use assay_store::model::*;
use assay_store::read::Run;
use assay_units::text::compact_size;
use assay_units::{KIB, MIB};

use super::super::{STEADY, Shape, finished, plan, skipped, workload};
use super::{DRIVES, idle_cell, label, suite_run};

/// SNIA's IOPS test: sizes by mixes in rounds. Drive 1 never reaches steady state.
pub fn snia(drives: usize) -> Run {
    const MOST: u32 = 25;
    let sizes = [512, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, MIB];
    let mixes = [100u8, 95, 65, 50, 35, 5, 0];
    let mut cells = Vec::new();
    let mut steady = Vec::new();
    let rule = "max - min at most 20 % of the mean of 5 rounds, least-squares rise at most 10 %";
    for d in 0..drives {
        let restless = d == 1;
        let needed = if restless { MOST } else { 9 };
        let mut tracked = Vec::new();
        for round in 1..=MOST {
            for bs in sizes {
                for mix in mixes {
                    let mut w = workload(
                        if mix == 100 {
                            "randread"
                        } else if mix == 0 {
                            "randwrite"
                        } else {
                            "randrw"
                        },
                        bs,
                        2,
                    );
                    (w.iodepth, w.rwmixread, w.ramp_ns) = (16, Some(mix), 0);
                    let rest = format!("bs={},rwmixread={mix},round={round}", compact_size(bs));
                    let mut plan = plan(
                        &format!("{}/iops/{rest}", label(d)),
                        "iops",
                        "IOPS test",
                        CellKind::Measure,
                        &[d],
                        w,
                    );
                    plan.view = Some(CellView::Rounds);
                    let own = bs == 4 * KIB && mix == 0;
                    plan.round = Some(Round { number: round, most: MOST, window: 5, tracked: own });
                    if round > needed {
                        cells.push(skipped(plan, "steady state was reached in round 9"));
                        continue;
                    }
                    let course = if restless {
                        1.0 + 0.3 * (f64::from(round) * 1.9).sin()
                    } else {
                        1.0 + 2.0 * (-f64::from(round) / 1.2).exp()
                    };
                    let mib_per_s =
                        course * (60.0 + 9.0 * f64::from(mix)) / (1.0 + 40_000.0 / bs as f64);
                    let cell = finished(
                        plan,
                        &[Shape { mib_per_s, seconds: 2, ..STEADY }],
                        u64::from(round),
                    );
                    if own {
                        tracked.push(cell.drives[0].result.as_ref().unwrap().iops());
                    }
                    cells.push(cell);
                }
            }
        }
        let last = &tracked[tracked.len() - 5..];
        let mean = last.iter().sum::<f64>() / 5.0;
        let most = last.iter().copied().fold(f64::MIN, f64::max);
        let least = last.iter().copied().fold(f64::MAX, f64::min);
        let slope: f64 =
            last.iter().enumerate().map(|(i, v)| (i as f64 - 2.0) * v).sum::<f64>() / 10.0;
        let range_pct = 100.0 * (most - least) / mean;
        steady.push(SteadyRecord {
            drive: d,
            step: "iops".to_owned(),
            group: format!("{}/iops/bs=4k,rwmixread=0", label(d)),
            rule: rule.to_owned(),
            figure: "IOPS".to_owned(),
            achieved: !restless,
            window: (needed - 4, needed),
            mean,
            range_pct,
            excursion_pct: (400.0 * slope / mean).abs(),
            slope_per_round: slope,
            band: Some(0.1 * mean),
            why: restless.then(|| format!("range {range_pct:.0} % of the mean, at most 20 %")),
            values: tracked,
        });
    }
    let mut run = suite_run(
        "snia-iops",
        "SNIA IOPS test",
        "Random reads and writes of eight sizes in seven mixes, in rounds to steady state.",
        drives,
        cells,
    );
    run.steady = steady;
    run
}

/// SNIA's write saturation test.
pub fn saturation(drives: usize, seconds: u64) -> Run {
    let cells = (0..drives)
        .map(|d| {
            let mut w = workload("randwrite", 4 * KIB, 4);
            (w.iodepth, w.ramp_ns) = (32, 0);
            let mut plan = plan(
                &format!("{}/saturate", label(d)),
                "saturate",
                "Write saturation",
                CellKind::Soak,
                &[d],
                w,
            );
            plan.view = Some(CellView::Saturation);
            let shape = Shape {
                mib_per_s: [420.0, 380.0, 300.0, 260.0, 1900.0][d],
                seconds,
                course: |s, n| {
                    if s < n / 8 {
                        1.0
                    } else {
                        0.16 + 0.5 * (-(s as f64 - n as f64 / 8.0) / (n as f64 / 30.0)).exp()
                    }
                },
                temperature: Some(|_, _| 55.0),
                errors: 0,
            };
            let mut cell = finished(plan, &[shape], 6);
            cell.drives[0].telemetry.iter_mut().for_each(|t| t.throttled = Some(false));
            cell
        })
        .collect();
    suite_run(
        "snia-saturation",
        "SNIA write saturation",
        "Random writes onto a purged drive, without end.",
        drives,
        cells,
    )
}

/// A soak to thermal equilibrium, idle time, and a second measurement.
pub fn thermal(drives: usize, seconds: u64) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        for (step, title, length) in
            [("soak", "Soak", seconds), ("recovery", "After the rest", seconds / 10)]
        {
            if step == "recovery" {
                cells.push(idle_cell(d, "rest", "Rest", 120));
            }
            let mut w = workload("randread", 128 * KIB, 4);
            w.iodepth = 8;
            let mut plan =
                plan(&format!("{}/{step}", label(d)), step, title, CellKind::Soak, &[d], w);
            plan.view = Some(CellView::Thermal);
            let throttles = d % 2 == 1 && step == "soak";
            let shape = Shape {
                mib_per_s: [2200.0, 2400.0, 3000.0, 1300.0, 3100.0][d],
                seconds: length,
                course: if throttles {
                    |s, n| if s > n / 6 && s % 40 < 12 { 0.3 } else { 1.0 }
                } else {
                    |_, _| 1.0
                },
                temperature: Some(if throttles {
                    |s, n| {
                        if s < n / 6 {
                            40.0 + 37.0 * s as f64 / (n as f64 / 6.0)
                        } else {
                            77.0 + ((s as f64) / 6.4).sin()
                        }
                    }
                } else {
                    |s, n| 40.0 + 30.0 * (1.0 - (-6.0 * s as f64 / n as f64).exp())
                }),
                errors: 0,
            };
            cells.push(finished(plan, &[shape], 7));
        }
    }
    suite_run(
        "thermal",
        "Heat",
        "A soak until temperature and rate settle, a rest, and what came back.",
        drives,
        cells,
    )
}

/// The whole drive written and verified; the second drive has half of its reported capacity.
pub fn capacity(drives: usize) -> Run {
    let mut cells = Vec::new();
    for (d, (_, _, bytes)) in DRIVES.into_iter().enumerate().take(drives) {
        for (rw, title) in [("write", "Write the whole drive"), ("read", "Verify the whole drive")]
        {
            let mut w = workload(rw, MIB, 1);
            (w.runtime_ns, w.ramp_ns, w.span_bytes) = (0, 0, bytes);
            let mut plan =
                plan(&format!("{}/{rw}", label(d)), rw, title, CellKind::Measure, &[d], w);
            plan.view = Some(CellView::Capacity);
            let mut cell = finished(plan, &[Shape { mib_per_s: 480.0, seconds: 40, ..STEADY }], 8);
            if rw == "read" {
                let blocks = bytes / MIB;
                cell.drives[0].result.as_mut().unwrap().verify = Some(VerifySummary {
                    blocks_checked: blocks,
                    not_judged: BTreeMap::new(),
                    found: if d == 1 {
                        BTreeMap::from([("misplaced".to_owned(), blocks / 2)])
                    } else {
                        BTreeMap::new()
                    },
                    examples: if d == 1 {
                        vec!["block at 0 B holds the data of block at 256 GB".to_owned()]
                    } else {
                        Vec::new()
                    },
                    seed: Some(7),
                });
            }
            cells.push(cell);
        }
    }
    suite_run("capacity", "Capacity", "Every block written once and read back.", drives, cells)
}

/// An open loop at shares of the closed-loop rate.
pub fn load(drives: usize) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        let best = [330_000.0, 300_000.0, 370_000.0, 280_000.0, 850_000.0][d];
        let mut w = workload("randread", 4 * KIB, 4);
        w.iodepth = 32;
        let of = format!("{}/saturate/closed", label(d));
        let whole = plan(&of, "saturate", "What a closed loop reaches", CellKind::Measure, &[d], w);
        cells.push(finished(whole, &[Shape { mib_per_s: best / 256.0, ..STEADY }], 9));
        for percent in [10.0, 25.0, 40.0, 55.0, 70.0, 80.0, 90.0, 95.0, 100.0, 105.0] {
            let mut w = workload("randread", 4 * KIB, 4);
            w.iodepth = 32;
            let mut plan = plan(
                &format!("{}/load/percent={percent}", label(d)),
                "load",
                "Latency by offered load",
                CellKind::Measure,
                &[d],
                w,
            );
            plan.view = Some(CellView::Load);
            plan.load = Some(OfferedLoad { of: "saturate".to_owned(), percent });
            let share = percent / 100.0;
            let reached = best / 256.0 * f64::min(share, 0.97);
            let mut cell = finished(plan, &[Shape { mib_per_s: reached, ..STEADY }], 10);
            let read = &mut cell.drives[0].result.as_mut().unwrap().read;
            let service = |times: f64| {
                let mut l = read.latency_ns;
                let base = 90_000.0 * times * (1.0 + 0.3 * d as f64);
                l.mean = base;
                l.p50 = (base * 0.95) as u64;
                l.p99 = (base * 1.8) as u64;
                l.p99_99 = (base * 4.0) as u64;
                l
            };
            read.service_ns = Some(service(1.0 + share));
            read.latency_ns = service(
                (1.0 + share)
                    * if share >= 1.0 { 900.0 } else { 1.0 + 0.25 * share / (1.0 - share) },
            );
            cells.push(cell);
        }
    }
    suite_run(
        "load",
        "Latency by offered load",
        "Poisson arrivals at shares of the closed loop's rate.",
        drives,
        cells,
    )
}

/// SNIA's host idle recovery test: bursts with 5 and 20 s of idle time, each followed by continuous
/// writes. Drive 0 recovers to three times its steady rate after 20 s, drive 1 recovers nothing.
pub fn idle_recovery(drives: usize) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        let mut add = |step: &str, idle_s: Option<u64>, shape: Shape| {
            let mut w = workload("randwrite", 4 * KIB, 1);
            (w.iodepth, w.ramp_ns) = (32, 0);
            w.bursts = idle_s
                .map(|idle_s| Bursts { active_ns: 5_000_000_000, idle_ns: idle_s * 1_000_000_000 });
            let id = format!("{}/{step}", label(d));
            let mut plan = plan(&id, step, step, CellKind::Measure, &[d], w);
            plan.view = Some(CellView::IdleRecovery);
            cells.push(finished(plan, &[shape], 11));
        };
        let steady = [100.0, 80.0, 120.0, 60.0, 400.0][d];
        let shape = |course, seconds| Shape { mib_per_s: steady, seconds, course, ..STEADY };
        add("baseline-0", None, shape(|_, _| 1.0, 60));
        let recovers = d != 1;
        let short: fn(u64, u64) -> f64 = match recovers {
            true => |s, _| if s % 10 < 5 { 2.0 } else { 0.0 },
            false => |s, _| if s % 10 < 5 { 1.0 } else { 0.0 },
        };
        add("idle-1", Some(5), shape(short, 200));
        add("baseline-1", None, shape(|_, _| 1.0, 60));
        let long: fn(u64, u64) -> f64 = match recovers {
            true => |s, _| if s % 25 < 5 { 3.0 } else { 0.0 },
            false => |s, _| if s % 25 < 5 { 1.0 } else { 0.0 },
        };
        add("idle-2", Some(20), shape(long, 500));
        add("baseline-2", None, shape(|_, _| 1.0, 60));
    }
    suite_run(
        "snia-hir",
        "SNIA host idle recovery",
        "Bursts of random writes with idle time between them.",
        drives,
        cells,
    )
}

/// SNIA's cross stimulus recovery test: the second sequential phase begins at half of the first
/// one's level.
pub fn cross_stimulus(drives: usize) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        let rate = [900.0, 700.0, 1500.0, 300.0, 2500.0][d];
        let again: fn(u64, u64) -> f64 = |s, n| if s < n / 3 { 0.5 } else { 1.0 };
        for (step, title, rw, bs, share, course) in [
            ("sequential", "Sequential 1 MiB writes", "write", MIB, 1.0, STEADY.course),
            ("random", "Random 8 KiB writes", "randwrite", 8 * KIB, 0.2, STEADY.course),
            ("sequential-again", "Sequential 1 MiB writes again", "write", MIB, 1.0, again),
        ] {
            let mut w = workload(rw, bs, 1);
            (w.iodepth, w.ramp_ns) = (32, 0);
            let id = format!("{}/{step}", label(d));
            let mut plan = plan(&id, step, title, CellKind::Soak, &[d], w);
            plan.view = Some(CellView::CrossStimulus);
            let shape = Shape { mib_per_s: rate * share, seconds: 120, course, ..STEADY };
            cells.push(finished(plan, &[shape], 12));
        }
    }
    suite_run(
        "snia-xsr",
        "SNIA cross stimulus recovery",
        "Sequential, random and sequential writes without a pause.",
        drives,
        cells,
    )
}

/// SNIA's demand intensity test: a grid of threads and queue depths in five rounds, and response
/// times at two operating points.
pub fn demand(drives: usize) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        for round in 1..=5 {
            for threads in [1, 4, 32] {
                for depth in [1, 8, 32] {
                    let mut w = workload("randrw", 4 * KIB, threads);
                    (w.iodepth, w.rwmixread, w.ramp_ns) = (depth, Some(65), 0);
                    let id = format!(
                        "{}/grid/numjobs={threads},iodepth={depth},round={round}",
                        label(d)
                    );
                    let mut plan = plan(
                        &id,
                        "grid",
                        "Grid of threads and queue depths",
                        CellKind::Measure,
                        &[d],
                        w,
                    );
                    plan.view = Some(CellView::Rounds);
                    plan.round = Some(Round {
                        number: round,
                        most: 25,
                        window: 5,
                        tracked: threads == 32 && depth == 32,
                    });
                    let shape = Shape {
                        mib_per_s: 400.0 * (1.0 - (-f64::from(threads * depth) / 40.0).exp()),
                        seconds: 2,
                        ..STEADY
                    };
                    cells.push(finished(plan, &[shape], 13));
                }
            }
        }
        for (step, which, threads, depth, rate) in [
            ("response-max", OperatingPoint::Max, 4.0, 32.0, 390.0),
            ("response-min", OperatingPoint::Min, 1.0, 1.0, 10.0),
        ] {
            let mut w = workload("randrw", 4 * KIB, 1);
            (w.rwmixread, w.ramp_ns) = (Some(65), 0);
            let id = format!("{}/{step}", label(d));
            let mut plan = plan(&id, step, step, CellKind::Measure, &[d], w);
            plan.view = Some(CellView::ResponseTimes);
            plan.point = Some(PointPlan { of: "grid".to_owned(), which });
            let shape = Shape { mib_per_s: rate, seconds: 20, ..STEADY };
            let mut cell = finished(plan, &[shape], 14);
            let values = &mut cell.drives[0].result.as_mut().unwrap().values;
            values.insert(POINT_THREADS.to_owned(), threads);
            values.insert(POINT_DEPTH.to_owned(), depth);
            cells.push(cell);
        }
    }
    suite_run(
        "snia-dirth",
        "SNIA demand intensity",
        "A grid of threads and queue depths, and response times.",
        drives,
        cells,
    )
}
