//! Jobs and suites on an NVMe drive, checked against its image.

use serde_json::json;

use crate::fixture::{MIB, changed_blocks, number};
use crate::guest::Setup;

/// The NVMe driver's own trace: the control field of each write that reaches the controller has FUA
/// (NVM Command Set Specification, Write, dword 12).
#[test]
fn synchronous_writes_reach_the_controller_with_fua() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup.drive("first", "GUEST-0001", "one", 16 * MIB).boot();
    let device = &guest.device("GUEST-0001");
    let trace = "/sys/kernel/tracing";
    guest.ok(&format!(
        "mount -t tracefs trace {trace} && echo 1 > {trace}/events/nvme/nvme_setup_cmd/enable"
    ));
    for engine in ["sync", "uring", "passthru"] {
        for (sync, fua) in [("none", 0), ("dsync", 8), ("sync", 8)] {
            guest.ok(&format!("echo > {trace}/trace"));
            guest.json(&format!(
                "job {device} --engine {engine} --rw randwrite --bs 4k --number_ios 8 --sync \
                 {sync} --destroy GUEST-0001"
            ));
            let commands = guest.ok(&format!("grep nvme_cmd_ {trace}/trace"));
            let count = |text: &str| commands.lines().filter(|line| line.contains(text)).count();
            assert_eq!(count("nvme_cmd_write"), 8, "{engine}, {sync}: {commands}");
            assert_eq!(count("ctrl=0x4000"), fua, "{engine}, {sync}: {commands}");
            // After a blocking call Linux flushes as well (block/fops.c, generic_write_sync).
            let flushes = if engine == "sync" { fua } else { 0 };
            assert_eq!(count("nvme_cmd_flush"), flushes, "{engine}, {sync}: {commands}");
        }
    }
    guest.end();
}

#[test]
fn jobs_and_suites_on_a_namespace() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup.drive("first", "GUEST-0001", "one", 64 * MIB).boot();
    let device = &guest.device("GUEST-0001");
    let zeroes = vec![0; 64 * MIB];

    // Reads by every engine: exact I/O counts, no change of the image.
    for way in [
        "--engine sync",
        "--engine uring --iodepth 32",
        "--engine uring --iodepth 4 --numjobs 2",
        "--engine uring --iodepth 8 --sqpoll",
        "--engine uring --iodepth 8 --hipri",
        "--engine passthru --iodepth 8",
        "--engine passthru --iodepth 8 --hipri",
        "--engine io_uring_cmd --numjobs 2",
    ] {
        let job = guest.json(&format!("job {device} --rw randread --bs 4k --io_size 4m {way}"));
        let threads = if way.contains("numjobs") { 2.0 } else { 1.0 };
        assert_eq!(number(&job, "/jobs/0/read/ios"), threads * 1024.0, "{way}");
        assert_eq!(number(&job, "/jobs/0/read/errors"), 0.0, "{way}");
    }
    let quick = guest.json(&format!("run quick {device} --scale 0.02"));
    let cells = quick["runs"][0]["cells"].as_array().unwrap();
    assert!(cells.len() >= 10, "{quick:#}");
    for cell in cells {
        assert_eq!(cell["state"], "finished", "{cell:#}");
    }
    assert!(guest.content("one") == zeroes, "reading changed the drive");

    // Writes change exactly the area, with verification.
    let write = format!(
        "job {device} --rw randwrite --random_distribution cover --bs 4k --offset 8m --size 8m"
    );
    guest.assay(&write).refuses(3, &["nothing was written", "--destroy GUEST-0001"]);
    guest
        .assay(&format!("{write} --destroy GUEST-0002"))
        .refuses(3, &["nothing was written", "GUEST-0001"]);
    assert!(guest.content("one") == zeroes, "a refused job wrote");
    let generic = &device.replace("nvme", "ng");
    let area = "--offset 8m --size 8m";
    for (target, way) in [
        (device, "--engine uring --iodepth 16"),
        (device, "--engine uring --iodepth 16 --hipri"),
        (device, "--engine sync"),
        (device, "--engine passthru --iodepth 16 --hipri"),
        (generic, "--iodepth 16"),
    ] {
        let write = write.replace(device.as_str(), target);
        let job = guest.json(&format!("{write} {way} --verify --destroy GUEST-0001"));
        assert_eq!(number(&job, "/jobs/0/write/bytes"), (8 * MIB) as f64);
        assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 2048.0);
        let seed = number(&job, "/jobs/0/verify/seed");
        assert_eq!(
            changed_blocks(&zeroes, &guest.content("one"), 4096),
            (2048..4096).collect::<Vec<_>>(),
            "{way}"
        );
        // By another process, through the block layer and by passthrough.
        for reader in [device, generic] {
            let check = guest.json(&format!("job {reader} --rw read --bs 64k {area} --verify"));
            assert_eq!(number(&check, "/jobs/0/verify/blocks_checked"), 2048.0);
            assert_eq!(number(&check, "/jobs/0/verify/seed"), seed);
            assert_eq!(check["jobs"][0]["verify"]["found"], json!({}), "{check:#}");
        }
    }
    // Passthrough commands are not split: larger I/Os are refused, and a generic device accepts
    // only passthrough.
    let done = guest.assay(&format!("job {device} --engine passthru --bs 1m"));
    assert!(done.clone().expect(1).stdout.contains("524288"), "{done}");
    guest.assay(&format!("job {generic} --engine sync")).refuses(2, &["--engine sync", device]);
    guest
        .assay(&write.replace(device.as_str(), generic))
        .refuses(3, &["nothing was written", "--destroy GUEST-0001"]);

    // One changed byte of the image is detected and located.
    let mut content = guest.content("one");
    content[9 * MIB + 100] ^= 1;
    guest.fixture.write("one", &content);
    let check = guest.json_status(&format!("job {device} --rw read --bs 64k {area} --verify"), 1);
    assert_eq!(number(&check, "/jobs/0/verify/found/corrupt"), 1.0);

    let capacity =
        guest.json(&format!("run capacity {device} --set area=16m --destroy GUEST-0001"));
    assert_eq!(capacity["runs"][0]["verdict"]["result"], "recommended");
    guest.end();
}

