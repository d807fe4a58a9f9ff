//! The measuring host. [`HostInfo`] is stored once per run, in its manifest, without the host name,
//! because reports get published. Only [`wall_clock`] and [`unix_seconds`] read the date; spans are
//! never timed with them.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

use crate::identity::SystemRoot;
use crate::identity::root::read_attribute;

mod cpu;
mod rapl;

pub(crate) use cpu::CpuTimes;
pub use cpu::ProcessUsage;
pub(crate) use rapl::PackageEnergy;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// For example `6.12.48-cloud-amd64`.
    pub kernel: Option<String>,
    pub cpu_model: Option<String>,
    /// Logical processors in the affinity mask.
    pub logical_cpus: u32,
    pub memory_bytes: Option<u64>,
    /// E.g. `tsc`; a slow one (`hpet`) adds to every I/O.
    pub clocksource: Option<String>,
    /// Frequency governor of the first processor.
    pub cpu_governor: Option<String>,
    /// Kind of virtual machine or container; `None` on bare metal.
    pub virtualised: Option<String>,
}

impl HostInfo {
    /// Unreadable properties are `None`.
    pub fn read() -> Self {
        let root = SystemRoot::host();
        let text = |path: std::path::PathBuf| read_attribute(&path);
        let cpuinfo = text(root.proc("cpuinfo")).unwrap_or_default();
        Self {
            kernel: text(root.proc("sys/kernel/osrelease")),
            cpu_model: parse_cpu_model(&cpuinfo),
            logical_cpus: std::thread::available_parallelism()
                .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
            memory_bytes: text(root.proc("meminfo")).and_then(|t| parse_memory_bytes(&t)),
            clocksource: text(
                root.sys("devices/system/clocksource/clocksource0/current_clocksource"),
            ),
            cpu_governor: text(root.sys("devices/system/cpu/cpu0/cpufreq/scaling_governor")),
            virtualised: virtualised(
                &cpuinfo,
                text(root.sys("hypervisor/type")).as_deref(),
                text(root.sys("class/dmi/id/sys_vendor")).as_deref(),
                root.run(".containerenv").exists() || root.path(".dockerenv").exists(),
            ),
        }
    }
}

/// `model name` on x86; on Arm, which has none, `Hardware` or the implementer and part numbers.
fn parse_cpu_model(cpuinfo: &str) -> Option<String> {
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    field("model name").or_else(|| field("Hardware")).or_else(|| {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    })
}

/// `MemTotal:  16384 kB`, where kB means 1024 bytes (proc_meminfo(5)).
fn parse_memory_bytes(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = rest.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

fn virtualised(
    cpuinfo: &str,
    hypervisor: Option<&str>,
    vendor: Option<&str>,
    container: bool,
) -> Option<String> {
    // x86 sets CPUID.1:ECX[31] for guests, which the kernel shows as the flag `hypervisor`.
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    let flag = flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    const VENDORS: [&str; 8] = [
        "QEMU",
        "VMware",
        "Xen",
        "innotek",
        "Amazon EC2",
        "Google",
        "Microsoft Corporation",
        "Parallels",
    ];
    // "Microsoft Corporation" and "Google" also sell bare metal: a vendor counts only with the
    // flag.
    let vendor = vendor.filter(|v| VENDORS.iter().any(|known| v.contains(known)));
    match (hypervisor, flag) {
        (Some(kind), _) => Some(kind.to_owned()),
        (None, true) => Some(match vendor {
            Some(vendor) => format!("virtual machine ({vendor})"),
            None => "virtual machine".to_owned(),
        }),
        (None, false) => container.then(|| "container".to_owned()),
    }
}

/// UTC in RFC 3339 with whole seconds, `2026-11-21T03:25:00Z`. Spans are measured with a target's
/// clock.
pub fn wall_clock() -> String {
    format!("{:.0}", now())
}

/// As [`wall_clock`], with milliseconds, for events.
pub fn wall_clock_ms() -> String {
    format!("{:.3}", now())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the one place that reads the wall clock; everything else times with the target's"
)]
fn now() -> jiff::Timestamp {
    let read = jiff::Timestamp::now();
    DATE_SHIFT_S.with_borrow(|shift| {
        let shift_s = shift.as_ref().map_or(0, |s| s.load(Ordering::Relaxed));
        let shifted = read.saturating_add(jiff::SignedDuration::from_secs(shift_s));
        shifted.unwrap_or(read)
    })
}

thread_local! {
    static DATE_SHIFT_S: RefCell<Option<Arc<AtomicI64>>> = const { RefCell::new(None) };
}

/// Lets the date that this thread reads differ by so many seconds, for simulations of a host whose
/// date is set while the program runs.
pub fn shift_date(by_s: Option<Arc<AtomicI64>>) {
    DATE_SHIFT_S.set(by_s);
}

/// A date in RFC 3339 as whole seconds since 1970, UTC, without the fraction; 0 before 1970.
pub fn parse_date(text: &str) -> Result<u64, String> {
    let date: jiff::Timestamp = text.parse().map_err(|e: jiff::Error| e.to_string())?;
    Ok(u64::try_from(date.as_second()).unwrap_or(0))
}

/// Random bits for names that differ between hosts, never for a workload. Early in the boot, when
/// the kernel has none yet, they are the process number.
pub fn random_id() -> u64 {
    let mut bytes = [0; 8];
    let flags = rustix::rand::GetRandomFlags::NONBLOCK;
    match rustix::rand::getrandom(&mut bytes, flags) {
        Ok(8) => u64::from_le_bytes(bytes),
        _ => std::process::id().into(),
    }
}

pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Seconds since 1970, UTC, for formats that have no room for text; 0 before 1970.
pub fn unix_seconds() -> u64 {
    u64::try_from(now().as_second()).unwrap_or(0)
}

#[cfg(test)]
#[path = "../tests/unit/host.rs"]
mod tests;
