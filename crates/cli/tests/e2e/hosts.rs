//! The computer that uses a simulated drive: its costs, and the figures that it sets.

use crate::fixture::{Fixture, number};

const ONE_THREAD: &str = "--rw randread --bs 4k --iodepth 128 --runtime 1s";

/// Real hosts get 344,000 to 506,000 IOPS of this controller with one asynchronous thread.
#[test]
fn one_asynchronous_thread_gets_what_a_current_host_gives() {
    let fixture = Fixture::in_memory();
    let job = |host: &str| fixture.json(&format!("job sim:intel-p4510{host} {ONE_THREAD}"));
    let iops = |host: &str| number(&job(host), "/jobs/0/read/iops");
    let current = job("");
    let rate = number(&current, "/jobs/0/read/iops");
    assert!((344e3..506e3).contains(&rate), "{rate}");
    // The host's interval, none of the drive.
    let done = &current["jobs"][0];
    assert!(done["predictive"].is_null(), "{done:#}");
    assert_eq!(done["host_interval"]["host"], "2025");
    let [low, high] = [0, 1].map(|n| number(done, &format!("/host_interval/iops/{n}")));
    assert!((low * 1.6 / rate - 1.0).abs() < 0.01, "{low} {rate}");
    assert!((high / 1.6 / rate - 1.0).abs() < 0.01, "{high} {rate}");
    let text = fixture.run(&format!("job sim:intel-p4510 {ONE_THREAD}"));
    let text = text.expect(0);
    assert!(text.stdout.contains("real hosts"), "{}", text.stdout);
    assert!(!text.stdout.contains("real drive"), "{}", text.stdout);
    // Other hosts.
    let old = iops(",host=2017");
    assert!(old < rate * 0.75, "{old} {rate}");
    let slow = iops(",host=10us");
    assert!((slow / 100e3 - 1.0).abs() < 0.02, "{slow}");
    let ideal = job(",host=0");
    assert!(number(&ideal, "/jobs/0/read/iops") > rate * 1.2);
    assert!(ideal["jobs"][0]["host_interval"].is_null());
    assert!(!ideal["jobs"][0]["predictive"].is_null());
}

/// AnandTech: 8.9 us on average at depth 1.
#[test]
fn a_synchronous_thread_on_the_bench_meets_the_published_mean() {
    let fixture = Fixture::in_memory();
    let mean_us = |host: &str| {
        let words = format!(
            "job sim:intel-optane-p4800x{host} --rw randread --bs 4k --engine sync --runtime 200ms"
        );
        number(&fixture.json(&words), "/jobs/0/read/latency_ns/mean") / 1e3
    };
    let bench = mean_us(",host=bench");
    assert!((8.5..9.3).contains(&bench), "{bench}");
    let current = mean_us("");
    assert!((current - bench).abs() < 2.0, "{current} {bench}");
}

#[test]
fn suites_use_the_bench_and_jobs_the_current_host() {
    let fixture = Fixture::in_memory();
    let host = |folder: &str| {
        let text = fixture.text(&format!("{folder}/manifest.json"));
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        manifest["drives"][0]["host"].clone()
    };
    let words = "run quick sim:samsung-951 --scale 0.01 --out suite";
    fixture.run(words).expect(0);
    assert_eq!(host("suite")["name"], "bench");
    assert_eq!(host("suite")["sync_io_ns"], 6_000);
    let words = format!("job sim:samsung-951 {ONE_THREAD} --out job");
    fixture.run(&words).expect(0);
    assert_eq!(host("job")["name"], "2025");
    let words = "run quick sim:samsung-951,host=2017 --scale 0.01 --out named";
    fixture.run(words).expect(0);
    assert_eq!(host("named")["name"], "2017");
}

#[test]
fn a_host_that_does_not_exist_is_refused() {
    let fixture = Fixture::in_memory();
    for host in ["1999", "fast", "2ms", "-1us"] {
        let words = format!("job sim:samsung-951,host={host} {ONE_THREAD}");
        let done = fixture.run(&words);
        done.refuses(2, &[host, "2025", "bench", "2.3us"]);
    }
    let done = fixture.run("serve sim:samsung-951,host=2017 --nbd unix:socket");
    done.refuses(2, &["host="]);
}
