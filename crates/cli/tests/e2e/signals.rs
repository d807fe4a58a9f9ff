//! SIGINT, SIGTERM and SIGHUP end a run promptly; measured intervals are kept and shown, and the
//! run is resumable.

use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, MIB, is_heard, number, pause, send, text_so_far, wait_until};

const STATUS: i32 = 130;

/// Start a command, wait for a text in its journal, send a signal; returns the result and the time
/// to the end.
#[allow(clippy::disallowed_methods, reason = "how soon the program ends is what is tested")]
fn interrupted(
    fixture: &Fixture,
    words: &str,
    run: &str,
    sign: &str,
    signal: Signal,
) -> (Done, f64) {
    let child = fixture.command(words).spawn().unwrap();
    let journal = fixture.path(&format!("{run}/journal.log"));
    wait_until("the run is under way", || text_so_far(&journal).contains(sign));
    let sent = std::time::Instant::now();
    send(&child, signal);
    let done = Done::new(words, child);
    (done, sent.elapsed().as_secs_f64())
}

#[test]
fn an_interrupted_job_keeps_and_prints_its_results() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    for (drive, way, signal) in [
        ("disk", "--engine sync --numjobs 4", Signal::INT),
        ("disk", "--engine uring --iodepth 16", Signal::TERM),
        ("disk", "--engine sync", Signal::HUP),
        ("disk", "--rate 100", Signal::INT),
        ("disk", "--rate_iops 1 --interval 200ms", Signal::INT),
        ("null:", "--interval 100ms", Signal::INT),
    ] {
        if !is_heard(signal) {
            continue;
        }
        let _ = std::fs::remove_dir_all(fixture.path("run"));
        let words = format!("job {drive} --rw randread {way} --runtime 1h --out run --json");
        let (done, seconds) = interrupted(&fixture, &words, "run", "\"interval\"", signal);
        let done = done.expect(STATUS);
        // Two seconds, doubled for a busy host.
        assert!(seconds < 4.0, "{way}: took {seconds} s to end");
        let job = done.json();
        assert_eq!(job["outcome"], "interrupted", "{way}");
        assert!(number(&job, "/jobs/0/read/ios") > 0.0, "{way}: {done}");
        fixture.ok("report run -o page.html");
        fixture.ok("export run --format fio-json -o fio.json");
    }
}

#[test]
fn a_command_under_nohup_ignores_sighup() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    let job = "job disk --rw randread --runtime 2s --interval 100ms --out run --json";
    let child = Command::new("sh")
        .args(["-c", &format!("trap '' HUP; exec \"$0\" {job}"), crate::fixture::ASSAY])
        .current_dir(fixture.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("it is measuring", || {
        text_so_far(&fixture.path("run/journal.log")).contains("\"interval\"")
    });
    send(&child, Signal::HUP);
    let done = Done::new(job, child).expect(0).json();
    assert_eq!(done["outcome"], "complete", "{done:#}");
}

#[test]
fn an_interrupted_job_without_a_run_folder_prints_its_results_and_leaves_no_files() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    let temporary = fixture.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let child = fixture
        .command("job disk --rw randread --runtime 1h")
        .env("TMPDIR", &temporary)
        .spawn()
        .unwrap();
    let measuring = || {
        std::fs::read_dir(&temporary)
            .unwrap()
            .flatten()
            .flat_map(|outer| std::fs::read_dir(outer.path()).into_iter().flatten().flatten())
            .any(|run| text_so_far(&run.path().join("journal.log")).contains("\"interval\""))
    };
    wait_until("an interval is recorded", measuring);
    send(&child, Signal::INT);
    let done = Done::new("job", child).expect(STATUS);
    assert!(done.stdout.contains("IOPS") && done.stdout.contains("nterrupted"), "{done}");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

/// The words of the command that an interrupted run prints last.
fn printed_command(stdout: &str) -> String {
    let at = stdout.rfind("assay run --resume").expect("a command is printed");
    let line = stdout[at..].lines().next().unwrap_or_default();
    line.strip_prefix("assay ").unwrap_or(line).to_owned()
}

#[test]
fn the_printed_command_resumes_a_run_that_writes() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 16 * MIB);
    let words = "run bandwidth disk --destroy disk --scale 0.01 --out run";
    let (done, _) = interrupted(&fixture, words, "run", "random-read", Signal::INT);
    let done = done.expect(STATUS);
    let command = printed_command(&done.stdout);
    assert_eq!(command, "run --resume run --destroy disk", "{done}");
    let resumed = fixture.json(&command);
    assert_eq!(resumed["outcome"], "complete");
}

