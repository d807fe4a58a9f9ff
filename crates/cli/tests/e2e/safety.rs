//! No writes without `--destroy`; refusals state the needed option.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::block_devices::BlockDevices;
use crate::fixture::{Done, Fixture, MIB, changed_blocks, noise, send, text_so_far, wait_until};

/// A small suite that writes and reads an area.
const BANDWIDTH: &str = "run bandwidth disk --scale 0.001 --set area=2MiB --set threads=2,4 --set \
                         blocks=4k,32k --set readers=1,2";

#[test]
fn writing_jobs_are_refused_without_destroy_and_with_a_wrong_one() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", 4 * MIB);
    for rw in ["write", "randwrite", "rw", "randrw", "readwrite"] {
        for way in ["", "--direct false", "--engine uring --iodepth 4", "--verify", "--out kept"] {
            let done = fixture.run(&format!("job disk --rw {rw} {way}"));
            done.refuses(3, &["refused", "nothing was written to disk", "add: --destroy disk"]);
            assert!(!fixture.path("kept").exists(), "a refused job leaves no folder behind");
        }
        for wrong in ["Disk", "disk ", "DISK1", "WRONG-SERIAL"] {
            let mut command = fixture.command(&format!("job disk --rw {rw} --destroy"));
            command.arg(wrong);
            let done = crate::fixture::Done::new(wrong, command.spawn().unwrap());
            done.refuses(3, &["--destroy disk"]);
        }
    }
    assert!(fixture.read("disk") == before, "refused jobs changed the file");
}

#[test]
fn a_destroy_of_an_absent_drive_is_rejected() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", MIB);
    fixture.run("job disk --rw read --destroy OTHER").refuses(2, &["OTHER", "disk"]);
    fixture
        .run("run quick disk --destroy OTHER --scale 0.001 --out run")
        .refuses(2, &["OTHER", "disk"]);
    for (wrong, meant) in [("dsik", "disk"), ("ext5", "ext4"), ("nvme0", "disk")] {
        fixture
            .run(&format!("run quick disk --destroy {wrong} --scale 0.001 --out run"))
            .refuses(2, &[wrong, meant]);
    }
    assert!(!fixture.path("run").exists());
    fixture.ok("job disk --rw read --size 4k --destroy ext4 --destroy LVM2_member");
    assert!(fixture.read("disk") == before);
}

#[test]
fn a_suite_without_destroy_skips_writes_with_a_reason() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", 4 * MIB);
    let modified = fs::metadata(fixture.path("disk")).unwrap().modified().unwrap();
    let run = fixture.json(&format!("{BANDWIDTH} --out run"));
    assert!(fixture.read("disk") == before, "the suite changed the file");
    assert_eq!(fs::metadata(fixture.path("disk")).unwrap().modified().unwrap(), modified);
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    let of = |step: &str| cells.iter().filter(|cell| cell["step"] == step).collect::<Vec<_>>();
    for step in ["sequential-write", "zero-fill", "zeroed-read"] {
        assert!(!of(step).is_empty(), "{step} is not in the plan");
        for cell in of(step) {
            assert_eq!(cell["state"], "skipped", "{cell:#}");
            assert!(cell["reason"].as_str().unwrap().contains("--destroy disk"), "{cell:#}");
            assert!(cell.get("mib_per_s").is_none(), "a skipped cell has no figures");
        }
    }
    for step in ["random-read", "sequential-read", "filesystem-read", "soak"] {
        assert!(of(step).iter().all(|cell| cell["state"] == "finished"), "{step}");
    }
    let text = fixture.ok(&format!("{BANDWIDTH} --out again")).stdout;
    assert!(text.contains("skipped") && text.contains("--destroy disk"), "{text}");
}

