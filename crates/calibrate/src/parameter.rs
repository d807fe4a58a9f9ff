//! Free parameters of a profile: bounds, scales, and writing fitted values into its text.
//!
//! A parameter varies on a logarithmic scale (linear where the low bound is not above 0) between its bounds: those given with it, else
//! its `range = [low, high]` in the profile, else its value divided and multiplied by [`DEFAULT_SPAN`]. Numbers of a
//! list vary together,
//! by one factor, unless one is named: `nand.read_ns[1]`. Values are rounded to four significant digits, and to integers where the
//! profile has integers: no measurement is more precise.

use std::collections::BTreeMap;

use assay_ssd::{Profile, ProfileError, Provenance};
use toml_edit::{DocumentMut, InlineTable, Item};

use crate::CalibrateError;

/// A parameter without bounds varies between its value divided and multiplied by this.
pub const DEFAULT_SPAN: f64 = 4.0;
/// Significant digits of a fitted value.
const DIGITS: i32 = 4;
/// Suffixes of quantities, which are free by default when the profile marks them as fitted. Counts, sizes in bytes and switches are
/// structure, which a search by small steps cannot vary: they are free only when named.
const QUANTITIES: [&str; 10] = [
    "_ns",
    "_per_second",
    "_nj",
    "_mw",
    "_k",
    "_per_w",
    "_s",
    "_celsius",
    "_percent",
    "_ppm",
];

/// A free parameter, as requested.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeParameter {
    /// Dotted path, such as `nand.read_ns`.
    pub path: String,
    /// Its place in a list.
    pub index: Option<usize>,
    /// Bounds.
    pub range: Option<(f64, f64)>,
}

impl FreeParameter {
    /// `path`, `path[index]`, each with `=low..high` or without.
    ///
    /// # Errors
    /// [`CalibrateError::Parameter`] with the expected form.
    pub fn parse(text: &str) -> Result<FreeParameter, CalibrateError> {
        let bad = |what: &str| CalibrateError::Parameter {
            path: text.to_owned(),
            what: what.to_owned(),
        };
        let (path, range) = match text.split_once('=') {
            None => (text, None),
            Some((path, range)) => {
                let (low, high) = range
                    .split_once("..")
                    .ok_or_else(|| bad("a range looks like nand.read_ns=20000..90000"))?;
                let number = |text: &str| {
                    text.trim()
                        .replace('_', "")
                        .parse::<f64>()
                        .ok()
                        .filter(|n| n.is_finite())
                        .ok_or_else(|| bad("a range's ends are numbers, as in 20000..90000"))
                };
                (path, Some((number(low)?, number(high)?)))
            }
        };
        let (path, index) = match path
            .trim()
            .strip_suffix(']')
            .and_then(|p| p.split_once('['))
        {
            None => (path.trim(), None),
            Some((path, index)) => {
                let index = index
                    .parse()
                    .map_err(|_| bad("an index looks like nand.read_ns[1]"))?;
                (path, Some(index))
            }
        };
        if !path.contains('.') || path.contains(['[', ']', ' ']) {
            return Err(bad("a path looks like nand.read_ns"));
        }
        Ok(FreeParameter {
            path: path.to_owned(),
            index,
            range,
        })
    }

    /// Whether it is one of heat and energy, to which short runs of bandwidths and latencies are not sensitive.
    pub fn is_heat(&self) -> bool {
        self.path.starts_with("thermal.")
            || self.path == "power.idle_mw"
            || (self.path.starts_with("power.") && self.path.ends_with("_nj"))
    }

    /// The path with its index.
    pub fn name(&self) -> String {
        match self.index {
            None => self.path.clone(),
            Some(index) => format!("{}[{index}]", self.path),
        }
    }
}

