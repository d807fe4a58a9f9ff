//! A guest with a simulated NVMe drive, served over vfio-user.

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::number;
use crate::guest::{Guest, Setup};
use crate::serving::ServeProcess;

#[test]
fn a_guest_uses_a_simulated_nvme_drive() {
    let Some(setup) = Setup::new() else { return };
    // Socket paths are limited to 107 bytes.
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let words = format!("sim:samsung-951 --vfio-user {} --pace free", socket.display());
    let serving = ServeProcess::start(&setup.fixture, &words);
    let reported = &serving.document;
    let serial = reported["serial"].as_str().unwrap();
    let mut guest = setup.tools(&["nvme", "fio", "mkfs.ext4", "fsck.ext4"]).plugged(&socket).boot();
    let device = guest.device(serial);
    let controller = format!("/dev/{}", guest.controller(serial));
    let json = |text: String| -> Value { serde_json::from_str(&text).unwrap() };

    // nvme-cli and assay report the same properties as the server.
    let identify = json(guest.ok(&format!("nvme id-ctrl {controller} -o json")));
    assert_eq!(identify["mn"].as_str().unwrap().trim_end(), reported["model"]);
    let probe = guest.json(&format!("probe {device}"));
    assert_eq!(probe["nvme"]["model"], reported["model"]);
    assert_eq!(number(&probe, "/drive/capacity_bytes"), number(reported, "/capacity_bytes"));
    assert_eq!(
        probe["nvme"]["power_states"].as_array().unwrap().len() as f64,
        number(&identify, "/npss") + 1.0
    );

    // Power states work, and a run restores the initial one.
    guest.ok(&format!("nvme set-feature {controller} -f 2 -V 2"));
    let states = "--set power_states=0,1 --set area=64MiB --set threads=1 --set readers=1 --set \
                  mixes=70 --scale 0.001";
    let run = guest.json(&format!("run enterprise {device} {states}"));
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    let of_state = |state: u64| {
        let done = cells.iter().filter(|c| c["state"] == "finished");
        done.filter(|c| c["power_state"] == state).count()
    };
    assert!(of_state(0) > 0 && of_state(1) > 0, "{run:#}");
    let after = guest.ok(&format!("nvme get-feature {controller} -f 2"));
    assert!(after.trim_end().ends_with('2'), "{after}");

    // A file system, and programs that verify their writes.
    let made = guest.ok(&format!(
        "mkfs.ext4 -q -F {device} 1g && mount {device} /mnt && dd if=/dev/urandom of=/mnt/f bs=1M \
         count=8 2>/dev/null && md5sum </mnt/f"
    ));
    guest.assay(&format!("purge {device} --destroy {serial}")).expect(3);
    guest.ok(&format!("umount /mnt && fsck.ext4 -fn {device}"));
    let again = guest.ok(&format!("mount {device} /mnt && md5sum </mnt/f && umount /mnt"));
    assert_eq!(made, again);
    guest.ok(&format!(
        "fio --name=v --filename={device} --rw=randwrite --bs=4k --size=8m --iodepth=8 \
         --ioengine=io_uring --direct=1 --verify=crc32c --minimal"
    ));
    let before = json(guest.ok(&format!("nvme smart-log {controller} -o json")));
    for engine in ["uring", "passthru"] {
        let job = guest.json(&format!(
            "job {device} --engine {engine} --rw write --bs 64k --iodepth 8 --size 8m --verify \
             --destroy {serial} --destroy ext4"
        ));
        assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 2048.0);
        assert_eq!(number(&job, "/jobs/0/write/errors"), 0.0);
    }
    // The counters advance by the writes: 16 MiB in units of 512,000 bytes.
    let after = json(guest.ok(&format!("nvme smart-log {controller} -o json")));
    let written = number(&after, "/data_units_written") - number(&before, "/data_units_written");
    assert!((32.0..=34.0).contains(&written), "{written}");

    guest.has_events(&controller);
    other_formats(&mut guest, &device, serial);

    // No data is left after the erase.
    let purged = guest.json(&format!("purge {device} --destroy {serial}"));
    assert_eq!(purged["complete"], Value::Bool(true), "{purged:#}");
    let left = guest.ok(&format!(
        "dd if={device} bs=1M count=8 iflag=direct 2>/dev/null | tr -d '\\000' | wc -c"
    ));
    assert_eq!(left.trim(), "0");
    guest.end();
}

/// Completions are paced by the wall clock: a command of 400 ms takes no less in the guest. The
/// server reports its lateness.
#[test]
fn guest_latencies_follow_the_model() {
    let Some(setup) = Setup::new() else { return };
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let spike_ms = 400.0;
    let words = format!(
        "sim:samsung-951 --vfio-user {} --fault latency-spike@3000={spike_ms}ms",
        socket.display()
    );
    let serving = ServeProcess::start(&setup.fixture, &words);
    let serial = serving.document["serial"].as_str().unwrap();
    let mut guest = setup.plugged(&socket).boot();
    let device = guest.device(serial);
    // The kernel's partition scan and udev take some dozens of reads before: the 3000th is one of
    // these.
    let job = guest
        .json(&format!("job {device} --rw randread --bs 4k --iodepth 1 --size 64m --io_size 16m"));
    let latency = |figure: &str| number(&job, &format!("/jobs/0/read/latency_ns/{figure}")) / 1e6;
    assert_eq!(number(&job, "/jobs/0/read/ios"), 4096.0);
    assert!(latency("max") >= spike_ms, "{job:#}");
    // One command of 4096 was slow, whatever the cost of emulation.
    assert!(latency("p50") < spike_ms / 4.0, "{job:#}");
    guest.end();
    let reported = serving.end(Signal::INT);
    let (mean, max) =
        (number(&reported, "/lateness_ns/mean"), number(&reported, "/lateness_ns/max"));
    assert!(mean > 0.0 && max >= mean, "{reported:#}");
}

