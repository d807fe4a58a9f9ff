//! Workloads on files, checked by the resulting bytes and exact counts.

use crate::fixture::{Done, Fixture, KIB, MIB, changed_blocks, number, zstd_ratio};
use crate::power_fail_fs::PowerFailFs;

/// Every engine and mode on a file.
const WAYS: [&str; 4] = [
    "--engine sync",
    "--engine uring --iodepth 8",
    "--engine sync --direct false",
    "--engine uring --iodepth 4 --direct false",
];

/// A program that prints watts is the power meter; its readings are in the result, and a silent one
/// is an error.
#[test]
fn an_external_power_meter_is_recorded() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    fixture.noise("other", 4 * MIB);
    let with = |drive: &str, words: &str, meter: &str| {
        let words = format!("job {drive} --rw randread --runtime 2s --interval 250ms {words}");
        let mut command = fixture.command(&words);
        let child = command.args(["--power-meter", meter]).spawn().unwrap();
        Done::new(&words, child)
    };
    let job = with("disk", "--out metered --json", "echo 3").expect(0).json();
    assert_eq!(number(&job, "/jobs/0/values/power_mean_w"), 3.0, "{job:#}");
    let readings = fixture.text("metered/journal.log");
    assert!(readings.contains("\"power_mw\":3000"), "{readings}");
    // One meter measures one drive.
    let words = "run quick disk other";
    let mut command = fixture.command(words);
    let child = command.args(["--power-meter", "echo 3"]).spawn().unwrap();
    Done::new(words, child).refuses(2, &["--power-meter", "one drive", "2"]);
    // A silent meter stops the command.
    let silent = with("disk", "--out silent", "echo watts; sleep 60");
    silent.refuses(2, &["echo watts", "no number", "watts"]);
    assert!(!fixture.path("silent").exists());
}

#[test]
fn writes_stay_inside_their_area_and_fill_it() {
    for fixture in [Fixture::on_disk(), Fixture::in_memory()] {
        for way in WAYS {
            let before = fixture.noise("disk", 8 * MIB);
            let job = fixture.json(&format!(
                "job disk --rw write --bs 64k --offset 2m --size 3m {way} --destroy disk"
            ));
            let after = fixture.read("disk");
            let expected: Vec<usize> = (2 * MIB / 4096..5 * MIB / 4096).collect();
            assert_eq!(changed_blocks(&before, &after, 4096), expected, "{way}");
            assert_eq!(number(&job, "/jobs/0/write/bytes"), (3 * MIB) as f64, "{way}");
            assert_eq!(number(&job, "/jobs/0/write/ios"), 48.0, "{way}");
            assert_eq!(number(&job, "/jobs/0/read/ios"), 0.0, "{way}");
        }
    }
}

#[test]
fn the_last_small_blocks_of_an_unaligned_file_are_reached() {
    let fixture = Fixture::on_disk();
    // 1 MiB and one and a half sectors: the last half cannot be addressed under O_DIRECT.
    let before = fixture.noise("disk", MIB + 768);
    let job = fixture.json("job disk --rw write --bs 512 --destroy disk");
    let after = fixture.read("disk");
    assert_eq!(number(&job, "/jobs/0/write/bytes"), (MIB + 512) as f64);
    assert_eq!(changed_blocks(&before, &after, 512), (0..MIB / 512 + 1).collect::<Vec<_>>());
    assert_eq!(after.len(), MIB + 768);
}

#[test]
fn reading_changes_nothing_and_counts_exactly() {
    for fixture in [Fixture::on_disk(), Fixture::in_memory()] {
        let before = fixture.noise("disk", 4 * MIB);
        for rw in ["read", "randread"] {
            for way in WAYS {
                let job = fixture
                    .json(&format!("job disk --rw {rw} --bs 16k --io_size 6m --numjobs 2 {way}"));
                assert_eq!(number(&job, "/jobs/0/read/bytes"), (12 * MIB) as f64, "{rw} {way}");
                assert_eq!(number(&job, "/jobs/0/read/ios"), 768.0, "{rw} {way}");
                assert_eq!(number(&job, "/jobs/0/write/ios"), 0.0);
                assert_eq!(number(&job, "/jobs/0/read/errors"), 0.0);
            }
        }
        assert!(before == fixture.read("disk"), "reading changed the file");
    }
}

