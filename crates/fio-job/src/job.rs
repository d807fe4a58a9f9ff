use std::collections::BTreeSet;

use assay_workload::options::JobOptions;

use crate::ini::{JobFile, Place, Section};
use crate::options::{self, Support};
use crate::{JobFileError, number};

mod access;
mod exits;
mod given;
mod limits;
mod logs;
mod order;
mod priorities;
mod targets;
mod trace;

use given::Given;
pub use limits::Limits;
pub use logs::{LogKind, LogRequest};
pub use targets::Target;

/// Most jobs of a file, clones with files of their own counted singly.
pub const MAX_JOBS: usize = 4096;

/// A job: one workload on one drive or file.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// The section's name, or its `name=`; unique within the file.
    pub name: String,
    pub section: String,
    pub place: Place,
    /// The options that are in force, by their main names, and where each is.
    pub given: Vec<(String, Place)>,
    /// Jobs of one stage run at the same time; stages follow each other.
    pub stage: usize,
    pub target: Target,
    pub options: JobOptions,
    /// Drop the file from the page cache first.
    pub drop_cache: bool,
    /// `filesize`, the least and the most.
    pub file_bytes: Option<(u64, u64)>,
    /// Its number among the clones of its section that have files of their own.
    pub clone: u32,
    /// The file may be created.
    pub may_create: bool,
    /// A file that was made for it is removed in the end.
    pub unlinks: bool,
    /// The I/O scheduler that the drive must have.
    pub scheduler: Option<String>,
    /// Least rate in every interval; a job below it has failed.
    pub limits: Limits,
    /// Number of its group, as fio counts them.
    pub group: usize,
    /// `group_reporting`: fio's results have the jobs of the group together.
    pub is_reported_as_one: bool,
    pub logs: Vec<LogRequest>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// In the order of the file, by stage.
    pub jobs: Vec<FioJob>,
    /// What differs from fio and is no error, each once.
    pub notes: Vec<String>,
}

/// `drive` replaces every file of the job file.
pub fn convert(file: &JobFile, drive: Option<&str>) -> Result<Conversion, JobFileError> {
    let mut conversion = Conversion { jobs: Vec::new(), notes: Vec::new() };
    let mut stages: Vec<(String, usize)> = Vec::new();
    let mut stage = 0;
    let mut exits = exits::Exits::new(file)?;
    // fio counts threads from 1, clones too.
    let mut thread = 1;
    let mut named = BTreeSet::new();
    for section in &file.sections {
        let given = Given::new(section)?;
        if given.flag("stonewall")? && !stages.is_empty() {
            stage += 1;
        }
        if let Some((name, place)) = given.text("wait_for") {
            let before = stages.iter().filter(|(known, _)| known == name);
            let Some(after) = before.map(|(_, stage)| stage + 1).max() else {
                return Err(given.error(
                    place,
                    format!("wait_for={name}: no section before this one has that name"),
                ));
            };
            stage = stage.max(after);
        }
        stages.push((section.name.clone(), stage));
        let exit = exits.section(&given, stage)?;
        named.extend(given.text("filename").map(|(name, _)| name.to_owned()));
        let place = (stage, thread, exits.group() as usize);
        section_jobs(section, &given, drive, place, exit, &mut conversion)?;
        thread = given.number("numjobs")?.unwrap_or(1).max(1).saturating_add(thread);
        if conversion.jobs.len() > MAX_JOBS {
            let message = format!("numjobs: more than {MAX_JOBS} jobs");
            return Err(given.error(&section.place, message));
        }
    }
    exits.leave_out(&mut conversion);
    none_is_in_two(&conversion.jobs)?;
    if let Some(drive) = drive.filter(|_| named.len() > 1) {
        let named: Vec<String> = named.into_iter().collect();
        conversion.notes.push(format!(
            "the file names {} drives or files ({}): all of their jobs run on {drive}, in one area \
             where they give no offset",
            named.len(),
            named.join(", ")
        ));
    }
    Ok(conversion)
}

/// Files that take turns are one address space, and so of no other job that has less or more.
fn none_is_in_two(jobs: &[FioJob]) -> Result<(), JobFileError> {
    for job in jobs {
        let files = job.target.files();
        let shares = |other: &&FioJob| {
            let others = other.target.files();
            other.target != job.target
                && files
                    .iter()
                    .any(|file| others.contains(file) || other.target.name() == file.as_str())
        };
        if let Some(other) = jobs.iter().find(shares) {
            let message = format!(
                "files in turn, of which [{}] has other ones too, are not supported; give both \
                 the same files, or write a section for each",
                other.name
            );
            return Err(job.error(&[], &message));
        }
    }
    Ok(())
}

