//! Speed of assay against fio, and whether the two agree, measured side by side.
//!
//! # Purpose
//! Every claim about speed in `docs/benchmarks.md` is measured by this program: it runs the `assay`
//! binary and Debian's `fio` as child processes in turns (A B A B ...), so that other load falls on
//! both, and prints medians with minimum and maximum. Goals are printed beside the results; a
//! missed goal fails no build, because the machine may be busy.
//!
//! # Architecture
//! [`child`] runs a program and takes its processor time from `wait4` (threads and io_uring's
//! kernel workers included). [`tools`] writes the command lines of both programs and reads both
//! results into one [`tools::Sample`]. [`rounds`] interleaves. [`devices`] creates and removes what
//! is read; [`guest`] is a Linux guest with an NVMe drive; [`serving`] starts servers of drives,
//! and [`hosts`] are clients of them. [`sections`] are the benchmarks, each a
//! [`document::Section`] of tables and goals; [`document`] prints them, and keeps them in a
//! Markdown file between markers.
//!
//! # Non-goals
//! No micro-benchmarks: only whole programs are compared. No thresholds in tests.
//!
//! # Key constants
//! [`REPETITIONS`] (rounds behind every median), [`devices::DEVICE_BYTES`] (size of a test device).

mod child;
mod devices;
mod document;
mod guest;
mod hosts;
mod rounds;
mod sections;
mod serving;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};

use crate::child::Runner;

/// Rounds behind every median.
const REPETITIONS: usize = 5;

/// Speed of assay against fio, measured side by side.
#[derive(Debug, Parser)]
struct Arguments {
    /// Which benchmarks
    #[arg(value_enum, default_value = "all")]
    benchmarks: Vec<Benchmark>,
    /// Three short rounds, as a check of the program; the figures are orientation only
    #[arg(long)]
    quick: bool,
    /// The assay to measure
    #[arg(long, default_value = "target/release/assay")]
    assay: PathBuf,
    /// Write a page of each benchmark into FOLDER/benchmarks, and the goals into
    /// FOLDER/benchmarks.md
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// Everything
    All,
    /// The I/O path on the null target, against fio's null engine
    Null,
    /// I/Os per processor-second on memory devices, against fio's io_uring
    Efficiency,
    /// Two threads against one
    Scaling,
    /// Cost per I/O against depth, run length and number of drives; memory against run length
    Flatness,
    /// Cost of the live view and of metrics, on the null target
    Live,
    /// Agreement with fio on the same work
    Agreement,
    /// The simulated drive on one core: rates, and cost against depth, capacity and run length
    Simulation,
    /// A job on a simulated drive through the command line, against the model alone and fio's null
    /// engine
    SimulatedJob,
    /// The simulated drive behind an NVMe controller: commands through queues in memory, against
    /// the bare drive
    Controller,
    /// The stream's pattern: making and checking it, against copying memory
    Pattern,
    /// Recording, replaying and proving streams, against fio doing the same
    Stream,
    /// A simulated drive over NBD, against nbdkit, and against its own model
    Serve,
    /// A simulated drive over NVMe/TCP, against NBD and nbdkit over TCP, and against its own model
    NvmeTcp,
    /// NVMe commands through io_uring in a guest, against fio doing the same
    Passthru,
    /// Wall time of `make demo`
    Demo,
    /// Wall time and memory of whole suites on simulated drives; ten minutes
    Suites,
    /// Rate and tail after preconditioning, against the truth of simulated drives
    Preconditioning,
    /// Size of a report of seven drives, and its drawing time in a browser
    Report,
    /// 10,000 results of fio into a run folder, against Python's reading of the same files
    Import,
    /// Joined tables of 1,000 runs, against exporting them one by one
    Lake,
    /// Drawing time of a report of five drives through every suite; making the runs takes minutes
    LabReport,
}

/// What the benchmarks share.
struct Bench {
    runner: Runner,
    quick: bool,
}

impl Bench {
    fn rounds(&self) -> usize {
        if self.quick { 3 } else { REPETITIONS }
    }

    /// Results of `count` rounds, numbered from 1.
    fn repeat<T>(
        &self,
        title: &str,
        count: usize,
        mut round: impl FnMut(usize) -> Result<T>,
    ) -> Result<Vec<T>> {
        let numbered = (1..=count).map(|number| {
            eprintln!("{title}: round {number} of {count}");
            self.runner.check_stopped()?;
            round(number)
        });
        numbered.collect()
    }

    /// A run length in milliseconds: a fifth of it, at least 200, when quick.
    fn span_ms(&self, full_ms: u64) -> u64 {
        if self.quick { (full_ms / 5).max(200) } else { full_ms }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

type Measure = fn(&Bench) -> Result<document::Section>;

const ALL: &[(Benchmark, Measure)] = &[
    (Benchmark::Null, sections::null::measure),
    (Benchmark::Efficiency, sections::efficiency::measure),
    (Benchmark::Scaling, sections::scaling::measure),
    (Benchmark::Flatness, sections::flatness::measure),
    (Benchmark::Live, sections::live::measure),
    (Benchmark::Agreement, sections::agreement::measure),
    (Benchmark::Simulation, sections::simulation::measure),
    (Benchmark::SimulatedJob, sections::simulated_job::measure),
    (Benchmark::Controller, sections::controller::measure),
    (Benchmark::Pattern, sections::pattern::measure),
    (Benchmark::Stream, sections::stream::measure),
    (Benchmark::Serve, sections::serve::measure),
    (Benchmark::NvmeTcp, sections::nvme_tcp::measure),
    (Benchmark::Passthru, sections::passthru::measure),
    (Benchmark::Suites, sections::suites::measure),
    (Benchmark::Preconditioning, sections::preconditioning::measure),
    (Benchmark::Report, sections::report::measure),
    (Benchmark::Lake, sections::lake::measure),
    (Benchmark::Import, sections::import::measure),
    (Benchmark::LabReport, sections::report::measure_lab),
    (Benchmark::Demo, sections::demo::measure),
];

impl Benchmark {
    /// The name on the command line, which is that of the page.
    fn key(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

fn run() -> Result<()> {
    let arguments = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    let path = arguments.assay.display();
    let assay = arguments.assay.canonicalize().with_context(|| {
        format!(
            "{path} is not there; build it (cargo build --release -p assay-cli) or name it with \
             --assay"
        )
    })?;
    let bench = Bench { runner: Runner::new(assay, stop), quick: arguments.quick };
    let chosen = &arguments.benchmarks;
    let conditions = document::conditions(&bench);
    eprintln!("{conditions}");
    for &(benchmark, measure) in ALL {
        if !chosen.contains(&Benchmark::All) && !chosen.contains(&benchmark) {
            continue;
        }
        let section = measure(&bench)?;
        println!("{}", section.text());
        if let Some(folder) = &arguments.record {
            section.write_page(folder, &conditions)?;
        }
    }
    if let Some(folder) = &arguments.record {
        let keys: Vec<String> = ALL.iter().map(|(benchmark, _)| benchmark.key()).collect();
        document::write_goals(folder, &keys)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ALL, document};

    #[test]
    fn the_goals_on_the_page_are_those_of_the_recorded_benchmarks() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let keys: Vec<String> = ALL.iter().map(|(benchmark, _)| benchmark.key()).collect();
        let table = document::goals_table(&docs, &keys).expect("the pages can be read");
        let page = std::fs::read_to_string(docs.join("benchmarks.md")).expect("the page exists");
        assert!(page.contains(&table), "run make bench, or correct:\n{table}");
    }
}
