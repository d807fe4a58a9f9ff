//! Performance of the core in clock cycles, all of it simulated: the tables of docs/benchmarks.md, in Markdown.
//!
//! `performance chunks`, `links`, `scaling`, `latency`, `depth [PROFILE]`, `plan [PROFILE]`, `hour [PROFILE]`, `sweep [LARGEST]`. Without arguments: all
//! but the sweep beyond 1024 chunks. Needs the feature `all-configurations` for widths other than 128.

mod drives;
#[path = "../../tests/measure/mod.rs"]
mod measure;
mod ports;

use std::io::Write as _;

/// Chunks of the sweep that takes seconds.
const SHORT_SWEEP_CHUNKS: u64 = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = arguments.first().map_or("all", String::as_str);
    let of = arguments.get(1).map(String::as_str);
    let largest = of.and_then(|text| text.parse().ok());
    let all: [(&str, &dyn Fn()); 8] = [
        ("chunks", &ports::chunks),
        ("links", &ports::links),
        ("scaling", &ports::scaling),
        ("latency", &ports::latency),
        ("sweep", &|| {
            drives::sweep(largest.unwrap_or(SHORT_SWEEP_CHUNKS))
        }),
        ("depth", &|| drives::depth(of)),
        ("plan", &|| drives::plan(of)),
        ("hour", &|| drives::hour(of)),
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
