use assay_units::text::whole;
use assay_units::{GIB, MIB};

use super::Cause;

impl Cause {
    /// Name in tables and JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Cause::Fresh => "fresh",
            Cause::SlcCacheExhausted { .. } => "slc_cache_exhausted",
            Cause::GcOnset => "collection_onset",
            Cause::GcSteady { .. } => "collection_steady",
            Cause::ThermalThrottling { .. } => "thermal_throttling",
            Cause::PowerLimited { .. } => "power_limited",
            Cause::RateLimited { .. } => "rate_limited",
            Cause::HostLimited => "host_limited",
            Cause::Steady => "steady",
            Cause::Unexplained => "unexplained",
        }
    }

    pub const fn label(&self) -> &'static str {
        match self {
            Cause::Fresh => "fresh",
            Cause::SlcCacheExhausted { .. } => "SLC cache exhausted",
            Cause::GcOnset => "garbage collection begins",
            Cause::GcSteady { .. } => "garbage collection",
            Cause::ThermalThrottling { .. } => "thermal throttling",
            Cause::PowerLimited { .. } => "limited by its power state",
            Cause::RateLimited { .. } => "rate-limited",
            Cause::HostLimited => "limited by the host",
            Cause::Steady => "no change",
            Cause::Unexplained => "changed, unexplained",
        }
    }

    /// Figures beside the label: `after 8.5 GiB`, `from 75 C, 24 % of the time, every 40 s`.
    pub fn details(&self) -> Option<String> {
        match *self {
            Cause::SlcCacheExhausted { cache_bytes } => {
                Some(format!("after {}", size_text(cache_bytes)))
            }
            Cause::GcSteady { write_amplification: Some(amplification) } => {
                Some(format!("write amplification {amplification:.1}"))
            }
            Cause::ThermalThrottling { onset_c, duty_pct, period_s, .. } => {
                let from = onset_c.map_or(String::new(), |c| format!("from {c:.0} C, "));
                let every = period_s.map_or(String::new(), |s| format!(", every {s:.0} s"));
                Some(format!("{from}{duty_pct:.0} % of the time{every}"))
            }
            Cause::PowerLimited { state } => Some(format!("power state {state}")),
            Cause::RateLimited { iops } => Some(format!("{} I/Os per second", whole(iops))),
            _ => None,
        }
    }
}

/// Three significant digits at most, in MiB or GiB.
pub(super) fn size_text(bytes: u64) -> String {
    let mib = bytes as f64 / MIB as f64;
    if bytes >= GIB {
        format!("{:.1} GiB", mib / 1024.0)
    } else if mib >= 10.0 {
        format!("{mib:.0} MiB")
    } else {
        format!("{mib:.1} MiB")
    }
}

#[cfg(test)]
#[path = "../../tests/unit/attribution/text.rs"]
mod tests;
