use anyhow::{Context, Result};
use assay_ssd::InitialState;
use assay_units::{Nanos, Op};

use super::simulation::{self, Load, scaled};
use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::Spread;
use crate::tools::{Tool, Variant};

/// Millions of I/Os per second of user time that were asked for.
const GOAL: f64 = 8.0;
const PROFILE: &str = "samsung-960-evo";
const QUEUE_DEPTH: u32 = 32;
const SPAN_MS: u64 = 60_000;

/// Millions of I/Os per second of processor time, one per round.
#[derive(Default)]
struct Rates {
    whole: Vec<f64>,
    model: Vec<f64>,
    fio: Vec<f64>,
    shares: Vec<f64>,
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let job = Variant::assay(
        "assay job",
        &format!("sim:{PROFILE}"),
        &format!("--iodepth {QUEUE_DEPTH}"),
        bench.span_ms(SPAN_MS),
    );
    let mut section = Section::new(
        "simulated-job",
        "A job on a simulated drive, through the command line",
        format!(
            "4 KiB random reads at queue depth {QUEUE_DEPTH} on `sim:{PROFILE}`, which serves \
             them in virtual time. *assay job*: user time of the whole process: start-up, \
             self-audit, workload, host, drive, recording, run folder and report. *Model alone*: \
             as many commands in the process of this benchmark, as in *The simulated drive*. \
             *fio*: as many I/Os of its null engine, user time of the whole process; it simulates \
             nothing. All with full latency recording but the model alone. In turns."
        ),
    );
    let mut rates = Rates::default();
    let mut fio_command = String::new();
    bench.repeat("simulated job", bench.rounds(), |_| {
        let outcome = job.outcome(&bench.runner)?;
        let ios = job.sample(&outcome)?.ios;
        let whole = ios / outcome.user_s / 1e6;
        let mut drive = scaled(PROFILE, 1, InitialState::Filled)?;
        let load = Load::random(Op::Read, QUEUE_DEPTH, ios as u64);
        let cost = simulation::run(bench, &mut drive, load, Nanos::ZERO)?;
        let model = cost.millions_per_s(load);
        let fio = fio(ios as u64);
        let outcome = fio.outcome(&bench.runner)?;
        let same = fio.sample(&outcome).context("fio's null engine")?.ios;
        rates.whole.push(whole);
        rates.model.push(model);
        rates.fio.push(same / outcome.user_s / 1e6);
        rates.shares.push(whole / model * 100.0);
        fio_command = fio.command();
        Ok(())
    })?;
    let whole = Spread::new(rates.whole);
    let mut table = Table::new(&["", "million I/Os per processor-second"]);
    for (label, rate) in [
        ("assay job", whole),
        ("model alone", Spread::new(rates.model)),
        ("fio, null engine", Spread::new(rates.fio)),
    ] {
        table.row([&label, &rate.show(2)]);
    }
    section.tables.push(table);
    section.goal(
        format!("{GOAL} M I/Os per processor-second through the command line"),
        format!(
            "{} M/s, {} % of the model's own rate",
            whole.show(2),
            Spread::new(rates.shares).show(0)
        ),
        whole.median >= GOAL,
    );
    section.commands.extend([job.command(), fio_command]);
    Ok(section)
}

fn fio(ios: u64) -> Variant {
    let bytes = ios * 4096;
    let arguments = format!(
        "--name=bench --thread --rw=randread --bs=4k --ioengine=null --size=16g --io_size={bytes} \
         --iodepth={QUEUE_DEPTH} --output-format=json"
    );
    Variant::new(Tool::Fio, "fio, null engine", &arguments)
}