/// The parameters that are free by default: quantities marked `fitted` that are not 0, and any number with a `range`.
///
/// # Errors
/// [`ProfileError::Syntax`] when the text is not TOML.
pub fn free_by_default(text: &str) -> Result<Vec<FreeParameter>, ProfileError> {
    let table: toml::Table =
        toml::from_str(text).map_err(|error| ProfileError::Syntax(error.to_string()))?;
    let numbers = Profile::numbers(text)?;
    Ok(numbers
        .into_iter()
        .filter(|number| {
            let Some(entry) = entry(&table, &number.path) else {
                return false;
            };
            let quantity = number.provenance == Provenance::Fitted
                && QUANTITIES.iter().any(|unit| number.path.ends_with(unit))
                && values_of(&entry["value"]).is_some_and(|(values, _)| {
                    !values.is_empty() && values.iter().all(|&v| v > 0.0)
                });
            quantity || entry.contains_key("range")
        })
        .map(|number| FreeParameter {
            path: number.path,
            index: None,
            range: None,
        })
        .collect())
}

/// The inline table of a number.
fn entry<'a>(table: &'a toml::Table, path: &str) -> Option<&'a toml::Table> {
    let mut at = table;
    for key in path.split('.') {
        at = at.get(key)?.as_table()?;
    }
    at.contains_key("value").then_some(at)
}

/// A number or list of numbers, and whether they are integers.
fn values_of(value: &toml::Value) -> Option<(Vec<f64>, bool)> {
    match value {
        toml::Value::Integer(n) => Some((vec![*n as f64], true)),
        toml::Value::Float(n) => Some((vec![*n], false)),
        toml::Value::Array(list) => {
            let all: Option<Vec<(Vec<f64>, bool)>> = list.iter().map(values_of).collect();
            let all = all?;
            let whole = all.iter().all(|(_, whole)| *whole);
            Some((all.into_iter().flat_map(|(v, _)| v).collect(), whole))
        }
        _ => None,
    }
}

/// A free parameter of a profile.
#[derive(Clone, Debug, PartialEq)]
struct Parameter {
    free: FreeParameter,
    low: f64,
    high: f64,
    /// The profile's value, or the list that it is part of.
    start: Vec<f64>,
    whole: bool,
    list: bool,
}

impl Parameter {
    /// The value of the coordinate: of a list, the first (or the named one).
    fn leader(&self) -> f64 {
        self.start[self.free.index.unwrap_or(0)]
    }

    fn value(&self, coordinate: f64) -> f64 {
        let u = coordinate.clamp(0.0, 1.0);
        if self.low > 0.0 {
            (self.low.ln() + u * (self.high / self.low).ln()).exp()
        } else {
            self.low + u * (self.high - self.low)
        }
    }

    fn coordinate(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        if self.low > 0.0 {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    fn rounded(&self, value: f64) -> f64 {
        let exact = significant(value);
        if self.whole { exact.round() } else { exact }
    }

    /// The list (or single number) at a coordinate.
    fn values(&self, coordinate: f64) -> Vec<f64> {
        let value = self.value(coordinate);
        match self.free.index {
            Some(index) => {
                let mut out = self.start.clone();
                out[index] = self.rounded(value);
                out
            }
            None => {
                let leader = self.leader();
                if self.start.len() == 1 || leader == 0.0 {
                    return vec![self.rounded(value); self.start.len()];
                }
                self.start
                    .iter()
                    .map(|start| self.rounded(start * (value / leader)))
                    .collect()
            }
        }
    }
}

/// A number rounded to [`DIGITS`] significant digits.
fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits.abs());
    if digits >= 0 {
        (value * scale).round() / scale
    } else {
        (value / scale).round() * scale
    }
}

/// The search space: one coordinate from 0 to 1 per free parameter.
#[derive(Clone, Debug)]
pub struct ParameterSpace {
    table: toml::Table,
    parameters: Vec<Parameter>,
}

