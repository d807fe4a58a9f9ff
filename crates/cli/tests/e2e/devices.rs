//! Block devices: workloads on loop and zram devices, refusals for drives in use.

use std::fs;
use std::process::Command;

use rustix::process::Signal;

use crate::block_devices::{BlockDevices, name, run};
use crate::fixture::{
    ASSAY, Done, MIB, changed_blocks, noise, number, send, text_so_far, wait_until,
};

/// A container without the device: its node cannot be opened, or is missing. sysfs still has it.
#[test]
fn a_drive_that_a_container_lacks_is_shown_and_the_missing_option_named() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    devices.fixture.noise("image", MIB);
    let Some(device) = devices.attach("image", &[]) else {
        return;
    };
    fs::create_dir(devices.fixture.path("dev")).unwrap();
    let numbers = fs::read_to_string(format!("/sys/block/{}/dev", name(&device))).unwrap();
    let node = numbers.trim().replace(':', " ");
    let denied =
        format!("mount -t tmpfs -o nodev none dev && mknod dev/node b {node} && assay=dev/node");
    let absent = format!("mount -t tmpfs none /dev && assay={device}");
    for (prepare, why) in [(denied, "root may not open it here"), (absent, "no device node")] {
        let probe = format!("{prepare} && \"$0\" probe $assay \"$@\"");
        let run = |options: &[&str]| {
            let output = Command::new("unshare")
                .args(["-m", "sh", "-c", &probe, ASSAY])
                .args(options)
                .current_dir(devices.fixture.path("."))
                .output()
                .unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
            (text(&output.stdout), text(&output.stderr))
        };
        let (shown, error) = run(&[]);
        assert!(shown.contains("(1,048,576 bytes)"), "{shown}");
        assert!(error.contains(why) && error.contains("--device"), "{error}");
        assert!(!error.contains("run as root"), "{error}");
        let document: serde_json::Value = serde_json::from_str(&run(&["--json"]).0).unwrap();
        assert_eq!(number(&document, "/drive/capacity_bytes"), MIB as f64);
        assert!(document["open_error"].as_str().unwrap().contains(why));
    }
}

#[test]
fn workloads_on_a_loop_device_reach_the_file_under_it() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let before = devices.fixture.noise("image", 16 * MIB);
    let Some(device) = devices.attach("image", &["--direct-io=on"]) else {
        return;
    };
    let serial = name(&device).to_owned();
    for way in ["--engine sync", "--engine uring --iodepth 16"] {
        let job =
            devices.fixture.json(&format!("job {device} --rw randread --bs 4k --io_size 4m {way}"));
        assert_eq!(number(&job, "/jobs/0/read/ios"), 1024.0);
        assert_eq!(job["drive"]["kind"], "block");
    }
    assert!(fs::read(&device).unwrap() == before, "reading changed the device");
    let job = devices.fixture.json(&format!(
        "job {device} --rw randwrite --random_distribution cover --bs 4k --offset 4m --size 4m \
         --iodepth 16 --verify --destroy {serial}"
    ));
    assert_eq!(number(&job, "/jobs/0/write/bytes"), (4 * MIB) as f64);
    assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 1024.0);
    let after = fs::read(&device).unwrap();
    assert_eq!(changed_blocks(&before, &after, 4096), (1024..2048).collect::<Vec<_>>());
    devices.undo_last();
    assert!(devices.fixture.read("image") == after, "the file holds the bytes of the device");
}

/// The kernel's attributes of a device, put back on drop: the next user of a loop device finds them
/// as they were.
struct QueueAttributes {
    before: Vec<(String, String)>,
}

impl QueueAttributes {
    /// `None`, with the reason printed, where one cannot be set.
    fn set(device: &str, values: &[(&str, &str)]) -> Option<QueueAttributes> {
        let mut before = Vec::new();
        for (attribute, value) in values {
            let path = format!("/sys/block/{device}/queue/{attribute}");
            let text = fs::read_to_string(&path).unwrap_or_default();
            // Of a list, the one in brackets is active.
            let active = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let active = active.map_or(text.trim(), |(name, _)| name).to_owned();
            if let Err(error) = fs::write(&path, value) {
                println!("skipped: {path} cannot be set to {value}: {error}");
                return None;
            }
            before.push((path, active));
        }
        Some(QueueAttributes { before })
    }
}

