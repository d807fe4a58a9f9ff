use assay_io::system_calls;
use assay_stats::HostLoad;
use assay_units::Nanos;

use crate::identity::SystemRoot;

/// Processor time of the machine since its start, in ticks (proc_stat(5)), summed over all
/// processors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// `user` and `nice`, guests included.
    pub user_ticks: u64,
    pub system_ticks: u64,
    /// `irq` and `softirq`.
    pub irq_ticks: u64,
    /// Idle with I/O outstanding.
    pub iowait_ticks: u64,
    pub idle_ticks: u64,
    pub steal_ticks: u64,
}

impl CpuTimes {
    /// `None` when `/proc/stat` cannot be read or its line `cpu` has no numbers.
    pub fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string(SystemRoot::host().proc("stat")).ok()?)
    }

    /// Reads the line `cpu` of `/proc/stat`. Columns that an old kernel lacks are zero.
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

    /// Shares of the time since `earlier`, which add up to 100 percent; `None` when no tick has
    /// passed. A counter that decreases (proc_stat(5) documents that for iowait) counts as
    /// unchanged.
    pub fn since(&self, earlier: &CpuTimes) -> Option<HostLoad> {
        let delta = |of: fn(&CpuTimes) -> u64| of(self).saturating_sub(of(earlier)) as f64;
        let (user, system) = (delta(|t| t.user_ticks), delta(|t| t.system_ticks));
        let (irq, iowait) = (delta(|t| t.irq_ticks), delta(|t| t.iowait_ticks));
        let (idle, steal) = (delta(|t| t.idle_ticks), delta(|t| t.steal_ticks));
        let total = user + system + irq + iowait + idle + steal;
        let pct = |part: f64| 100.0 * part / total;
        (total > 0.0).then(|| HostLoad {
            user_pct: pct(user),
            system_pct: pct(system),
            irq_pct: pct(irq),
            iowait_pct: pct(iowait),
            idle_pct: pct(idle),
            steal_pct: pct(steal),
            ..HostLoad::default()
        })
    }
}

/// Resource usage of this process since its start, with that of ended threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// The kernel counts microseconds.
    pub user: Nanos,
    pub system: Nanos,
    /// Voluntary and involuntary.
    pub context_switches: u64,
}

impl ProcessUsage {
    pub fn read() -> Self {
        let usage = system_calls::process_resource_usage();
        let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
        let time = |time: libc::timeval| {
            Nanos(count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1_000)
        };
        Self {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            context_switches: count(usage.ru_nvcsw) + count(usage.ru_nivcsw),
        }
    }

    pub fn cpu(&self) -> Nanos {
        self.user + self.system
    }
}

#[cfg(test)]
#[path = "../../tests/unit/host/cpu.rs"]
mod tests;
