//! Changes to the text of a profile that keep its comments and order.

use std::collections::BTreeMap;

use assay_ssd::ProfileError;
use toml_edit::{DocumentMut, Item, TableLike, TomlError, Value};

use crate::CalibrateError;

const DIGITS: i32 = 4;

pub(crate) fn parse(text: &str) -> Result<DocumentMut, ProfileError> {
    text.parse().map_err(|error: TomlError| ProfileError::Syntax(error.to_string()))
}

pub(crate) fn entry<'d>(
    document: &'d mut DocumentMut,
    path: &str,
) -> Option<&'d mut dyn TableLike> {
    let mut keys = path.split('.');
    let item = keys.try_fold(document.as_item_mut(), |at, key| at.get_mut(key))?;
    let entry = item.as_table_like_mut()?;
    entry.contains_key("value").then_some(entry)
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) values: Vec<f64>,
    pub(crate) whole: bool,
    pub(crate) list: bool,
}

pub(crate) fn numbers_of(entry: &dyn TableLike, key: &str) -> Option<Numbers> {
    Numbers::from_value(entry.get(key)?.as_value()?)
}

impl Numbers {
    /// `None` for an empty list or anything other than numbers; nested lists are flattened.
    pub(crate) fn from_value(value: &Value) -> Option<Numbers> {
        let one = |value, whole| Numbers { values: vec![value], whole, list: false };
        match value {
            Value::Integer(n) => Some(one(*n.value() as f64, true)),
            Value::Float(n) => Some(one(*n.value(), false)),
            Value::Array(list) => {
                let all: Vec<Numbers> =
                    list.iter().map(Numbers::from_value).collect::<Option<_>>()?;
                (!all.is_empty()).then(|| Numbers {
                    whole: all.iter().all(|n| n.whole),
                    values: all.into_iter().flat_map(|n| n.values).collect(),
                    list: true,
                })
            }
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> String {
        let numbers: Vec<String> = self.values.iter().map(|&v| notation(v, self.whole)).collect();
        match self.list {
            true => format!("[{}]", numbers.join(", ")),
            false => numbers.concat(),
        }
    }
}

/// The profiles' notation: integers with an underscore per thousand, others with a point.
pub(crate) fn notation(value: f64, whole: bool) -> String {
    if !whole {
        let point = if value.fract() == 0.0 { ".0" } else { "" };
        return format!("{value}{point}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits.abs());
    if digits >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}

/// Replace a value and keep the space around it, or insert it.
pub(crate) fn replace(entry: &mut dyn TableLike, key: &str, mut value: Value) {
    match entry.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            entry.insert(key, Item::Value(value));
        }
    }
}

pub(crate) fn section<'d, 'p>(
    document: &'d mut DocumentMut,
    path: &'p str,
) -> Option<(&'d mut dyn TableLike, &'p str)> {
    let (section, key) = path.rsplit_once('.')?;
    let mut keys = section.split('.');
    let item = keys.try_fold(document.as_item_mut(), |at, key| at.get_mut(key))?;
    Some((item.as_table_like_mut()?, key))
}

pub(crate) fn in_notation(path: &str, value: &toml::Value) -> Result<Value, CalibrateError> {
    let parsed = |text: &str| {
        let bad = |_| CalibrateError::parameter(path, "the value is not valid in a profile");
        text.parse::<Value>().map_err(bad)
    };
    let value = parsed(&value.to_string())?;
    match Numbers::from_value(&value) {
        Some(numbers) => parsed(&numbers.text()),
        None => Ok(value),
    }
}

/// The removed numbers then have their defaults.
pub fn without(text: &str, paths: &[&str]) -> Result<String, CalibrateError> {
    let mut document = parse(text)?;
    for path in paths {
        if let Some((section, key)) = section(&mut document, path) {
            section.remove(key);
        }
    }
    Ok(document.to_string())
}

/// Set numbers, by path, and mark them `fitted` to `to`; missing ones are added to their section.
/// [`CalibrateError::Parameter`] without such a section, or for an invalid value.
pub fn with_fitted(
    text: &str,
    values: &BTreeMap<String, toml::Value>,
    to: &str,
) -> Result<String, CalibrateError> {
    let mut document = parse(text)?;
    for (path, value) in values {
        let bad = |what: &str| CalibrateError::parameter(path, what);
        let parsed = in_notation(path, value)?;
        if entry(&mut document, path).is_none() {
            let (section, key) = section(&mut document, path)
                .ok_or_else(|| bad("the profile has no such section"))?;
            let mut number = toml_edit::InlineTable::new();
            number.insert("value", parsed.clone());
            section.insert(key, Item::Value(number.into()));
        }
        let entry = entry(&mut document, path).ok_or_else(|| bad("is no number"))?;
        replace(entry, "value", parsed);
        entry.remove("published");
        entry.remove("assumed");
        replace(entry, "fitted", to.into());
        entry.fmt();
    }
    Ok(document.to_string())
}

/// Add remarks behind the sources of fitted numbers, by path.
pub fn remarked(text: &str, remarks: &BTreeMap<String, String>) -> Result<String, CalibrateError> {
    let mut document = parse(text)?;
    for (path, remark) in remarks {
        if let Some(entry) = entry(&mut document, path)
            && let Some(source) = entry.get("fitted").and_then(Item::as_str)
        {
            let source = format!("{source}; {remark}");
            replace(entry, "fitted", source.into());
        }
    }
    Ok(document.to_string())
}

pub fn renamed(text: &str, name: &str, title: &str) -> Result<String, CalibrateError> {
    let mut document = parse(text)?;
    document["name"] = toml_edit::value(name);
    document["title"] = toml_edit::value(title);
    Ok(document.to_string())
}

/// Set numbers, by path, without changing their sources. [`CalibrateError::Parameter`] when the
/// profile has no such number, or the value has another type.
pub fn with_values(
    text: &str,
    values: &BTreeMap<String, toml::Value>,
) -> Result<String, CalibrateError> {
    let mut document = parse(text)?;
    for (path, value) in values {
        let bad = |what: &str| CalibrateError::parameter(path, what);
        let entry =
            entry(&mut document, path).ok_or_else(|| bad("the profile has no such number"))?;
        replace(entry, "value", in_notation(path, value)?);
    }
    Ok(document.to_string())
}
