//! Random job files through fio and through assay: both do the same I/Os in the same order.
//!
//! fio writes its I/O log, assay's workers issue to a target that answers at once. 200 job files, or
//! 2,000 with `ASSAY_TESTS_LONG`; `ASSAY_FIO_FIRST_SEED=N` takes other ones, `ASSAY_FIO_SEED=N`
//! repeats that of one seed and prints it. Without fio it prints the reason and passes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contents;
mod generator;
mod priorities;
mod recorded;
mod totals;
mod turns;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use generator::JobText;

/// Where the further files of a section begin.
const FILE_STEP: u64 = 1 << 40;

/// One of both: an operation, its offset, in the address space of all files, and length; 0 of a
/// flush.
type Ios = Vec<(char, u64, u64)>;

/// Longest part of a sequence that is compared; jobs by time go on for ever.
const MOST: usize = 20_000;
/// fio sleeps for most of a short run.
const AT_ONCE: usize = 12;

/// What fio's section did, by its log.
fn by_fio(folder: &Path, section: usize) -> Ios {
    let log = std::fs::read_to_string(folder.join(format!("log{section}"))).unwrap_or_default();
    let ios = log.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let file = words.next()?.split_once('.').map_or("0", |(_, file)| file);
        let start = file.parse::<u64>().ok()? * FILE_STEP;
        let action = words.next()?;
        let mut number = || words.next()?.parse::<u64>().ok();
        match action {
            "read" => Some(('r', start + number()?, number()?)),
            "write" => Some(('w', start + number()?, number()?)),
            "trim" => Some(('t', start + number()?, number()?)),
            "sync" | "datasync" => Some(('f', start, 0)),
            _ => None,
        }
    });
    ios.take(MOST).collect()
}

/// How fio has ended; `None`: it was ended because it took too long.
fn run_fio(folder: &Path, text: &JobText) -> Option<bool> {
    std::fs::write(folder.join("job.fio"), text.for_fio()).unwrap();
    for (name, bytes) in text.files().into_iter().flatten() {
        let file = std::fs::File::create(folder.join(name)).unwrap();
        file.set_len(bytes).unwrap();
    }
    let output = Command::new("timeout")
        .args(["-k", "2", "20", "fio", "job.fio", "--output=out"])
        .current_dir(folder)
        .output()
        .unwrap();
    match output.status.code() {
        // 128 + SIGKILL, of a fio that does not end by SIGTERM.
        Some(124 | 137) => None,
        // A shift register of ones ends a job of fio without a failure.
        code => {
            let said = std::fs::read_to_string(folder.join("out")).unwrap_or_default();
            Some(code == Some(0) && !said.contains("failed initializing LFSR"))
        }
    }
}

/// Behind the last zone fio 3.33 takes what is there in memory for the begin of a further one
/// (`setup_zbd_zone_mode`), and where it is a small number, sequential writes go on there.
fn goes_on_behind_zones(folder: &Path) -> bool {
    let output = Command::new("timeout")
        .args(["-k", "2", "20", "fio", "job.fio", "--debug=zbd"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let jumps = said.lines().filter_map(|line| {
        let places = line.split_once("to zone end: (")?.1.split_once(')')?.0;
        let (from, to) = places.split_once(" -> ")?;
        Some(to.parse::<u64>().ok()? < from.parse().ok()?)
    });
    jumps.into_iter().any(|goes_back| goes_back)
}

#[derive(Default)]
struct Outcome {
    compared: AtomicU64,
    refused_by_fio: AtomicU64,
    too_long: AtomicU64,
    beside_zones: AtomicU64,
    differences: Mutex<Vec<String>>,
}

fn compare(seed: u64, outcome: &Outcome) {
    let text = JobText::of_seed(seed);
    let folder = tempfile::tempdir().unwrap();
    let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
    let difference = |what: String| {
        let shown = format!("seed {seed}: {what}\n{}", text.for_fio());
        outcome.differences.lock().unwrap().push(shown);
    };
    match run_fio(folder.path(), &text) {
        Some(true) => {}
        Some(false) => {
            count(&outcome.refused_by_fio);
            return;
        }
        None => {
            count(&outcome.too_long);
            return;
        }
    }
    let own = match recorded::by_assay(&text) {
        Ok(own) => own,
        Err(error) => return difference(format!("assay refuses it: {error}")),
    };
    count(&outcome.compared);
    for (section, mut own) in own.into_iter().enumerate() {
        let mut theirs = by_fio(folder.path(), section);
        if text.has_clones(section) {
            // Threads write their lines as they come.
            own.sort_unstable();
            theirs.sort_unstable();
        }
        if text.ends_by_time(section) {
            let both = own.len().min(theirs.len());
            own.truncate(both);
            theirs.truncate(both);
        }
        if own != theirs && text.is_zoned(section) && goes_on_behind_zones(folder.path()) {
            count(&outcome.beside_zones);
            return;
        }
        if own != theirs {
            let both = own.iter().zip(&theirs);
            let at = both.take_while(|(own, theirs)| own == theirs).count();
            let shown = |ios: &Ios| {
                format!(
                    "{} I/Os, {:?}",
                    ios.len(),
                    ios.get(at..).unwrap_or(&[]).iter().take(3).collect::<Vec<_>>()
                )
            };
            return difference(format!(
                "section {section} differs from I/O {at} on: assay {}; fio {}",
                shown(&own),
                shown(&theirs)
            ));
        }
    }
}

fn has_fio() -> bool {
    let output = Command::new("fio").arg("--version").output();
    let is_here = output.is_ok_and(|output| output.status.success());
    if !is_here {
        println!("skipped: no fio here");
    }
    is_here
}

#[test]
fn fio_and_assay_do_the_same() {
    if !has_fio() {
        return;
    }
    if let Ok(seed) = std::env::var("ASSAY_FIO_SEED") {
        let seed = seed.parse().unwrap();
        let text = JobText::of_seed(seed);
        println!("{}\n{:?}", text.for_fio(), text.files());
        let outcome = Outcome::default();
        compare(seed, &outcome);
        assert_eq!(outcome.differences.into_inner().unwrap(), Vec::<String>::new());
        return;
    }
    let files = if std::env::var_os("ASSAY_TESTS_LONG").is_some() { 2000 } else { 200 };
    let outcome = Outcome::default();
    let first = std::env::var("ASSAY_FIO_FIRST_SEED").map_or(0, |seed| seed.parse().unwrap());
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(seed) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < first + files)
                {
                    compare(seed, &outcome);
                }
            });
        }
    });
    let shown = if std::env::var_os("ASSAY_FIO_ALL").is_some() { 999 } else { 8 };
    let differences = outcome.differences.into_inner().unwrap();
    let [compared, refused, long, beside] =
        [outcome.compared, outcome.refused_by_fio, outcome.too_long, outcome.beside_zones]
            .map(AtomicU64::into_inner);
    println!("{compared} compared, {refused} refused by fio, {long} took it too long");
    println!("{beside} of them in memory behind fio's zones");
    assert!(
        differences.is_empty(),
        "{} of {files} differ:\n{}",
        differences.len(),
        differences.iter().take(shown).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(compared * 10 > files * 8, "only {compared} of {files} were compared");
}
