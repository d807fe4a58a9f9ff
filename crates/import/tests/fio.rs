//! fio's outputs of all versions, with figures made for these tests.

use assay_import::fio::options::Options;
use assay_import::format::Format;
use assay_import::judge::judge;
use assay_import::{Direction, Job, Note};
use assay_stats::Histogram;
use assay_units::Nanos;
use serde_json::{Value, json};

use crate::fio_text::as_printed;

pub fn jobs_of(text: &str, assumed: &Options) -> Vec<Job> {
    let format = Format::detect("result", text.as_bytes()).unwrap();
    let mut jobs = format.parse(text.as_bytes(), assumed).unwrap().jobs;
    jobs.iter_mut().for_each(judge);
    jobs
}

pub fn job_of(text: &str) -> Job {
    let mut jobs = jobs_of(text, &Options::default());
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

/// A direction of fio 3: 4 KiB, 10 seconds.
pub fn side(ios: u64, mean_ns: f64) -> Value {
    json!({
        "io_bytes": ios * 4096, "io_kbytes": ios * 4, "bw_bytes": ios * 4096 / 10,
        "iops": ios as f64 / 10.0, "runtime": 10_000, "total_ios": ios,
        "clat_ns": {
            "min": 2000, "max": 900_000, "mean": mean_ns, "stddev": 500.0, "N": ios,
            "percentile": { "50.000000": 70_144, "99.000000": 120_320, "99.990000": 301_056 },
        },
        "lat_ns": { "min": 2100, "max": 900_100, "mean": mean_ns + 900.0, "stddev": 500.0, "N": ios },
    })
}

pub fn document(options: &Value, jobs: &[Value]) -> String {
    let document = json!({
        "fio version": "fio-3.36", "timestamp_ms": 1_700_000_010_000_u64,
        "global options": options, "jobs": jobs,
        "disk_util": [{ "name": "nvme3n1" }],
    });
    document.to_string()
}

const DIRECT: &str = r#"{"rw": "randread", "bs": "4k", "iodepth": "8", "direct": "1", "filename": "/dev/nvme1n1p2", "runtime": "10s"}"#;

pub fn direct() -> Value {
    serde_json::from_str(DIRECT).unwrap()
}

#[test]
fn figures_of_version_3() {
    let entry = json!({ "jobname": "a", "job options": {}, "read": side(100_000, 71_000.0), "usr_cpu": 12.5, "sys_cpu": 30.0 });
    let job = job_of(&document(&direct(), &[entry]));
    assert_eq!(job.device, "nvme1n1");
    assert_eq!(job.elapsed, Nanos::from_secs(10));
    assert_eq!(job.ended.unwrap().as_millisecond(), 1_700_000_010_000);
    let workload = &job.workload;
    assert_eq!((workload.rw.as_str(), workload.bs_bytes), ("randread", 4096));
    assert_eq!((workload.iodepth, workload.numjobs, workload.direct), (8, 1, true));
    assert_eq!(workload.runtime_ns, 10_000_000_000);
    let read = &job.read.summary;
    assert_eq!((read.ios, read.iops), (100_000, 10_000.0));
    assert_eq!(read.mib_per_s, 40_960_000.0 / f64::from(1 << 20));
    let latency = &read.latency_ns;
    assert_eq!(
        (latency.p50, latency.p99, latency.p99_9, latency.p99_99),
        (70_144, 120_320, 0, 301_056)
    );
    assert_eq!(job.busiest_thread_pct, Some(42.5));
    assert!(job.unfit.is_empty() && job.notes.is_empty(), "{job:?}");
}

/// The entries of threads add up; their percentiles are gone, and the mean is that of all I/Os.
#[test]
fn threads_without_group_reporting() {
    let thread = |ios, mean| json!({ "jobname": "a", "groupid": 0, "job options": { "numjobs": "2" }, "read": side(ios, mean) });
    let job =
        job_of(&document(&direct(), &[thread(100_000, 60_000.0), thread(300_000, 100_000.0)]));
    assert_eq!(job.workload.numjobs, 2);
    assert_eq!((job.read.summary.ios, job.read.summary.iops), (400_000, 40_000.0));
    assert_eq!(job.read.summary.latency_ns.mean, 90_900.0);
    assert_eq!(job.read.summary.latency_ns.p99, 0);
    // Deviation of both and of their means.
    let expected =
        (500.0_f64.powi(2) + (0.25 * 30_000.0_f64.powi(2) + 0.75 * 10_000.0_f64.powi(2))).sqrt();
    assert!((job.read.summary.latency_ns.stddev / expected - 1.0).abs() < 1e-9);
    assert_eq!(job.notes, [Note::PercentilesOfThreads]);
}

/// Those of one thread stay where no other one did I/Os of this direction.
#[test]
fn percentiles_of_one_thread_of_several() {
    let without = |ios| {
        let mut side = side(ios, 60_000.0);
        side["clat_ns"].as_object_mut().unwrap().remove("percentile");
        side
    };
    let thread = |read: Value, write: Value| json!({ "jobname": "a", "job options": { "numjobs": "2" }, "read": read, "write": write });
    let unused = json!({ "total_ios": 0 });
    let of = |entries: [Value; 2]| {
        let job = job_of(&document(&direct(), &entries));
        let p99 = |direction: &Direction| direction.summary.latency_ns.p99;
        (p99(&job.read), p99(&job.write), job.notes)
    };
    let second = thread(without(9), side(9, 60_000.0));
    let first = thread(without(9), unused);
    assert_eq!(of([first.clone(), second.clone()]), (0, 120_320, vec![]));
    let second = thread(side(9, 60_000.0), side(9, 60_000.0));
    let lost = vec![Note::PercentilesOfThreads];
    assert_eq!(of([first, second]), (0, 120_320, lost));
}

/// Those of `fdatasync` are in no `total_ios`, and fio 3.33 counts them as short reads.
#[test]
fn syncs_are_flushes_and_in_no_other_figure() {
    let thread = |bins: bool, total_ios: u64, short_ios: u64| {
        let mut times = json!({ "min": 90_000, "max": 9_000_000, "mean": 3e6, "stddev": 5e5,
            "N": 1000, "percentile": { "50.000000": 2_900_000, "99.000000": 4_000_000 } });
        if bins {
            times["bins"] = json!({ "2900000": 900, "4000000": 100 });
        }
        let mut reads = side(9, 60_000.0);
        reads["short_ios"] = json!(short_ios);
        json!({ "jobname": "a", "job options": {}, "read": reads, "write": side(3000, 60_000.0),
            "sync": { "total_ios": total_ios, "lat_ns": times } })
    };
    let of = |threads: &[Value]| {
        let compact = document(&direct(), threads);
        let job = job_of(&compact);
        assert_eq!(job_of(&as_printed(&compact)), job, "cut before parsing");
        assert_eq!(job.ios(), 3009 * threads.len() as u64);
        assert!(job.write.summary.latency_ns.max < 1_000_000, "{job:?}");
        job
    };
    let job = of(&[thread(false, 1000, 0)]);
    let flush = &job.flush.summary;
    assert_eq!((flush.ios, flush.iops, flush.bytes), (1000, 100.0, 0));
    let latency = &flush.latency_ns;
    assert_eq!((latency.samples, latency.min, latency.max), (1000, 90_000, 9_000_000));
    assert_eq!((latency.p50, latency.p99), (2_900_000, 4_000_000));
    let data_only = of(&[thread(false, 0, 1001)]);
    assert_eq!((data_only.flush.summary.ios, data_only.read.summary.errors), (1000, 1));
    let two = of(&[thread(true, 1000, 0), thread(true, 1000, 0)]);
    let flush = &two.flush.summary;
    assert_eq!((flush.ios, flush.iops), (2000, 200.0));
    assert_eq!((flush.latency_ns.mean, flush.latency_ns.samples), (3e6, 2000));
    let histogram = Histogram::decode(&two.flush.distribution).unwrap();
    assert_eq!(histogram.count(), 2000);
    assert!((2_899_000..2_904_000).contains(&flush.latency_ns.p50), "{flush:?}");
    // Without any, and in another shape.
    for syncs in [json!({ "total_ios": 0, "lat_ns": { "N": 0 } }), json!("none"), json!(null)] {
        let mut entry = thread(false, 0, 0);
        entry["sync"] = syncs;
        assert!(of(&[entry]).flush.summary.is_unused());
    }
}

/// fio's `steadystate` ends each thread alone: the sum of their rates is more than all together had.
#[test]
fn threads_of_different_times() {
    let thread = |ios: u64, runtime_ms: u64| {
        let mut side = side(ios, 60_000.0);
        side["runtime"] = json!(runtime_ms);
        side["iops"] = json!(ios * 1000 / runtime_ms);
        json!({ "jobname": "a", "job options": { "numjobs": "2" }, "read": side })
    };
    let rate = |first_ms: u64| {
        let entries = [thread(100_000, first_ms), thread(100_000, 10_000)];
        let job = job_of(&document(&direct(), &entries));
        (job.read.summary.iops, job.notes)
    };
    let notes = vec![Note::PercentilesOfThreads];
    assert_eq!(rate(9_900), (20_101.0, notes.clone()));
    let both = [&notes[..], &[Note::ThreadsOfOtherTimes]].concat();
    assert_eq!(rate(2_500), (20_000.0, both));
}

/// With `json+` the distributions of threads are merged.
#[test]
fn threads_with_distributions() {
    let thread = |bins: Value| {
        let mut side = side(1000, 70_000.0);
        side["clat_ns"]["bins"] = bins;
        json!({ "jobname": "a", "job options": { "numjobs": "2" }, "read": side })
    };
    let entries = [
        thread(json!({ "60160": 900, "100096": 100 })),
        thread(json!({ "60160": 980, "802816": 20 })),
    ];
    let job = job_of(&document(&direct(), &entries));
    let counts = Histogram::decode(&job.read.distribution).unwrap();
    let counts: Vec<u64> = counts.cumulative().iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [1880, 1980, 2000]);
    let latency = &job.read.summary.latency_ns;
    let close = |found: u64, bin: u64| (bin..bin + bin / 512).contains(&found);
    assert!(close(latency.p50, 60_160) && close(latency.p95, 100_096), "{latency:?}");
    // 1,980 of 2,000 are 99 %.
    assert!(close(latency.p99, 100_096) && close(latency.p99_9, 802_816), "{latency:?}");
    assert!(job.notes.is_empty());
}

