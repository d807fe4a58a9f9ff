//! The cluster itself: what the other cases rely on.

use rustix::process::Signal;

use crate::cluster::{self, Cluster};
use crate::fixture::text_so_far;

/// Submits a script of these lines to one host.
fn submit(cluster: &Cluster, name: &str, host: &str, lines: &str) -> String {
    cluster.script(name, &format!("#!/bin/sh\n{lines}\n"));
    let output = cluster.path(format!("{name}.out"));
    let answer = cluster.ok(
        "sbatch",
        &[
            "--parsable",
            "--exclusive",
            "--requeue",
            "--open-mode=append",
            &format!("--nodelist={host}"),
            &format!("--output={}", output.display()),
            cluster.path(name).to_str().unwrap(),
        ],
    );
    answer.trim().to_owned()
}

#[test]
fn jobs_run_are_cancelled_and_come_back_after_a_power_loss() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let output = |name: &str| text_so_far(&cluster.path(format!("{name}.out")));
    let lost = submit(
        cluster,
        "lost",
        "d0",
        "echo began on $SLURMD_NODENAME; [ -e $ASSAY_FLEET_DIR/boot ] || { touch \
         $ASSAY_FLEET_DIR/boot; exec sleep 600; }; echo again",
    );
    let ended = submit(cluster, "ended", "d1", "echo $SLURMD_NODENAME; assay --version");
    let cancelled = submit(cluster, "cancelled", "d2", "echo began; exec sleep 600");
    cluster.wait("the jobs have begun", || {
        output("lost").contains("began") && output("cancelled").contains("began")
    });
    let orphan = submit(
        cluster,
        "orphan",
        "d3",
        "echo began; [ -e $ASSAY_FLEET_DIR/go ] && exit; until [ -e $ASSAY_FLEET_DIR/go ]; do \
         sleep 0.2; done; echo ended",
    );
    cluster.wait("the job has begun", || output("orphan").contains("began"));
    cluster.kill_node_daemon("d3");
    cluster.kill_host("d0");
    cluster.ok("scancel", &[&cancelled]);
    cluster.wait("the cancelled job has ended", || {
        cluster.job_state(&cancelled).as_deref() == Some("CANCELLED")
            && cluster
                .processes(|p| p.command.contains("sleep 600") && p.host.as_deref() == Some("d2"))
                .is_empty()
    });
    cluster.wait("the short job has ended", || {
        cluster.job_state(&ended).as_deref() == Some("COMPLETED")
    });
    assert!(output("ended").starts_with("d1\nassay "), "{}", output("ended"));
    cluster.wait_for_loss_of("d0");
    cluster.start_host("d0");
    cluster.wait("the lost job has run again", || {
        cluster.job_state(&lost).as_deref() == Some("COMPLETED")
    });
    assert_eq!(output("lost").matches("began on d0").count(), 2);
    // Without its node daemon a job continues to run: it ends by itself while Slurm has already
    // requeued it. (A daemon that returns earlier reports the step of a pending job, and Slurm
    // kills it or fails the job, "credential revoked".) So the state of a job in the queue is never
    // the state of its drives.
    cluster.wait_for_loss_of("d3");
    std::fs::write(cluster.work_of("d3").join("go"), "").unwrap();
    cluster.wait("the orphan has ended", || output("orphan").contains("ended"));
    cluster.start_node_daemon("d3");
    cluster.wait("the queue is done with it", || {
        let state = cluster.job_state(&orphan);
        state.is_some_and(|state| ["COMPLETED", "FAILED"].contains(&state.as_str()))
    });
    assert_eq!(output("orphan").matches("ended").count(), 1);
    // The host's own directory has outlived it, and no other host sees it.
    assert!(cluster.work_of("d0").join("boot").exists());
    assert!(!cluster.work_of("d1").join("boot").exists());
}

#[test]
fn each_host_shows_its_own_drives() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let serials = |host: &str| {
        let inventory =
            cluster.assay(&format!("fleet inventory --host {host} --json")).expect(0).json();
        let drives = inventory["drives"].as_array().unwrap().clone();
        let simulated =
            drives.iter().filter(|d| d["spec"].as_str().is_some_and(|s| s.starts_with("sim:")));
        simulated.map(|d| d["serial"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (host, lots) in [("d0", [1, 2]), ("d1", [3, 4])] {
        let drives = lots.map(|lot| format!("sim:samsung-951,lot={lot}"));
        cluster.set_drives(host, &drives);
    }
    let mut all = [serials("d0"), serials("d1")].concat();
    assert_eq!(all.len(), 4, "{all:?}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4, "a serial of its own for every lot: {all:?}");
}

#[test]
fn nothing_of_a_cluster_outlives_it() {
    let Some(cluster) = Cluster::start(2) else {
        return;
    };
    let folder = cluster.path("");
    let text = folder.to_str().unwrap().to_owned();
    let job = submit(&cluster, "long", "d1", "exec sleep 600");
    cluster.wait("the job has begun", || {
        !cluster.processes(|p| p.command.contains("sleep 600")).is_empty()
    });
    // The controller comes back with its state: all but the orders of its last seconds, so the job
    // may wait again.
    cluster.kill_controller();
    cluster.start_controller();
    assert!(cluster.job_state(&job).is_some(), "{}", cluster.report());
    // No daemon is of the shared cluster or of this machine.
    let daemons = cluster.processes(|p| p.name == "slurmd");
    assert_eq!(daemons.len(), 2);
    cluster.kill(&daemons, Signal::TERM);
    drop(cluster);
    assert!(!folder.exists(), "the folder is removed");
    let left = std::fs::read_dir("/proc").unwrap().filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        std::fs::read(path.join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&text))
    });
    assert_eq!(left.count(), 0, "every process has ended");
}
