//! Queues start tasks on hosts. Nothing above the trait [`Queue`] names a scheduler. Names of jobs
//! follow from plan, host and drive, so that a repeated `submit` finds the jobs that are already
//! there.

use std::fmt;

use crate::{HostName, PlanId, Serial};

mod here;
mod slurm;

pub use here::{HereQueue, TaskEnd};
pub use slurm::{JOB_SCRIPT, SlurmQueue, requeue};

/// The task of a plan on a host, for all its drives or for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobSpec {
    pub plan: PlanId,
    /// A job for one drive names the host where the drive is now.
    pub host: HostName,
    /// If the plan has a job per drive (`place = "drive"`).
    pub serial: Option<Serial>,
    /// Replaces `{rack}` in the partition.
    pub rack: Option<String>,
}

impl JobSpec {
    /// `assay:PLAN:HOST`, or `assay:PLAN::SERIAL` for one drive, which can move to another host.
    pub fn name(&self) -> String {
        match &self.serial {
            None => format!("assay:{}:{}", self.plan, self.host),
            Some(serial) => format!("assay:{}::{}", self.plan, serial.key()),
        }
    }
}

/// Common to all jobs of a plan.
pub fn name_prefix(plan: &PlanId) -> String {
    format!("assay:{plan}:")
}

/// All arguments but `--host`.
pub fn task_arguments(job: &JobSpec, store: &str) -> impl Iterator<Item = String> + use<> {
    let plan = job.plan.to_string();
    let all = ["fleet", "task", "--store", store, "--plan", &plan].map(str::to_owned);
    let serial = job.serial.as_ref();
    let serial = serial.map(|serial| ["--serial".to_owned(), serial.to_string()]);
    all.into_iter().chain(serial.into_iter().flatten())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    Waiting,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: String,
    /// [`JobSpec::name`].
    pub name: String,
    pub state: JobState,
    pub host: Option<String>,
    /// Why the job waits, in the queue's words.
    pub reason: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error(
        "cannot start {program}: {source}; install Slurm's client programs on this host, or run \
         the plan on this host alone with --here"
    )]
    Start { program: &'static str, source: std::io::Error },
    #[error("{program} failed with {status}{}: {message}", of_job(.job))]
    Failed {
        program: &'static str,
        /// Where the error concerns one.
        job: Option<String>,
        status: String,
        /// Output on stderr, or what to check.
        message: String,
    },
    #[error("{program} printed {line:?}, which is not {expected}; check that it is Slurm's")]
    Output { program: &'static str, line: String, expected: &'static str },
    /// The partition depends on the rack, and the host has none.
    #[error(
        "slurm.partition is {partition:?} and the inventory of host {host} names no rack; take it \
         again with `assay fleet inventory --rack NAME`"
    )]
    NoRack { partition: String, host: HostName },
    #[error("{0}")]
    Unsupported(String),
}

fn of_job(job: &Option<String>) -> String {
    job.as_ref().map(|job| format!(" for {job}")).unwrap_or_default()
}

pub trait Queue {
    /// Returns the queue's id of the job. The caller has checked that there is none of that name.
    fn submit(&mut self, job: &JobSpec) -> Result<String, QueueError>;

    /// Jobs that have not ended.
    fn list(&mut self, plan: &PlanId) -> Result<Vec<Job>, QueueError>;

    /// Ends a job at once, running or not; no error if the job has ended.
    fn cancel(&mut self, id: &str) -> Result<(), QueueError>;

    fn reboot(&mut self, host: &HostName) -> Result<(), QueueError>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Names and ids of the jobs.
    pub made: Vec<(String, String)>,
    /// Jobs that were there already, by name, with their ids.
    pub present: Vec<(String, String)>,
}

/// Makes the jobs that are missing. After an error, jobs that were made stay, and are found when
/// the call is repeated.
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
