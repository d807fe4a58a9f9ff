//! Preconditioning by random writes: what it covers, and the state it leaves.

use crate::common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_execute::drive_state_cache::DriveStateCache;
use assay_execute::events::{RunEvent, RunListener};
use assay_execute::live::Live;
use assay_execute::manifest::manifest;
use assay_execute::run::{Resume, Runner};
use assay_stats::HostAudit;
use assay_store::model::BuildRecord;
use assay_store::model::RunEnd;
use assay_store::model::warning::code::{AREA_NOT_COVERED, NOT_STEADY};
use assay_store::read::{CellState, Run};
use assay_store::{Destination, RunWriter};
use assay_suite::expand::{RunPlan, expand};
use assay_suite::schema::Suite;

use common::{Quiet, cells, plan, run, settings, small_drive, text, value};

/// Two passes of random writes with further options, then random writes in the state they leave.
fn preconditioned(options: &str) -> Run {
    let (_profile, drive) = small_drive();
    let suite = text(&format!(
        r#"
[[step]]
id = "precondition"
title = "Two passes"
kind = "prepare"
sets_state = "random"
job = {{ rw = "randwrite", bs = "4k", iodepth = 16, io_size = "200%", {options} }}
[[step]]
id = "write"
title = "Random writes"
kind = "measure"
needs_state = "random"
job = {{ rw = "randwrite", bs = "4k", iodepth = 32, runtime = "1s", interval = "100ms" }}
"#
    ));
    let (ending, run, _folder) = run(&suite, &[&format!("{drive},state=fresh")]);
    assert_eq!(ending.outcome, RunEnd::Complete);
    run
}

fn written_pct(run: &Run) -> f64 {
    value(cells(run, "precondition")[0], "area_written_pct")
}

fn amplification(run: &Run) -> f64 {
    value(cells(run, "write")[0], "write_amplification")
}

fn warned(run: &Run) -> Vec<&str> {
    let warnings = run.warnings.iter().filter(|w| w.code == AREA_NOT_COVERED);
    warnings.map(|w| w.cell.as_deref().unwrap()).collect()
}

/// Every block is written once per pass, by one thread and by several; with replacement 13.5 % are
/// never written, and the drive with that much more spare amplifies writes far less than a full
/// one.
#[test]
fn random_preconditioning_covers_the_area() {
    let covering = preconditioned("");
    assert_eq!(written_pct(&covering), 100.0);
    assert_eq!(warned(&covering), [""; 0]);
    // A quarter of the passes each: a thread's `io_size` is its own.
    let quarters = preconditioned("numjobs = 4, size = \"100%\", number_ios = 61035");
    assert_eq!(written_pct(&quarters), 100.0);
    let replaced = preconditioned("random_distribution = \"random\"");
    assert!((written_pct(&replaced) - 86.5).abs() < 0.5);
    assert_eq!(warned(&replaced).len(), 1);
    let (once_each, at_random) = (amplification(&covering), amplification(&replaced));
    println!("write amplification: {once_each:.2}, with replacement {at_random:.2}");
    assert!(once_each > 1.5 * at_random, "{once_each}, {at_random}");
}

/// `client` covers the area, as its source does; suites without such a source begin steady.
#[test]
fn built_in_suites_are_preconditioned_as_their_source_says() {
    for (suite, order) in [
        ("client", "cover"),
        ("load", "steady"),
        ("interference", "steady"),
        ("database", "steady"),
    ] {
        let planned = plan(suite, &["sim:samsung-951"], &[], 1.0).unwrap();
        let mut cells = planned.cells.iter();
        let cell = cells.find(|c| c.plan.step == "precondition").unwrap();
        let options = &cell.plan.workload.options;
        let wanted = format!("--random_distribution {order}");
        assert!(options.contains(&wanted), "{suite}: {options}");
    }
}

/// Random writes after a preparation, with their write amplification.
fn after(preparation: &str, drive: &str) -> (Run, f64, f64) {
    let suite = text(&format!(
        r#"{preparation}
[[step]]
id = "after"
title = "Random writes"
kind = "soak"
job = {{ rw = "randwrite", bs = "4k", iodepth = 32, io_size = "20%", interval = "20ms" }}
"#
    ));
    let (ending, run, _folder) = run(&suite, &[drive]);
    assert_eq!(ending.outcome, RunEnd::Complete);
    let result = cells(&run, "after")[0].drives[0].result.clone().unwrap();
    let amplification = result.values["write_amplification"];
    (run, result.iops(), amplification)
}

