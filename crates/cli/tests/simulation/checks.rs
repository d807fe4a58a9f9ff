//! One simulation, and what must hold in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use assay_device::host;
use assay_execute::ExecuteError;
use assay_execute::run::RunSummary;
use assay_io::clock::Clock;
use assay_store::StoreError;
use assay_store::journal::{LineContent, parse_line};
use assay_store::model::{CellResult, Entry, RunEnd};
use assay_store::read::{CellState, Run};
use assay_stream::registers::StatusBits;
use assay_units::{Classified, ErrorClass, Nanos};
use tempfile::TempDir;

use crate::power_fail_fs::PowerFailFs;
use crate::schedule::{FileFault, MOST_DRIVES, STOP_MS, Schedule, drives};
use crate::tool::{self, Recorder};

/// Results of finished cells, as often as the journal has them.
type Finished = BTreeMap<String, Vec<Vec<CellResult>>>;

/// What happened in the simulations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    run_errors: u64,
    interrupted: u64,
    drive_failed: u64,
    begun_again: u64,
    resumed: u64,
    complete_before: u64,
    replayed_wholly: u64,
    replayed_partly: u64,
    not_replayed: u64,
}

impl Counts {
    pub fn add(&mut self, of: Counts) {
        self.run_errors += of.run_errors;
        self.interrupted += of.interrupted;
        self.drive_failed += of.drive_failed;
        self.begun_again += of.begun_again;
        self.resumed += of.resumed;
        self.complete_before += of.complete_before;
        self.replayed_wholly += of.replayed_wholly;
        self.replayed_partly += of.replayed_partly;
        self.not_replayed += of.not_replayed;
    }
}

/// The same without faults, to compare with.
pub struct Simulation {
    _folder: TempDir,
    profiles: [String; MOST_DRIVES],
    changes: u64,
    /// Of a run on one drive, and on two.
    finished: [Finished; MOST_DRIVES],
}

