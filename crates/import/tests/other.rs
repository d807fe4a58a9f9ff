//! Results of other programs than fio, in files of the same shape with figures made for these tests.

use assay_import::fio::options::Options;
use assay_import::format::Format;
use assay_import::judge::judge;
use assay_import::{Job, MAX_FILE_BYTES, Note, Parsed, collect};
use assay_units::Nanos;

fn parsed_file(format: Format, text: &str) -> Parsed {
    assert_eq!(Format::detect("result", text.as_bytes()), Some(format));
    let mut parsed = format.parse(text.as_bytes(), &Options::default()).unwrap();
    parsed.jobs.iter_mut().for_each(judge);
    parsed
}

fn workload(job: &Job) -> (&str, u64, u32, u32, bool) {
    let w = &job.workload;
    (&w.rw, w.bs_bytes, w.iodepth, w.numjobs, w.direct)
}

/// Two threads on a target; percentiles are over both.
#[test]
fn diskspd() {
    let bucket = |share: &str, read: f64| {
        format!(
            "<Bucket><Percentile>{share}</Percentile><ReadMilliseconds>{read}</ReadMilliseconds>\
             <TotalMilliseconds>{read}</TotalMilliseconds></Bucket>"
        )
    };
    let thread = |ios: u64| {
        format!(
            "<Thread><Id>0</Id><Target><Path>#1</Path><BytesCount>{b}</BytesCount><FileSize>\
             34359738368</FileSize><IOCount>{ios}</IOCount><ReadBytes>{b}</ReadBytes><ReadCount>\
             {ios}</ReadCount><WriteBytes>0</WriteBytes><WriteCount>0</WriteCount></Target></Thread>",
            b = ios * 8192
        )
    };
    let text = format!(
        "noise before\n<Results><System><ComputerName>H</ComputerName><Tool><Version>2.2.0</Version>\
         </Tool></System><Profile><Progress>0</Progress><TimeSpans><TimeSpan><Duration>20</Duration>\
         <Warmup>5</Warmup><ThreadCount>0</ThreadCount><RequestCount>0</RequestCount><Targets>\
         <Target><Path>#1</Path><BlockSize>8192</BlockSize><DisableOSCache>true</DisableOSCache>\
         <WriteThrough>true</WriteThrough><Random>8192</Random><RequestCount>16</RequestCount>\
         <WriteRatio>0</WriteRatio><ThreadsPerFile>2</ThreadsPerFile></Target></Targets></TimeSpan>\
         </TimeSpans></Profile><TimeSpan><TestTimeSeconds>20.00</TestTimeSeconds><ThreadCount>2\
         </ThreadCount><CpuUtilization><CPU><UsagePercent>1</UsagePercent></CPU></CpuUtilization>\
         <Latency ReadHistoBuckets=\"9\"><AverageReadMilliseconds>0.320</AverageReadMilliseconds>\
         <ReadLatencyStdev>0.050</ReadLatencyStdev>{}{}{}{}</Latency>{}{}</TimeSpan></Results>",
        bucket("0", 0.05),
        bucket("50", 0.3),
        bucket("99.9", 0.9),
        bucket("100", 2.5),
        thread(900_000),
        thread(1_100_000),
    );
    let parsed = parsed_file(Format::DiskSpd, &text);
    assert_eq!(parsed.tool, "DiskSpd 2.2.0");
    let [job] = parsed.jobs.as_slice() else {
        panic!("{parsed:?}");
    };
    assert_eq!(workload(job), ("randread", 8192, 16, 2, true));
    let read = &job.read.summary;
    assert_eq!((read.ios, read.iops), (2_000_000, 100_000.0));
    assert_eq!((job.elapsed, job.workload.span_bytes), (Nanos::from_secs(20), 32 << 30));
    let latency = &read.latency_ns;
    assert_eq!(
        (latency.mean, latency.p50, latency.p99, latency.p99_9),
        (320_000.0, 300_000, 0, 900_000)
    );
    assert_eq!((latency.min, latency.max), (50_000, 2_500_000));
    assert!(job.unfit.is_empty() && job.notes.is_empty(), "{job:?}");
    let buffered = text.replace("<DisableOSCache>true</DisableOSCache>", "");
    let parsed = parsed_file(Format::DiskSpd, &buffered);
    assert_eq!(parsed.jobs[0].unfit.len(), 1);
}

