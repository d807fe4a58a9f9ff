//! Jobs that run at once on the command line:
//! `assay job DRIVE COMMON... --name A OPTIONS... --name B OPTIONS...`, as with fio.

use std::ffi::{OsStr, OsString};

use assay_workload::options::{JobOption, JobOptions};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use super::job::WorkloadArguments;
use super::{Arguments, Command, fio};

const NAME: &str = "--name";

/// A job with a name, with the options of all.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedJob {
    pub name: String,
    pub options: JobOptions,
}

/// The options of one job.
#[derive(Debug, Parser)]
#[command(
    name = "assay job ... --name",
    disable_help_flag = true,
    override_usage = "assay job DRIVE [OPTIONS OF ALL JOBS] --name NAME [OPTIONS]... --name NAME \
                      [OPTIONS]..."
)]
struct OneJob {
    /// The name, which the parser of the whole line has cut off.
    name: String,
    #[command(flatten)]
    workload: WorkloadArguments,
}

/// Parse a command line.
///
/// # Errors
/// As clap's.
pub fn parse<A>(arguments: impl IntoIterator<Item = A>) -> Result<Arguments, clap::Error>
where
    A: Into<OsString>,
{
    let all: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let is_option = |argument: &&OsString| argument.as_encoded_bytes().starts_with(b"-");
    // Of the options before a command, only `--log` has a value of its own.
    let mut pairs = all.windows(2);
    let at = pairs.position(|pair| !is_option(&&pair[1]) && pair[0] != "--log");
    let at = at.map(|at| at + 1);
    if let Some(parsed) = at.and_then(|at| fio::parse(&all, at)) {
        return parsed;
    }
    let command = at.map(|at| &all[at]);
    let names = all.iter().filter(|argument| name_of(argument).is_some());
    let several = names.count() > 1 && command.is_some_and(|command| command == "job");
    let first = all.iter().position(|argument| name_of(argument).is_some());
    let Some(first) = first.filter(|_| several) else {
        return Arguments::try_parse_from(all);
    };
    let (jobs, others) = jobs(&all[first..]);
    let mut parsed = Arguments::try_parse_from(all[..first].iter().chain(&others))?;
    let Command::Job(job) = &mut parsed.command else {
        return Ok(parsed);
    };
    for words in jobs {
        let mut command = OneJob::command();
        let matches = command.try_get_matches_from_mut(&words)?;
        let own = OneJob::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let wrong = if own.name.is_empty() || !own.name.chars().all(plain) {
            Some("consists of letters, digits and hyphens")
        } else if job.jobs.iter().any(|other| other.name == own.name) {
            Some("is given twice")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let message = format!("the name of a job, {:?}, {wrong}", own.name);
            return Err(command.error(ErrorKind::ValueValidation, message));
        }
        job.jobs.push(NamedJob { name: own.name, options: job.workload.0.with(&own.workload.0) });
    }
    Ok(parsed)
}

/// The value of `--name=VALUE`, an empty one of `--name`.
fn name_of(argument: &OsStr) -> Option<&OsStr> {
    let text = argument.to_str()?;
    match text.strip_prefix(NAME)? {
        "" => Some(OsStr::new("")),
        value => value.strip_prefix('=').map(OsStr::new),
    }
}

/// Whether an option is one of a workload, and not of the command.
fn is_of_job(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    let name = name.trim_start_matches('-').replace('-', "_");
    JobOption::find(&name).is_some()
}

/// The words of each job: the program's name, that of the job, and its options. And the other
/// options, which belong to the command wherever they stand.
fn jobs(words: &[OsString]) -> (Vec<Vec<OsString>>, Vec<OsString>) {
    let mut jobs: Vec<Vec<OsString>> = Vec::new();
    let mut others = Vec::new();
    let mut of_job = true;
    for word in words {
        if let Some(name) = name_of(word) {
            let mut job = vec![OsString::from("assay job")];
            job.extend(Some(name.to_owned()).filter(|name| !name.is_empty()));
            jobs.push(job);
            of_job = true;
            continue;
        }
        // A value follows its option.
        if let Some(option) = word.to_str().filter(|text| text.starts_with("--")) {
            of_job = is_of_job(option);
        }
        match jobs.last_mut().filter(|_| of_job) {
            Some(job) => job.push(word.clone()),
            None => others.push(word.clone()),
        }
    }
    (jobs, others)
}

#[cfg(test)]
#[path = "../../tests/unit/args/jobs.rs"]
mod tests;
