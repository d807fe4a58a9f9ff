//! Figures that fio printed as text, logs over time, and what is cut before parsing.

use assay_import::fio::options::Options;
use assay_units::Nanos;
use serde_json::{Value, json};

use crate::fio::{direct, document, job_of, jobs_of, side};

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
pub fn as_printed(document: &str) -> String {
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
