//! A sweep as an array job: the same table as one process makes, whatever the hosts.

use crate::cluster;
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
        cluster.write(
            format!("{name}.toml"),
            text.replace("STORE", store.to_str().unwrap()),
        );
    };
    sweep("alone", "4");
    sweep("array", "1");
    let missing = cluster
        .assay("fleet sweep array.toml --missing")
        .expect(0)
        .stdout;
    assert_eq!(missing, "0-5\n");
    let output = cluster.path("sweep-%a.out");
    let job = cluster.ok(
        "sbatch",
        &[
            "--parsable",
            "--array=0-5",
            "--exclude=d[0-3]",
            "--nodes=1",
            "--exclusive",
            "--requeue",
            &format!("--output={}", output.display()),
            "--wrap=echo $SLURMD_NODENAME; exec assay fleet sweep array.toml --chunk $SLURM_ARRAY_TASK_ID",
        ],
    );
    let job = job.trim().to_owned();
    cluster
        .assay("fleet sweep alone.toml -o alone.csv")
        .expect(0);
    cluster.wait("all tasks have ended", || {
        cluster
            .run(
                "squeue",
                &[
                    "--noheader",
                    "--states=PENDING,RUNNING,COMPLETING",
                    "--jobs",
                    &job,
                ],
            )
            .stdout
            .trim()
            .is_empty()
    });
    let printed = |task: usize| text_so_far(&cluster.path(format!("sweep-{task}.out")));
    let all: Vec<String> = (0..6).map(printed).collect();
    let missing = cluster
        .assay("fleet sweep array.toml --missing")
        .expect(0)
        .stdout;
    assert_eq!(missing, "\n", "{all:#?}");
    cluster
        .assay("fleet sweep array.toml -o array.csv")
        .expect(0);
    let table = |name: &str| text_so_far(&cluster.path(name));
    assert_eq!(table("alone.csv"), table("array.csv"));
    assert_eq!(table("alone.csv").lines().count(), 1 + 6 * 4);
}
