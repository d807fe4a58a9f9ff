//! Ageing of flash: raw bit error rate, read retries, times, and failing blocks.
//!
//! # Raw bit error rate
//! Relative to a new page that was just programmed, `x` being the program/erase cycles of its block
//! over the rated ones,
//!
//! ```text
//! growth = 1 + wear x^2                                        oxide damage
//!            + retention (s + (1 - s) x) (t / 1 year)^n        charge loss over the time t at 30 C
//!            + disturb (reads / 100,000) ((0.1 + x) / 1.1)^1.5 reads of the block since it was programmed
//! ```
//!
//! - A power law of cycles: N. Mielke et al., "Bit error rate in NAND flash memories", IRPS 2008.
//! - Retention errors exceed all others and grow with wear (Y. Cai et al., "Error characterization,
//!   mitigation, and recovery in flash-memory-based solid-state drives", Proceedings of the IEEE
//!   105(9), 2017); the logarithm of the rate is linear in that of the time, and much is lost in
//!   the first hours in 3D flash (Y. Luo et al., "Improving 3D NAND flash memory lifetime by
//!   tolerating early retention loss and process variation", SIGMETRICS 2018): hence its smaller
//!   exponent. Time at another temperature counts by Arrhenius' law with 1.1 eV (JESD218: one year
//!   at 30 C, 500 hours at 52 C).
//! - Read disturb: errors per read of planar MLC at 2,000 to 15,000 cycles (Y. Cai et al., "Read
//!   disturb errors in MLC NAND flash memory", DSN 2015) follow about the power 1.5 of the cycles;
//!   3D flash has few (Luo et al.).
//!
//! # Read retries
//! The error rates of the pages of a block are log-normally distributed with [`PAGE_SIGMA`]. A page
//! that the hard decision of the error correction cannot correct is sensed again with shifted read
//! references; each retry corrects [`RETRY_GAIN`] times the error rate of the one before. Decoding
//! takes longer with more errors. After the last one the page is rebuilt from its parity group.
//! Shares of reads per level follow from `growth` and the class alone and are tabulated by the
//! logarithm of `growth`. No page becomes unreadable ([`crate::faults`] does that).
//!
//! # Times and failures
//! Programming becomes faster with wear and erasing slower, by [`PROGRAM_FALL`] and [`ERASE_RISE`]
//! at the rated cycles. Up to `x`, a share [`FAILED_AT_RATED`]` x^3` of the blocks has failed.
//!
//! # Non-goals
//! Dependence of the rate on layer, page type and neighbours' data; open blocks. Wear by SLC mode:
//! [`crate::wear`].

use std::sync::OnceLock;

use serde::Deserialize;

use crate::elementary::{exp, ln, normal_tail, power};
use crate::options::Age;
use crate::profile::NandProfile;
use crate::timeline::ByteTime;

/// Standard deviation of the logarithm of the error rate among pages of a block; assumed: three of
/// them to either side span a factor of 20, about that of the layers of 3D flash (Luo et al.,
/// SIGMETRICS 2018).
pub const PAGE_SIGMA: f64 = 0.5;
/// Error rate that a further retry corrects, over the one before; assumed.
pub const RETRY_GAIN: f64 = 1.5;
/// Retries before a page is rebuilt.
pub const RETRIES: usize = 6;
/// Levels of a read that is not decoded at once: retries, and rebuilding.
pub const LEVELS: usize = RETRIES + 1;
/// Decoding time per 16 KiB in nanoseconds, added to each retry: 20 us (J. Park et al., "Reducing
/// solid-state drive read latency by optimizing read-retry", ASPLOS 2021).
const DECODE_16K_NS: u64 = 20_000;
/// Time to rebuild a page from its parity group in nanoseconds: as fitted for the P3700
/// (`profiles/intel-p3700.toml`).
const REBUILD_NS: u64 = 2_400_000;
/// Programming time at the rated cycles is shorter by this share, 1/1024ths; assumed 10 %:
/// "decreases slightly" (EP 1 850 348 A1); L. Grupp et al., "Characterizing flash memory", MICRO
/// 2009, measured it.
const PROGRAM_FALL: u64 = 102;
/// Erase time at the rated cycles is longer by this share, 1/1024ths; assumed 30 %; direction as
/// Grupp et al. measured.
const ERASE_RISE: u64 = 307;
/// Wear in times of the rated cycles beyond which times do not change any more; assumed.
const LAST_CHANGE: u64 = 2;
/// Share of the blocks that has failed at the rated cycles; assumed: a tenth of [`SPARE_SHARE`].
pub const FAILED_AT_RATED: f64 = 0.002;
/// Blocks kept as replacements, as a share of those in use: data sheets of flash allow 2 % of the
/// blocks to be or to become bad (`NVB`, 2008 of 2048), and profiles count the others only.
pub const SPARE_SHARE: f64 = 0.02;
/// Boltzmann's constant in eV per kelvin, and JESD218's activation energy in eV.
const BOLTZMANN_EV_PER_K: f64 = 8.617_333e-5;
const ACTIVATION_EV: f64 = 1.1;
/// Temperature of JESD218's retention of client drives in Celsius.
pub const RETENTION_CELSIUS: i16 = 30;
const HOURS_PER_YEAR: f64 = 8_760.0;