/// The pass writes each block of the namespace, and a second preparation finds its state, if it was
/// reached.
#[test]
fn a_namespace_is_prepared_to_steady_state() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup.drive("first", "GUEST-0001", "one", 32 * MIB).boot();
    let device = &guest.device("GUEST-0001");
    let prepare = format!("prepare {device} --to steady");
    guest.assay(&prepare).refuses(3, &["nothing was written", "--destroy GUEST-0001"]);
    let before = guest.content("one");
    let first = guest.assay(&format!("{prepare} --destroy GUEST-0001")).expect(0);
    let prepared = guest.content("one");
    let changed = changed_blocks(&before, &prepared, 4096);
    assert_eq!(changed, (0..8192).collect::<Vec<_>>(), "{first}");
    let second = guest.assay(&format!("{prepare} --destroy GUEST-0001")).expect(0);
    // The rate of an emulated drive may not be steady; what the probe did not find is done again.
    let is_steady = !first.stdout.contains("random writes were not steady");
    let said = "steady for 4 KiB random writes";
    assert_eq!(second.stdout.contains(said), is_steady, "{second}");
    assert_eq!(guest.content("one") == prepared, is_steady, "{second}");
    guest.end();
}

/// The six coefficients of the suite `iocost` beside those of the command lines that the kernel's
/// script gives to fio, with its settings of the queue, on a drive that limits both.
#[test]
fn iocost_agrees_with_the_commands_of_the_kernels_script() {
    const WITHIN: f64 = 0.05;
    // In 5 s there are 12 writes of 4 MiB, the first of which the limiter lets through.
    const RUNTIME: &str = "10s";
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup
        .tools(&["fio"])
        .image("one", 32 * MIB)
        .option(
            "-object throttle-group,id=limits,x-iops-read=1200,x-iops-write=800,\
             x-bps-read=20000000,x-bps-write=10000000",
        )
        .option("-blockdev driver=throttle,node-name=limited,throttle-group=limits,file=one")
        .controller("first", "GUEST-0001", "drive=limited")
        .boot();
    let device = guest.device("GUEST-0001");
    guest.ok(&format!(
        "assay run iocost {device} --destroy GUEST-0001 --set area=100% --set \
         runtime={RUNTIME} --set block=256KiB --set blocks_in_flight=16 --out costs"
    ));
    let costs = guest.json("rank costs");
    let model = costs["drives"][0]["io_cost_model"].as_str().unwrap();
    let ours = model.split(' ').filter_map(|word| word.split_once('='));
    let ours: Vec<(&str, f64)> = ours.map(|(key, n)| (key, n.parse().unwrap())).collect();

    let queue = format!("/sys/block/{}/queue", device.trim_start_matches("/dev/"));
    guest.ok(&format!("echo none >{queue}/scheduler && echo 1 >{queue}/nomerges"));
    let tests = [
        ("rbps", "read", 1, 4 << 20),
        ("rseqiops", "read", 64, 4096),
        ("rrandiops", "randread", 64, 4096),
        ("wbps", "write", 1, 4 << 20),
        ("wseqiops", "write", 64, 4096),
        ("wrandiops", "randwrite", 64, 4096),
    ];
    for ((key, rw, depth, bytes), ours) in tests.into_iter().zip(ours) {
        let result = guest.ok(&format!(
            "fio --direct=1 --ioengine=libaio --name=coef --filename={device} \
             --runtime={RUNTIME} --readwrite={rw} --iodepth={depth} --blocksize={bytes} \
             --eta=never --output-format json --time_based --numjobs=1"
        ));
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        let rate = |direction: &str| number(&result, &format!("/jobs/0/{direction}/bw_bytes"));
        let unit = if key.ends_with("iops") { 4096.0 } else { 1.0 };
        let theirs = (rate("read") + rate("write")) / unit;
        assert_eq!(ours.0, key);
        let ratio = ours.1 / theirs;
        println!("{key}: {} {theirs:.0} {ratio:.3}", ours.1);
        assert!((ratio - 1.0).abs() <= WITHIN, "{key}: {} {theirs}", ours.1);
    }
    guest.end();
}
