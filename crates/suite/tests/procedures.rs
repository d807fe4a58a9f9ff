//! Procedure keys of steps: rounds, states, loads, idle time, early stop, power states.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use assay_stats::SteadyRule;
use assay_store::model::RunEnd;
use assay_store::read::{CellRecord, CellState, Run};
use assay_suite::catalogue;
use assay_suite::expand::{RoundCriterion, expand};
use assay_suite::schema::{Suite, TrackingVariable};

use common::{drives, plan, run, settings, text};

fn cells<'a>(run: &'a Run, step: &str) -> Vec<&'a CellRecord> {
    run.cells.iter().filter(|c| c.plan.step == step).collect()
}

fn value(cell: &CellRecord, name: &str) -> f64 {
    cell.drives[0].result.as_ref().unwrap().values[name]
}

fn iops(cell: &CellRecord) -> f64 {
    cell.drives[0].result.as_ref().unwrap().iops()
}

const ROUNDS: &str = r#"
[[step]]
id = "r"
title = "Rounds"
kind = "measure"
view = "rounds"
rounds = { most = 8, track = { rwmixread = 0 } }
job = { rw = "randrw", bs = "4k", size = "1GiB", runtime = "50ms", interval = "10ms" }
matrix = { rwmixread = [100, 0] }
"#;

/// A drive with equal rounds is in steady state after the five rounds of SNIA's window.
#[test]
fn rounds_end_in_steady_state() {
    let (_, run, _folder) = run(&text(ROUNDS), &["null:"]);
    let cells = cells(&run, "r");
    assert_eq!(cells.len(), 16);
    let tracked = |c: &&&CellRecord| c.plan.round.as_ref().unwrap().tracked;
    assert_eq!(cells.iter().filter(tracked).count(), 8);
    let [steady] = run.steady.as_slice() else {
        panic!("{:?}", run.steady);
    };
    assert_eq!(steady.group, "null/r/rwmixread=0");
    // On a busy host the null target's rate may vary; the rounds must continue exactly until steady state.
    let done = steady.values.len();
    for (i, cell) in cells.iter().enumerate() {
        if i < done * 2 {
            assert_eq!(cell.state, CellState::Finished, "{}", cell.plan.id);
        } else {
            let CellState::Skipped(why) = &cell.state else {
                panic!("{} is not needed", cell.plan.id);
            };
            assert!(why.contains(&format!("round {done}")), "{why}");
        }
    }
    assert!(steady.achieved || done == 8);
}

/// A fresh drive whose write cache fills during the rounds: no steady window.
#[test]
fn rounds_without_steady_state_are_reported() {
    let suite = ROUNDS
        .replace("[100, 0]", "[0]")
        .replace(
            "most = 8",
            "most = 5, range_pct = 0.001, excursion_pct = 0.001",
        )
        .replace("size = \"1GiB\"", "iodepth = 32");
    let (ending, run, _folder) = run(&text(&suite), &["sim:samsung-951"]);
    assert_eq!(ending.outcome, RunEnd::Complete);
    let steady = &run.steady[0];
    assert!(!steady.achieved);
    assert_eq!(steady.values.len(), 5);
    let why = steady.why.as_ref().unwrap();
    let warning = run
        .warnings
        .iter()
        .find(|w| w.code == "not-steady")
        .unwrap();
    assert!(warning.message.contains(why), "{}", warning.message);
}

