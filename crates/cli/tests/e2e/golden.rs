//! Golden reports: findings of AnandTech M8Pe, PBlaze5 and Optane Memory (docs/sources.md) in
//! simulated runs and their pages. Absolute levels where published (`reference/`), else relations.

use serde_json::Value;

use crate::fixture::{Fixture, number};

const CONSISTENCY: &str = include_str!("../../../../suites/consistency.toml");
const HOUR: &str = include_str!("../../../../reference/consistency.csv");

fn cells<'a>(run: &'a Value, drive: usize, step: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = run["runs"][drive]["cells"].as_array().unwrap().iter();
    all.filter(move |cell| cell["step"] == step)
}

/// A published figure of the hour.
fn published(drive: &str, figure: &str) -> f64 {
    let mut rows = HOUR.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows.find(|row| row[0] == drive && row[1] == figure);
    row.unwrap()[3].parse().unwrap()
}

fn near(what: &str, simulated: f64, published: f64, percent: f64) {
    let off = (simulated / published - 1.0) * 100.0;
    assert!(
        off.abs() <= percent,
        "{what}: {simulated} is {off:+.1} % off the published {published}"
    );
}

/// AnandTech M8Pe: the hour of the bare M8Pe(G)N alternates between two rates, mostly the fast one;
/// that is accepted as its steady state.
#[test]
fn the_m8pe_gn_alternates_as_published_and_counts_as_steady() {
    let fixture = Fixture::on_disk();
    // The half without additional over-provisioning; the other was not published.
    let (first, rest) = CONSISTENCY.split_once("[[step]]\nid = \"purge-spare\"").unwrap();
    let (_, rules) = rest.split_once("[[verdict.rule]]").unwrap();
    // Headlines name the other half too.
    let rules = rules.split("[[headline]]").next().unwrap_or_default();
    fixture.write("half.toml", format!("{first}[[verdict.rule]]{rules}"));
    let run = fixture.json("run ./half.toml sim:plextor-m8pe-gn --out hour");
    let reasons = run["runs"][0]["verdict"]["reasons"].as_array().unwrap();
    let message = reasons[0]["text"].as_str().unwrap();
    let mean: f64 = message
        .strip_prefix("steady random writes: ")
        .and_then(|text| text.split_once(" IOPS in steady state"))
        .unwrap_or_else(|| panic!("{message}"))
        .0
        .replace(',', "")
        .parse()
        .unwrap();
    near("mean", mean, published("plextor-m8pe-gn", "mean_iops"), 10.0);
    let warnings = run["warnings"].as_array().unwrap();
    assert!(warnings.iter().all(|w| w["code"] != "not-steady"), "{warnings:?}");
    fixture.ok("export hour --format csv -o csv");
    let text = fixture.text("csv/intervals.csv");
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| heading.iter().position(|h| *h == name).unwrap();
    let (cell, iops) = (at("cell"), at("iops"));
    let rates: Vec<f64> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row[cell].ends_with("/random-write"))
        .map(|row| row[iops].parse().unwrap())
        .collect();
    let scored = &rates[3200..3600];
    let level = |fast: bool| -> (usize, f64) {
        let mut part: Vec<f64> =
            scored.iter().copied().filter(|r| (*r > 8_000.0) == fast).collect();
        part.sort_by(f64::total_cmp);
        (part.len(), part[part.len() / 2])
    };
    let ((fast_s, fast), (slow_s, slow)) = (level(true), level(false));
    near("fast", fast, published("plextor-m8pe-gn", "fast_iops"), 10.0);
    near("slow", slow, published("plextor-m8pe-gn", "slow_iops"), 15.0);
    assert!(fast_s > slow_s && slow_s > 50, "{fast_s} s fast, {slow_s} s slow");
    fixture.ok("report hour -o hour.html");
    let page = fixture.text("hour.html");
    assert!(page.contains("published 12,000 IOPS on average"));
    assert!(!page.contains("not steady"));
}