/// Steps per unit of the logarithm of growth in the table of levels.
const STEPS_PER_E: f64 = 16.0;
/// Rows of that table: up to a growth of `e^12`.
const ROWS: usize = 12 * 16;
/// Shares of reads are counted in billionths.
pub const WHOLE: u64 = 1_000_000_000;

/// Class of flash, with its law of ageing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum FlashClass {
    /// Three-dimensional, one bit per cell.
    #[serde(rename = "3d-slc")]
    Slc3d,
    /// Planar, two bits per cell.
    #[serde(rename = "planar-mlc")]
    PlanarMlc,
    /// Three-dimensional, two bits per cell.
    #[serde(rename = "3d-mlc")]
    Mlc3d,
    /// Planar, three bits per cell.
    #[serde(rename = "planar-tlc")]
    PlanarTlc,
    /// Three-dimensional, three bits per cell.
    #[serde(rename = "3d-tlc")]
    Tlc3d,
    /// Three-dimensional, four bits per cell.
    #[serde(rename = "3d-qlc")]
    Qlc3d,
}

/// How many classes there are; [`FlashClass::Qlc3d`] is the last.
const CLASSES: usize = FlashClass::Qlc3d as usize + 1;

/// Law of a class. All numbers are assumed unless a source is given; they place the class between a
/// new drive that needs no retries and the end of JESD218's retention at the rated cycles, when its
/// data are still readable.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ClassLaw {
    rated_cycles: u32,
    /// Error rate that the hard decision corrects, over that of a new page.
    margin: f64,
    wear: f64,
    retention: f64,
    /// Share `s` of retention errors that do not depend on wear.
    retention_new: f64,
    retention_exponent: f64,
    disturb: f64,
}

impl FlashClass {
    /// The class of flash with so many bits per cell: planar for two, three-dimensional for others.
    fn of_bits(bits: usize) -> FlashClass {
        match bits {
            0 | 1 => FlashClass::Slc3d,
            2 => FlashClass::PlanarMlc,
            3 => FlashClass::Tlc3d,
            _ => FlashClass::Qlc3d,
        }
    }

