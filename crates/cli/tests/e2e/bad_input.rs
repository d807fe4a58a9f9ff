//! Invalid command lines: a message on stderr, nothing on stdout, the right status, no panic.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::block_devices::BlockDevices;
use crate::fixture::{Fixture, MIB};

#[test]
fn a_job_without_a_temporary_folder_is_an_error() {
    let fixture = Fixture::on_disk();
    let command = fixture.command("job null: --size 1m").env("TMPDIR", "/nonexistent").spawn();
    let done = crate::fixture::Done::new("job null:", command.unwrap());
    done.refuses(4, &["temporary folder", "TMPDIR", "--out", "/nonexistent"]);
}

/// Each command line must end with this status and print these texts.
#[track_caller]
pub fn all_refused(fixture: &Fixture, cases: &[(&str, i32, &[&str])]) {
    for (words, status, stated) in cases {
        fixture.run(words).refuses(*status, stated);
        // With --json too: an error prints no document.
        fixture.run(&format!("{words} --json")).refuses(*status, stated);
    }
}

#[test]
fn invalid_drives() {
    let fixture = Fixture::on_disk();
    fixture.write("empty", "");
    fixture.write("tiny", "less than a sector");
    all_refused(
        &fixture,
        &[
            ("job missing", 2, &["missing", "no such file", "assay list"]),
            ("probe missing", 2, &["missing", "no such file"]),
            ("run quick missing", 2, &["missing", "no such file"]),
            ("job .", 2, &[". is a directory"]),
            ("job /dev/null", 2, &["/dev/null", "character device"]),
            ("job /dev/zero --rw write --destroy zero", 2, &["character device"]),
            ("job empty", 2, &["empty", "zero size", "urandom"]),
            ("job tiny", 2, &["tiny"]),
            ("job empty/x", 2, &["empty/x"]),
            ("job /dev/ng0n1", 2, &["/dev/ng0n1", "no such file"]),
            ("job sim:", 2, &["sim:PROFILE"]),
            ("job sim:nosuch", 2, &["nosuch", "samsung-951", "intel-600p"]),
            ("job sim:samsung-951,foo=1", 2, &["foo", "seed, lot, state"]),
            ("job sim:samsung-951,state=half", 2, &["state=half", "fresh or filled"]),
            ("job sim:samsung-951,fault=explode@1", 2, &["explode@1", "corrupt-write@N"]),
            ("job sim:samsung-951,op=95%", 2, &["op=95%", "0% to 90%"]),
            ("job sim:samsung-951,seed", 2, &["key=value"]),
            ("job null:size=0", 2, &["size", "512"]),
            ("job null:size=1000", 2, &["512"]),
            ("job null:depth=1", 2, &["depth"]),
        ],
    );
    let mut command = fixture.command("job");
    command.arg("");
    crate::fixture::Done::new("job ''", command.spawn().unwrap()).refuses(2, &["no drive given"]);
    let status = std::process::Command::new("mkfifo").arg(fixture.path("pipe")).status().unwrap();
    assert!(status.success());
    fixture.run("job pipe").refuses(2, &["pipe"]);
}

#[test]
fn areas_and_sizes_that_do_not_fit() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    all_refused(
        &fixture,
        &[
            ("job disk --size 1000", 2, &["--size 1000", "512", "use 1024"]),
            ("job disk --offset 100", 2, &["--offset 100", "512"]),
            ("job disk --bs 1000", 2, &["1000", "512"]),
            ("job disk --bs 0", 2, &["0 bytes"]),
            ("job disk --bs 8m", 2, &["4 MiB"]),
            ("job disk --bs 4k/60:64k/50", 2, &["110"]),
            ("job disk --bs 4k/60:", 2, &["block size", "4k/60:64k/40"]),
            ("job disk --bs abc", 2, &["abc", "4k"]),
            ("job disk --bs 64k --size 32k", 2, &["65536", "32768"]),
            ("job disk --bs 512k --numjobs 4 --split", 2, &["each thread's part"]),
            ("job disk --size 2m", 2, &["2097152", "ends at 1048576"]),
            ("job disk --offset 512k --size 768k", 2, &["1310720", "--offset"]),
            ("job disk --offset 1m", 2, &["1048576"]),
            ("job disk --size 0", 2, &["--size"]),
            ("job disk --size 512k --offset_increment 512k --numjobs 3", 2, &["1572864"]),
            ("job disk --size 101%", 2, &["101%", "0% to 100%"]),
            ("job disk --size 5x", 2, &["\"x\"", "a size such as"]),
            ("job disk --size 99999999999999999999g", 2, &["too large"]),
            ("job disk --offset 16383p --size 16383p", 2, &["--offset"]),
            ("job disk --io_size abc", 2, &["abc"]),
            ("job disk --zonerange 64k", 2, &["--zonesize"]),
            ("job disk --zonesize 0", 2, &["zone"]),
            ("job disk --zonesize 64k --zonerange 2m", 2, &["zone"]),
            ("job disk --rw randread --blockalign 1000", 2, &["blockalign"]),
            ("job disk --split --offset_increment 64k", 2, &["--split"]),
        ],
    );
}

