//! Whole plans under Slurm: many drives, cancelling, a drive that moves, a serial on two hosts, a
//! time limit.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bench::{Bench, REAL_TIME_CELLS};
use crate::cluster::{self, Cluster};
use crate::fixture::text_so_far;

/// Hosts of the plan of forty drives, two drives each.
const HOSTS: std::ops::Range<usize> = 4..24;

/// Journal entries with results, by serial. Times of day and self-audits of the host differ.
fn results(cluster: &Cluster, plan: &str) -> BTreeMap<String, Vec<Value>> {
    let collected = cluster
        .assay(&format!("fleet collect {plan}.toml -o {plan}-collected --json"))
        .expect(0)
        .json();
    assert_eq!(collected["complete"], 40, "{collected:#}");
    let folders = collected["folders"].as_array().unwrap().iter();
    folders
        .map(|folder| {
            let folder = folder.as_str().unwrap();
            let serial = folder.split('/').nth(1).unwrap().to_owned();
            let journal = text_so_far(&cluster.path(folder).join("journal.log"));
            let entries = journal.lines().map(|line| &line[9..]);
            let entries = entries.map(|line| serde_json::from_str::<Value>(line).unwrap());
            let measured = entries.filter_map(|mut entry| {
                let event = entry["event"].as_str().unwrap();
                let is_result = ["interval", "cell_finish", "telemetry"].contains(&event);
                entry.as_object_mut().unwrap().remove("at");
                is_result.then_some(entry)
            });
            (serial, measured.collect())
        })
        .collect()
}

#[test]
fn forty_drives_by_slurm_and_by_one_process_give_the_same_results() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    for host in HOSTS {
        let drives = [1, 2].map(|n| format!("sim:samsung-951,lot=9,seed={}", 2 * host + n));
        cluster.set_drives(&format!("d{host}"), &drives);
    }
    for plan in ["queued", "one"] {
        let store = cluster.path(format!("{plan}-store"));
        std::fs::create_dir(&store).unwrap();
        cluster.write(
            format!("{plan}.toml"),
            format!(
                "name = \"forty\"\nsuites = [ {{ suite = \"quick\" }} ]\n[drives]\nmodel = \
                 \"SAMSUNG MZVPV128\"\n[run]\nscale = 0.02\n[store]\nat = \
                 \"{}\"\n[compare]\nprimary = [\"quick.random-read\"]\n",
                store.display()
            ),
        );
    }
    let hosts: Vec<String> = HOSTS.map(|host| format!("d{host}")).collect();
    let store = cluster.path("queued-store").display().to_string();
    for host in &hosts {
        cluster.assay(&format!("fleet inventory --host {host} --store {store}")).expect(0);
    }
    let submitted = cluster.assay("fleet submit queued.toml --json").expect(0).json();
    let made = submitted["made"].as_array().unwrap();
    assert_eq!((made.len(), &submitted["drives"]), (20, &40.into()));
    // Again, while they run: nothing is made twice.
    let again = cluster.assay("fleet submit queued.toml --json").expect(0).json();
    assert_eq!(again["made"], serde_json::json!([]), "{again:#}");
    let status =
        |plan: &str| cluster.assay(&format!("fleet status {plan}.toml --json")).expect(0).json();
    cluster.wait("all drives are done", || status("queued")["counts"]["done"] == 40);
    let here: String = hosts.iter().map(|host| format!(" --host {host}")).collect();
    cluster.assay(&format!("fleet submit one.toml --here{here}")).expect(0);
    assert_eq!(status("queued")["drives"], status("one")["drives"]);
    let (queued, one) = (results(cluster, "queued"), results(cluster, "one"));
    assert_eq!(queued.len(), 40);
    for (serial, entries) in &one {
        assert!(entries.len() > 10, "{serial}: {}", entries.len());
        assert!(queued[serial] == *entries, "{serial}");
    }
    let cohort = |plan: &str| {
        let words = format!("fleet cohort {plan}.toml -o {plan}.html --json");
        let mut cohort = cluster.assay(&words).expect(0).json()["cohort"].clone();
        // Measured of the host in each run, not of its simulated drive.
        let audits = cohort.as_object_mut().unwrap().remove("audits");
        assert_eq!(audits.unwrap().as_array().unwrap().len(), 2);
        cohort
    };
    let (queued, one) = (cohort("queued"), cohort("one"));
    assert_eq!(queued["drives"].as_array().unwrap().len(), 40);
    assert_eq!(queued, one);
    // The claims name the jobs.
    let jobs: Vec<&str> = made.iter().map(|job| job["id"].as_str().unwrap()).collect();
    for serial in ["SIM-SAMSUNG-951-L9-9", "SIM-SAMSUNG-951-L9-48"] {
        let claim = cluster.path(format!("queued-collected/{serial}/claim.json"));
        let claim: Value = serde_json::from_str(&text_so_far(&claim)).unwrap();
        let job = claim["holder"]["job"].as_str().unwrap();
        assert!(jobs.contains(&job), "{claim:#}");
    }
}