/// A drive of half a gigabyte: others take longer to open.
fn small_profile(folder: &Path, name: &str) -> String {
    let mut text = include_str!("../../../../profiles/samsung-951.toml").to_owned();
    for (key, value) in [
        ("capacity_bytes      = { value = 128_035_676_160", "500_000_768"),
        ("channels                 = { value = 8", "2"),
        ("dies                     = { value = 16", "2"),
        ("pages_per_block          = { value = 256", "32"),
        ("blocks_per_plane         = { value = 1_024", "256"),
    ] {
        let (name, _) = key.rsplit_once(' ').unwrap();
        assert!(text.contains(key), "{key}");
        text = text.replace(key, &format!("{name} {value}"));
    }
    let path = folder.join(name).with_extension("toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Of the whole and right lines of the journal.
fn finished(files: &PowerFailFs) -> Finished {
    let journal = files.contents("run/journal.log").unwrap_or_default().0;
    let whole = journal.split_inclusive(|&byte| byte == b'\n');
    let mut finished = Finished::new();
    for line in whole.filter_map(|line| line.strip_suffix(b"\n")) {
        if let LineContent::Entry(entry) = parse_line(line)
            && let Entry::CellFinish { cell, results, .. } = *entry
        {
            finished.entry(cell).or_default().push(results);
        }
    }
    finished
}

fn folder(files: &PowerFailFs) -> PathBuf {
    PathBuf::from(files.path(""))
}

impl Simulation {
    /// `None`, with a message, where no file system can be mounted.
    pub fn new() -> Option<Simulation> {
        let own = TempDir::new().unwrap();
        let profiles = ["small", "second"].map(|name| small_profile(own.path(), name));
        let mut changes = 0;
        let mut finished_runs = [Finished::new(), Finished::new()];
        for (at, finished_run) in finished_runs.iter_mut().enumerate() {
            let files = PowerFailFs::mount(&[], u64::MAX)?;
            let drives = drives(&profiles, &vec![Vec::new(); at + 1]);
            let stop = AtomicBool::new(false);
            let summary = tool::run(&folder(&files), &drives, &stop).unwrap();
            assert_eq!(
                (summary.outcome, summary.io_errors, summary.bad_blocks),
                (RunEnd::Complete, 0, 0)
            );
            let mut recorder = Recorder::new(&drives, 0);
            let recorded = recorder.record(None).unwrap();
            assert!(recorded.status.has(StatusBits::FINISHED), "{recorded:?}");
            let replayed = recorder.replay(&folder(&files).join("stream")).unwrap();
            assert!(replayed.is_right() && replayed.status.bytes == recorder.stream.len() as u64);
            *finished_run = finished(&files);
            assert_eq!(finished_run.len(), 3 * (at + 1));
            changes = files.changes();
        }
        Some(Simulation { changes, finished: finished_runs, profiles, _folder: own })
    }

    /// What a run on as many drives measures without faults.
    fn finished(&self, schedule: &Schedule) -> &Finished {
        &self.finished[schedule.run_faults.len() - 1]
    }

    pub fn schedule(&self, seed: u64) -> Schedule {
        Schedule::new(seed, self.changes)
    }

    pub fn simulate(&self, schedule: &Schedule) -> Counts {
        let mut counts = Counts::default();
        let stop = Arc::new(AtomicBool::new(false));
        let date_shift_s = Arc::new(AtomicI64::new(0));
        let files = with_faults(schedule, &stop, &date_shift_s);
        host::shift_date(Some(date_shift_s));
        let run_drives = drives(&self.profiles, &schedule.run_faults);
        let ran = tool::run(&folder(&files), &run_drives, &stop);
        let finished_run = finished(&files);
        self.check_first(schedule, &ran, &stop, &finished_run, &mut counts);
        let stream_drives = drives(&self.profiles, &schedule.stream_faults);
        let mut recorder = Recorder::new(&stream_drives, schedule.seed);
        let recorded = recorder.record(schedule.stop_recording_at);
        let kept_drive = check_recording(schedule, &recorded);
        let first = replay(&mut recorder, &files, "stream", schedule);
        let files = after(schedule, files);
        self.check_again(schedule, &files, &finished_run, &mut counts);
        let second = replay(&mut recorder, &files, "again", schedule);
        check_streams(schedule, &recorder, kept_drive, [first, second], &mut counts);
        check_names(schedule, &files);
        counts
    }

    /// The run with faults: its status is explained by one of them.
    fn check_first(
        &self,
        schedule: &Schedule,
        ran: &Result<RunSummary, ExecuteError>,
        stop: &AtomicBool,
        finished: &Finished,
        counts: &mut Counts,
    ) {
        let summary = match ran {
            Ok(summary) => summary,
            Err(error) => {
                counts.run_errors += 1;
                let by_files = !matches!(schedule.file, FileFault::Nothing | FileFault::ShortWrite);
                assert!(by_files, "nothing explains it: {error}");
                assert_eq!(error.class(), ErrorClass::Io, "{error}");
                return;
            }
        };
        let failures = summary.failed_cells as u64 + summary.io_errors + summary.bad_blocks;
        let failed = failures > 0 || !summary.lost_drives.is_empty();
        counts.drive_failed += u64::from(failed);
        assert!(!failed || !schedule.run_faults.concat().is_empty(), "{summary:?}");
        if summary.outcome == RunEnd::Interrupted {
            counts.interrupted += 1;
            let is_asked = stop.load(Ordering::SeqCst);
            assert!(is_asked || !summary.lost_drives.is_empty(), "{summary:?}");
            return;
        }
        assert_eq!(
            finished.len() + summary.failed_cells,
            self.finished(schedule).len(),
            "{summary:?}"
        );
        if schedule.run_faults.concat().is_empty() {
            assert_eq!(finished, self.finished(schedule), "other figures than without faults");
        } else if let [fault] = &schedule.run_faults.concat()[..] {
            check_reported(fault, failed, finished != self.finished(schedule));
        }
    }

    /// The run is started again, without faults.
    fn check_again(
        &self,
        schedule: &Schedule,
        files: &PowerFailFs,
        before: &Finished,
        counts: &mut Counts,
    ) {
        let survived = finished(files);
        let durable_only = schedule.file == FileFault::PowerLoss;
        let missing = before.keys().filter(|cell| !survived.contains_key(*cell)).count();
        // The end of each cell is flushed before the next one begins.
        assert!(missing <= usize::from(durable_only), "{missing} finished cells are lost");
        let has_manifest = files.contents("run/manifest.json").is_some();
        let faultless = vec![Vec::new(); schedule.run_faults.len()];
        let run_drives = drives(&self.profiles, &faultless);
        let again = tool::run(&folder(files), &run_drives, &AtomicBool::new(false));
        match again {
            Ok(summary) => {
                assert_eq!(summary.outcome, RunEnd::Complete, "{summary:?}");
                let failures = summary.io_errors + summary.bad_blocks;
                let explained = !schedule.run_faults.concat().is_empty();
                assert!(explained || failures + summary.failed_cells as u64 == 0, "{summary:?}");
                counts.resumed += u64::from(has_manifest);
                counts.begun_again += u64::from(!has_manifest);
            }
            Err(ExecuteError::Store(StoreError::AlreadyComplete(_))) => counts.complete_before += 1,
            Err(error) => panic!("it cannot go on: {error}"),
        }
        let now = finished(files);
        let run = Run::open(&folder(files).join("run")).unwrap();
        // Writes reach the medium in any order: a later line can be there without an earlier one.
        assert!(durable_only || run.damaged_lines.is_empty(), "{:?}", run.damaged_lines);
        assert!(files.contents("run/SHA256SUMS").is_some(), "no checksums");
        for cell in &run.cells {
            let id = &cell.plan.id;
            let Some(results) = now.get(id) else {
                let failed = matches!(cell.state, CellState::Failed(_));
                assert!(
                    failed && !schedule.run_faults.concat().is_empty(),
                    "{id}: {:?}",
                    cell.state
                );
                continue;
            };
            assert_eq!((results.len(), &cell.state), (1, &CellState::Finished), "{id}");
            let expected = survived.get(id).unwrap_or(&self.finished(schedule)[id]);
            assert_eq!(results, expected, "{id}: other figures");
        }
    }
}

fn with_faults(
    schedule: &Schedule,
    stop: &Arc<AtomicBool>,
    date_shift_s: &Arc<AtomicI64>,
) -> PowerFailFs {
    let at = schedule.at;
    let ends = matches!(schedule.file, FileFault::PowerLoss | FileFault::Killed);
    let files = PowerFailFs::mount(&[], if ends { at } else { u64::MAX }).unwrap();
    files.change(|state| {
        match schedule.file {
            FileFault::FailsOnce(errno) => state.refused = Some((at..at + 1, errno)),
            FileFault::FailsFromThen(errno) => state.refused = Some((at..u64::MAX, errno)),
            FileFault::ShortWrite => state.short_at = Some(at),
            FileFault::Nothing | FileFault::PowerLoss | FileFault::Killed => {}
        }
        let (stop, schedule) = (Arc::clone(stop), schedule.clone());
        let date_shift_s = Arc::clone(date_shift_s);
        state.at_change = Some(Arc::new(move |number| {
            if schedule.stop_run_at == Some(number) {
                stop.store(true, Ordering::SeqCst);
            }
            let jumps = schedule.date_jumps.iter();
            for (_, by_s) in jumps.filter(|(at, _)| *at == number) {
                date_shift_s.fetch_add(*by_s, Ordering::Relaxed);
            }
            if schedule.stopped_at == Some(number) {
                let clock = Clock::monotonic();
                clock.wait_until(clock.now() + Nanos::from_millis(STOP_MS));
            }
        }));
    });
    files
}

/// The file system for the next start of the tool.
fn after(schedule: &Schedule, files: PowerFailFs) -> PowerFailFs {
    let has_failed = files.has_failed();
    files.change(|state| {
        state.refused = None;
        state.short_at = None;
        state.at_change = None;
    });
    match schedule.file {
        FileFault::PowerLoss if has_failed => files.after_power_returns(schedule.seed),
        FileFault::Killed if has_failed => files.after_a_kill(),
        _ => {
            files.change(|state| state.fails_at = u64::MAX);
            files
        }
    }
}

/// A fault of the drive that was reached is reported, or changed nothing that was measured.
fn check_reported(fault: &str, failed: bool, differs: bool) {
    let (kind, _) = fault.split_once('@').unwrap();
    let damages =
        ["corrupt-write", "drop-write", "misdirect-write", "read-error", "write-error", "vanish"];
    if damages.contains(&kind) {
        assert!(failed || !differs, "{fault} changed what was measured and is not reported");
    }
    if ["latency-spike", "drop-flush"].contains(&kind) {
        assert!(!failed, "{fault} is no fault of the data");
    }
}

/// Whether what was reported durable must be there.
fn check_recording(
    schedule: &Schedule,
    recorded: &Result<assay_stream::status::StreamStatus, assay_stream::status::StreamError>,
) -> bool {
    let faults = schedule.stream_faults.concat();
    match recorded {
        Ok(status) => {
            let failed = status.failure.is_some() || status.status.has(StatusBits::DEVICE_ERROR);
            assert!(!failed || !faults.is_empty(), "{status:?}");
            let stopped = [StatusBits::STOPPED, StatusBits::ABORTED];
            let stopped = stopped.into_iter().any(|bit| status.status.has(bit));
            let ended = failed || stopped || status.status.has(StatusBits::FINISHED);
            assert!(ended, "{status:?}");
            assert!(!stopped || schedule.stop_recording_at.is_some(), "{status:?}");
        }
        Err(error) => {
            let explained = !faults.is_empty() && error.class() == ErrorClass::DriveFailed;
            assert!(explained, "{:?}: {error}", error.class());
        }
    }
    let kept = ["latency-spike", "power-loss", "write-error", "read-error"];
    faults.iter().all(|fault| kept.iter().any(|kind| fault.starts_with(kind)))
}

/// What of a stream came back: the bytes, and whether the tool said that they are all and right.
struct Replayed {
    bytes: Vec<u8>,
    is_right: bool,
    sink_failed: bool,
}

fn replay(
    recorder: &mut Recorder,
    files: &PowerFailFs,
    name: &str,
    schedule: &Schedule,
) -> Replayed {
    let replayed = recorder.replay(&folder(files).join(name));
    let bytes = files.contents(name).unwrap_or_default().0;
    match replayed {
        Ok(outcome) => Replayed {
            bytes,
            is_right: outcome.is_right() && outcome.status.is_clean(),
            sink_failed: false,
        },
        Err((class, message)) => {
            let by_files = name == "stream"
                && !matches!(schedule.file, FileFault::Nothing | FileFault::ShortWrite);
            assert!(by_files || !schedule.stream_faults.concat().is_empty(), "{message}");
            let documented = [ErrorClass::Io, ErrorClass::DriveFailed, ErrorClass::Usage];
            assert!(documented.contains(&class), "{class:?}: {message}");
            Replayed { bytes, is_right: false, sink_failed: true }
        }
    }
}

fn check_streams(
    schedule: &Schedule,
    recorder: &Recorder,
    kept: bool,
    replayed: [Replayed; 2],
    counts: &mut Counts,
) {
    let faultless = schedule.stream_faults.concat().is_empty();
    for (at, replayed) in replayed.iter().enumerate() {
        let name = ["first replay", "second replay"][at];
        let (bytes, stream) = (&replayed.bytes, &recorder.stream);
        assert!(stream.starts_with(bytes), "{name}: {} bytes are no prefix", bytes.len());
        let durable = bytes.len() as u64 >= recorder.durable_bytes;
        let is_short = kept && !durable;
        assert!(
            !is_short || !replayed.is_right,
            "{name}: {} of {} durable bytes, and nothing is said",
            bytes.len(),
            recorder.durable_bytes
        );
        assert!(!faultless || replayed.is_right || replayed.sink_failed, "{name} blames the drive");
    }
    let [_, second] = &replayed;
    // A fault that is over before the second replay costs nothing that is durable. A loss of power
    // between two commands can cost it without an error; then the replay says so.
    let over = ["write-error", "latency-spike"];
    let is_over = |fault: &String| over.iter().any(|kind| fault.starts_with(kind));
    let costs_nothing = schedule.stream_faults.iter().flatten().all(is_over);
    let nothing_durable = recorder.durable_bytes == 0 && !faultless;
    // What was written behind the last durable checkpoint may be missing, and is counted.
    let is_whole = second.bytes.len() as u64 >= recorder.durable_bytes;
    assert!(
        !costs_nothing || nothing_durable || is_whole,
        "durable bytes are lost: {} of {}",
        second.bytes.len(),
        recorder.durable_bytes
    );
    let whole = second.bytes.len() == recorder.stream.len();
    counts.replayed_wholly += u64::from(whole);
    counts.replayed_partly += u64::from(!whole && !second.bytes.is_empty());
    counts.not_replayed += u64::from(second.bytes.is_empty());
}

/// No temporary file but `.NAME.RANDOM.tmp`, and those only where the program could not remove it.
fn check_names(schedule: &Schedule, files: &PowerFailFs) {
    const KNOWN: [&str; 8] = [
        "run",
        "report.txt",
        "stream",
        "again",
        "drives",
        "journal.log",
        "manifest.json",
        "SHA256SUMS",
    ];
    let may_stay = !matches!(schedule.file, FileFault::Nothing | FileFault::ShortWrite);
    for name in files.names() {
        let parts: Vec<&str> = name.split('.').collect();
        let is_temporary = matches!(&parts[..], ["", .., random, "tmp"]
            if parts.len() > 3 && random.len() == 16);
        let allowed = KNOWN.contains(&name.as_str()) || is_temporary && may_stay;
        assert!(allowed, "{name} was left");
    }
}