const STEADY: &str = r#"
[[step]]
id = "precondition"
title = "To steady state"
kind = "prepare"
precondition = "steady"
sets_state = "steady-4k"
job = { rw = "randwrite", bs = "4k", iodepth = 32 }
"#;

const TRUTH: &str = r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
job = { rw = "write", bs = "128k", iodepth = 32 }
[[step]]
id = "long"
title = "Random writes until nothing changes"
kind = "prepare"
job = { rw = "randwrite", bs = "4k", iodepth = 32, io_size = "500%", random_distribution = "random" }
"#;

const TWO_PASSES: &str = r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
job = { rw = "write", bs = "128k", iodepth = 32 }
[[step]]
id = "two"
title = "Two passes"
kind = "prepare"
job = { rw = "randwrite", bs = "4k", iodepth = 32, io_size = "200%" }
"#;

/// Rate and write amplification of drives with and without a cache that keeps what it took, right
/// after one write of their flash; two passes miss them by far.
#[test]
fn one_write_of_the_flash_leaves_steady_state() {
    for drive in ["samsung-951", "samsung-960-evo", "toshiba-rd400"] {
        let drive = format!("sim:{drive},shrink=128,state=fresh");
        let (_, iops, amplification) = after(TRUTH, &drive);
        let (run, found, found_amplification) = after(STEADY, &drive);
        let [pass, probe] = cells(&run, "precondition")[..] else {
            panic!("a pass and a probe");
        };
        let written = pass.drives[0].result.as_ref().unwrap().write.bytes
            + probe.drives[0].result.as_ref().unwrap().write.bytes;
        let area = pass.plan.workload.span_bytes as f64;
        let spare_pct = value(pass, "spare_pct");
        println!(
            "{drive}: {found:.0} of {iops:.0} IOPS, write amplification {found_amplification:.2} \
             of {amplification:.2}, spare {spare_pct:.1} %, written {:.2}",
            written as f64 / area
        );
        assert!((found / iops - 1.0).abs() < 0.05);
        assert!((found_amplification / amplification - 1.0).abs() < 0.05);
        assert!(written as f64 <= 1.3 * area * (1.0 + spare_pct / 100.0));
        assert!(value(probe, "steady_bytes_per_second") > 0.0);
        assert!((1.0..20.0).contains(&spare_pct));
        let warned = run.warnings.iter().any(|w| w.code == NOT_STEADY);
        assert!(!warned, "{:?}", run.warnings);
        let (_, two_passes, _) = after(TWO_PASSES, &drive);
        println!("{drive}: after two passes {two_passes:.0}");
        assert!((two_passes / iops - 1.0).abs() > 3.0 * (found / iops - 1.0).abs());
    }
}

/// A cache that borrows flash keeps data that are dead in steady state: the counters tell.
#[test]
fn a_pass_notices_a_cache_that_borrows_flash() {
    for drive in ["samsung-980-pro", "crucial-mx300"] {
        let (run, ..) = after(STEADY, &format!("sim:{drive},shrink=256,state=fresh"));
        let warned = run.warnings.iter().filter(|w| w.code == NOT_STEADY);
        let warned: Vec<_> = warned.filter(|w| w.message.contains("borrows")).collect();
        assert_eq!(warned.len(), 1, "{drive}: {:?}", run.warnings);
    }
}

/// A drive without garbage collection: the rate never falls, which is said.
#[test]
fn a_pass_without_an_end_of_free_space_is_reported() {
    let (run, _, _) = after(STEADY, "sim:intel-optane-memory-32gb,shrink=64");
    let warned: Vec<&str> = (run.warnings.iter())
        .filter(|w| w.code == NOT_STEADY)
        .map(|w| w.cell.as_deref().unwrap())
        .collect();
    assert_eq!(warned, ["intel-optane-memory-32gb-shrink64/precondition/phase=pass/segment=32"]);
    let probe = cells(&run, "precondition")[1];
    assert!((value(probe, "probe_start_pct") - 100.0).abs() < 5.0);
}

/// Interrupts the run when a segment begins.
struct StopAt<'a>(&'a AtomicBool, &'static str);

