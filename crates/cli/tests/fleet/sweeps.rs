//! Sweeps and fits as array jobs: the same result as of one process, whatever the hosts.

use crate::cluster::{self, Cluster};
use crate::fixture::text_so_far;

const SUITE: &str = r#"
name = "short"
title = "One cell"
summary = "Random reads."
source = "these tests"
duration = "short"
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", bs = "4k", runtime = "10ms", numjobs = 4 }
"#;

const SWEEP: &str = r#"
name = "sense-time"
suites = [ { suite = "short.toml" } ]
[sweep]
profile = "samsung-951"
lot = 3
chunk = CHUNK
[sweep.keys]
"nand.read_ns" = [[34_000, 42_500], [40_000, 50_000], [60_000, 70_000]]
"nand.channels" = [4, 8]
[store]
at = "STORE"
"#;

#[test]
fn a_sweep_on_several_hosts_gives_the_table_of_one_process() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    cluster.write("short.toml", SUITE);
    let sweep = |name: &str, chunk: &str| {
        let store = cluster.path(format!("{name}-store"));
        let text = SWEEP.replace("CHUNK", chunk);
        cluster.write(format!("{name}.toml"), text.replace("STORE", store.to_str().unwrap()));
    };
    sweep("alone", "4");
    sweep("array", "1");
    assert_eq!(missing(cluster, "array"), "0-5\n");
    let job = submit_array(cluster, "array", "0-5");
    cluster.assay("fleet sweep alone.toml -o alone.csv").expect(0);
    let all = printed_by(cluster, &job, "array", 6);
    assert_eq!(missing(cluster, "array"), "\n", "{all:#?}");
    cluster.assay("fleet sweep array.toml -o array.csv").expect(0);
    let table = |name: &str| text_so_far(&cluster.path(name));
    assert_eq!(table("alone.csv"), table("array.csv"));
    assert_eq!(table("alone.csv").lines().count(), 1 + 6 * 4);
}

const FIT: &str = r#"
name = "slower"
[fit]
profile = "samsung-951"
to = "figures.csv"
free = ["nand.read_ns"]
evaluations = 8
starts = 3
chunk = CHUNK
[store]
at = "STORE"
"#;

#[test]
fn the_starts_of_a_fit_on_several_hosts_give_the_profile_of_one_process() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    cluster.write(
        "figures.csv",
        "rw,block,threads,metric,ios,value\nrandread,4k,1,median_us,2000,110\nrandread,4k,16,\
         mib_per_s,4000,430\n",
    );
    for (name, chunk) in [("fit-alone", "3"), ("fit-array", "1")] {
        let store = cluster.path(format!("{name}-store"));
        let text = FIT.replace("CHUNK", chunk);
        let text = text.replace("STORE", store.to_str().unwrap());
        cluster.write(format!("{name}.toml"), text);
    }
    let job = submit_array(cluster, "fit-array", "0-2");
    cluster.assay("fleet sweep fit-alone.toml -o alone-drive.toml").expect(0);
    let all = printed_by(cluster, &job, "fit-array", 3);
    assert_eq!(missing(cluster, "fit-array"), "\n", "{all:#?}");
    cluster.assay("fleet sweep fit-array.toml -o array-drive.toml").expect(0);
    let profile = |name: &str| text_so_far(&cluster.path(name));
    assert_eq!(profile("alone-drive.toml"), profile("array-drive.toml"));
    assert!(profile("alone-drive.toml").contains("figures.csv"));
}

/// The chunks of the file `NAME.toml` without a result.
fn missing(cluster: &Cluster, name: &str) -> String {
    let missing = cluster.assay(&format!("fleet sweep {name}.toml --missing"));
    missing.expect(0).stdout
}

/// An array job with a task per chunk of the file `NAME.toml`; returns its number.
fn submit_array(cluster: &Cluster, name: &str, chunks: &str) -> String {
    let output = cluster.path(format!("{name}-%a.out"));
    let job = cluster.ok(
        "sbatch",
        &[
            "--parsable",
            &format!("--array={chunks}"),
            "--exclude=d[0-3]",
            "--nodes=1",
            "--exclusive",
            "--requeue",
            &format!("--output={}", output.display()),
            &format!(
                "--wrap=echo $SLURMD_NODENAME; exec assay fleet sweep {name}.toml --chunk \
                 $SLURM_ARRAY_TASK_ID"
            ),
        ],
    );
    job.trim().to_owned()
}

/// What the tasks of an array job have printed, when all have ended.
fn printed_by(cluster: &Cluster, job: &str, name: &str, tasks: usize) -> Vec<String> {
    let states = "--states=PENDING,RUNNING,COMPLETING";
    cluster.wait("all tasks have ended", || {
        let queue = cluster.run("squeue", &["--noheader", states, "--jobs", job]);
        queue.stdout.trim().is_empty()
    });
    let printed = |task: usize| text_so_far(&cluster.path(format!("{name}-{task}.out")));
    (0..tasks).map(printed).collect()
}