const STATES: &str = r#"
[[step]]
id = "purge"
title = "Purge"
kind = "purge"
leaves = "empty"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
wants = "empty"
leaves = "full"
job = { rw = "write", bs = "128k", iodepth = 8, size = "64MiB" }
[[step]]
id = "full"
title = "On the full drive"
kind = "measure"
wants = "full"
job = { rw = "randread", size = "64MiB", runtime = "20ms" }
[[step]]
id = "fill-again"
title = "The same state once more"
kind = "prepare"
leaves = "full"
job = { rw = "write", bs = "128k", iodepth = 8, size = "64MiB" }
[[step]]
id = "purge-again"
title = "Purge"
kind = "purge"
[[step]]
id = "too-late"
title = "On a drive that is full no more"
kind = "measure"
wants = "full"
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
        assert!(
            (iops(cell) / offered - 1.0).abs() < 0.02,
            "{} of {offered}",
            iops(cell)
        );
        assert_eq!(cell.plan.load.as_ref().unwrap().percent, percent);
        assert!(
            cell.drives[0]
                .result
                .as_ref()
                .unwrap()
                .read
                .service_ns
                .is_some()
        );
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

/// AnandTech PBlaze5: the drive is limited to 10 W in a lower power state, and recovers in the next one.
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
    assert_eq!(
        depths,
        [(1, 1), (2, 1), (4, 1), (4, 2), (4, 4), (4, 8), (4, 16)]
    );
}

#[test]
fn invalid_procedures_name_the_step() {
    let step = "[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"measure\"\n";
    for (rest, expected) in [
        (
            "job = { queue_depth = 4, numjobs = 2 }",
            "sets iodepth and numjobs",
        ),
        ("most_threads = 4", "most_threads needs"),
        ("job = { load_pct = 5 }", "need each other"),
        ("job = { load_pct = 5 }\nload_of = \"b\"", "no earlier step"),
        ("wants = \"b\"", "no earlier step leaves"),
        ("leaves = \"b\"", "kind prepare or purge"),
        ("until = { settle_window = \"1s\" }", "kind soak"),
        ("rounds = { most = 25, window = 1 }", "at least 2"),
        ("rounds = { most = 25, range_pct = 0 }", "above 0"),
        (
            "rounds = { most = 25, rule = \"iops\" }",
            "not a steady-state rule",
        ),
        (
            "rounds = { most = 25, track = { bs = \"4k\" } }",
            "not in its matrix",
        ),
        ("rounds = { most = 25, trak = 1 }", "unknown field"),
    ] {
        let error = Suite::parse("test", &text(&format!("{step}{rest}\n")))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    // Errors that need the parameter values.
    for (rest, expected) in [
        ("job = { queue_depth = 0 }", "queue_depth"),
        ("job = { power_state = 99 }", "power state"),
        ("rounds = { most = 3 }", "from 5 (the window)"),
        (
            "rounds = { most = 7, dwell = 3 }",
            "from 8 (a window of 5 and a dwell of 3)",
        ),
        ("rounds = { most = 7, dwell = \"some\" }", "dwell"),
    ] {
        let suite = Suite::parse("test", &text(&format!("{step}{rest}\n"))).unwrap();
        let error = expand(&suite, &settings(&[], 1.0), &drives(&["null:"])).unwrap_err();
        assert!(
            error.to_string().contains(expected),
            "{error} lacks {expected:?}"
        );
    }
}

/// The standards' suites take another rule and a dwell as parameters; a fio rule names its tracking variable.
#[test]
fn the_rule_of_rounds_is_a_parameter_with_its_figure() {
    for (suite, of_suite) in [
        ("snia-iops", TrackingVariable::Iops),
        ("snia-throughput", TrackingVariable::MibPerS),
        ("snia-latency", TrackingVariable::MeanLatency),
        ("jesd219", TrackingVariable::Iops),
    ] {
        let rule = |set: &[(&str, &str)]| {
            let planned = plan(suite, &["sim:samsung-951"], set, 1.0).unwrap();
            let rules: Vec<RoundCriterion> =
                planned.cells.into_iter().filter_map(|c| c.rounds).collect();
            assert!(rules.iter().all(|r| *r == rules[0]), "{suite}");
            rules.into_iter().next().unwrap()
        };
        let usual = rule(&[]);
        assert_eq!(
            (usual.rule, usual.dwell, usual.figure),
            (SteadyRule::default(), 0, of_suite)
        );
        let fio = rule(&[("steady_rule", "bw:1%"), ("dwell", "2")]);
        assert_eq!(
            (fio.dwell, fio.figure),
            (2, TrackingVariable::MibPerS),
            "{suite}"
        );
        let words = fio.text();
        assert!(
            words.starts_with("fio") && words.contains("2 further rounds"),
            "{words}"
        );
        assert_eq!(
            rule(&[("steady_rule", "iops_slope:0.3%")]).figure,
            TrackingVariable::Iops
        );
        let error = plan(suite, &["sim:samsung-951"], &[("steady_rule", "iops")], 1.0).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("not a steady-state rule") && error.contains("`snia`"),
            "{error}"
        );
    }
}