/// Version 2: microseconds, KiB, no options; a table of percentiles filled with zeros.
#[test]
fn figures_of_version_2() {
    let text = r#"{ "fio version": "fio-2.2.10", "timestamp": 1510963172, "jobs": [ { "jobname": "t",
        "read": { "io_bytes": 0, "bw": 0, "iops": 0.00, "runtime": 0, "total_ios": 0 },
        "write": { "io_bytes": 8000000, "bw": 40000, "iops": 10000.0, "runtime": 200000, "total_ios": 2000000,
          "clat": { "min": 900, "max": 200000, "mean": 3100.5, "stddev": 20.0,
            "percentile": { "50.000000": 3024, "99.000000": 4016, "0.00": 0, "0.00": 0 } },
          "lat": { "min": 910, "max": 200010, "mean": 3110.0, "stddev": 20.0 } } } ],
        "disk_util": [ { "name": "sda" } ] }"#;
    let job = job_of(text);
    assert_eq!(job.device, "sda");
    assert_eq!(job.write.summary.bytes, 8_000_000 * 1024);
    let latency = &job.write.summary.latency_ns;
    assert_eq!((latency.p50, latency.p99, latency.mean), (3_024_000, 4_016_000, 3_110_000.0));
    assert_eq!(latency.samples, 2_000_000);
    assert_eq!((job.workload.rw.as_str(), job.workload.iodepth), ("unknown", 0));
    assert_eq!(job.workload.bs_bytes, 4096);
    assert_eq!(job.unfit.len(), 3, "{:?}", job.unfit);
    let answers = Options::new([("rw", "randwrite"), ("iodepth", "32"), ("direct", "1")]);
    let job = jobs_of(text, &answers).remove(0);
    assert_eq!((job.workload.rw.as_str(), job.workload.iodepth), ("randwrite", 32));
    assert!(job.unfit.is_empty(), "{:?}", job.unfit);
}

