//! The suite `fill` on drives whose cache, power states and flash are known.

use crate::common;

use assay_analysis::{fill, steady_time, wake};
use assay_store::model::TelemetryRecord;
use assay_store::read::{CellRecord, Run};
use assay_store::series::IntervalSample;

use common::{cells, run_built_in, small_drive};

/// Short bursts, without the steps that a test has no use for.
const SHORT: [(&str, &str); 8] = [
    ("pause", "5s"),
    ("recovery", "10m"),
    ("random_burst", "4MiB"),
    ("sequential_burst", "64MiB"),
    ("idle_times", "0s"),
    ("wakes", "1"),
    ("sustained", "1s"),
    ("runtime", "100ms"),
];

fn run_fill(set: &[(&str, &str)], spec: &str) -> (Run, tempfile::TempDir) {
    let own = |key: &str| set.iter().any(|(other, _)| *other == key);
    let others = SHORT.into_iter().filter(|(key, _)| !own(key));
    let all: Vec<_> = others.chain(set.iter().copied()).collect();
    run_built_in("fill", &all, spec)
}

/// The cell of a workload in the state of a step.
fn burst<'a>(run: &'a Run, step: &str, rw: &str) -> &'a CellRecord {
    let mut cells = cells(run, step).into_iter();
    cells.find(|c| c.plan.workload.rw == rw).unwrap()
}

/// Rate of a workload in the state of a step, percent of that on the empty drive.
fn of_empty(run: &Run, step: &str, rw: &str) -> f64 {
    let cell = burst(run, step, rw);
    fill::of_cell(run, cell, 0).unwrap().of_empty_pct.unwrap()
}

/// Known truth: the 960 EVO writes 13 GB into its SLC cache at 1,500 MB/s, then 300 MB/s into its
/// flash, and folds the cache when idle. The superblock that it had opened beside the cache is
/// completed first, so the burst after idle time only ends at the rate of the cache.
#[test]
fn a_full_cache_slows_writes_until_the_drive_was_idle() {
    let set = [("area", "1GiB"), ("fill", "7%"), ("sequential_burst", "1GiB")];
    let (run, _folder) = run_fill(&set, "sim:samsung-960-evo");
    let full = of_empty(&run, "full-sequential", "write");
    assert!(full < 35.0, "{full}");
    let deallocated = of_empty(&run, "deallocated-sequential", "write");
    assert!((deallocated - 100.0).abs() < 3.0, "{deallocated}");
    let fastest = |step: &str| {
        let intervals = burst(&run, step, "write").drives[0].measured_intervals();
        let rates = intervals.iter().map(IntervalSample::mib_per_s);
        rates.fold(0.0, f64::max)
    };
    let empty = fastest("empty-sequential");
    let recovered = fastest("recovered-sequential");
    assert!(recovered > 0.9 * empty, "{recovered} {empty}");
    assert!(fastest("full-sequential") < 0.5 * empty);
}

/// Without a cache the same bursts are as fast in every state: the same data are in the same flash.
#[test]
fn a_drive_without_a_cache_is_as_fast_when_full() {
    let set = [("area", "1GiB"), ("fill", "7%"), ("random_burst", "64MiB")];
    let (run, _folder) = run_fill(&set, "sim:samsung-951");
    let orders = [("random", ["randread", "randwrite"]), ("sequential", ["read", "write"])];
    for step in ["full", "recovered", "deallocated"] {
        for (order, rws) in orders {
            for rw in rws {
                let pct = of_empty(&run, &format!("{step}-{order}"), rw);
                assert!((pct - 100.0).abs() < 6.0, "{step} {rw}: {pct}");
            }
        }
    }
}

/// Median beyond that without idle time, nanoseconds, by idle time.
fn wakes(spec: &str) -> Vec<f64> {
    let set = [
        ("area", "64MiB"),
        ("fill", "1%"),
        ("idle_times", "0s,100ms,274ms,275500us,300ms,1s,1202ms,3s"),
        ("wakes", "20"),
    ];
    let (run, _folder) = run_fill(&set, spec);
    let found = cells(&run, "wake").into_iter();
    let found = found.map(|cell| wake::of_cell(&run, cell, 0).unwrap());
    found.filter_map(|wake| wake.added_p50_ns).collect()
}

/// Known truth: with autonomous transitions the SM951 enters state 3 after 275 ms (entry 0.5 ms,
/// exit 5 ms) and state 4 after 1.2 s (entry 2 ms, exit 22 ms). A command on its way in waits for
/// the rest of the entry too.
#[test]
fn the_read_after_idle_time_waits_for_the_exit_latency() {
    let expected_ms = [0.0, 0.0, 5.0, 5.0, 5.0, 22.0, 22.0];
    let found = wakes("sim:samsung-951,apst=on");
    assert_eq!(found.len(), expected_ms.len());
    for (found, expected_ms) in found.iter().zip(expected_ms) {
        let error_ms = found / 1e6 - expected_ms;
        assert!(error_ms.abs() < 0.1, "{found} ns for {expected_ms} ms");
    }
    // Without transitions nothing is added.
    for found in wakes("sim:samsung-951,apst=off") {
        assert!(found.abs() < 1e5, "{found} ns");
    }
}

