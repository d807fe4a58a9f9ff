//! Profiles: everything that makes one simulated drive differ from another, as data.
//!
//! A profile is a TOML file (`profiles/*.toml` at the repository's root, embedded here) in which every number carries
//! its provenance (see [`crate::sourced`]). Units are the last word of each name.

use serde::Deserialize;

use crate::sourced::{Provenance, Sourced};

mod builtin;
mod coalescing;
mod ftl;
mod map_cache;
mod media;
mod power_states;
mod validate;

pub use ftl::{FtlProfile, GcPace, GcProfile, SlcOverflow, SlcProfile, VictimPolicy};
pub use map_cache::{MapCacheProfile, MapPlace, Replacement};
pub(crate) use map_cache::{pages_per_group, units_per_page, units_shift};
pub use media::{InPlaceProfile, RetryProfile, SataProfile, SuspendProfile};

use builtin::BUILTIN;
pub use coalescing::CoalescingProfile;
pub use power_states::PowerStatesProfile;

/// The unit in which every modelled drive maps its flash, in bytes.
///
/// All drives of the reference set use 4 KiB (512-byte and 4 KiB reads cost them the same: random_read_bandwidth.csv).
pub const MAP_UNIT_BYTES: u64 = 4096;

/// Why a profile could not be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile of that name.
    #[error("no simulated drive is called {name:?}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names that exist, comma-separated.
        known: String,
    },
    /// The text is not a profile.
    #[error("the profile cannot be read: {0}")]
    Syntax(String),
    /// The numbers contradict each other.
    #[error("profile {profile:?}: {what}")]
    Invalid {
        /// The profile's name.
        profile: String,
        /// What is wrong and what would be right.
        what: String,
    },
}

/// A simulated drive's parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Short name, as in `sim:NAME`.
    pub name: String,
    /// The drive that is modelled, for people.
    pub title: String,
    /// What the drive reports of itself.
    pub identity: IdentityProfile,
    /// PCIe link.
    pub link: LinkProfile,
    /// Controller cores and what a command costs them.
    pub firmware: FirmwareProfile,
    /// The controller's internal data path (ECC, buffers, DMA).
    pub data_path: DataPathProfile,
    /// Flash geometry and timing; a drive has either this, `buffer` and `ftl` or `in_place`.
    #[serde(default)]
    pub nand: NandProfile,
    /// Write buffer.
    #[serde(default)]
    pub buffer: BufferProfile,
    /// Flash translation layer.
    #[serde(default)]
    pub ftl: FtlProfile,
    /// Media written in place, where the drive has no flash.
    pub in_place: Option<InPlaceProfile>,
    /// How garbage is collected; absent: greedily, in step with host writes, at no cost to the firmware.
    #[serde(alias = "collection")]
    pub gc: Option<GcProfile>,
    /// The map on flash and what of it is cached. Absent: all of it is in DRAM.
    pub map_cache: Option<MapCacheProfile>,
    /// SLC write cache, where the drive has one.
    pub slc: Option<SlcProfile>,
    /// Sequential read prefetch.
    pub prefetch: PrefetchProfile,
    /// Interrupt coalescing as the drive is switched on. Absent: off.
    pub coalescing: Option<CoalescingProfile>,
    /// Energy per operation.
    pub power: PowerProfile,
    /// Heat and throttling.
    pub thermal: ThermalProfile,
    /// Not the drive: the machine on which its published figures were measured.
    pub bench: BenchProfile,
}

/// What the drive reports of itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityProfile {
    /// Model string of the real drive (the simulated one says it is simulated).
    pub model: String,
    /// NVMe version it claims.
    pub nvme_version: String,
    /// Capacity of the namespace in bytes.
    pub capacity_bytes: Sourced<u64>,
    /// Logical block size in bytes.
    pub logical_block_bytes: Sourced<u64>,
    /// I/O queue pairs granted.
    pub queue_pairs: Sourced<u16>,
    /// Entries per queue (CAP.MQES + 1).
    pub max_queue_entries: Sourced<u32>,
    /// Largest transfer of one command in bytes (MDTS).
    pub max_transfer_bytes: Sourced<u64>,
    /// Warning composite temperature (WCTEMP) in Celsius, 0 when not reported.
    pub warning_celsius: Sourced<u16>,
    /// Critical composite temperature (CCTEMP) in Celsius, 0 when not reported.
    pub critical_celsius: Sourced<u16>,
    /// Maximum power per power state in milliwatts, state 0 first.
    pub power_states_mw: Sourced<Vec<u32>>,
}

