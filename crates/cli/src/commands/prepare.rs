//! `assay prepare DRIVE --to STATE`: a suite of one step.

use assay_suite::schema::Suite;
use assay_workload::plan::DEFAULT_SEED;

use crate::args::RunArguments;
use crate::args::prepare::{DriveState, PrepareArguments};
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// The step of a state, as suites have it: the same words are the same state.
fn step(state: DriveState, bs: &str) -> String {
    match state {
        DriveState::Steady => format!(
            r#"
id = "precondition"
title = "To the steady state of {bs} random writes"
kind = "prepare"
precondition = "steady"
sets_state = "steady-{bs}"
job = {{ rw = "randwrite", bs = "{bs}", iodepth = 32, size = "100%" }}"#
        ),
        DriveState::Filled | DriveState::Sequential => {
            let (title, name, passes) = match state {
                DriveState::Filled => ("One sequential write", "full", 100),
                _ => ("Two sequential writes", "sequential", 200),
            };
            format!(
                r#"
id = "precondition"
title = "{title} of the whole drive"
kind = "prepare"
sets_state = "{name}"
job = {{ rw = "write", bs = "128k", iodepth = 32, size = "100%", io_size = "{passes}%" }}"#
            )
        }
        DriveState::Empty => r#"
id = "purge"
title = "Purge"
kind = "purge"
sets_state = "empty" "#
            .to_owned(),
    }
}

fn suite(state: DriveState, bs: &str) -> String {
    let step = step(state, bs);
    format!(
        r#"name = "prepare"
title = "Preparation of a drive"
summary = "Brings a drive to a state; docs/preconditioning.md explains them."
source = "assay prepare"
duration = "some writes of the whole drive"

[[step]]{step}
needs = ["write"]
"#
    )
}

/// What the preparation takes of the drive's endurance, in writes of the drive.
fn cost(state: DriveState) -> &'static str {
    match state {
        DriveState::Steady => {
            "writes the drive once, as much again as it has spare flash, and a tenth or more to \
             probe the state: usually 1.3 times its capacity, at most twice"
        }
        DriveState::Filled => "writes the drive once",
        DriveState::Sequential => "writes the drive twice",
        DriveState::Empty => "erases the drive",
    }
}

pub fn run(arguments: PrepareArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let bs = &arguments.bs;
    if !bs.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        bail_usage!("--bs {bs}: one block size, such as 4k");
    }
    let text = suite(arguments.to, bs);
    let suite = Suite::parse("prepare", &text)?;
    output.note(cost(arguments.to));
    let arguments = RunArguments {
        suite: None,
        drives: vec![arguments.drive],
        out: arguments.out,
        report: None,
        ocp: None,
        set: Vec::new(),
        gate: false,
        engine: None,
        scale: 1.0,
        seed: DEFAULT_SEED,
        destroy: arguments.destroy,
        power_meter: None,
        until: None,
        live: arguments.live,
        resume: None,
        drive: Vec::new(),
    };
    super::run::run_suite(suite, arguments, output)
}
