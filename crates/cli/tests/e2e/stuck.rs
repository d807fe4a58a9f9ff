//! Storage that never answers: every command ends after two signals or at its limit, with status 4
//! and what is durable, whatever waits in the kernel. Storage that fails, tears or lies: found and
//! reported.

use std::path::Path;
use std::process::Child;

use rustix::process::Signal;

use crate::fault_fs::{Call, Fault, FaultFs, NAME};
use crate::fixture::{Done, Fixture, MIB, noise, send, wait_until};

/// A file system with a file of noise, and a folder for the commands.
fn setting() -> Option<(FaultFs, Fixture)> {
    Some((FaultFs::mount(noise(7, 4 * MIB))?, Fixture::in_memory()))
}

/// Two seconds of the promise, doubled for a busy host.
const AFTER_SECOND_SIGNAL_S: f64 = 4.0;

/// The command's end after two signals, and the time from the second one.
#[allow(clippy::disallowed_methods, reason = "how soon the program ends is what is tested")]
fn ended_by_two(child: Child, words: &str, signal: Signal) -> (Done, f64) {
    send(&child, signal);
    crate::fixture::pause(300);
    let mut sent = std::time::Instant::now();
    let pid = child.id();
    // A command without anything to end in order is ended by the first.
    if Path::new(&format!("/proc/{pid}")).exists() {
        sent = std::time::Instant::now();
        send(&child, signal);
    }
    let done = Done::new(words, child);
    (done, sent.elapsed().as_secs_f64())
}

/// Commands that wait for `call` of the file, with what their message has.
fn commands(disk: &str) -> Vec<(String, Call, &'static str)> {
    let record = format!(
        "record {disk} --destroy {NAME} --destroy assay-recording --pattern 1 --length 2m --index"
    );
    vec![
        (record.clone(), Call::Write, "last checkpoint"),
        (record.clone(), Call::Sync, "last checkpoint"),
        (record, Call::Open, "last checkpoint"),
        (format!("job {disk} --rw randread --runtime 1h --out run"), Call::Read, "is in run"),
        (
            format!("job {disk} --rw randread --engine sync --runtime 1h --out run"),
            Call::Read,
            "is in run",
        ),
        (
            format!(
                "job {disk} --rw randwrite --runtime 1h --destroy {NAME} --destroy assay-recording --out run"
            ),
            Call::Write,
            "is in run",
        ),
        (format!("run quick {disk} --out run"), Call::Read, "--resume"),
        (format!("replay {disk} --check 1"), Call::Read, ""),
        (format!("verify {disk}"), Call::Read, ""),
        (
            format!("testbench {disk} --destroy {NAME} --destroy assay-recording --span 1m"),
            Call::Write,
            "",
        ),
        (format!("probe {disk}"), Call::Open, ""),
        (format!("probe {disk}"), Call::Attributes, ""),
    ]
}

#[test]
fn every_command_ends_after_two_signals_on_storage_that_never_answers() {
    for (at, signal) in [Signal::TERM, Signal::INT].into_iter().enumerate() {
        let Some((files, fixture)) = setting() else {
            return;
        };
        let disk = files.path().display().to_string();
        for (words, call, kept) in commands(&disk).into_iter().skip(at).step_by(2) {
            let _ = std::fs::remove_dir_all(fixture.path("run"));
            if words.starts_with("replay") || words.starts_with("verify") {
                fixture.ok(&format!(
                    "record {disk} --destroy {NAME} --destroy assay-recording --pattern 1 --length 1m --index"
                ));
            }
            files.plan(call, Fault::Stall, 0);
            let mut child = fixture.command(&words).spawn().unwrap();
            wait_until("a call waits", || {
                let ended = child.try_wait().unwrap();
                assert!(ended.is_none(), "{words}: {ended:?}");
                files.held() > 0
            });
            let (done, seconds) = ended_by_two(child, &words, signal);
            assert!(seconds < AFTER_SECOND_SIGNAL_S, "{words}: {seconds} s: {done:?}");
            let done = done.expect(4);
            assert!(done.stderr.contains("the storage does not answer"), "{done}");
            assert!(done.stderr.contains(kept), "{done}");
            // The process that was left behind ends with the answer.
            let left = left_behind(&done.stderr);
            assert!(Path::new(&left).exists(), "{done}");
            files.answer_all();
            wait_until("the process left behind has ended", || !Path::new(&left).exists());
        }
    }
}

