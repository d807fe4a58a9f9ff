//! Drives of a lot differ by the spread that is stated, in the order of their numbers.

use crate::common;

use std::sync::atomic::AtomicBool;

use assay_ssd::Profile;
use assay_stats::HostAudit;
use assay_store::read::Run;
use assay_suite::catalogue;
use common::Quiet;

const DRIVES: u64 = 24;

/// `quick`, shortened, on these drives.
fn quick(specs: &[String]) -> Run {
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir().unwrap();
    let text = catalogue::load("quick").unwrap().text;
    let text = text
        .replace("default = \"3s\"", "default = \"500ms\"")
        .replace("default = \"500ms\"", "default = \"100ms\"");
    let (_, run) = common::run_in(
        &folder.path().join("run"),
        &text,
        &specs,
        HostAudit::default(),
        &AtomicBool::new(false),
        &mut Quiet,
    );
    run
}

/// Reads per second of each drive, by cell.
fn rates(run: &Run) -> Vec<(String, Vec<f64>)> {
    let mut rates: Vec<(String, Vec<f64>)> = Vec::new();
    for cell in &run.cells {
        let Some(result) = cell.drives.first().and_then(|part| part.result.as_ref()) else {
            continue;
        };
        let (_, name) = cell.plan.id.split_once('/').unwrap();
        match rates.iter_mut().find(|(known, _)| known == name) {
            Some((_, rates)) => rates.push(result.iops()),
            None => rates.push((name.to_owned(), vec![result.iops()])),
        }
    }
    rates
}

/// Standard deviation of the logarithms.
fn spread(rates: &[f64]) -> f64 {
    let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    (squares / (logs.len() - 1) as f64).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| values.iter().filter(|other| *other < value).count() as f64;
    values.iter().map(rank).collect()
}

/// Spearman's rank correlation of values without ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let squares = ranks(a).into_iter().zip(ranks(b)).map(|(a, b)| (a - b).powi(2));
    let n = a.len() as f64;
    1.0 - 6.0 * squares.sum::<f64>() / (n * (n * n - 1.0))
}

#[test]
fn the_spread_of_a_lot_is_as_stated_and_follows_its_numbers() {
    let lot = |seed| format!("sim:samsung-951,lot=7,seed={seed}");
    let rates = rates(&quick(&(1..=DRIVES).map(lot).collect::<Vec<_>>()));
    assert!(!rates.is_empty());
    for (cell, rates) in &rates {
        assert_eq!(rates.len() as u64, DRIVES, "{cell}");
        let spread = spread(rates);
        // With many in flight, the simulated host can be the limit, which is the same for all.
        let least = match cell.starts_with("random-read-latency/") {
            true => 0.002,
            false => 0.0,
        };
        assert!((least..0.03).contains(&spread), "{cell}: {spread}");
    }
    // A single read waits for each of these times.
    let text = Profile::builtin_text("samsung-951").unwrap();
    let time_ns = |seed| {
        let drive = Profile::of_lot(text, 7, seed).unwrap();
        let firmware = &drive.firmware;
        let senses = &drive.nand.read_ns.value;
        let sense = senses.iter().sum::<u64>() as f64 / senses.len() as f64;
        let transfer = 4096e9 / drive.nand.channel_bytes_per_second.value as f64;
        let latency = firmware.read_latency_ns.as_ref().unwrap().value;
        let firmware = firmware.read_command_ns.value + latency + 4 * firmware.read_kib_ns.value;
        firmware as f64 + sense + transfer
    };
    let times: Vec<f64> = (1..=DRIVES).map(time_ns).collect();
    let (_, single) = rates.iter().find(|(cell, _)| cell == "random-read-latency/bs=4k").unwrap();
    let slower: Vec<f64> = single.iter().map(|rate| -rate).collect();
    let correlation = rank_correlation(&times, &slower);
    assert!(correlation > 0.95, "{correlation}");
}

#[test]
fn without_a_lot_drives_are_alike_and_a_drive_of_a_lot_repeats() {
    let plain = |seed| format!("sim:samsung-951,seed={seed}");
    for (cell, rates) in rates(&quick(&(1..=6).map(plain).collect::<Vec<_>>())) {
        assert!(spread(&rates) < 0.002, "{cell}");
    }
    let drive = ["sim:samsung-951,lot=3,seed=5".to_owned()];
    assert_eq!(rates(&quick(&drive)), rates(&quick(&drive)));
}
