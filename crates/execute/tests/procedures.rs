//! Procedure keys of steps: states, loads, idle time, early stop, power states, mixes.

use crate::common;

use assay_store::model::RunEnd;
use assay_store::read::{CellRecord, CellState};
use assay_suite::catalogue;
use assay_suite::expand::expand;
use assay_suite::schema::Suite;

use common::{cells, drives, iops, plan, run, settings, text, value};

const STATES: &str = r#"
[[step]]
id = "purge"
title = "Purge"
kind = "purge"
sets_state = "empty"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
needs_state = "empty"
sets_state = "full"
job = { rw = "write", bs = "128k", iodepth = 8, size = "64MiB" }
[[step]]
id = "full"
title = "On the full drive"
kind = "measure"
needs_state = "full"
job = { rw = "randread", size = "64MiB", runtime = "20ms" }
[[step]]
id = "fill-again"
title = "The same state once more"
kind = "prepare"
sets_state = "full"
job = { rw = "write", bs = "128k", iodepth = 8, size = "64MiB" }
[[step]]
id = "purge-again"
title = "Purge"
kind = "purge"
[[step]]
id = "too-late"
title = "On a drive that is full no more"
kind = "measure"
needs_state = "full"
job = { rw = "randread", size = "64MiB", runtime = "20ms" }
"#;

#[test]
fn a_step_is_skipped_without_its_required_state_and_states_are_prepared_once() {
    let (ending, run, _folder) = run(&text(STATES), &["sim:samsung-951"]);
    assert_eq!(ending.failed_cells, 0);
    let state = |step: &str| cells(&run, step)[0].state.clone();
    for step in ["purge", "fill", "full", "purge-again"] {
        assert_eq!(state(step), CellState::Finished, "{step}");
    }
    let skipped = |step: &str| match state(step) {
        CellState::Skipped(why) => why,
        other => panic!("{step}: {other:?}"),
    };
    assert!(skipped("fill-again").starts_with("not needed"));
    assert!(skipped("too-late").contains("not been preconditioned"));
}

#[test]
fn a_load_is_a_share_of_the_reached_rate() {
    let suite = r#"
[[step]]
id = "most"
title = "Most"
kind = "measure"
job = { rw = "randread", iodepth = 32, size = "1GiB", runtime = "200ms" }
[[step]]
id = "load"
title = "Load"
kind = "measure"
view = "load"
load_of = "most"
job = { rw = "randread", iodepth = 256, arrival = "poisson", size = "1GiB", runtime = "500ms" }
matrix = { load_pct = [20, 50] }
"#;
    let (_, run, _folder) = run(&text(suite), &["sim:samsung-951"]);
    let most = iops(cells(&run, "most")[0]);
    for (cell, percent) in cells(&run, "load").iter().zip([20.0, 50.0]) {
        let offered = value(cell, "offered_iops");
        assert!((offered - most * percent / 100.0).abs() <= 1.0);
        assert!((iops(cell) / offered - 1.0).abs() < 0.02, "{} of {offered}", iops(cell));
        assert_eq!(cell.plan.load.as_ref().unwrap().percent, percent);
        assert!(cell.drives[0].result.as_ref().unwrap().read.service_ns.is_some());
    }
}

#[test]
fn a_soak_ends_in_steady_state_and_idle_time_cools_the_drive() {
    let suite = r#"
[[step]]
id = "soak"
title = "Soak"
kind = "soak"
view = "thermal"
until = { settle_window = "60s" }
job = { rw = "randread", bs = "128k", iodepth = 4, size = "4GiB", runtime = "2h" }
[[step]]
id = "rest"
title = "Rest"
kind = "idle"
job = { runtime = "5m" }
"#;
    let (_, run, _folder) = run(&text(suite), &["sim:samsung-951"]);
    let soak = cells(&run, "soak")[0];
    let settled_s = value(soak, "settled_s");
    assert!((120.0..3600.0).contains(&settled_s), "{settled_s}");
    let celsius = |cell: &CellRecord, last: bool| {
        let all = &cell.drives[0].telemetry;
        let reading = if last { all.last() } else { all.first() };
        reading.unwrap().temperature_c.unwrap()
    };
    let rest = cells(&run, "rest")[0];
    assert_eq!(rest.state, CellState::Finished);
    assert_eq!(rest.drives[0].telemetry.len(), 300);
    assert!(celsius(rest, true) < celsius(soak, true) - 10.0);
    assert!(value(rest, "power_mean_w") < value(soak, "power_mean_w"));
}

