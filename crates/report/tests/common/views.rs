//! Fixtures: one suite per view on synthetic drives, with rates of the order of magnitude of the
//! cited reviews.

mod dragonfly;
mod fill;
mod standards;
mod streams;

pub use dragonfly::{BY_THREADS, IN_FLIGHT, aboard, host_limited, queues};
pub use fill::fill;
pub use standards::{
    capacity, cross_stimulus, demand, idle_recovery, load, saturation, snia, thermal,
};
pub use streams::{continuous, peak};

use assay_stats::OpSummary;
use assay_store::model::*;
use assay_store::read::{CellRecord, CellState, Run};
use assay_units::text::compact_size;
use assay_units::{KIB, MIB};

use super::{STEADY, Shape, drive, finished, manifest, plan, skipped, workload};

/// Five synthetic drives: label, model, capacity.
const DRIVES: [(&str, &str, u64); 5] = [
    ("plextor-m8pe-y", "PLEXTOR PX-512M8PeY", 512_110_190_592),
    ("plextor-m8pe-gn", "PLEXTOR PX-512M8PeGN", 512_110_190_592),
    ("samsung-960-evo", "Samsung SSD 960 EVO 250GB", 250_059_350_016),
    ("intel-optane-32", "INTEL MEMPEK1W032GA", 29_260_513_280),
    ("memblaze-c916", "PBlaze5 C916 3.2T", 3_200_631_791_616),
];

fn suite_run(name: &str, title: &str, summary: &str, drives: usize, cells: Vec<CellRecord>) -> Run {
    let mut m = manifest(
        DRIVES[..drives]
            .iter()
            .enumerate()
            .map(|(i, (label, model, bytes))| drive(label, model, &format!("SIM-{i}"), *bytes))
            .collect(),
    );
    m.run_id = format!("20261121T031514Z-{name}-k3q8");
    m.scale = 1.0;
    m.suite = SuiteRecord {
        name: name.to_owned(),
        title: title.to_owned(),
        summary: summary.to_owned(),
        source: "made up for tests".to_owned(),
        text: format!("name = \"{name}\"\n"),
    };
    m.cells = cells.iter().map(|c| c.plan.clone()).collect();
    Run {
        path: format!("/srv/assay/{name}").into(),
        audit: None,
        cells,
        warnings: Vec::new(),
        steady: Vec::new(),
        verdicts: vec![None; drives],
        attempts: Vec::new(),
        outcome: Some(RunEnd::Complete),
        damaged_lines: Vec::new(),
        segments: Default::default(),
        manifest: m,
    }
}

fn label(d: usize) -> &'static str {
    DRIVES[d].0
}

/// The procedure of AnandTech M8Pe on up to five drives, with `seconds` seconds.
pub fn consistency(drives: usize, seconds: u64) -> Run {
    const COURSES: [fn(u64, u64) -> f64; 5] = [
        |s, n| {
            if s < n / 9 {
                6.0
            } else if s % 211 == 17 {
                5.0
            } else {
                1.0
            }
        },
        |s, n| {
            if s < n / 7 {
                6.0
            } else if s % 60 < 22 {
                0.13
            } else {
                1.0
            }
        },
        |s, n| {
            if s < n / 20 {
                9.0
            } else if s.is_multiple_of(7) {
                0.02
            } else {
                1.0 + 0.4 * (s as f64 / 3.0).sin()
            }
        },
        |_, _| 1.0,
        |s, n| 1.0 + 3.0 * (-8.0 * s as f64 / n as f64).exp(),
    ];
    let heat: fn(u64, u64) -> f64 = |s, n| 38.0 + 39.0 * (1.0 - (-9.0 * s as f64 / n as f64).exp());
    let mut cells = Vec::new();
    for d in 0..drives {
        for (variant, gain) in [("Default", 1.0), ("25 % spare", 1.9)] {
            let spare = variant != "Default";
            let step = |name: &str| format!("{name}{}", if spare { "-spare" } else { "" });
            let mut fill = workload("write", 128 * KIB, 1);
            (fill.runtime_ns, fill.ramp_ns) = (0, 0);
            let mut fill = plan(
                &format!("{}/{}", label(d), step("fill")),
                &step("fill"),
                "Fill the drive",
                CellKind::Prepare,
                &[d],
                fill,
            );
            fill.variant = Some(variant.to_owned());
            cells.push(finished(fill, &[Shape { mib_per_s: 500.0, seconds: 6, ..STEADY }], 1));
            let mut w = workload("randwrite", 4 * KIB, 1);
            (w.iodepth, w.ramp_ns) = (32, 0);
            let mut hour = plan(
                &format!("{}/{}", label(d), step("hour")),
                &step("hour"),
                "An hour of random writes",
                CellKind::Soak,
                &[d],
                w,
            );
            hour.view = Some(CellView::Consistency);
            hour.variant = Some(variant.to_owned());
            let shape = Shape {
                mib_per_s: [86.0, 70.0, 40.0, 240.0, 900.0][d] * gain,
                seconds,
                course: COURSES[d],
                temperature: Some(heat),
                errors: 0,
            };
            let mut cell = finished(hour, &[shape], 2);
            for t in &mut cell.drives[0].telemetry {
                t.throttled = Some(d == 1 && t.throttled == Some(true));
            }
            cells.push(cell);
        }
    }
    suite_run(
        "consistency",
        "Performance consistency",
        "Fill, then an hour of 4 KiB random writes at depth 32; the last 400 s are scored.",
        drives,
        cells,
    )
}