/// Only rows of reads and writes, as of the last thread; columns in any order.
#[test]
fn elbencho() {
    let text = "\
ISO date,label,path type,paths,hosts,threads,file size,block size,direct IO,random,IO depth,operation,time ms [first],time ms [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],IO lat us [min],IO lat us [avg],IO lat us [max],rwmix read IOPS [last],rwmix read MiB/s [last],version
2026-02-03T04:05:06,,file,1,2,4,10737418240,4096,1,1,8,MKDIRS,1,2,,,,,,,,,,3.0-1
2026-02-03T04:05:06,,file,1,2,4,10737418240,4096,1,1,8,READ,9000,10000,41000,40000,160,156.25,20,190,2500,,,3.0-1
2026-02-03T04:06:06,,file,1,2,4,10737418240,4096,1,1,8,WRITE,9000,10000,11000,10000,43,39.0625,20,90,2500,30000,117.1875,3.0-1
";
    let parsed = parsed_file(Format::Elbencho, text);
    assert_eq!((parsed.tool.as_str(), parsed.jobs.len()), ("elbencho 3.0-1", 2));
    let [reads, mix] = [&parsed.jobs[0], &parsed.jobs[1]];
    assert_eq!(workload(reads), ("randread", 4096, 8, 8, true));
    let read = &reads.read.summary;
    assert_eq!((read.iops, read.ios, read.mib_per_s), (40_000.0, 400_000, 156.25));
    assert_eq!((read.latency_ns.mean, read.latency_ns.p99), (190_000.0, 0));
    assert_eq!(workload(mix).0, "randrw");
    assert_eq!((mix.write.summary.iops, mix.read.summary.iops), (10_000.0, 30_000.0));
}

/// MB are 10^6 bytes.
#[test]
fn crystaldiskmark() {
    let text = "\
------------------------------------------------------------------------------
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Read]
  SEQ    1MiB (Q=  8, T= 1):  6291.456 MB/s [   6000.0 IOPS] <  1333.33 us>
  RND    4KiB (Q= 32, T=16):   409.600 MB/s [ 100000.0 IOPS] <  5119.00 us>

[Write]
  RND    4KiB (Q=  1, T= 1):   163.840 MB/s [  40000.0 IOPS] <    24.50 us>

[Mix] Read 70%/Write 30%
  RND    4KiB (Q=  1, T= 1):    81.920 MB/s [  20000.0 IOPS] <    49.50 us>

Profile: Default
   Test: 1 GiB (x5) [C: 45% (210/465GiB)]
   Mode: [Admin]
   Time: Measure 5 sec / Interval 5 sec
   Date: 2021/11/26 13:02:31
";
    let parsed = parsed_file(Format::CrystalDiskMark, text);
    assert_eq!(parsed.tool, "CrystalDiskMark 8.0.4");
    let [seq, random, write, mix] = parsed.jobs.as_slice() else {
        panic!("{parsed:?}");
    };
    assert_eq!(workload(seq), ("read", 1 << 20, 8, 1, true));
    assert_eq!(seq.read.summary.mib_per_s, 6000.0);
    assert_eq!(workload(random), ("randread", 4096, 32, 16, true));
    assert_eq!(random.read.summary.ios, 500_000);
    assert_eq!(write.write.summary.latency_ns.mean, 24_500.0);
    assert_eq!((mix.workload.rwmixread, mix.notes.contains(&Note::OneSum)), (Some(70), true));
    assert!(parsed.jobs.iter().all(|job| job.notes.contains(&Note::BestOfSeveral)));
    assert_eq!((seq.workload.span_bytes, seq.elapsed), (1 << 30, Nanos::from_secs(5)));
}