    fn law(self) -> ClassLaw {
        match self {
            // Samsung gives no cycles of Z-NAND; 10 drive writes per day for five years (DS983ZET)
            // need 18,250.
            FlashClass::Slc3d => ClassLaw {
                rated_cycles: 50_000,
                margin: 10_000.0,
                wear: 100.0,
                retention: 1_000.0,
                retention_new: 0.1,
                retention_exponent: 0.35,
                disturb: 0.2,
            },
            // Cycles: data sheet L95B. Disturb: 1.6e-9 errors per bit and read at 3,000 cycles (Cai
            // et al., DSN 2015) over 2.5e-6, a thousandth of the 2.5e-3 that 40 bits per KiB
            // correct.
            FlashClass::PlanarMlc => ClassLaw {
                rated_cycles: 3_000,
                margin: 1_000.0,
                wear: 100.0,
                retention: 900.0,
                retention_new: 0.05,
                retention_exponent: 0.6,
                disturb: 65.0,
            },
            FlashClass::Mlc3d => ClassLaw {
                rated_cycles: 6_000,
                margin: 100.0,
                wear: 30.0,
                retention: 100.0,
                retention_new: 0.2,
                retention_exponent: 0.35,
                disturb: 0.2,
            },
            FlashClass::PlanarTlc => ClassLaw {
                rated_cycles: 1_000,
                margin: 100.0,
                wear: 30.0,
                retention: 170.0,
                retention_new: 0.1,
                retention_exponent: 0.6,
                disturb: 20.0,
            },
            // Cycles: KIOXIA's and WD's reliability reports of BiCS flash (Silicon Power, "NAND
            // flash products data retention", 2025). Retention: three retries per read at 3,000
            // cycles and high retention time (M. Ye et al., "Achieving near-zero read retry for 3D
            // NAND flash memory", ASPLOS 2024).
            FlashClass::Tlc3d => ClassLaw {
                rated_cycles: 3_000,
                margin: 24.0,
                wear: 10.0,
                retention: 54.0,
                retention_new: 0.2,
                retention_exponent: 0.35,
                disturb: 0.2,
            },
            FlashClass::Qlc3d => ClassLaw {
                rated_cycles: 1_000,
                margin: 24.0,
                wear: 12.0,
                retention: 70.0,
                retention_new: 0.3,
                retention_exponent: 0.35,
                disturb: 0.5,
            },
        }
    }
}

/// What depends on the class alone, by row.
#[derive(Debug)]
struct LevelTable {
    /// Reads per level and more, of [`WHOLE`].
    shares: [[u32; LEVELS]; ROWS],
    /// Additional decoding time in nanoseconds.
    decode_ns: [u64; ROWS],
}

impl LevelTable {
    /// The table of a class; computed once per process.
    fn of(class: FlashClass) -> &'static LevelTable {
        static TABLES: [OnceLock<LevelTable>; CLASSES] = [const { OnceLock::new() }; CLASSES];
        TABLES[class as usize].get_or_init(|| {
            let margin = class.law().margin;
            LevelTable {
                shares: std::array::from_fn(|row| shares_of(margin, row)),
                decode_ns: std::array::from_fn(|row| decode_ns_of(margin, row)),
            }
        })
    }
}

/// How the flash of a drive ages.
#[derive(Clone, Debug)]
pub struct AgeingLaw {
    law: ClassLaw,
    rated_cycles: u32,
    table: &'static LevelTable,
    level_ns: [u64; LEVELS],
}

impl AgeingLaw {
    /// The law of a drive's flash.
    pub fn new(nand: &NandProfile) -> AgeingLaw {
        let given = nand.ageing.as_ref();
        let class = given.and_then(|ageing| ageing.class.as_ref());
        let bits = nand.read_ns.value.len();
        let class = class.map_or(FlashClass::of_bits(bits), |class| class.value);
        let law = class.law();
        let rated = given.and_then(|ageing| ageing.rated_cycles.as_ref());
        let page_bytes = nand.page_bytes.value;
        let out_ns = ByteTime::of_rate(nand.channel_bytes_per_second.value).duration_ns(page_bytes);
        let mean_ns = nand.read_ns.value.iter().sum::<u64>() / bits.max(1) as u64;
        let retry_ns = mean_ns + out_ns + DECODE_16K_NS * page_bytes / (16 << 10);
        let retries_ns = retry_ns * RETRIES as u64;
        AgeingLaw {
            law,
            rated_cycles: rated.map_or(law.rated_cycles, |rated| rated.value).max(1),
            table: LevelTable::of(class),
            level_ns: std::array::from_fn(|level| match level {
                RETRIES => retries_ns + REBUILD_NS,
                _ => retry_ns * (level as u64 + 1),
            }),
        }
    }

    /// Program/erase cycles for which the flash is rated.
    pub fn rated_cycles(&self) -> u32 {
        self.rated_cycles
    }

    /// Cycles over the rated ones.
    fn wear_of(&self, cycles: u64) -> f64 {
        cycles as f64 / f64::from(self.rated_cycles)
    }