/// AnandTech PBlaze5: the C916 reads slightly faster than the C900, both below the rated million.
/// Steady writes measured for seconds are refused.
#[test]
fn the_c916_is_slightly_faster_than_the_c900_and_short_writes_are_not_steady() {
    let fixture = Fixture::on_disk();
    let run = fixture.json(
        "run enterprise sim:memblaze-pblaze5-c916 sim:memblaze-pblaze5-c900 --set area=1% --set \
         blocks=4k --set writers=1 --set threads=128,256,512 --set readers=1 --set mixes=70 --set \
         steady=2s --set settle=2s --set idle=1s --scale 0.01 --out run",
    );
    let best = |drive: usize| {
        let rates = cells(&run, drive, "peak-random-read").map(|c| number(c, "/iops"));
        rates.fold(0.0, f64::max)
    };
    let (c916, c900) = (best(0), best(1));
    assert!(c916 > c900 && c916 < 1.15 * c900, "{c916} {c900}");
    assert!(c916 < 1e6, "limited by processors: {c916}");
    for drive in 0..2 {
        let verdict = &run["runs"][drive]["verdict"];
        let reasons = verdict["reasons"].as_array().unwrap().iter();
        let mut reasons = reasons.map(|r| r["text"].as_str().unwrap());
        let writes = reasons.find(|t| t.starts_with("steady random writes")).unwrap();
        assert!(writes.contains("not measured: not steady"), "{writes}");
    }
    fixture.ok("report run -o run.html");
    assert!(fixture.text("run.html").contains("not steady"));
}

/// AnandTech Optane Memory: the P4800X is saturated by sequential reads at depth 2, the MX300
/// nearly at depth 1; the P4800X answers single reads an order of magnitude sooner, as published
/// beside it; the 960 EVO is faster at writes of 512 B.
#[test]
fn the_p4800x_the_mx300_and_the_960_evo_keep_their_order() {
    let fixture = Fixture::on_disk();
    let run = fixture.json(
        "run client sim:intel-optane-p4800x sim:crucial-mx300 sim:samsung-960-evo --set \
         precondition=1% --set left=1% --set reference=1% --set depths=1,2,16 --set blocks=512,4k --set \
         mixes=70 --scale 0.001 --out run",
    );
    let rates = |drive: usize, step: &'static str| -> Vec<f64> {
        cells(&run, drive, step).map(|c| number(c, "/iops")).collect()
    };
    let (optane, mx300) = (rates(0, "depth-sequential-read"), rates(1, "depth-sequential-read"));
    assert!(optane[1] > 1.08 * optane[0] && optane[2] < 1.02 * optane[1], "{optane:?}");
    assert!(mx300[2] < 1.12 * mx300[0], "{mx300:?}");
    let (optane, mx300) = (rates(0, "depth-random-read"), rates(1, "depth-random-read"));
    assert!(optane[0] > 8.0 * mx300[0], "{optane:?} {mx300:?}");
    let small = |drive: usize| {
        let mut writes = cells(&run, drive, "transfer-write");
        let cell = writes.find(|c| c["id"].as_str().unwrap().ends_with("rw=write,bs=512"));
        number(cell.unwrap(), "/iops")
    };
    assert!(small(2) > small(0), "{} {}", small(2), small(0));
    // Depths 1 and 16 (four threads of four) were published.
    fixture.ok("report run -o run.html");
    let page = fixture.text("run.html");
    assert!(page.contains("published and simulated latency, \u{b5}s"));
    assert!(page.contains("AnandTech (AT11209p4)"));
    near("depth 1", optane[0], 108_300.0, 10.0);
    near("depth 16", optane[2], 584_800.0, 10.0);
}

