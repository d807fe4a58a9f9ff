//! Nothing is written without `--destroy`, and what to type is said.

use std::fs;

use serde_json::Value;

use crate::lab::{Lab, MIB, changed_blocks};

/// A suite that writes an area and reads it, in small.
const BANDWIDTH: &str = "run bandwidth disk --scale 0.001 --set area=2MiB --set threads=2,4 --set blocks=4k,64k --set readers=1,2";

#[test]
fn writing_jobs_are_refused_without_destroy_and_with_a_wrong_one() {
    let lab = Lab::on_disk();
    let before = lab.noise("disk", 4 * MIB);
    for rw in ["write", "randwrite", "rw", "randrw", "readwrite"] {
        for way in [
            "",
            "--direct false",
            "--engine uring --iodepth 4",
            "--verify",
            "--out kept",
        ] {
            let done = lab.run(&format!("job disk --rw {rw} {way}"));
            done.refuses(
                3,
                &[
                    "refused",
                    "nothing was written to disk",
                    "add: --destroy disk",
                ],
            );
            assert!(
                !lab.path("kept").exists(),
                "a refused job leaves no folder behind"
            );
        }
        for wrong in ["Disk", "disk ", "DISK1", "WRONG-SERIAL"] {
            let mut command = lab.command(&format!("job disk --rw {rw} --destroy"));
            command.arg(wrong);
            let done = crate::lab::Done::of(wrong, command.spawn().unwrap());
            done.refuses(3, &["--destroy disk"]);
        }
    }
    assert!(lab.read("disk") == before, "refused jobs changed the file");
}

#[test]
fn a_destroy_that_names_nothing_given_is_a_mistake_to_be_told() {
    let lab = Lab::on_disk();
    let before = lab.noise("disk", MIB);
    lab.run("job disk --rw read --destroy OTHER")
        .refuses(2, &["OTHER", "disk"]);
    lab.run("run quick disk --destroy OTHER --scale 0.001 --out run")
        .refuses(2, &["OTHER", "disk"]);
    assert!(!lab.path("run").exists());
    assert!(lab.read("disk") == before);
}

#[test]
fn a_suite_without_destroy_skips_what_writes_and_says_why() {
    let lab = Lab::on_disk();
    let before = lab.noise("disk", 4 * MIB);
    let modified = fs::metadata(lab.path("disk")).unwrap().modified().unwrap();
    let run = lab.json(&format!("{BANDWIDTH} --out run"));
    assert!(lab.read("disk") == before, "the suite changed the file");
    assert_eq!(
        fs::metadata(lab.path("disk")).unwrap().modified().unwrap(),
        modified
    );
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    let of = |step: &str| {
        cells
            .iter()
            .filter(|cell| cell["step"] == step)
            .collect::<Vec<_>>()
    };
    for step in ["sequential-write", "zero-fill", "zeroed-read"] {
        assert!(!of(step).is_empty(), "{step} is not in the plan");
        for cell in of(step) {
            assert_eq!(cell["state"], "skipped", "{cell:#}");
            assert!(
                cell["reason"].as_str().unwrap().contains("--destroy disk"),
                "{cell:#}"
            );
            assert!(
                cell.get("mib_per_s").is_none(),
                "a skipped cell has no figures"
            );
        }
    }
    for step in ["random-read", "sequential-read", "filesystem-read", "soak"] {
        assert!(
            of(step).iter().all(|cell| cell["state"] == "finished"),
            "{step}"
        );
    }
    let text = lab.ok(&format!("{BANDWIDTH} --out again")).stdout;
    assert!(
        text.contains("skipped") && text.contains("--destroy disk"),
        "{text}"
    );
}

#[test]
fn a_suite_with_destroy_writes_its_area_and_nothing_else() {
    let lab = Lab::on_disk();
    let before = lab.noise("disk", 4 * MIB);
    let run = lab.json(&format!("{BANDWIDTH} --destroy disk --out run"));
    let after = lab.read("disk");
    assert_eq!(
        changed_blocks(&before, &after, 4096),
        (0..512).collect::<Vec<_>>()
    );
    // The last thing the suite writes are zeroes.
    assert!(after[..2 * MIB].iter().all(|byte| *byte == 0));
    for cell in run["runs"][0]["cells"].as_array().unwrap() {
        let expected = if cell["step"] == "all-aboard" {
            "skipped"
        } else {
            "finished"
        };
        assert_eq!(cell["state"], expected, "{cell:#}");
        if cell["step"] == "sequential-write" {
            assert_eq!(cell["write"]["bytes"], Value::from(2 * MIB));
        }
        if cell["step"] == "zeroed-read" {
            assert!(
                cell["values"]["ratio"].as_f64().unwrap() > 0.0,
                "compared with the same cell of incompressible data"
            );
        }
    }
}

#[test]
fn a_read_only_file_can_be_read_and_not_written() {
    let lab = Lab::on_disk();
    let before = lab.noise("disk", MIB);
    let path = lab.path("disk");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    lab.ok("job disk --rw read");
    // Root may write it all the same; whoever else tries is told.
    let done = lab.run("job disk --rw write --bs 64k --destroy disk");
    if done.status == 0 {
        assert!(rustix::process::geteuid().is_root());
    } else {
        assert!([3, 4].contains(&done.status), "{done}");
        assert!(lab.read("disk") == before);
    }
}

#[test]
fn typing_errors_are_told_before_safety_is_spoken_of() {
    let lab = Lab::on_disk();
    lab.noise("disk", MIB);
    lab.run("job disk --rw write --bs 1000")
        .refuses(2, &["1000"]);
    lab.run("job disk --rw write --size 2m")
        .refuses(2, &["--size"]);
}

#[test]
fn a_symbolic_link_is_the_file_it_points_to() {
    let lab = Lab::on_disk();
    let before = lab.noise("disk", MIB);
    std::os::unix::fs::symlink(lab.path("disk"), lab.path("link")).unwrap();
    let done = lab.run("job link --rw write --bs 64k");
    done.refuses(3, &["--destroy"]);
    assert!(lab.read("disk") == before);
    lab.run("run quick disk link --scale 0.001 --out run")
        .refuses(2, &["same drive"]);
}