#[test]
fn invalid_workloads() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    all_refused(
        &fixture,
        &[
            ("job disk --rw nonsense", 2, &["nonsense", "randread"]),
            ("job disk --rw trimwrite", 2, &["trimwrite", "randread"]),
            ("job disk --engine nonsense", 2, &["nonsense", "sync"]),
            ("job disk --engine passthru", 2, &["passthru"]),
            ("job disk --engine sync --iodepth 4", 2, &["sync", "--numjobs 4", "uring"]),
            ("job disk --engine uring --hipri", 2, &["polling queues"]),
            ("job disk --engine uring --hipri --direct false", 2, &["--direct"]),
            ("job disk --hipri", 2, &["uring"]),
            ("job disk --sqpoll", 2, &["uring"]),
            ("job null: --verify", 2, &["null", "verified"]),
            ("job disk --verify_interval 4k", 2, &["--verify"]),
            ("job disk --verify --verify_interval 1000", 2, &["verify"]),
            ("job disk --rw randread --random_distribution zipf:0", 2, &["zipf"]),
            (
                "job disk --rw randread --random_distribution zipf:abc",
                2,
                &["zipf:abc", "zipf:THETA"],
            ),
            ("job disk --rw randread --random_distribution zipf:nan", 2, &["zipf"]),
            ("job disk --rw randread --random_distribution zipf:-1", 2, &["zipf"]),
            ("job disk --rw randread --random_distribution pareto:2", 2, &["pareto"]),
            ("job disk --rw read --random_distribution cover", 2, &["random --rw"]),
            ("job disk --numjobs 0", 2, &["--numjobs 0", "from 1"]),
            ("job disk --numjobs 100000", 2, &["--numjobs 100000"]),
            ("job disk --iodepth 0", 2, &["--iodepth 0", "from 1"]),
            ("job disk --iodepth 4000000000", 2, &["--iodepth"]),
            ("job disk --iodepth 99999999999", 2, &["99999999999"]),
            ("job null: --numjobs 4096 --iodepth 32768", 2, &["in flight"]),
            (
                "job disk --iodepth 4 --iodepth_batch_complete_min 5",
                2,
                &["iodepth_batch_complete_min"],
            ),
            ("job disk --cpus_allowed 0-1023", 2, &["--cpus_allowed", "affinity mask: "]),
            ("job disk --cpus_allowed x", 2, &["0-3,8"]),
            ("job disk --rw randrw --rwmixread 101", 2, &["101", "100"]),
            ("job disk --rate 0", 2, &["--rate 0", "at least 1"]),
            ("job disk --rate abc", 2, &["--rate"]),
            ("job disk --rate_bw 18446744073709551615g", 2, &["too large"]),
            ("job disk --rate 1k --rate_iops 1k", 2, &["exclude"]),
            ("job disk --arrival poisson", 2, &["--rate"]),
            ("job disk --rate 1k --arrival gauss", 2, &["gauss", "poisson"]),
            ("job disk --runtime 0", 2, &["runtime"]),
            ("job disk --runtime 5parsecs", 2, &["parsecs", "a duration such as"]),
            ("job disk --runtime 99999999999999999999h", 2, &["too large"]),
            ("job disk --ramp_time x", 2, &["ramp_time"]),
            ("job disk --interval 1us", 2, &["interval", "1ms"]),
            ("job disk --data nonsense", 2, &["--data", "nonsense"]),
            ("job disk --data compress=0", 2, &["--data"]),
            ("job disk --data compress=abc", 2, &["--data"]),
            ("job disk --direct maybe", 2, &["maybe", "true or false"]),
            ("job disk --nonsense", 2, &["--nonsense"]),
            ("job", 2, &["DRIVE"]),
            ("nonsense", 2, &["nonsense"]),
            ("completions nonsense", 2, &["nonsense", "bash"]),
        ],
    );
}

#[test]
fn unsupported_power_states() {
    let fixture = Fixture::on_disk();
    let disk = fixture.noise("disk", 16 * MIB);
    let states = "--set power_states=0,9 --set area=1% --scale 0.001";
    all_refused(
        &fixture,
        &[
            (
                &format!("run enterprise sim:samsung-951 {states} --out none"),
                2,
                &[
                    "sim:samsung-951",
                    "it has no power state 9",
                    "0, 1, 2, 3 (non-operational), 4 (non-operational)",
                ],
            ),
            (
                &format!("run enterprise disk {states} --destroy disk --out none"),
                2,
                &["disk", "only NVMe drives have power states"],
            ),
            ("job sim:samsung-951,ps=9", 4, &["no power state 9", "0 to 4"]),
        ],
    );
    assert!(!fixture.path("none").exists());
    assert!(fixture.read("disk") == disk, "nothing was written");
}