#[test]
fn a_cancelled_plan_stays_cancelled_even_when_the_queue_brings_its_job_back() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let bench = Bench::new(&cluster, "cancelled", &["d0"]);
    let job = bench.submit().remove("d0").unwrap();
    bench.wait_for_cells("d0", 1);
    bench.fleet("cancel", "").expect(0);
    cluster.wait("the job has ended", || {
        cluster.job_state(&job).as_deref() == Some("CANCELLED")
            && bench.processes("d0", "assay run").is_empty()
            && bench.processes("d0", "fleet task").is_empty()
    });
    let serial = bench.serial("d0");
    let status = bench.status(&serial);
    assert_eq!(status["state"], "interrupted", "{status:#}");
    let before = text_so_far(&bench.folder("d0", &serial).join("journal.log"));
    let refused = bench.fleet("submit", "").expect(3);
    assert!(refused.stderr.contains("was cancelled by"), "{refused}");
    // By hand, as the script of another tool could.
    let task = format!(
        "assay fleet task --store {} --plan {} --host d0 --job 7",
        bench.store().display(),
        bench.id
    );
    let output = cluster.path("again.out");
    let again = cluster.ok(
        "sbatch",
        &[
            "--parsable",
            "--nodelist=d0",
            &format!("--output={}", output.display()),
            &format!("--wrap=exec {task}"),
        ],
    );
    cluster.wait("it has ended", || cluster.job_state(again.trim()).as_deref() == Some("FAILED"));
    assert!(text_so_far(&output).contains("the plan was cancelled"), "{}", text_so_far(&output));
    let after = text_so_far(&bench.folder("d0", &serial).join("journal.log"));
    assert_eq!(before, after, "nothing was measured");
    bench.fleet("submit", "--resume").expect(0);
    cluster.wait("the drive is done", || bench.count("done") == 1);
    let collected = bench.collected();
    assert_eq!(collected[&serial].len(), REAL_TIME_CELLS);
}

#[test]
fn a_serial_on_two_hosts_is_refused_until_one_is_removed() {
    let Some(cluster) = Cluster::start(2) else {
        return;
    };
    let bench = Bench::new(&cluster, "twice", &["d0"]);
    let serial = bench.serial("d0");
    bench.show("d1", &serial);
    let submitted = bench.fleet("submit", "--json").expect(0).json();
    assert_eq!(submitted["made"], serde_json::json!([]), "{submitted:#}");
    assert_eq!(submitted["left_out"][0]["reason"], "on_several_hosts");
    assert_eq!(bench.status(&serial)["state"], "refused");
    let store = bench.store().display().to_string();
    cluster.assay(&format!("fleet inventory --host d0 --remove --store {store}")).expect(0);
    assert_eq!(bench.submit().len(), 1);
    cluster
        .wait("it is measured on the other host", || bench.status(&serial)["state"] == "running");
    assert_eq!(bench.status(&serial)["host"], "d1");
    // While it runs there, the first host reports it again: no second attempt is made.
    bench.publish("d0");
    let submitted = bench.fleet("submit", "--json").expect(0).json();
    assert_eq!(submitted["made"], serde_json::json!([]), "{submitted:#}");
    assert_eq!(bench.status(&serial)["attempts"], 1);
}

#[test]
fn a_job_near_its_time_limit_ends_with_its_cell_and_queues_itself_again() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    // Slurm looks at time limits every half a minute; this one is near at the first look.
    let limit = "[slurm]\noptions = [\"--time=1\"]";
    let bench = Bench::with(&cluster, "limit", &["d0"], "4s", limit);
    let job = bench.submit().remove("d0").unwrap();
    cluster.wait("the drive is done", || bench.count("done") == 1);
    let collected = bench.collected();
    let serial = bench.serial("d0");
    assert_eq!(collected[&serial].len(), REAL_TIME_CELLS);
    let attempts = bench.status(&serial)["attempts"].as_u64().unwrap();
    assert!(attempts > 1, "the job was not queued again");
    // No cell was cut off, and the job is the same.
    let journal = text_so_far(&bench.folder("d0", &serial).join("journal.log"));
    assert_eq!(journal.matches("\"cell_start\"").count(), REAL_TIME_CELLS, "{journal}");
    cluster.wait("the job has ended", || cluster.job_state(&job).as_deref() == Some("COMPLETED"));
}