impl RunListener for StopAt<'_> {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        if let RunEvent::CellStarted { index, .. } = event
            && plan.cells[*index].plan.id.ends_with(self.1)
        {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

/// The cells that an attempt to prepare a file began.
fn prepare_file(
    folder: &Path,
    stop: &AtomicBool,
    listener: &mut dyn RunListener,
) -> (RunEnd, Vec<String>) {
    let (disk, path) = (folder.join("disk"), folder.join("run"));
    let options = SessionOptions {
        destroy: vec!["disk".to_owned()],
        will_write: true,
        ..SessionOptions::default()
    };
    let spec = DriveSpec::parse(disk.to_str().unwrap()).unwrap();
    let mut drives = vec![DriveSession::open(&spec, &options).unwrap()];
    let suite = Suite::parse("test", &text(STEADY)).unwrap();
    let plan = expand(&suite, &settings(&[], 1.0), &drives).unwrap();
    let journal = path.join("journal.log");
    let (writer, resume) = if path.exists() {
        let (writer, before) = RunWriter::resume(&path).unwrap();
        (writer, Resume::from_run(&before, &plan).unwrap())
    } else {
        let tool = BuildRecord { name: "assay".into(), version: "0".into(), commit: "test".into() };
        let manifest = manifest(&plan, &drives, tool, vec![]);
        let destination = Destination::At(path.clone());
        let writer = RunWriter::create(&destination, &manifest).unwrap();
        (writer, Resume::default())
    };
    let begun = |text: &str| text.matches("\"cell_start\"").count();
    let before = begun(&std::fs::read_to_string(&journal).unwrap_or_default());
    let live = Live::new(&plan, &drives);
    let runner = Runner {
        plan: &plan,
        drives: &mut drives,
        writer,
        audit: HostAudit::default(),
        stop,
        listener,
        live: &live,
        drive_states: DriveStateCache::at(folder.join("state")),
    };
    let outcome = runner.run(&resume).unwrap().outcome;
    let journaled = std::fs::read_to_string(&journal).unwrap();
    let starts = journaled.lines().filter(|line| line.contains("\"cell_start\""));
    let cells = starts.skip(before).map(|line| {
        let (_, cell) = line.split_once("\"cell\":\"").unwrap();
        let id = cell.split('"').next().unwrap();
        id.rsplit('/').next().unwrap().to_owned()
    });
    (outcome, cells.collect())
}

/// A pass goes on with the segment that it was in; where others have written meanwhile, it begins
/// anew.
#[test]
fn a_resumed_pass_goes_on_where_it_was() {
    let segments = |from: u32, to: u32| -> Vec<String> {
        (from..=to).map(|number| format!("segment={number}")).collect()
    };
    for foreign in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        std::fs::write(&disk, vec![1; 16 << 20]).unwrap();
        let stop = AtomicBool::new(false);
        let first = prepare_file(folder.path(), &stop, &mut StopAt(&stop, "segment=6"));
        assert_eq!(first, (RunEnd::Interrupted, segments(1, 6)));
        // A fast disk may end the segment before the stop is seen.
        let interrupted = Run::open_segments(&folder.path().join("run")).unwrap();
        let ended = interrupted
            .cells
            .iter()
            .filter(|cell| cell.plan.id.contains("segment=") && cell.state == CellState::Finished);
        let next = u32::try_from(ended.count()).unwrap() + 1;
        assert!((6..=7).contains(&next), "{next}");
        if foreign {
            // Later than the interrupted cell can have written.
            let file = std::fs::File::options().write(true).open(&disk).unwrap();
            let modified = file.metadata().unwrap().modified().unwrap();
            let later = std::time::Duration::from_secs(3600);
            file.set_modified(modified + later).unwrap();
        }
        let running = AtomicBool::new(false);
        let (outcome, begun) = prepare_file(folder.path(), &running, &mut Quiet);
        assert_eq!(outcome, RunEnd::Complete);
        let mut expected = segments(if foreign { 1 } else { next }, 32);
        // The rate of a file may fall as that of a drive does.
        expected.truncate(begun.len() - 1);
        assert_eq!(begun[..begun.len() - 1], expected, "foreign writes: {foreign}");
        assert_eq!(begun[begun.len() - 1], "phase=probe");
    }
}

/// What the probe did not find to be steady is not taken for it by the next run.
#[test]
fn a_state_that_was_not_reached_is_prepared_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("disk"), vec![1; 16 << 20]).unwrap();
    let running = AtomicBool::new(false);
    let (outcome, _) = prepare_file(folder.path(), &running, &mut Quiet);
    assert_eq!(outcome, RunEnd::Complete);
    let path = folder.path().join("run");
    let run = Run::open(&path).unwrap();
    let of_probe =
        |cell: &Option<String>| cell.as_ref().is_some_and(|cell| cell.ends_with("probe"));
    let mut warnings = run.warnings.iter();
    let is_steady = !warnings.any(|w| w.code == NOT_STEADY && of_probe(&w.cell));
    std::fs::rename(&path, folder.path().join("first")).unwrap();
    let (_, begun) = prepare_file(folder.path(), &running, &mut Quiet);
    assert_eq!(begun.is_empty(), is_steady, "{begun:?}");
}
