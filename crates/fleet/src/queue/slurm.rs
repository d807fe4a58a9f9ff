//! Slurm by its programs, without a library of it. Options and columns are those of Slurm 20.11 and
//! later (sbatch(1), squeue(1), scancel(1), scontrol(1)).

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Job, JobSpec, JobState, Queue, QueueError, name_prefix, task_arguments};
use crate::plan::SlurmRules;
use crate::{HostName, PlanId};

/// No text of a user is in the script: jobs differ in its arguments. `exec`, because Slurm signals
/// all processes, and a shell that stays passes its signal on: the second one ends assay at once.
pub const JOB_SCRIPT: &str = "#!/bin/sh
# A job of assay fleet: what it runs is in its arguments.
exec \"$@\" --host \"$SLURMD_NODENAME\" --job \"$SLURM_JOB_ID\" --requeue
";
/// The task gets SIGUSR1 before the time limit of the job, ends with the cell under way and has the
/// job queued again (sbatch(1), `--signal`; `B:`, the batch shell, is the task because of `exec`).
const NEAR_LIMIT: &str = "--signal=B:USR1@120";

/// `squeue -o`: job id, compact state, nodes, reason, name, which is last because names of other
/// users' jobs can have the separator.
const COLUMNS: &str = "%i|%t|%N|%r|%j";
const SEPARATOR: char = '|';

#[derive(Clone, Debug)]
pub struct SlurmQueue {
    rules: SlurmRules,
    store: String,
    /// This program, at the same path on all hosts.
    program: PathBuf,
    /// `None`: those of PATH.
    programs: Option<PathBuf>,
}

impl SlurmQueue {
    /// Jobs start `program` on the plan in `store`.
    pub fn new(rules: SlurmRules, store: String, program: PathBuf) -> SlurmQueue {
        SlurmQueue { rules, store, program, programs: None }
    }

    #[must_use]
    pub fn with_programs(self, folder: PathBuf) -> SlurmQueue {
        SlurmQueue { programs: Some(folder), ..self }
    }

    /// Returns what the program printed.
    fn call(
        &self,
        program: &'static str,
        job: Option<&str>,
        arguments: &[OsString],
        input: &str,
    ) -> Result<String, QueueError> {
        let path = match &self.programs {
            Some(folder) => folder.join(program),
            None => PathBuf::from(program),
        };
        call(&path, program, job, arguments, input)
    }

    /// The plan's own options come last, so that they prevail.
    fn arguments(&self, job: &JobSpec) -> Result<Vec<OsString>, QueueError> {
        let mut arguments: Vec<String> = [
            "--parsable",
            "--nodes=1",
            "--ntasks=1",
            "--requeue",
            "--open-mode=append",
            "--output=/dev/null",
            NEAR_LIMIT,
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.push(format!("--job-name={}", job.name()));
        match &job.serial {
            None => {
                arguments.push("--exclusive".to_owned());
                arguments.push(format!("--nodelist={}", job.host));
            }
            Some(serial) => arguments.push(format!("--gres=nvme:{}:1", serial.gres_type())),
        }
        if let Some(partition) = &self.rules.partition {
            let rack = match (partition.contains("{rack}"), &job.rack) {
                (true, None) => {
                    return Err(QueueError::NoRack {
                        partition: partition.clone(),
                        host: job.host.clone(),
                    });
                }
                (_, rack) => rack.clone().unwrap_or_default(),
            };
            let partition = partition.replace("{rack}", &rack);
            arguments.push(format!("--partition={partition}"));
        }
        arguments.extend(self.rules.options.iter().cloned());
        Ok(arguments.into_iter().map(OsString::from).collect())
    }
}

fn call(
    path: &Path,
    program: &'static str,
    job: Option<&str>,
    arguments: &[OsString],
    input: &str,
) -> Result<String, QueueError> {
    let start = |source| QueueError::Start { program, source };
    let mut child = Command::new(path)
        .args(arguments)
        // Messages are parsed, so they must be in one language.
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input says so by its status.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(start)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message = match stderr.trim() {
        "" => "it printed no reason; check that slurmctld answers (`scontrol ping`)",
        text => text,
    };
    Err(QueueError::Failed {
        program,
        job: job.map(str::to_owned),
        status: output.status.to_string(),
        message: message.to_owned(),
    })
}

/// Called from inside the job, which ends and runs once more when its host is free.
pub fn requeue(job: &str) -> Result<(), QueueError> {
    let arguments = ["requeue", job].map(OsString::from);
    call("scontrol".as_ref(), "scontrol", Some(job), &arguments, "").map(drop)
}

impl Queue for SlurmQueue {
    fn submit(&mut self, job: &JobSpec) -> Result<String, QueueError> {
        let name = job.name();
        let mut arguments = self.arguments(job)?;
        // The script comes on stdin; its arguments need a name for it.
        arguments.push("/dev/stdin".into());
        arguments.push(self.program.clone().into_os_string());
        arguments.extend(task_arguments(job, &self.store).map(OsString::from));
        let printed = self.call("sbatch", Some(&name), &arguments, JOB_SCRIPT)?;
        // `ID`, or `ID;CLUSTER`.
        let line = printed.lines().map(str::trim).find(|line| !line.is_empty());
        let line = line.unwrap_or_default();
        let id = line.split(';').next().unwrap_or_default();
        match is_job_id(id) {
            true => Ok(id.to_owned()),
            false => Err(QueueError::Output {
                program: "sbatch",
                line: line.to_owned(),
                expected: "a job id",
            }),
        }
    }

