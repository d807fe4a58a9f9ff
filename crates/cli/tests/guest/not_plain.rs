//! Namespaces that are not plain: blocks with metadata or protection information,
//! zones, atomic writes, data placement.

use serde_json::{Value, json};

use crate::fixture::{MIB, number};
use crate::guest::{Guest, Setup};

const SERIAL: &str = "GUEST-ODD";
const PLACED: &str = "GUEST-FDP";

/// A controller with these namespaces.
pub fn add(setup: Setup) -> Setup {
    setup
        .image("separate", 16 * MIB)
        .image("extended", 16 * MIB)
        .image("metadata", 16 * MIB)
        .image("zoned", 32 * MIB)
        // Atomic writes of 4 KiB, also when power fails.
        .controller("odd", SERIAL, "atomic.dn=off,atomic.awun=15,atomic.awupf=7")
        .option("-device nvme-ns,drive=separate,bus=odd,nsid=1,ms=8,mset=0,pi=1")
        .option("-device nvme-ns,drive=extended,bus=odd,nsid=2,ms=8,mset=1,pi=1")
        .option("-device nvme-ns,drive=metadata,bus=odd,nsid=3,ms=8,mset=1")
        .option(
            "-device nvme-ns,drive=zoned,bus=odd,nsid=4,zoned=true,zoned.zone_size=2M,\
             zoned.zone_capacity=1M,zoned.max_open=3,zoned.max_active=4",
        )
        .image("placed", 32 * MIB)
        .option("-device nvme-subsys,id=placing,nqn=placing,fdp=on,fdp.nruh=4,fdp.runs=1M")
        .controller("placing-controller", PLACED, "subsys=placing")
        .option("-device nvme-ns,drive=placed,bus=placing-controller,nsid=1,fdp.ruhs=0-3")
}

#[track_caller]
pub fn check(guest: &mut Guest) {
    for nsid in [1, 2] {
        protection_information(guest, nsid);
    }
    atomic_writes(guest);
    metadata(guest);
    zones(guest);
    zones_of_fio(guest);
    placement(guest);
    separated_streams(guest);
}

#[track_caller]
fn atomic_writes(guest: &mut Guest) {
    let drive = guest.namespace(SERIAL, 1);
    let probe = guest.json(&format!("probe {drive}"));
    let limits = json!({ "min_bytes": 512, "max_bytes": 4096 });
    assert_eq!(probe["drive"]["atomic_writes"], limits, "{probe:#}");
    let own = &probe["nvme"]["namespaces"][0];
    assert_eq!(number(own, "/atomic_bytes"), 8192.0, "{own:#}");
    assert_eq!(number(own, "/atomic_power_fail_bytes"), 4096.0, "{own:#}");
    let job = format!("job {drive} --rw randwrite --size 1m --atomic --destroy {SERIAL}");
    for engine in ["sync", "uring --iodepth 4"] {
        let done = guest.json(&format!("{job} --bs 4k --engine {engine}"));
        assert_eq!(number(&done, "/jobs/0/write/bytes"), MIB as f64, "{done:#}");
        assert_eq!(number(&done, "/jobs/0/write/errors"), 0.0, "{done:#}");
    }
    let refused = guest.assay(&format!("{job} --bs 8k"));
    refused.refuses(2, &["--atomic", "512 to 4096 bytes"]);
}

/// What the statistics log says, against nvme-cli.
#[track_caller]
fn placement(guest: &mut Guest) {
    let drive = guest.device(PLACED);
    let write = format!("job {drive} --rw write --bs 64k --size 1m --destroy {PLACED}");
    guest.json(&write);
    let probe = guest.json(&format!("probe {drive}"));
    let placement = &probe["nvme"]["placement"];
    assert_eq!(placement["enabled"], 0, "{placement:#}");
    let configurations = json!([{
        "groups": 1, "handles": 4, "unit_bytes": MIB, "mixes_when_moving": true,
    }]);
    assert_eq!(placement["configurations"], configurations);
    let controller = probe["drive"]["nvme"]["controller"].as_str().unwrap();
    let theirs = guest.ok(&format!("nvme fdp stats {controller} -e 1"));
    for (ours, named) in [("host_bytes", "(HBMW): "), ("media_bytes", "(MBMW): ")] {
        let bytes = number(placement, &format!("/statistics/{ours}"));
        assert!(bytes >= MIB as f64, "{placement:#}");
        assert!(theirs.contains(&format!("{named}{bytes}")), "{theirs}");
    }
    let text = guest.assay(&format!("probe {drive}")).expect(0).stdout;
    assert!(text.contains("4 reclaim unit handles, initially isolated"), "{text}");
}

#[track_caller]
fn clean(job: &Value, blocks: usize) {
    assert_eq!(job["jobs"][0]["verify"]["found"], json!({}), "{job:#}");
    let checked = number(job, "/jobs/0/verify/blocks_checked");
    assert_eq!(checked, blocks as f64, "{job:#}");
}

