//! Processor time of other programs, by name.

use std::collections::BTreeMap;

use crate::identity::SystemRoot;

/// `USER_HZ` of Linux on every architecture (proc_pid_stat(5), fields 14 and 15).
const TICKS_PER_SECOND: f64 = 100.0;

/// A process at one instant.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    /// Of the program; the kernel's workers change theirs with their work.
    name: String,
    /// Clock ticks used.
    ticks: u64,
    /// When it began: numbers of processes are used again.
    began: u64,
}

/// Times of all processes at one instant.
#[derive(Debug, Default)]
pub struct ProgramTimes {
    /// By number.
    processes: BTreeMap<u32, Process>,
}

impl ProgramTimes {
    /// Processes that cannot be read, or have ended, are left out.
    pub fn read(root: &SystemRoot) -> ProgramTimes {
        let mut processes = BTreeMap::new();
        for entry in std::fs::read_dir(root.proc("")).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if let Some(found) = Process::parse(&stat) {
                processes.insert(pid, found);
            }
        }
        ProgramTimes { processes }
    }

    /// Programs other than this process, each with its mean use over the seconds since, percent of
    /// one processor; those of one name together, the busiest first.
    pub fn others_since(&self, before: &ProgramTimes, seconds: f64) -> Vec<(String, f64)> {
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        for (pid, process) in &self.processes {
            // A process that began meanwhile has used all of its time since.
            let earlier = before.processes.get(pid);
            let earlier = earlier.filter(|earlier| earlier.began == process.began);
            let used = process.ticks.saturating_sub(earlier.map_or(0, |e| e.ticks));
            if *pid != std::process::id() && used > 0 {
                *by_name.entry(&process.name).or_default() += used;
            }
        }
        let percent = |ticks: u64| ticks as f64 / TICKS_PER_SECOND / seconds.max(0.01) * 100.0;
        let mut found: Vec<(String, f64)> =
            by_name.into_iter().map(|(name, ticks)| (name.to_owned(), percent(ticks))).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }
}

impl Process {
    /// Fields of proc_pid_stat(5). The name is in parentheses and may have any characters.
    fn parse(stat: &str) -> Option<Process> {
        let (head, fields) = stat.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        // `kworker/1:1-events`: the kernel's thread, without its processor and its work.
        let name = name.split('/').next().filter(|name| !name.is_empty());
        let mut fields = fields.split_whitespace().skip(11);
        let mut next = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let (user, system) = (next(0)?, next(0)?);
        Some(Process {
            name: name.unwrap_or("a program without a name").to_owned(),
            ticks: user.saturating_add(system),
            began: next(6)?,
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/load/programs.rs"]
mod tests;
