//! Numbers as fio's versions wrote them, and maps in which a key may occur many times.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A number, also as a string; anything else is 0.
struct Lenient(f64, u64);

impl<'de> Deserialize<'de> for Lenient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lenient, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Lenient;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_u64<E>(self, value: u64) -> Result<Lenient, E> {
                Ok(Lenient(value as f64, value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Lenient, E> {
                Ok(Lenient(value as f64, u64::try_from(value).unwrap_or(0)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Lenient, E> {
                Ok(Lenient(value, value.max(0.0) as u64))
            }
            fn visit_str<E>(self, text: &str) -> Result<Lenient, E> {
                let value: f64 = text.trim().parse().unwrap_or(0.0);
                let value = if value.is_finite() { value } else { 0.0 };
                let whole = text.trim().parse().unwrap_or(value.max(0.0) as u64);
                Ok(Lenient(value, whole))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Lenient, E> {
                Ok(Lenient(f64::from(u8::from(value)), value.into()))
            }
            fn visit_unit<E>(self) -> Result<Lenient, E> {
                Ok(Lenient(0.0, 0))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// A number with a fraction.
pub fn real<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Lenient::deserialize(deserializer).map(|value| value.0)
}

/// A number of things.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Lenient::deserialize(deserializer).map(|value| value.1)
}

/// Percentiles: share of 100 and value, as often as the file has them.
#[derive(Default)]
pub struct Percentiles(pub Vec<(f64, f64)>);

impl Percentiles {
    pub fn has_any(&self) -> bool {
        self.0.iter().any(|(_, value)| *value > 0.0)
    }
}

/// The distribution of `json+`: value and number of I/Os, ascending.
#[derive(Default)]
pub struct Bins(pub Vec<(u64, u64)>);

impl<'de> Deserialize<'de> for Percentiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Percentiles, D::Error> {
        let parse = |key: &str| key.trim().parse().ok();
        pairs(deserializer, parse, |value| value.0).map(Percentiles)
    }
}

impl<'de> Deserialize<'de> for Bins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bins, D::Error> {
        let parse = |key: &str| key.trim().parse().ok();
        let mut bins = pairs(deserializer, parse, |value| value.1)?;
        bins.retain(|(_, count)| *count > 0);
        bins.sort_unstable();
        Ok(Bins(bins))
    }
}

/// The pairs of a map whose keys are numbers; others are left out, and so is what is no map.
fn pairs<'de, D: Deserializer<'de>, K, V>(
    deserializer: D,
    key: fn(&str) -> Option<K>,
    value: fn(Lenient) -> V,
) -> Result<Vec<(K, V)>, D::Error> {
    struct Map<K, V>(fn(&str) -> Option<K>, fn(Lenient) -> V);
    impl<'de, K, V> Visitor<'de> for Map<K, V> {
        type Value = Vec<(K, V)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of numbers")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<(K, V)>, A::Error> {
            let mut pairs = Vec::new();
            while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
                let found = (self.1)(map.next_value::<Lenient>()?);
                pairs.extend((self.0)(&name).map(|key| (key, found)));
            }
            Ok(pairs)
        }
        fn visit_unit<E>(self) -> Result<Vec<(K, V)>, E> {
            Ok(Vec::new())
        }
    }
    deserializer.deserialize_any(Map(key, value))
}
