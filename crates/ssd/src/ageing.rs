//! Ageing of flash: raw bit error rate, read retries, times, and failing blocks.
//!
//! # Raw bit error rate
//! Relative to a new page just programmed, with `x` the program/erase cycles over the rated ones:
//!
//! ```text
//! growth = 1 + wear x^2                                        oxide damage
//!            + retention (s + (1 - s) x) (t / 1 year)^n        charge loss over the time t at 30 C
//!            + disturb (reads / 100,000) ((0.1 + x) / 1.1)^1.5 block reads since programming
//! ```
//!
//! - Power law of cycles: N. Mielke et al., "Bit error rate in NAND flash memories", IRPS 2008.
//! - Retention dominates and grows with wear (Y. Cai et al., "Error characterization, mitigation,
//!   and recovery in flash-memory-based solid-state drives", Proceedings of the IEEE 105(9), 2017).
//!   Its exponent is small because 3D flash loses much in the first hours (Y. Luo et al.,
//!   "Improving 3D NAND flash memory lifetime by tolerating early retention loss and process
//!   variation", SIGMETRICS 2018). Temperature: Arrhenius' law with 1.1 eV (JESD218: one year at 30
//!   C, 500 hours at 52 C).
//! - Read disturb: the exponent 1.5 fits planar MLC at 2,000 to 15,000 cycles (Y. Cai et al., "Read
//!   disturb errors in MLC NAND flash memory", DSN 2015); 3D flash has few (Luo et al.).
//!
//! # Read retries
//! Error rates of the pages of a block are log-normal with [`PAGE_SIGMA`]. A page beyond the hard
//! decision of the error correction is sensed again with shifted read references; each retry
//! corrects [`RETRY_GAIN`] times the error rate of the one before, and after the last one the page
//! is rebuilt from its parity group. Shares of reads per level depend on `growth` and class alone
//! and are tabulated by `ln growth`. No page becomes unreadable ([`crate::faults`] does that).
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

/// Standard deviation of the log error rate among pages of a block; assumed: +-3 of them span a
/// factor of 20, as the layers of 3D flash do (Luo et al., SIGMETRICS 2018).
pub const PAGE_SIGMA: f64 = 0.5;
/// Error rate that a further retry corrects, over the one before; assumed.
pub const RETRY_GAIN: f64 = 1.5;
pub const RETRIES: usize = 6;
/// Levels of a read that is not decoded at once: retries, and rebuilding.
pub const LEVELS: usize = RETRIES + 1;
/// Decoding time in nanoseconds per 16 KiB, added to each retry (J. Park et al., "Reducing
/// solid-state drive read latency by optimizing read-retry", ASPLOS 2021).
const DECODE_16K_NS: u64 = 20_000;
/// Time to rebuild a page from its parity group, as fitted for `profiles/intel-p3700.toml`.
const REBUILD_NS: u64 = 2_400_000;
/// Reduction of programming time at the rated cycles in 1024ths; assumed 10 %: "decreases slightly"
/// (EP 1 850 348 A1), measured by L. Grupp et al., "Characterizing flash memory", MICRO 2009.
const PROGRAM_FALL: u64 = 102;
/// Increase of erase time at the rated cycles in 1024ths; assumed 30 %, direction: Grupp et al.
const ERASE_RISE: u64 = 307;
/// Wear in multiples of the rated cycles beyond which times do not change any more; assumed.
const LAST_CHANGE: u64 = 2;
/// Share of the blocks that has failed at the rated cycles; assumed: a tenth of [`SPARE_SHARE`].
pub const FAILED_AT_RATED: f64 = 0.002;
/// Spare blocks as a share of those in use: data sheets allow 2 % bad blocks (`NVB`, 2008 of 2048),
/// and profiles count the others only.
pub const SPARE_SHARE: f64 = 0.02;
/// Boltzmann's constant in eV per kelvin, and JESD218's activation energy in eV.
const BOLTZMANN_EV_PER_K: f64 = 8.617_333e-5;
const ACTIVATION_EV: f64 = 1.1;
pub const RETENTION_CELSIUS: i16 = 30;
const HOURS_PER_YEAR: f64 = 8_760.0;

