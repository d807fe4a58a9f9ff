//! Processor time, of the machine and of this process.

use std::io;

use assay_io::system_calls;
use serde::{Deserialize, Serialize};

use crate::identity::SystemRoot;

/// Processor time of the whole machine since it started, in ticks (proc_stat(5)), summed over all processors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// `user` and `nice`, guests included.
    pub user_ticks: u64,
    /// `system`.
    pub system_ticks: u64,
    /// `irq` and `softirq`.
    pub irq_ticks: u64,
    /// Idle with I/O outstanding.
    pub iowait_ticks: u64,
    /// Idle.
    pub idle_ticks: u64,
    /// `steal`.
    pub steal_ticks: u64,
}

/// Processor time of an interval, percent of all processors together; the six add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CpuShare {
    /// User.
    pub user_pct: f64,
    /// System.
    pub system_pct: f64,
    /// Interrupts.
    pub irq_pct: f64,
    /// Idle with I/O outstanding.
    pub iowait_pct: f64,
    /// Idle.
    pub idle_pct: f64,
    /// Steal.
    pub steal_pct: f64,
}

impl CpuShare {
    /// Everything but idle and iowait, per cent.
    pub fn busy_pct(&self) -> f64 {
        self.user_pct + self.system_pct + self.irq_pct + self.steal_pct
    }
}

impl CpuTimes {
    /// Reads `/proc/stat` of this machine.
    ///
    /// # Errors
    /// When it cannot be read or has no line of the expected shape.
    pub fn read() -> io::Result<Self> {
        let text = std::fs::read_to_string(SystemRoot::host().proc("stat"))?;
        Self::parse(&text).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "/proc/stat has no line `cpu` with numbers",
            )
        })
    }

    /// Takes the sum over all processors (the line `cpu`) from the text of `/proc/stat`. Columns that an old kernel lacks are zero.
    pub fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let mut columns = line.split_whitespace().map(|column| column.parse::<u64>());
        let mut next = || columns.next().transpose();
        let user = next().ok()??;
        let nice = next().ok()??;
        let system = next().ok()??;
        let idle = next().ok()??;
        let mut optional = || Some(next().ok()?.unwrap_or(0));
        let (iowait, irq, softirq, steal) = (optional()?, optional()?, optional()?, optional()?);
        Some(Self {
            user_ticks: user.saturating_add(nice),
            system_ticks: system,
            irq_ticks: irq.saturating_add(softirq),
            iowait_ticks: iowait,
            idle_ticks: idle,
            steal_ticks: steal,
        })
    }

    /// Shares since `earlier`; `None` when no tick has passed. A counter that decreases (the kernel documents that for iowait) counts as
    /// unchanged.
    pub fn since(&self, earlier: &CpuTimes) -> Option<CpuShare> {
        let delta = |of: fn(&CpuTimes) -> u64| of(self).saturating_sub(of(earlier)) as f64;
        let (user, system) = (delta(|t| t.user_ticks), delta(|t| t.system_ticks));
        let (irq, iowait) = (delta(|t| t.irq_ticks), delta(|t| t.iowait_ticks));
        let (idle, steal) = (delta(|t| t.idle_ticks), delta(|t| t.steal_ticks));
        let total = user + system + irq + iowait + idle + steal;
        let pct = |part: f64| 100.0 * part / total;
        (total > 0.0).then(|| CpuShare {
            user_pct: pct(user),
            system_pct: pct(system),
            irq_pct: pct(irq),
            iowait_pct: pct(iowait),
            idle_pct: pct(idle),
            steal_pct: pct(steal),
        })
    }
}

/// Resource usage of this process since its start, all threads, ended ones included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// User time, nanoseconds (the kernel counts microseconds).
    pub user_ns: u64,
    /// System time, nanoseconds.
    pub system_ns: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
}

impl ProcessUsage {
    /// Reads it (getrusage(2), `RUSAGE_SELF`).
    pub fn read() -> Self {
        let usage = system_calls::process_resource_usage();
        Self {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
        }
    }

    /// Usage since `earlier`; a kernel counter that decreases counts as unchanged.
    pub fn since(&self, earlier: &ProcessUsage) -> ProcessUsage {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }

    /// User and system time, nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

fn count(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1_000
}

#[cfg(test)]
#[path = "../../tests/unit/host/cpu.rs"]
mod tests;