#[test]
fn a_suite_with_destroy_writes_its_area_and_nothing_else() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", 4 * MIB);
    let run = fixture.json(&format!("{BANDWIDTH} --destroy disk --out run"));
    let after = fixture.read("disk");
    assert_eq!(changed_blocks(&before, &after, 4096), (0..512).collect::<Vec<_>>());
    // The last step writes zeroes.
    assert!(after[..2 * MIB].iter().all(|byte| *byte == 0));
    for cell in run["runs"][0]["cells"].as_array().unwrap() {
        let step = cell["step"].as_str().unwrap();
        let expected = if step.starts_with("all-aboard") { "skipped" } else { "finished" };
        assert_eq!(cell["state"], expected, "{cell:#}");
        if cell["step"] == "sequential-write" {
            assert_eq!(cell["write"]["bytes"], Value::from(2 * MIB));
        }
        if cell["step"] == "zeroed-read" {
            assert!(
                cell["values"]["ratio_to_incompressible"].as_f64().unwrap() > 0.0,
                "compared with the same cell of incompressible data"
            );
        }
    }
}

#[test]
fn a_read_only_file_can_be_read_and_not_written() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", MIB);
    let path = fixture.path("disk");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    fixture.ok("job disk --rw read");
    // Root may write it; other users get an error.
    let done = fixture.run("job disk --rw write --bs 64k --destroy disk");
    if done.status == 0 {
        assert!(rustix::process::geteuid().is_root());
    } else {
        assert!([3, 4].contains(&done.status), "{done}");
        assert!(fixture.read("disk") == before);
    }
}

#[test]
fn usage_errors_are_reported_before_safety_refusals() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    fixture.run("job disk --rw write --bs 1000").refuses(2, &["1000"]);
    fixture.run("job disk --rw write --size 2m").refuses(2, &["--size"]);
}

#[test]
fn a_symbolic_link_is_the_file_it_points_to() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", MIB);
    std::os::unix::fs::symlink(fixture.path("disk"), fixture.path("link")).unwrap();
    let done = fixture.run("job link --rw write --bs 64k");
    done.refuses(3, &["--destroy"]);
    assert!(fixture.read("disk") == before);
    fixture.run("run quick disk link --scale 0.001 --out run").refuses(2, &["same drive"]);
}

/// Reads, then writes: the test changes the file in between.
const READ_THEN_WRITE: &str = r#"
name = "mine"
title = "Read, then write"
summary = "s"
source = "these tests"
duration = "short"
[[step]]
id = "look"
title = "look"
kind = "measure"
job = { rw = "read", bs = "64k", runtime = "2s", interval = "100ms" }
[[step]]
id = "fill"
title = "fill"
kind = "measure"
needs = ["write"]
job = { rw = "write", bs = "64k" }
"#;

/// Change the file while it is read; returns the result of the run.
fn meddled(fixture: &Fixture, meddle: impl FnOnce()) -> Done {
    fixture.noise("disk", 4 * MIB);
    fixture.write("mine.toml", READ_THEN_WRITE);
    let words = "run mine.toml disk --destroy disk --out run --json";
    let child = fixture.command(words).spawn().unwrap();
    // After the start of the cell, so that the file is open.
    wait_until("it is being read", || {
        text_so_far(&fixture.path("run/journal.log")).contains("\"event\":\"interval\"")
    });
    meddle();
    Done::new(words, child)
}

#[test]
fn a_replaced_file_is_not_written() {
    let fixture = Fixture::on_disk();
    let other = noise(77, 4 * MIB);
    fixture.write("other", &other);
    let done =
        meddled(&fixture, || fs::rename(fixture.path("other"), fixture.path("disk")).unwrap());
    assert!(fixture.read("disk") == other, "the permit was for another file");
    let run = done.expect(1).json();
    let fill = &run["runs"][0]["cells"][1];
    assert_eq!(fill["state"], "unfinished", "{fill:#}");
    let lost = lost_drive(&run);
    assert!(lost.contains("nothing was written"), "{lost}");
}

#[test]
fn a_removed_file_fails_only_the_cells_that_need_it() {
    let fixture = Fixture::on_disk();
    let done = meddled(&fixture, || fs::remove_file(fixture.path("disk")).unwrap());
    let run = done.expect(1).json();
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    assert_eq!(
        (&cells[0]["state"], &cells[1]["state"]),
        (&Value::from("finished"), &Value::from("unfinished"))
    );
    assert_eq!(run["outcome"], "interrupted");
    let lost = lost_drive(&run);
    assert!(lost.contains("disk"), "{lost}");
    let text = fixture.ok("compare run").stdout;
    assert!(text.contains("interrupted"), "{text}");
}

