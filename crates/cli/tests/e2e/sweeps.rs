//! Sweeps: the same table whatever the chunks, their order and who measures them.

use crate::fixture::{Fixture, number};

/// Short enough for many points.
const SUITE: &str = r#"
name = "short"
title = "One cell"
summary = "Random reads."
source = "these tests"
duration = "short"
[[step]]
id = "reads"
title = "Reads"
kind = "measure"
job = { rw = "randread", bs = "4k", runtime = "20ms", numjobs = 8 }
"#;

const SWEEP: &str = r#"
name = "sense-time"
suites = [ { suite = "short.toml" } ]
[sweep]
profile = "samsung-951"
lot = 7
repeats = 2
chunk = 3
[sweep.keys]
"nand.read_ns" = [[34_000, 42_500], [68_000, 85_000]]
[store]
at = "STORE"
"#;

fn write(fixture: &Fixture, name: &str, chunk: u64) {
    fixture.write("short.toml", SUITE);
    let store = fixture.path(name).display().to_string();
    let text = SWEEP
        .replace("chunk = 3", &format!("chunk = {chunk}"))
        .replace("STORE", &store);
    fixture.write(&format!("{name}.toml"), text);
}

#[test]
fn a_table_does_not_depend_on_chunks_order_and_processes() {
    let fixture = Fixture::in_memory();
    write(&fixture, "first", 3);
    let done = fixture.json("fleet sweep first.toml -o first.csv --jobs 2");
    assert_eq!(number(&done, "/points"), 4.0);
    assert_eq!(number(&done, "/left"), 0.0);
    write(&fixture, "second", 1);
    assert_eq!(
        fixture.ok("fleet sweep second.toml --missing").stdout,
        "0-3\n"
    );
    fixture.ok("fleet sweep second.toml --chunk 2 --jobs 1");
    assert_eq!(
        fixture.ok("fleet sweep second.toml --missing").stdout,
        "0-1,3\n"
    );
    let done = fixture.json("fleet sweep second.toml -o second.csv");
    assert_eq!(done["measured"], serde_json::json!([0, 1, 3]), "{done}");
    let table = fixture.text("first.csv");
    assert_eq!(table, fixture.text("second.csv"));
    // IOPS, MiB/s, median and p99 of four points, and the sense time shows.
    let iops: Vec<f64> = table
        .lines()
        .filter(|line| line.contains(".iops,"))
        .map(|line| line.rsplit(',').nth(1).unwrap().parse().unwrap())
        .collect();
    assert_eq!(iops.len(), 4, "{table}");
    assert!(iops[0].min(iops[1]) > 1.1 * iops[2].max(iops[3]), "{table}");
    assert!(iops[0] != iops[1], "two drives of a lot differ: {table}");
    // Again: nothing is left to do, and the table is the same.
    let done = fixture.json("fleet sweep first.toml -o first.csv");
    assert_eq!(done["measured"], serde_json::json!([]), "{done}");
    assert_eq!(table, fixture.text("first.csv"));
}

#[test]
fn a_sweep_that_cannot_be_measured_is_refused_before_it_begins() {
    let fixture = Fixture::in_memory();
    write(&fixture, "sweep", 3);
    let good = fixture.text("sweep.toml");
    for (from, to, message) in [
        ("nand.read_ns", "nand.reading_ns", "nand.reading_ns"),
        (
            "[[34_000, 42_500], [68_000, 85_000]]",
            "[40_000]",
            "nand.read_ns",
        ),
        ("samsung-951", "samsung-950x", "samsung-950x"),
        ("lot = 7", "lots = 7", "lots"),
    ] {
        fixture.write("bad.toml", good.replace(from, to));
        fixture.run("fleet sweep bad.toml").refuses(2, &[message]);
    }
    fixture
        .run("fleet sweep sweep.toml --chunk 2")
        .refuses(2, &["no chunk 2"]);
    fixture
        .run("fleet sweep none.toml")
        .refuses(2, &["none.toml"]);
    // A file that is no table is left alone.
    fixture.write("notes.txt", "mine");
    fixture
        .run("fleet sweep sweep.toml -o notes.txt")
        .refuses(2, &["notes.txt"]);
    // A combination that is no drive has a row that says why; the others are measured.
    fixture.write(
        "hole.toml",
        good.replace(
            "[[34_000, 42_500], [68_000, 85_000]]",
            "[[34_000, 42_500], [0, 0]]",
        )
        .replace("repeats = 2", "repeats = 1"),
    );
    fixture.ok("fleet sweep hole.toml -o hole.csv");
    let table = fixture.text("hole.csv");
    assert_eq!(
        table.lines().filter(|l| l.starts_with("0,")).count(),
        4,
        "{table}"
    );
    let hole: Vec<&str> = table.lines().filter(|l| l.starts_with("1,")).collect();
    assert!(hole.len() == 1 && hole[0].contains("read_ns"), "{table}");
    // A suite that is none: the point and the child's message.
    fixture.write("nosuite.toml", good.replace("short.toml", "no-such-suite"));
    fixture
        .run("fleet sweep nosuite.toml")
        .refuses(4, &["point 0", "no-such-suite"]);
}