fn measured(
    d: usize,
    step: &str,
    title: &str,
    rest: &str,
    w: WorkloadRecord,
    mib_per_s: f64,
) -> CellRecord {
    let seconds = w.runtime_ns / 1_000_000_000;
    let plan =
        plan(&format!("{}/{step}/{rest}", label(d)), step, title, CellKind::Measure, &[d], w);
    let warm: fn(u64, u64) -> f64 = |_, _| 52.0;
    finished(plan, &[Shape { mib_per_s, seconds, temperature: Some(warm), ..STEADY }], 3)
}

/// An idle drive: telemetry only.
fn idle_cell(d: usize, step: &str, title: &str, seconds: u64) -> CellRecord {
    let mut w = workload("", 0, 0);
    (w.runtime_ns, w.ramp_ns, w.options) = (seconds * 1_000_000_000, 0, String::new());
    let plan = plan(&format!("{}/{step}", label(d)), step, title, CellKind::Idle, &[d], w);
    let mut cell = finished(
        plan,
        &[Shape {
            mib_per_s: 0.0,
            seconds,
            temperature: Some(|s, _| 70.0 - 0.1 * s as f64),
            ..STEADY
        }],
        4,
    );
    let part = &mut cell.drives[0];
    part.series.clear();
    part.distributions.clear();
    for t in &mut part.telemetry {
        let s = t.at.as_secs_f64();
        t.power_mw = Some(if s < 10.0 { 1900 } else { 40 });
        t.power_state = Some(if s < 10.0 { 0 } else { 4 });
        t.throttled = Some(false);
    }
    cell
}

/// The procedure of AnandTech Optane Memory: sizes, depths, mixes, idle time.
pub fn client(drives: usize, seconds: u64) -> Run {
    let mut cells = Vec::new();
    let runtime = |w: &mut WorkloadRecord| w.runtime_ns = seconds * 1_000_000_000;
    for d in 0..drives {
        let speed = [1.0, 0.9, 1.3, 2.0, 2.6][d];
        for rw in ["randread", "randwrite"] {
            for power in 0..12 {
                let bs = 512 << power;
                let mut w = workload(rw, bs, 1);
                runtime(&mut w);
                let rate = speed * 40.0 * (bs as f64 / 4096.0) / (1.0 + bs as f64 / 90_000.0);
                cells.push(measured(
                    d,
                    "sizes",
                    "Transfer size at depth 1",
                    &format!("rw={rw},bs={}", compact_size(bs)),
                    w,
                    rate,
                ));
            }
        }
        for rw in ["randread", "read", "write"] {
            for (jobs, depth) in [(1, 1), (2, 1), (4, 1), (4, 2), (4, 4), (4, 8), (4, 16)] {
                let bs = if rw == "randread" { 4 * KIB } else { 128 * KIB };
                let mut w = workload(rw, bs, jobs);
                w.iodepth = depth;
                runtime(&mut w);
                let q = f64::from(jobs * depth);
                let rate = speed * 1400.0 * q / (q + if bs > 4096 { 0.8 } else { 12.0 });
                cells.push(measured(
                    d,
                    "depths",
                    "Queue depth",
                    &format!("rw={rw},qd={q}"),
                    w,
                    rate,
                ));
            }
        }
        for mix in (0..=100).step_by(10) {
            let rw = match mix {
                0 => "randwrite",
                100 => "randread",
                _ => "randrw",
            };
            let mut w = workload(rw, 4 * KIB, 1);
            (w.iodepth, w.rwmixread) = (4, (mix != 0 && mix != 100).then_some(mix));
            runtime(&mut w);
            let rate =
                speed * (180.0 + f64::from(mix) * 1.2 - 40.0 * (f64::from(mix) / 31.0).sin().abs());
            let mut cell = measured(
                d,
                "mixed",
                "Mixed reads and writes",
                &format!("rwmixread={mix}"),
                w,
                rate,
            );
            let result = cell.drives[0].result.as_mut().unwrap();
            if mix > 0 && mix < 100 {
                let whole = result.read.clone();
                let share = |mut s: OpSummary, part: f64, slower: f64| {
                    (s.iops, s.mib_per_s) = (s.iops * part, s.mib_per_s * part);
                    (s.ios, s.bytes) =
                        ((s.ios as f64 * part) as u64, (s.bytes as f64 * part) as u64);
                    s.latency_ns.mean *= slower;
                    s.latency_ns.p99 = (s.latency_ns.p99 as f64 * slower) as u64;
                    s
                };
                result.read = share(whole.clone(), f64::from(mix) / 100.0, 1.3);
                result.write = share(whole, 1.0 - f64::from(mix) / 100.0, 0.4);
            }
            cells.push(cell);
        }
        cells.push(idle_cell(d, "idle", "Idle power", 120));
    }
    suite_run(
        "client",
        "Client workloads",
        "Transfer sizes, queue depths and mixes after two full random writes, and power at rest.",
        drives,
        cells,
    )
}