#[test]
fn data_patterns_have_their_properties() {
    let fixture = Fixture::in_memory();
    for way in WAYS {
        for (data, least, most) in [
            ("incompressible", 0.99, 1.01),
            ("compress=2", 1.8, 2.2),
            ("compress=4", 3.6, 4.4),
            ("compress=1.5", 1.4, 1.6),
        ] {
            fixture.noise("disk", 4 * MIB);
            fixture.ok(&format!("job disk --rw write --bs 64k --data {data} {way} --destroy disk"));
            let bytes = fixture.read("disk");
            let whole = zstd_ratio(&bytes);
            assert!((least..=most).contains(&whole), "{way}: {data} compresses {whole} times");
            // Every piece of a block has the same ratio, unlike a block of random and zero halves.
            for piece in bytes.chunks(16 * KIB).step_by(17) {
                let ratio = zstd_ratio(piece);
                assert!(
                    (least * 0.9..=most * 1.1).contains(&ratio),
                    "{way}: a piece of {data} compresses {ratio} times"
                );
            }
            assert!(bytes.chunks(4096).all(|block| block.iter().any(|b| *b != 0)));
        }
        fixture.noise("disk", 4 * MIB);
        fixture.ok(&format!("job disk --rw write --bs 64k --data zero {way} --destroy disk"));
        assert!(fixture.read("disk").iter().all(|b| *b == 0), "{way}");
    }
}

#[test]
fn incompressible_data_do_not_repeat_from_block_to_block_thread_to_thread_or_run_to_run() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    fixture.ok("job disk --rw write --bs 64k --numjobs 4 --split --destroy disk");
    let first = fixture.read("disk");
    fixture.ok("job disk --rw write --bs 64k --numjobs 4 --split --seed 2 --destroy disk");
    let both = [first, fixture.read("disk")].concat();
    let mut blocks: Vec<&[u8]> = both.chunks(4096).collect();
    blocks.sort_unstable();
    let distinct = blocks.windows(2).filter(|pair| pair[0] != pair[1]).count() + 1;
    assert_eq!(distinct, 2048, "blocks repeat: deduplication would distort the result");
}

#[test]
fn mixes_have_their_proportions() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 8 * MIB);
    for rw in ["rw", "randrw"] {
        for percent in [70, 20] {
            let job = fixture.json(&format!(
                "job disk --rw {rw} --rwmixread {percent} --io_size 32m --iodepth 8 --destroy disk"
            ));
            let reads = number(&job, "/jobs/0/read/ios");
            let writes = number(&job, "/jobs/0/write/ios");
            assert_eq!(reads + writes, 8192.0);
            // Five standard deviations of a binomial are 2.6 points.
            let share = reads / 8192.0 * 100.0;
            assert!(
                (share - f64::from(percent)).abs() < 2.6,
                "{rw}: {share} % reads instead of {percent} %"
            );
        }
    }
    let job = fixture.json("job disk --rw randread --bs 4k/60:64k/40 --io_size 256m --iodepth 4");
    let (bytes, ios) = (number(&job, "/jobs/0/read/bytes"), number(&job, "/jobs/0/read/ios"));
    // With s the share of small blocks, bytes / ios = 4096 s + 65536 (1 - s).
    let small = (65536.0 - bytes / ios) / 61440.0;
    assert!((small - 0.6).abs() < 0.03, "{small} of the blocks are small");
}

#[test]
fn threads_use_their_areas() {
    let fixture = Fixture::in_memory();
    let before = fixture.noise("disk", 8 * MIB);
    let job = fixture.json(
        "job disk --rw write --bs 64k --size 1m --numjobs 3 --offset_increment 2m --destroy disk",
    );
    assert_eq!(number(&job, "/jobs/0/write/bytes"), (3 * MIB) as f64);
    let after = fixture.read("disk");
    assert_eq!(changed_blocks(&before, &after, MIB), [0, 2, 4]);
    assert_eq!(changed_blocks(&before, &after, 4096).len(), 3 * 256);

    let before = fixture.noise("disk", 8 * MIB);
    let job = fixture.json(
        "job disk --rw write --bs 64k --size 6m --offset 1m --numjobs 4 --split --destroy disk",
    );
    assert_eq!(number(&job, "/jobs/0/write/bytes"), (6 * MIB) as f64);
    let after = fixture.read("disk");
    assert_eq!(changed_blocks(&before, &after, 4096), (256..7 * 256).collect::<Vec<_>>());
}

