//! fio's outputs of all versions, with figures made for these tests.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong panics")]

use assay_import::fio::options::Options;
use assay_import::format::Format;
use assay_import::judge::judge;
use assay_import::{Direction, Job, Note};
use assay_stats::Histogram;
use assay_units::Nanos;
use serde_json::{Value, json};

fn jobs_of(text: &str, assumed: &Options) -> Vec<Job> {
    let format = Format::detect("result", text.as_bytes()).unwrap();
    let mut jobs = format.parse(text.as_bytes(), assumed).unwrap().jobs;
    jobs.iter_mut().for_each(judge);
    jobs
}

fn job_of(text: &str) -> Job {
    let mut jobs = jobs_of(text, &Options::default());
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

/// A direction of fio 3: 4 KiB, 10 seconds.
fn side(ios: u64, mean_ns: f64) -> Value {
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

fn document(options: &Value, jobs: &[Value]) -> String {
    let document = json!({
        "fio version": "fio-3.36", "timestamp_ms": 1_700_000_010_000_u64,
        "global options": options, "jobs": jobs,
        "disk_util": [{ "name": "nvme3n1" }],
    });
    document.to_string()
}

const DIRECT: &str = r#"{"rw": "randread", "bs": "4k", "iodepth": "8", "direct": "1", "filename": "/dev/nvme1n1p2", "runtime": "10s"}"#;

fn direct() -> Value {
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

#[test]
fn text_of_version_3() {
    let text = "\
mix: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 16.0KiB-16.0KiB, (T) 4096B-4096B, ioengine=libaio, iodepth=32
...
fio-3.28
mix: (groupid=0, jobs=4): err= 0: pid=7: Tue Feb  3 04:05:06 2026
  read: IOPS=20.0k, BW=78.1MiB/s (81.9MB/s)(781MiB/10000msec)
    slat (nsec): min=1173, max=72372, avg=2088.20, stdev=795.10
    clat (usec): min=55, max=9326, avg=1082.54, stdev=519.66
     lat (usec): min=58, max=9330, avg=1084.63, stdev=519.65
    clat percentiles (msec):
     |  1.00th=[    1], 50.00th=[    2], 95.00th=[    3],
     | 99.99th=[   61]
  write: IOPS=5000, BW=78.1MiB/s (81.9MB/s)(781MiB/10000msec); 0 zone resets
    clat (msec): min=1, max=20, avg= 2.50, stdev= 1.00
  lat (usec)   : 100=0.01%, 250=0.06%
  cpu          : usr=8.67%, sys=24.11%, ctx=1970035, majf=0, minf=555
     issued rwts: total=200001,50000,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=78.1MiB/s (81.9MB/s), io=781MiB (819MB), run=10000-10000msec

Disk stats (read/write):
  nvme2n1: ios=0/36115, merge=0/98, ticks=0/3692590, util=37.80%
";
    let job = job_of(text);
    assert_eq!((job.device.as_str(), job.workload.numjobs), ("nvme2n1", 4));
    let (read, write) = (&job.read.summary, &job.write.summary);
    assert_eq!((read.iops, read.bytes), (20_000.1, 200_001 * 4096));
    assert_eq!((write.iops, write.bytes), (5_000.0, 50_000 * 16_384));
    assert_eq!((read.latency_ns.mean, read.latency_ns.p99_99), (1_084_630.0, 61_000_000));
    assert_eq!((read.latency_ns.p50, read.latency_ns.p95), (2_000_000, 3_000_000));
    assert_eq!(write.latency_ns.mean, 2_500_000.0);
    assert_eq!(job.ended.unwrap().to_string(), "2026-02-03T04:05:06Z");
    assert_eq!((job.workload.rwmixread, job.notes.len()), (None, 1));
}

/// Before version 3, KB is 1024 bytes, and large numbers have a factor of thousands.
#[test]
fn text_of_version_2() {
    let text = "\
r: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1
fio-2.1.13
r: (groupid=0, jobs=64): err= 0: pid=0: Wed Apr  1 10:44:10 2015
  read : io=2048.0MB, bw=20480KB/s, iops=5120, runt=102400msec
    clat (usec): min=6, max=4279.6K, avg=12400.44, stdev=1520.88
    clat percentiles (usec):
     |  1.00th=[   18], 50.00th=[12096], 99.99th=[39520]
     issued    : total=r=524288/w=0/d=0, short=r=0/w=0/d=0
";
    let job = job_of(text);
    let read = &job.read.summary;
    assert_eq!((read.iops, read.bytes), (5_120.0, 2048 << 20));
    assert_eq!((read.latency_ns.max, read.latency_ns.p50), (4_279_600_000, 12_096_000));
    assert_eq!((job.workload.numjobs, job.workload.bs_bytes), (64, 4096));
}

/// Threads of one interval add up; a line belongs to the interval that ends there.
#[test]
fn logs_over_time() {
    use assay_import::fio::logs::{LogKind, Rates, kind_of};
    assert_eq!(kind_of("x/a_bw.3.log"), Some(("x/a", LogKind::Bandwidth)));
    assert_eq!(kind_of("a_iops.log"), Some(("a", LogKind::Iops)));
    assert_eq!(kind_of("dmesg.log"), None);
    let mut rates = Rates::parse(
        LogKind::Iops,
        b"500, 1000, 0, 0, 0\n1001, 1200, 0, 0, 0\n1500, 800, 0, 0, 0\n",
    );
    rates.merge(Rates::parse(LogKind::Iops, b"500, 100, 0, 0, 0\n1000, 100, 0, 0, 0\n"));
    rates.merge(Rates::parse(LogKind::Latency, b"500, 2000, 0, 0, 0\n1000, 4000, 0, 0, 0\n"));
    let series: Vec<_> = rates.series(4096).collect();
    let ios: Vec<(u64, u64)> = series.iter().map(|i| (i.ops[0].1.ios, i.ops[0].1.bytes)).collect();
    assert_eq!(ios, [(550, 550 * 4096), (651, 651 * 4096 + 819), (399, 399 * 4096 + 819)]);
    assert_eq!(series[2].end, Nanos(1_500_000_000));
    let job = rates.job("a", &Options::new([("bs", "4k")])).unwrap();
    assert_eq!(job.read.summary.ios, 1600);
    let mean = (550.0 * 2000.0 + 651.2 * 4000.0) / 1201.2;
    assert_eq!(job.read.summary.latency_ns.mean, mean);
    // A busy host writes some lines late: nothing is lost, and the longer interval counts.
    let mut late = Rates::parse(LogKind::Iops, b"100, 1000, 0, 0, 0\n200, 1000, 0, 0, 0\n");
    late.merge(Rates::parse(LogKind::Iops, b"200, 500, 0, 0, 0\n400, 500, 0, 0, 0\n"));
    let ios: Vec<u64> = late.series(0).map(|i| i.ops[0].1.ios).collect();
    assert_eq!(ios, [300, 100]);
    // Without log_avg_msec every line is an I/O.
    let single =
        Rates::parse(LogKind::Iops, b"1, 1, 0, 4096, 0\n2, 1, 1, 8192, 0\n1100, 1, 0, 4096, 0\n");
    let counts: Vec<usize> = single.series(0).map(|i| i.ops.len()).collect();
    assert_eq!(counts, [2, 1]);
}

/// Histograms of two threads: each interval has its own latencies, and the job their sum.
#[test]
fn logs_of_histograms() {
    use assay_import::fio::logs::{LogKind, Rates, is_log, kind_of};
    let name = "x/a_clat_hist.2.log";
    assert_eq!(kind_of(name), Some(("x/a", LogKind::Histogram)));
    // Bucket 200 of the layout in nanoseconds: the ninth of the group from 256, each 4 wide.
    let line = |at_ms: u64, buckets: usize, counted: &[(usize, u64)]| {
        let mut counts = vec![0; buckets];
        counted.iter().for_each(|(at, count)| counts[*at] = *count);
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        format!("{at_ms}, 0, 4096, {}\n", counts.join(", "))
    };
    let text = line(501, 1856, &[(50, 3), (200, 1)]) + &line(1000, 1856, &[(200, 4)]);
    assert!(is_log(text.as_bytes()) && !is_log(line(501, 1857, &[]).as_bytes()));
    let mut rates = Rates::parse(LogKind::Histogram, text.as_bytes());
    // Coarser, of version 2, in microseconds: buckets 48 to 51 are one.
    let other = line(500, 1216 >> 2, &[(12, 1)]);
    rates.merge(Rates::parse(LogKind::Histogram, other.as_bytes()));
    let alone = rates.job("a", &Options::new([("bs", "4k")])).unwrap();
    assert_eq!(alone.read.summary.ios, 9);
    assert_eq!(alone.read.summary.bytes, 9 * 4096);
    let iops = b"500, 10, 0, 0\n1000, 8, 0, 0\n";
    rates.merge(Rates::parse(LogKind::Iops, iops));
    let series: Vec<_> = rates.series(4096).collect();
    let latencies: Vec<(u64, u64)> =
        series.iter().map(|i| (i.ops[0].1.ios, i.ops[0].1.latency.count())).collect();
    assert_eq!(latencies, [(5, 5), (4, 4)]);
    let job = rates.job("a", &Options::new([("bs", "4k")])).unwrap();
    let latency = &job.read.summary.latency_ns;
    assert_eq!((latency.samples, latency.min), (9, 50));
    assert!((288..292).contains(&latency.p50), "{latency:?}");
    assert!((49_500..=50_500).contains(&latency.max), "{latency:?}");
}

/// As fio prints it: a line per member, ` : ` between key and value.
fn as_printed(document: &str) -> String {
    let value: Value = serde_json::from_str(document).unwrap();
    let text = serde_json::to_string_pretty(&value).unwrap();
    text.replace("\": ", "\" : ")
}

#[test]
fn what_is_cut_before_parsing_changes_nothing() {
    let mut reads = side(100_000, 71_000.0);
    reads["slat_ns"] = json!({ "min": 1, "odd } \" : {\n \"sync": "}\n  }" });
    // Members that follow a number of I/Os of 0 are not read, whatever they say.
    let unused =
        json!({ "io_bytes": 7, "runtime": 30_000, "total_ios": 0, "zz": { "lat_ns": {} } });
    let entry = |name: &str, pairs: [&Value; 2]| {
        json!({
            "jobname": name, "job options": { "sync": "1" }, "groupid": 0,
            "read": pairs[0], "write": pairs[1], "trim": unused, "usr_cpu": 5.0, "sys_cpu": 1.5,
            "sync": { "total_ios": 0, "lat_ns": { "min": 0 } },
            "latency_ns": { "2": 0.0 }, "latency_us": {}, "latency_ms": { "2": { "{": [{}] } },
        })
    };
    let writes = side(3, 9_000.0);
    let entries = [
        entry("a", [&reads, &unused]),
        entry("{", [&unused, &writes]),
        entry("c", [&reads, &writes]),
        entry("none", [&unused, &unused]),
    ];
    let compact = document(&direct(), &entries);
    let printed = as_printed(&compact);
    assert!(printed.contains("\"sync\" : {\n"), "{printed}");
    let jobs = |text: &str| format!("{:?}", jobs_of(text, &Options::default()));
    assert_eq!(jobs(&printed), jobs(&compact));
    // Twice in a file with other lines around, with other line ends, and with a brace where fio
    // has none, so that too little is cut.
    let twice = format!("a \"sync\" : {{\n}}\n{printed}\n\"x\" : {{\n{printed}\n");
    assert_eq!(jobs(&twice), jobs(&format!("{compact}\n{compact}")));
    assert_eq!(jobs(&printed.replace('\n', "\r\n")), jobs(&compact));
    let odd = printed.replace("\"min\" : 0\n", "\"min\" : {\n      }\n");
    assert_ne!(odd, printed);
    assert_eq!(jobs(&odd), jobs(&compact));
}

/// In fio's order of the members, of threads with I/Os. Text of one line is not cut.
#[test]
fn what_is_cut_of_used_directions_changes_nothing() {
    let latency = |name: &str| {
        format!(
            "\"{name}\" : {{\n          \"min\" : 9,\n          \"max\" : 90,\n          \
             \"mean\" : 30.5,\n          \"stddev\" : 2.0,\n          \"N\" : 20\n        }}"
        )
    };
    let read = |behind: &str| {
        let [submission, completion] = ["slat_ns", "clat_ns"].map(latency);
        format!(
            "      \"read\" : {{\n        \"io_bytes\" : 81920,\n        \"bw_bytes\" : 8192,\n        \
             \"iops\" : 2.0,\n        \"runtime\" : 10000,\n        \"total_ios\" : 20,\n        \
             \"short_ios\" : 1,\n        {submission},\n        {completion},\n        \
             \"bw_min\" : 3,\n        {behind}\"bw_dev\" : 1.0\n      }}"
        )
    };
    let text = |behind: &str| {
        let entry = format!("    {{\n      \"jobname\" : \"a\",\n{}\n    }}", read(behind));
        format!(
            "{{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n{entry},\n{entry}\n  ]\n}}\n"
        )
    };
    let jobs = |text: &str| jobs_of(text, &Options::default());
    let plain = jobs(&text("").replace('\n', " "));
    let summary = &plain[0].read.summary;
    assert_eq!((summary.ios, summary.errors, summary.latency_ns.max), (40, 2, 90));
    assert_eq!(jobs(&text("")), plain);
    // What is read is not cut where it follows.
    let behind = format!("{},\n        ", latency("lat_ns").replace("90", "95"));
    let longer = jobs(&text(&behind));
    assert_eq!(longer[0].read.summary.latency_ns.max, 95);
    assert_eq!(jobs(&text(&behind).replace('\n', " ")), longer);
}