/// PCIe link, see [`crate::link`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkProfile {
    /// PCIe generation, 1 to 5.
    pub generation: Sourced<u8>,
    /// Lanes.
    pub lanes: Sourced<u8>,
    /// Max_Payload_Size in bytes.
    pub max_payload_bytes: Sourced<u32>,
    /// Framing, sequence number, header and LCRC (and flow-control share) per packet in bytes.
    pub packet_overhead_bytes: Sourced<u32>,
    /// From the host's doorbell write to the command in the controller, in nanoseconds.
    pub fetch_ns: Sourced<u64>,
    /// From the last data packet to the completion entry and interrupt at the host, in nanoseconds.
    pub completion_ns: Sourced<u64>,
    /// Serial ATA instead of PCIe: `generation` is then that of SATA (1 to 3: 1.5 to 6 Gb/s), `lanes` 1, `max_payload_bytes` the
    /// payload of a Data FIS and `packet_overhead_bytes` what frames it.
    pub sata: Option<SataProfile>,
}

/// Controller cores, see [`crate::frontend`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmwareProfile {
    /// Cores that handle I/O commands.
    pub cores: Sourced<u8>,
    /// One core's time per read command in nanoseconds.
    pub read_command_ns: Sourced<u64>,
    /// One core's time on top of that for a read that does not begin and end on mapping units, in nanoseconds. Absent: 0.
    pub read_partial_ns: Option<Sourced<u64>>,
    /// One core's time on top of that for a read longer than a multi-plane page (`nand.planes` times `nand.page_bytes`), which has to be
    /// divided among dies, in nanoseconds. Absent: 0.
    pub read_split_ns: Option<Sourced<u64>>,
    /// One core's time per NAND page a read touches, in nanoseconds.
    pub read_page_ns: Sourced<u64>,
    /// Whether a read of one logical block is done without `read_page_ns`: hardware alone is supposed to do it. That is a guess from one
    /// figure (`profiles/plextor-m8pe-g.toml`); PRP entry 1 alone does not explain it, since it serves reads of up to a page too. Absent: no.
    pub read_block_by_hardware: Option<Sourced<bool>>,
    /// One core's time per KiB read, in nanoseconds.
    pub read_kib_ns: Sourced<u64>,
    /// One core's time per write command in nanoseconds.
    pub write_command_ns: Sourced<u64>,
    /// One core's time per 4 KiB unit written, in nanoseconds.
    pub write_unit_ns: Sourced<u64>,
    /// One core's time per flush, deallocate, write-zeroes or refused command, in nanoseconds.
    pub other_command_ns: Sourced<u64>,
}

/// The controller's internal data path, see [`crate::link`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataPathProfile {
    /// Rate for read commands up to `direct_limit_bytes`, in bytes per second.
    pub direct_bytes_per_second: Sourced<u64>,
    /// Rate for longer read commands, which are staged in DRAM, in bytes per second.
    pub staged_bytes_per_second: Sourced<u64>,
    /// Longest command that takes the direct path, in bytes.
    pub direct_limit_bytes: Sourced<u64>,
    /// Time for which each read command that goes to flash occupies the path besides its bytes (descriptors, DMA setup), in nanoseconds.
    /// Absent: 0.
    pub setup_ns: Option<Sourced<u64>>,
}

