//! Determinism of simulated runs: equal seeds give equal bits, other seeds other results.

use serde_json::Value;

use crate::fixture::{Fixture, MIB, changed_blocks};

fn cells(fixture: &Fixture, words: &str) -> Value {
    fixture.json(words)["runs"].clone()
}

#[test]
fn the_bandwidth_suite_repeats_to_the_bit() {
    let fixture = Fixture::on_disk();
    let words =
        "run bandwidth sim:samsung-951 --scale 0.02 --set area=256MiB --set blocks=512,4k,64k";
    let first = cells(&fixture, &format!("{words} --out one"));
    let second = cells(&fixture, &format!("{words} --out two"));
    assert!(first[0]["cells"].as_array().unwrap().len() > 15);
    assert_eq!(first, second);
    assert_ne!(
        first,
        cells(&fixture, &format!("{words} --out three --seed 2")),
        "the seed of the workload changes nothing"
    );
}

#[test]
fn exports_and_pages_of_equal_runs_hold_equal_figures() {
    let fixture = Fixture::on_disk();
    for out in ["one", "two"] {
        fixture.ok(&format!("run quick sim:intel-600p --scale 0.01 --out {out}"));
        fixture.ok(&format!("export {out} --format csv -o csv-{out}"));
    }
    for table in ["cells.csv", "intervals.csv", "telemetry.csv"] {
        let without_id = |out: &str| -> Vec<String> {
            let text = fixture.text(&format!("csv-{out}/{table}"));
            text.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
        };
        assert_eq!(without_id("one"), without_id("two"), "{table}");
    }
}

#[test]
fn mixed_random_jobs_repeat_to_the_bit() {
    let fixture = Fixture::on_disk();
    for workload in [
        "--rw randrw --bs 4k/70:64k/30 --iodepth 16 --numjobs 3 --size 512m --runtime 500ms",
        "--rw randwrite --bs 4k --iodepth 32 --size 1g --io_size 64m --random_distribution \
         zipf:1.1",
        "--rw randwrite --rate 3000 --arrival poisson --iodepth 32 --size 1g --runtime 1s",
        "--rw randwrite --bs 16k --size 8m --io_size 16m --verify",
    ] {
        let run = |drive: &str, more: &str| {
            fixture.json(&format!("job {drive} {workload} {more}"))["jobs"].clone()
        };
        let first = run("sim:samsung-951,seed=7", "");
        assert_eq!(first, run("sim:samsung-951,seed=7", ""), "{workload}");
        assert_ne!(
            first,
            run("sim:samsung-951,seed=7", "--seed 9"),
            "{workload}: the workload's seed changes nothing"
        );
    }
}

#[test]
fn the_seed_of_the_drive_changes_the_results() {
    let fixture = Fixture::on_disk();
    let run = |seed: u32| {
        fixture.json(&format!(
            "job sim:samsung-951,seed={seed} --rw randread --iodepth 4 --size 1g --runtime 200ms"
        ))["jobs"]
            .clone()
    };
    assert_ne!(run(1), run(2));
}

/// A repeated job writes different data, verified or not.
#[test]
fn data_do_not_repeat_from_job_to_job() {
    let fixture = Fixture::in_memory();
    for verify in ["", "--verify"] {
        fixture.noise("disk", MIB);
        let written = || {
            fixture.ok(&format!("job disk --rw write --bs 4k --destroy disk {verify}"));
            fixture.read("disk")
        };
        let (first, second) = (written(), written());
        assert_eq!(changed_blocks(&first, &second, 4096).len(), MIB / 4096);
    }
}