#[test]
fn an_interrupted_suite_keeps_finished_cells_and_is_resumable() {
    for (drive, scale) in [("disk", "0.3"), ("sim:samsung-951", "100")] {
        let fixture = Fixture::in_memory();
        fixture.noise("disk", 4 * MIB);
        let words = format!("run quick {drive} --scale {scale} --out run");
        let (done, seconds) =
            interrupted(&fixture, &words, "run", "random-read-latency/bs=32k", Signal::INT);
        let done = done.expect(STATUS);
        assert!(seconds < 4.0, "{drive}: took {seconds} s to end");
        assert!(done.stdout.contains("assay run --resume run"), "{done}");
        assert!(done.stdout.contains("Random read, one in flight"), "{done}");
        assert!(!fixture.path("run/SHA256SUMS").exists(), "an interrupted run is not sealed");
        let kept = fixture.json("compare run");
        let cells = kept["compared"][0]["runs"][0]["cells"].as_array().unwrap();
        let states: Vec<&str> = cells.iter().map(|cell| cell["state"].as_str().unwrap()).collect();
        assert!(
            states.contains(&"finished")
                && (states.contains(&"planned") || states.contains(&"unfinished")),
            "{states:?}"
        );
        assert_eq!(kept["compared"][0]["outcome"], "interrupted");
        if drive == "disk" {
            let resumed = fixture.json("run --resume run");
            let cells = resumed["runs"][0]["cells"].as_array().unwrap();
            assert!(cells.iter().all(|cell| cell["state"] == "finished"));
            assert_eq!(resumed["outcome"], "complete");
            let first = |document: &Value| document["runs"][0]["cells"][1].clone();
            assert_eq!(
                first(&resumed),
                first(&kept["compared"][0]),
                "a finished cell was repeated"
            );
            fixture.tool("sh", &["-c", "cd run && sha256sum -c --strict SHA256SUMS"]);
        }
    }
}

/// States of the cells of a run, without those that its plan skips.
fn states(fixture: &Fixture, run: &str) -> Vec<String> {
    let kept = fixture.json(&format!("compare {run}"));
    let cells = kept["compared"][0]["runs"][0]["cells"].as_array().unwrap();
    let state = |cell: &Value| cell["state"].as_str().unwrap().to_owned();
    let states = cells.iter().map(state);
    states.filter(|state| state != "skipped").collect()
}

#[test]
fn sigusr1_ends_a_run_after_its_present_cell() {
    for (drive, scale) in [("disk", "0.3"), ("sim:samsung-951", "100")] {
        let fixture = Fixture::in_memory();
        fixture.noise("disk", 4 * MIB);
        let words = format!("run quick {drive} --scale {scale} --out run");
        let cell = "random-read-latency/bs=32k";
        let (done, _) = interrupted(&fixture, &words, "run", cell, Signal::USR1);
        let done = done.expect(STATUS);
        assert!(done.stdout.contains("SIGUSR1"), "{done}");
        assert!(done.stdout.contains("assay run --resume run"), "{done}");
        let states = states(&fixture, "run");
        let left = states.iter().position(|state| state == "planned");
        let (ended, left) = states.split_at(left.expect("a cell was not begun"));
        assert!(!ended.is_empty() && ended.iter().all(|state| state == "finished"));
        assert!(left.iter().all(|state| state == "planned"), "{left:?}");
        let journal = fixture.text("run/journal.log");
        assert!(journal.contains("\"outcome\":\"interrupted\""));
    }
}

#[test]
fn sigusr1_during_the_last_cell_leaves_the_run_complete() {
    let fixture = Fixture::in_memory();
    let words = "job null: --rw randread --runtime 2s --interval 100ms --out run --json";
    let (done, _) = interrupted(&fixture, words, "run", "\"interval\"", Signal::USR1);
    assert_eq!(done.expect(0).json()["outcome"], "complete");
}

