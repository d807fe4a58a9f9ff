//! Links, FIFOs and devices that somebody put in place of an output.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::fixture::{ASSAY, Done, Fixture, MIB};

/// A run folder `run`, and a file `precious` that no command may change.
fn fixture() -> Fixture {
    let fixture = Fixture::on_disk();
    fixture.ok("run quick sim:samsung-951 --scale 0.01 --out run");
    fixture.write("precious", "precious");
    fixture
}

fn is_unchanged(fixture: &Fixture) {
    assert_eq!(fixture.read("precious"), b"precious");
}

#[test]
fn a_planted_temporary_file_is_not_written() {
    let fixture = fixture();
    let precious = fixture.path("precious");
    for name in [".report.html.tmp", ".run.json.tmp"] {
        symlink(&precious, fixture.path(name)).unwrap();
    }
    fixture.ok("report run -o report.html");
    fixture.ok("export run --format json -o run.json");
    is_unchanged(&fixture);
    // A FIFO of that name holds nobody up.
    fixture.tool("mkfifo", &[".again.html.tmp"]);
    fixture.ok("report run -o again.html");
}

#[test]
fn an_output_in_place_of_a_link_leaves_its_target() {
    let fixture = fixture();
    fixture.write("old.html", "<!DOCTYPE html>");
    symlink(fixture.path("old.html"), fixture.path("report.html")).unwrap();
    fixture.ok("report run -o report.html");
    assert_eq!(fixture.read("old.html"), b"<!DOCTYPE html>");
    assert!(fixture.text("report.html").ends_with("</html>"));
    fixture.tool("mkfifo", &["fifo.html"]);
    fixture.run("report run -o fifo.html").expect(2);
}

/// A run that was interrupted, with what is resumed replaced by `plant`.
fn resume_with(plant: impl Fn(&Fixture, PathBuf)) -> Fixture {
    let fixture = fixture();
    let journal = fixture.path("run/journal.log");
    let text = fs::read(&journal).unwrap();
    // Without its last lines.
    let cut = text.len() / 2;
    let cut = text[..cut].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    fs::write(&journal, &text[..cut]).unwrap();
    fs::remove_file(fixture.path("run/SHA256SUMS")).unwrap();
    plant(&fixture, journal);
    fixture
}

#[test]
fn a_linked_journal_is_not_continued() {
    let linked = |link: fn(&PathBuf, &PathBuf)| {
        let fixture = resume_with(|fixture, journal| {
            let outside = fixture.path("outside.log");
            fs::rename(&journal, &outside).unwrap();
            link(&outside, &journal);
        });
        let before = fixture.read("outside.log");
        let refused = fixture.run("run --resume run").expect(3);
        assert!(refused.stderr.contains("journal.log"), "{refused}");
        assert!(fixture.read("outside.log") == before);
    };
    linked(|outside, journal| symlink(outside, journal).unwrap());
    linked(|outside, journal| fs::hard_link(outside, journal).unwrap());
}

#[test]
fn linked_checksums_are_replaced_and_not_followed() {
    let fixture = resume_with(|fixture, _| {
        symlink(fixture.path("precious"), fixture.path("run/SHA256SUMS")).unwrap();
    });
    fixture.run("run --resume run");
    is_unchanged(&fixture);
}

#[test]
fn two_names_of_one_file_are_one_drive() {
    let fixture = Fixture::on_disk();
    fixture.noise("s1.img", 16 * MIB);
    fs::hard_link(fixture.path("s1.img"), fixture.path("s2.img")).unwrap();
    fixture.noise("in.bin", MIB);
    for words in [
        "record s1.img s2.img --destroy s1.img --destroy s2.img --from in.bin",
        "run bandwidth s1.img s2.img --destroy s1.img --destroy s2.img",
    ] {
        let refused = fixture.run(words).expect(2);
        assert!(refused.stderr.contains("are the same drive"), "{refused}");
    }
}

#[test]
fn a_stream_is_not_replayed_onto_a_block_device() {
    let fixture = Fixture::on_disk();
    fixture.noise("s.img", 16 * MIB);
    fixture.noise("in.bin", MIB);
    fixture.ok("record s.img --destroy s.img --from in.bin");
    let Some(device) = fs::read_dir("/sys/block")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .map(|name| format!("/dev/{name}"))
        .find(|path| fs::metadata(path).is_ok())
    else {
        println!("skipped: no block device");
        return;
    };
    let refused = fixture.run(&format!("replay s.img --raw --to {device}")).expect(2);
    assert!(refused.stderr.contains("exists"), "{refused}");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_with_advice() {
    let fixture = fixture();
    let script = format!("ulimit -f 16; exec '{ASSAY}' report run -o report.html");
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(fixture.path("."));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = Done::new("report", command.spawn().unwrap()).expect(4);
    assert!(done.stderr.contains("report.html"), "{done}");
    let names = fs::read_dir(fixture.path(".")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.contains("report")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn endless_and_large_inputs_are_errors() {
    let fixture = fixture();
    for name in ["large.toml", "large.fio"] {
        let file = fs::File::create(fixture.path(name)).unwrap();
        file.set_len(17 << 20).unwrap();
    }
    for words in [
        "verdict run --policy large.toml",
        "verdict run --policy /dev/zero",
        "run large.toml sim:samsung-951",
        "fleet sweep large.toml",
        "run large.fio sim:samsung-951",
    ] {
        let done = fixture.run(words);
        assert!(done.status == 2 || done.status == 4, "{done}");
        assert!(done.stderr.contains("longer than 16777216 bytes"), "{done}");
    }
}
