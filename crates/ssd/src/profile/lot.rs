//! Lots: drives of one profile that differ from each other, as those of a production lot do.
//!
//! A drive of a lot has each number multiplied by a log-normal factor: median 1, standard deviation
//! of the logarithm by the number's class, at most three of them from the median. Factors follow
//! from lot's seed, drive's seed and the number's path alone. The spreads are *assumed*
//! ([`CLASSES`]), because no source states them: they give cohort statistics a known truth to find.

use assay_units::Rng;
use assay_units::rng::mix;

use super::{Profile, ProfileError};

/// Numbers of one kind, and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadClass {
    /// What the numbers are.
    pub name: &'static str,
    /// Standard deviation of the logarithm of the factor.
    pub sigma: f64,
    /// Basis of the assumption.
    pub basis: &'static str,
    /// Dotted paths, of which a profile may lack some. The members of a list have one factor.
    pub paths: &'static [&'static str],
}

/// All classes.
pub const CLASSES: [SpreadClass; 6] = [
    SpreadClass {
        name: "sense times",
        sigma: 0.02,
        basis: "half of the spread between word lines that crate::spread assumes: a drive is the \
                mean of its dies",
        paths: &["nand.read_ns", "slc.read_ns", "in_place.read_ns"],
    },
    SpreadClass {
        name: "program and erase times",
        sigma: 0.03,
        basis: "more than sense times: the number of pulses varies too",
        paths: &[
            "nand.program_ns",
            "nand.erase_ns",
            "slc.program_ns",
            "slc.fold_ns",
            "in_place.write_ns",
        ],
    },
    SpreadClass {
        name: "rates of channels and data path",
        sigma: 0.005,
        basis: "clocks of crystals agree; waits for ready flash and refresh of DRAM differ a \
                little",
        paths: &[
            "nand.channel_bytes_per_second",
            "data_path.direct_bytes_per_second",
            "data_path.staged_bytes_per_second",
            "in_place.channel_bytes_per_second",
            "in_place.write_bytes_per_second",
        ],
    },
    SpreadClass {
        name: "firmware times",
        sigma: 0.01,
        basis: "the same code and clock; bad blocks and wear make its tables differ",
        paths: &[
            "firmware.read_command_ns",
            "firmware.read_page_ns",
            "firmware.read_kib_ns",
            "firmware.read_latency_ns",
            "firmware.write_command_ns",
            "firmware.write_unit_ns",
            "buffer.ack_ns",
            "buffer.ack_unit_ns",
        ],
    },
    SpreadClass {
        name: "power and thermal resistance",
        sigma: 0.05,
        basis: "leakage and contact between package and board are the least controlled numbers",
        paths: &[
            "power.command_nj",
            "power.core_mw",
            "power.sense_nj",
            "power.read_page_nj",
            "power.program_page_nj",
            "power.erase_block_nj",
            "power.transfer_kib_nj",
            "power.flash_transfer_kib_nj",
            "power.decode_kib_nj",
            "thermal.resistance_k_per_w",
            "thermal.controller.resistance_k_per_w",
        ],
    },
    SpreadClass {
        name: "spare area",
        sigma: 0.03,
        basis: "blocks that are bad from the factory: JESD47 lets flash ship with up to 2 % of \
                them",
        paths: &[SPARE],
    },
];

/// The number of which only the part beyond the capacity spreads.
const SPARE: &str = "nand.blocks_per_plane";
/// Farthest factor, standard deviations.
const FARTHEST: f64 = 3.0;

/// A number of a drive of a lot.
#[derive(Clone, Debug, PartialEq)]
pub struct LotNumber {
    /// Dotted path.
    pub path: &'static str,
    /// Its class.
    pub class: &'static str,
    /// Factor on the profile's number; of the spare area, on that alone.
    pub factor: f64,
}

/// The factors of a drive, of all numbers that a profile can have.
pub fn factors(lot: u64, seed: u64) -> Vec<LotNumber> {
    let drive = mix(lot, seed);
    let number = |class: &SpreadClass, path: &'static str| {
        let deviation = Rng::stream(drive, path).normal().clamp(-FARTHEST, FARTHEST);
        LotNumber { path, class: class.name, factor: (deviation * class.sigma).exp() }
    };
    let paths = CLASSES.iter().flat_map(|class| class.paths.iter().map(move |path| (class, *path)));
    paths.map(|(class, path)| number(class, path)).collect()
}

/// The spreads in a line.
pub fn summary() -> String {
    let class = |class: &SpreadClass| format!("{} {} %", class.name, class.sigma * 100.0);
    let classes: Vec<String> = CLASSES.iter().map(class).collect();
    format!("log-normal, assumed: {}", classes.join(", "))
}

impl Profile {
    /// A profile's text as the drive with this seed of a lot.
    ///
    /// # Errors
    /// When the text is not a profile, or the drive would not be one.
    pub fn of_lot(text: &str, lot: u64, seed: u64) -> Result<Profile, ProfileError> {
        let mut table: toml::Table = toml::from_str(text)?;
        let (spare, others): (Vec<_>, Vec<_>) =
            factors(lot, seed).into_iter().partition(|number| number.path == SPARE);
        for number in others {
            if let Some(value) = value_at(&mut table, number.path) {
                scale(value, number.factor);
            }
        }
        let mut profile = Profile::from_table(table)?;
        if profile.in_place.is_none() {
            for number in spare {
                profile.nand.blocks_per_plane.value = spare_scaled(&profile, number.factor);
            }
        }
        profile.validated()
    }
}

fn spare_scaled(profile: &Profile, factor: f64) -> u32 {
    let nand = &profile.nand;
    let dies = u64::from(nand.dies.value) * u64::from(nand.planes.value);
    let block_bytes = nand.page_bytes.value * u64::from(nand.pages_per_block.value);
    let needed = profile.identity.capacity_bytes.value.div_ceil((dies * block_bytes).max(1));
    let blocks = u64::from(nand.blocks_per_plane.value);
    let spare = blocks.saturating_sub(needed) as f64;
    let blocks = blocks.min(needed) + (spare * factor).round() as u64;
    u32::try_from(blocks).unwrap_or(nand.blocks_per_plane.value)
}

fn value_at<'t>(table: &'t mut toml::Table, path: &str) -> Option<&'t mut toml::Value> {
    let mut keys = path.split('.');
    let mut value = table.get_mut(keys.next()?)?;
    for key in keys {
        value = value.as_table_mut()?.get_mut(key)?;
    }
    value.as_table_mut()?.get_mut("value")
}

fn scale(value: &mut toml::Value, factor: f64) {
    match value {
        toml::Value::Integer(n) => *n = (*n as f64 * factor).round() as i64,
        toml::Value::Float(x) => *x *= factor,
        toml::Value::Array(values) => values.iter_mut().for_each(|value| scale(value, factor)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/lot.rs"]
mod tests;