#[test]
fn until_begins_no_cell_that_could_end_later() {
    let fixture = Fixture::in_memory();
    let date = |when: &str| {
        let text = fixture.tool("date", &["-u", "-d", when, "+%FT%TZ"]);
        text.trim().to_owned()
    };
    // Planned to take 100 s.
    fixture.write(
        "slow.toml",
        "name = \"slow\"\ntitle = \"Slow\"\nsummary = \"Reads.\"\nsource = \"here\"\nduration = \
         \"100 s\"\n[[step]]\nid = \"read\"\ntitle = \"Reads\"\nkind = \"measure\"\njob = { rw = \
         \"randread\", bs = \"4k\", runtime = \"100s\", rate_iops = \"100\" }\n",
    );
    let words = "run ./slow.toml sim:samsung-951 --out run";
    let done = fixture.run(&format!("{words} --until {}", date("+90 seconds")));
    let done = done.expect(STATUS);
    assert!(done.stdout.contains("could end after"), "{done}");
    assert!(states(&fixture, "run").iter().all(|state| state == "planned"));
    let past = fixture.run("run --resume run --until 2020-01-01T01:00:00+01:00");
    past.expect(STATUS);
    let resumed = fixture.json(&format!("run --resume run --until {}", date("+1 year")));
    assert_eq!(resumed["outcome"], "complete");
    for wrong in ["tomorrow", "2027-02-01", "2027-02-01T06:00:00"] {
        let done = fixture.run(&format!("run quick sim:samsung-951 --until {wrong}"));
        done.refuses(2, &["--until", "2027-02-01T06:00:00Z"]);
    }
}

#[test]
fn a_run_folder_in_use_gives_status_75_until_its_writer_has_ended() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    let words = "run quick disk --scale 0.3 --out run";
    let child = fixture.command(words).spawn().unwrap();
    wait_until("it is measuring", || {
        text_so_far(&fixture.path("run/journal.log")).contains("\"interval\"")
    });
    let second = fixture.run("run --resume run");
    second.refuses(75, &["run is being written by another assay process"]);
    send(&child, Signal::INT);
    Done::new(words, child).expect(STATUS);
    fixture.ok("run --resume run");
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    let child = fixture.command("job disk --rw randread --runtime 1h --out run").spawn().unwrap();
    wait_until("it is measuring", || {
        text_so_far(&fixture.path("run/journal.log")).contains("\"interval\"")
    });
    for _ in 0..20 {
        // Until it ends; a signal to a zombie is no error.
        send(&child, Signal::INT);
        pause(5);
    }
    let done = Done::new("job", child);
    assert!(done.status == STATUS, "{done}");
}

#[test]
fn a_closed_pipe_is_silent_success() {
    let fixture = Fixture::on_disk();
    let mut child = fixture.command("suites").spawn().unwrap();
    drop(child.stdout.take());
    let done = Done::new("suites | true", child);
    assert!(done.status == 0, "{done}");
    assert_eq!(done.stderr, "");
    let output = Command::new("sh")
        .args(["-c", "\"$0\" job --help | head -1", crate::fixture::ASSAY])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Time in which the program is stopped is none of the drive's.
#[test]
fn a_stopped_program_measures_nothing() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", 4 * MIB);
    for way in ["--engine sync", "--engine uring --iodepth 4 --numjobs 2"] {
        let _ = std::fs::remove_dir_all(fixture.path("run"));
        let words = format!(
            "job disk --rw randread --bs 4k {way} --runtime 3s --interval 100ms --out run --json"
        );
        let child = fixture.command(&words).spawn().unwrap();
        let journal = fixture.path("run/journal.log");
        wait_until("the job is under way", || text_so_far(&journal).contains("\"interval\""));
        // The I/O is done by a child process of the command.
        let pid = child.id();
        let children = text_so_far(format!("/proc/{pid}/task/{pid}/children").as_ref());
        let worker = children.split_whitespace().next().expect("a child process");
        let worker = rustix::process::Pid::from_raw(worker.parse().unwrap()).unwrap();
        rustix::process::kill_process(worker, Signal::STOP).unwrap();
        pause(2000);
        rustix::process::kill_process(worker, Signal::CONT).unwrap();
        let job = Done::new(&words, child).expect(0).json();
        let warnings = job["warnings"].to_string();
        assert!(warnings.contains("host-stopped"), "{way}: {warnings}");
        let longest_ns = number(&job, "/jobs/0/read/latency_ns/max");
        assert!(longest_ns < 1e9, "{way}: {longest_ns} ns");
        // The runtime is that of the program.
        let elapsed_ns = number(&job, "/jobs/0/elapsed_ns");
        assert!((2.9e9..3.5e9).contains(&elapsed_ns), "{way}: {elapsed_ns} ns");
    }
}