impl Drop for QueueAttributes {
    fn drop(&mut self) {
        for (path, value) in &self.before {
            let _ = fs::write(path, value);
        }
    }
}

#[test]
fn an_io_scheduler_of_a_solid_state_drive_is_warned_of_everywhere() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    devices.fixture.noise("image", MIB);
    let Some(device) = devices.attach("image", &["--direct-io=on"]) else {
        return;
    };
    let values = [("scheduler", "mq-deadline"), ("rotational", "0")];
    let Some(attributes) = QueueAttributes::set(name(&device), &values) else {
        return;
    };
    let job = format!("job {device} --rw randread --bs 4k --io_size 1m --engine sync --out run");
    // Without the breaks of lines.
    let text = devices.fixture.ok(&job).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("I/O scheduler mq-deadline is active"), "{text}");
    assert!(text.contains("echo none > /sys/block/NAME/queue/scheduler"), "{text}");
    devices.fixture.ok("report run -o page.html");
    let page = fs::read_to_string(devices.fixture.path("page.html")).unwrap();
    assert!(page.contains("I/O scheduler mq-deadline is active"));
    let codes = |job: &serde_json::Value| -> Vec<String> {
        let warnings = job["warnings"].as_array().unwrap().iter();
        warnings.map(|w| w["code"].as_str().unwrap().to_owned()).collect()
    };
    let job = format!("job {device} --rw randread --bs 4k --io_size 1m --engine sync");
    assert!(codes(&devices.fixture.json(&job)).contains(&"io-scheduler".to_owned()));
    drop(attributes);
    let Some(_attributes) = QueueAttributes::set(name(&device), &[("scheduler", "none")]) else {
        return;
    };
    assert!(!codes(&devices.fixture.json(&job)).contains(&"io-scheduler".to_owned()));
}

#[test]
fn workloads_and_compressibility_on_zram() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let Some(device) = devices.zram(32) else {
        return;
    };
    let serial = name(&device).to_owned();
    let stored = || {
        let stat = fs::read_to_string(format!("/sys/block/{serial}/mm_stat")).unwrap();
        let mut fields = stat.split_whitespace().map(|field| field.parse::<f64>().unwrap());
        let (original, compressed) = (fields.next().unwrap(), fields.next().unwrap());
        (original, compressed)
    };
    devices.fixture.ok(&format!("job {device} --rw write --bs 128k --size 16m --destroy {serial}"));
    let (original, compressed) = stored();
    assert!(
        original >= (16 * MIB) as f64 && compressed > 0.97 * original,
        "{compressed} of {original}"
    );
    devices.fixture.ok(&format!(
        "job {device} --rw write --bs 128k --size 16m --data compress=3 --destroy {serial}"
    ));
    let (original, compressed) = stored();
    assert!((0.2..0.6).contains(&(compressed / original)), "{compressed} of {original}");
    let job = devices.fixture.json(&format!(
        "job {device} --rw randrw --bs 4k --size 16m --io_size 32m --iodepth 32 --verify \
         --destroy {serial}"
    ));
    assert_eq!(number(&job, "/jobs/0/read/ios") + number(&job, "/jobs/0/write/ios"), 8192.0);
    assert!(number(&job, "/jobs/0/verify/blocks_checked") > 3000.0);
    devices.fixture.ok(&format!(
        "job {device} --rw write --bs 128k --data zero --size 16m --destroy {serial}"
    ));
    assert!(fs::read(&device).unwrap()[..16 * MIB].iter().all(|byte| *byte == 0));
    // Smaller than the device's logical block of 4 KiB.
    devices.fixture.run(&format!("job {device} --bs 512")).refuses(2, &["--bs 512", "4096"]);
}