#[test]
fn strided_zones_leave_the_gaps_alone() {
    let fixture = Fixture::in_memory();
    let before = fixture.noise("disk", 8 * MIB);
    fixture.ok(
        "job disk --rw write --bs 16k --zonesize 64k --zonerange 128k --zoneskip 128k --io_size \
         2m --destroy disk",
    );
    let changed = changed_blocks(&before, &fixture.read("disk"), 64 * KIB);
    // Zone i begins at i * 256 KiB, and its first 64 KiB are written.
    assert_eq!(changed, (0..32).map(|i| i * 4).collect::<Vec<_>>());
}

#[test]
fn random_distributions_have_their_shape() {
    let fixture = Fixture::in_memory();
    let touched = |law: &str| {
        let before = fixture.noise("disk", 8 * MIB);
        fixture.ok(&format!("job disk --rw randwrite --bs 4k {law} --io_size 8m --destroy disk"));
        changed_blocks(&before, &fixture.read("disk"), 4096)
    };
    // As many writes as blocks: each once; of equally likely ones all but a share of 1/e; of skewed
    // ones far fewer.
    assert_eq!(touched("--random_distribution cover").len(), 2048);
    let uniform = touched("--random_distribution random").len() as f64 / 2048.0;
    assert!((uniform - 0.632).abs() < 0.04, "{uniform}");
    let zipf = touched("--random_distribution zipf:1.2");
    assert!(zipf.len() < 900, "{} blocks touched", zipf.len());
    let low = zipf.iter().filter(|block| **block < 1024).count() as f64 / zipf.len() as f64;
    assert!((0.35..0.65).contains(&low), "the frequent blocks are in one half: {low}");
}

#[test]
fn block_alignment_is_kept() {
    let fixture = Fixture::in_memory();
    let before = fixture.noise("disk", 8 * MIB);
    fixture.ok("job disk --rw randwrite --bs 4k --blockalign 64k --io_size 4m --destroy disk");
    let changed = changed_blocks(&before, &fixture.read("disk"), 4096);
    assert!(!changed.is_empty() && changed.iter().all(|block| block % 16 == 0), "{changed:?}");
}

#[test]
fn a_percentage_is_a_share_of_the_drive() {
    let fixture = Fixture::in_memory();
    let before = fixture.noise("disk", 8 * MIB);
    fixture.ok("job disk --rw write --bs 64k --offset 25% --size 50% --destroy disk");
    let changed = changed_blocks(&before, &fixture.read("disk"), 64 * KIB);
    assert_eq!(changed, (32..96).collect::<Vec<_>>());
}

#[test]
fn both_spellings_of_an_option_are_equivalent() {
    let fixture = Fixture::on_disk();
    let ios =
        |words: &str| number(&fixture.json(&format!("job null: {words}")), "/jobs/0/read/ios");
    assert_eq!(ios("--io_size 4m --offset_increment 1m --numjobs 2 --size 4m"), 2048.0);
    assert_eq!(ios("--io-size 4m --offset-increment 1m --numjobs 2 --size 4m"), 2048.0);
    // The recorded command line is valid.
    let job = fixture.json(
        "job sim:samsung-951 --rw randread --io_size 1m --random_distribution cover --ramp_time \
         0s --seed 3",
    );
    let options = job["jobs"][0]["workload"]["options"].as_str().unwrap().to_owned();
    let again = fixture.json(&format!("job sim:samsung-951 {options}"));
    assert_eq!(again["jobs"], job["jobs"]);
}

/// Unlike jobs at once on one drive from the command line, each with its own result: a mix of
/// options of all and of each.
#[test]
fn named_jobs_run_at_once_on_one_drive() {
    let fixture = Fixture::in_memory();
    let line = "job sim:samsung-951 --runtime 500ms --bs 4k --name reads --rw randread --iodepth \
                4 --name writes --rw write --bs 128k --rate_iops 100";
    let run = fixture.json(line);
    let names: Vec<&str> =
        (run["jobs"].as_array().unwrap().iter()).map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["reads", "writes"]);
    assert!(number(&run, "/jobs/0/read/ios") > 100.0);
    assert_eq!(number(&run, "/jobs/0/write/ios"), 0.0);
    assert!((number(&run, "/jobs/1/write/ios") - 50.0).abs() <= 2.0);
    assert_eq!(run["jobs"][1]["workload"]["bs_bytes"], 128 * 1024);
    let text = fixture.ok(line).stdout;
    assert!(text.contains("reads") && text.contains("writes"), "{text}");
    let wrong = "job sim:samsung-951 --name a --rw read --name b --rw reed";
    fixture.run(wrong).refuses(2, &["job b"]);
}

