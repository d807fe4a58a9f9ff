//! Processor time and overhead of the measuring host.

use serde::{Deserialize, Serialize};

/// Self-audit of the measuring host, without a drive: overhead of engine and clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostAudit {
    /// One thread on the null target at depth 1, with full latency recording.
    pub null_iops_per_thread: f64,
    pub engine_ns_per_io: f64,
    /// Mean cost of reading the clock.
    pub clock_ns: f64,
    /// Smallest step of the clock seen.
    pub clock_step_ns: u64,
    /// Drift of the fast clock against the kernel's.
    pub clock_drift_ppm: f64,
}

/// Processor time of this process, percent of one processor (two busy threads: 200).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessLoad {
    pub cpu_user_pct: f64,
    pub cpu_system_pct: f64,
}

/// Percent of the time of all processors, in the split of iostat(1) and DragonFly 2018.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostLoad {
    /// User code, nice included.
    pub user_pct: f64,
    /// Kernel code outside interrupts.
    pub system_pct: f64,
    /// Hard and soft interrupts.
    pub irq_pct: f64,
    /// Idle with I/O outstanding.
    pub iowait_pct: f64,
    pub idle_pct: f64,
    /// Taken by the hypervisor.
    pub steal_pct: f64,
    /// Of this process, voluntary and not.
    pub context_switches_per_s: f64,
    /// Power of the processors, where they measure it (RAPL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_w: Option<f64>,
}

impl HostLoad {
    pub fn busy_pct(&self) -> f64 {
        (100.0 - self.idle_pct - self.iowait_pct).max(0.0)
    }

    /// Over equally long spans.
    pub fn mean(loads: &[HostLoad]) -> Option<HostLoad> {
        if loads.is_empty() {
            return None;
        }
        let n = loads.len() as f64;
        let mean = |of: fn(&HostLoad) -> f64| loads.iter().map(of).sum::<f64>() / n;
        Some(HostLoad {
            user_pct: mean(|l| l.user_pct),
            system_pct: mean(|l| l.system_pct),
            irq_pct: mean(|l| l.irq_pct),
            iowait_pct: mean(|l| l.iowait_pct),
            idle_pct: mean(|l| l.idle_pct),
            steal_pct: mean(|l| l.steal_pct),
            context_switches_per_s: mean(|l| l.context_switches_per_s),
            package_w: loads
                .iter()
                .map(|l| l.package_w)
                .sum::<Option<f64>>()
                .map(|sum| sum / n),
        })
    }
}

#[cfg(test)]
#[path = "../tests/unit/host.rs"]
mod tests;