/// An aborted run restores the initial power state.
#[test]
fn an_aborted_run_restores_the_power_state() {
    let Some(setup) = Setup::new() else { return };
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let words = format!("sim:samsung-951 --vfio-user {} --pace free", socket.display());
    let serving = ServeProcess::start(&setup.fixture, &words);
    let serial = serving.document["serial"].as_str().unwrap();
    let mut guest = setup.tools(&["nvme"]).plugged(&socket).boot();
    let device = guest.device(serial);
    let controller = format!("/dev/{}", guest.controller(serial));
    guest.ok(&format!("nvme set-feature {controller} -f 2 -V 2"));
    let run = format!(
        "assay run enterprise {device} --set power_states=1 --set area=64MiB --set threads=1 \
         --set readers=1 --set mixes=70"
    );
    // Aborts the run once the drive is in the run's power state.
    let mut cut_off = |folder: &str, then: &str| {
        let done = guest.sh(&format!(
            "rm -rf {folder}/r; {run} --out {folder}/r >/tmp/out 2>&1 & pid=$!; n=0; until nvme \
             get-feature {controller} -f 2 | grep -q 1$; do n=$((n + 1)); [ $n -gt 300 ] && \
             break; sleep 0.1; done; sleep 2; {then}; wait $pid; echo $? $n; nvme get-feature \
             {controller} -f 2; cat /tmp/out"
        ));
        let mut lines = done.stdout.lines();
        let mut numbers = lines.next().unwrap().split(' ').map(str::to_owned);
        let status = numbers.next().unwrap();
        let tries: u32 = numbers.next().unwrap().parse().unwrap();
        assert!(tries <= 300, "it never chose the state: {done}");
        let after = lines.next().unwrap().trim_end();
        assert!(after.ends_with('2'), "{then}: {done}");
        (status, done)
    };
    for signal in ["INT", "TERM", "HUP"] {
        let (status, done) = cut_off("/tmp", &format!("kill -{signal} $pid"));
        assert_eq!(status, "130", "{signal}: {done}");
    }
    // It fails: no space is left for its results.
    let full = "mkdir -p /tmp/small && mount -t tmpfs -o size=1m small /tmp/small && true";
    cut_off("/tmp", &format!("kill -INT $pid; {full}"));
    let (status, done) =
        cut_off("/tmp/small", "dd if=/dev/zero of=/tmp/small/fill bs=4k 2>/dev/null");
    assert_eq!(status, "4", "{done}");
    assert!(done.stdout.contains("No space left"), "{done}");
    guest.end();
}

/// nvme-cli formats the drive to 4 KiB blocks and back; the guest's kernel and assay use the new
/// block size.
fn other_formats(guest: &mut Guest, device: &str, serial: &str) {
    let identify = guest.ok(&format!("nvme id-ns {device} -o json"));
    let identify: Value = serde_json::from_str(&identify).unwrap();
    let formats = identify["lbafs"].as_array().unwrap();
    let index_of = |block: u32| {
        let shift = f64::from(block.ilog2());
        let found = formats.iter().position(|f| number(f, "/ds") == shift);
        found.unwrap_or_else(|| panic!("no format of {block} bytes: {identify:#}"))
    };
    let queue = format!("/sys/block/{}/queue", device.replace("/dev/", ""));
    for block in [4096_u32, 512] {
        let index = index_of(block);
        guest.ok(&format!("nvme format {device} -l {index} --force"));
        let now = guest.ok(&format!("cat {queue}/logical_block_size"));
        assert_eq!(now.trim(), block.to_string());
        let probe = guest.json(&format!("probe {device}"));
        assert_eq!(number(&probe, "/drive/logical_block_bytes"), f64::from(block));
        // No data is left after a format.
        let left = format!(
            "dd if={device} bs=1M count=8 iflag=direct 2>/dev/null | tr -d '\\000' | wc -c"
        );
        assert_eq!(guest.ok(&left).trim(), "0");
        for engine in ["uring", "passthru"] {
            let job = guest.json(&format!(
                "job {device} --engine {engine} --rw write --bs 4k --iodepth 8 --size 8m --verify \
                 --destroy {serial}"
            ));
            assert_eq!(number(&job, "/jobs/0/write/errors"), 0.0, "{job:#}");
            assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 2048.0);
            assert_eq!(job["jobs"][0]["verify"]["found"], serde_json::json!({}), "{job:#}");
        }
        // I/O smaller than a block is rejected, not submitted.
        if block == 4096 {
            guest
                .assay(&format!("job {device} --rw randread --bs 512 --runtime 1s"))
                .refuses(2, &["4096 bytes"]);
        }
        // Erased by a format with the same LBA format.
        let purged = guest.json(&format!("purge {device} --how format --destroy {serial}"));
        assert!(purged["how"].as_str().unwrap().contains("format"));
        assert_eq!(purged["scope"], "this namespace", "{purged:#}");
        assert_eq!(guest.ok(&left).trim(), "0");
        let kept = guest.ok(&format!("cat {queue}/logical_block_size"));
        assert_eq!(kept.trim(), block.to_string());
    }
}
