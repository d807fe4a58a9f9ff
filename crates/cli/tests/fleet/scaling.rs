//! The scaling table of docs/fleet.md: `make fleet-scaling`.

use std::path::Path;
use std::time::Instant;

use crate::cluster::Cluster;

/// Tasks of a measurement; the array of a cluster with Slurm's defaults has at most 1,001.
const TASKS: u32 = 1000;

/// What the daemons of a cluster have used.
struct Use {
    /// Memory, MB, shared pages in parts.
    memory_mb: f64,
    /// Processor time of daemons and their ended children, seconds.
    processor_s: f64,
}

fn used(cluster: &Cluster) -> Use {
    let daemons = cluster.processes(|p| {
        ["slurmctld", "slurmd", "slurmscriptd", "munged"].contains(&p.name.as_str())
    });
    let ticks_per_s = 100.0;
    let (mut memory_kib, mut ticks) = (0, 0);
    for id in daemons {
        let folder = cluster.process_folder(id);
        let text = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name));
        let rollup = text("smaps_rollup").unwrap_or_default();
        let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        let pss = pss.and_then(|rest| rest.trim().split(' ').next()?.parse::<u64>().ok());
        memory_kib += pss.unwrap_or(0);
        // proc(5): utime, stime, cutime, cstime are fields 14 to 17; the name in parentheses may
        // have blanks.
        let stat = text("stat").unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        ticks += fields.skip(11).take(4).filter_map(|f| f.parse::<u64>().ok()).sum::<u64>();
    }
    Use { memory_mb: memory_kib as f64 * 1024.0 / 1e6, processor_s: ticks as f64 / ticks_per_s }
}

#[test]
#[ignore = "a measurement of minutes: make fleet-scaling"]
#[allow(
    clippy::disallowed_methods,
    reason = "the speed of Slurm is measured, by the test's own clock"
)]
fn scaling_table() {
    println!(
        "| hosts | up, s | memory of all daemons, MB | tasks | tasks/s | daemons' processor time \
         per task, ms |"
    );
    println!("|---|---|---|---|---|---|");
    for hosts in [8, 16, 32, 64] {
        let began = Instant::now();
        let Some(cluster) = Cluster::start(hosts) else {
            return;
        };
        let up_s = began.elapsed().as_secs_f64();
        let before = used(&cluster);
        let began = Instant::now();
        let job = cluster.ok(
            "sbatch",
            &[
                "--parsable",
                &format!("--array=0-{}", TASKS - 1),
                "--output=/dev/null",
                "--wrap=exec true",
            ],
        );
        cluster.wait("all tasks have ended", || {
            let left = cluster.run(
                "squeue",
                &["--noheader", "--states=PENDING,RUNNING,COMPLETING", "--jobs", job.trim()],
            );
            left.stdout.trim().is_empty()
        });
        let seconds = began.elapsed().as_secs_f64();
        let after = used(&cluster);
        println!(
            "| {hosts} | {up_s:.1} | {:.0} | {TASKS} | {:.0} | {:.0} |",
            after.memory_mb,
            f64::from(TASKS) / seconds,
            1e3 * (after.processor_s - before.processor_s) / f64::from(TASKS)
        );
    }
}