#[test]
fn yabs() {
    let text = r#"{"version":"v2025-04-20","os":{"arch":"x86_64"},"partition":"/dev/vda1","fio":[
      {"bs":"4k","speed_r":200000,"iops_r":50000,"speed_w":200400,"iops_w":50100,"speed_rw":400400,"iops_rw":100100,"speed_units":"KBps"},
      {"bs":"1m","speed_r":1024000,"iops_r":1000,"speed_w":1048576,"iops_w":1024,"speed_rw":2072576,"iops_rw":2024,"speed_units":"KBps"}]}"#;
    let parsed = parsed_file(Format::Yabs, text);
    assert_eq!((parsed.tool.as_str(), parsed.jobs.len()), ("yabs.sh v2025-04-20", 2));
    assert_eq!(workload(&parsed.jobs[0]), ("randrw", 4096, 64, 2, true));
    assert_eq!(parsed.jobs[0].read.summary.iops, 50_000.0);
    assert_eq!(parsed.jobs[1].write.summary.mib_per_s, 1024.0);
    assert_eq!(parsed.jobs[1].workload.span_bytes, 2 << 30);
}

/// The line with or without the device's number.
#[test]
fn iocost() {
    let text = "Test target: nvme0n1(259:0)\n259:0 rbps=1342177280 rseqiops=100000 rrandiops=90000 wbps=671088640 wseqiops=80000 wrandiops=70000\n";
    let parsed = parsed_file(Format::IoCost, text);
    let figures: Vec<(String, f64)> = parsed
        .jobs
        .iter()
        .map(|job| (job.name.clone(), job.read.summary.iops + job.write.summary.iops))
        .collect();
    let expected = [10.0, 100_000.0, 90_000.0, 5.0, 80_000.0, 70_000.0];
    assert_eq!(figures.iter().map(|(_, iops)| *iops).collect::<Vec<_>>(), expected);
    assert_eq!(workload(&parsed.jobs[2]), ("randread", 4096, 64, 1, true));
    assert_eq!(workload(&parsed.jobs[3]), ("write", 128 << 20, 1, 1, true));
}

/// Anything else is of no known kind.
#[test]
fn unknown_files() {
    for text in ["", "{}", "<Results></Results>", "a,b\n1,2\n", "CrystalDiskMark is a program"] {
        assert_eq!(Format::detect("x.csv", text.as_bytes()), None, "{text}");
    }
}