/// AnandTech PBlaze5: the drive is limited to 10 W in a lower power state, and recovers in the next
/// one.
#[test]
fn cells_run_in_their_power_state() {
    let suite = r#"
[[step]]
id = "read"
title = "Reads"
kind = "measure"
job = { rw = "read", bs = "128k", iodepth = 64, runtime = "2s" }
matrix = { power_state = ["0", "2", "as-it-is"] }
"#;
    let (_, run, _folder) = run(&text(suite), &["sim:memblaze-pblaze5-c916"]);
    let cells = cells(&run, "read");
    let states: Vec<_> = cells.iter().map(|c| c.plan.workload.power_state).collect();
    assert_eq!(states, [Some(0), Some(2), None]);
    let (full, capped, again) = (iops(cells[0]), iops(cells[1]), iops(cells[2]));
    assert!(capped < full * 0.9, "{capped} of {full}");
    assert!((again / full - 1.0).abs() < 0.05, "{again} of {full}");
}

#[test]
fn a_total_depth_is_spread_over_threads() {
    let plan = plan("client", &["sim:samsung-951"], &[], 1.0).unwrap();
    let depths: Vec<(u32, u32)> = plan
        .cells
        .iter()
        .filter(|c| c.plan.step == "depth-random-read")
        .map(|c| (c.plan.workload.numjobs, c.plan.workload.iodepth))
        .collect();
    assert_eq!(depths, [(1, 1), (2, 1), (4, 1), (4, 2), (4, 4), (4, 8), (4, 16)]);
}

#[test]
fn invalid_procedures_name_the_step() {
    let step = "[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"measure\"\n";
    for (rest, expected) in [
        ("job = { queue_depth = 4, numjobs = 2 }", "sets iodepth and numjobs"),
        ("most_threads = 4", "most_threads needs"),
        ("job = { load_pct = 5 }", "need each other"),
        ("job = { load_pct = 5 }\nload_of = \"b\"", "no earlier step"),
        ("needs_state = \"b\"", "no earlier step sets it"),
        ("sets_state = \"b\"", "kind prepare or purge"),
        ("until = { settle_window = \"1s\" }", "kind soak"),
        ("rounds = { most = 25, window = 1 }", "at least 2"),
        ("rounds = { most = 25, range_pct = 0 }", "above 0"),
        ("rounds = { most = 25, rule = \"iops\" }", "not a steady-state rule"),
        ("rounds = { most = 25, track = { bs = \"4k\" } }", "not in its matrix"),
        ("rounds = { most = 25, trak = 1 }", "unknown field"),
    ] {
        let error =
            Suite::parse("test", &text(&format!("{step}{rest}\n"))).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    // Errors that need the parameter values.
    for (rest, expected) in [
        ("job = { queue_depth = 0 }", "queue_depth"),
        ("job = { power_state = 99 }", "power state"),
        ("rounds = { most = 3 }", "from 5 (the window)"),
        ("rounds = { most = 7, dwell = 3 }", "from 8 (a window of 5 and a dwell of 3)"),
        ("rounds = { most = 7, dwell = \"some\" }", "dwell"),
    ] {
        let suite = Suite::parse("test", &text(&format!("{step}{rest}\n"))).unwrap();
        let error = expand(&suite, &settings(&[], 1.0), &drives(&["null:"])).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} lacks {expected:?}");
    }
}

const MIXED: &str = r#"
[[step]]
id = "mix"
title = "A mix that begins at 512 bytes"
kind = "measure"
rounds = { most = 5 }
job = { rw = "randread", bs = "512/4:4k/96", size = "64MiB", runtime = "10ms" }
[[step]]
id = "plain"
title = "4 KiB"
kind = "measure"
job = { rw = "randread", bs = "4k", size = "64MiB", runtime = "10ms" }
"#;