/// 99th percentile latency of reads beside deletions over that of reads alone, where a deallocation
/// takes a core of the drive for so long.
fn slowdown_by_deletions(deallocation_ns: &str) -> f64 {
    let text = include_str!("../../../profiles/samsung-951.toml");
    let cost = "other_command_ns = { value = 10_000";
    assert!(text.contains(cost));
    let changed = format!("other_command_ns = {{ value = {deallocation_ns}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.toml");
    std::fs::write(&path, text.replace(cost, &changed)).unwrap();
    let set = [("area", "64MiB"), ("fill", "7%"), ("ramp", "0s"), ("deletions", "10ms")];
    let (run, _folder) = run_fill(&set, &format!("sim:{}", path.display()));
    let p99 = |step: &str| {
        let cell = burst(&run, step, "randread");
        cell.drives[0].result.as_ref().unwrap().read.latency_ns.p99 as f64
    };
    p99("reads-beside-deletions") / p99("reads-alone")
}

/// Known truth: a core that deallocates for 2 ms executes no read meanwhile.
#[test]
fn reads_wait_for_slow_deallocations() {
    let slow = slowdown_by_deletions("2_000_000");
    let fast = slowdown_by_deletions("10_000");
    assert!(slow > 5.0 && fast < 2.0, "{slow} {fast}");
}

const FROM_EMPTY: &str = r#"
[[step]]
id = "purge"
title = "Purge"
kind = "purge"
[[step]]
id = "writes"
title = "Random writes of an empty drive"
kind = "soak"
view = "saturation"
job = { rw = "randwrite", bs = "4k", iodepth = 32, size = "100%", runtime = "5m" }
"#;

/// Write amplification in each round of a cell, by the drive's own counters.
fn amplifications(cell: &CellRecord, round_s: usize) -> Vec<f64> {
    let readings: Vec<_> = cell.drives[0].telemetry.iter().step_by(round_s).collect();
    let pairs = readings.windows(2);
    pairs
        .map(|pair| {
            let growth = |of: fn(&TelemetryRecord) -> Option<u64>| {
                (of(pair[1]).unwrap() - of(pair[0]).unwrap()) as f64
            };
            growth(|t| t.nand_bytes_written) / growth(|t| t.host_bytes_written)
        })
        .collect()
}

/// Known truth: the write amplification by the drive's counters, which is 1 until garbage
/// collection begins, and constant in steady state.
#[test]
fn random_writes_are_steady_when_the_write_amplification_is() {
    let (_profile, spec) = small_drive();
    let (_, run, _folder) = common::run(&common::text(FROM_EMPTY), &[&spec]);
    let cell = cells(&run, "writes")[0];
    let found = steady_time::of_cell(&run, cell, 0).unwrap().unwrap();
    assert!((found.round_s - 5.0).abs() < 0.1, "{found:?}");
    let factors = amplifications(cell, 5);
    assert!(factors[0] < 1.1, "{factors:?}");
    let last = factors[factors.len() - 5..].iter().sum::<f64>() / 5.0;
    let apart = |factor: &f64| (factor / last - 1.0).abs() > 0.1;
    let steady_round = factors.iter().rposition(apart).unwrap() + 1;
    let truth_s = 5.0 * steady_round as f64;
    assert!((found.seconds - truth_s).abs() <= 10.0, "{found:?} {truth_s} {factors:?}");
    assert!(found.capacities.unwrap() > 0.9, "all of it was erased");
}

/// A drive that was filled in order collects superblocks full of valid data, and is steady after a
/// small part of its capacity was overwritten. After deallocation it is as it was when empty.
#[test]
fn a_full_drive_is_steady_soon_and_recovers_by_deallocation() {
    let (_profile, spec) = small_drive();
    let set = [("area", "64MiB"), ("sustained", "2m")];
    let (run, _folder) = run_fill(&set, &spec);
    let cell = cells(&run, "random-write")[0];
    let found = steady_time::of_cell(&run, cell, 0).unwrap().unwrap();
    let capacities = found.capacities.unwrap();
    assert!(capacities > 0.0 && capacities < 0.3, "{found:?}");
    for rw in ["randwrite", "randread"] {
        let pct = of_empty(&run, "deallocated-random", rw);
        assert!((pct - 100.0).abs() < 10.0, "{rw}: {pct}");
    }
}