/// The procedure of AnandTech PBlaze5: depth sweeps in two power states, then steady writes.
pub fn enterprise(drives: usize, seconds: u64) -> Run {
    let mut cells = Vec::new();
    for d in 0..drives {
        let best = [1400.0, 1300.0, 1500.0, 1100.0, 3300.0][d];
        for state in [0u8, 2] {
            for power in 0..10 {
                let threads = 1u32 << power;
                let mut w = workload("randread", 4 * KIB, threads);
                w.power_state = Some(state);
                w.runtime_ns = seconds * 1_000_000_000;
                let limit = best * if state == 0 { 1.0 } else { 0.55 };
                let t = f64::from(threads);
                let plan = plan(
                    &format!("{}/peak-random-read/power_state={state},numjobs={threads}", label(d)),
                    "peak-random-read",
                    "Peak random read",
                    CellKind::Measure,
                    &[d],
                    w,
                );
                let rate = limit * (1.0 - (-t / 40.0).exp());
                let warm: fn(u64, u64) -> f64 = |_, _| 50.0;
                let mut cell = finished(
                    plan,
                    &[Shape { mib_per_s: rate, seconds, temperature: Some(warm), ..STEADY }],
                    5,
                );
                cell.plan.view = Some(CellView::Knee);
                for t in &mut cell.drives[0].telemetry {
                    t.power_mw = Some((3000.0 + rate * if state == 0 { 4.0 } else { 3.2 }) as u64);
                }
                let latency = &mut cell.drives[0].result.as_mut().unwrap().read.latency_ns;
                latency.p99_99 =
                    (latency.p99_99 as f64 * if state == 0 { 1.0 + t / 30.0 } else { 1.2 }) as u64;
                cells.push(cell);
            }
        }
        let mut w = workload("randwrite", 4 * KIB, 16);
        w.runtime_ns = seconds * 1_000_000_000;
        cells.push(measured(
            d,
            "steady-random-write",
            "Steady random write",
            "bs=4k",
            w,
            best / 4.0,
        ));
    }
    suite_run(
        "enterprise",
        "Enterprise workloads",
        "Peak reads at the lowest depth that reaches 95 % of the best, steady writes, per power \
         state.",
        drives,
        cells,
    )
}

/// Every suite on `drives` drives, with series of `seconds` seconds.
pub fn all(drives: usize, seconds: u64) -> Vec<Run> {
    vec![
        consistency(drives, seconds),
        client(drives, seconds.min(60)),
        enterprise(drives, seconds.min(60)),
        snia(drives),
        saturation(drives, seconds),
        idle_recovery(drives),
        cross_stimulus(drives),
        demand(drives),
        thermal(drives, seconds),
        capacity(drives),
        load(drives),
        peak(drives, 3),
        continuous(drives),
        fill(drives),
    ]
}

/// The run, interrupted by its user.
pub fn cut_short(mut run: Run) -> Run {
    let half = run.cells.len() / 2;
    for cell in &mut run.cells[half..] {
        cell.state = CellState::Planned;
        cell.drives.clear();
    }
    run.steady.clear();
    run.outcome = Some(RunEnd::Interrupted);
    run
}

/// A formatted duration, in seconds.
pub fn seconds_of(text: &str) -> f64 {
    let words: Vec<&str> = text.split(' ').collect();
    let parts = words.chunks(2).map(|pair| {
        let unit = match pair[1] {
            "h" => 3600.0,
            "min" => 60.0,
            "s" => 1.0,
            other => panic!("{other} in {text}"),
        };
        pair[0].parse::<f64>().unwrap() * unit
    });
    parts.sum()
}
