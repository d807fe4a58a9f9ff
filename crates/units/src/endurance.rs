//! Endurance counters of a drive: the log that each comes from, and the steps in which it counts.

use serde::{Deserialize, Serialize};

/// Origin of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CounterSource {
    /// The drive model itself.
    #[serde(rename = "simulated")]
    Simulated,
    /// SMART / Health Information Extended, log C0h (OCP Datacenter NVMe SSD Specification 2.0,
    /// 4.8.6).
    #[serde(rename = "ocp-c0h")]
    OcpSmart,
    /// FDP Statistics, log 22h (NVM Express Base Specification 2.1).
    #[serde(rename = "fdp-statistics-22h")]
    FdpStatistics,
    /// Endurance Group Information, log 09h (NVM Express Base Specification 2.0c, 5.16.1.10).
    #[serde(rename = "endurance-group-09h")]
    EnduranceGroup,
    /// Additional SMART Attributes of Intel and Solidigm, log CAh.
    #[serde(rename = "vendor-intel-cah")]
    IntelVendor,
    /// Device statistics of Western Digital, log CAh.
    #[serde(rename = "vendor-wdc-cah")]
    WdcVendor,
    /// SMART / Health Information, log 02h (NVM Express Base Specification 2.0c, 5.16.1.3).
    #[serde(rename = "smart-02h")]
    Smart,
}

impl CounterSource {
    /// Name in run folders, exports and reports.
    pub const fn name(self) -> &'static str {
        match self {
            CounterSource::Simulated => "simulated",
            CounterSource::OcpSmart => "ocp-c0h",
            CounterSource::FdpStatistics => "fdp-statistics-22h",
            CounterSource::EnduranceGroup => "endurance-group-09h",
            CounterSource::IntelVendor => "vendor-intel-cah",
            CounterSource::WdcVendor => "vendor-wdc-cah",
            CounterSource::Smart => "smart-02h",
        }
    }
}

/// Origin and step of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterOrigin {
    /// Its log.
    pub source: CounterSource,
    /// Step in bytes: the difference of two readings is known to less than one step.
    pub unit_bytes: u64,
}

/// Rated endurance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatedEndurance {
    /// The log that states it.
    pub source: CounterSource,
    /// Bytes that may be written to the media: log 09h is for a write amplification of 1.
    pub media_bytes: u64,
}

/// Origins of a drive's counters of bytes written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnduranceCounters {
    /// Bytes written to the media; none where no log of the drive tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<CounterOrigin>,
    /// Bytes written by the host, of the same part of the drive.
    pub host: CounterOrigin,
    /// Rated endurance, where a log states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<RatedEndurance>,
}
