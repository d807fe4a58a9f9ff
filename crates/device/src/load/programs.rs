//! Processor time of other programs, by name.

use std::collections::BTreeMap;

use crate::identity::SystemRoot;

/// `USER_HZ` of Linux on every architecture (proc_pid_stat(5), fields 14 and 15).
const TICKS_PER_SECOND: f64 = 100.0;

/// Times of all processes at one instant.
#[derive(Debug, Default)]
pub struct ProgramTimes {
    /// By process: name and clock ticks.
    ticks: BTreeMap<u32, (String, u64)>,
}

impl ProgramTimes {
    /// Processes that cannot be read, or have ended, are left out.
    pub fn read(root: &SystemRoot) -> ProgramTimes {
        let mut ticks = BTreeMap::new();
        for entry in std::fs::read_dir(root.proc(""))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if let Some(found) = name_and_ticks(&stat) {
                ticks.insert(pid, found);
            }
        }
        ProgramTimes { ticks }
    }

    /// Programs other than this process, each with its mean use over the seconds since, percent of
    /// one processor; those of one name together, the busiest first.
    pub fn others_since(&self, before: &ProgramTimes, seconds: f64) -> Vec<(String, f64)> {
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        for (pid, (name, ticks)) in &self.ticks {
            // A process that began meanwhile has used all of its time since.
            let earlier = before.ticks.get(pid).filter(|(known, _)| known == name);
            let used = ticks.saturating_sub(earlier.map_or(0, |(_, ticks)| *ticks));
            if *pid != std::process::id() && used > 0 {
                *by_name.entry(name).or_default() += used;
            }
        }
        let percent = |ticks: u64| ticks as f64 / TICKS_PER_SECOND / seconds.max(0.01) * 100.0;
        let mut found: Vec<(String, f64)> = by_name
            .into_iter()
            .map(|(name, ticks)| (name.to_owned(), percent(ticks)))
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }
}

/// The name is in parentheses and may have any characters.
fn name_and_ticks(stat: &str) -> Option<(String, u64)> {
    let (head, fields) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((name.to_owned(), user.saturating_add(system)))
}

#[cfg(test)]
#[path = "../../tests/unit/load/programs.rs"]
mod tests;
