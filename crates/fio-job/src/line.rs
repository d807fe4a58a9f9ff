//! The command line of fio, as getopt_long_only(3) and `parse_cmd_line` of fio's init.c read it:
//! one hyphen or two, `=` or the next word before the value, the beginning of a name for the whole
//! where it is unambiguous. Options before the first `--name` are those of all jobs, of job files
//! too; each `--name` begins a job; the other words are job files.

use std::path::{Path, PathBuf};

use assay_units::text::did_you_mean;
use assay_workload::options::JobOption;

use crate::JobFileError;
use crate::ini::{FileOption, Place};
use crate::options::{self, Operand};

/// Stands for the name of the file in messages.
pub const COMMAND_LINE: &str = "command line";

/// What is printed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// assay's text.
    Normal,
    /// fio's JSON, with bins.
    Json,
    /// fio's lines of fields between semicolons.
    Terse,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandLine {
    /// Words that are neither an option nor the value of one.
    pub files: Vec<String>,
    /// Only these sections; all where it is empty.
    pub sections: Vec<String>,
    /// No job may write.
    pub read_only: bool,
    /// Print the jobs, run nothing.
    pub dry_run: bool,
    pub output: Option<PathBuf>,
    /// In this order; empty: as without the option.
    pub formats: Vec<Format>,
    /// `--terse-version`; `None`: fio's default.
    pub terse_version: Option<u32>,
    pub no_progress: bool,
    /// Options of jobs, `name` among them.
    pub(crate) options: Vec<FileOption>,
}

enum Meaning {
    Output,
    Format,
    Section,
    ReadOnly,
    DryRun,
    Progress,
    Terse,
    TerseVersion,
    NoEffect,
    /// What to use instead.
    Refused(&'static str),
}

const FLEET: &str = "assay fleet runs jobs on other hosts";
const TRIGGER: &str = "assay job --metrics serves the figures of a run while it goes on";

/// fio's `l_opts`: options of the command, not of a job.
const COMMAND_OPTIONS: &[(&str, Operand, Meaning)] = &[
    ("output", Operand::Required, Meaning::Output),
    ("output-format", Operand::Required, Meaning::Format),
    ("section", Operand::Required, Meaning::Section),
    ("readonly", Operand::None, Meaning::ReadOnly),
    ("showcmd", Operand::None, Meaning::DryRun),
    ("parse-only", Operand::None, Meaning::DryRun),
    ("eta", Operand::Required, Meaning::Progress),
    ("eta-interval", Operand::Required, Meaning::NoEffect),
    ("eta-newline", Operand::Required, Meaning::NoEffect),
    ("alloc-size", Operand::Required, Meaning::NoEffect),
    ("max-jobs", Operand::Required, Meaning::NoEffect),
    // A warning of fio's parser is an error here.
    ("warnings-fatal", Operand::None, Meaning::NoEffect),
    ("aux-path", Operand::Required, Meaning::NoEffect),
    (
        "fio",
        Operand::Required,
        Meaning::Refused("name the job file as an argument: assay fio FILE OPTIONS"),
    ),
    ("status-interval", Operand::Required, Meaning::Refused(TRIGGER)),
    ("minimal", Operand::None, Meaning::Terse),
    ("append-terse", Operand::Optional, Meaning::Terse),
    ("terse-version", Operand::Required, Meaning::TerseVersion),
    ("bandwidth-log", Operand::None, Meaning::Refused("write --write_bw_log=PREFIX")),
    ("debug", Operand::Required, Meaning::Refused("assay --log debug writes what assay does")),
    ("client", Operand::Required, Meaning::Refused(FLEET)),
    ("server", Operand::Optional, Meaning::Refused(FLEET)),
    ("daemonize", Operand::Required, Meaning::Refused(FLEET)),
    ("remote-config", Operand::Required, Meaning::Refused(FLEET)),
    ("trigger-file", Operand::Required, Meaning::Refused(TRIGGER)),
    ("trigger-timeout", Operand::Required, Meaning::Refused(TRIGGER)),
    ("trigger", Operand::Required, Meaning::Refused(TRIGGER)),
    ("trigger-remote", Operand::Required, Meaning::Refused(TRIGGER)),
    ("cmdhelp", Operand::Optional, Meaning::Refused("docs/fio.md lists the options")),
    ("enghelp", Operand::Optional, Meaning::Refused("docs/fio.md lists the engines")),
    (
        "idle-prof",
        Operand::Required,
        Meaning::Refused("a run records the host's load: assay report"),
    ),
    ("merge-blktrace-only", Operand::None, Meaning::Refused("assay trace reads several files")),
    ("inflate-log", Operand::Required, Meaning::Refused("logs here are not compressed")),
    ("crctest", Operand::Optional, Meaning::Refused("it measures fio itself")),
    ("cpuclock-test", Operand::None, Meaning::Refused("a run audits its clock by itself")),
];

/// Said of an option of `assay job` where fio's are meant.
pub(crate) const NOT_OF_FIO: &str = "is an option of assay job that fio has not, and all options \
here \
                                     mean what they mean to fio";

/// An option by its name in either table.
enum Found {
    Command(usize),
    Job(&'static str),
}

/// The name and the value behind `=` of a word that is an option.
pub fn split(word: &str) -> Option<(&str, Option<&str>)> {
    let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then_some((name, value))
}

/// An option of fio has exactly this name.
pub fn is_known(name: &str) -> bool {
    exact(name).is_some()
}

fn exact(name: &str) -> Option<Found> {
    let with = |from: char, to: &str| name.replace(from, to);
    let (hyphens, underscores) = (with('_', "-"), with('-', "_"));
    let command = COMMAND_OPTIONS.iter().position(|(known, ..)| *known == hyphens);
    let job =
        [name, underscores.as_str(), hyphens.as_str()].into_iter().find_map(options::known_name);
    job.map(Found::Job).or(command.map(Found::Command))
}

/// As getopt_long(3): exact, else the only one that begins so.
fn find(name: &str) -> Result<Found, String> {
    if let Some(found) = exact(name) {
        return Ok(found);
    }
    let begins = |known: &&str| known.starts_with(name);
    let command = COMMAND_OPTIONS.iter().map(|(known, ..)| *known);
    let all: Vec<&str> = command.chain(options::names()).collect();
    match all.iter().copied().filter(begins).collect::<Vec<_>>().as_slice() {
        [only] => Ok(exact(only).expect("it is in one of the tables")),
        [] if JobOption::find(&name.replace('-', "_")).is_some() => Err(NOT_OF_FIO.to_owned()),
        [] => Err(format!(
            "is no option that is known here{} (docs/fio.md lists them)",
            did_you_mean(name, &all.join(","))
        )),
        several => Err(format!("is ambiguous: {}", several.join(", "))),
    }
}

fn names_engine(word: &str) -> bool {
    split(word).is_some_and(|(name, _)| name == "ioengine")
}

fn error(message: String) -> JobFileError {
    JobFileError { place: Place::of_line(0), section: None, message }
}

impl CommandLine {
    /// The job file only.
    pub fn of_file(path: &Path) -> CommandLine {
        CommandLine { files: vec![path.display().to_string()], ..CommandLine::default() }
    }