/// AnandTech Optane Memory, writes: the MX300 gains nothing from a second one in flight, and on
/// small ones in sequence the P4800X is slower than Optane Memory below 4 KiB.
#[test]
fn write_sweeps_differ_between_drives_as_published() {
    let fixture = Fixture::on_disk();
    let client = |drives: &str, words: &str, out: &str| {
        fixture.json(&format!(
            "run client {drives} --set mixes=70 --set reference=1% {words} --scale 0.02 --out {out}"
        ))
    };
    let run = client(
        "sim:crucial-mx300",
        // No idle time long enough to fold a part of its write cache: at this scale the first of
        // the two would use all of it. At full length both write beyond it (355 MiB/s each).
        "--set area=2% --set depths=1,2 --set blocks=4k --set idle=10s --set cool=0s",
        "mx300",
    );
    let rates: Vec<f64> =
        cells(&run, 0, "depth-sequential-write").map(|cell| number(cell, "/mib_per_s")).collect();
    assert_eq!(rates.len(), 2);
    near("a second write in flight", rates[1], rates[0], 2.0);

    let run = client(
        "sim:intel-optane-p4800x sim:intel-optane-memory-32gb",
        "--set area=1g --set depths=1 --set blocks=512,1k,2k,4k",
        "small",
    );
    let rates = |drive: usize| -> Vec<f64> {
        cells(&run, drive, "transfer-write")
            .filter(|cell| cell["rw"] == "write")
            .map(|cell| number(cell, "/mib_per_s"))
            .collect()
    };
    let (p4800x, memory) = (rates(0), rates(1));
    assert_eq!([p4800x.len(), memory.len()], [4; 2]);
    for (large, small) in p4800x.iter().zip(&memory).take(3) {
        assert!(large < small, "{p4800x:?} {memory:?}");
    }
    assert!(p4800x[3] > memory[3], "from 4 KiB on: {p4800x:?} {memory:?}");
}

/// DragonFly: the Samsung 951 is at 76 degrees after two minutes of reads beside other drives, and
/// at full speed. Sixty-four reads in flight are 64 deep in the one queue of one thread and 8 in
/// each of its 8 queues; one thread of a slow host is limited by its processor.
#[test]
fn temperatures_after_two_minutes_at_once_and_depths_per_queue_are_those_of_the_drives() {
    let fixture = Fixture::on_disk();
    let run = fixture.json(
        "run bandwidth sim:samsung-951,host=6us sim:toshiba-rd400 --set area=1GiB \
         --set runtime=200ms --set ramp=50ms --set soak=1s --set settle=1s --set threads=64 \
         --set blocks=32k --set readers=1 --set queue_threads=1,8,64 --out run",
    );
    fixture.ok("export run --format csv -o csv");
    let text = fixture.text("csv/telemetry.csv");
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| heading.iter().position(|h| *h == name).unwrap();
    let (drive, temperature) = (at("drive"), at("temperature_c"));
    let aboard = lines.filter(|line| line.contains(",together/all-aboard-temperature,"));
    let readings: Vec<(String, f64)> = aboard
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|row| (row[drive].to_owned(), row[temperature].parse().unwrap()))
        .collect();
    let of_first: Vec<f64> = readings
        .iter()
        .filter(|(name, _)| *name == readings[0].0)
        .map(|(_, celsius)| *celsius)
        .collect();
    assert!(of_first.len() > 100, "{}", of_first.len());
    // It begins up to 5 K above its temperature at the start of the run.
    let celsius = *of_first.last().unwrap();
    near("after two minutes", celsius, 76.0, 8.0);
    fixture.ok("report run -o run.html");
    let page = fixture.text("run.html");
    for part in [
        "Temperatures of all drives at once",
        "rate by depth per queue",
        "64 in flight, all threads together",
        "CPU-limited",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let rate = |threads: u64| {
        let mut queues = cells(&run, 0, "queues");
        let cell = queues.find(|cell| cell["numjobs"] == threads).unwrap();
        assert_eq!(cell["iodepth"], 64 / threads);
        number(cell, "/iops")
    };
    assert!(rate(1) < 0.9 * rate(64), "{} {}", rate(1), rate(64));
    let limited: Vec<&str> = run["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|w| w["code"] == "host-limited")
        .flat_map(|w| w["cells"].as_array().unwrap())
        .filter_map(|cell| cell.as_str())
        .collect();
    assert!(limited.contains(&"samsung-951/queues/numjobs=1"), "{limited:?}");
}
