//! Options of a simulated drive and their syntax (`sim:NAME,key=value,...`).

use assay_units::text::parse_capacity;
use assay_units::{Nanos, parse_duration, parse_size};

use crate::ageing::RETENTION_CELSIUS;
use crate::coalescing::{CoalescingSetting, TIME_UNIT_NS};
use crate::profile::{MAP_UNIT_BYTES, MOST_SHRINK};

/// Content at power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialState {
    /// Never written; reads return zeroes.
    Fresh,
    /// Written once, sequentially, with incompressible data.
    #[default]
    Filled,
}

/// Wear and retention of flash at power-on; 3D XPoint media have neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Hours since the data was written.
    pub retention_hours: u32,
    /// Temperature during that time in Celsius.
    pub retention_celsius: i16,
}

impl Default for Age {
    /// New, and at the temperature of JESD218's retention of client drives.
    fn default() -> Age {
        Age { cycles: 0, retention_hours: 0, retention_celsius: RETENTION_CELSIUS }
    }
}

/// The computer that uses the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostChoice {
    /// A server of 2017.
    Year2017,
    /// A current one.
    Year2025,
    /// The test bench of the profile's source.
    #[default]
    Bench,
    /// A current one, its costs scaled so that an asynchronous 4 KiB I/O takes this processor time.
    Cost(Nanos),
}

impl HostChoice {
    /// `2017`, `2025`, `bench` or a time of at most 1 ms.
    pub fn parse(text: &str) -> Option<HostChoice> {
        match text {
            "2017" => Some(HostChoice::Year2017),
            "2025" => Some(HostChoice::Year2025),
            "bench" => Some(HostChoice::Bench),
            _ => {
                let cost = parse_duration(text).ok();
                let cost = cost.filter(|&cost| cost <= MAX_HOST_COST);
                cost.map(HostChoice::Cost)
            }
        }
    }
}

impl std::fmt::Display for HostChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostChoice::Year2017 => f.write_str("2017"),
            HostChoice::Year2025 => f.write_str("2025"),
            HostChoice::Bench => f.write_str("bench"),
            HostChoice::Cost(cost) => write!(f, "{}us", cost.0 as f64 / 1e3),
        }
    }
}

/// Kinds of injected faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// One bit of the data is flipped; the write is acknowledged.
    CorruptWrite,
    /// The write is acknowledged and nothing is stored.
    DropWrite,
    /// The write is stored at the next address of its length (at the end, the previous one).
    MisdirectWrite,
    /// The read returns each 4 KiB unit as before its last write.
    StaleRead,
    /// The read fails with Unrecovered Read Error.
    ReadError,
    /// The write fails with Write Fault.
    WriteError,
    /// The command takes this much longer, at most [`MAX_LATENCY_SPIKE`].
    LatencySpike(Nanos),
    /// The flush is acknowledged without effect.
    DropFlush,
    /// Power fails just before the command and returns at once ([`crate::Drive::power_loss`]).
    PowerLoss,
    /// Surprise removal just before the command ([`crate::Drive::surprise_removal`]).
    SurpriseRemoval,
    /// Reads of these bytes fail with Unrecovered Read Error until written, zeroed or deallocated.
    MediaError {
        /// First byte.
        offset_bytes: u64,
        /// Length.
        len_bytes: u64,
    },
    /// Power loss tears writes, also atomic ones: every other unit that is lost stays.
    TornWrites,
    /// Addresses beyond these bytes wrap around ([`crate::counterfeit`]); matters with kept data.
    Counterfeit {
        /// True capacity; whole 4 KiB units.
        bytes: u64,
    },
}

/// One injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happens.
    pub kind: FaultKind,
    /// Ordinal from 1 among writes, reads or flushes for faults of these; among reads and writes
    /// for latency spike, power loss and surprise removal. 0 for media errors, torn writes and
    /// counterfeit capacity.
    pub ordinal: u64,
}

/// Far beyond that of any computer.
pub const MAX_HOST_COST: Nanos = Nanos::from_millis(1);
/// Longest injected latency: 10 years, so that times do not overflow.
pub const MAX_LATENCY_SPIKE: Nanos = Nanos(10 * 365 * 86_400 * 1_000_000_000);

