//! Runtimes, rates and ramps. Simulated drives have virtual time, so the figures are exact; on a
//! file only figures that a busy host cannot change are checked.

use crate::fixture::{Fixture, MIB, number};

const SIM: &str = "sim:samsung-951";

#[test]
fn a_constant_open_loop_keeps_its_rate() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", MIB);
    let job =
        fixture.json(&format!("job {SIM} --rw randread --rate 1000 --iodepth 8 --runtime 4s"));
    assert_eq!(number(&job, "/jobs/0/read/ios"), 4000.0);
    assert!((number(&job, "/jobs/0/read/iops") / 1000.0 - 1.0).abs() < 0.001);
    let job =
        fixture.json(&format!("job {SIM} --rw randread --rate 1000 --numjobs 4 --runtime 4s"));
    assert!(
        (number(&job, "/jobs/0/read/ios") - 16000.0).abs() <= 4.0,
        "the rate is of each thread: {job:#}"
    );
    assert_eq!(number(&job, "/jobs/0/workload/rate_iops"), 4000.0);
    for way in ["--engine sync", "--engine uring --iodepth 16"] {
        let job = fixture.json(&format!("job disk --rw randread --rate 400 {way} --runtime 2s"));
        let ios = number(&job, "/jobs/0/read/ios");
        assert!((760.0..=840.0).contains(&ios), "{way}: {ios} I/Os instead of 800");
    }
}

#[test]
fn a_poisson_open_loop_keeps_its_mean_and_queues() {
    let fixture = Fixture::on_disk();
    let job = fixture.json(&format!(
        "job {SIM} --rw randread --rate 5000 --arrival poisson --iodepth 64 --runtime 4s"
    ));
    let ios = number(&job, "/jobs/0/read/ios");
    // Five standard deviations of a Poisson count of 20000.
    assert!((ios - 20000.0).abs() < 5.0 * 20000_f64.sqrt(), "{ios}");
    let constant =
        fixture.json(&format!("job {SIM} --rw randread --rate 5000 --iodepth 64 --runtime 4s"));
    let mean = |job| number(job, "/jobs/0/read/latency_ns/mean");
    assert!(
        mean(&job) > mean(&constant),
        "random arrivals queue: {} {}",
        mean(&job),
        mean(&constant)
    );
}

#[test]
fn open_loop_latency_counts_from_the_intended_start_and_closed_loop_latency_does_not() {
    let fixture = Fixture::on_disk();
    let job = |rate: &str| {
        let drive = format!("{SIM},fault=latency-spike@500=200ms");
        fixture.json(&format!("job {drive} --rw randread {rate} --runtime 2s"))
    };
    // One read in flight, one due each millisecond, one takes 200 ms longer: 200 others are due
    // meanwhile.
    let open = job("--rate 1000");
    let p95 = number(&open, "/jobs/0/read/latency_ns/p95");
    assert!(p95 > 50e6, "coordinated omission: p95 of {p95} ns hides the stall");
    assert_eq!(number(&open, "/jobs/0/read/ios"), 2000.0, "the stall is caught up with");
    let closed = job("--rate_iops 1000");
    assert!(number(&closed, "/jobs/0/read/latency_ns/p95") < 1e6);
    assert!(number(&closed, "/jobs/0/read/latency_ns/max") > 199e6);
}

#[test]
fn an_unreached_offered_rate_is_reported() {
    let fixture = Fixture::on_disk();
    let codes = |rate: &str| {
        let job = fixture.json(&format!("job {SIM} --rw randread --rate {rate} --runtime 1s"));
        job["warnings"].to_string().contains("rate-not-reached")
    };
    assert!(codes("1000000"));
    assert!(!codes("1000"));
}

#[test]
fn limits_of_a_closed_loop_hold() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", MIB);
    let job =
        fixture.json(&format!("job {SIM} --rw randread --rate_iops 2000 --iodepth 4 --runtime 3s"));
    assert!((number(&job, "/jobs/0/read/iops") / 2000.0 - 1.0).abs() < 0.05);
    let job = fixture
        .json(&format!("job {SIM} --rw read --bs 64k --rate_bw 100m --iodepth 4 --runtime 3s"));
    assert!((number(&job, "/jobs/0/read/mib_per_s") / 100.0 - 1.0).abs() < 0.05, "{job:#}");
    let job = fixture.json("job disk --rw randread --rate_iops 300 --runtime 2s");
    let ios = number(&job, "/jobs/0/read/ios");
    assert!((400.0..=630.0).contains(&ios), "{ios} I/Os where 600 are allowed");
}

#[test]
fn ramps_are_not_counted() {
    let fixture = Fixture::on_disk();
    let job =
        fixture.json(&format!("job {SIM} --rw randread --rate 1000 --runtime 2s --ramp_time 3s"));
    assert!((number(&job, "/jobs/0/read/ios") - 2000.0).abs() <= 2.0, "{job:#}");
    assert!((number(&job, "/jobs/0/elapsed_ns") / 2e9 - 1.0).abs() < 0.001);
    // A stall in the ramp leaves no trace.
    let job = fixture.json(&format!(
        "job {SIM},fault=latency-spike@100=500ms --rw randread --runtime 1s --ramp_time 1s"
    ));
    assert!(number(&job, "/jobs/0/read/latency_ns/max") < 100e6);
}

#[test]
fn a_job_ends_by_bytes_or_by_time_whichever_is_first() {
    let fixture = Fixture::on_disk();
    let bytes = |words: &str| {
        number(&fixture.json(&format!("job {SIM} --bs 64k {words}")), "/jobs/0/read/bytes")
    };
    assert_eq!(bytes("--io_size 5m --numjobs 3 --runtime 1h"), (15 * MIB) as f64);
    assert_eq!(bytes("--size 10m"), (10 * MIB) as f64);
    let timed = fixture.json(&format!("job {SIM} --bs 64k --size 10m --runtime 2s"));
    assert!((number(&timed, "/jobs/0/elapsed_ns") / 2e9 - 1.0).abs() < 0.01);
    assert!(
        number(&timed, "/jobs/0/read/bytes") > (100 * MIB) as f64,
        "wraps around the area until the end of the runtime"
    );
    // A remainder is rounded up to a whole block, as in fio.
    assert_eq!(bytes("--io_size 100k"), (128 * 1024) as f64);
}

#[test]
fn rates_of_a_write_do_not_depend_on_reading_it_back() {
    let fixture = Fixture::on_disk();
    let rate = |verify: &str| {
        number(
            &fixture.json(&format!("job {SIM} --rw write --bs 128k --size 32m {verify}")),
            "/jobs/0/write/mib_per_s",
        )
    };
    let (plain, verified) = (rate(""), rate("--verify"));
    assert!(
        (verified / plain - 1.0).abs() < 0.02,
        "{plain} MiB/s without verification, {verified} MiB/s with"
    );
}
