//! Queues: what starts tasks on hosts, and when.
//!
//! The seam to schedulers. Nothing above the trait [`Queue`] names one. Jobs have names that follow
//! from plan, host and drive, so that a repeated `submit` finds the jobs that are already there.

use std::fmt;

use crate::{HostName, PlanId, Serial};

mod here;
mod slurm;

pub use here::{HereQueue, TaskEnd};
pub use slurm::{JOB_SCRIPT, SlurmQueue, requeue};

/// A job: the task of a plan on a host, for all its drives or for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobSpec {
    pub plan: PlanId,
    /// The host; of a job for one drive, where the drive is now.
    pub host: HostName,
    /// The drive, if the plan has a job per drive (`place = "drive"`).
    pub serial: Option<Serial>,
    /// Rack of the host, for `{rack}` in the partition.
    pub rack: Option<String>,
}

impl JobSpec {
    /// Name of the job in the queue: `assay:PLAN:HOST`, or `assay:PLAN::SERIAL` for one drive,
    /// which can move to another host.
    pub fn name(&self) -> String {
        match &self.serial {
            None => format!("assay:{}:{}", self.plan, self.host),
            Some(serial) => format!("assay:{}::{}", self.plan, serial.key()),
        }
    }
}

/// Beginning of the names of all jobs of a plan.
pub fn name_prefix(plan: &PlanId) -> String {
    format!("assay:{plan}:")
}

/// Arguments of the program for a job's task, but for `--host`.
pub fn task_arguments(job: &JobSpec, store: &str) -> impl Iterator<Item = String> + use<> {
    let plan = job.plan.to_string();
    let all = ["fleet", "task", "--store", store, "--plan", &plan].map(str::to_owned);
    let serial = job.serial.as_ref();
    let serial = serial.map(|serial| ["--serial".to_owned(), serial.to_string()]);
    all.into_iter().chain(serial.into_iter().flatten())
}

/// State of a job in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It waits to be placed.
    Waiting,
    /// It runs.
    Running,
    Ending,
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Ending => "ending",
        })
    }
}

/// A job in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The queue's id.
    pub id: String,
    /// [`JobSpec::name`].
    pub name: String,
    pub state: JobState,
    /// Host on which it runs.
    pub host: Option<String>,
    /// Why it waits, in the queue's words.
    pub reason: Option<String>,
}

/// A queue that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A program of the queue cannot be started.
    #[error(
        "cannot start {program}: {source}; install Slurm's client programs on this host, or run \
         the plan on this host alone with --here"
    )]
    Start {
        program: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// A program of the queue failed.
    #[error("{program} failed with {status}{}: {message}", of_job(.job))]
    Failed {
        program: &'static str,
        /// The job, where it concerns one.
        job: Option<String>,
        /// Its exit status.
        status: String,
        /// What it printed on stderr, or what to check.
        message: String,
    },
    /// A program of the queue printed something else than expected.
    #[error("{program} printed {line:?}, which is not {expected}; check that it is Slurm's")]
    Output {
        program: &'static str,
        line: String,
        expected: &'static str,
    },
    /// A partition that depends on the rack, and a host without one.
    #[error(
        "slurm.partition is {partition:?} and the inventory of host {host} names no rack; take it \
         again with `assay fleet inventory --rack NAME`"
    )]
    NoRack { partition: String, host: HostName },
    /// The queue cannot do it.
    #[error("{0}")]
    Unsupported(String),
}

fn of_job(job: &Option<String>) -> String {
    job.as_ref()
        .map(|job| format!(" for {job}"))
        .unwrap_or_default()
}

/// A queue of jobs.
pub trait Queue {
    /// Makes a job; returns the queue's id for it. The caller has checked that there is none of
    /// that name.
    ///
    /// # Errors
    /// [`QueueError`].
    fn submit(&mut self, job: &JobSpec) -> Result<String, QueueError>;

    /// The jobs of a plan that have not ended.
    ///
    /// # Errors
    /// [`QueueError`].
    fn list(&mut self, plan: &PlanId) -> Result<Vec<Job>, QueueError>;

    /// Ends a job at once, running or not. No error if it has ended.
    ///
    /// # Errors
    /// [`QueueError`].
    fn cancel(&mut self, id: &str) -> Result<(), QueueError>;

    /// Reboots a host and resumes it afterwards.
    ///
    /// # Errors
    /// [`QueueError`].
    fn reboot(&mut self, host: &HostName) -> Result<(), QueueError>;
}

/// Result of [`complete`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Jobs that were made, by name, with their ids.
    pub made: Vec<(String, String)>,
    /// Jobs that were there already, by name, with their ids.
    pub present: Vec<(String, String)>,
}

/// Makes the jobs that are missing. Repeating it changes nothing while they are there.
///
/// # Errors
/// The first [`QueueError`]; jobs made before it stay, and are found when it is repeated.
pub fn complete(
    queue: &mut dyn Queue,
    plan: &PlanId,
    jobs: &[JobSpec],
) -> Result<Completed, QueueError> {
    let there = queue.list(plan)?;
    let mut completed = Completed::default();
    for job in jobs {
        let name = job.name();
        let known = there.iter().find(|known| known.name == name);
        match known {
            Some(known) => completed.present.push((name, known.id.clone())),
            None => {
                let id = queue.submit(job)?;
                completed.made.push((name, id));
            }
        }
    }
    Ok(completed)
}

#[cfg(test)]
#[path = "../tests/unit/queue.rs"]
pub(crate) mod tests;
