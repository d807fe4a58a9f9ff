//! Engines where the kernel refuses io_uring, as the default seccomp profile of containers does.

use std::process::Child;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::fixture::{Done, Fixture, MIB, number};

/// io_uring_setup(2), io_uring_enter(2), io_uring_register(2): the same numbers everywhere.
const IO_URING: std::ops::RangeInclusive<i64> = 425..=427;

/// Runs a command that io_uring is refused to, with EPERM.
#[track_caller]
pub fn without_io_uring(fixture: &Fixture, words: &str) -> Done {
    let rules = IO_URING.map(|call| (call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(1);
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    let mut command = fixture.command(words);
    // A filter is of one thread, and of the processes that it starts.
    let started = std::thread::spawn(move || {
        seccompiler::apply_filter(&program).unwrap();
        command.spawn().unwrap()
    });
    let child: Child = started.join().unwrap();
    Done::new(words, child)
}

#[test]
fn a_job_is_measured_by_threads_at_its_depth() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 8 * MIB);
    for words in [
        "job disk --rw randread --bs 4k --iodepth 16 --io_size 16m",
        "job disk --rw randread --bs 4k --iodepth 16 --io_size 16m --engine uring",
        "job disk --rw randwrite --bs 4k --iodepth 16 --numjobs 2 --io_size 16m --verify \
         --destroy disk",
    ] {
        let done = without_io_uring(&fixture, words).expect(0);
        let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("engine: threads"), "{done}");
        assert!(text.contains("refuses io_uring"), "{done}");
        let job = without_io_uring(&fixture, &format!("{words} --json")).expect(0).json();
        let ios = number(&job, "/jobs/0/read/ios") + number(&job, "/jobs/0/write/ios");
        assert!(ios >= 4096.0, "{ios}");
        assert!(job["warnings"].to_string().contains("engine-replaced"), "{job}");
    }
    // Asked for, it needs no explanation, and works where io_uring does too.
    let done =
        fixture.ok("job disk --rw randread --bs 4k --iodepth 16 --io_size 4m --engine threads");
    assert!(!done.stdout.contains("io_uring"), "{done}");
}

#[test]
fn a_suite_and_a_stream_are_whole() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 16 * MIB);
    let run = without_io_uring(&fixture, "run quick disk --scale 0.01 --json").expect(0).json();
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    assert!(cells.len() > 8, "{}", cells.len());
    for cell in cells {
        assert_eq!(cell["state"], "finished", "{cell}");
    }
    let run = fixture.json("run quick disk --scale 0.01 --engine threads");
    assert_eq!(run["parameters"]["engine"], "threads");
    let stream = "record disk --pattern 7 --length 8m --destroy disk";
    without_io_uring(&fixture, stream).expect(0);
}
