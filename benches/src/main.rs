//! Speed of assay against fio, and whether the two agree, measured side by side.
//!
//! # Purpose
//! Every claim about speed in `docs/benchmarks.md` is made by this program and can be made again by anyone: it runs the `assay`
//! binary and Debian's `fio` as child processes, takes turns between them (A B A B ...) so that whatever else the machine does
//! falls on both, and states medians with the least and the greatest. Goals are stated next to what was reached; nothing here
//! fails a build, because a busy machine is not a defect.
//!
//! # Architecture
//! [`child`] runs one program and takes its processor time from `wait4` (io_uring's kernel workers and threads included).
//! [`tools`] writes the command lines of both programs and reads both results into one [`tools::Sample`]. [`rounds`] takes
//! turns. [`beds`] makes and removes what is read: a zram device, files; [`guest`] is a Linux guest with an NVMe drive. [`parts`] are the benchmarks, each a
//! [`document::Section`] of tables and goals; [`document`] prints them and keeps them in a Markdown file between markers.
//!
//! # Non-goals
//! No micro-benchmarks: only whole programs are compared. No thresholds in tests.
//!
//! # Key constants
//! [`REPETITIONS`] (rounds behind every median), [`beds::BED_BYTES`] (what is read from).

mod beds;
mod child;
mod document;
mod guest;
mod parts;
mod rounds;
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
    parts: Vec<Part>,
    /// Three short rounds: to see that everything works, not for figures
    #[arg(long)]
    quick: bool,
    /// The assay to measure
    #[arg(long, default_value = "target/release/assay")]
    assay: PathBuf,
    /// Replace the figures of these benchmarks in a Markdown file, between its markers
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Everything
    All,
    /// The engine itself, on the null target, against fio's null engine
    Null,
    /// I/Os per processor-second on memory devices, against fio's io_uring
    Efficiency,
    /// Two threads against one
    Scaling,
    /// Cost per I/O against depth, run length and number of drives; memory against run length
    Flatness,
    /// The same work gives the same answer as fio
    Agreement,
    /// The simulated drive on one core: rates, and cost against depth, capacity and run length
    Simulation,
    /// The simulated drive behind an NVMe controller: commands through queues in memory, against the bare drive
    Controller,
    /// The stream's pattern: making and checking it, against copying memory
    Pattern,
    /// Recording, replaying and proving streams, against fio doing the same
    Stream,
    /// A simulated drive over NBD, against nbdkit, and against its own model
    Serve,
    /// NVMe commands through io_uring in a guest, against fio doing the same
    Passthru,
    /// Wall time of `make demo`
    Demo,
    /// Wall time and memory of whole suites on simulated drives; ten minutes
    Suites,
    /// Size of a report of two drives, and its drawing time in a browser
    Report,
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

    /// A run length in milliseconds: a fifth of it, at least 200, when quick.
    fn span_ms(&self, full_ms: u64) -> u64 {
        if self.quick {
            (full_ms / 5).max(200)
        } else {
            full_ms
        }
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

fn run() -> Result<()> {
    let arguments = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    let assay = arguments.assay.canonicalize().with_context(|| {
        format!(
            "{} is not there; build it (cargo build --release -p assay-cli) or name it with --assay",
            arguments.assay.display()
        )
    })?;
    let bench = Bench {
        runner: Runner::new(assay, stop)?,
        quick: arguments.quick,
    };
    let wanted =
        |part: Part| arguments.parts.contains(&Part::All) || arguments.parts.contains(&part);
    let conditions = document::Conditions::read(&bench);
    eprintln!("{}", conditions.text());
    type Measure = fn(&Bench) -> Result<document::Section>;
    let all: &[(Part, Measure)] = &[
        (Part::Null, parts::null::measure),
        (Part::Efficiency, parts::efficiency::measure),
        (Part::Scaling, parts::scaling::measure),
        (Part::Flatness, parts::flatness::measure),
        (Part::Agreement, parts::agreement::measure),
        (Part::Simulation, parts::simulation::measure),
        (Part::Controller, parts::controller::measure),
        (Part::Pattern, parts::pattern::measure),
        (Part::Stream, parts::stream::measure),
        (Part::Serve, parts::serve::measure),
        (Part::Passthru, parts::passthru::measure),
        (Part::Suites, parts::suites::measure),
        (Part::Report, parts::report::measure),
        (Part::LabReport, parts::report::measure_lab),
        (Part::Demo, parts::demo::measure),
    ];
    for &(part, measure) in all {
        if !wanted(part) {
            continue;
        }
        let section = measure(&bench)?;
        println!("{}", section.text());
        if let Some(path) = &arguments.markdown {
            section.write_into(path, &conditions)?;
        }
    }
    Ok(())
}