/// The entry "All clients" repeats the others.
#[test]
fn clients_are_counted_once() {
    let client = |name: &str, host: &str| json!({ "jobname": name, "hostname": host, "job options": direct(), "read": side(1000, 50_000.0) });
    let text = json!({ "fio version": "fio-3.1", "client_stats": [client("a", "h1"), client("a", "h2"), client("All clients", "")] });
    let jobs = jobs_of(&text.to_string(), &Options::default());
    assert_eq!(jobs.len(), 2);
    let alone = json!({ "fio version": "fio-3.1", "client_stats": [client("All clients", "")] });
    assert_eq!(jobs_of(&alone.to_string(), &Options::default()).len(), 1);
}

/// unified_rw_reporting: one sum of both directions; with `both` it repeats them.
#[test]
fn sums_of_both_directions() {
    let mut options = direct();
    options["rw"] = json!("randrw");
    let entry = json!({ "jobname": "a", "job options": {}, "mixed": side(1000, 70_000.0) });
    let job = job_of(&document(&options, &[entry]));
    assert_eq!(job.notes, [Note::OneSum]);
    assert_eq!((job.ios(), job.unfit.len()), (1000, 1));
    let entry = json!({ "jobname": "a", "job options": {}, "mixed": side(1000, 70_000.0), "read": side(700, 70_000.0), "write": side(300, 70_000.0) });
    let job = job_of(&document(&options, &[entry]));
    assert_eq!((job.read.summary.ios, job.write.summary.ios), (700, 300));
}

