//! Steps that stream, and their repetitions.

use crate::common;

use assay_store::model::RunEnd;
use assay_store::read::{CellRecord, CellState};
use assay_suite::expand::expand;
use assay_suite::schema::Suite;

use common::{cells, drives, run, settings, text};

const STREAMS: &str = r#"
[[step]]
id = "s"
title = "Streams"
kind = "measure"
view = "peak"
repeats = 2
idle = { before = "1s", first = "70s" }
job = { bs = "128k", iodepth = 8 }
matrix = { chunks = [1, 64, 20000000], rw = ["write", "read"] }
"#;

/// The drive of the MLE NVMe Streamer brief enters a low-power state after a minute: only its first
/// chunk includes the exit latency.
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
            (w.offset_bytes >> 17, w.span_bytes >> 17, c.plan.idle_ns / 1_000_000_000)
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
        assert_eq!(first.plan.idle_ns, 70_000_000_000);
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
        ("repeats = 2", "rounds = { most = 5 }\nrepeats = 2", "give one"),
    ] {
        let suite = Suite::parse("test", &text(&STREAMS.replacen(from, to, 1)));
        let drives = drives(&["sim:mle-brief-960gb"]);
        let error = suite.and_then(|s| expand(&s, &settings(&[], 1.0), &drives));
        let message = error.unwrap_err().to_string();
        assert!(message.contains(why), "{from} -> {to}: {message}");
    }
}