/// The directory in /proc of the process that the message names.
fn left_behind(message: &str) -> String {
    let (_, after) = message.split_once("of process ").unwrap_or_else(|| panic!("{message}"));
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    format!("/proc/{digits}")
}

#[test]
fn a_recording_on_storage_that_stops_answering_says_what_is_durable() {
    let Some((files, fixture)) = setting() else {
        return;
    };
    let disk = files.path().display().to_string();
    let words = format!(
        "record {disk} --destroy {NAME} --destroy assay-recording --pattern 1 --length 3m --index --durable-every 256k \
         --chunk 64k --iodepth 4"
    );
    // The header, some chunks and a checkpoint go well: with few chunks in flight the checkpoint is
    // not behind them all.
    files.plan(Call::Write, Fault::Stall, 24);
    let child = fixture.command(&words).spawn().unwrap();
    wait_until("a call waits", || files.held() > 0);
    let (done, _) = ended_by_two(child, &words, Signal::TERM);
    let done = done.expect(4);
    assert!(done.stderr.contains("durable by a flush: "), "{done}");
    let (_, after) = done.stderr.split_once("durable by a flush: ").unwrap();
    let digits: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
    let durable: u64 = digits.replace(',', "").parse().unwrap();
    assert!(durable > 0, "{done}");
    files.answer_all();
    let left = left_behind(&done.stderr);
    wait_until("the process left behind has ended", || !Path::new(&left).exists());
    // As much, at least, is found and intact.
    let found = fixture.run(&format!("verify {disk} --json")).json();
    let chunks = |name: &str| crate::fixture::number(&found, &format!("/recording/{name}"));
    assert!(chunks("checked_chunks") * 65_536.0 >= durable as f64, "{found:#}");
    assert_eq!(chunks("bad_chunks"), 0.0, "{found:#}");
}

/// A supervised command is one process to its caller: its status, its output, and kill -9.
#[test]
fn killing_a_command_kills_its_io() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    let words = "job disk --rw randread --runtime 1h --out run";
    let child = fixture.command(words).spawn().unwrap();
    wait_until("it is measuring", || {
        crate::fixture::text_so_far(&fixture.path("run/journal.log")).contains("\"interval\"")
    });
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let io: Vec<String> = std::fs::read_to_string(children)
        .unwrap()
        .split_whitespace()
        .map(|pid| format!("/proc/{pid}"))
        .collect();
    assert_eq!(io.len(), 1);
    send(&child, Signal::KILL);
    Done::new(words, child).expect(1009);
    wait_until("its I/O has ended", || !Path::new(&io[0]).exists());
}

#[test]
fn storage_that_fails_or_gives_short_answers_ends_a_command_with_its_error() {
    let Some((files, fixture)) = setting() else {
        return;
    };
    let disk = files.path().display().to_string();
    for (words, call, _) in commands(&disk) {
        let words = words.replace("1h", "2s");
        for (fault, before) in [(Fault::Fail, 0), (Fault::Fail, 3), (Fault::Short, 1)] {
            let _ = std::fs::remove_dir_all(fixture.path("run"));
            files.plan(call, fault, before);
            let done = fixture.run(&words);
            files.answer_all();
            assert!([0, 1, 2, 3, 4].contains(&done.status), "{fault:?}, {call:?}: {done}");
            let must_fail = fault == Fault::Fail && before == 0;
            assert!(!must_fail || done.status != 0, "{fault:?}, {call:?}: {done}");
        }
    }
}

/// Writes that claim to be done, wholly or in part, are found by reading back.
#[test]
fn writes_that_are_lost_or_torn_are_found() {
    let Some((files, fixture)) = setting() else {
        return;
    };
    let disk = files.path().display().to_string();
    for fault in [Fault::Lie, Fault::Tear] {
        files.plan_times(Call::Write, fault, 9, 1);
        let words = format!(
            "job {disk} --rw write --bs 64k --verify --destroy {NAME} --destroy assay-recording"
        );
        fixture.run(&words).expect(1);
        files.answer_all();
        files.plan_times(Call::Write, fault, 9, 1);
        let record = format!(
            "record {disk} --destroy {NAME} --destroy assay-recording --pattern 1 --length 2m --index --chunk 64k"
        );
        let recorded = fixture.run(&record);
        files.answer_all();
        let verified = fixture.run(&format!("verify {disk}"));
        assert!(recorded.status != 0 || verified.status == 1, "{recorded}{verified}");
    }
}
