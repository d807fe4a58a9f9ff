//! Time to drain, deadlines and flushes, on drives whose flash takes a known time.

use crate::common;

use std::path::Path;

use assay_analysis::deadlines::{self, Misses};
use assay_analysis::{drain, interference};
use assay_io::Nanos;
use assay_store::model::CellResult;
use assay_store::read::{CellRecord, Run};
use assay_suite::schema::Suite;
use assay_units::Op;

use common::{cells, run, small_drive, text};

/// The profile of a drive with these lines in place of its own of the same keys.
fn with_lines(profile: &Path, name: &str, lines: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(profile).unwrap();
    let mut seen = 0;
    let changed: Vec<String> = (text.lines())
        .map(|line| {
            let key = line.split('=').next().unwrap().trim();
            match lines.iter().find(|(own, _)| *own == key) {
                Some((key, value)) => {
                    seen += 1;
                    format!("{key} = {{ value = {value}, assumed = \"a test\" }}")
                }
                None => line.to_owned(),
            }
        })
        .collect();
    assert_eq!(seen, lines.len(), "every key is in the profile");
    let path = profile.with_file_name(format!("{name}.toml"));
    std::fs::write(&path, changed.join("\n")).unwrap();
    format!("sim:{}", path.display())
}

fn result(cell: &CellRecord) -> &CellResult {
    cell.drives[0].result.as_ref().unwrap()
}

const CHECKPOINT: &str = r#"
[[step]]
id = "checkpoint"
title = "Checkpoint"
kind = "measure"
view = "drain"
repeats = 2
job = { rw = "write", bs = "256k", iodepth = 8, size = "32m", split = true, end_fsync = true, interval = "50ms" }
matrix = { numjobs = [1, 4] }
"#;

/// Known truth: 32 MiB on two dies that program a page of each of their planes in 4 ms take as long
/// as the programs of the dies; half as long with twice the speed. Without the flush the end of it
/// would be in the write buffer.
#[test]
fn the_time_to_drain_is_that_of_the_flash() {
    let (_folder, drive) = small_drive();
    let profile = Path::new(drive.strip_prefix("sim:").unwrap());
    let seconds = |name: &str, program_ns: &str| -> Vec<f64> {
        let drive = with_lines(profile, name, &[("program_ns", program_ns)]);
        let (_, run, _folder) = run(&text(CHECKPOINT), &[&drive]);
        let all = cells(&run, "checkpoint");
        assert_eq!(all.len(), 4);
        all.iter()
            .map(|cell| {
                let drained = drain::drain_of_cell(cell, &cell.drives[0]).unwrap();
                assert_eq!(drained.bytes, 32 << 20, "all threads together");
                assert_eq!(result(cell).flush.ios, u64::from(cell.plan.workload.numjobs));
                drained.seconds
            })
            .collect()
    };
    let (slow, fast) = (seconds("slow", "[4_000_000]"), seconds("fast", "[2_000_000]"));
    for (slow, fast) in slow.iter().zip(&fast) {
        assert!((1.7..2.1).contains(&(slow / fast)), "{slow} {fast}");
    }
    // The last program of the flush: no drain is over before the flash has taken it.
    assert!(slow.iter().all(|s| *s > 0.1), "{slow:?}");
}

const STORE: &str = r#"
[[step]]
id = "store"
title = "Store"
kind = "measure"
view = "deadlines"
deadlines = ["3ms", "100ms"]
foreground = "reads"
job = { runtime = "2s" }
jobs.reads = { rw = "randread", bs = "4k", iodepth = 16, rate = "500", size = "50%" }
jobs.writes = { rw = "randwrite", bs = "16k", rate = "100", iodepth = 4, offset = "50%", size = "50%" }
"#;

fn misses(run: &Run, job: &str, deadline: Nanos) -> Misses {
    let of_job = |c: &&CellRecord| c.plan.job.as_ref().unwrap().name == job;
    let cell = cells(run, "store").into_iter().find(of_job).unwrap();
    let found = deadlines::misses_of_cell(&cell.drives[0], deadline);
    found.into_iter().find(|m| m.op != Op::Flush).unwrap()
}

