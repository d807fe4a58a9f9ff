//! Drive profiles: all parameters of a simulated drive, as data.
//!
//! A profile is a TOML file (`profiles/*.toml`, embedded) in which every number carries its
//! provenance ([`crate::sourced`]). Units are the last word of each name.

use assay_units::text::did_you_mean;
use serde::Deserialize;

use crate::sourced::{Provenance, Sourced};

mod builtin;
mod capacity;
mod ftl;
pub mod lot;
mod map_cache;
mod media;
mod power_states;
mod shrink;
mod thermal;
mod validate;

pub use ftl::{FtlProfile, GcPace, GcProfile, SlcOverflow, SlcProfile, VictimPolicy};
pub use map_cache::{MapCacheProfile, MapLocation, Replacement};
pub use media::{AgeingProfile, InPlaceProfile, RetryProfile, SataProfile, SuspendProfile};

pub use shrink::MOST_SHRINK;

pub use crate::ageing::FlashClass;
pub use crate::coalescing::CoalescingProfile;
use builtin::BUILTIN;
pub use power_states::{PowerProfile, PowerStateTable};
pub use thermal::{
    ControllerNodeProfile, HeatSinkProfile, ThermalNode, ThermalProfile, ThrottleLevels,
};

/// Flash sector, and mapping unit without `nand.indirection_unit_bytes` ([`crate::map_unit`]):
/// 512-byte and 4 KiB reads cost the same (random_read_bandwidth.csv).
pub const MAP_UNIT_BYTES: u64 = 4096;

/// Why a profile was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile of that name.
    #[error(
        "no simulated drive is called {name:?}{}; there are: {known}",
        did_you_mean(name, known)
    )]
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
        /// What is wrong and what is accepted.
        what: String,
    },
}

/// A simulated drive's parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Short name, as in `sim:NAME`.
    pub name: String,
    /// The modelled drive, for display.
    pub title: String,
    /// What the drive reports of itself.
    pub identity: IdentityProfile,
    /// PCIe link.
    pub link: LinkProfile,
    /// Controller cores and firmware times.
    pub firmware: FirmwareProfile,
    /// Internal data path (ECC, buffers, DMA).
    pub data_path: DataPathProfile,
    /// Flash geometry and timing; a drive has either this, `buffer` and `ftl`, or `in_place`.
    #[serde(default)]
    pub nand: NandProfile,
    /// Write buffer.
    #[serde(default)]
    pub buffer: BufferProfile,
    /// Flash translation layer.
    #[serde(default)]
    pub ftl: FtlProfile,
    /// Media written in place, for drives without flash.
    pub in_place: Option<InPlaceProfile>,
    /// Garbage collection; absent: greedy, even pace, no firmware time.
    #[serde(alias = "collection")]
    pub gc: Option<GcProfile>,
    /// Map on flash with a cache; absent: map in DRAM.
    pub map_cache: Option<MapCacheProfile>,
    /// SLC write cache, if any.
    pub slc: Option<SlcProfile>,
    /// Sequential read prefetch.
    pub prefetch: PrefetchProfile,
    /// Interrupt coalescing at power-on; absent: off.
    pub coalescing: Option<CoalescingProfile>,
    /// Energy per operation.
    pub power: PowerProfile,
    /// Heat and throttling.
    pub thermal: ThermalProfile,
    /// The machine on which the published results were measured.
    pub bench: BenchProfile,
    /// How well the profile meets the run to which it was fitted, if any.
    #[serde(default)]
    pub fit: FitProfile,
    /// The part of the drive that this is ([`Profile::shrunk`]); absent: all of it.
    #[serde(skip)]
    pub shrink: Option<u32>,
    /// Capacity that its text does not give ([`Profile::of_capacity`]), bytes.
    #[serde(skip)]
    pub capacity_chosen: Option<u64>,
}

/// Root mean squares of the logarithms of simulated over measured rates in the run that was fitted;
/// absent where it had no such figures. They do not change what is simulated.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitProfile {
    /// Of random reads.
    pub random_read_spread: Option<Sourced<f64>>,
    /// Of sequential reads.
    pub sequential_read_spread: Option<Sourced<f64>>,
}

