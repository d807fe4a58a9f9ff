//! Performance of the core in clock cycles, all of it simulated: the tables of docs/benchmarks.md, in Markdown.
//!
//! Arguments: `chunks`, `links`, `scaling`, `latency`, `sweep [CHUNKS]`, `depth [DRIVE]`, `plan [DRIVE]`, `hour [DRIVE]`, or `all [CHUNKS]`, which
//! is the default. The sweep ends with a stream of so many chunks, or of 1024. Widths other than 128 bits need the feature `all-configurations`.

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
    let largest = argument.and_then(|text| text.parse().ok());
    let largest = largest.unwrap_or(SHORT_SWEEP_CHUNKS);
    let all: [(&str, &dyn Fn()); 8] = [
        ("chunks", &ports::chunks),
        ("links", &ports::links),
        ("scaling", &ports::scaling),
        ("latency", &ports::latency),
        ("depth", &|| drives::depth(drive)),
        ("plan", &|| plans::plan(drive)),
        ("hour", &|| plans::hour(drive)),
        ("sweep", &|| drives::sweep(largest)),
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
    // Of a closed standard output nobody needs to know.
    let _ = std::io::stdout().flush();
}

/// The head of a table.
fn head(cells: &[&str]) {
    row(&cells
        .iter()
        .map(|&cell| cell.to_owned())
        .collect::<Vec<_>>());
    row(&vec!["---".to_owned(); cells.len()]);
}
