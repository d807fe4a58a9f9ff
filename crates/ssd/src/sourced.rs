//! Profile numbers with provenance.
//!
//! The second key of a number's inline table is its provenance and names the source:
//! ```toml
//! max_transfer_bytes = { value = 131072, published = "GISTSM951: MDTS 32 pages" }
//! ```
//! The optional key `range = [low, high]` bounds fits; the model ignores it.

use serde::de::{Deserialize, Deserializer, Error};

/// Origin of a profile number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Stated by the manufacturer or measured by others on this drive.
    Published,
    /// Fitted to the measurements named as source.
    Fitted,
    /// Assumed; the source states the basis.
    Assumed,
}

impl Provenance {
    /// All of them.
    pub const ALL: [Provenance; 3] =
        [Provenance::Published, Provenance::Fitted, Provenance::Assumed];

    /// The key used in profiles: `published`, `fitted` or `assumed`.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::Published => "published",
            Provenance::Fitted => "fitted",
            Provenance::Assumed => "assumed",
        }
    }
}

/// A value with its provenance and source.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The value; its unit is the last word of the field's name.
    pub value: T,
    /// Published, fitted or assumed.
    pub provenance: Provenance,
    /// Publication, fitted measurements, or basis of the assumption.
    pub source: String,
}

/// Placeholder in a section that the drive does not have.
impl<T: Default> Default for Sourced<T> {
    fn default() -> Sourced<T> {
        Sourced {
            value: T::default(),
            provenance: Provenance::Assumed,
            source: "the drive has no such part".to_owned(),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw<T> {
    value: T,
    published: Option<String>,
    fitted: Option<String>,
    assumed: Option<String>,
    range: Option<[f64; 2]>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sourced<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::<T>::deserialize(deserializer)?;
        let (provenance, source) = match (raw.published, raw.fitted, raw.assumed) {
            (Some(s), None, None) => (Provenance::Published, s),
            (None, Some(s), None) => (Provenance::Fitted, s),
            (None, None, Some(s)) => (Provenance::Assumed, s),
            _ => {
                return Err(D::Error::custom(
                    "a number needs exactly one of `published`, `fitted` or `assumed`, naming its \
                     source",
                ));
            }
        };
        if source.trim().is_empty() {
            return Err(D::Error::custom(format!(
                "`{}` must name a source, not be empty",
                provenance.name()
            )));
        }
        let is_invalid = |[low, high]: [f64; 2]| low >= high || !(high - low).is_finite();
        if raw.range.is_some_and(is_invalid) {
            return Err(D::Error::custom("`range` is [low, high], low below high"));
        }
        Ok(Sourced { value: raw.value, provenance, source })
    }
}

pub(crate) fn value_or<T: Copy>(number: &Option<Sourced<T>>, default: T) -> T {
    number.as_ref().map_or(default, |number| number.value)
}

#[cfg(test)]
#[path = "../tests/unit/sourced.rs"]
pub(crate) mod tests;
