//! Contents of writes: the patterns of the command line (`incompressible`, `zero`, `compress=R`,
//! `pattern=HEX`).
//!
//! Data never repeat, unless it is asked for, so that a deduplicating drive saves nothing. `noise`
//! is the keyed pseudo-random data, `compressible` the generator behind `compress=R`.
//!
//! # Non-goals
//! No estimate of the compressibility of foreign data, no imitation of application files.
//!
//! # Key constants
//! [`MIN_RATIO`] (1.05), [`MAX_RATIO`] (20), [`UNIT_BYTES`] (4096, the unit of compressible data).

mod compressible;
mod noise;

use std::fmt;
use std::str::FromStr;

use assay_units::{DataClass, Rng, rng::mix};
use serde::{Deserialize, Serialize};

use compressible::CompressibleRecipe;
pub use compressible::UNIT_BYTES;
pub(crate) use noise::{Noise, NoiseReader};

/// Minimum compression ratio: below, matches are too rare for a compressor.
pub const MIN_RATIO: f64 = 1.05;
/// Maximum compression ratio: above, a compressor's headers dominate.
pub const MAX_RATIO: f64 = 20.0;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DataError {
    #[error(
        "{text:?} is not a data pattern; use incompressible, zero, compress=R (for example \
         compress=2) or pattern=HEX (pattern=deadbeef)"
    )]
    UnknownPattern {
        /// As given.
        text: String,
    },
    #[error("pattern={text}: write the bytes as an even count of hexadecimal digits, up to 128")]
    BadBytes {
        /// As given.
        text: String,
    },
    #[error(
        "compression ratio {ratio} is outside {MIN_RATIO} to {MAX_RATIO}; for less use \
         incompressible"
    )]
    BadRatio {
        /// As given.
        ratio: String,
    },
}

/// Compression ratio, original over compressed size, from [`MIN_RATIO`] to [`MAX_RATIO`], in
/// thousandths.
///
/// With zstd at level 3 it is met within 5 % up to R = 6, 7 % up to 10 and 15 % up to 20, by 4 KiB
/// blocks, 64 KiB and 1 MiB streams alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Ratio {
    permille: u32,
}

impl Ratio {
    /// From a number such as 2.5, rounded to thousandths.
    pub fn new(ratio: f64) -> Result<Ratio, DataError> {
        let permille = (ratio * 1000.0).round();
        if !(MIN_RATIO * 1000.0..=MAX_RATIO * 1000.0).contains(&permille) {
            let ratio = ratio.to_string();
            return Err(DataError::BadRatio { ratio });
        }
        let permille = permille as u32;
        Ok(Ratio { permille })
    }

    pub fn as_f64(self) -> f64 {
        f64::from(self.permille) / 1000.0
    }
}

impl TryFrom<u32> for Ratio {
    type Error = DataError;
    fn try_from(permille: u32) -> Result<Ratio, DataError> {
        Ratio::new(f64::from(permille) / 1000.0)
    }
}

impl From<Ratio> for u32 {
    fn from(ratio: Ratio) -> u32 {
        ratio.permille
    }
}

/// Data pattern of a job's writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "one per job; a pattern that is a value keeps jobs comparable"
)]
pub enum DataPattern {
    #[default]
    Incompressible,
    /// All bytes zero.
    Zero,
    /// This compression ratio, in every 4 KiB and as a whole.
    Compressible {
        /// Original size over compressed size.
        ratio: Ratio,
    },
    /// The same bytes over and over, from the begin of each I/O.
    Repeated(RepeatedBytes),
}

/// Most bytes of [`RepeatedBytes`].
pub const MAX_REPEATED_BYTES: usize = 512;

/// From 1 to [`MAX_REPEATED_BYTES`] bytes; as text hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepeatedBytes {
    bytes: [u8; MAX_REPEATED_BYTES],
    count: u16,
}

impl RepeatedBytes {
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.count)]
    }
}

impl TryFrom<String> for RepeatedBytes {
    type Error = DataError;

