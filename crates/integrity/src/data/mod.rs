//! What the bytes of a write are.
//!
//! # Architecture
//! - [`DataPattern`]: the words of the command line (`incompressible`, `zero`, `compress=R`) and what they mean to a simulated
//!   drive ([`DataPattern::data_class`]).
//! - [`Filler`]: fills write buffers; every call gives new bytes, so that no deduplicating drive can save a write.
//! - `noise`: keyed noise at memory speed; `compressible`: the generator behind `compress=R`.
//!
//! # Non-goals
//! Nothing here estimates how compressible foreign data is, and nothing imitates a particular application's files.
//!
//! # Key constants
//! [`MIN_RATIO`] (1.05), [`MAX_RATIO`] (20), [`UNIT_BYTES`] (4096, the piece in which compressible data is made and inside which it refers to itself).

mod compressible;
mod noise;

use std::fmt;
use std::str::FromStr;

use assay_units::{DataClass, rng::mix};
use serde::{Deserialize, Serialize};

pub(crate) use compressible::CompressibleRecipe;
pub use compressible::UNIT_BYTES;
pub(crate) use noise::{Noise, NoiseReader};

/// The smallest compression ratio that can be asked for: below it, matches are too rare to be worth finding and a compressor
/// sees noise.
pub const MIN_RATIO: f64 = 1.05;
/// The largest compression ratio that can be asked for: beyond it, a compressor's own headers decide.
pub const MAX_RATIO: f64 = 20.0;

/// Why a data pattern could not be understood.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DataError {
    /// No such word.
    #[error(
        "{text:?} is no data pattern; write incompressible, zero or compress=R (for example compress=2)"
    )]
    UnknownPattern {
        /// What was given.
        text: String,
    },
    /// A ratio that cannot be made.
    #[error(
        "compression ratio {ratio} is outside {MIN_RATIO} to {MAX_RATIO}; for less use incompressible"
    )]
    BadRatio {
        /// What was given.
        ratio: String,
    },
}

/// A compression ratio R, original size over compressed size, from [`MIN_RATIO`] to [`MAX_RATIO`], in thousandths.
///
/// Measured with zstd at level 3 it is met within 5 % up to R = 6, 7 % up to 10 and 15 % up to 20, by single 4 KiB blocks, 64 KiB
/// and 1 MiB streams alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Ratio {
    permille: u32,
}

impl Ratio {
    /// From a number such as 2.5, rounded to thousandths.
    ///
    /// # Errors
    /// When it is below [`MIN_RATIO`] or over [`MAX_RATIO`].
    pub fn new(ratio: f64) -> Result<Ratio, DataError> {
        let permille = (ratio * 1000.0).round();
        if (MIN_RATIO * 1000.0..=MAX_RATIO * 1000.0).contains(&permille) {
            Ok(Ratio {
                permille: permille as u32,
            })
        } else {
            Err(DataError::BadRatio {
                ratio: ratio.to_string(),
            })
        }
    }

    /// As a number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.permille) / 1000.0
    }

    /// In thousandths: 2500 for 2.5.
    pub fn permille(self) -> u32 {
        self.permille
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

/// What the bytes of a job's writes are like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataPattern {
    /// Noise: no compressor gets anything out of it.
    #[default]
    Incompressible,
    /// All bytes zero.
    Zero,
    /// Compresses by this ratio, in every 4 KiB and as a whole (see [`Filler`]).
    Compressible {
        /// Original size over compressed size.
        ratio: Ratio,
    },
}

impl DataPattern {
    /// What a simulated drive is told about the data.
    pub fn data_class(self) -> DataClass {
        match self {
            DataPattern::Incompressible => DataClass::Incompressible,
            DataPattern::Zero => DataClass::Zero,
            DataPattern::Compressible { ratio } => DataClass::Compressible {
                // Below 1000 (ratio over 1), at least 50 (ratio 20): fits.
                permille: (1_000_000 / ratio.permille) as u16,
            },
        }
    }
}

impl FromStr for DataPattern {
    type Err = DataError;

    /// `incompressible`, `zero` or `compress=R` with R from [`MIN_RATIO`] to [`MAX_RATIO`].
    fn from_str(text: &str) -> Result<DataPattern, DataError> {
        match text.trim() {
            "incompressible" => Ok(DataPattern::Incompressible),
            "zero" => Ok(DataPattern::Zero),
            other => {
                let Some(number) = other.strip_prefix("compress=") else {
                    return Err(DataError::UnknownPattern {
                        text: text.to_owned(),
                    });
                };
                let ratio: f64 = number.trim().parse().map_err(|_| DataError::BadRatio {
                    ratio: number.to_owned(),
                })?;
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
        }
    }
}

/// Fills write buffers of one worker. Every call gives bytes that no call before gave (but for `zero`); same pattern, seed
/// and worker: same bytes.
#[derive(Clone, Debug)]
pub struct Filler {
    pattern: DataPattern,
    source: Source,
    reader: NoiseReader,
}

#[derive(Clone, Debug)]
enum Source {
    Noise,
    Zero,
    CompressibleRecipe(CompressibleRecipe),
}

impl Filler {
    /// A filler for worker number `worker` of the job with this seed.
    pub fn new(pattern: DataPattern, seed: u64, worker: u32) -> Filler {
        let source = match pattern {
            DataPattern::Incompressible => Source::Noise,
            DataPattern::Zero => Source::Zero,
            DataPattern::Compressible { ratio } => {
                Source::CompressibleRecipe(CompressibleRecipe::new(ratio))
            }
        };
        let noise = Noise::stream(mix(seed, u64::from(worker)), "write data");
        Filler {
            pattern,
            source,
            reader: NoiseReader::new(noise),
        }
    }

    /// The pattern given at the start.
    pub fn pattern(&self) -> DataPattern {
        self.pattern
    }

    /// Do buffers that were filled once stay right for every later write? True for `zero` only: the caller may then skip
    /// [`Filler::fill`] for a buffer that nothing else wrote to.
    pub fn is_constant(&self) -> bool {
        matches!(self.source, Source::Zero)
    }

    /// Fill the whole buffer.
    #[inline]
    pub fn fill(&mut self, buffer: &mut [u8]) {
        match &self.source {
            Source::Noise => self.reader.fill(buffer),
            Source::Zero => buffer.fill(0),
            Source::CompressibleRecipe(recipe) => recipe.fill(&mut self.reader, buffer),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/data.rs"]
mod tests;