/// From what a drive holds at least to what addresses of 64 KiB units reach.
const CAPACITIES: std::ops::RangeInclusive<u64> = 64 << 20..=128 << 40;
const AWUPF: std::ops::RangeInclusive<u64> = 4 << 10..=1 << 20;
const FAULT_FORMS: &str = "corrupt-write@N, drop-write@N, misdirect-write@N, stale-read@N, \
                           read-error@N, write-error@N, latency-spike@N=TIME, drop-flush@N, \
                           power-loss@N, surprise-removal@N, media-error@OFFSET+LENGTH, \
                           torn-writes or wrap:SIZE";
const KEYS: &str = "seed, lot, state, op, capacity, shrink, host, ambient, heatsink, ps, apst, \
                    coalescing, map_cache, hmb, fdp, awupf, data, cycles, retention, fault";

/// Why an option was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No such key.
    #[error("a simulated drive has no option {key:?}; it has: {KEYS}")]
    UnknownKey {
        /// What was given.
        key: String,
    },
    /// The value does not fit the key.
    #[error("option {key}={value} of a simulated drive: expected {expected}")]
    BadValue {
        /// The key.
        key: String,
        /// What was given.
        value: String,
        /// Accepted values.
        expected: &'static str,
    },
}

/// Options of one simulated drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveOptions {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Seed of the drive's lot ([`crate::profile::lot`]), if any. Chooses the profile.
    pub lot: Option<u64>,
    /// An Nth of the drive ([`crate::Profile::shrunk`]). Chooses the profile.
    pub shrink: Option<u32>,
    /// Another capacity of the family ([`crate::Profile::of_capacity`]), bytes.
    pub capacity_bytes: Option<u64>,
    /// Content at power-on.
    pub state: InitialState,
    /// The computer that uses the drive, which the drive itself does not need; the caller has a
    /// default.
    pub host: Option<HostChoice>,
    /// Extra over-provisioning in percent of the capacity, at most 90.
    pub over_provisioning_percent: Option<u8>,
    /// Ambient temperature in Celsius; overrides the profile.
    pub ambient_celsius: Option<f64>,
    /// Heat sink mounted or removed; overrides the profile, which must describe it.
    pub heat_sink: Option<bool>,
    /// Initial power state.
    pub power_state: u8,
    /// Autonomous power state transitions; overrides the profile.
    pub autonomous_power: Option<bool>,
    /// Interrupt coalescing; overrides the profile.
    pub coalescing: Option<CoalescingSetting>,
    /// Map on flash with a cache of this many bytes; overrides the profile. 0: map in DRAM.
    pub map_cache_bytes: Option<u64>,
    /// A Host Memory Buffer of this many bytes holds the cache of a map on flash.
    pub host_memory_bytes: Option<u64>,
    /// Reclaim unit handles ([`crate::Drive::select_placement`]); `None`: no data placement.
    pub placement_handles: Option<u16>,
    /// Writes of at most so many bytes are whole or absent after power loss; `None`: one logical
    /// block.
    pub atomic_bytes: Option<u64>,
    /// Keep written data (memory grows with what is written).
    pub keep_data: bool,
    /// Keep data in regenerable form where possible (see [`crate::regenerate`]).
    pub regenerate_data: bool,
    /// Power loss is impossible: no undo journal, so kept data is written faster.
    pub no_power_loss: bool,
    /// Age of the flash ([`crate::ageing`]); refused for media without such ageing.
    pub age: Age,
    /// Payload rate in bytes per second of a host link that the caller simulates (unlimited:
    /// `u64::MAX`). Transfers and the profile's `fetch_ns` and `completion_ns` take no time in the
    /// drive. Submit a write when its data are in the drive; a read completes when its gapless
    /// transfer may begin.
    pub external_link_bytes_per_second: Option<u64>,
    /// Injected faults.
    pub faults: Vec<Fault>,
}

