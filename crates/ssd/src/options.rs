//! Options of one simulated drive, and their spelling on the command line (`sim:NAME,key=value,...`).

use assay_units::{Nanos, parse_duration, parse_size};

use crate::coalescing::{CoalescingSetting, TIME_UNIT_NS};
use crate::profile::MAP_UNIT_BYTES;

/// What the drive holds when it is switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialState {
    /// Nothing was ever written; reads return zeroes.
    Fresh,
    /// Every logical block was written once, sequentially, with incompressible data.
    #[default]
    Filled,
}

/// How worn the media is at power-on, and for how long its data has been there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Age {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Hours since the data was written.
    pub retention_hours: u32,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// One bit of the write's data is flipped; the write is acknowledged.
    CorruptWrite,
    /// The write is acknowledged and nothing is stored.
    DropWrite,
    /// The write is stored in the next place of its length instead of its own (the one before, at the end of the drive).
    MisdirectWrite,
    /// The read returns each 4 KiB unit as it was before its last write.
    StaleRead,
    /// The read ends with Unrecovered Read Error.
    ReadError,
    /// The write ends with Write Fault and nothing is stored.
    WriteError,
    /// The command takes this much longer.
    LatencySpike(Nanos),
    /// The flush is acknowledged and nothing is flushed.
    DropFlush,
    /// The drive loses power just before the command reaches it, and has it back ([`crate::Drive::power_loss`]).
    PowerLoss,
    /// The drive is gone from this command on ([`crate::Drive::surprise_removal`]).
    SurpriseRemoval,
    /// Reads that touch these bytes end with Unrecovered Read Error, until the bytes are written, zeroed or deallocated.
    MediaError {
        /// First byte.
        offset_bytes: u64,
        /// How many.
        len_bytes: u64,
    },
    /// The drive has only so many bytes, whatever it claims: bytes written beyond land at the remainder of their address, and are read
    /// from there ([`crate::counterfeit`]). Matters where data is kept.
    Counterfeit {
        /// How many; whole 4 KiB units.
        bytes: u64,
    },
}

/// One thing that goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// When: the ordinal from 1, in order of submission, among writes for write faults, among reads for read faults, among flushes
    /// for a dropped one, among reads and writes together for a latency spike, a loss of power and a drive that vanishes. Media errors
    /// and a forged capacity are there from the start, and theirs is 0.
    pub ordinal: u64,
}

const FAULT_FORMS: &str = "corrupt-write@N, drop-write@N, misdirect-write@N, stale-read@N, read-error@N, write-error@N, latency-spike@N=TIME, drop-flush@N, power-loss@N, surprise-removal@N, media-error@OFFSET+LENGTH or wrap:SIZE";
/// Keys of [`DriveOptions::set`].
const KEYS: &str =
    "seed, state, op, ambient, ps, apst, coalescing, map_cache, data, cycles, retention, fault";

/// Why an option was refused.
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
        /// What would be right.
        expected: &'static str,
    },
}

/// Options of one simulated drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveOptions {
    /// Seed of everything random in the drive.
    pub seed: u64,
    /// What the drive holds at power-on.
    pub state: InitialState,
    /// Extra over-provisioning: this share of the capacity is taken away from the host, in percent, at most 90.
    pub over_provisioning_percent: Option<u8>,
    /// Ambient temperature in Celsius, instead of the profile's.
    pub ambient_celsius: Option<f64>,
    /// Power state to begin in.
    pub power_state: u8,
    /// Are autonomous power state transitions on, instead of as the profile has it?
    pub autonomous_power: Option<bool>,
    /// Interrupt coalescing, instead of the profile's.
    pub coalescing: Option<CoalescingSetting>,
    /// The map on flash with a cache of so many bytes, instead of as the profile has it; 0: all of it in DRAM.
    pub map_cache_bytes: Option<u64>,
    /// Keep the bytes, so that what was written can be read back (memory grows with what is written).
    pub keep_data: bool,
    /// Keep pages as numbers where they can be made again (see [`crate::regenerate`]); matters where data is kept.
    pub regenerate_data: bool,
    /// Nobody cuts its power, so that nothing is remembered for that: kept data is written faster. A loss of power then loses no data.
    pub power_stays: bool,
    /// How old the media is; matters where the profile's reads have retries.
    pub age: Age,
    /// Things that go wrong.
    pub faults: Vec<Fault>,
}