    fn list(&mut self, plan: &PlanId) -> Result<Vec<Job>, QueueError> {
        let columns = format!("--format={COLUMNS}");
        let arguments = ["--noheader", "--all", &columns].map(OsString::from);
        let printed = self.call("squeue", None, &arguments, "")?;
        parse_squeue(&printed, plan)
    }

    fn cancel(&mut self, id: &str) -> Result<(), QueueError> {
        let arguments = [OsString::from(id)];
        match self.call("scancel", Some(id), &arguments, "") {
            Ok(_) => Ok(()),
            // The job ended in the meantime.
            Err(QueueError::Failed { message, .. })
                if ["Invalid job id", "already completing or completed"]
                    .iter()
                    .any(|ended| message.contains(ended)) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn reboot(&mut self, host: &HostName) -> Result<(), QueueError> {
        let arguments = ["reboot", "asap", "nextstate=resume", host.as_str()];
        let arguments = arguments.map(OsString::from);
        self.call("scontrol", None, &arguments, "").map(drop)
    }
}

fn is_job_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_digit() || b"_[]-,%+".contains(&byte);
    text.bytes().next().is_some_and(|b| b.is_ascii_digit()) && text.bytes().all(allowed)
}

/// Jobs of other plans are left out.
fn parse_squeue(text: &str, plan: &PlanId) -> Result<Vec<Job>, QueueError> {
    let prefix = name_prefix(plan);
    let mut jobs = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // Names can have any character, also the separator, and are last.
        let fields: Vec<&str> = line.trim().splitn(5, SEPARATOR).collect();
        let [id, state, nodes, reason, name] = fields.as_slice() else {
            return Err(QueueError::Output {
                program: "squeue",
                line: line.to_owned(),
                expected: "five columns: id, state, nodes, reason, name",
            });
        };
        if !name.starts_with(&prefix) {
            continue;
        }
        if !is_job_id(id) {
            return Err(QueueError::Output {
                program: "squeue",
                line: line.to_owned(),
                expected: "a job id first",
            });
        }
        // Compact states of squeue(1), which shows ended jobs for some minutes.
        let state = match *state {
            "R" | "S" | "ST" | "SI" | "RS" => JobState::Running,
            "CG" | "SO" => JobState::Ending,
            "CD" | "CA" | "F" | "TO" | "NF" | "BF" | "DL" | "OOM" | "PR" | "RV" => continue,
            _ => JobState::Waiting,
        };
        let some = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty() && t != "None");
        jobs.push(Job {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            state,
            host: some(nodes),
            reason: some(reason),
        });
    }
    Ok(jobs)
}

#[cfg(test)]
#[path = "../../tests/unit/queue/slurm.rs"]
mod tests;