impl DriveOptions {
    /// Set one option: `seed=7`, `lot=1`, `capacity=1TB`, `shrink=64`, `state=fresh|filled`,
    /// `op=25%`, `ambient=30`, `heatsink=on|off`, `ps=2`, `apst=on|off`, `coalescing=100us/4` (or
    /// `off`), `map_cache=1m` (or `off`), `hmb=64m`, `fdp=8`, `awupf=16k`,
    /// `data=keep|checksum|drop`, `cycles=1500`, `retention=90d` (at 30 C) or `retention=90d@55C`,
    /// `fault=drop-write@100` (repeatable), `fault=latency-spike@100=50ms`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let expected = match key {
            "seed" | "lot" => "a whole number from 0 to 2^64 - 1",
            "shrink" => "how many times smaller the drive is, from 1 to 131072, such as 64",
            "capacity" => "a size from 67MB to 140TB as drives are sold, such as 960GB or 1.92TB",
            "state" => "fresh or filled",
            "host" => {
                "2017, 2025, bench (the test bench of the profile's source), or the processor time \
                 of an asynchronous 4 KiB I/O, at most 1ms, such as 2.3us"
            }
            "op" => "a percentage from 0% to 90%, such as 25%",
            "ambient" => "a temperature in Celsius from -40 to 85, such as 30",
            "ps" => "the number of a power state, such as 2",
            "apst" | "heatsink" => "on or off",
            "coalescing" => {
                "off or TIME/ENTRIES: a multiple of 100us up to 25500us, and 1 to 256 entries, \
                 such as 100us/4"
            }
            "map_cache" => {
                "off or the size of a cache for a map on flash, from 4k to 16g, such as 1m"
            }
            "hmb" => "the size of a Host Memory Buffer, from 4k to 16g, such as 64m",
            "fdp" => "the number of reclaim unit handles, such as 8",
            "awupf" => "a power of two from 4k to 1m, such as 16k",
            "data" => "keep, checksum or drop",
            "cycles" => "program/erase cycles as a whole number, such as 1500",
            "retention" => {
                "the age of the data from 0 to 100 years, such as 90d or 12h, and optionally its \
                 temperature from -40 to 125 C, such as 90d@55C"
            }
            "fault" => FAULT_FORMS,
            _ => {
                return Err(OptionError::UnknownKey { key: key.to_owned() });
            }
        };
        self.parse(key, value).ok_or_else(|| OptionError::BadValue {
            key: key.to_owned(),
            value: value.to_owned(),
            expected,
        })
    }

    fn parse(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "seed" => self.seed = value.parse().ok()?,
            "lot" => self.lot = Some(value.parse().ok()?),
            "shrink" => {
                let times = value.parse().ok();
                self.shrink = Some(times.filter(|times| (1..=MOST_SHRINK).contains(times))?);
            }
            "capacity" => self.capacity_bytes = Some(parse_drive_capacity(value)?),
            "state" => {
                self.state = match value {
                    "fresh" => InitialState::Fresh,
                    "filled" => InitialState::Filled,
                    _ => return None,
                };
            }
            "host" => self.host = Some(HostChoice::parse(value)?),
            "op" => {
                let percent = value.trim_end_matches('%').parse().ok();
                self.over_provisioning_percent = Some(percent.filter(|&percent| percent <= 90)?);
            }
            "ambient" => {
                let celsius = value.trim_end_matches(['C', 'c']).parse().ok();
                let in_range = |celsius: &f64| (-40.0..=85.0).contains(celsius);
                self.ambient_celsius = Some(celsius.filter(in_range)?);
            }
            "ps" => self.power_state = value.parse().ok()?,
            "apst" => {
                self.autonomous_power = Some(parse_switch(value)?);
            }
            "heatsink" => self.heat_sink = Some(parse_switch(value)?),
            "coalescing" => self.coalescing = Some(parse_coalescing(value)?),
            "map_cache" => {
                self.map_cache_bytes = Some(match value {
                    "off" => 0,
                    _ => parse_cache_size(value)?,
                });
            }
            "hmb" => self.host_memory_bytes = Some(parse_cache_size(value)?),
            "fdp" => {
                let handles = value.parse().ok();
                self.placement_handles = Some(handles.filter(|&handles: &u16| handles > 0)?);
            }
            "awupf" => self.atomic_bytes = Some(parse_atomic(value)?),
            "data" => {
                (self.keep_data, self.regenerate_data) = match value {
                    "keep" => (true, false),
                    "checksum" => (true, true),
                    "drop" => (false, false),
                    _ => return None,
                };
            }
            "cycles" => self.age.cycles = value.parse().ok()?,
            "retention" => {
                let (time, celsius) = match value.split_once('@') {
                    Some((time, celsius)) => {
                        (time, celsius.trim_end_matches(['C', 'c']).parse().ok()?)
                    }
                    None => (value, RETENTION_CELSIUS),
                };
                self.age.retention_celsius = Some(celsius).filter(|c| (-40..=125).contains(c))?;
                let hours = parse_duration(time).ok()?.0 / 3_600_000_000_000;
                self.age.retention_hours = u32::try_from(hours).ok().filter(|&h| h <= 876_600)?;
            }
            "fault" => self.faults.push(parse_fault(value)?),
            _ => return None,
        }
        Some(())
    }
}