/// A custom profile with logical blocks of 4 KiB.
fn large_blocks() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large-blocks.toml");
    let text = include_str!("../../../profiles/samsung-951.toml");
    let line = "logical_block_bytes = { value = 512,";
    assert!(text.contains(line));
    let text = text.replace(line, "logical_block_bytes = { value = 4096,");
    std::fs::write(&path, text).unwrap();
    let drive = format!("sim:{}", path.display());
    (folder, drive)
}

/// A mix with 512 B is skipped with a warning on a drive with logical blocks of 4 KiB; the run
/// continues.
#[test]
fn a_mix_below_the_logical_block_is_skipped_with_a_warning() {
    let (_profile, drive) = large_blocks();
    let (ending, run, _folder) = run(&text(MIXED), &[&drive]);
    assert_eq!(ending.outcome, RunEnd::Complete);
    for cell in cells(&run, "mix") {
        let CellState::Skipped(why) = &cell.state else {
            panic!("{:?}", cell.state);
        };
        assert!(why.contains("512 B") && why.contains("4 KiB"), "{why}");
    }
    assert_eq!(cells(&run, "plain")[0].state, CellState::Finished);
    let warned = run.warnings.iter().filter(|w| w.code == "block-mix-unfit");
    let warned: Vec<_> = warned.collect();
    assert_eq!(warned.len(), 1, "once for all rounds");
    assert!(warned[0].message.contains("512 B") && warned[0].message.contains("step mix"));
    // A size that is no multiple of the block stays an error.
    let wrong = text(&MIXED.replace("512/4:4k/96", "5000/4:8k/96"));
    let wrong = Suite::parse("test", &wrong).unwrap();
    assert!(expand(&wrong, &settings(&[], 1.0), &drives(&[&drive])).is_err());
    // The built-in suite.
    let planned = plan("jesd219", &[&drive], &[], 1.0).unwrap();
    let workload = planned.cells.iter().filter(|c| c.plan.step == "workload");
    assert!(
        workload.clone().count() == 25 && workload.clone().all(|c| c.unsupported_block.is_some())
    );
}