    fn try_from(text: String) -> Result<RepeatedBytes, DataError> {
        let wrong = || DataError::BadBytes { text: text.clone() };
        let digits: Option<Vec<u8>> =
            text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
        let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or_else(wrong)?;
        let count = digits.len() / 2;
        if !(1..=MAX_REPEATED_BYTES).contains(&count) {
            return Err(wrong());
        }
        let mut bytes = [0; MAX_REPEATED_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(RepeatedBytes { bytes, count: count as u16 })
    }
}

impl From<RepeatedBytes> for String {
    fn from(repeated: RepeatedBytes) -> String {
        let bytes = repeated.as_slice().iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

impl DataPattern {
    pub fn data_class(self) -> DataClass {
        match self {
            DataPattern::Incompressible => DataClass::Incompressible,
            DataPattern::Zero => DataClass::Zero,
            DataPattern::Repeated(bytes) if bytes.as_slice().iter().all(|byte| *byte == 0) => {
                DataClass::Zero
            }
            // As compressible as `compress=R` may say.
            DataPattern::Repeated(_) => {
                DataClass::Compressible { permille: (1000.0 / MAX_RATIO) as u16 }
            }
            DataPattern::Compressible { ratio } => DataClass::Compressible {
                // Between 50 (ratio 20) and 952 (ratio 1.05).
                permille: (1_000_000 / ratio.permille) as u16,
            },
        }
    }
}

impl FromStr for DataPattern {
    type Err = DataError;

    fn from_str(text: &str) -> Result<DataPattern, DataError> {
        if let Some(bytes) = text.trim().strip_prefix("pattern=") {
            return bytes.to_owned().try_into().map(DataPattern::Repeated);
        }
        match (text.trim(), text.trim().strip_prefix("compress=")) {
            ("incompressible", _) => Ok(DataPattern::Incompressible),
            ("zero", _) => Ok(DataPattern::Zero),
            (_, None) => Err(DataError::UnknownPattern { text: text.to_owned() }),
            (_, Some(number)) => {
                let ratio: f64 = number
                    .trim()
                    .parse()
                    .map_err(|_| DataError::BadRatio { ratio: number.to_owned() })?;
                Ratio::new(ratio).map(|ratio| DataPattern::Compressible { ratio })
            }
        }
    }
}

impl fmt::Display for DataPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataPattern::Incompressible => f.write_str("incompressible"),
            DataPattern::Zero => f.write_str("zero"),
            DataPattern::Compressible { ratio } => write!(f, "compress={}", ratio.as_f64()),
            DataPattern::Repeated(bytes) => write!(f, "pattern={}", String::from(*bytes)),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Payload {
    pub(crate) pattern: DataPattern,
    recipe: Option<CompressibleRecipe>,
}

impl Payload {
    pub(crate) fn new(pattern: DataPattern) -> Payload {
        let recipe = match pattern {
            DataPattern::Compressible { ratio } => Some(CompressibleRecipe::new(ratio)),
            _ => None,
        };
        Payload { pattern, recipe }
    }

    #[inline]
    pub(crate) fn fill(&self, noise: &mut NoiseReader, buffer: &mut [u8]) {
        match (&self.recipe, &self.pattern) {
            (Some(recipe), _) => recipe.fill(noise, buffer),
            (None, DataPattern::Zero) => buffer.fill(0),
            (None, DataPattern::Repeated(bytes)) => {
                for part in buffer.chunks_mut(bytes.as_slice().len()) {
                    part.copy_from_slice(&bytes.as_slice()[..part.len()]);
                }
            }
            (None, _) => noise.fill(buffer),
        }
    }
}

/// Data never repeat (except `zero`, `pattern` and where it is asked for); the same pattern, seed
/// and worker give the same data.
#[derive(Clone, Debug)]
pub struct Filler {
    payload: Payload,
    noise: NoiseReader,
    repeats: Option<Repeats>,
}

/// What of the data repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepeatedData {
    /// Of a hundred buffers.
    pub percent: u32,
    /// Those whose data they have; 0: the last that is new.
    pub blocks: u32,
}

/// A share of the buffers has the data of the last one that is new.
#[derive(Clone, Debug)]
struct Repeats {
    percent: u32,
    choice: Rng,
    last: NoiseReader,
    set: Option<WorkingSet>,
}

/// Blocks by number: the first ones are what is repeated.
#[derive(Clone, Copy, Debug)]
struct WorkingSet {
    seed: u64,
    blocks: u32,
    /// New ones so far.
    written: u64,
}

impl WorkingSet {
    fn block(self, number: u64) -> NoiseReader {
        NoiseReader::new(Noise::stream(mix(self.seed, number), "working set"))
    }
}

impl Filler {
    pub fn new(pattern: DataPattern, seed: u64, worker: u32) -> Filler {
        let noise = Noise::stream(mix(seed, u64::from(worker)), "write data");
        Filler { payload: Payload::new(pattern), noise: NoiseReader::new(noise), repeats: None }
    }

    /// So many of a hundred buffers repeat one before (fio's `dedupe_percentage`): the last that is
    /// new, or any of so many blocks (`dedupe_mode=working_set`), where that is above 0.
    #[must_use]
    pub fn with_repeats(
        mut self,
        RepeatedData { percent, blocks }: RepeatedData,
        seed: u64,
        worker: u32,
    ) -> Filler {
        let seed = mix(seed, u64::from(worker));
        let set = WorkingSet { seed, blocks, written: 0 };
        self.repeats = (percent > 0).then(|| Repeats {
            percent,
            choice: Rng::stream(seed, "repeated data"),
            last: self.noise.clone(),
            set: (blocks > 0).then_some(set),
        });
        self
    }

    #[inline]
    pub fn fill(&mut self, buffer: &mut [u8]) {
        if let Some(repeats) = &mut self.repeats {
            let is_repeated = repeats.choice.below(100) < u64::from(repeats.percent);
            if let Some(set) = &mut repeats.set {
                let number = match is_repeated {
                    true => repeats.choice.below(set.blocks.into()),
                    false => {
                        set.written += 1;
                        set.written - 1
                    }
                };
                self.payload.fill(&mut set.block(number), buffer);
                return;
            }
            if is_repeated {
                self.payload.fill(&mut repeats.last.clone(), buffer);
                return;
            }
            repeats.last = self.noise.clone();
        }
        self.payload.fill(&mut self.noise, buffer);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/data.rs"]
mod tests;
