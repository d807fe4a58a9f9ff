//! `assay prepare DRIVE --to STATE`: a suite of one step.

use assay_device::session::DriveSession;
use assay_store::Run;
use assay_store::model::WRITE_AMPLIFICATION;
use assay_store::read::CellState;
use assay_suite::expand::RunPlan;
use assay_suite::schema::Suite;
use assay_units::text::format_size;
use assay_workload::plan::{DEFAULT_SEED, Workload};

use crate::args::RunArguments;
use crate::args::prepare::{PrepareArguments, TargetState};
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

/// The step of a state, as suites have it: the same words are the same state.
fn step(state: TargetState, bs: &str) -> String {
    match state {
        TargetState::Steady => format!(
            r#"
id = "precondition"
title = "To the steady state of {bs} random writes"
kind = "prepare"
precondition = "steady"
sets_state = "steady-{bs}"
job = {{ rw = "randwrite", bs = "{bs}", iodepth = 32, size = "100%" }}"#
        ),
        TargetState::Filled | TargetState::Sequential => {
            let (title, name, passes) = match state {
                TargetState::Filled => ("One sequential write", "full", 100),
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
        TargetState::Empty => r#"
id = "purge"
title = "Purge"
kind = "purge"
sets_state = "empty" "#
            .to_owned(),
    }
}

fn suite(state: TargetState, bs: &str) -> String {
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
fn cost(state: TargetState) -> &'static str {
    match state {
        TargetState::Steady => {
            "writes the drive once, as much again as it has spare flash, and a tenth or more to \
             probe the state: usually 1.3 times its capacity, at most twice"
        }
        TargetState::Filled => "writes the drive once",
        TargetState::Sequential => "writes the drive twice",
        TargetState::Empty => "erases the drive",
    }
}

/// Before it: the endurance that a plan takes at most, unless the drive is in that state.
pub fn endurance_to_be_spent(plan: &RunPlan, drives: &[DriveSession]) -> Option<String> {
    let drive = drives.first()?.info();
    let workloads = plan.cells.iter().flat_map(|cell| &cell.workloads);
    let bytes: u64 = workloads.filter_map(Workload::planned_bytes).sum();
    (bytes > 0).then(|| {
        let (name, most) = (&drive.spec, format_size(bytes));
        let of_capacity = bytes as f64 / drive.capacity_bytes as f64;
        format!(
            "{name}: at most {most} are written, {of_capacity:.1} times its capacity; nothing \
             where it is in that state already"
        )
    })
}

/// After it: what the host has written, and the media where the drive counts that.
pub fn endurance_spent(run: &Run) -> String {
    let results = run.cells.iter().flat_map(|cell| &cell.drives);
    let results = results.filter_map(|part| part.result.as_ref());
    let (mut host_bytes, mut media_bytes) = (0, Some(0.0));
    for result in results {
        host_bytes += result.write.bytes;
        let factor = result.values.get(WRITE_AMPLIFICATION);
        let own = factor.map(|factor| factor * result.write.bytes as f64);
        media_bytes = media_bytes.zip(own).map(|(sum, own)| sum + own);
    }
    let capacity_bytes = run.manifest.drives.first().map(|drive| drive.capacity_bytes);
    match (host_bytes, capacity_bytes.filter(|bytes| *bytes > 0)) {
        (0, _) | (_, None) => match run.cells.last().map(|cell| &cell.state) {
            Some(CellState::Skipped(why)) => format!("\nNothing was written; {why}.\n"),
            _ => "\nNothing was written.\n".to_owned(),
        },
        (bytes, Some(capacity)) => {
            let media = media_bytes.map_or(String::new(), |bytes| {
                format!("; {} to its media", format_size(bytes as u64))
            });
            format!(
                "\nWritten: {}, {:.2} times the capacity{media}.\n",
                format_size(bytes),
                bytes as f64 / capacity as f64
            )
        }
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