/// Passthrough and the block device read what the other has written, and blocks that another
/// program has written without protection information do not keep the drive from being purged.
#[track_caller]
fn protection_information(guest: &mut Guest, nsid: u32) {
    let drive = &guest.namespace(SERIAL, nsid);
    let generic = &drive.replace("nvme", "ng");
    let probe = guest.json(&format!("probe {drive}"));
    let own = &probe["nvme"]["namespaces"][nsid as usize - 1];
    assert_eq!((&own["nsid"], &own["protection_type"]), (&json!(nsid), &json!(1)));
    assert_eq!(own["extended_blocks"], json!(nsid == 2));

    let area = "--bs 64k --size 4m --verify";
    for (writes, reads) in [(generic, drive), (drive, generic)] {
        let write = format!("job {writes} --rw write {area} --destroy {SERIAL}");
        clean(&guest.json(&write), 1024);
        clean(&guest.json(&format!("job {reads} --rw read {area}")), 1024);
    }

    // Without PRACT the protection information, or all of the block, is not what it should be.
    let blocks = "-s 0 -c 7 -z 4096 -d /bin/busybox";
    guest.ok(&format!("nvme write {drive} {blocks} >/dev/null 2>&1"));
    let unreadable = guest.sh(&format!("dd if={drive} of=/dev/null bs=4k count=1"));
    assert_ne!(unreadable.status, 0, "{unreadable}");
    let purged = guest.json(&format!("purge {drive} --destroy {SERIAL}"));
    assert_eq!(purged["how"], "formatted with user data erase", "{purged:#}");
    guest.ok(&format!("dd if={drive} of=/dev/null bs=4k count=1"));
    let write = format!("job {drive} --rw randwrite --size 1m --verify --destroy {SERIAL}");
    assert_eq!(guest.json(&write)["jobs"][0]["verify"]["found"], json!({}));
}

/// The kernel gives such a namespace no size: it is named, with the reason, and left alone.
#[track_caller]
fn metadata(guest: &mut Guest) {
    let drive = guest.namespace(SERIAL, 3);
    let list = guest.json("list");
    let drives = list["drives"].as_array().unwrap();
    let listed = drives.iter().find(|d| d["spec"] == json!(drive)).unwrap();
    let why = listed["unusable"].as_str().unwrap();
    assert!(why.contains("8 bytes of metadata"), "{why}");
    let text = guest.assay("list").expect(0).stdout;
    assert!(text.contains(&format!("{drive} cannot be measured")), "{text}");
    let probe = guest.assay(&format!("probe {drive}")).expect(2);
    assert!(probe.stderr.contains("does not support its format"), "{probe}");
    for words in ["purge", "job --rw write"] {
        let done = guest.assay(&format!("{words} {drive} --destroy {SERIAL}"));
        done.refuses(2, &["does not support its format", "nvme format"]);
    }
    assert!(guest.content("metadata").iter().all(|&byte| byte == 0));
}

#[track_caller]
fn zones(guest: &mut Guest) {
    let drive = &guest.namespace(SERIAL, 4);
    let conditions = |guest: &mut Guest| {
        let probe = guest.json(&format!("probe {drive}"));
        assert_eq!(
            probe["drive"]["zones"],
            json!({
                "host_managed": true, "count": 16, "zone_bytes": 2 * MIB, "capacity_bytes": MIB,
                "conventional": 0, "max_open": 3, "max_active": 4,
            })
        );
        probe["zone_conditions"].clone()
    };
    assert_eq!(conditions(guest), json!({ "empty": 16 }));
    let text = guest.assay(&format!("probe {drive}")).expect(0).stdout;
    let line = "16 of 2 MiB, 1 MiB of each can be written, at most 3 open, at most 4 active";
    assert!(text.contains(line), "{text}");

    // Three threads, two zones each, twice: the second pass finds full zones.
    let write = format!("job {drive} --bs 64k --size 12m --destroy {SERIAL}");
    for _ in 0..2 {
        let job = guest.json(&format!("{write} --rw write --numjobs 3 --split --verify"));
        assert_eq!(number(&job, "/jobs/0/write/bytes"), (6 * MIB) as f64, "{job:#}");
        clean(&job, 6 * MIB / 4096);
        assert_eq!(conditions(guest), json!({ "empty": 10, "full": 6 }));
    }
    let read = guest.json(&format!("job {drive} --rw randread --size 12m --io_size 1m"));
    assert_eq!(number(&read, "/jobs/0/read/errors"), 0.0, "{read:#}");

    // Appends in flight together, over full zones, and one write at a time by every engine.
    for (way, zones) in [
        ("--engine passthru --zone_append --iodepth 4", 2.0),
        ("--engine passthru", 1.0),
        ("--engine uring", 1.0),
    ] {
        let size = 2.0 * zones;
        let words = format!("{write} --rw write {way}").replace("12m", &format!("{size}m"));
        let job = guest.json(&words);
        let written = number(&job, "/jobs/0/write/bytes");
        assert_eq!(written, zones * MIB as f64, "{job:#}");
        assert_eq!(number(&job, "/jobs/0/write/errors"), 0.0, "{job:#}");
        assert_eq!(conditions(guest), json!({ "empty": 10, "full": 6 }));
    }

    let before = guest.content("zoned");
    for (words, named) in [
        ("randwrite --size 4m", "--rw randwrite"),
        ("rw --size 4m", "--rw rw"),
        ("randtrim --size 4m", "assay purge"),
        ("write --size 4m --iodepth 4", "--iodepth 1"),
        ("write --size 4m --numjobs 2", "--split"),
        ("write --size 8m --numjobs 4 --split", "3 at once"),
        ("write --size 3m", "multiples of a zone"),
        ("write --size 4m --bs 96k", "--bs"),
        ("write --size 4m --verify --runtime 1s", "second pass"),
    ] {
        let done = guest.assay(&format!("job {drive} --destroy {SERIAL} --rw {words}"));
        done.refuses(2, &["host-managed", named]);
    }
    let done = guest.sh(&format!("head -c 1m /dev/zero | assay record {drive} --destroy {SERIAL}"));
    done.refuses(2, &["host-managed"]);
    assert!(guest.content("zoned") == before, "a refused command wrote");

    let purged = guest.json(&format!("purge {drive} --destroy {SERIAL}"));
    assert_eq!(purged["how"], "all zones reset", "{purged:#}");
    assert_eq!(conditions(guest), json!({ "empty": 16 }));
}