/// The warning about the lost drive.
fn lost_drive(run: &Value) -> String {
    let mut warnings = run["warnings"].as_array().unwrap().iter();
    let lost = warnings.find(|warning| warning["code"] == "drive-lost");
    lost.unwrap()["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_truncated_file_gives_errors_and_no_figures() {
    let fixture = Fixture::on_disk();
    let done = meddled(&fixture, || {
        fs::File::options()
            .write(true)
            .open(fixture.path("disk"))
            .unwrap()
            .set_len(MIB as u64)
            .unwrap();
    });
    let run = done.expect(1).json();
    let look = &run["runs"][0]["cells"][0];
    assert!(look["errors"].as_u64().unwrap() > 0, "{look:#}");
    let warnings = run["warnings"].as_array().unwrap();
    assert!(
        warnings
            .iter()
            .any(|w| w["message"].as_str().unwrap().contains("failed or came back short")),
        "{warnings:#?}"
    );
}

#[test]
fn an_output_replaces_no_drive_and_no_foreign_file() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", MIB);
    fixture.ok("job disk --out run");
    // A device node given by mistake, such as /dev/null.
    let node = fixture.path("node");
    let made =
        std::process::Command::new("mknod").arg(&node).args(["c", "1", "3"]).status().unwrap();
    for output in
        ["report run -o", "export run --format json -o", "export run --format fio-json -o"]
    {
        fixture.run(&format!("{output} disk")).refuses(2, &["disk", "another file"]);
        if made.success() {
            fixture.run(&format!("{output} node")).refuses(2, &["node", "regular file"]);
        }
        // An earlier output is replaced.
        for _ in 0..2 {
            fixture.ok(&format!("{output} out-{}", output.len()));
        }
    }
    fixture.run("export run --format csv -o disk").refuses(4, &["disk"]);
    assert!(fixture.read("disk") == before);
    if made.success() {
        let kind = fs::metadata(&node).unwrap().file_type();
        assert!(std::os::unix::fs::FileTypeExt::is_char_device(&kind), "the device node is gone");
    }
}

/// Several may read a drive, and none while one writes: figures of both would be those of neither.
#[test]
fn a_drive_is_read_by_many_or_written_by_one() {
    let mut devices = BlockDevices::new();
    let on_disk = Fixture::on_disk();
    let fixture = devices.as_ref().map_or(&on_disk, |devices| &devices.fixture);
    fixture.noise("disk", 4 * MIB);
    let mut drives = vec!["disk".to_owned()];
    if let Some(devices) = &mut devices {
        devices.fixture.noise("image", 4 * MIB);
        drives.extend(devices.attach("image", &[]));
    }
    let fixture = devices.as_ref().map_or(&on_disk, |devices| &devices.fixture);
    for drive in drives {
        let serial = drive.rsplit('/').next().unwrap();
        let write = format!("job {drive} --rw randwrite --bs 4k --destroy {serial}");
        let read = format!("job {drive} --rw randread --bs 4k");
        for (first, second, status) in
            [(&write, &write, 75), (&write, &read, 75), (&read, &write, 75), (&read, &read, 0)]
        {
            let _ = std::fs::remove_dir_all(fixture.path("run"));
            let first = format!("{first} --runtime 1h --interval 100ms --out run");
            let child = fixture.command(&first).spawn().unwrap();
            wait_until("the first job is under way", || {
                text_so_far(&fixture.path("run/journal.log")).contains("\"interval\"")
            });
            let done = fixture.run(&format!("{second} --runtime 100ms"));
            if status == 0 {
                done.expect(0);
            } else {
                done.refuses(status, &[&drive]);
            }
            // Looking is no measurement.
            fixture.ok(&format!("probe {drive}"));
            send(&child, Signal::TERM);
            Done::new(&first, child).expect(130);
        }
        // A lock of the caller is its own.
        let path = fixture.path(&drive);
        let program = env!("CARGO_BIN_EXE_assay");
        for job in [&read, &write] {
            let mut words = vec![path.to_str().unwrap(), program];
            let job = format!("{job} --runtime 100ms");
            words.extend(job.split(' '));
            fixture.tool("flock", &words);
        }
    }
}