impl DriveOptions {
    /// Set one option as spelled on the command line: `seed=7`, `state=fresh|filled`, `op=25%`, `ambient=30`, `ps=2` (power state),
    /// `apst=on|off`, `coalescing=100us/4` (time, a multiple of 100 us, and entries; or `off`), `map_cache=1m` (the map on
    /// flash, a cache of so many bytes; or `off`), `data=keep|checksum|drop`, `cycles=1500`
    /// (program/erase cycles), `retention=90d`, `fault=drop-write@100` (repeatable), `fault=latency-spike@100=50ms`.
    ///
    /// # Errors
    /// [`OptionError`], naming the known keys or the expected form.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let bad = |expected: &'static str| OptionError::BadValue {
            key: key.to_owned(),
            value: value.to_owned(),
            expected,
        };
        match key {
            "seed" => {
                self.seed = value
                    .parse()
                    .map_err(|_| bad("a whole number from 0 to 2^64 - 1"))?;
            }
            "state" => {
                self.state = match value {
                    "fresh" => InitialState::Fresh,
                    "filled" => InitialState::Filled,
                    _ => return Err(bad("fresh or filled")),
                };
            }
            "op" => {
                let expected = "a percentage from 0% to 90%, such as 25%";
                let percent: u8 = value
                    .trim_end_matches('%')
                    .parse()
                    .map_err(|_| bad(expected))?;
                if percent > 90 {
                    return Err(bad(expected));
                }
                self.over_provisioning_percent = Some(percent);
            }
            "ambient" => {
                let expected = "a temperature in Celsius from -40 to 85, such as 30";
                let celsius: f64 = value
                    .trim_end_matches(['C', 'c'])
                    .parse()
                    .map_err(|_| bad(expected))?;
                if !(-40.0..=85.0).contains(&celsius) {
                    return Err(bad(expected));
                }
                self.ambient_celsius = Some(celsius);
            }
            "ps" => {
                let expected = "the number of a power state, such as 2";
                self.power_state = value.parse().map_err(|_| bad(expected))?;
            }
            "apst" => {
                self.autonomous_power = match value {
                    "on" => Some(true),
                    "off" => Some(false),
                    _ => return Err(bad("on or off")),
                };
            }
            "coalescing" => {
                let expected = "off or TIME/ENTRIES: a multiple of 100us up to 25500us, and 1 to 256 entries, such as 100us/4";
                self.coalescing = Some(parse_coalescing(value).ok_or_else(|| bad(expected))?);
            }
            "map_cache" => {
                let expected =
                    "off or the bytes of a cache for a map on flash, from 4k to 16g, such as 1m";
                let bytes = match value {
                    "off" => Some(0),
                    _ => parse_size(value)
                        .ok()
                        .filter(|bytes| (4 << 10..=16 << 30).contains(bytes)),
                };
                self.map_cache_bytes = Some(bytes.ok_or_else(|| bad(expected))?);
            }
            "data" => {
                (self.keep_data, self.regenerate_data) = match value {
                    "keep" => (true, false),
                    "checksum" => (true, true),
                    "drop" => (false, false),
                    _ => return Err(bad("keep, checksum or drop")),
                };
            }
            "cycles" => {
                self.age.cycles = value
                    .parse()
                    .map_err(|_| bad("program/erase cycles as a whole number, such as 1500"))?;
            }
            "retention" => {
                let expected = "the age of the data from 0 to 100 years, such as 90d or 12h";
                let age = parse_duration(value).map_err(|_| bad(expected))?;
                let hours = age.0 / 3_600_000_000_000;
                self.age.retention_hours = u32::try_from(hours)
                    .ok()
                    .filter(|&hours| hours <= 876_600)
                    .ok_or_else(|| bad(expected))?;
            }
            "fault" => self
                .faults
                .push(parse_fault(value).ok_or_else(|| bad(FAULT_FORMS))?),
            _ => {
                return Err(OptionError::UnknownKey {
                    key: key.to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn parse_coalescing(text: &str) -> Option<CoalescingSetting> {
    if text == "off" {
        return Some(CoalescingSetting {
            time_100us: 0,
            threshold: 0,
        });
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
    if let Some(size) = text.strip_prefix("wrap:") {
        let bytes = parse_size(size).ok()?;
        let kind = FaultKind::Counterfeit { bytes };
        let is_whole = bytes > 0 && bytes.is_multiple_of(MAP_UNIT_BYTES);
        return is_whole.then_some(Fault { kind, ordinal: 0 });
    }
    let (name, rest) = text.split_once('@')?;
    if name == "media-error" {
        let (offset, len) = rest.split_once('+')?;
        let kind = FaultKind::MediaError {
            offset_bytes: parse_size(offset).ok()?,
            len_bytes: parse_size(len).ok().filter(|&len| len > 0)?,
        };
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
        ("latency-spike", Some(time)) => FaultKind::LatencySpike(parse_duration(time).ok()?),
        _ => return None,
    };
    Some(Fault { kind, ordinal })
}

#[cfg(test)]
#[path = "../tests/unit/options.rs"]
mod tests;