/// Job files of `zonemode=zbd` by fio and by assay, each on empty zones: as many I/Os, in the same
/// order where they are sequential, and none fails. The guest's fio is 3.39, which begins with other
/// random numbers than 3.33.
#[track_caller]
fn zones_of_fio(guest: &mut Guest) {
    let drive = &guest.namespace(SERIAL, 4);
    for options in [
        "rw=write bs=64k size=6m",
        "rw=write bs=64k size=24m io_size=4m zoneskip=2m zonesize=2m",
        "rw=randwrite bs=64k max_open_zones=3 io_size=8m norandommap",
        "rw=randwrite bs=16k max_open_zones=2 io_size=4m",
        "rw=randwrite bs=32k io_size=4m norandommap",
        "rw=randwrite bs=32k io_size=8m zone_reset_frequency=0.1 zone_reset_threshold=0.2",
    ] {
        let job = format!(
            "[zoned] filename={drive} ioengine=psync direct=1 zonemode=zbd {options} \
             write_iolog=log"
        );
        let lines = job.replace(' ', "\\n");
        let mut logs = Vec::new();
        for program in ["fio", &format!("assay fio --destroy {SERIAL}")] {
            guest.json(&format!("purge {drive} --destroy {SERIAL}"));
            guest.ok("rm -f log");
            guest.ok(&format!("printf '{lines}\\n' > job.fio && {program} job.fio"));
            let log = guest.ok("grep -E ' (read|write) ' log | sed 's/^[0-9]* *//'");
            logs.push(log.lines().map(str::to_owned).collect::<Vec<_>>());
        }
        assert!(logs[0].len() > 40, "{options}: {logs:?}");
        match options.starts_with("rw=write") {
            true => assert_eq!(logs[0], logs[1], "{options}"),
            false => assert_eq!(logs[0].len(), logs[1].len(), "{options}"),
        }
    }
    // Several threads, several writes in flight: one at a time in each zone.
    let job = format!(
        "[zoned]\\nfilename={drive}\\nioengine=libaio\\niodepth=8\\nnumjobs=2\\ndirect=1\\n\
         zonemode=zbd\\nmax_open_zones=3\\nrw=randwrite\\nbs=16k\\nio_size=4m\\n"
    );
    guest.ok(&format!("printf '{job}' > job.fio"));
    let done = guest.json(&format!("job --fio job.fio --destroy {SERIAL}"));
    let bytes = number(&done, "/runs/0/cells/0/write/bytes");
    assert_eq!(number(&done, "/runs/0/cells/0/write/errors"), 0.0, "{done:#}");
    assert_eq!(bytes, 8.0 * MIB as f64, "{done:#}");
    guest.json(&format!("purge {drive} --destroy {SERIAL}"));
}

/// QEMU's controller collects no garbage: every byte is written once, mixed and separated.
#[track_caller]
fn separated_streams(guest: &mut Guest) {
    let drive = guest.device(PLACED);
    let run = guest.json(&format!(
        "run placement {drive} --set engine=passthru --set runtime=2s --set ramp=1s --set \
         precondition=10% --destroy {PLACED}"
    ));
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    for step in ["mixed", "separated"] {
        let cell = cells.iter().find(|cell| cell["step"] == step);
        let cell = cell.unwrap_or_else(|| panic!("no {step}: {run:#}"));
        assert_eq!(cell["state"], "finished", "{cell:#}");
    }
    let probe = guest.json(&format!("probe {drive}"));
    let bytes = |name| number(&probe["nvme"]["placement"], &format!("/statistics/{name}"));
    assert!(bytes("media_bytes") >= bytes("host_bytes"), "{probe:#}");
}
