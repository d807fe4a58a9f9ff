//! Sweeps and fits: the same result whatever the chunks, their order and who computes them.

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
    let text = SWEEP.replace("chunk = 3", &format!("chunk = {chunk}")).replace("STORE", &store);
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
    assert_eq!(fixture.ok("fleet sweep second.toml --missing").stdout, "0-3\n");
    fixture.ok("fleet sweep second.toml --chunk 2 --jobs 1");
    assert_eq!(fixture.ok("fleet sweep second.toml --missing").stdout, "0-1,3\n");
    let done = fixture.json("fleet sweep second.toml -o second.csv");
    assert_eq!(done["computed"], serde_json::json!([0, 1, 3]), "{done}");
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
    assert_eq!(done["computed"], serde_json::json!([]), "{done}");
    assert_eq!(table, fixture.text("first.csv"));
}

#[test]
fn a_sweep_that_cannot_be_measured_is_refused_before_it_begins() {
    let fixture = Fixture::in_memory();
    write(&fixture, "sweep", 3);
    let good = fixture.text("sweep.toml");
    for (from, to, message) in [
        ("nand.read_ns", "nand.reading_ns", "nand.reading_ns"),
        ("[[34_000, 42_500], [68_000, 85_000]]", "[40_000]", "nand.read_ns"),
        ("samsung-951", "samsung-950x", "samsung-950x"),
        ("lot = 7", "lots = 7", "lots"),
    ] {
        fixture.write("bad.toml", good.replace(from, to));
        fixture.run("fleet sweep bad.toml").refuses(2, &[message]);
    }
    fixture.run("fleet sweep sweep.toml --chunk 2").refuses(2, &["no chunk 2"]);
    let advice = ["cannot read none.toml", "name a TOML file", "[sweep] or [fit]"];
    fixture.run("fleet sweep none.toml").refuses(2, &advice);
    // A file that is no table is left alone.
    fixture.write("notes.txt", "mine");
    fixture.run("fleet sweep sweep.toml -o notes.txt").refuses(2, &["notes.txt"]);
    // A combination that is no drive has a row that says why; the others are measured.
    fixture.write(
        "hole.toml",
        good.replace("[[34_000, 42_500], [68_000, 85_000]]", "[[34_000, 42_500], [0, 0]]")
            .replace("repeats = 2", "repeats = 1"),
    );
    fixture.ok("fleet sweep hole.toml -o hole.csv");
    let table = fixture.text("hole.csv");
    assert_eq!(table.lines().filter(|l| l.starts_with("0,")).count(), 4, "{table}");
    let hole: Vec<&str> = table.lines().filter(|l| l.starts_with("1,")).collect();
    assert!(hole.len() == 1 && hole[0].contains("read_ns"), "{table}");
    // A suite that is none: the point and the child's message.
    fixture.write("nosuite.toml", good.replace("short.toml", "no-such-suite"));
    fixture.run("fleet sweep nosuite.toml").refuses(4, &["point 0", "no-such-suite"]);
}

/// Figures of a drive whose reads take 1.3 times as long, about.
const FIGURES: &str = "\
rw,block,threads,metric,ios,value
randread,4k,1,median_us,2000,110
randread,4k,16,mib_per_s,4000,430
";

const FIT: &str = r#"
name = "slower"
[fit]
profile = "samsung-951"
to = "figures.csv"
free = ["nand.read_ns", "firmware.read_command_ns"]
evaluations = 12
name = "my-drive"
starts = 4
chunk = 4
[store]
at = "STORE"
"#;

fn write_fit(fixture: &Fixture, name: &str, chunk: u64) {
    fixture.write("figures.csv", FIGURES);
    let store = fixture.path(name).display().to_string();
    let text = FIT.replace("chunk = 4", &format!("chunk = {chunk}")).replace("STORE", &store);
    fixture.write(&format!("{name}.toml"), text);
}

#[test]
fn a_fit_of_three_processes_one_of_them_killed_is_that_of_one_process() {
    let fixture = Fixture::in_memory();
    write_fit(&fixture, "one", 4);
    let done = fixture.json("fleet sweep one.toml -o one-drive.toml --jobs 2");
    assert_eq!((number(&done, "/starts"), number(&done, "/left")), (4.0, 0.0), "{done}");
    let starts = done["result"]["starts"].as_array().unwrap();
    let costs: Vec<f64> = starts.iter().map(|s| s["cost"].as_f64().unwrap()).collect();
    assert!(costs.is_sorted(), "{done}");
    assert!(costs[0] < costs[3], "starts differ: {done}");
    assert_eq!(starts[0]["start"], done["result"]["best"]);
    let profile = fixture.text("one-drive.toml");
    assert!(profile.contains("my-drive: samsung-951 fitted to figures.csv"), "{profile}");

    // Three processes with other chunks, one of which is killed: its chunk alone is missing.
    write_fit(&fixture, "three", 1);
    fixture.ok("fleet sweep three.toml --chunk 0 --jobs 1");
    let child = fixture
        .command("fleet sweep three.toml --chunk 2 --jobs 1")
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut child = child.unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let missing = fixture.ok("fleet sweep three.toml --missing").stdout;
    assert!(["1-3\n", "1,3\n"].contains(&missing.as_str()), "{missing}");
    fixture.run("fleet sweep three.toml --chunk 4").refuses(2, &["chunks 0 to 3"]);
    fixture.ok("fleet sweep three.toml --chunk 3 --jobs 2");
    let again = fixture.json("fleet sweep three.toml -o three-drive.toml");
    assert_eq!(again["result"], done["result"]);
    for name in ["toml", "residuals.csv"] {
        let text = |of: &str| fixture.text(&format!("{of}-drive.{name}"));
        assert_eq!(text("one"), text("three"), "{name}");
    }
    // Start 0 alone is the fit of `assay fit`.
    write_fit(&fixture, "single", 1);
    let single = fixture.text("single.toml").replace("starts = 4", "starts = 1");
    fixture.write("single.toml", single);
    fixture.ok("fleet sweep single.toml -o single-drive.toml");
    fixture.ok(
        "fit samsung-951 --to figures.csv --free nand.read_ns --free firmware.read_command_ns \
         --evaluations 12 --name my-drive -o fit-drive.toml",
    );
    assert_eq!(fixture.text("single-drive.toml"), fixture.text("fit-drive.toml"));
}

#[test]
fn a_fit_that_cannot_be_computed_is_refused_before_it_begins() {
    let fixture = Fixture::in_memory();
    write_fit(&fixture, "fit", 1);
    let good = fixture.text("fit.toml");
    for (from, to, message) in [
        ("nand.read_ns", "nand.reading_ns", "nand.reading_ns"),
        ("figures.csv", "none.csv", "none.csv"),
        ("samsung-951", "samsung-950x", "samsung-950x"),
        ("starts = 4", "starts = 0", "fit.starts"),
        ("\"my-drive\"", "\"My Drive\"", "My Drive"),
        ("[fit]", "[fits]", "[sweep] and [fit]"),
    ] {
        fixture.write("bad.toml", good.replace(from, to));
        fixture.run("fleet sweep bad.toml").refuses(2, &[message]);
    }
    fixture.write("notes.toml", "mine");
    fixture.run("fleet sweep fit.toml -o notes.toml").refuses(2, &["notes.toml"]);
}