/// What the drive reports of itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityProfile {
    /// Model string of the real drive (the simulated one is marked as simulated).
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
    /// Doorbell write to command in the controller, in nanoseconds.
    pub fetch_ns: Sourced<u64>,
    /// Last data packet to completion entry and interrupt at the host, in nanoseconds.
    pub completion_ns: Sourced<u64>,
    /// Serial ATA: `generation` is then 1 to 3 (1.5 to 6 Gb/s), `lanes` 1, `max_payload_bytes` the
    /// payload of a Data FIS and `packet_overhead_bytes` its framing.
    pub sata: Option<SataProfile>,
}

/// Controller cores, see [`crate::frontend`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmwareProfile {
    /// Cores that handle I/O commands.
    pub cores: Sourced<u8>,
    /// Whether arbitration is in turns between queues of even and of odd number, and only then
    /// between the queues of each; inferred (`profiles/intel-optane-p4800x.toml`). Absent: no.
    pub queue_banks: Option<Sourced<bool>>,
    /// Core time per read command in nanoseconds.
    pub read_command_ns: Sourced<u64>,
    /// Additional core time of a read not aligned to mapping units, in nanoseconds. Absent: 0.
    pub read_partial_ns: Option<Sourced<u64>>,
    /// Additional core time of a read of more than one die, in nanoseconds. Absent: 0.
    pub read_split_ns: Option<Sourced<u64>>,
    /// Core time per NAND page read, in nanoseconds.
    pub read_page_ns: Sourced<u64>,
    /// Whether hardware alone reads one block, without `read_page_ns` and `read_slots`; inferred
    /// (`profiles/plextor-m8pe-g.toml`). Absent: no.
    pub read_block_by_hardware: Option<Sourced<bool>>,
    /// Core time per KiB read, in nanoseconds.
    pub read_kib_ns: Sourced<u64>,
    /// Time of a read beside the core in nanoseconds (hardware stages, DMA set-up, ECC decoding),
    /// occupying nothing, as NVMeVirt's `fw_4kb_rd_lat` (21.5 us for a 970 PRO). Absent: 0. For
    /// writes: `buffer.ack_ns`.
    pub read_latency_ns: Option<Sourced<u64>>,
    /// Reads that the controller works on at a time, from the start of core time to the end of
    /// data; a core with one more waits. Inferred (`profiles/plextor-m8pe-g.toml`). Absent:
    /// unlimited.
    pub read_slots: Option<Sourced<u16>>,
    /// Core time per write command in nanoseconds.
    pub write_command_ns: Sourced<u64>,
    /// Core time per mapping unit written, in nanoseconds. The cores share the units of a command,
    /// so a long write is mapped after an Nth of its core time; the sum limits the rate.
    pub write_unit_ns: Sourced<u64>,
    /// Core time per flush, deallocate, write-zeroes or rejected command, in nanoseconds.
    pub other_command_ns: Sourced<u64>,
}

/// Internal data path, see [`crate::link`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataPathProfile {
    /// Rate for read commands up to `direct_limit_bytes`, in bytes per second.
    pub direct_bytes_per_second: Sourced<u64>,
    /// Rate for longer read commands, staged in DRAM, in bytes per second.
    pub staged_bytes_per_second: Sourced<u64>,
    /// Longest command on the direct path, in bytes.
    pub direct_limit_bytes: Sourced<u64>,
    /// Setup time of the path per read of flash (descriptors, DMA), in nanoseconds. Absent: 0.
    pub setup_ns: Option<Sourced<u64>>,
    /// Path time per read of flash with more than two memory pages of 4 KiB, in nanoseconds: the
    /// DMA engine fetches a PRP list from host memory (NVM Express Base Specification 1.4, section
    /// 4.3; page-aligned buffers). Absent where lists are fetched during the sense: 0.
    pub prp_list_ns: Option<Sourced<u64>>,
    /// Fast memory for read data. Absent: as large as needed.
    pub read_cache: Option<ReadCacheProfile>,
}

/// Fast memory before the DRAM, for data of reads in flight, see [`crate::read_cache`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCacheProfile {
    /// Size in bytes.
    pub bytes: Sourced<u64>,
    /// Data path rate in bytes per second for reads that begin while the memory is exceeded.
    pub exceeded_bytes_per_second: Sourced<u64>,
}