#[test]
fn unusable_run_folders() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    fs::create_dir(fixture.path("full")).unwrap();
    fixture.write("full/precious", "mine");
    fixture.write("large", vec![b'x'; 17 * MIB]);
    all_refused(
        &fixture,
        &[
            ("job disk --out full", 2, &["full", "already holds files"]),
            ("run quick disk --scale 0.001 --out full", 2, &["full", "already holds files"]),
            ("job disk --out disk", 4, &["disk"]),
            ("library nowhere -o site", 2, &["nowhere", "assay import"]),
            ("predict --cells large", 2, &["large", "table of measurements (.csv)"]),
            ("job disk --out disk/below", 4, &["disk/below"]),
            ("job disk --out /proc/nope", 4, &["/proc/nope"]),
        ],
    );
    assert_eq!(fixture.text("full/precious"), "mine");
    assert_eq!(fs::read_dir(fixture.path("full")).unwrap().count(), 1);
    if !rustix::process::geteuid().is_root() {
        fs::create_dir(fixture.path("locked")).unwrap();
        fs::set_permissions(fixture.path("locked"), PermissionsExt::from_mode(0o500)).unwrap();
        fixture.run("job disk --out locked/run").refuses(4, &["locked/run"]);
    }
}

#[test]
fn a_full_disk_under_the_run_folder_ends_the_run_with_an_error() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let point = devices.mount("tmpfs", &["-t", "tmpfs", "-o", "size=64k"]);
    devices.fixture.noise("disk", MIB);
    let out = point.join("run");
    let done =
        devices.fixture.run(&format!("run bandwidth disk --scale 0.002 --out {}", out.display()));
    done.refuses(4, &["journal.log", "No space left"]);
    // The folder can still be opened.
    if out.join("manifest.json").exists() {
        let done = devices.fixture.run(&format!("compare {}", out.display()));
        assert_eq!(done.status, 0, "{done}");
    }
    devices.fixture.ok("job disk --out elsewhere");
    let done =
        devices.fixture.run(&format!("report elsewhere -o {}", point.join("page.html").display()));
    done.refuses(4, &["page.html", "No space left"]);
    assert!(!point.join("page.html").exists(), "half a page is none");
    let done = devices
        .fixture
        .run(&format!("export elsewhere --format csv -o {}", point.join("csv").display()));
    assert!(done.status == 0 || done.status == 4, "{done}");
}

#[test]
fn reports_of_other_folders() {
    let fixture = Fixture::on_disk();
    fixture.write("file", "text");
    fs::create_dir(fixture.path("folder")).unwrap();
    fixture.ok("job null: --size 1m --out run");
    for command in ["report", "compare", "export"] {
        for what in ["missing", "file", "folder"] {
            fixture.run(&format!("{command} {what}")).refuses(2, &[what, "not a run folder"]);
        }
    }
    all_refused(
        &fixture,
        &[
            ("report", 2, &["RUN"]),
            ("report run -o missing/page.html", 4, &["missing/page.html"]),
            ("report run missing", 2, &["missing"]),
            (
                "export run --format nonsense",
                2,
                &["nonsense", "parquet, json, csv, fio-json, bench-fio, fio-logs or ocp"],
            ),
            ("export run --format csv -o -", 2, &["stdout", "-o"]),
            ("export run --format parquet -o -", 2, &["stdout"]),
            ("export run --format json -o missing/out.json", 4, &["missing/out.json"]),
        ],
    );
}

#[test]
fn damaged_run_folders_are_reported_and_partly_read() {
    let fixture = Fixture::on_disk();
    fixture.ok("run quick sim:samsung-951 --scale 0.001 --out run");
    let journal = fs::read(fixture.path("run/journal.log")).unwrap();
    let manifest = fixture.text("run/manifest.json");
    // A torn last line, as after a crash, is not damage.
    fixture.write("run/journal.log", &journal[..journal.len() - 40]);
    fixture.ok("report run -o page.html");
    // A changed byte in the middle is reported wherever the run is shown.
    let mut bent = journal.clone();
    bent[journal.len() / 2] ^= 0x55;
    fixture.write("run/journal.log", &bent);
    let done = fixture.run("compare run");
    assert!(done.status == 0 || done.status == 4, "{done}");
    let reports = format!("{}{}", done.stdout, done.stderr).to_lowercase();
    assert!(
        reports.contains("damage") || reports.contains("checksum") || reports.contains("changed"),
        "{done}"
    );
    // No journal, an empty one, noise instead of one.
    fixture.write("run/journal.log", crate::fixture::noise(3, 5000));
    let done = fixture.run("compare run");
    assert!([0, 4].contains(&done.status), "{done}");
    fixture.write("run/journal.log", "");
    let done = fixture.run("report run -o page.html");
    assert!([0, 4].contains(&done.status), "{done}");
    fs::remove_file(fixture.path("run/journal.log")).unwrap();
    fixture.run("report run -o page.html").refuses(4, &["journal.log"]);
    fixture.write("run/journal.log", &journal);
    fixture.write("run/manifest.json", &manifest[..manifest.len() / 2]);
    fixture.run("report run -o page.html").refuses(4, &["manifest.json"]);
    fixture.write("run/manifest.json", manifest.replacen("\"schema\": 1", "\"schema\": 999", 1));
    fixture.run("report run -o page.html").refuses(2, &["run", "newer"]);
}