impl ParameterSpace {
    /// The space of a profile's text and its free parameters.
    ///
    /// # Errors
    /// [`CalibrateError::Parameter`] when the profile has no such number or it cannot vary;
    /// [`CalibrateError::Profile`] when the text is
    /// not a profile.
    pub fn new(text: &str, free: &[FreeParameter]) -> Result<ParameterSpace, CalibrateError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|error| ProfileError::Syntax(error.to_string()))?;
        let mut parameters: Vec<Parameter> = Vec::new();
        for one in free {
            let clash = parameters.iter().any(|p| {
                p.free.path == one.path
                    && (p.free.index == one.index || p.free.index.is_none() || one.index.is_none())
            });
            if clash {
                return Err(CalibrateError::Parameter {
                    path: one.name(),
                    what: "given twice; keep one".to_owned(),
                });
            }
            parameters.push(parameter(&table, one)?);
        }
        Ok(ParameterSpace { table, parameters })
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.parameters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The point of the profile's own values.
    pub fn start(&self) -> Vec<f64> {
        self.parameters
            .iter()
            .map(|p| p.coordinate(p.leader()))
            .collect()
    }

    /// Names of the parameters with their bounds.
    pub fn bounds(&self) -> Vec<(String, f64, f64)> {
        self.parameters
            .iter()
            .map(|p| (p.free.name(), p.low, p.high))
            .collect()
    }

    /// Parameters that a point has at or next to a bound: the true value may lie beyond.
    pub fn at_bounds(&self, point: &[f64]) -> Vec<String> {
        self.parameters
            .iter()
            .zip(point)
            .filter(|(_, u)| !(0.01..=0.99).contains(*u))
            .map(|(p, _)| p.free.name())
            .collect()
    }

    /// The profile at a point.
    ///
    /// # Errors
    /// When the values there contradict each other.
    pub fn profile_at(&self, point: &[f64]) -> Result<Profile, ProfileError> {
        let mut table = self.table.clone();
        for (parameter, values) in self.merged(point) {
            let Some(slot) = slot(&mut table, &parameter.free.path) else {
                continue;
            };
            let value = |v: f64| {
                if parameter.whole {
                    toml::Value::Integer(v as i64)
                } else {
                    toml::Value::Float(v)
                }
            };
            *slot = if parameter.list {
                toml::Value::Array(values.into_iter().map(value).collect())
            } else {
                value(values[0])
            };
        }
        Profile::from_table(table)
    }

    /// The values of each path once: several parameters of one list give one list.
    fn merged(&self, point: &[f64]) -> Vec<(&Parameter, Vec<f64>)> {
        let mut out: Vec<(&Parameter, Vec<f64>)> = Vec::new();
        for (parameter, &u) in self.parameters.iter().zip(point) {
            let values = parameter.values(u);
            let same = out
                .iter_mut()
                .find(|(other, _)| other.free.path == parameter.free.path);
            match (same, parameter.free.index) {
                (Some((_, list)), Some(index)) => list[index] = values[index],
                _ => out.push((parameter, values)),
            }
        }
        out
    }

    /// The text with the values of a point; comments, order and spacing stay. Each number is marked `fitted` to `to`;
    /// one that was fitted
    /// before keeps its text when `keep_sources`.
    ///
    /// # Errors
    /// [`CalibrateError::Profile`] when the text is not TOML or not that of the space.
    pub fn write(
        &self,
        text: &str,
        point: &[f64],
        to: &str,
        keep_sources: bool,
    ) -> Result<String, CalibrateError> {
        let mut document: DocumentMut = text
            .parse()
            .map_err(|error: toml_edit::TomlError| ProfileError::Syntax(error.to_string()))?;
        for (parameter, values) in self.merged(point) {
            let path = &parameter.free.path;
            let entry = inline(&mut document, path).ok_or_else(|| {
                ProfileError::Syntax(format!("{path} is not an inline table in the text"))
            })?;
            let text = list_notation(&values, parameter.whole, parameter.list);
            let value: toml_edit::Value = text
                .parse()
                .map_err(|error: toml_edit::TomlError| ProfileError::Syntax(error.to_string()))?;
            replace(entry, "value", value);
            if entry.contains_key("fitted") {
                if !keep_sources {
                    replace(entry, "fitted", to.into());
                }
            } else {
                entry.remove("published");
                entry.remove("assumed");
                entry.insert("fitted", to.into());
            }
            entry.fmt();
        }
        Ok(document.to_string())
    }
}