    /// Error rate of pages of a block over that of new ones: its cycles, years at 30 C since it was
    /// programmed, reads since then.
    pub fn growth(&self, cycles: u64, years: f64, reads: f64) -> f64 {
        let (law, x) = (&self.law, self.wear_of(cycles));
        let held = law.retention_new + (1.0 - law.retention_new) * x;
        let lost = law.retention * held * power(years, law.retention_exponent);
        1.0 + law.wear * x * x + lost + self.disturb_of(cycles) * reads
    }

    /// Growth per read of a block.
    pub fn disturb_of(&self, cycles: u64) -> f64 {
        let x = self.wear_of(cycles);
        self.law.disturb / 1e5 * power((0.1 + x) / 1.1, 1.5)
    }

    /// Row of the table for this growth.
    pub fn row(&self, growth: f64) -> usize {
        ((ln(growth.max(1.0)) * STEPS_PER_E) as usize).min(ROWS - 1)
    }

    /// Growth at which the row after this one begins; infinite for the last.
    pub fn end_of_row(&self, row: usize) -> f64 {
        match row + 1 < ROWS {
            true => exp((row + 1) as f64 / STEPS_PER_E),
            false => f64::INFINITY,
        }
    }

    /// Rows by which a growth of this factor differs.
    pub fn rows_of(factor: f64) -> usize {
        (ln(factor) * STEPS_PER_E) as usize
    }

    /// Reads that need each level or a slower one, of [`WHOLE`], quickest first.
    #[inline]
    pub fn shares(&self, row: usize) -> &[u32; LEVELS] {
        &self.table.shares[row]
    }

    /// Additional time to decode a sector at the error rate of this row, in nanoseconds.
    #[inline]
    pub fn decode_ns(&self, row: usize) -> u64 {
        self.table.decode_ns[row]
    }

    /// Additional time of a read of each level, in nanoseconds.
    pub fn level_ns(&self, level: usize) -> u64 {
        self.level_ns[level]
    }

    /// 1/1024ths by which programming is shorter and erasing longer than when new.
    pub fn time_changes(&self, cycles: u64) -> (u64, u64) {
        let rated = u64::from(self.rated_cycles);
        let cycles = cycles.min(LAST_CHANGE * rated);
        (PROGRAM_FALL * cycles / rated, ERASE_RISE * cycles / rated)
    }

    /// Share of the blocks that fail within so many cycles.
    pub fn failed_share(&self, cycles: u64) -> f64 {
        self.failed_share_of(cycles, 1)
    }

    /// As [`AgeingLaw::failed_share`], of flash that endures so many times as many cycles.
    pub fn failed_share_of(&self, cycles: u64, times: u64) -> f64 {
        let x = self.wear_of(cycles) / times as f64;
        (FAILED_AT_RATED * x * x * x).min(1.0)
    }

    /// Years at 30 C that lose as much charge as this age's retention.
    pub fn retention_years(age: Age) -> f64 {
        let per_kelvin = |celsius: i16| 1.0 / (f64::from(celsius) + 273.15);
        let exponent = per_kelvin(RETENTION_CELSIUS) - per_kelvin(age.retention_celsius);
        let acceleration = exp(ACTIVATION_EV / BOLTZMANN_EV_PER_K * exponent);
        f64::from(age.retention_hours) / HOURS_PER_YEAR * acceleration
    }
}

/// Iterations of the decoder grow with the errors, to [`DECODE_16K_NS`] in all at the limit of the
/// hard decision; linear is assumed.
fn decode_ns_of(margin: f64, row: usize) -> u64 {
    let growth = exp(row as f64 / STEPS_PER_E);
    let share = ((growth - 1.0) / (margin - 1.0)).min(1.0);
    (share * (DECODE_16K_NS / 4) as f64) as u64
}

/// Shares of the levels where the logarithm of growth begins a row.
fn shares_of(margin: f64, row: usize) -> [u32; LEVELS] {
    let ln_growth = row as f64 / STEPS_PER_E;
    std::array::from_fn(|level| {
        let corrected = ln(margin) + level as f64 * ln(RETRY_GAIN);
        let share = normal_tail((corrected - ln_growth) / PAGE_SIGMA);
        (share * WHOLE as f64) as u32
    })
}

#[cfg(test)]
#[path = "../tests/unit/ageing.rs"]
mod tests;