fn section_jobs(
    section: &Section,
    given: &Given<'_>,
    drive: Option<&str>,
    (stage, thread, group): (usize, u32, usize),
    exit: Option<(exits::ExitWhat, u32)>,
    conversion: &mut Conversion,
) -> Result<(), JobFileError> {
    let is_reported_as_one = given.flag("group_reporting")?;
    let places = targets::places(given, drive)?;
    let mut options = common_options(given, &places, exit, &mut conversion.notes)?;
    let limits = limits::checked_after(given, &mut options)?;
    // Sections have different data, as fio's have.
    let before = conversion.jobs.len() as u64;
    options.seed = Some(options.seed.unwrap_or(1).wrapping_add(before));
    let base = base_name(given, section);
    let drop_cache = options.direct == Some(false) && given.flag_or("invalidate", true)?;
    let several = places.all.len() > 1;
    for (target, clone) in places.all {
        targets::may_fill(given, &target)?;
        let name = match several {
            true => format!("{base}.{clone}"),
            false => base.to_owned(),
        };
        let mut options = options.clone();
        let thread = order::Thread::new(thread, clone, places.clones);
        let mut note = |text: String| note_once(&mut conversion.notes, text);
        if options.cpus_allowed_policy.is_some() && thread.number > 1 {
            options.cpus_allowed_policy = Some(format!("split:{}", thread.number - 1));
        }
        let log_name = [section.name.as_str(), base][usize::from(clone == 0)];
        let logs = logs::logs(given, log_name, thread.number, &mut options, &mut note)?;
        let file = targets::name_in_fio(given, drive, &target)?;
        let turns = match target.files().is_empty() {
            true => Vec::new(),
            false => targets::turns(given)?,
        };
        order::order(given, &mut options, thread, (&file, turns), &mut note)?;
        trace::trace(given, &mut options, &mut note)?;
        if several && let Some(seed) = &mut options.seed {
            *seed = seed.wrapping_add(clone.into());
        }
        conversion.jobs.push(FioJob {
            name: unused_name(name, base, &conversion.jobs),
            section: section.name.clone(),
            place: section.place.clone(),
            given: given.places(),
            stage,
            target,
            options,
            drop_cache,
            file_bytes: given.file_sizes()?,
            clone: thread.clone,
            may_create: given.flag_or("allow_file_create", true)?,
            unlinks: given.flag("unlink")?,
            scheduler: given.text("ioscheduler").map(|(name, _)| name.to_owned()),
            limits,
            group,
            is_reported_as_one,
            logs,
        });
    }
    Ok(())
}

/// What all jobs of a section have.
fn common_options(
    given: &Given<'_>,
    places: &targets::Places,
    exit: Option<(exits::ExitWhat, u32)>,
    notes: &mut Vec<String>,
) -> Result<JobOptions, JobFileError> {
    let mut note = |text: String| note_once(notes, text);
    given.note_fractions(&mut note);
    let mut options = JobOptions::default();
    access::access(given, &mut options, &mut note)?;
    limits::limits(given, &mut options, &mut note)?;
    targets::engine(given, places, &mut options, &mut note)?;
    if given.flag("unlink")? {
        note("unlink=1 removes the files that this run makes; those that exist stay".to_owned());
    }
    if let Some((what, group)) = exit {
        options.exitall = Some(what.scope().to_owned());
        options.exit_group = Some(group).filter(|&group| group > 0);
    }
    if places.clones > 1 {
        options.numjobs = None;
    }
    Ok(options)
}

fn note_once(notes: &mut Vec<String>, text: String) {
    if !notes.contains(&text) {
        notes.push(text);
    }
}

/// `name` in a global section names the run, and all sections with it.
fn base_name<'a>(given: &Given<'a>, section: &'a Section) -> &'a str {
    match given.text("name") {
        Some((name, _)) if !file_wide(given, "name", section) => name,
        _ => section.name.as_str(),
    }
}

fn unused_name(mut name: String, base: &str, jobs: &[FioJob]) -> String {
    let mut number = 2;
    while jobs.iter().any(|job| job.name == name) {
        name = format!("{base}#{number}");
        number += 1;
    }
    name
}

fn file_wide(given: &Given<'_>, name: &str, section: &Section) -> bool {
    let place = given.text(name).map(|(_, place)| place);
    place.is_some_and(|place| place.file == section.place.file && place.line < section.place.line)
}

impl FioJob {
    pub fn error(&self, job_options: &[&str], message: &str) -> JobFileError {
        let from = |job_option: &&str| {
            let is_from = |name: &str| options::find(name).is_some_and(|o| o.becomes(job_option));
            self.given.iter().find(|(name, _)| is_from(name))
        };
        let found = job_options.iter().find_map(from);
        JobFileError {
            place: found.map_or(&self.place, |(_, place)| place).clone(),
            section: Some(self.section.clone()),
            message: match found {
                Some((name, _)) => format!("{name}: {message}"),
                None => message.to_owned(),
            },
        }
    }

    /// The length of a file that is made for it, behind others of these lengths, 0 of those that
    /// are made, too.
    pub fn end_bytes(&self, before: &[u64]) -> Option<u64> {
        match self.file_bytes {
            Some((low, high)) if low == high => return Some(low),
            Some(_) => return assay_workload::plan::file_length(&self.options, before),
            None => {}
        }
        let bytes = |text: &Option<String>| match text {
            Some(text) => number::bytes(text, 1024),
            None => Some(0),
        };
        let files = self.target.files().len().max(1) as u64;
        let size = bytes(&self.options.size).filter(|&size| size > 0)? / files;
        let increment = bytes(&self.options.offset_increment)?.checked_mul(self.last_clone())?;
        let end = bytes(&self.options.offset)?.checked_add(increment)?;
        end.checked_add(size)
    }

    fn last_clone(&self) -> u64 {
        let clones = self.options.numjobs.unwrap_or(1).saturating_sub(1);
        u64::from(clones) + u64::from(self.clone)
    }

    /// What the plan limits to the drive.
    pub fn limit_to(&self, capacity_bytes: u64) -> Option<String> {
        if !self.target.files().is_empty() {
            return None;
        }
        let bytes = |text: &Option<String>| number::bytes(text.as_deref()?, 1024);
        let offset = bytes(&self.options.offset).unwrap_or(0);
        let increment = bytes(&self.options.offset_increment).unwrap_or(0);
        let last = increment.saturating_mul(self.last_clone());
        let room = capacity_bytes.saturating_sub(offset.saturating_add(last));
        let size = bytes(&self.options.size).filter(|&size| size > room && room > 0)?;
        Some(format!(
            "[{}]: size={size} is limited to the {room} bytes that the drive has there",
            self.name
        ))
    }
}

#[cfg(test)]
#[path = "../tests/unit/job.rs"]
mod tests;