fn parameter(table: &toml::Table, free: &FreeParameter) -> Result<Parameter, CalibrateError> {
    let bad = |what: String| CalibrateError::Parameter {
        path: free.name(),
        what,
    };
    let entry =
        entry(table, &free.path).ok_or_else(|| bad("the profile has no such number".to_owned()))?;
    let (start, whole) = values_of(&entry["value"])
        .filter(|(values, _)| !values.is_empty())
        .ok_or_else(|| bad("is not a number, so it cannot be fitted".to_owned()))?;
    let list = entry["value"].is_array();
    if let Some(index) = free.index
        && (!list || index >= start.len())
    {
        return Err(bad(format!(
            "the profile's list has {} numbers",
            start.len()
        )));
    }
    let leader = start[free.index.unwrap_or(0)];
    let written = entry.get("range").and_then(values_of).and_then(|(r, _)| {
        let [low, high] = r[..] else { return None };
        Some((low, high))
    });
    let (low, high) = match free.range.or(written) {
        Some(range) => range,
        None if leader > 0.0 => (leader / DEFAULT_SPAN, leader * DEFAULT_SPAN),
        None => {
            return Err(bad(
                "is not above 0 and needs a range, as in path=0..1000".to_owned()
            ));
        }
    };
    if low >= high {
        return Err(bad(format!("the range {low}..{high} is empty")));
    }
    Ok(Parameter {
        free: free.clone(),
        low,
        high,
        start,
        whole,
        list,
    })
}

fn slot<'a>(table: &'a mut toml::Table, path: &str) -> Option<&'a mut toml::Value> {
    let mut at = table;
    for key in path.split('.') {
        at = at.get_mut(key)?.as_table_mut()?;
    }
    at.get_mut("value")
}

fn inline<'a>(document: &'a mut DocumentMut, path: &str) -> Option<&'a mut InlineTable> {
    let mut at: &mut Item = document.as_item_mut();
    for key in path.split('.') {
        at = at.get_mut(key)?;
    }
    at.as_inline_table_mut()
}

/// Replace a value and keep the space around it.
fn replace(entry: &mut InlineTable, key: &str, value: toml_edit::Value) {
    match entry.get_mut(key) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            entry.insert(key, value);
        }
    }
}

/// A number in the profiles' notation: integers with an underscore per thousand, others with a point.
fn notation(value: f64, whole: bool) -> String {
    if !whole {
        let text = format!("{value}");
        return if text.contains('.') {
            text
        } else {
            format!("{text}.0")
        };
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("-{out}") } else { out }
}

/// A profile's text with another name and title.
///
/// # Errors
/// [`CalibrateError::Profile`] when the text is not TOML.
pub fn renamed(text: &str, name: &str, title: &str) -> Result<String, CalibrateError> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| ProfileError::Syntax(error.to_string()))?;
    document["name"] = toml_edit::value(name);
    document["title"] = toml_edit::value(title);
    Ok(document.to_string())
}

/// A profile's text with other values for some numbers, by path; nothing else changes, their sources neither.
///
/// # Errors
/// [`CalibrateError::Parameter`] when the profile has no such number, or the value has another type.
pub fn with_values(
    text: &str,
    values: &BTreeMap<String, toml::Value>,
) -> Result<String, CalibrateError> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| ProfileError::Syntax(error.to_string()))?;
    for (path, value) in values {
        let bad = |what: &str| CalibrateError::Parameter {
            path: path.clone(),
            what: what.to_owned(),
        };
        let entry = inline(&mut document, path)
            .filter(|entry| entry.contains_key("value"))
            .ok_or_else(|| bad("the profile has no such number"))?;
        let text = match values_of(value) {
            Some((numbers, whole)) => list_notation(&numbers, whole, value.is_array()),
            None => value.to_string(),
        };
        let value: toml_edit::Value = text
            .parse()
            .map_err(|_| bad("the value is not valid in a profile"))?;
        replace(entry, "value", value);
    }
    Ok(document.to_string())
}

/// One number or a list, in the profiles' notation.
fn list_notation(values: &[f64], whole: bool, list: bool) -> String {
    let numbers: Vec<String> = values.iter().map(|&v| notation(v, whole)).collect();
    if list {
        format!("[{}]", numbers.join(", "))
    } else {
        numbers.concat()
    }
}

#[cfg(test)]
#[path = "../tests/unit/parameter.rs"]
mod tests;