/// Flash geometry and timing, see [`crate::nand`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandProfile {
    /// Channels.
    pub channels: Sourced<u16>,
    /// Dies in the drive.
    pub dies: Sourced<u16>,
    /// Planes per die, programmed and erased together.
    pub planes: Sourced<u8>,
    /// Whether planes of a die sense different pages at once ([`crate::planes`]). Absent: no.
    pub independent_plane_reads: Option<Sourced<bool>>,
    /// One sense of a page serves all reads of it that wait ([`crate::nand`]).
    pub joint_reads: Option<Sourced<bool>>,
    /// Page size of one plane in bytes.
    pub page_bytes: Sourced<u64>,
    /// Consecutive bytes on one die ([`crate::nand`]). Absent: a multi-plane page, else a divisor.
    pub stripe_bytes: Option<Sourced<u64>>,
    /// Consecutive bytes on one plane, where host reads sense planes in turn ([`crate::nand`]): a
    /// divisor of a page, no less than a stripe over the planes. Absent: one sense reads all
    /// planes.
    pub single_plane_bytes: Option<Sourced<u64>>,
    /// Bytes of an L2P map entry: 4, 8, 16, 32 or 64 KiB ([`crate::map_unit`]). Absent: 4 KiB.
    pub indirection_unit_bytes: Option<Sourced<u64>>,
    /// Pages per block.
    pub pages_per_block: Sourced<u32>,
    /// Blocks per plane.
    pub blocks_per_plane: Sourced<u32>,
    /// Pages programmed per operation (3 for one-shot TLC, else 1).
    pub program_pages: Sourced<u8>,
    /// Read time per page type (lower, upper, ...) in nanoseconds.
    pub read_ns: Sourced<Vec<u64>>,
    /// Uniform addition to the read time of a word line, from 0 to this, in nanoseconds.
    pub read_jitter_ns: Sourced<u64>,
    /// Standard deviation of read times within a page type in nanoseconds ([`crate::spread`]).
    /// Absent: 4 %; 0: read and program times do not vary.
    pub read_sigma_ns: Option<Sourced<u64>>,
    /// Saving of a read of at most half a page, in nanoseconds.
    pub partial_read_saving_ns: Sourced<u64>,
    /// Cache register: the next read is sensed while the last one's data leaves.
    pub cache_read: Sourced<bool>,
    /// Program time per page type in nanoseconds (one number for one-shot programming).
    pub program_ns: Sourced<Vec<u64>>,
    /// Block erase time in nanoseconds.
    pub erase_ns: Sourced<u64>,
    /// Channel data rate in bytes per second.
    pub channel_bytes_per_second: Sourced<u64>,
    /// Channel time per transfer for command, address and status, in nanoseconds.
    pub channel_command_ns: Sourced<u64>,
    /// Read retries. Absent: none.
    pub retry: Option<RetryProfile>,
    /// Class and rated cycles of the flash, for its ageing. Absent: by bits per cell.
    pub ageing: Option<AgeingProfile>,
    /// Program/erase suspend for reads. Absent: reads wait.
    pub suspend: Option<SuspendProfile>,
    /// Superblocks whose blocks are erased together ([`Profile::shrunk`]). Absent: 1.
    #[serde(skip)]
    pub slices: Option<u32>,
}

/// Write buffer, see [`crate::buffer`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferProfile {
    /// Size in bytes.
    pub bytes: Sourced<u64>,
    /// Data received to acknowledgement, per command, in nanoseconds.
    pub ack_ns: Sourced<u64>,
    /// Added per mapping unit, in nanoseconds. A delay, not a load: commands overlap.
    pub ack_unit_ns: Sourced<u64>,
    /// Power-loss protection: capacitors write the buffer out. Absent: no.
    pub power_loss_protected: Option<Sourced<bool>>,
    /// Operation after an overflow. Absent: data enters as slots are released.
    pub overflow: Option<OverflowProfile>,
}

/// A buffer that drains when full and is then used in part, see [`crate::buffer`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverflowProfile {
    /// Bytes used after an overflow.
    pub through_bytes: Sourced<u64>,
    /// Pause after which the whole buffer is used again, in nanoseconds.
    pub pause_ns: Sourced<u64>,
}

/// Sequential read prefetch, see [`crate::prefetch`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchProfile {
    /// Read-ahead distance in bytes; 0: none.
    pub window_bytes: Sourced<u64>,
    /// Concurrent streams.
    pub streams: Sourced<u8>,
    /// Consecutive commands that make a stream.
    pub trigger_commands: Sourced<u32>,
}