/// Suite and page have the standard's table of the enterprise workload.
#[test]
fn jesd219_has_the_sizes_and_zones_of_the_standard() {
    let planned = plan("jesd219", &["sim:samsung-951"], &[], 1.0).unwrap();
    let cell = planned.cells.iter().find(|c| c.plan.step == "workload").unwrap();
    let workload = &cell.workloads[0];
    assert_eq!((workload.read_percent, cell.plan.workload.rwmixread), (40, Some(40)));
    let standard = [
        (512, 4.0),
        (1024, 1.0),
        (1536, 1.0),
        (2048, 1.0),
        (2560, 1.0),
        (3072, 1.0),
        (3584, 1.0),
        (4096, 67.0),
        (8192, 10.0),
        (16_384, 7.0),
        (32_768, 3.0),
        (65_536, 3.0),
    ];
    let sizes: Vec<(u32, f64)> = workload.access.block_sizes.entries().collect();
    let sum: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    assert_eq!(sizes.len(), standard.len());
    for ((size, weight), (bytes, percent)) in sizes.iter().zip(standard) {
        assert_eq!(*size, bytes);
        assert!((weight / sum * 100.0 - percent).abs() < 1e-9, "{size}: {weight} of {sum}");
    }
    let options = &cell.plan.workload.options;
    assert!(options.contains("zoned:50/5:30/15:20/80"), "{options}");
    let page = include_str!("../../../docs/suites/jesd219.md").replace('\n', " ");
    for words in [
        "40 % reads and 60 % writes",
        "512 B 4 %, 1 KiB to 3.5 KiB 1 % each (six sizes), 4 KiB 67 %, 8 KiB 10 %, 16 KiB 7 %, 32 \
         KiB 3 %, 64 KiB 3 %",
        "half of the accesses in the first 5 % of the drive, 30 % in the next 15 %, 20 % in the \
         rest",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

/// AnandTech PBlaze5 sweeps synchronous threads up to 512, for both peaks; each reader has its own
/// region.
#[test]
fn both_peaks_of_the_enterprise_suite_go_up_to_512_threads() {
    let planned = plan("enterprise", &["sim:memblaze-pblaze5-c916"], &[], 1.0).unwrap();
    for step in ["peak-random-read", "peak-sequential-read"] {
        let cells = planned.cells.iter().filter(|c| c.plan.step == step);
        let whole: Vec<_> = cells.filter(|c| c.plan.skipped.is_none()).collect();
        let most = whole.iter().map(|c| c.plan.workload.numjobs).max();
        assert_eq!(most, Some(512), "{step}");
        assert!(whole.iter().all(|c| c.plan.workload.iodepth == 1), "{step}");
    }
}

/// Its steady writes are those of synchronous threads, and then of queues with as many in flight.
#[test]
fn steady_writes_of_the_enterprise_suite_are_synchronous_and_then_queued() {
    let planned = plan("enterprise", &["sim:memblaze-pblaze5-c916"], &[], 1.0).unwrap();
    let of = |step: &str| {
        let mut cells = planned.cells.iter().filter(|c| c.plan.step == step);
        &cells.next().unwrap().plan
    };
    for (step, in_flight) in [("sequential-write", 32), ("random-write", 64)] {
        let (threads, queued) = (of(step), of(&format!("{step}-queued")));
        assert_eq!((threads.workload.numjobs, threads.workload.iodepth), (in_flight, 1));
        let workload = &queued.workload;
        assert!(workload.iodepth > 1, "{step}");
        assert_eq!(workload.numjobs * workload.iodepth, in_flight, "{step}");
        assert!(threads.steady && queued.steady, "{step}");
    }
}

/// Its sequential writers overwrite only what the fill wrote: each pattern has a half of the area.
#[test]
fn sequential_writes_of_the_enterprise_suite_have_a_half_each() {
    for (area, bytes) in [("100%", 6_401_252_745_216), ("1001MiB", 1001 << 20)] {
        let set = [("area", area)];
        let planned = plan("enterprise", &["sim:memblaze-pblaze5-c916"], &set, 1.0).unwrap();
        let of = |step: &str| {
            let mut cells = planned.cells.iter().filter(|c| c.plan.step == step);
            let workload = &cells.next().unwrap().plan.workload;
            (workload.offset_bytes, workload.span_bytes)
        };
        let half = (bytes / 2) >> 20 << 20;
        assert_eq!(of("sequential-write"), (0, half), "{area}");
        assert_eq!(of("sequential-write-queued"), (half, half), "{area}");
    }
}

/// Every suite can be planned on every simulated drive.
#[test]
fn every_suite_can_be_planned_on_every_simulated_drive() {
    for suite in catalogue::names() {
        for profile in assay_ssd::Profile::names() {
            let drive = format!("sim:{profile}");
            let planned = plan(suite, &[&drive], &[], 1.0);
            let planned = planned.unwrap_or_else(|e| panic!("{suite} on {drive}: {e}"));
            assert!(planned.cells.iter().any(|c| c.plan.skipped.is_none()));
        }
    }
}

const RAMP_ONLY: &str = r#"
[[step]]
id = "read"
title = "Over before the ramp is"
kind = "measure"
job = { rw = "randread", bs = "4k", size = "1m", ramp_time = "10s" }
[[step]]
id = "write"
title = "Not allowed"
kind = "measure"
needs = ["write"]
job = { rw = "randwrite", bs = "4k", size = "1m", runtime = "10ms" }
"#;

#[test]
fn a_cell_without_results_has_a_warning() {
    let (_, run, _folder) = run(&text(RAMP_ONLY), &["sim:samsung-951"]);
    let reported: Vec<_> = run.warnings.iter().filter(|w| w.code == "nothing-measured").collect();
    let [of_cell] = &reported[..] else { panic!("{reported:?}") };
    assert!(of_cell.cell.as_ref().unwrap().ends_with("/read"));
    assert!(of_cell.advice.contains("--runtime"), "{of_cell:?}");
}