/// A compressed file gives what the file gives; one that is cut off, or larger than the limit when
/// it is decompressed, is named with the reason.
#[test]
fn compressed_files() {
    let folder = tempfile::tempdir().unwrap();
    let text = "8:16 rbps=3000000000 rseqiops=200000 rrandiops=180000 wbps=1000000000 \
                wseqiops=90000 wrandiops=80000";
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zipped = gzip(text.as_bytes());
    let large = vec![b' '; MAX_FILE_BYTES as usize + 1];
    for (name, bytes) in [
        ("a.txt.gz", zipped.clone()),
        ("b.txt.zst", zstd::encode_all(text.as_bytes(), 3).unwrap()),
        ("cut.txt.gz", zipped[..zipped.len() - 9].to_vec()),
        ("large.txt.gz", gzip(&large)),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let found = collect(&[folder.path().to_owned()], &Options::default()).unwrap();
    let names: Vec<&str> = found.imported.iter().map(|file| file.source.name.as_str()).collect();
    assert_eq!(names, ["a.txt.gz", "b.txt.zst"]);
    assert_eq!(found.imported[0].jobs, found.imported[1].jobs);
    assert_eq!(found.imported[0].jobs.len(), 6);
    let [cut, large] = found.rejected.as_slice() else {
        panic!("{:?}", found.rejected);
    };
    assert!(cut.name == "cut.txt.gz" && cut.reason.contains("cannot be decompressed"));
    assert!(large.name == "large.txt.gz" && large.reason.contains("longer than 64 MiB"));
}

/// A run that formats is none; the warm-up is in no average; latencies are milliseconds.
#[test]
fn vdbench() {
    let text = "<html><pre>\n*\n* Run             : Name of run from RD=\n*\n\
 tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp \
 read_max write_max read_std write_std xfersize threads rdpct rhpct whpct seekpct version\n\
10:00:00.0 x format_for_sd1 1 999988 10.0 1.0 131072 0.0 1.0 0.0 1.0 0 2 0 0 131072 1 0 0 0 0 50407\n\
10:00:00.0 x format_for_sd1 avg_1-1 999988 10.0 1.0 131072 0.0 1.0 0.0 1.0 0 2 0 0 131072 1 0 0 0 0 50407\n\
10:00:05.001 x rd1 1 999988 1000.0 3.906 4096 70.0 0.5 0.5 0.5 2 3 0.1 0.1 4096 16 70 0 0 100 50407\n\
10:00:10.002 x rd1 2 999988 2000.0 7.812 4096 70.0 0.4 0.3 0.6 2 3 0.1 0.2 4096 16 70 0 0 100 50407\n\
10:00:15.003 x rd1 3 999988 2400.0 9.375 4096 70.0 0.4 0.3 0.6 2 3 0.1 0.2 4096 16 70 0 0 100 50407\n\
10:00:15.004 x rd1 avg_2-3 999988 2200.0 8.594 4096 70.0 0.4 0.3 0.6 2 3 0.1 0.2 4096 16 70 0 0 100 50407\n\
10:00:20.000 x rd2 1 500 500.0 62.5 131072 100.0 1.5 1.5 0 4 0 0.1 0 131072 8 100 0 0 eof 50407\n\
10:00:25.000 x rd2 avg_1-1 500 500.0 62.5 131072 100.0 1.5 1.5 0 4 0 0.1 0 131072 8 100 0 0 eof 50407\n";
    let parsed = parsed_file(Format::Vdbench, text);
    assert_eq!(parsed.tool, "vdbench 50407");
    let [mix, reads] = parsed.jobs.as_slice() else {
        panic!("{parsed:?}");
    };
    assert_eq!(workload(mix), ("randrw", 4096, 1, 16, true));
    assert_eq!(mix.workload.rwmixread, Some(70));
    assert_eq!(mix.elapsed, Nanos::from_secs(10));
    let (read, write) = (&mix.read.summary, &mix.write.summary);
    assert_eq!((read.iops, read.ios, write.ios), (1540.0, 15_400, 6600));
    assert_eq!((read.latency_ns.mean, write.latency_ns.mean), (300_000.0, 600_000.0));
    assert_eq!((read.latency_ns.max, write.latency_ns.stddev), (2_000_000, 200_000.0));
    let series = mix.logs.as_ref().unwrap().series(4096);
    let ios: Vec<u64> = series.map(|i| i.ops.iter().map(|(_, op)| op.ios).sum()).collect();
    assert_eq!(ios, [5000, 10_000, 12_000]);
    assert_eq!(mix.unfit.len(), 1, "{:?}", mix.unfit);
    assert_eq!(workload(reads), ("read", 131_072, 1, 8, true));
    assert!(reads.workload.options.contains("--rate_iops 500"), "{reads:?}");
    assert_eq!(reads.read.summary.mib_per_s, 62.5);
    let direct = Options::new([("direct", "1")]);
    let mut known = Format::Vdbench.parse(text.as_bytes(), &direct).unwrap().jobs;
    known.iter_mut().for_each(judge);
    assert!(known[0].unfit.is_empty(), "{:?}", known[0].unfit);
}

/// The table counts where fio's own outputs are not beside it.
#[test]
fn ezfio() {
    let text = "\
Drive,/dev/nvme0n1
Model,Some Drive
AvailCapacity,894,GiB
TestedCapacity,894,GiB
FIOVersion,fio-3.16
Type,Write %,Block Size,Threads,Queue Depth/Thread,IOPS,Bandwidth (MB/s),Read Latency (us),Write Latency (us)
Sustained Multi-Threaded Random Read Tests by Block Size
Rand,0,4096,16,16,500000,1953.12,510.5,0.0
Seq,100,131072,1,1,8000,1000.00,0.0,120.25
Sustained Perf Stability Test - 4KB Random 30% Write
Rand,30,4096,256,1,120000,468.75,2000.0,2300.0
";
    let parsed = parsed_file(Format::EzFio, text);
    assert_eq!(parsed.tool, "ezFIO, fio-3.16");
    let [reads, writes, mix] = parsed.jobs.as_slice() else {
        panic!("{parsed:?}");
    };
    assert_eq!(workload(reads), ("randread", 4096, 16, 16, true));
    assert_eq!(reads.workload.span_bytes, 894 << 30);
    assert_eq!(reads.read.summary.latency_ns.mean, 510_500.0);
    assert_eq!(reads.read.summary.ios, 60_000_000);
    assert_eq!(writes.write.summary.mib_per_s, 1000.0);
    assert!(writes.unfit.is_empty() && mix.unfit.len() == 1, "{parsed:?}");
    assert_eq!((mix.workload.rwmixread, mix.elapsed), (Some(70), Nanos::from_secs(1200)));
    assert!(mix.notes.contains(&Note::OneSum));
    let quick = text.replace("Drive,", "Drive,QUICKIE-INVALID-RESULTS-");
    assert_eq!(parsed_file(Format::EzFio, &quick).jobs[0].elapsed, Nanos::from_secs(12));

    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("ezfio_tests_x.csv", text);
    let paths = [folder.path().to_owned()];
    assert_eq!(collect(&paths, &Options::default()).unwrap().imported.len(), 1);
    write(
        "TestRand_w0_bs4096.out",
        "[JOBFILE]\n[test]\n[STDOUT]\n{\"fio version\": \"fio-3.16\", \"jobs\": [{\"jobname\": \"test\", \
         \"job options\": {\"rw\": \"randread\", \"bs\": \"4096\"}, \"read\": {\"total_ios\": 10, \
         \"io_bytes\": 40960, \"runtime\": 1000, \"iops\": 10.0}}]}\n[STDERR]\n",
    );
    let found = collect(&paths, &Options::default()).unwrap();
    assert_eq!((found.imported.len(), found.duplicates), (1, 1), "{found:?}");
    assert_eq!(found.imported[0].source.name, "TestRand_w0_bs4096.out");
}

/// Numbers as the program and as its documentation write them.
#[test]
fn iotune() {
    let text = "disks:\n  - mountpoint: /var/lib/scylla\n    read_iops: 95000\n    read_bandwidth: \
                545M\n    write_iops: 85k\n    write_bandwidth: 510000000\n  - mountpoints:\n      \
                - /data\n    read_iops: 10\n    write_saturation_length: 64k\n";
    let parsed = parsed_file(Format::IoTune, text);
    let figures: Vec<(&str, f64, f64)> = (parsed.jobs.iter())
        .map(|job| {
            let side = if job.read.summary.ios > 0 { &job.read } else { &job.write };
            (job.name.as_str(), side.summary.iops.round(), side.summary.mib_per_s.round())
        })
        .collect();
    assert_eq!(
        figures,
        [
            ("read_iops /var/lib/scylla", 95_000.0, 0.0),
            ("read_bandwidth /var/lib/scylla", 520.0, 520.0),
            ("write_iops /var/lib/scylla", 85_000.0, 0.0),
            ("write_bandwidth /var/lib/scylla", 486.0, 486.0),
            ("read_iops /data", 10.0, 0.0),
        ]
    );
    assert_eq!(workload(&parsed.jobs[0]), ("randread", 0, 0, 1, true));
    assert_eq!(workload(&parsed.jobs[1]), ("read", 1 << 20, 0, 1, true));
    assert!(parsed.jobs.iter().all(|job| !job.unfit.is_empty()));
}
