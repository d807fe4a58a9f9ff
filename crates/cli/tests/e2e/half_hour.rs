//! The first half hour of a new user, in the order of the README: first report, is it OK, which of
//! two is faster, a gate in CI, a container, files that are no drives. Each step has to answer.

use crate::engines::without_io_uring;
use crate::fixture::{Done, Fixture, MIB};

/// The first lines in one, with single spaces.
fn first_lines(done: &Done, lines: usize) -> String {
    let lines = done.stdout.lines().take(lines);
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

#[test]
fn first_report_and_is_it_ok() {
    let fixture = Fixture::on_disk();
    let first = fixture.ok("run quick sim:samsung-951 --out quick-951 --report quick.html");
    assert!(first.stdout.contains("quick.html"), "{first}");
    assert!(fixture.text("quick.html").contains("simulated"));
    let ok = fixture.ok("check sim:samsung-951 --gate");
    assert!(first_lines(&ok, 2).ends_with("this drive (simulated): as expected"), "{ok}");
    assert!(ok.stdout.contains("of this model (DragonFly NVMe tests)"), "{ok}");
}

#[test]
fn which_is_faster_and_a_gate_for_it() {
    let fixture = Fixture::on_disk();
    fixture.ok("run bandwidth sim:samsung-951 sim:intel-600p --scale 0.1 --out pair");
    let compared = fixture.ok("compare pair");
    let answer = first_lines(&compared, 3);
    assert!(answer.starts_with("intel-600p (simulated): 0.3"), "{compared}");
    assert!(answer.contains("times the bandwidth of samsung-951"), "{compared}");
    assert!(answer.contains("times its latency of random reads at depth 1"), "{compared}");
    let gated = fixture.run("compare pair --fail-if slower=5%").expect(1);
    assert!(gated.stdout.contains("failed: slower in"), "{gated}");
    // The other way round nothing is slower.
    for drive in ["intel-600p", "samsung-951"] {
        let job = "--rw randread --bs 4k --iodepth 32 --runtime 40s";
        fixture.ok(&format!("job sim:{drive} {job} --out {drive}"));
    }
    fixture.ok("compare intel-600p samsung-951 --fail-if slower=5%");
}

/// The default seccomp profile of containers refuses io_uring.
#[test]
fn in_a_container_every_cell_is_measured() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk.img", 32 * MIB);
    let words = "run quick disk.img --scale 0.05 --out quick --gate --json";
    let run = without_io_uring(&fixture, words).expect(0).json();
    let measured = run["runs"][0]["cells"].as_array().unwrap().iter();
    let measured = measured.filter(|cell| cell["kind"] == "measure");
    let states: Vec<&str> = measured.map(|c| c["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["finished"; 14]);
    assert!(run["warnings"].to_string().contains("engine-replaced"));
}

#[test]
fn what_is_no_drive_is_named_first() {
    let fixture = Fixture::on_disk();
    let memory = Fixture::in_memory();
    memory.noise("disk.img", 8 * MIB);
    fixture.tool("fallocate", &["-l", "8M", "space.img"]);
    let reads = "--rw randread --bs 4k --iodepth 32 --runtime 200ms";
    let job = memory.ok(&format!("job disk.img {reads}"));
    assert!(
        first_lines(&job, 5).contains("not a drive: a file in this host's memory (tmpfs)"),
        "{job}"
    );
    let job = fixture.ok(&format!("job space.img {reads}"));
    assert!(first_lines(&job, 6).contains("100 % of the area was never written"), "{job}");
    let check = memory.json("check disk.img --gate");
    assert_eq!(check["rating"], "cannot_be_judged", "{check:#}");
}