/// Steps per unit of the logarithm of growth in the table of levels.
const STEPS_PER_E: f64 = 16.0;
/// Rows of the table of levels: up to a growth of `e^12`.
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

const CLASSES: usize = FlashClass::Qlc3d as usize + 1;

/// Law of a class. Numbers without a source are assumed, so that a new drive needs no retries and
/// data stay readable to the end of JESD218's retention at the rated cycles.
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
            // Samsung gives none for Z-NAND; 10 drive writes per day for 5 years (DS983ZET):
            // 18,250.
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

#[derive(Debug)]
struct LevelTable {
    shares: [[u32; LEVELS]; ROWS],
    decode_ns: [u64; ROWS],
}

impl LevelTable {
    fn for_class(class: FlashClass) -> &'static LevelTable {
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

#[derive(Clone, Debug)]
pub struct AgeingLaw {
    law: ClassLaw,
    rated_cycles: u32,
    table: &'static LevelTable,
    level_ns: [u64; LEVELS],
}

impl AgeingLaw {
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
            table: LevelTable::for_class(class),
            level_ns: std::array::from_fn(|level| match level {
                RETRIES => retries_ns + REBUILD_NS,
                _ => retry_ns * (level as u64 + 1),
            }),
        }
    }

    pub fn rated_cycles(&self) -> u32 {
        self.rated_cycles
    }

    fn wear_of(&self, cycles: u64) -> f64 {
        cycles as f64 / f64::from(self.rated_cycles)
    }

    /// Error rate of a block's pages relative to new ones, after `years` at 30 C.
    pub fn growth(&self, cycles: u64, years: f64, reads: f64) -> f64 {
        let (law, x) = (&self.law, self.wear_of(cycles));
        let held = law.retention_new + (1.0 - law.retention_new) * x;
        let lost = law.retention * held * power(years, law.retention_exponent);
        1.0 + law.wear * x * x + lost + self.disturb_of(cycles) * reads
    }

    pub fn disturb_of(&self, cycles: u64) -> f64 {
        let x = self.wear_of(cycles);
        self.law.disturb / 1e5 * power((0.1 + x) / 1.1, 1.5)
    }

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

    /// Rows by which growths of this ratio differ.
    pub fn rows_of(factor: f64) -> usize {
        (ln(factor) * STEPS_PER_E) as usize
    }

    /// Reads that need at least each level, of [`WHOLE`], quickest level first.
    #[inline]
    pub fn shares(&self, row: usize) -> &[u32; LEVELS] {
        &self.table.shares[row]
    }

    #[inline]
    pub fn decode_ns(&self, row: usize) -> u64 {
        self.table.decode_ns[row]
    }

    pub fn level_ns(&self, level: usize) -> u64 {
        self.level_ns[level]
    }

    /// Reduction of programming and increase of erase time in 1024ths.
    pub fn time_changes(&self, cycles: u64) -> (u64, u64) {
        let rated = u64::from(self.rated_cycles);
        let cycles = cycles.min(LAST_CHANGE * rated);
        (PROGRAM_FALL * cycles / rated, ERASE_RISE * cycles / rated)
    }

    pub fn failed_share(&self, cycles: u64) -> f64 {
        self.failed_share_of(cycles, 1)
    }

    /// [`AgeingLaw::failed_share`] of flash that endures `times` as many cycles.
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

/// Linear growth with the errors is assumed, to [`DECODE_16K_NS`] at the hard decision's limit.
fn decode_ns_of(margin: f64, row: usize) -> u64 {
    let growth = exp(row as f64 / STEPS_PER_E);
    let share = ((growth - 1.0) / (margin - 1.0)).min(1.0);
    (share * (DECODE_16K_NS / 4) as f64) as u64
}

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
