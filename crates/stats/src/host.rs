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
        let mut sum = HostLoadSum::default();
        loads.iter().for_each(|load| sum.add(load));
        sum.mean()
    }
}

/// Of equally long spans, for their mean: a job of weeks keeps no load of each second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLoadSum {
    sum: HostLoad,
    spans: u64,
}

impl HostLoadSum {
    pub fn add(&mut self, load: &HostLoad) {
        let sum = &mut self.sum;
        sum.user_pct += load.user_pct;
        sum.system_pct += load.system_pct;
        sum.irq_pct += load.irq_pct;
        sum.iowait_pct += load.iowait_pct;
        sum.idle_pct += load.idle_pct;
        sum.steal_pct += load.steal_pct;
        sum.context_switches_per_s += load.context_switches_per_s;
        let before = if self.spans == 0 { Some(0.0) } else { sum.package_w };
        sum.package_w = before.zip(load.package_w).map(|(sum, w)| sum + w);
        self.spans += 1;
    }

    /// `None` of no span; without a power that was not read in each.
    pub fn mean(&self) -> Option<HostLoad> {
        if self.spans == 0 {
            return None;
        }
        let (sum, n) = (self.sum, self.spans as f64);
        Some(HostLoad {
            user_pct: sum.user_pct / n,
            system_pct: sum.system_pct / n,
            irq_pct: sum.irq_pct / n,
            iowait_pct: sum.iowait_pct / n,
            idle_pct: sum.idle_pct / n,
            steal_pct: sum.steal_pct / n,
            context_switches_per_s: sum.context_switches_per_s / n,
            package_w: sum.package_w.map(|sum| sum / n),
        })
    }
}

#[cfg(test)]
#[path = "../tests/unit/host.rs"]
mod tests;
