//! The command `assay`. [`args`] parses the arguments, a command on real drives goes on in a
//! supervised process ([`supervise`]), it converts them into a validated plan and executes it, and
//! its outcome gives the exit status ([`exit`]). Library crates do not see flags.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit;
mod json;
mod live;
mod log;
mod progress;
mod terminal;

use std::process::ExitCode;

use assay_device::supervise::{self, Role};

use crate::args::Command;

fn main() -> ExitCode {
    let arguments = match args::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    let output = arguments.output;
    let role = match supervise::begin() {
        Ok(Role::Orphan) => return ExitCode::from(exit::KILLED),
        Ok(role) => role,
        Err(error) => return exit::status(Err(error.into()), output),
    };
    if role == Role::Unsupervised
        && let Some(command) = arguments.command.supervised()
    {
        return exit::supervised(supervise::run(&command), output);
    }
    if let Err(error) = arguments.log.begin() {
        return exit::status(Err(error), output);
    }
    let outcome = match arguments.command {
        Command::List => commands::list::run(output),
        Command::Probe(probe) => commands::probe::run(&probe, output),
        Command::Check(check) => commands::check::run(&check, output),
        Command::Suites { suite } => commands::suites::run(suite.as_deref(), output),
        Command::Run(run) => commands::run::run(run, output),
        Command::Job(job) => commands::job::run(*job, output),
        Command::Fio(fio) => commands::fio::run_line(*fio, output),
        Command::Trace(trace) => commands::trace::run(&trace, output),
        Command::Import(import) => commands::import::run(&import, output),
        Command::Report(report) => commands::report::run(&report, output),
        Command::Library(library) => commands::library::run(&library, output),
        Command::Compare(compare) => commands::compare::run(&compare, output),
        Command::Verdict(verdict) => commands::verdict::run(&verdict, output),
        Command::Rank(rank) => commands::rank::run(&rank, output),
        Command::Contribute(contribute) => commands::contribute::run(&contribute, output),
        Command::Fit(fit) => commands::fit::run(*fit, output),
        Command::Predict(predict) => commands::predict::run(&predict, output),
        Command::Fidelity(fidelity) => commands::fidelity::run(&fidelity, output),
        Command::Export(export) => commands::export::run(&export, output),
        Command::Record(record) => commands::record::run(*record, output),
        Command::Replay(replay) => commands::replay::run(&replay, output),
        Command::Verify(verify) => commands::verify::run(&verify, output),
        Command::Testbench(testbench) => commands::testbench::run(testbench, output),
        Command::Purge(purge) => commands::purge::run(purge, output),
        Command::Prepare(prepare) => commands::prepare::run(*prepare, output),
        Command::Serve(serve) => commands::serve::run(&serve, output),
        Command::Fleet(fleet) => commands::fleet::run(&fleet, output),
        Command::Version => commands::version::run(output),
        Command::Completions(completions) => commands::completions::run(completions.shell, output),
        Command::Man(man) => commands::man::run(&man, output),
        Command::Licenses => commands::licenses::run(output),
    };
    exit::status(outcome, output)
}
