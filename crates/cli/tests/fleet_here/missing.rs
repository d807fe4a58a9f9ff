//! Run folders of finished drives that the shared store has lost are named by `collect`, `status`
//! and `cohort`, and a submission brings them back.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::fixture::{Fixture, MODEL};

const SUBMIT: [&str; 6] = ["fleet", "submit", "plan.toml", "--here", "--host", "alpha"];
const COHORT: [&str; 3] = ["fleet", "cohort", "plan.toml"];
const STATUS: [&str; 3] = ["fleet", "status", "plan.toml"];

type Damage = fn(&Path);

/// Two drives, measured.
fn measured() -> Fixture {
    let fixture = Fixture::new();
    let lines: String =
        (1..=2).map(|seed| format!("sim:samsung-951,lot=1,seed={seed}\n")).collect();
    fixture.write("drives/alpha", &lines);
    fixture.plan(&format!("model = \"{MODEL}\""), "share = \"together\"\nscale = 0.01");
    assert_eq!(fixture.json(&SUBMIT)["counts"]["done"], 2);
    fixture
}

fn serial(number: u32) -> String {
    format!("SIM-SAMSUNG-951-L1-{number}")
}

/// The run folder of a drive below `at`, as `runs/PLAN` of the store.
fn run_of(at: &Path, number: u32) -> PathBuf {
    at.join(serial(number)).join("00-quick")
}

fn store_of(fixture: &Fixture) -> PathBuf {
    let plans = fs::read_dir(fixture.path("store/runs")).unwrap();
    plans.last().unwrap().unwrap().path()
}

/// Names the drive, the task, the folder and what to do.
#[track_caller]
fn names_it(text: &str, case: &str) {
    let words = [serial(1), "host alpha (attempt".to_owned(), "00-quick".to_owned()];
    for word in words {
        assert!(text.contains(&word), "{case}: {word} is missing in {text}");
    }
}

#[test]
fn a_lost_run_folder_is_named_and_the_others_are_delivered() {
    let fixture = measured();
    let runs = store_of(&fixture);
    let one = run_of(&runs, 1);
    let keep = fixture.path("keep");
    let copy = |from: &Path, to: &Path| {
        let done = std::process::Command::new("/bin/cp").arg("-a").args([from, to]).status();
        assert!(done.unwrap().success());
    };
    copy(&one, &keep);
    let damages: [(&str, Damage); 6] = [
        ("gone", |run| fs::remove_dir_all(run).unwrap()),
        ("emptied", |run| {
            fs::remove_dir_all(run).unwrap();
            fs::create_dir(run).unwrap();
        }),
        ("manifest.json", |run| fs::remove_file(run.join("manifest.json")).unwrap()),
        ("manifest.json", |run| fs::write(run.join("manifest.json"), "").unwrap()),
        ("SHA256SUMS", |run| fs::remove_file(run.join("SHA256SUMS")).unwrap()),
        ("journal", |run| fs::remove_dir_all(run.join("journal")).unwrap()),
    ];
    for (number, (what, damage)) in damages.into_iter().enumerate() {
        damage(&one);
        let to = format!("collected{number}");
        let collect = ["fleet", "collect", "plan.toml", "-o", &to];
        let error = fixture.error(4, &collect);
        names_it(&error, what);
        let command = "`assay fleet submit plan.toml --here --host alpha`";
        assert!(error.contains(command), "{what}: {error}");
        if what != "emptied" {
            assert!(error.contains(what), "{what}: {error}");
        }
        // The rest is there.
        assert!(run_of(&fixture.path(&to), 2).join("SHA256SUMS").exists());
        assert!(!run_of(&fixture.path(&to), 1).exists());
        names_it(&fixture.text(4, &STATUS), what);
        assert!(fixture.error(4, &STATUS).contains(command));
        let words: Vec<&str> = STATUS.into_iter().chain(["--json"]).collect();
        let status: Value = serde_json::from_str(&fixture.text(4, &words)).unwrap();
        assert_eq!(status["counts"]["data_missing"], 1, "{status:#}");
        assert_eq!(status["counts"]["done"], 1);
        let folder = status["drives"][0]["missing"][0]["folder"].as_str().unwrap();
        assert!(folder.ends_with(&format!("{}/00-quick", serial(1))), "{folder}");
        let cohort = fixture.text(4, &COHORT);
        names_it(&cohort, what);
        assert!(cohort.contains("1 simulated drive"), "{cohort}");
        assert!(fixture.error(4, &COHORT).contains(command));
        let _ = fs::remove_dir_all(&one);
        copy(&keep, &one);
        fixture.text(0, &STATUS);
    }
    // All are lost: still the same error, not that there is nothing.
    fs::remove_dir_all(&runs).unwrap();
    names_it(&fixture.error(4, &["fleet", "collect", "plan.toml", "-o", "none"]), "all");
    assert!(fixture.error(4, &COHORT).contains("finished drives are missing"));
}

#[test]
fn a_lost_run_folder_is_shipped_again_or_measured_again() {
    let fixture = measured();
    let runs = store_of(&fixture);
    let collect = |to: &str| fixture.json(&["fleet", "collect", "plan.toml", "-o", to]);
    collect("before");
    let journal = |at: &str| fs::read(run_of(&fixture.path(at), 1).join("journal.log")).unwrap();
    // The host still has it: nothing is measured.
    fs::remove_file(run_of(&runs, 1).join("manifest.json")).unwrap();
    let again = fixture.json(&SUBMIT);
    assert_eq!(again["counts"]["done"], 2, "{again:#}");
    assert_eq!(again["drives"][0]["attempts"], 2);
    assert_eq!(again["drives"][1]["attempts"], 1);
    assert_eq!(collect("shipped")["complete"], 2);
    assert!(journal("shipped") == journal("before"));
    // What was left of it is kept.
    let kept = runs.join(serial(1)).join("00-quick.lost-after-attempt-1");
    assert!(kept.join("SHA256SUMS").exists());
    // The host has lost it too.
    fs::remove_dir_all(run_of(&runs, 1)).unwrap();
    fs::remove_dir_all(fixture.path("work")).unwrap();
    let again = fixture.json(&SUBMIT);
    assert_eq!(again["counts"]["done"], 2, "{again:#}");
    assert_eq!(collect("measured")["complete"], 2);
    assert!(journal("measured") != journal("before"));
}

#[test]
fn a_collected_folder_that_is_gone_is_named_by_the_cohort_and_collected_again() {
    let fixture = measured();
    let collect = ["fleet", "collect", "plan.toml", "-o", "collected"];
    fixture.text(0, &collect);
    for name in ["manifest.json", "journal.log", ""] {
        let run = run_of(&fixture.path("collected"), 1);
        match name {
            "" => fs::remove_dir_all(&run).unwrap(),
            name => fs::remove_file(run.join(name)).unwrap(),
        }
        let cohort = ["fleet", "cohort", "collected"];
        let text = fixture.text(4, &cohort);
        names_it(&text, name);
        assert!(text.contains("1 simulated drive"), "{text}");
        let error = fixture.error(4, &cohort);
        assert!(error.contains("assay fleet collect PLAN -o DIR"), "{error}");
        let again = fixture.json(&collect);
        assert_eq!((&again["fetched"], &again["complete"]), (&1.into(), &2.into()));
        fixture.text(0, &cohort);
    }
}
