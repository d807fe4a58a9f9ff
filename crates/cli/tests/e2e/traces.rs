//! Block traces: replayed on files and simulated drives, shown, and fitted.

use crate::block_devices::{BlockDevices, name};
use crate::fixture::{Fixture, MIB, changed_blocks, number};

/// Alibaba's format: (microseconds, write, offset, length).
fn csv(requests: impl Iterator<Item = (u64, bool, u64, u64)>) -> String {
    let line = |(micros, write, offset, len): (u64, bool, u64, u64)| {
        let letter = if write { "W" } else { "R" };
        format!("7,{letter},{offset},{len},{micros}\n")
    };
    requests.map(line).collect()
}

/// A trace that writes needs permission; with it the drive gets exactly its writes.
#[test]
fn a_trace_is_replayed_onto_a_file() {
    let fixture = Fixture::on_disk();
    let before = fixture.noise("disk", 4 * MIB);
    let trace =
        csv([(0, true, 8192, 4096), (100, false, 0, 65536), (200, true, 1_052_672, 8192)]
            .into_iter());
    std::fs::write(fixture.path("t.csv"), &trace).unwrap();
    fixture.run("job disk --trace t.csv").refuses(3, &["disk", "--destroy"]);
    assert_eq!(fixture.read("disk"), before);
    // Its reads alone need none.
    let reads = fixture.json("job disk --trace t.csv --trace_skip write,trim");
    assert_eq!(number(&reads, "/jobs/0/read/ios"), 1.0);
    let job = fixture.json("job disk --trace t.csv --destroy disk --trace_phases 3 --out kept");
    assert_eq!(changed_blocks(&before, &fixture.read("disk"), 4096), [2, 257, 258]);
    assert_eq!(number(&job, "/jobs/0/trace/requests"), 3.0);
    assert_eq!(job.pointer("/jobs/0/trace/whole").unwrap(), true);
    assert_eq!(job.pointer("/jobs/0/trace/phases").unwrap().as_array().unwrap().len(), 3);
    assert_eq!(number(&job, "/jobs/0/trace/total/write/ios"), 2.0);
    // The page shows it.
    fixture.run("report kept -o page.html").expect(0);
    let page = fixture.text("page.html");
    assert!(page.contains("phases of the trace") && page.contains("t.csv (alibaba)"));
}

#[test]
fn a_drive_that_cannot_follow_is_said_to_be_late() {
    let fixture = Fixture::in_memory();
    let trace = csv((0..3000).map(|n| (n * 5, false, n * 7919 % 65536 * 4096, 4096)));
    std::fs::write(fixture.path("t.csv"), &trace).unwrap();
    let late = fixture.json("job sim:samsung-951 --trace t.csv --iodepth 1");
    assert!(number(&late, "/jobs/0/trace/lag/late_ios") > 2000.0);
    let codes: Vec<&str> =
        late["warnings"].as_array().unwrap().iter().filter_map(|w| w["code"].as_str()).collect();
    assert!(codes.contains(&"trace-late"), "{codes:?}");
    let paced = fixture.json("job sim:samsung-951 --trace t.csv --trace_time_scale 100");
    assert_eq!(number(&paced, "/jobs/0/trace/lag/late_ios"), 0.0);
    let text = fixture
        .run(
            "job sim:samsung-951 --trace t.csv --trace_map offset --size 64m --trace_timing closed",
        )
        .expect(0);
    assert!(
        text.stdout.contains("phases of the trace")
            && text.stdout.contains("outside of the area and left out"),
        "{}",
        text.stdout
    );
}

/// Errors name the file and the line; text of a trace does not act on the terminal.
#[test]
fn bad_traces_are_refused() {
    let fixture = Fixture::in_memory();
    std::fs::write(fixture.path("t.csv"), "7,R,0,4096,1\n7,R,\u{1b}[2J,4096,2\n").unwrap();
    for words in ["job sim:samsung-951 --trace t.csv", "trace info t.csv", "trace fit t.csv"] {
        let done = fixture.run(words);
        assert!(!done.stderr.contains('\u{1b}'), "{}", done.stderr);
        done.refuses(2, &["t.csv:2:", "offset"]);
    }
    fixture.run("trace info missing.csv").refuses(2, &["missing.csv", "cannot read the trace"]);
    fixture.run("job sim:samsung-951 --rw read --trace t.csv").refuses(2, &["exclude one another"]);
}

