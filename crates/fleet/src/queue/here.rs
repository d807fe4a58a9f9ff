//! This host as the queue: tasks are child processes, all started at once.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tracing::level_filters::LevelFilter;

use super::{Job, JobSpec, JobState, Queue, QueueError, name_prefix, task_arguments};
use crate::{HostName, LOG_VARIABLE, PlanId};

/// Dropping it leaves the tasks running.
#[derive(Debug)]
pub struct HereQueue {
    program: PathBuf,
    store: String,
    children: Vec<(JobSpec, Child)>,
}

#[derive(Clone, Debug)]
pub struct TaskEnd {
    pub job: JobSpec,
    pub status: ExitStatus,
}

impl HereQueue {
    pub fn new(program: PathBuf, store: String) -> HereQueue {
        HereQueue { program, store, children: Vec::new() }
    }

    pub fn processes(&self) -> Vec<u32> {
        self.children.iter().map(|(_, child)| child.id()).collect()
    }

    pub fn wait(&mut self) -> Result<Vec<TaskEnd>, QueueError> {
        let ended = self.children.drain(..).map(|(job, mut child)| {
            let status = child.wait().map_err(start)?;
            Ok(TaskEnd { job, status })
        });
        ended.collect()
    }
}

fn start(source: std::io::Error) -> QueueError {
    QueueError::Start { program: "assay", source }
}

impl Queue for HereQueue {
    fn submit(&mut self, job: &JobSpec) -> Result<String, QueueError> {
        let child = Command::new(&self.program)
            .args(task_arguments(job, &self.store))
            .args(["--host", job.host.as_str()])
            .env(LOG_VARIABLE, LevelFilter::current().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // A group of its own: a signal of the terminal comes once, through this process.
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let id = child.id().to_string();
        self.children.push((job.clone(), child));
        Ok(id)
    }

    fn list(&mut self, plan: &PlanId) -> Result<Vec<Job>, QueueError> {
        let prefix = name_prefix(plan);
        let mut jobs = Vec::new();
        for (job, child) in &mut self.children {
            if job.name().starts_with(&prefix) && child.try_wait().map_err(start)?.is_none() {
                jobs.push(Job {
                    id: child.id().to_string(),
                    name: job.name(),
                    state: JobState::Running,
                    host: Some(job.host.to_string()),
                    reason: None,
                });
            }
        }
        Ok(jobs)
    }

    fn cancel(&mut self, id: &str) -> Result<(), QueueError> {
        let child = self.children.iter_mut().find(|(_, c)| c.id().to_string() == id);
        let Some((_, child)) = child else {
            return Ok(());
        };
        // Not yet waited for, so its process id is no other process's.
        if child.try_wait().map_err(start)?.is_none() {
            signal(child.id(), Signal::TERM);
        }
        Ok(())
    }

    fn reboot(&mut self, host: &HostName) -> Result<(), QueueError> {
        Err(QueueError::Unsupported(format!(
            "{host} cannot be rebooted without a queue: run the plan by Slurm, or reboot it \
             yourself and repeat `assay fleet submit --here`"
        )))
    }
}

/// The task may have ended.
pub(crate) fn signal(process: u32, signal: Signal) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal);
    }
}