/// Known truth: programs of 8 ms are not interrupted, so reads that meet one miss a deadline of 3
/// ms; those of 0.2 ms delay no read that long.
#[test]
fn reads_behind_long_programs_miss_their_deadline() {
    let (_folder, drive) = small_drive();
    let profile = Path::new(drive.strip_prefix("sim:").unwrap());
    let short = Nanos::from_millis(3);
    let slow = with_lines(profile, "slow", &[("program_ns", "[8_000_000]")]);
    let (_, run_slow, _a) = run(&text(STORE), &[&slow]);
    let missed = misses(&run_slow, "reads", short);
    assert!(missed.per_million() > 20_000.0, "{missed:?}");
    assert_eq!(missed.ios, result(cells(&run_slow, "store")[0]).read.ios);
    assert_eq!(misses(&run_slow, "reads", Nanos::from_millis(100)).missed, 0);
    let fast = with_lines(profile, "fast", &[("program_ns", "[200_000]")]);
    let (_, run_fast, _b) = run(&text(STORE), &[&fast]);
    let missed = misses(&run_fast, "reads", short);
    assert_eq!((missed.missed, missed.shown_below()), (0, Some(3e6 / missed.ios as f64)));
}

const LOG: &str = r#"
[[step]]
id = "alone"
title = "The log alone"
kind = "measure"
view = "interference"
job = { rw = "write", bs = "16k", size = "10%", fsync = 1, runtime = "2s" }
[[step]]
id = "beside"
title = "The log beside pages"
kind = "measure"
view = "interference"
compare_with = "alone"
foreground = "log"
job = { runtime = "2s" }
jobs.log = { rw = "write", bs = "16k", size = "10%", fsync = 1 }
jobs.pages = { rw = "randwrite", bs = "16k", iodepth = 8, offset = "10%", size = "50%" }
"#;

/// Known truth: a flush of a volatile buffer takes a program of 4 ms, one of a protected buffer
/// none. Beside page writes it waits for theirs.
#[test]
fn a_flush_takes_a_program_unless_the_buffer_is_protected() {
    let (_folder, drive) = small_drive();
    let profile = Path::new(drive.strip_prefix("sim:").unwrap());
    let measured = |name: &str, protected: &str| {
        let buffer =
            format!("460, assumed = \"a test\" }}\npower_loss_protected = {{ value = {protected}");
        let lines = [("program_ns", "[4_000_000]"), ("ack_unit_ns", buffer.as_str())];
        let drive = with_lines(profile, name, &lines);
        let (_, run, _folder) = run(&text(LOG), &[&drive]);
        let (alone, beside) = (cells(&run, "alone")[0], cells(&run, "beside")[0]);
        let slowdown = interference::of_flushes(&run, beside, 0).unwrap();
        // The cell may end between a write and its flush.
        let (flushes, writes) = (result(alone).flush.ios, result(alone).write.ios);
        assert!(flushes.abs_diff(writes) <= 1, "{flushes} {writes}");
        (result(alone).flush.latency_ns.p50, slowdown)
    };
    let (volatile, slowdown) = measured("volatile", "false");
    assert!((4_000_000..9_000_000).contains(&volatile), "{volatile}");
    assert!(slowdown.p50.unwrap() > 1.5, "{slowdown:?}");
    let (protected, _) = measured("protected", "true");
    assert!(protected < 200_000, "{protected}");
}

#[test]
fn contradictions_of_drains_and_deadlines_are_named() {
    let step =
        |rest: &str| format!("[[step]]\nid = \"a\"\ntitle = \"A\"\nkind = \"measure\"\n{rest}\n");
    let job = "job = { rw = \"write\", runtime = \"1s\" }\n";
    for (rest, expected) in [
        (format!("{job}view = \"drain\""), "amount of data"),
        (format!("{job}repeats = 2"), "repeats needs the view"),
    ] {
        let error = Suite::parse("test", &text(&step(&rest))).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
    let prepare =
        step("deadlines = [\"1ms\"]\njob = { rw = \"write\" }").replace("measure", "prepare");
    let error = Suite::parse("test", &text(&prepare)).unwrap_err().to_string();
    assert!(error.contains("deadlines need"), "{error}");
}