/// A file system that keeps only what was forced to it: every byte of synchronous writes, nothing
/// of others (the job flushes nothing).
#[test]
fn synchronous_writes_are_durable_when_they_complete() {
    let fixture = Fixture::in_memory();
    for way in WAYS {
        for (sync, kept) in [("none", false), ("dsync", true), ("sync", true)] {
            let Some(files) = PowerFailFs::mount(&[("disk", vec![0; 256 * KIB])], u64::MAX) else {
                return;
            };
            let disk = files.path("disk");
            let job = fixture.json(&format!(
                "job {disk} {way} --rw write --bs 4k --number_ios 32 --sync {sync} --destroy disk"
            ));
            assert_eq!(number(&job, "/jobs/0/write/ios"), 32.0);
            let (bytes, durable) = files.contents("disk").unwrap();
            let written = |bytes: &[u8]| bytes.iter().any(|byte| *byte != 0);
            assert_eq!(written(&durable), kept, "{way}, {sync}");
            assert_eq!(bytes == durable, kept, "{way}, {sync}");
        }
    }
    fixture
        .run("job sim:samsung-951 --rw read --sync dsync")
        .refuses(2, &["--sync needs a job that writes"]);
    fixture
        .run("job sim:samsung-951 --rw write --sync dsnyc")
        .refuses(2, &["did you mean", "dsync"]);
}

/// Jobs at once on a file: both are real, and a job that writes needs permission.
#[test]
fn named_jobs_on_a_file_need_permission_to_write() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 16 * MIB);
    let line = "job disk --runtime 300ms --name reads --rw randread --size 8m --name writes --rw \
                randwrite --offset 8m --fsync 4";
    fixture.run(line).refuses(3, &["--destroy disk"]);
    let run = fixture.json(&format!("{line} --destroy disk"));
    assert!(number(&run, "/jobs/0/read/ios") > 0.0);
    let writes = number(&run, "/jobs/1/write/ios");
    assert!(writes > 0.0 && number(&run, "/jobs/1/flush/ios") >= (writes / 4.0).floor() - 1.0);
}

/// The depth that a latency allows, on a drive whose latency is the same in every run; at more it
/// is above the limit.
#[test]
fn a_latency_target_finds_its_depth() {
    let fixture = Fixture::in_memory();
    const READS: &str = "job sim:samsung-951 --rw randread --bs 4k --runtime 5s";
    for threads in [1.0, 3.0] {
        let limits = "--latency_target 250us --latency_percentile 99 --latency_window 20ms";
        let words = format!("{READS} --numjobs {threads} --iodepth 64 {limits}");
        let found = fixture.json(&words);
        let depth = number(&found, "/jobs/0/values/latency_target_depth");
        let p99_us = |job: &serde_json::Value| number(job, "/jobs/0/read/latency_ns/p99") / 1e3;
        let seconds = number(&found, "/jobs/0/elapsed_ns") / 1e9;
        assert!((0.019..0.05).contains(&seconds), "{seconds} s were measured");
        assert!(depth >= 2.0 * threads && depth < 64.0, "{depth} of {threads}");
        assert!(p99_us(&found) <= 260.0, "{}", p99_us(&found));
        let deeper = (depth / threads * 2.0).ceil();
        let words = format!("{READS} --numjobs {threads} --iodepth {deeper}");
        assert!(p99_us(&fixture.json(&words)) > 250.0, "{deeper} is too deep");
    }
    let too_slow = fixture.json(&format!("{READS} --iodepth 8 --latency_target 1us"));
    assert_eq!(number(&too_slow, "/jobs/0/values/latency_target_depth"), 0.0);
    assert!(number(&too_slow, "/jobs/0/read/ios") > 1000.0);
    let warnings = too_slow["warnings"].to_string();
    assert!(warnings.contains("latency-target-missed"), "{warnings}");
    let unknown = fixture.json(&format!("{READS} --latency_target 1ms --latency_window 9s"));
    let warnings = unknown["warnings"].to_string();
    assert!(warnings.contains("nothing-measured"), "{warnings}");
    let all = fixture.json(&format!("{READS} --latency_target 1ms --latency_run --iodepth 4"));
    assert!(number(&all, "/jobs/0/elapsed_ns") >= 5e9);
}
