//! `--log` and `ASSAY_LOG`: events of the program as lines on stderr.

use crate::fixture::{Done, Fixture};

/// Refused by the interlock, in the child process that does the I/O on a real drive.
const REFUSED: &str = "purge disk.img --destroy other";

fn with_level(level: &str, words: &str) -> Done {
    let fixture = Fixture::in_memory();
    fixture.noise("disk.img", 1 << 20);
    let mut command = fixture.command(words);
    command.env("ASSAY_LOG", level);
    Done::new(words, command.spawn().unwrap())
}

fn events(done: &Done) -> Vec<&str> {
    let is_event = |line: &&str| line.starts_with("20") && line.contains("Z  INFO assay_");
    let lines = done.stderr.lines();
    // The message of an error keeps the line breaks of names.
    let before_error = lines.take_while(|line| !line.starts_with("error:"));
    before_error.filter(is_event).collect()
}

#[test]
fn a_refusal_of_the_interlock_is_an_event_with_its_reason() {
    for done in [
        with_level("off", &format!("{REFUSED} --log info")),
        with_level("off", &format!("--log info {REFUSED}")),
        with_level("info", REFUSED),
    ] {
        done.refuses(3, &["no --destroy names it"]);
        let events = events(&done);
        let has = |text: &str| events.iter().any(|event| event.contains(text));
        assert!(
            has("assay_device::interlock: checked: write protection, exclusive claim, use"),
            "{done}"
        );
        assert!(
            has("assay_device::interlock: may not be overwritten drive=\"disk.img\""),
            "{done}"
        );
        assert!(has("reason=\"no --destroy names it; its serial is disk.img\""), "{done}");
    }
}

#[test]
fn without_a_level_nothing_is_written() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk.img", 1 << 20);
    let silent = fixture.run(REFUSED);
    silent.refuses(3, &[]);
    assert!(silent.stderr.starts_with("error:"), "{silent}");
    for done in [
        with_level("", REFUSED),
        with_level("off", REFUSED),
        with_level("warn", REFUSED),
        with_level("info", &format!("{REFUSED} --log off")),
    ] {
        assert_eq!(done.stderr, silent.stderr);
    }
}

#[test]
fn another_level_is_a_usage_error_that_names_the_levels() {
    let levels = "off, error, warn, info, debug, trace";
    with_level("off", "list --log loud").refuses(2, &["loud", levels]);
    with_level("loud", "list").refuses(2, &["loud", levels]);
    // The option wins.
    with_level("loud", "list --log off").expect(0);
}

#[test]
fn names_from_elsewhere_begin_no_line_and_act_on_no_terminal() {
    let fixture = Fixture::in_memory();
    let name = "a\n2026-11-27T00:00:00.000Z  INFO assay_device: forged\u{1b}[31m";
    fixture.noise(name, 1 << 20);
    let mut command = fixture.command("--log info purge --destroy other");
    let done = Done::new("purge", command.arg(name).spawn().unwrap()).expect(3);
    let events = events(&done);
    let forged = events.iter().filter(|line| line.contains("forged"));
    assert!(forged.clone().count() > 0, "{done}");
    for line in forged {
        assert!(line.contains("assay_device::interlock"), "{done}");
        assert!(!line.contains('\u{1b}'), "{done}");
    }
}

#[test]
fn the_level_may_stand_before_a_command_with_several_jobs() {
    let job = "job null: --runtime 10ms --name a --rw read --name b --rw write";
    let done = with_level("off", &format!("--log info {job}")).expect(0);
    for cell in ["cell=\"null/job/job=a\"", "cell=\"null/job/job=b\""] {
        let started = |line: &&str| line.contains("cell started") && line.contains(cell);
        assert_eq!(events(&done).into_iter().filter(started).count(), 1, "{done}");
    }
}