/// The machine that measured the published results; applied by the caller, not by the drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchProfile {
    /// Host time per I/O of a thread that waits for each one (submission, completion and, without
    /// `wake_ns`, what its wake-up takes), in nanoseconds.
    pub sync_io_ns: Sourced<u64>,
    /// Processor time per I/O of a thread with several in flight, in nanoseconds.
    pub async_io_ns: Sourced<u64>,
    /// Interrupt to running thread, where the thread slept, in nanoseconds. Absent: 0.
    pub wake_ns: Option<Sourced<u64>>,
    /// Added processor time per KiB, in nanoseconds. Absent: 0.
    pub kib_ns: Option<Sourced<u64>>,
    /// Processors that give these times (crate `sim-host`). Absent: one per thread.
    pub host_cores: Option<Sourced<u16>>,
    /// Longest raw I/O command of the host in bytes; pieces of a longer I/O are sent one after the
    /// other. Applied to the published measurements only, unlike the Linux block layer. Absent: no
    /// limit.
    pub max_io_bytes: Option<Sourced<u32>>,
}

/// A profile number with its path, for listings.
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

impl From<toml::de::Error> for ProfileError {
    fn from(error: toml::de::Error) -> ProfileError {
        ProfileError::Syntax(error.to_string())
    }
}

impl Profile {
    /// Payload that the host link carries.
    pub fn link_bytes_per_second(&self) -> u64 {
        crate::link::payload_bytes_per_second(&self.link)
    }

    /// The built-in profile of this name; [`ProfileError::Unknown`] names those that exist.
    pub fn builtin(name: &str) -> Result<Profile, ProfileError> {
        Profile::from_toml(Profile::builtin_text(name)?)
    }

    /// The TOML text of the built-in profile of this name.
    pub fn builtin_text(name: &str) -> Result<&'static str, ProfileError> {
        let found = BUILTIN.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            known: Profile::names().join(", "),
        })
    }

    /// Names of the built-in profiles.
    pub fn names() -> Vec<&'static str> {
        BUILTIN.iter().map(|(name, _)| *name).collect()
    }

    /// Parse and check a profile; syntax errors carry line and column.
    pub fn from_toml(text: &str) -> Result<Profile, ProfileError> {
        toml::from_str::<Profile>(text)?.validated()
    }

    /// As [`Profile::from_toml`] of a parsed profile, in which fits change numbers.
    pub fn from_table(table: toml::Table) -> Result<Profile, ProfileError> {
        table.try_into::<Profile>()?.validated()
    }

    /// Whether a built-in profile has no fitted number; `false` of other names.
    pub fn is_from_facts_alone(name: &str) -> bool {
        let numbers = Profile::builtin_text(name).and_then(Profile::numbers);
        let is_fitted = |n: &ProfileNumber| n.provenance == Provenance::Fitted;
        numbers.is_ok_and(|numbers| !numbers.iter().any(is_fitted))
    }

    /// Every number of a profile text with its provenance, by sorted path.
    pub fn numbers(text: &str) -> Result<Vec<ProfileNumber>, ProfileError> {
        let mut out = Vec::new();
        collect_numbers("", &toml::from_str(text)?, &mut out);
        Ok(out)
    }
}

impl FitProfile {
    /// The spreads with the names of their kinds of figures.
    pub fn spreads(&self) -> Vec<(&'static str, f64)> {
        let all = [
            ("random_read", &self.random_read_spread),
            ("sequential_read", &self.sequential_read_spread),
        ];
        let known = all.into_iter();
        known.filter_map(|(name, spread)| Some((name, spread.as_ref()?.value))).collect()
    }
}

impl NandProfile {
    /// Bytes per program operation of a die: all planes, all pages of a one-shot program.
    pub fn group_bytes(&self) -> u64 {
        self.page_bytes.value * u64::from(self.planes.value) * u64::from(self.program_pages.value)
    }
}

fn collect_numbers(prefix: &str, table: &toml::Table, out: &mut Vec<ProfileNumber>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        let Some(inner) = value.as_table() else {
            continue;
        };
        let Some(number) = inner.get("value") else {
            collect_numbers(&path, inner, out);
            continue;
        };
        for provenance in Provenance::ALL {
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