fn parse_drive_capacity(text: &str) -> Option<u64> {
    let bytes = parse_capacity(text).ok();
    bytes.filter(|bytes| CAPACITIES.contains(bytes))
}

fn parse_atomic(text: &str) -> Option<u64> {
    let bytes = parse_size(text).ok();
    bytes.filter(|bytes| bytes.is_power_of_two() && AWUPF.contains(bytes))
}

fn parse_cache_size(text: &str) -> Option<u64> {
    let bytes = parse_size(text).ok();
    bytes.filter(|bytes| (4 << 10..=16 << 30).contains(bytes))
}

fn parse_switch(text: &str) -> Option<bool> {
    match text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn parse_coalescing(text: &str) -> Option<CoalescingSetting> {
    if text == "off" {
        return Some(CoalescingSetting::default());
    }
    let (time, entries) = text.split_once('/')?;
    let Nanos(ns) = parse_duration(time).ok()?;
    let entries: u16 = entries.parse().ok()?;
    if !ns.is_multiple_of(TIME_UNIT_NS) {
        return None;
    }
    Some(CoalescingSetting {
        time_100us: u8::try_from(ns / TIME_UNIT_NS).ok()?,
        threshold: u8::try_from(entries.checked_sub(1)?).ok()?,
    })
}

fn parse_fault(text: &str) -> Option<Fault> {
    if text == "torn-writes" {
        let kind = FaultKind::TornWrites;
        return Some(Fault { kind, ordinal: 0 });
    }
    if let Some(size) = text.strip_prefix("wrap:") {
        let bytes = parse_size(size).ok()?;
        let kind = FaultKind::Counterfeit { bytes };
        let is_whole = bytes > 0 && bytes.is_multiple_of(MAP_UNIT_BYTES);
        return is_whole.then_some(Fault { kind, ordinal: 0 });
    }
    let (name, rest) = text.split_once('@')?;
    if name == "media-error" {
        let (offset, len) = rest.split_once('+')?;
        let offset_bytes = parse_size(offset).ok()?;
        let len_bytes = parse_size(len).ok().filter(|&len| len > 0)?;
        offset_bytes.checked_add(len_bytes)?;
        let kind = FaultKind::MediaError { offset_bytes, len_bytes };
        return Some(Fault { kind, ordinal: 0 });
    }
    let (ordinal, argument) = match rest.split_once('=') {
        Some((ordinal, argument)) => (ordinal, Some(argument)),
        None => (rest, None),
    };
    let ordinal: u64 = ordinal.parse().ok().filter(|&n| n > 0)?;
    let kind = match (name, argument) {
        ("corrupt-write", None) => FaultKind::CorruptWrite,
        ("drop-write", None) => FaultKind::DropWrite,
        ("misdirect-write", None) => FaultKind::MisdirectWrite,
        ("stale-read", None) => FaultKind::StaleRead,
        ("read-error", None) => FaultKind::ReadError,
        ("write-error", None) => FaultKind::WriteError,
        ("drop-flush", None) => FaultKind::DropFlush,
        ("power-loss", None) => FaultKind::PowerLoss,
        ("surprise-removal" | "vanish", None) => FaultKind::SurpriseRemoval,
        ("latency-spike", Some(time)) => {
            let spike = parse_duration(time).ok();
            FaultKind::LatencySpike(spike.filter(|&spike| spike <= MAX_LATENCY_SPIKE)?)
        }
        _ => return None,
    };
    Some(Fault { kind, ordinal })
}

#[cfg(test)]
#[path = "../tests/unit/options.rs"]
mod tests;
