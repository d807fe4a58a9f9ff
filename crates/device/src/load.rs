mod others;
mod programs;

use assay_stats::HostLoad;
use assay_units::Nanos;
use rustix::thread::ClockId;

use crate::host::{CpuTimes, PackageEnergy, ProcessUsage};
use assay_io::clock::Clock;

pub use others::{OthersIo, OthersWatch};
pub use programs::ProgramTimes;

pub fn thread_cpu_time() -> Nanos {
    let time = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[derive(Debug)]
pub struct HostSampler {
    clock: Clock,
    at: Nanos,
    cpu: Option<CpuTimes>,
    process: ProcessUsage,
    energy: PackageEnergy,
}

impl HostSampler {
    pub fn start() -> HostSampler {
        let clock = Clock::monotonic();
        HostSampler {
            clock,
            at: clock.now(),
            cpu: CpuTimes::read(),
            process: ProcessUsage::read(),
            energy: PackageEnergy::start(),
        }
    }

    /// Load since the last call; `None` where `/proc/stat` cannot be read or no tick has passed.
    pub fn sample(&mut self) -> Option<HostLoad> {
        let (at, cpu, process) = (self.clock.now(), CpuTimes::read()?, ProcessUsage::read());
        // A kernel counter that decreases counts as unchanged.
        let switches = process.context_switches;
        let switches = switches.saturating_sub(self.process.context_switches);
        let load = HostLoad {
            context_switches_per_s: assay_units::rate::per_second(switches, at - self.at),
            package_w: self.energy.mean_w(at - self.at),
            ..cpu.since(self.cpu.as_ref()?)?
        };
        (self.at, self.cpu, self.process) = (at, Some(cpu), process);
        Some(load)
    }
}

#[cfg(test)]
#[path = "../tests/unit/load.rs"]
mod tests;