/// Space that was never written, and what no drive is under, is named first.
#[test]
fn what_no_drive_answers_is_named_first() {
    let fixture = Fixture::on_disk();
    let file = std::fs::File::create(fixture.path("empty")).unwrap();
    file.set_len(4 * MIB as u64).unwrap();
    let allocated =
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 4 * MIB as u64);
    fixture.noise("full", 4 * MIB);
    let first_lines = |words: &str| {
        let text = fixture.ok(words).stdout;
        text.lines().take(6).collect::<Vec<_>>().join("\n")
    };
    if allocated.is_ok() {
        for words in
            ["job empty --rw randread --bs 4k --runtime 200ms", "run quick empty --scale 0.01"]
        {
            let text = first_lines(words);
            assert!(text.contains("100 % of the area was never written"), "{words}: {text}");
        }
        let job = fixture.json("job empty --rw randread --bs 4k --runtime 200ms");
        assert!(job["warnings"].to_string().contains("not-from-drive"), "{job}");
    }
    let text = first_lines("job full --rw randread --bs 4k --runtime 200ms");
    assert!(text.contains("not a drive: a file ("), "{text}");
    assert!(!text.contains("never written"), "{text}");
    let memory = Fixture::in_memory();
    memory.noise("disk", MIB);
    let text = memory.ok("job disk --rw randread --bs 4k --runtime 200ms").stdout;
    assert!(text.contains("not a drive: a file in this host's memory (tmpfs)"), "{text}");
    let manifest = memory.json("run quick disk --scale 0.01 --out run");
    assert!(manifest["outcome"] == "complete", "{manifest}");
    assert!(memory.text("run/manifest.json").contains("in this host's memory"));
}

/// Once: the state that the first preparation left is still there.
#[test]
fn a_drive_is_prepared_with_permission_only_and_only_once() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", 16 * MIB);
    for state in ["steady", "filled", "sequential", "empty"] {
        let done = fixture.run(&format!("prepare disk --to {state}"));
        done.refuses(3, &["refused", "nothing was written to disk"]);
    }
    assert!(fixture.read("disk") == before);
    fixture.run("prepare disk --to steady --bs 4k,8k --destroy disk").refuses(2, &["--bs 4k,8k"]);
    // The states of the cells, and whether the probe found the rate to be steady, which it may not
    // on a disk that others use.
    let prepare = |run: &str, to: &str| -> (Vec<Value>, bool) {
        let done = fixture.ok(&format!("prepare disk --to {to} --destroy disk --out {run}"));
        let most = match to {
            "steady" => "at most 32.0 MiB are written, 2.0 times",
            _ => "at most 16 MiB are written, 1.0 times",
        };
        assert!(done.stderr.contains(most), "{}", done.stderr);
        let run = fixture.ok(&format!("export {run} --format json -o -")).json();
        let cells = run["cells"].as_array().unwrap().iter();
        let is_steady = !done.stdout.contains("random writes were not steady");
        (cells.map(|cell| cell["state"].clone()).collect(), is_steady)
    };
    let (states, is_steady) = prepare("first", "steady");
    assert_eq!(states, ["finished", "finished"]);
    assert!(fixture.read("disk") != before);
    let prepared = fixture.read("disk");
    let (states, _) = prepare("second", "steady");
    assert_eq!(states, [if is_steady { "skipped" } else { "finished" }; 2]);
    assert_eq!(fixture.read("disk") == prepared, is_steady);
    assert_eq!(prepare("filled", "filled").0, ["finished"]);
    let prepared = fixture.read("disk");
    let again = fixture.ok("prepare disk --to filled --destroy disk --out third");
    let said = "Nothing was written; not needed";
    assert!(again.stdout.contains(said), "{}", again.stdout);
    assert!(fixture.read("disk") == prepared);
}
