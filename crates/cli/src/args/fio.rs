//! fio's command line: `assay fio ARGS...`, and lines of `assay job` with an option that only fio
//! has. All options of such a line mean what they mean to fio.

use std::ffi::OsString;
use std::path::Path;

use assay_fio_job::CommandLine;
use assay_fio_job::line;
use assay_workload::options::JobOption;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser};

use super::{Arguments, Command, JobExecution};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  assay fio --name=a --filename=/dev/nvme0n1 --rw=randread --iodepth=32 --ioengine=libaio
  assay fio jobs.fio --section=reads
  assay fio --output-format=json --output=result.json jobs.fio
  assay fio jobs.fio sim:samsung-951 --dry-run

Options are fio's, and do what they do in fio 3.33: docs/fio.md lists them, and what differs.
A drive (sim:NAME, null:, a device) among the arguments replaces the files of all jobs. What is
written needs --destroy, as everywhere.")]
pub struct FioArguments {
    /// fio's options, and job files
    #[arg(value_name = "ARGS")]
    pub words: Vec<String>,
    /// The words, checked
    #[arg(skip)]
    pub line: CommandLine,
    /// It replaces the files of all jobs
    #[arg(skip)]
    pub drive: Option<String>,
    /// Print the jobs as lines of assay job, and run nothing; with a drive, check that they fit it
    #[arg(long, help_heading = "Safety and output")]
    pub dry_run: bool,
    #[command(flatten)]
    pub execution: JobExecution,
}

/// Names a job file where the command is `assay job`.
const FILE: &str = "fio";

/// Whether an option of assay has this name, and whether it has a value.
fn own(command: &clap::Command, name: &str) -> Option<bool> {
    let name = name.replace('_', "-");
    let of = |command: &clap::Command| {
        let mut arguments = command.get_arguments();
        let found = arguments.find(|argument| argument.get_long() == Some(&name));
        found.map(|argument| argument.get_action().takes_values())
    };
    let fio = command.find_subcommand(FILE).expect("the command exists");
    of(fio).or_else(|| of(command)).or((name == "help").then_some(false))
}

/// An option that fio has and `assay job` has not, or `--fio FILE`.
fn is_only_of_fio(name: &str) -> bool {
    let native = JobOption::find(&name.replace('-', "_")).is_some() || name == "name";
    !native && line::is_known(name)
}

/// The words of a command line, if it is one of fio. `at`: where the command is.
pub(super) fn parse(all: &[OsString], at: usize) -> Option<Result<Arguments, clap::Error>> {
    let texts: Option<Vec<String>> =
        all.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let texts = texts?;
    let words = &texts[at + 1..];
    let is_job = texts[at] == "job";
    let mut names = words.iter().filter_map(|word| line::split(word));
    if !(texts[at] == FILE || is_job && names.any(|(name, _)| is_only_of_fio(name))) {
        return None;
    }
    if !is_job && words == ["--version"] {
        return Some(Arguments::try_parse_from(["assay", "version"]));
    }
    let mut command = Arguments::command();
    let (mine, files, words) = split_words(&command, &texts[..at], words);
    Some(arguments(&mut command, is_job, mine, files, &words))
}

fn arguments(
    command: &mut clap::Command,
    is_job: bool,
    mine: Vec<String>,
    files: Vec<String>,
    words: &[String],
) -> Result<Arguments, clap::Error> {
    let mut line = CommandLine::parse(words)
        .map_err(|error| command.error(ErrorKind::ValueValidation, error))?;
    let named = std::mem::take(&mut line.files).into_iter();
    let (drives, named): (Vec<_>, Vec<_>) = named.partition(|word| is_job || is_drive(word));
    if let [_, second, ..] = drives.as_slice() {
        let message =
            format!("{second}: one drive replaces the files of all jobs, and one is named already");
        return Err(command.error(ErrorKind::ArgumentConflict, message));
    }
    line.files = named.into_iter().chain(files).collect();
    let mut parsed = Arguments::try_parse_from(mine)?;
    if let Command::Fio(fio) = &mut parsed.command {
        fio.dry_run |= line.dry_run;
        fio.execution.live.no_live |= line.no_progress;
        (fio.line, fio.drive) = (line, drives.into_iter().next());
    }
    Ok(parsed)
}

/// assay's own words with the command `fio`, job files of `--fio`, and fio's words.
type Split = (Vec<String>, Vec<String>, Vec<String>);

fn split_words(command: &clap::Command, before: &[String], words: &[String]) -> Split {
    let mut mine = before.to_vec();
    mine.push(FILE.to_owned());
    let (mut files, mut others) = (Vec::new(), Vec::new());
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        match line::split(word) {
            _ if word == "-h" => mine.push(word.clone()),
            Some((FILE, value)) => {
                let file = value.map(str::to_owned).or_else(|| rest.next().cloned());
                files.extend(file);
            }
            Some((name, value)) if let Some(has_value) = own(command, name) => {
                mine.push(word.clone());
                mine.extend(rest.next_if(|_| has_value && value.is_none()).cloned());
            }
            _ => others.push(word.clone()),
        }
    }
    (mine, files, others)
}

/// Among the job files.
fn is_drive(word: &str) -> bool {
    let is_modelled = word.starts_with("sim:") || word.starts_with("null:");
    is_modelled || Path::new(word).metadata().is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// `--verify`, with or without fio's name of a checksum.
pub fn verify_method(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "crc32c" | "crc32c-intel" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!(
            "{text} is not checked here; blocks have CRC-32C checksums, seed, offset and \
             generation: write --verify (or --verify=crc32c)"
        )),
    }
}
