//! Outputs of fio whose figures mean something else than their place suggests, and files of other
//! encodings.

use std::fs;
use std::time::{Duration, Instant};

use assay_import::fio::options::Options;
use assay_import::format::Format;
use assay_import::{Job, Note, collect};
use serde_json::{Value, json};

fn job_of(text: &str) -> Job {
    let format = Format::detect("result", text.as_bytes()).unwrap();
    let mut jobs = format.parse(text.as_bytes(), &Options::default()).unwrap().jobs;
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

/// Ten seconds of these I/Os of 4 KiB, unless `change` says otherwise.
fn document(options: &Value, change: impl FnOnce(&mut Value)) -> String {
    let options = {
        let mut all = json!({
            "rw": "randread", "bs": "4k", "iodepth": "8", "direct": "1", "ioengine": "libaio",
            "filename": "/dev/nvme1n1",
        });
        let own = options.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(own);
        all
    };
    let mut entry = json!({
        "jobname": "a", "groupid": 0, "error": 0, "job options": options,
        "read": {
            "io_bytes": 409_600_000, "io_kbytes": 400_000, "bw_bytes": 40_960_000,
            "iops": 10_000.0, "runtime": 10_000, "total_ios": 100_000,
            "clat_ns": { "min": 2000, "max": 90_000, "mean": 70_000.0, "stddev": 5.0, "N": 100_000,
                         "percentile": { "99.000000": 80_000 } },
            "lat_ns": { "min": 2100, "max": 91_000, "mean": 71_000.0, "stddev": 5.0, "N": 100_000 },
        },
    });
    change(&mut entry);
    json!({ "fio version": "fio-3.36", "jobs": [entry] }).to_string()
}

/// Text of fio 3.33 of a run with `fdatasync=1`, shortened.
const SYNCS: &str = "\
etcd: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1
fio-3.33
Starting 1 process

etcd: (groupid=0, jobs=1): err= 0: pid=11921: Mon Nov 30 12:58:42 2026
  write: IOPS=280, BW=1122KiB/s (1148kB/s)(8000KiB/7133msec); 0 zone resets
    clat (usec): min=2, max=929, avg= 9.70, stdev=21.55
     lat (usec): min=2, max=929, avg= 9.92, stdev=21.59
    clat percentiles (usec):
     | 50.00th=[    9], 60.00th=[   10], 99.00th=[   29], 99.50th=[   30]
  lat (usec)   : 4=17.15%, 10=45.15%, 20=33.15%, 50=4.40%, 100=0.05%
  fsync/fdatasync/sync_file_range:
    sync (usec): min=97, max=15985, avg=3555.78, stdev=2757.59
    sync percentiles (usec):
     | 50.00th=[ 3490], 60.00th=[ 3982], 99.00th=[11994], 99.50th=[11994]
  cpu          : usr=0.00%, sys=2.34%, ctx=6011, majf=0, minf=14
     issued rwts: total=0,2000,0,0 short=1999,0,0,0 dropped=0,0,0,0
";

/// Percentiles of syncs, and of submissions, are not those of the writes.
#[test]
fn percentiles_of_syncs_and_submissions_are_no_latencies() {
    let latency = job_of(SYNCS).write.summary.latency_ns;
    assert_eq!((latency.p50, latency.p99), (9_000, 29_000));
    let submissions = SYNCS.replace("clat percentiles (usec)", "slat percentiles (nsec)");
    let latency = job_of(&submissions).write.summary.latency_ns;
    assert_eq!((latency.p50, latency.p99), (0, 0));
}

/// A submission that blocks has most of the latency; percentiles of the rest are none of it.
#[test]
fn percentiles_of_a_smaller_part_are_left_out_with_the_reason() {
    let blocked = SYNCS
        .replace("lat (usec): min=2, max=929, avg= 9.92", "lat (usec): min=2, max=929, avg= 19.92");
    let text = job_of(&blocked.replace(
        "clat (usec): min=2, max=929, avg= 19.92",
        "clat (usec): min=2, max=929, avg= 9.70",
    ));
    let of_json = job_of(&document(&json!({}), |entry| {
        entry["read"]["lat_ns"]["mean"] = json!(150_000.0);
    }));
    for (job, latency) in
        [(&text, text.write.summary.latency_ns), (&of_json, of_json.read.summary.latency_ns)]
    {
        assert_eq!((latency.p50, latency.p99), (0, 0));
        assert!(job.notes.contains(&Note::SubmissionBlocked), "{job:?}");
    }
    let whole = job_of(&document(&json!({}), |_| ()));
    assert_eq!(whole.read.summary.latency_ns.p99, 80_000);
    assert_eq!(whole.notes, []);
}

/// fio ends a job at an error and prints what it did so far. Only errors of the drive are its own.
#[test]
fn a_job_that_ended_with_an_error_says_so() {
    let of_json = |code: u32| job_of(&document(&json!({}), |entry| entry["error"] = json!(code)));
    for (code, errors, reason) in
        [(5, 1, "Input/output error"), (28, 0, "No space left"), (84, 0, "are not right")]
    {
        let job = of_json(code);
        assert_eq!(job.read.summary.errors, errors);
        let text =
            SYNCS.replace("err= 0", &format!("err={code:2} (file:io_u.c:1, func=f, error=E)"));
        let printed = job_of(&text);
        assert_eq!(printed.write.summary.errors, errors);
        for reasons in [job.unfit.join("; "), printed.unfit.join("; ")] {
            assert!(reasons.contains(reason), "{reasons}");
        }
    }
    let sound = [of_json(0), job_of(SYNCS)];
    assert!(sound.iter().all(|job| job.unfit.is_empty()));
}

/// A rate that the counts contradict is of something else, or the file was changed.
#[test]
fn rates_beside_counts_that_contradict_them() {
    let with = |iops: f64| job_of(&document(&json!({}), |e| e["read"]["iops"] = json!(iops)));
    assert_eq!(with(10_300.0).unfit, [""; 0]);
    let unfit = with(123_456.0).unfit;
    assert!(unfit[0].contains("its number of I/Os"), "{unfit:?}");
}

/// The size that was counted is that of the I/Os; a range of sizes is no size.
#[test]
fn block_sizes_that_the_options_do_not_have() {
    let of = |options: Value, bytes: u64| {
        let job = job_of(&document(&options, |entry| {
            entry["read"]["io_bytes"] = json!(bytes);
        }));
        let workload = &job.workload;
        let single = workload.single_bs_bytes();
        (single, workload.block_size_text(), workload.options.clone())
    };
    let (single, text, options) = of(json!({ "bsrange": "16k-64k" }), 3_001_234_567);
    assert_eq!((single, text.as_str()), (None, "16 KiB to 64 KiB"));
    assert!(options.contains("--bs 16k-64k"), "{options}");
    // bs_is_seq_rand: the second size is that of random I/O.
    let options = json!({ "bs": "4k,32k", "bs_is_seq_rand": "1" });
    let (single, _, options) = of(options, 3_276_800_000);
    assert_eq!(single, Some(32 << 10));
    assert!(options.contains("--bs 32k"), "{options}");
    assert_eq!(of(json!({}), 409_600_000).0, Some(4096));
    // The last I/O was shorter.
    assert_eq!(of(json!({}), 409_599_000).0, Some(4096));
}

/// What cannot be read is unknown, not fio's default, and of a contradiction nothing is known.
#[test]
fn options_that_cannot_be_known() {
    let job = |options: Value| job_of(&document(&options, |_| ()));
    let depth = |text: &str| job(json!({ "iodepth": text })).workload.iodepth;
    assert_eq!(depth("1000000000000000000000"), 0);
    assert_eq!(depth("many"), 0);
    assert_eq!(depth("32"), 32);
    assert!(job(json!({ "buffered": "0" })).knows_direct);
    assert!(!job(json!({ "buffered": "1" })).knows_direct);
}

/// A limit is that of all threads and both operations.
#[test]
fn rates_that_the_job_limits() {
    let limit = |options: Value| job_of(&document(&options, |_| ())).workload.rate_limit_iops;
    assert_eq!(limit(json!({})), None);
    assert_eq!(limit(json!({ "rate_iops": "5k" })), Some(5_120.0));
    let mix = json!({ "rw": "randrw", "rate_iops": "3000,1000", "numjobs": "2" });
    assert_eq!(limit(mix), Some(8_000.0));
    assert_eq!(limit(json!({ "rate": "40m" })), Some(10_240.0));
    assert_eq!(limit(json!({ "rate_iops": "0,100" })), None);
}

/// Windows' shells write UTF-16, or a mark before UTF-8; Python writes `NaN`.
#[test]
fn texts_of_other_encodings() {
    let folder = tempfile::tempdir().unwrap();
    let text = document(&json!({}), |_| ());
    let utf16 = |of: fn(u16) -> [u8; 2]| {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(of).collect::<Vec<u8>>()
    };
    let marked = [&[0xef, 0xbb, 0xbf], text.as_bytes()].concat();
    let no_number = text.replacen("\"stddev\":5.0", "\"stddev\": NaN", 1);
    assert_ne!(no_number, text);
    let files = [
        ("little.json", utf16(u16::to_le_bytes)),
        ("big.json", utf16(u16::to_be_bytes)),
        ("marked.json", marked),
        ("nan.json", no_number.into_bytes()),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let found = collect(&[path], &Options::default()).unwrap();
        let read = &found.imported[0].jobs[0].read.summary;
        assert_eq!((read.ios, read.latency_ns.p99), (100_000, 80_000), "{name}");
    }
}

/// The time grows with the number of jobs, not with its square.
#[test]
#[allow(clippy::disallowed_methods, reason = "no drive takes part")]
fn many_jobs_of_one_file() {
    let entry = |at: u32| {
        json!({ "jobname": format!("j{at}"), "groupid": at, "read": {
            "io_bytes": 4_096_000, "bw_bytes": 4_096_000, "iops": 1000.0, "runtime": 1000,
            "total_ios": 1000 } })
    };
    let jobs: Vec<Value> = (0..60_000).map(entry).collect();
    let text = json!({ "fio version": "fio-3.36", "jobs": jobs }).to_string();
    let began = Instant::now();
    let parsed = Format::FioJson.parse(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(parsed.jobs.len(), 60_000);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// A terse line is that of one thread, or of all with `group_reporting`: it does not say which.
#[test]
fn threads_of_terse_output_are_not_known() {
    let direction = ["10000;1000;250;10000;1;9;5.0;1.0;10;90;40.0;5.0"];
    let percentiles = ["50.000000%=40"; 20].join(";");
    let side = format!("{};{percentiles};11;99;45.0;5.0;1;9;50.0%;500.0;1.0", direction[0]);
    let line = format!("3;fio-3.33;a;0;0;{side};{side};1.0%;2.0%;3;0;4\n");
    let parse = |text: &str, assumed: &[(&'static str, &'static str)]| {
        let assumed = Options::new(assumed.iter().copied());
        let mut jobs = Format::FioTerse.parse(text.as_bytes(), &assumed).unwrap().jobs;
        assert_eq!(jobs.len(), 1);
        let job = jobs.remove(0);
        (job.workload.numjobs, job.unfit.join("; "))
    };
    let (_, unfit) = parse(&line, &[]);
    assert!(unfit.contains("number of threads"), "{unfit}");
    assert_eq!(parse(&line, &[("numjobs", "1")]), (1, String::new()));
    assert_eq!(parse(&line.repeat(3), &[]), (3, String::new()));
}
