//! Performance of the core in clock cycles, all of it simulated: the tables of docs/benchmarks.md,
//! in Markdown.
//!
//! Arguments: `chunks`, `links`, `scaling`, `latency`, `sweep [CHUNKS [FROM]]`, `depth [DRIVE]`,
//! `plan [DRIVE]`, `hour [DRIVE]`, or `all [CHUNKS]`, which is the default. The sweep has streams
//! of FROM (1), twice FROM ... CHUNKS (1024) chunks. Widths other than 128 bits need the feature
//! `all-configurations`.

mod drives;
#[path = "../../tests/measure/mod.rs"]
mod measure;
mod plans;
mod ports;

use std::io::Write as _;

/// Chunks of the sweep that takes seconds.
const SHORT_SWEEP_CHUNKS: u64 = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.first().map_or("all", String::as_str);
    let argument = arguments.get(1).map(String::as_str);
    let drive = argument.filter(|_| chosen != "all");
    let chunks = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
    let largest = chunks(1).unwrap_or(SHORT_SWEEP_CHUNKS);
    let smallest = chunks(2).unwrap_or(1);
    let all: [(&str, &dyn Fn()); 8] = [
        ("chunks", &ports::chunks),
        ("links", &ports::links),
        ("scaling", &ports::scaling),
        ("latency", &ports::latency),
        ("depth", &|| drives::depth(drive)),
        ("plan", &|| plans::plan(drive)),
        ("hour", &|| plans::hour(drive)),
        ("sweep", &|| drives::sweep(smallest, largest)),
    ];
    let mut known = false;
    for (name, measure) in all {
        if chosen == "all" || chosen == name {
            known = true;
            measure();
            println!();
        }
    }
    if !known {
        eprintln!("no such measurement: {chosen}");
        std::process::exit(2);
    }
}

/// A row of a table, shown at once.
fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
    // A closed standard output ends nothing: the table is for reading only.
    let _ = std::io::stdout().flush();
}

/// The head of a table.
fn head(cells: &[&str]) {
    row(&cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
    row(&vec!["---".to_owned(); cells.len()]);
}