/// Text of fio and of scripts around documents, several documents, values that are no JSON.
#[test]
fn documents_within_text() {
    let one = document(
        &direct(),
        &[json!({ "jobname": "a", "job options": {}, "read": side(1000, 70_000.0) })],
    );
    let text = format!(
        "fio: warning {{x}}\n{{ not json\nfio-3.36\n{one}\n\na: (groupid=0, jobs=1): err= 0\n{one}\nbye\n"
    );
    let jobs = jobs_of(&text, &Options::default());
    assert_eq!((jobs.len(), &*jobs[0].notes), (1, &[Note::RepeatedDocument][..]));
    // Another measurement with the same figures ended at another time.
    let other = text.replacen("00010000", "00020000", 1);
    let jobs = jobs_of(&other, &Options::default());
    assert_eq!((jobs.len(), &*jobs[0].notes), (2, &[][..]));
    let odd = one.replace("\"mean\":71900.0", "\"mean\": -nan").replace("500.0", " nan");
    assert_ne!(odd, one);
    assert_eq!(jobs_of(&odd, &Options::default()).len(), 1);
    let format = Format::detect("x", text.as_bytes()).unwrap();
    let cut = &text[..text.find("\"jobs\"").unwrap() + 30];
    assert!(format.parse(cut.as_bytes(), &Options::default()).is_err());
}

/// ezFIO and others run reads and writes alone as mixes too.
#[test]
fn a_mix_of_one_operation_is_that_operation() {
    let workload = |mix: &str| {
        let pairs = [("rw", "randrw"), ("bs", "4k"), ("rwmixread", mix)];
        Options::new(pairs).workload()
    };
    let found = ["100", "0", "70"].map(|mix| {
        let found = workload(mix);
        (found.rw, found.rwmixread, found.options)
    });
    let of = |rw: &str, mix, options: &str| (rw.to_owned(), mix, options.to_owned());
    assert_eq!(
        found,
        [
            of("randread", None, "--rw randread --bs 4k"),
            of("randwrite", None, "--rw randwrite --bs 4k"),
            of("randrw", Some(70), "--rw randrw --rwmixread 70 --bs 4k"),
        ]
    );
}