/// The recorded tracking variable is the one that the rule names.
#[test]
fn the_tracking_variable_of_a_fio_rule_is_recorded() {
    let suite = ROUNDS
        .replace("[100, 0]", "[0]")
        .replace("most = 8", "most = 6, dwell = 1, rule = \"bw:50%\"");
    let (_, run, _folder) = run(&text(&suite), &["sim:samsung-951"]);
    let [steady] = run.steady.as_slice() else {
        panic!("{:?}", run.steady);
    };
    assert_eq!(steady.figure, "MiB/s");
    let result = cells(&run, "r")[0].drives[0].result.as_ref().unwrap();
    assert!((steady.values[0] - result.mib_per_s()).abs() < 1e-9);
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

/// A mix with 512 B is skipped with a warning on a drive with logical blocks of 4 KiB; the run continues.
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
    let cell = planned
        .cells
        .iter()
        .find(|c| c.plan.step == "workload")
        .unwrap();
    let workload = &cell.workloads[0];
    assert_eq!(
        (workload.read_percent, cell.plan.workload.rwmixread),
        (40, Some(40))
    );
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
        assert!(
            (weight / sum * 100.0 - percent).abs() < 1e-9,
            "{size}: {weight} of {sum}"
        );
    }
    let options = &cell.plan.workload.options;
    assert!(options.contains("zoned:50/5:30/15:20/80"), "{options}");
    let page = include_str!("../../../docs/suites/jesd219.md").replace('\n', " ");
    for words in [
        "40 % reads and 60 % writes",
        "512 B 4 %, 1 KiB to 3.5 KiB 1 % each (six sizes), 4 KiB 67 %, 8 KiB 10 %, 16 KiB 7 %, 32 KiB 3 %, 64 KiB 3 %",
        "half of the accesses in the first 5 % of the drive, 30 % in the next 15 %, 20 % in the rest",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

/// AnandTech PBlaze5 sweeps synchronous threads up to 512, for both peaks; each reader has its own region.
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

const STREAMS: &str = r#"
[[step]]
id = "s"
title = "Streams"
kind = "measure"
view = "peak"
repeats = 2
rest = { before = "1s", first = "70s" }
job = { bs = "128k", iodepth = 8 }
matrix = { chunks = [1, 64, 20000000], rw = ["write", "read"] }
"#;

/// The drive of the MLE NVMe Streamer brief enters a low-power state after a minute: only its first chunk includes the exit latency.
#[test]
fn streams_are_consecutive_with_idle_time_before_them_and_repeat() {
    let (ending, run, _folder) = run(&text(STREAMS), &["sim:mle-brief-960gb"]);
    assert_eq!((ending.outcome, ending.failed_cells), (RunEnd::Complete, 0));
    let cells = cells(&run, "s");
    assert_eq!(cells.len(), 12);
    let places: Vec<(u64, u64, u64)> = cells[..4]
        .iter()
        .map(|c| {
            let w = &c.plan.workload;
            (
                w.offset_bytes >> 17,
                w.span_bytes >> 17,
                c.plan.rest_ns / 1_000_000_000,
            )
        })
        .collect();
    assert_eq!(places, [(0, 1, 70), (0, 1, 1), (1, 64, 1), (1, 64, 1)]);
    for cell in &cells[4..6] {
        let CellState::Skipped(why) = &cell.state else {
            panic!("{} does not fit", cell.plan.id);
        };
        assert!(why.contains("does not fit on the drive"), "{why}");
    }
    let ms = |cell: &CellRecord| cell.drives[0].result.as_ref().unwrap().elapsed.0 as f64 / 1e6;
    for first in [cells[0], cells[6]] {
        assert_eq!(first.plan.rest_ns, 70_000_000_000);
        assert!(ms(first) > 5.0, "it slept: {}", ms(first));
    }
    assert!(ms(cells[1]) < 1.0 && ms(cells[2]) < 5.0);
    let round = cells[6].plan.round.as_ref().unwrap();
    assert_eq!((round.number, round.most), (2, 2));
}

const VERIFIED: &str = r#"
[[step]]
id = "s"
title = "Stream"
kind = "measure"
view = "continuous"
repeats = 2
job = { bs = "128k", iodepth = 8, size = "8MiB", verify = true, do_verify = false }
matrix = { rw = ["write", "read"] }
"#;

/// Data of an earlier repetition must not pass verification.
#[test]
fn repetitions_write_with_seeds_of_their_own_and_read_back_once() {
    let (ending, run, _folder) = run(&text(VERIFIED), &["sim:samsung-951,data=keep"]);
    assert_eq!((ending.failed_cells, ending.bad_blocks), (0, 0));
    let cells = cells(&run, "s");
    let verify = |at: usize| {
        let result = cells[at].drives[0].result.as_ref().unwrap();
        (result.verify.clone().unwrap(), result.read.bytes)
    };
    for (write, read) in [(0, 1), (2, 3)] {
        assert_eq!((verify(write).0.blocks_checked, verify(write).1), (0, 0));
        assert_eq!(verify(read).0.blocks_checked, 2048);
        assert_eq!(verify(read).0.seed, verify(write).0.seed);
    }
    assert_ne!(verify(1).0.seed, verify(3).0.seed);
}

#[test]
fn invalid_streams_and_repeats_are_refused() {
    for (from, to, why) in [
        ("bs = \"128k\", ", "", "needs bs"),
        ("iodepth = 8", "iodepth = 8, size = \"1m\"", "sets the size"),
        ("view = \"peak\"", "", "needs the view"),
        ("repeats = 2", "repeats = 0", "a whole number from 1"),
        ("[1, 64, 20000000]", "[0]", "a whole number above 0"),
        (
            "repeats = 2",
            "rounds = { most = 5 }\nrepeats = 2",
            "give one",
        ),
    ] {
        let suite = Suite::parse("test", &text(&STREAMS.replacen(from, to, 1)));
        let drives = drives(&["sim:mle-brief-960gb"]);
        let error = suite.and_then(|s| expand(&s, &settings(&[], 1.0), &drives));
        let message = error.unwrap_err().to_string();
        assert!(message.contains(why), "{from} -> {to}: {message}");
    }
}

/// Without a tracked combination, rounds would run to the limit without an evaluation.
#[test]
fn rounds_without_a_tracking_variable_are_refused() {
    for (suite, set, wanted) in [
        ("snia-iops", ("blocks", "8k,16k"), "bs=4k"),
        ("snia-latency", ("mixes", "100,65"), "rwmixread=0"),
    ] {
        let error = plan(suite, &["sim:samsung-951"], &[set], 1.0)
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted) && error.contains("--set"), "{error}");
    }
    plan(
        "snia-iops",
        &["sim:samsung-951"],
        &[("blocks", "4096,16k")],
        1.0,
    )
    .unwrap();
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
    let reported: Vec<_> = run
        .warnings
        .iter()
        .filter(|w| w.code == "nothing-measured")
        .collect();
    let [of_cell] = &reported[..] else {
        panic!("{reported:?}")
    };
    assert!(of_cell.cell.as_ref().unwrap().ends_with("/read"));
    assert!(of_cell.advice.contains("--runtime"), "{of_cell:?}");
}
