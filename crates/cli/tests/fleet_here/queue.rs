//! `assay fleet submit`, `status`, `pause` and `cancel`, with programs in place of Slurm's.

use std::fs;

use crate::fixture::{Fixture, MODEL};

/// Programs of Slurm that keep jobs in a file, one per line as `squeue -o` prints them.
fn slurm(fixture: &Fixture) {
    let jobs = fixture.path("jobs").display().to_string();
    fixture.write("jobs", "");
    let sbatch = format!(
        "for a; do case $a in --job-name=*) name=${{a#*=}};; esac; done\nid=$(($(wc -l < {jobs}) \
         + 1))\necho \"$id|PD||Priority|$name\" >> {jobs}\necho $id"
    );
    let scancel = format!("sed -i \"/^$1|/d\" {jobs}");
    fixture.program("sbatch", &sbatch);
    fixture.program("squeue", &format!("cat {jobs}"));
    fixture.program("scancel", &scancel);
}

fn publish(fixture: &Fixture) {
    let store = fixture.path("store").display().to_string();
    for host in ["alpha", "beta"] {
        fixture.text(0, &["fleet", "inventory", "--host", host, "--store", &store]);
    }
}

#[test]
fn jobs_are_made_once_and_a_cancelled_plan_stays_cancelled() {
    let fixture = Fixture::new();
    slurm(&fixture);
    publish(&fixture);
    fixture.plan(&format!("model = \"{MODEL}\""), "");
    let never = fixture.error(2, &["fleet", "pause", "plan.toml"]);
    assert!(never.contains("submit it first"), "{never}");
    let first = fixture.json(&["fleet", "submit", "plan.toml"]);
    assert_eq!(first["made"].as_array().unwrap().len(), 2);
    assert_eq!(first["drives"], 8);
    let again = fixture.json(&["fleet", "submit", "plan.toml"]);
    assert_eq!(again["made"].as_array().unwrap().len(), 0);
    assert_eq!(again["present"].as_array().unwrap().len(), 2);
    let metrics = fixture.path("fleet.prom").display().to_string();
    let status = fixture.text(0, &["fleet", "status", "plan.toml", "--openmetrics", &metrics]);
    insta::assert_snapshot!("status", status);
    let metrics = fs::read_to_string(metrics).unwrap();
    assert!(metrics.contains("state=\"waiting\"} 8\n"), "{metrics}");
    fixture.text(0, &["fleet", "pause", "plan.toml"]);
    let paused = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(paused["control"]["state"], "paused");
    assert_eq!(paused["counts"]["waiting"], 8);
    let cancelled = fixture.json(&["fleet", "cancel", "plan.toml"]);
    assert_eq!(cancelled["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(fs::read_to_string(fixture.path("jobs")).unwrap(), "");
    let refused = fixture.error(3, &["fleet", "submit", "plan.toml"]);
    assert!(refused.contains("was cancelled by"), "{refused}");
    fixture.text(0, &["fleet", "pause", "plan.toml"]);
    let still = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(still["control"]["state"], "cancelled");
    let resumed = fixture.json(&["fleet", "submit", "plan.toml", "--resume"]);
    assert_eq!(resumed["made"].as_array().unwrap().len(), 2);
}

#[test]
fn destroying_takes_three_confirmations() {
    let fixture = Fixture::new();
    slurm(&fixture);
    publish(&fixture);
    fixture.write("serials.txt", "SIM-SAMSUNG-951-L1-1\nSIM-SAMSUNG-951-L2-1\n");
    let (serials, destroy) = ("serials = \"serials.txt\"", "destroy = true");
    let submit = |count: &'static [&str]| -> Vec<&'static str> {
        ["fleet", "submit", "plan.toml"].iter().chain(count).copied().collect()
    };
    fixture.plan(serials, destroy);
    for (count, message) in [
        (&[][..], "confirm it with their number: --destroy-count 2"),
        (&["--destroy-count", "3"], "is not the number of serials"),
    ] {
        let refused = fixture.error(3, &submit(count));
        assert!(refused.contains(message), "{refused}");
    }
    fixture.plan("model = \"SAMSUNG\"", destroy);
    let unlisted = fixture.error(3, &submit(&["--destroy-count", "2"]));
    assert!(unlisted.contains("needs the serials"), "{unlisted}");
    fixture.plan(serials, "");
    let unneeded = fixture.error(3, &submit(&["--destroy-count", "2"]));
    assert!(unneeded.contains("the plan only reads"), "{unneeded}");
    assert_eq!(fs::read_to_string(fixture.path("jobs")).unwrap(), "");
    fixture.plan(serials, destroy);
    let submitted = fixture.json(&submit(&["--destroy-count", "2"]));
    assert_eq!(submitted["made"].as_array().unwrap().len(), 2);
}

#[test]
fn a_missing_or_failing_queue_is_an_error_that_loses_nothing() {
    let fixture = Fixture::new();
    publish(&fixture);
    fixture.plan(&format!("model = \"{MODEL}\""), "place = \"drive\"");
    let missing = fixture.error(4, &["fleet", "submit", "plan.toml"]);
    assert!(missing.contains("cannot start squeue") && missing.contains("--here"), "{missing}");
    slurm(&fixture);
    let submitted = fixture.json(&["fleet", "submit", "plan.toml"]);
    assert_eq!(submitted["made"].as_array().unwrap().len(), 8);
    // A host that is gone.
    let store = fixture.path("store").display().to_string();
    let remove = ["fleet", "inventory", "--remove", "--store", &store, "--host", "beta"];
    fixture.text(0, &remove);
    let plan = fixture.json(&["fleet", "plan", "plan.toml"]);
    assert_eq!(plan["hosts"].as_array().unwrap().len(), 1);
    let inventory = fixture.text(0, &["fleet", "inventory", "--host", "beta", "--slurm"]);
    assert!(
        inventory.starts_with("NodeName=beta Gres=")
            && inventory.contains("nvme:SIM-SAMSUNG-951-L2-4:1"),
        "{inventory}"
    );
}

#[test]
fn a_task_that_must_be_queued_again_asks_slurm() {
    let fixture = Fixture::new();
    slurm(&fixture);
    publish(&fixture);
    fixture.plan(&format!("model = \"{MODEL}\""), "");
    let plan = fixture.json(&["fleet", "submit", "plan.toml"]);
    let id = plan["plan"].as_str().unwrap();
    let log = fixture.path("scontrol.log").display().to_string();
    fixture.program("scontrol", &format!("echo \"$@\" >> {log}"));
    // Another task of the host has its lock, and does not end.
    fs::create_dir_all(fixture.path("work")).unwrap();
    let lock = fs::File::create(fixture.path("work/alpha.lock")).unwrap();
    lock.lock().unwrap();
    let store = fixture.path("store").display().to_string();
    let mut words =
        vec!["fleet", "task", "--store", &store, "--plan", id, "--host", "alpha", "--poll", "1"];
    let busy = fixture.error(75, &words);
    assert!(busy.contains("another task measures"), "{busy}");
    assert!(!fixture.path("scontrol.log").exists());
    words.extend(["--job", "17", "--requeue"]);
    fixture.error(75, &words);
    assert_eq!(fs::read_to_string(&log).unwrap(), "requeue 17\n");
    drop(lock);
    let plan = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(plan["counts"]["waiting"], 8, "nothing was begun");
}