/// In fio's order of keys the number of I/Os comes before the latencies.
#[test]
fn directions_without_ios_are_unused() {
    let percentiles = r#""percentile": {"99.000000": 0}"#;
    let side = |ios: u64, mean: u64| {
        format!(
            r#"{{"io_bytes": {}, "io_kbytes": {}, "runtime": 10000, "total_ios": {ios}, "short_ios": 0,
            "clat_ns": {{"mean": {mean}.0, {percentiles}}}, "lat_ns": {{"mean": {mean}.0}}, "bw_mean": 1.5}}"#,
            ios * 4096,
            ios * 4
        )
    };
    let (used, unused) = (side(1000, 70_000), side(0, 0));
    let text = format!(
        r#"{{"fio version": "fio-3.36", "jobs": [{{"jobname": "a", "job options": {DIRECT},
        "read": {used}, "write": {unused}, "trim": {unused}, "usr_cpu": 12.5}}]}}"#
    );
    let job = job_of(&text);
    assert_eq!(job.busiest_thread_pct, Some(12.5));
    assert_eq!(job.read.summary.ios, 1000);
    assert_eq!(job.read.summary.latency_ns.mean, 70_000.0);
    assert!(job.write.summary.is_unused() && job.discard.summary.is_unused());
}

/// Text of other encodings, and options that are no map, do not lose the figures.
#[test]
fn names_and_options_that_are_none() {
    let entry = json!({ "jobname": "cafe", "job options": ["rw"], "read": side(1000, 70_000.0) });
    let text = document(&direct(), &[entry]).into_bytes();
    let at = memchr::memmem::find(&text, b"cafe").unwrap();
    let mut latin = text;
    latin[at + 3] = 0xe9;
    let parsed = Format::FioJson.parse(&latin, &Options::default()).unwrap();
    assert_eq!(parsed.jobs[0].name, "caf\u{fffd}");
    assert_eq!(parsed.jobs[0].workload.rw, "randread");
    assert_eq!(parsed.jobs[0].ios(), 1000);
}

/// Latencies that contradict the rate, the bucket that stands for all longer ones, a submission
/// that blocks.
#[test]
fn latencies_that_mean_something_else() {
    let with = |change: fn(&mut Value)| {
        let mut side = side(100_000, 71_000.0);
        change(&mut side);
        job_of(&document(&direct(), &[json!({ "jobname": "a", "job options": {}, "read": side })]))
    };
    // From the start of the job: the whole latency is right.
    let job = with(|side| side["clat_ns"]["mean"] = json!(5e9));
    assert_eq!(job.read.summary.latency_ns.mean, 71_900.0);
    assert_eq!(job.read.summary.latency_ns.p99, 0);
    let job = with(|side| {
        side["clat_ns"]["mean"] = json!(5e9);
        side["lat_ns"]["mean"] = json!(5e9);
    });
    assert_eq!(
        (job.read.summary.latency_ns.samples, job.notes),
        (0, vec![Note::ImplausibleLatency])
    );
    let job = with(|side| side["clat_ns"]["percentile"]["99.990000"] = json!(17_112_760_320_u64));
    assert_eq!(job.read.summary.latency_ns.p99_99, 0);
    assert_eq!(job.notes, [Note::BeyondHistogram]);
    let job = with(|side| side["lat_ns"]["mean"] = json!(700_000.0));
    assert_eq!(job.read.summary.latency_ns.mean, 700_000.0);
}

#[test]
fn unfit_for_comparison() {
    let with = |name: &str, value: &str| {
        let mut options = direct();
        options[name] = json!(value);
        job_of(&document(
            &options,
            &[json!({ "jobname": "a", "job options": {}, "read": side(1000, 70_000.0) })],
        ))
        .unfit
    };
    for (name, value, reason) in [
        ("direct", "0", "page cache"),
        ("size", "500M", "500 MiB"),
        ("zonemode", "zbd", "zones"),
        ("ioengine", "null", "null"),
    ] {
        let found = with(name, value);
        assert!(found.len() == 1 && found[0].contains(reason), "{name}={value}: {found:?}");
    }
    assert!(with("size", "100%").is_empty() && with("size", "16G").is_empty());
    let entry =
        |name: &str| json!({ "jobname": name, "job options": {}, "read": side(1000, 70_000.0) });
    let jobs = jobs_of(&document(&direct(), &[entry("a"), entry("b")]), &Options::default());
    assert!(jobs[0].unfit[0].contains("beside other jobs (b)"), "{:?}", jobs[0].unfit);
}