    /// `words`: without the name of the program.
    pub fn parse(words: &[String]) -> Result<CommandLine, JobFileError> {
        let mut line = CommandLine::default();
        let mut rest = words.iter().enumerate();
        while let Some((at, word)) = rest.next() {
            let Some((name, value)) = split(word) else {
                line.files.push(word.clone());
                continue;
            };
            let found = match find(name) {
                Ok(found) => found,
                // What is wrong is the engine whose option it is.
                Err(_) if value.is_some() && words.iter().any(|word| names_engine(word)) => {
                    line.options.push(FileOption {
                        name: name.to_owned(),
                        value: value.map(str::to_owned),
                        place: Place::of_line(at + 1),
                    });
                    continue;
                }
                Err(wrong) => return Err(error(format!("{word} {wrong}"))),
            };
            let operand = match &found {
                Found::Command(at) => COMMAND_OPTIONS[*at].1,
                Found::Job(name) => options::operand(name),
            };
            let value = match (operand, value) {
                (Operand::Required, None) => {
                    let next = rest.next().filter(|(_, next)| !next.starts_with("--"));
                    let next =
                        next.ok_or_else(|| error(format!("{word} needs a value: {word}=VALUE")))?;
                    Some(next.1.as_str())
                }
                (_, value) => value,
            };
            match found {
                Found::Command(at) => line.command_option(&COMMAND_OPTIONS[at], word, value)?,
                Found::Job(name) => line.options.push(FileOption {
                    name: name.to_owned(),
                    value: value.map(str::to_owned),
                    place: Place::of_line(at + 1),
                }),
            }
        }
        Ok(line)
    }

    /// The values of `filename`.
    pub fn filenames(&self) -> impl Iterator<Item = &str> {
        let named = |option: &&FileOption| option.name == "filename";
        let options = self.options.iter().filter(named);
        options.filter_map(|option| option.value.as_deref())
    }

    fn command_option(
        &mut self,
        (_, _, meaning): &(&str, Operand, Meaning),
        word: &str,
        value: Option<&str>,
    ) -> Result<(), JobFileError> {
        let value = value.unwrap_or_default();
        match meaning {
            Meaning::Output => self.output = Some(PathBuf::from(value)),
            Meaning::Section => self.sections.push(value.to_owned()),
            Meaning::ReadOnly => self.read_only = true,
            Meaning::DryRun => self.dry_run = true,
            Meaning::Progress => self.no_progress = value == "never",
            Meaning::Terse => {
                if word.contains("append") && self.formats.is_empty() {
                    self.formats.push(Format::Normal);
                }
                self.formats.push(Format::Terse);
            }
            Meaning::TerseVersion => {
                let version = value.parse().ok().filter(|version| (2..=5).contains(version));
                let version: u32 =
                    version.ok_or_else(|| error(format!("{word}: versions are 2 to 5")))?;
                self.terse_version = Some(version);
            }
            Meaning::NoEffect => {}
            Meaning::Refused(instead) => {
                return Err(error(format!("{word} is not supported: {instead}")));
            }
            Meaning::Format => {
                for format in value.split(',') {
                    self.formats.push(match format.trim() {
                        "normal" => Format::Normal,
                        "json" | "json+" => Format::Json,
                        "terse" => Format::Terse,
                        _ => {
                            return Err(error(format!(
                                "{word}: the formats are normal, terse, json and json+"
                            )));
                        }
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/line.rs"]
mod tests;