/// Flash geometry and timing, see [`crate::nand`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandProfile {
    /// Channels.
    pub channels: Sourced<u16>,
    /// Dies in the drive.
    pub dies: Sourced<u16>,
    /// Planes per die, used together by multi-plane commands.
    pub planes: Sourced<u8>,
    /// Page size of one plane in bytes.
    pub page_bytes: Sourced<u64>,
    /// Pages per block.
    pub pages_per_block: Sourced<u32>,
    /// Blocks per plane.
    pub blocks_per_plane: Sourced<u32>,
    /// Pages of one word line programmed in one operation (3 for one-shot TLC, else 1).
    pub program_pages: Sourced<u8>,
    /// Read time per page type (lower, upper, ...) in nanoseconds.
    pub read_ns: Sourced<Vec<u64>>,
    /// Added to each read, uniform from 0 to this, in nanoseconds (threshold tracking, process spread).
    pub read_jitter_ns: Sourced<u64>,
    /// Standard deviation of the read time within a page type in nanoseconds, see [`crate::spread`]. Absent: 0.
    pub read_sigma_ns: Option<Sourced<u64>>,
    /// How much sooner a read of at most half a page is sensed, in nanoseconds.
    pub partial_read_saving_ns: Sourced<u64>,
    /// Can the next read be sensed while the last one's data leaves (cache register)?
    pub cache_read: Sourced<bool>,
    /// Program time per page type in nanoseconds (one number for one-shot programming).
    pub program_ns: Sourced<Vec<u64>>,
    /// Block erase time in nanoseconds.
    pub erase_ns: Sourced<u64>,
    /// Channel data rate in bytes per second.
    pub channel_bytes_per_second: Sourced<u64>,
    /// Channel time per transfer for command, address and status, in nanoseconds.
    pub channel_command_ns: Sourced<u64>,
    /// Reads that must be repeated. Absent: none.
    pub retry: Option<RetryProfile>,
    /// Reads that interrupt programs and erases. Absent: they wait.
    pub suspend: Option<SuspendProfile>,
}

/// Write buffer, see [`crate::buffer`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferProfile {
    /// Size in bytes.
    pub bytes: Sourced<u64>,
    /// From data received to acknowledgement, per command, in nanoseconds.
    pub ack_ns: Sourced<u64>,
    /// Added per 4 KiB unit of the command, in nanoseconds. A delay, not a load: commands overlap.
    pub ack_unit_ns: Sourced<u64>,
    /// Do capacitors let the drive write its buffer out when power fails? Absent: no.
    pub power_loss_protected: Option<Sourced<bool>>,
    /// What it does once it was full. Absent: it takes data as slots come back.
    pub overflow: Option<OverflowProfile>,
}

/// A buffer that, once it was full, is written out and then used in part, see [`crate::buffer`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverflowProfile {
    /// The part, in bytes.
    pub through_bytes: Sourced<u64>,
    /// Until data comes after the buffer was empty for so long, in nanoseconds.
    pub pause_ns: Sourced<u64>,
}

/// Sequential read prefetch, see [`crate::prefetch`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchProfile {
    /// How far ahead of a stream the drive reads, in bytes; 0 means it does not.
    pub window_bytes: Sourced<u64>,
    /// Streams followed at once.
    pub streams: Sourced<u8>,
    /// Consecutive commands that make a stream.
    pub trigger_commands: Sourced<u32>,
}

/// Energy per operation, see [`crate::thermal`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerProfile {
    /// Idle power in milliwatts.
    pub idle_mw: Sourced<u32>,
    /// Energy per command in nanojoules.
    pub command_nj: Sourced<u64>,
    /// Energy per NAND page read in nanojoules.
    pub read_page_nj: Sourced<u64>,
    /// Energy per NAND page programmed in nanojoules.
    pub program_page_nj: Sourced<u64>,
    /// Energy per KiB moved between flash and host, in nanojoules.
    pub transfer_kib_nj: Sourced<u64>,
    /// What the power states are like. Absent: they cost no time.
    pub states: Option<PowerStatesProfile>,
}

/// One thermal node and a throttle, see [`crate::thermal`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalProfile {
    /// Ambient temperature in Celsius.
    pub ambient_celsius: Sourced<f64>,
    /// Thermal resistance to ambient in kelvin per watt.
    pub resistance_k_per_w: Sourced<f64>,
    /// Time constant in seconds.
    pub time_constant_s: Sourced<f64>,
    /// How much hotter than the composite each further sensor reads, in kelvin.
    pub sensor_offsets_k: Sourced<Vec<f64>>,
    /// Readings in Celsius of sensors that are stuck, listed after the others. Absent: none.
    pub stuck_sensors_celsius: Option<Sourced<Vec<f64>>>,
    /// How far a reading of the composite temperature is off while the drive idles, in kelvin, uniform to both sides. Absent: 0.
    pub idle_jitter_k: Option<Sourced<f64>>,
    /// Throttling starts at this composite temperature in Celsius; 0 means never, or as `levels` has it.
    pub throttle_on_celsius: Sourced<f64>,
    /// Throttling ends at this composite temperature in Celsius.
    pub throttle_off_celsius: Sourced<f64>,
    /// Time per command in the firmware and per byte on the data path while throttled (a slower clock), in percent of normal.
    pub throttle_percent: Sourced<u32>,
    /// Throttling in several levels instead of one; `throttle_on_celsius` is then 0.
    pub levels: Option<ThrottleLevels>,
}

