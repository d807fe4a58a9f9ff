//! Writes the pages of fixture runs and prints time and size of each:
//! `cargo run --example look -- FOLDER [DRIVES] [SECONDS]`. With run folders instead of numbers,
//! the page of those runs.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // a development tool

#[path = "../tests/common/mod.rs"]
mod common;

use assay_report::{html, terminal};

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let folder = arguments.next().expect("a folder to write into");
    if arguments.peek().is_some_and(|a| a.parse::<u64>().is_err()) {
        let open = |path: String| assay_store::read::Run::open(path.as_ref()).unwrap();
        let runs: Vec<assay_store::read::Run> = arguments.map(open).collect();
        return write(&folder, "runs", &runs);
    }
    let mut number = |or: u64| arguments.next().map_or(or, |n| n.parse().unwrap());
    let (drives, seconds) = (number(5) as usize, number(3600));
    let all = common::views::all(drives, seconds);
    for run in &all {
        write(&folder, &run.manifest.suite.name, std::slice::from_ref(run));
        let name = format!("{folder}/{}.txt", run.manifest.suite.name);
        std::fs::write(name, terminal::render(run, 80, terminal::Style::Plain)).unwrap();
    }
    write(&folder, "bandwidth", &[common::bandwidth()]);
    write(&folder, "all", &all);
}

fn write(folder: &str, name: &str, runs: &[assay_store::read::Run]) {
    // Run time of this tool; no figure of a report depends on it.
    #[allow(clippy::disallowed_methods)]
    let began = std::time::Instant::now();
    let page = html::render(runs).unwrap();
    println!("{name}: {} ms, {} kB", began.elapsed().as_millis(), page.len() / 1000);
    std::fs::write(format!("{folder}/{name}.html"), page).unwrap();
}