/// A trace made by a known workload gives its options back, and the workload behaves as the trace
/// does.
#[test]
fn a_fitted_workload_recovers_the_options_of_a_trace() {
    let fixture = Fixture::in_memory();
    // Sizes 60 % 4 KiB and 40 % 64 KiB, 70 % reads, a Poisson process of 4000 per second, uniform
    // over 1 GiB.
    let mut state = 1_u64;
    let mut random = move || {
        // xorshift64*: the tests of `trace` use the workspace's generator.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut at = 0.0;
    let trace = csv((0..40_000).map(|_| {
        at -= 250.0 * (1.0 - random()).ln();
        let write = random() >= 0.7;
        let len = if random() < 0.6 { 4096 } else { 65536 };
        (at as u64, write, (random() * 262_128.0) as u64 * 4096, len)
    }));
    std::fs::write(fixture.path("t.csv"), &trace).unwrap();
    let info = fixture.json("trace info t.csv");
    assert!((number(&info, "/gap_variation") - 1.0).abs() < 0.03);
    let fit = fixture.json("trace fit t.csv -o fit.toml");
    assert_eq!(fit["rw"], "randrw");
    let bs = ["4k/59:64k/41", "4k/60:64k/40", "4k/61:64k/39"];
    assert!(bs.contains(&fit["bs"].as_str().unwrap()), "{fit:#}");
    assert!((number(&fit, "/rwmixread") - 70.0).abs() <= 1.0);
    assert_eq!(fit["random_distribution"], "random");
    assert!((number(&fit, "/rate_iops") / 4000.0 - 1.0).abs() < 0.02);
    assert_eq!(fit["arrival"], "poisson");
    // The suite runs, and the workload's figures are those of the trace.
    let run = fixture.json("run ./fit.toml sim:samsung-951 --out run");
    let cells = run.pointer("/runs/0/cells").unwrap().as_array().unwrap();
    let of = |step: &str, figure: &str| {
        let cell = cells.iter().find(|cell| cell["step"] == step).unwrap();
        number(cell, figure)
    };
    for (figure, bound) in
        [("/mib_per_s", 0.05), ("/read/latency_ns/mean", 0.15), ("/write/latency_ns/mean", 0.15)]
    {
        let ratio = of("fitted", figure) / of("replay", figure);
        assert!((ratio - 1.0).abs() < bound, "{figure}: {ratio}");
    }
    // An earlier output is replaced, another file is not.
    fixture.run("trace fit t.csv -o fit.toml").expect(0);
    std::fs::write(fixture.path("other.toml"), "name = \"mine\"").unwrap();
    fixture.run("trace fit t.csv -o other.toml").refuses(2, &["other.toml"]);
}

/// Loop and zram devices get the requests of a trace, trims and flushes included, at its times.
#[test]
fn a_trace_is_replayed_onto_block_devices() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let before = devices.fixture.noise("image", 16 * MIB);
    // A tenth of a second: a write of one block in four, a trim, a flush.
    let mut iolog = "fio version 3 iolog\n0 x add\n0 x open\n".to_owned();
    for n in 0..100_u64 {
        let word = if n % 4 == 3 { "write" } else { "read" };
        iolog += &format!("{} x {word} {} 4096\n", n * 1000, n * 8192);
    }
    iolog += "99500 x trim 8388608 65536\n99900 x sync 0 0\n100000 x close\n";
    devices.fixture.write("t.log", iolog);
    let attached = [devices.attach("image", &["--direct-io=on"]), devices.zram(32)];
    let has_loop = attached[0].is_some();
    for device in attached.into_iter().flatten() {
        let job = devices
            .fixture
            .json(&format!("job {device} --trace t.log --destroy {}", name(&device)));
        for (figure, expected) in [
            ("/jobs/0/trace/total/read/ios", 75.0),
            ("/jobs/0/trace/total/write/ios", 25.0),
            ("/jobs/0/trace/total/discard/ios", 1.0),
            ("/jobs/0/trace/total/flush/ios", 1.0),
            ("/jobs/0/trace/counts/requests", 102.0),
        ] {
            assert_eq!(number(&job, figure), expected, "{device}: {figure}");
        }
        // Not before its time; how much later is the host's.
        assert!(number(&job, "/jobs/0/trace/total/elapsed_ns") >= 99e6);
    }
    if !has_loop {
        return;
    }
    let written: Vec<usize> = changed_blocks(&before, &devices.fixture.read("image"), 4096);
    let expected = (0..100).filter(|n| n % 4 == 3).map(|n| n * 2);
    let trimmed = 2048..2048 + 16;
    assert_eq!(written, expected.chain(trimmed).collect::<Vec<_>>());
}
