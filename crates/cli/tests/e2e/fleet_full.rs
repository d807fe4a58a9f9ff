//! A fleet whose shared store, or whose folder for collected runs, is full.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use crate::block_devices::BlockDevices;
use crate::fixture::{Done, pause, send};

/// Four simulated drives of the host `a`, and a shared store at `store`.
fn plan(devices: &BlockDevices, store: &Path) {
    let fixture = &devices.fixture;
    fs::create_dir_all(fixture.path("drives")).unwrap();
    let drives: String =
        (1..=4).map(|seed| format!("sim:samsung-951,lot=1,seed={seed}\n")).collect();
    fixture.write("drives/a", drives);
    let store = store.display();
    fixture.write(
        "plan.toml",
        format!(
            "name = \"p\"\nsuites = [ {{ suite = \"quick\" }} ]\n[drives]\nmodel = \
             \"SAMSUNG\"\n[run]\nscale = 0.1\nshare = \"together\"\n[store]\nat = \"{store}\"\n"
        ),
    );
}

fn command(devices: &BlockDevices, words: &str) -> std::process::Command {
    let mut command = devices.fixture.command(&format!("fleet {words}"));
    command
        .env("ASSAY_FLEET_DRIVES", devices.fixture.path("drives"))
        .env("ASSAY_FLEET_DIR", devices.fixture.path("work"));
    command
}

fn run(devices: &BlockDevices, words: &str) -> Done {
    Done::new(words, command(devices, words).spawn().unwrap())
}

const SUBMIT: &str = "submit plan.toml --here --host a";

fn resized(point: &Path, size: &str) {
    let done = std::process::Command::new("mount")
        .args(["-o", &format!("remount,size={size}")])
        .arg(point)
        .status();
    assert!(done.unwrap().success());
}

/// Occurrences of a text.
fn count(text: &str, of: &str) -> usize {
    text.matches(of).count()
}

/// Names of files below a folder, with their lengths.
fn files_below(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_below(&entry.path())),
            false => files.push((entry.path(), entry.metadata().unwrap().len())),
        }
    }
    files
}

#[test]
fn a_full_shared_store_is_said_once_with_its_space_and_loses_nothing() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let store = devices.mount("tmpfs", &["-t", "tmpfs", "-o", "size=400k"]);
    plan(&devices, &store);
    // A group of its own, so that the signal comes once.
    let mut submit = command(&devices, SUBMIT);
    let submit = submit.process_group(0).spawn().unwrap();
    let work = devices.fixture.path("work");
    let is_measured = || {
        let files = if work.exists() { files_below(&work) } else { Vec::new() };
        files.iter().filter(|(path, _)| path.ends_with("SHA256SUMS")).count() == 4
    };
    for _ in 0..600 {
        if is_measured() {
            break;
        }
        pause(100);
    }
    assert!(is_measured(), "measuring goes on though the store is full");
    // Some tries more.
    pause(3000);
    send(&submit, Signal::INT);
    let done = Done::new(SUBMIT, submit);
    assert_eq!(done.status, 4, "{done}");
    let text = &done.stderr;
    let full = format!("shared store {}: cannot write", store.display());
    // Once until it is over: a smaller piece may have found space meanwhile.
    assert_eq!(count(text, &full), 1 + count(text, "over after"), "{done}");
    for words in ["No space left on device", "are free there", "nothing that was measured is lost"]
    {
        assert!(text.contains(words), "{words}: {done}");
    }
    assert_eq!(count(text, "tries failed: shared store"), 1, "{done}");
    assert!(text.contains("the next task on it ships them"), "{done}");
    // Failed tries leave nothing in the store that takes its space.
    let leftovers = fs::read_dir(store.join(".tmp")).unwrap().count();
    assert_eq!(leftovers, 0, "temporary files are left");
    // Full before it begins: the same words.
    resized(&store, "400k");
    let filler = store.join("filler");
    let mut written = 1 << 20;
    while written > 0 && fs::write(&filler, vec![0; written]).is_err() {
        written = written * 9 / 10;
    }
    let again = run(&devices, SUBMIT);
    again.refuses(4, &["No space left", "are free there", "nothing that was measured is lost"]);
    fs::remove_file(&filler).unwrap();
    // With room, everything is shipped without measuring again.
    resized(&store, "64m");
    let journals = |work: &Path| -> Vec<(PathBuf, u64)> {
        let mut all = files_below(work);
        all.retain(|(path, _)| path.ends_with("journal.log"));
        all.sort();
        all
    };
    let before = journals(&work);
    let shipped = run(&devices, &format!("{SUBMIT} --json")).expect(0).json();
    assert_eq!(shipped["counts"]["done"], 4, "{shipped:#}");
    assert_eq!(journals(&work), before);
}

#[test]
fn a_store_that_has_room_again_ends_the_waiting() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let store = devices.mount("tmpfs", &["-t", "tmpfs", "-o", "size=400k"]);
    plan(&devices, &store);
    let submit = command(&devices, SUBMIT).spawn().unwrap();
    pause(6000);
    resized(&store, "64m");
    let done = Done::new(SUBMIT, submit).expect(0);
    let full = format!("shared store {}: cannot write", store.display());
    // A smaller piece may have found space before the store had room for all.
    let over = count(&done.stderr, "over after ");
    assert!(over >= 1, "{done}");
    assert_eq!(count(&done.stderr, &full), over, "{done}");
}

#[test]
fn a_full_folder_of_collected_runs_is_said_once_and_is_filled_later() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let store = devices.fixture.path("store");
    fs::create_dir(&store).unwrap();
    plan(&devices, &store);
    run(&devices, SUBMIT).expect(0);
    let to = devices.mount("tmpfs", &["-t", "tmpfs", "-o", "size=280k"]);
    let words = format!("collect plan.toml -o {}", to.display());
    let done = run(&devices, &words);
    assert_eq!(done.status, 4, "{done}");
    for words in ["are free there", "is kept", "nor was there space for 2 further"] {
        assert!(done.stderr.contains(words), "{words}: {done}");
    }
    assert_eq!(count(&done.stderr, "No space left"), 1, "{done}");
    // Whole folders only, and nothing that takes the space of the next try.
    let complete = done.stdout.split(' ').next().unwrap().parse::<usize>().unwrap();
    assert!((1..4).contains(&complete), "{done}");
    let names = files_below(&to);
    let parts = names.iter().filter(|(path, _)| path.to_string_lossy().contains(".fetching"));
    assert_eq!(parts.count(), 0, "{names:?}");
    resized(&to, "64m");
    let done: Value = run(&devices, &format!("{words} --json")).expect(0).json();
    assert_eq!(done["complete"], 4, "{done:#}");
}
