//! Hardware facts of the modelled drives (`reference/hardware.toml`, embedded; its head documents
//! keys and units), each with its source. What no source gives is absent. A drive's own fact
//! precedes that of its controller family or flash generation, see [`DriveFacts`].

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::CalibrateError;

mod compare;

pub use compare::{Contradiction, contradictions, known_numbers};

const FILE: &str = "hardware.toml";
const TEXT: &str = include_str!("../../../reference/hardware.toml");

/// The table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Sources by key; docs/sources.md has the same keys.
    pub sources: BTreeMap<String, Source>,
    /// Controller families.
    pub controllers: BTreeMap<String, Controller>,
    /// Generations of flash and of 3D XPoint.
    pub flash: BTreeMap<String, Flash>,
    /// Drives by the names of their profiles.
    pub drives: BTreeMap<String, Drive>,
}

/// A publication.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub title: String,
    /// Address, or publisher where it has none.
    #[serde(rename = "where")]
    pub place: String,
    pub date: Option<String>,
}

/// A value and where it is from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact<T> {
    /// The value; its unit is the last word of the key.
    pub value: T,
    /// Key of a [`Source`].
    pub source: String,
    /// Whether the source's text was seen when the fact was entered.
    #[serde(default = "seen")]
    pub checked: bool,
    /// Why the fact holds, where the source states it of the part's family or class.
    pub class: Option<String>,
}

fn seen() -> bool {
    true
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Key of a [`Source`].
    pub source: &'a str,
    /// As [`Fact::checked`].
    pub checked: bool,
    /// As [`Fact::class`].
    pub class: Option<&'a str>,
}

impl<T> Fact<T> {
    pub fn origin(&self) -> Origin<'_> {
        Origin { source: &self.source, checked: self.checked, class: self.class.as_deref() }
    }
}

/// Declares a table of optional facts and `origins`, those that are there.
macro_rules! facts {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    } $({ $($rest:tt)* })?) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<Fact<$type>>,)*
            $($($rest)*)?
        }

        impl $name {
            /// Keys of a table of this kind.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field),)*];

            /// The known facts: key and origin.
            pub fn origins(&self) -> impl Iterator<Item = (&'static str, Origin<'_>)> {
                let all = [$(
                    self.$field.as_ref().map(|fact| (stringify!($field), fact.origin())),
                )*];
                all.into_iter().flatten()
            }
        }
    };
}

facts! {
    /// A controller family.
    Controller {
        /// Manufacturer.
        maker: String,
        cores: u8,
        /// Flash channels.
        channels: u16,
        /// Process of the chip in nanometres.
        process_nm: u16,
        /// Whether it has an interface to external DRAM.
        dram: bool,
    }
}

facts! {
    /// A generation of flash, or of 3D XPoint, of one maker.
    Flash {
        /// Manufacturer.
        maker: String,
        /// Bits per cell.
        cell_bits: u8,
        /// Layers of cells, 0 when planar.
        layers: u16,
        process_nm: u16,
        /// Density of a die in Gbit (2^30 bits).
        die_gbit: u32,
        /// Planes per die.
        planes: u8,
        /// Whether planes of a die sense different pages at the same time.
        independent_plane_reads: bool,
        /// User data of a page of one plane in bytes.
        page_bytes: u64,
        /// Shortest and longest time to read a page into the page register, mean over page types,
        /// in microseconds.
        sense_us: [f64; 2],
        /// The same of writing it, in microseconds.
        program_us: [f64; 2],
        /// Highest rate of its interface in millions of transfers of a byte per second.
        bus_mt_s: u32,
    }
}

facts! {
    /// A drive at the capacity modelled.
    Drive {
        /// Key of its controller family.
        controller: String,
        /// Key of its flash.
        flash: String,
        /// Processor cores of the controller.
        cores: u8,
        /// Flash channels in use.
        channels: u16,
        /// Dies in the drive.
        dies: u16,
        /// Density of a die in Gbit.
        die_gbit: u32,
        /// Planes per die.
        planes: u8,
        /// User data of a page of one plane in bytes.
        page_bytes: u64,
        /// DRAM in MiB, 0 for none.
        dram_mb: u32,
        /// Capacity in 10^9 bytes.
        capacity_gb: f64,
        pcie_generation: u8,
        pcie_lanes: u8,
        /// Rate of a Serial ATA link in Gbit/s.
        sata_gb_s: f64,
        /// NVMe version reported.
        nvme_version: String,
        /// I/O queue pairs granted.
        queue_pairs: u16,
        /// Entries per queue.
        max_queue_entries: u32,
        /// Largest transfer of one command in bytes.
        max_transfer_bytes: u64,
        /// Warning composite temperature in Celsius.
        warning_celsius: u16,
        /// Critical composite temperature in Celsius.
        critical_celsius: u16,
        /// Maximum power per power state in milliwatts.
        power_states_mw: Vec<u32>,
        /// Entry latency per power state in microseconds.
        enter_us: Vec<u64>,
        /// Exit latency per power state in microseconds.
        exit_us: Vec<u64>,
    } {
        /// Figures of the data sheet.
        #[serde(default)]
        pub rated: Vec<RatedFigure>,
    }
}

