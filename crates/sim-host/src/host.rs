//! What an I/O costs the computer that uses a drive.
//!
//! # Sources
//! - *Asynchronous*: public fio results of one saturated thread of 4 KiB random reads at depth 32
//!   to 1024 (libaio, io_uring): 1.4 to 3.5 us of processor time per I/O, 2.3 us typical, 3.4 us
//!   with the kernels and fio of the late 2010s (BU-DiSC/SSD-Benchmark: 2.57 us with fio 3.35 and
//!   3.40 us with fio 3.19 on a P4800X; nicktehrany/ZNS-Study: 3.4 us; iocost-benchmarks: 1.4 to
//!   3.6 us).
//! - *Per KiB*: the same at longer blocks, where pages are pinned and mapped: 0.03 us.
//! - *Synchronous*: 1.5 to 2.5 us of processor time and a wake-up. Bounds: AnandTech's mean of
//!   8.9 us of a P4800X at depth 1, and io_uring over SPDK at depth 1 (Krien/NVMeBenchmarks): 1.4
//!   to 1.7 us beyond what SPDK itself takes.
//!
//! # Non-goals
//! A cost per interrupt: no public figure tells it from that per I/O. Copies of buffered I/O.

use assay_ssd::HostChoice;
use assay_ssd::profile::BenchProfile;
use serde::{Deserialize, Serialize};

/// Hosts of one thread differ by this factor from a typical one, either way, nine times in ten.
pub const SPREAD: f64 = 1.6;
/// Block of [`HostChoice::Cost`].
const REFERENCE_KIB: u64 = 4;

/// Nanoseconds per I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCosts {
    /// Processor time of a thread with several I/Os in flight.
    pub async_io_ns: u64,
    /// Processor time of a thread that waits for each I/O.
    pub sync_io_ns: u64,
    /// Interrupt to running thread, where the thread slept: before each synchronous I/O, and of
    /// others where none was left to submit. No processor time of the thread.
    pub wake_ns: u64,
    /// Added processor time per KiB.
    pub kib_ns: u64,
    /// Processors that threads share; none: one per thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u16>,
}

/// The host of a simulated drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedHost {
    /// [`HostChoice`] as it is written.
    pub name: String,
    #[serde(flatten)]
    pub costs: HostCosts,
}

/// 3.4 us per asynchronous I/O of 4 KiB.
pub const YEAR_2017: HostCosts = HostCosts {
    async_io_ns: 3_280,
    sync_io_ns: 2_500,
    wake_ns: 1_000,
    kib_ns: 30,
    processors: None,
};
/// 2.3 us per asynchronous I/O of 4 KiB.
pub const YEAR_2025: HostCosts =
    HostCosts { async_io_ns: 2_180, sync_io_ns: 1_500, wake_ns: 700, kib_ns: 30, processors: None };

impl NamedHost {
    /// The host of a profile whose test bench is `bench`.
    pub fn new(choice: HostChoice, bench: &BenchProfile) -> NamedHost {
        NamedHost { name: choice.to_string(), costs: HostCosts::new(choice, bench) }
    }
}

impl HostCosts {
    /// The host of a profile whose test bench is `bench`.
    pub fn new(choice: HostChoice, bench: &BenchProfile) -> HostCosts {
        match choice {
            HostChoice::Year2017 => YEAR_2017,
            HostChoice::Year2025 => YEAR_2025,
            HostChoice::Bench => HostCosts::of_bench(bench),
            HostChoice::Cost(cost) => YEAR_2025.scaled(cost.0),
        }
    }

    pub fn of_bench(bench: &BenchProfile) -> HostCosts {
        HostCosts {
            async_io_ns: bench.async_io_ns.value,
            sync_io_ns: bench.sync_io_ns.value,
            wake_ns: bench.wake_ns.as_ref().map_or(0, |ns| ns.value),
            kib_ns: bench.kib_ns.as_ref().map_or(0, |ns| ns.value),
            processors: bench.host_cores.as_ref().map(|cores| cores.value),
        }
    }

    /// All costs by the factor that makes an asynchronous I/O of 4 KiB take `reference_ns`.
    fn scaled(self, reference_ns: u64) -> HostCosts {
        let own_ns = self.work_ns(2, REFERENCE_KIB << 10);
        let scaled = |ns: u64| (ns * reference_ns + own_ns / 2) / own_ns;
        HostCosts {
            async_io_ns: scaled(self.async_io_ns),
            sync_io_ns: scaled(self.sync_io_ns),
            wake_ns: scaled(self.wake_ns),
            kib_ns: scaled(self.kib_ns),
            processors: self.processors,
        }
    }

    /// Processor time of an I/O of a thread that keeps `depth` in flight.
    pub fn work_ns(&self, depth: u32, bytes: u64) -> u64 {
        self.io_ns(depth) + self.kib_ns * bytes / 1024
    }

    pub(crate) fn io_ns(&self, depth: u32) -> u64 {
        match depth {
            0 | 1 => self.sync_io_ns,
            _ => self.async_io_ns,
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/host.rs"]
mod tests;