/// Levels of throttling, each with its own thresholds, see [`crate::thermal`]. One entry per level, mildest first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThrottleLevels {
    /// The level starts at this composite temperature in Celsius.
    pub on_celsius: Sourced<Vec<f64>>,
    /// The level ends, and the one before it begins again, at this composite temperature in Celsius.
    pub off_celsius: Sourced<Vec<f64>>,
    /// Share of its time that the drive is throttled (to `throttle_percent`) at this level, in percent.
    pub duty_percent: Sourced<Vec<u32>>,
}

/// The machine that measured the published figures; applied by whoever drives the drive, never inside it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchProfile {
    /// Host time per I/O of one synchronous thread (submission and completion paths together), in nanoseconds.
    pub host_overhead_ns: Sourced<u64>,
    /// Processors that give this time, see [`crate::host`]. Absent: one per thread.
    pub host_cores: Option<Sourced<u16>>,
}

/// One number of a profile with its path, for listings.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileNumber {
    /// Dotted path, such as `nand.read_ns`.
    pub path: String,
    /// The value as written.
    pub value: String,
    /// Published, fitted or assumed.
    pub provenance: Provenance,
    /// Its source.
    pub source: String,
}

impl Profile {
    /// The built-in profile of this name.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] naming those that exist.
    pub fn builtin(name: &str) -> Result<Profile, ProfileError> {
        Profile::from_toml(Profile::builtin_text(name)?)
    }

    /// The TOML text of the built-in profile of this name.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] naming those that exist.
    pub fn builtin_text(name: &str) -> Result<&'static str, ProfileError> {
        BUILTIN
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| *text)
            .ok_or_else(|| ProfileError::Unknown {
                name: name.to_owned(),
                known: Profile::names().join(", "),
            })
    }

    /// Names of the built-in profiles.
    pub fn names() -> Vec<&'static str> {
        BUILTIN.iter().map(|(name, _)| *name).collect()
    }

    /// Read and check a profile.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`] with line and column, or [`ProfileError::Invalid`] when the numbers cannot be a drive.
    pub fn from_toml(text: &str) -> Result<Profile, ProfileError> {
        let profile: Profile =
            toml::from_str(text).map_err(|error| ProfileError::Syntax(error.to_string()))?;
        profile.validate()?;
        Ok(profile)
    }

    /// Read and check a profile already parsed (a fitting run changes numbers in the table).
    ///
    /// # Errors
    /// As [`Profile::from_toml`], without line numbers.
    pub fn from_table(table: toml::Table) -> Result<Profile, ProfileError> {
        let profile: Profile = table
            .try_into()
            .map_err(|error: toml::de::Error| ProfileError::Syntax(error.to_string()))?;
        profile.validate()?;
        Ok(profile)
    }

    /// Every number in a profile's text with its provenance, in the order of the sorted paths.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`] when the text is not TOML.
    pub fn numbers(text: &str) -> Result<Vec<ProfileNumber>, ProfileError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|error| ProfileError::Syntax(error.to_string()))?;
        let mut out = Vec::new();
        collect_numbers("", &table, &mut out);
        Ok(out)
    }
}

impl NandProfile {
    /// Bytes programmed by one operation of one die: all planes, all pages of a one-shot program.
    pub fn group_bytes(&self) -> u64 {
        self.page_bytes.value * u64::from(self.planes.value) * u64::from(self.program_pages.value)
    }
}

fn collect_numbers(prefix: &str, table: &toml::Table, out: &mut Vec<ProfileNumber>) {
    for (key, value) in table {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        let Some(inner) = value.as_table() else {
            continue;
        };
        let Some(number) = inner.get("value") else {
            collect_numbers(&path, inner, out);
            continue;
        };
        for provenance in [
            Provenance::Published,
            Provenance::Fitted,
            Provenance::Assumed,
        ] {
            if let Some(source) = inner.get(provenance.name()).and_then(toml::Value::as_str) {
                out.push(ProfileNumber {
                    path: path.clone(),
                    value: number.to_string(),
                    provenance,
                    source: source.to_owned(),
                });
            }
        }
    }
}