/// A figure of a data sheet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedFigure {
    /// Which.
    pub figure: Rating,
    /// Its value in the unit of the figure's name.
    pub value: f64,
    /// I/Os in flight, where stated.
    pub queue_depth: Option<u32>,
    /// Percentile of a latency; absent: typical.
    pub percentile: Option<f64>,
    /// For which drives, where not for this one alone.
    pub scope: Option<Scope>,
    /// Key of a [`Source`].
    pub source: String,
    /// As [`Fact::checked`].
    #[serde(default = "seen")]
    pub checked: bool,
    /// As [`Fact::class`].
    pub class: Option<String>,
}

/// For which drives a figure is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The highest of all capacities.
    Family,
}

/// Figures of data sheets. Random ones are of 4 KiB; MB is 10^6 bytes, TB 10^12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it, with their units")]
pub enum Rating {
    SequentialReadMbS,
    /// Beside or after an SLC cache, where there is one.
    SequentialWriteMbS,
    /// Into the SLC cache.
    CachedWriteMbS,
    RandomReadIops,
    RandomWriteIops,
    /// 70 % reads.
    #[serde(rename = "mixed_70_30_iops")]
    Mixed7030Iops,
    ReadLatencyUs,
    WriteLatencyUs,
    SequentialReadLatencyUs,
    SequentialWriteLatencyUs,
    /// Size of the SLC cache.
    CacheGb,
    ActivePowerW,
    ReadPowerW,
    WritePowerW,
    IdlePowerW,
    /// Written by the host over its life.
    EnduranceTb,
    /// Drive writes per day over the warranty.
    EnduranceDwpd,
}

/// What is known of a drive, of its own or by its parts.
#[derive(Clone, Copy, Debug)]
pub struct DriveFacts<'a> {
    pub drive: &'a Drive,
    /// Its controller family, where known.
    pub controller: Option<&'a Controller>,
    pub flash: Option<&'a Flash>,
}

impl Hardware {
    /// The table of this repository. Tests check its rules: ranges, sources and parts that exist,
    /// every source used, every profile's drive present.
    pub fn embedded() -> Result<Hardware, CalibrateError> {
        Hardware::parse(FILE, TEXT)
    }

    fn parse(file: &str, text: &str) -> Result<Hardware, CalibrateError> {
        toml::from_str(text).map_err(|error| {
            let before = text.bytes().take(error.span().map_or(0, |span| span.start));
            let line = 1 + before.filter(|&byte| byte == b'\n').count();
            CalibrateError::table(file, line, None, error.message())
        })
    }

    /// The facts of a profile's drive.
    pub fn drive(&self, name: &str) -> Option<DriveFacts<'_>> {
        let drive = self.drives.get(name)?;
        let controller = drive.controller.as_ref();
        let flash = drive.flash.as_ref();
        Some(DriveFacts {
            drive,
            controller: controller.and_then(|id| self.controllers.get(&id.value)),
            flash: flash.and_then(|id| self.flash.get(&id.value)),
        })
    }
}

impl<'a> DriveFacts<'a> {
    pub fn cores(self) -> Option<&'a Fact<u8>> {
        let own = self.drive.cores.as_ref();
        own.or(self.controller?.cores.as_ref())
    }

    /// Flash channels.
    pub fn channels(self) -> Option<&'a Fact<u16>> {
        let own = self.drive.channels.as_ref();
        own.or(self.controller?.channels.as_ref())
    }

    /// Density of a die in Gbit.
    pub fn die_gbit(self) -> Option<&'a Fact<u32>> {
        let own = self.drive.die_gbit.as_ref();
        own.or(self.flash?.die_gbit.as_ref())
    }

    /// Planes per die.
    pub fn planes(self) -> Option<&'a Fact<u8>> {
        let own = self.drive.planes.as_ref();
        own.or(self.flash?.planes.as_ref())
    }

    /// User data of a page of one plane in bytes.
    pub fn page_bytes(self) -> Option<&'a Fact<u64>> {
        let own = self.drive.page_bytes.as_ref();
        own.or(self.flash?.page_bytes.as_ref())
    }

    /// Highest rating of a figure of this drive, whatever the queue depth.
    pub fn highest(self, figure: Rating) -> Option<&'a RatedFigure> {
        let rated = self.drive.rated.iter();
        let own = rated.filter(|r| r.figure == figure && r.scope.is_none());
        own.max_by(|a, b| a.value.total_cmp(&b.value))
    }
}

#[cfg(test)]
#[path = "../tests/unit/hardware.rs"]
mod tests;