#[test]
fn a_drive_in_use_is_refused_and_unchanged() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    devices.fixture.noise("image", 32 * MIB);
    let Some(device) = devices.attach("image", &[]) else {
        return;
    };
    let serial = name(&device).to_owned();
    run(&["mkfs.ext4", "-q", &device]);
    let point = devices.mount(&device, &[]);
    fs::write(point.join("precious"), noise(7, MIB)).unwrap();
    run(&["sync"]);
    let words = format!("--rw write --size 1m --destroy {serial} --destroy ext4");
    let done = devices.fixture.run(&format!("job {device} {words}"));
    done.refuses(3, &["refused", "nothing was written", "mounted", point.to_str().unwrap()]);
    assert!(
        !done.stderr.contains("add: --destroy"),
        "a permanent refusal offers no option: {done}"
    );
    devices
        .fixture
        .run(&format!(
            "run bandwidth {device} --destroy {serial} --destroy ext4 --scale 0.001 --out r"
        ))
        .refuses(3, &["mounted"]);
    assert!(!devices.fixture.path("r").exists(), "a refused run leaves no folder behind");
    // The file under the device, too.
    devices
        .fixture
        .run("job image --rw write --size 1m --destroy image --destroy ext4")
        .refuses(3, &[&device]);
    assert!(fs::read(point.join("precious")).unwrap() == noise(7, MIB));
    // Reading a drive in use is allowed.
    devices.fixture.ok(&format!("job {device} --rw randread --io_size 1m"));
    devices.undo_last();

    // Unmounted, the file system must still be named; the refusal states the option.
    let before = fs::read(&device).unwrap();
    let done =
        devices.fixture.run(&format!("job {device} --rw write --size 1m --destroy {serial}"));
    done.refuses(3, &["ext4", "add:", "--destroy ext4"]);
    assert!(fs::read(&device).unwrap() == before);
    let probe = devices.fixture.ok(&format!("probe {device}"));
    assert!(probe.stdout.contains(&format!("--destroy {serial} --destroy ext4")), "{probe}");
    devices.fixture.ok(&format!("job {device} {words}"));
    assert!(fs::read(&device).unwrap()[MIB..] == before[MIB..]);
    assert!(fs::read(&device).unwrap()[..MIB] != before[..MIB]);
}

#[test]
fn a_drive_claimed_by_another_process_gives_status_75() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    devices.fixture.write("image", vec![0; 8 * MIB]);
    let Some(device) = devices.attach("image", &[]) else {
        return;
    };
    let serial = name(&device).to_owned();
    let holder = devices
        .fixture
        .command(&format!(
            "job {device} --rw write --size 1m --runtime 1h --destroy {serial} --out holder"
        ))
        .spawn()
        .unwrap();
    let journal = devices.fixture.path("holder/journal.log");
    wait_until("the claim is held", || text_so_far(&journal).contains("\"interval\""));
    let words = [
        format!("job {device} --rw write --offset 4m --size 1m --destroy {serial}"),
        format!("run bandwidth {device} --destroy {serial} --scale 0.001 --out r"),
        format!("record {device} --destroy {serial}"),
        format!("testbench {device} --destroy {serial}"),
        format!("purge {device} --how discard --destroy {serial}"),
    ];
    for words in &words {
        let done = devices.fixture.run(words);
        done.refuses(75, &["nothing was written", "claimed", "try again"]);
    }
    // Without the name an operator must act first.
    let unnamed = devices.fixture.run(&format!("job {device} --rw write"));
    unnamed.refuses(3, &["--destroy"]);
    send(&holder, Signal::INT);
    Done::new("holder", holder).expect(130);
    devices.fixture.ok(&words[0]);
}

#[test]
fn swap_and_partition_tables_are_refused() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    devices.fixture.write("image", vec![0; 32 * MIB]);
    // With -P the kernel drops the partitions on detach.
    let Some(device) = devices.attach("image", &["-P"]) else {
        return;
    };
    let serial = name(&device).to_owned();
    if devices.swapon(&device) {
        let done = devices
            .fixture
            .run(&format!("job {device} --rw write --destroy {serial} --destroy swap"));
        done.refuses(3, &["swap", "nothing was written"]);
        devices.undo_last();
    }
    run(&["wipefs", "-a", "-q", &device]);
    run(&["parted", "-s", &device, "mklabel", "gpt", "mkpart", "data", "1MiB", "20MiB"]);
    let before = fs::read(&device).unwrap();
    devices
        .fixture
        .run(&format!("job {device} --rw write --destroy {serial}"))
        .refuses(3, &["gpt", "--destroy gpt"]);
    assert!(fs::read(&device).unwrap() == before);
    // The suite `quick` is read-only and allowed.
    devices.fixture.ok(&format!("run quick {device} --scale 0.005 --out look"));
    assert!(fs::read(&device).unwrap() == before);
}
