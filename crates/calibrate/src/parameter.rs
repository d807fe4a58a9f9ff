//! Free parameters of a profile: bounds, scales, and writing fitted values into its text.
//!
//! A parameter varies on a logarithmic scale (linear where the low bound is not above 0) between
//! its bounds: given ones, else its `range` in the profile, else its value divided and multiplied
//! by [`DEFAULT_SPAN`]. Numbers of a list vary together, by one factor, unless one is named:
//! `nand.read_ns[1]`. Values are rounded to four significant digits and the profile's type.

use assay_ssd::{Profile, ProfileError, Provenance};
use toml_edit::{DocumentMut, TomlError};

use crate::CalibrateError;
use crate::profile_text::{Numbers, entry, numbers_of, parse, replace, significant};

/// A parameter without bounds varies between its value divided and multiplied by this factor.
pub const DEFAULT_SPAN: f64 = 4.0;
/// Suffixes of quantities, free by default when marked as fitted. Counts, sizes and switches are
/// structure, which small steps cannot vary: they are free only when named.
const QUANTITIES: [&str; 10] =
    ["_ns", "_per_second", "_nj", "_mw", "_k", "_per_w", "_s", "_celsius", "_percent", "_ppm"];

/// Of the host that measured a drive: the number, and whether it is of threads with several I/Os in
/// flight.
pub const HOST_COSTS: [(&str, bool); 2] =
    [("bench.sync_io_ns", false), ("bench.async_io_ns", true)];

/// Whether a number is a time, rate, energy, temperature or share, by the suffix of its name.
pub fn is_quantity(path: &str) -> bool {
    QUANTITIES.iter().any(|unit| path.ends_with(unit))
}

#[derive(Clone, Debug, PartialEq)]
pub struct FreeParameter {
    /// Dotted path, such as `nand.read_ns`.
    pub path: String,
    pub index: Option<usize>,
    pub range: Option<(f64, f64)>,
}

impl FreeParameter {
    /// `path` or `path[index]`, optionally with `=low..high`.
    pub fn parse(text: &str) -> Result<FreeParameter, CalibrateError> {
        let bad = |what: &str| CalibrateError::parameter(text, what);
        let number = |text: &str| {
            let number = text.trim().replace('_', "").parse::<f64>();
            let finite = number.ok().filter(|n| n.is_finite());
            finite.ok_or_else(|| bad("a range's ends are numbers, as in 20000..90000"))
        };
        let (path, range) = match text.split_once('=') {
            None => (text.trim(), None),
            Some((path, range)) => {
                let (low, high) = range
                    .split_once("..")
                    .ok_or_else(|| bad("a range looks like nand.read_ns=20000..90000"))?;
                (path.trim(), Some((number(low)?, number(high)?)))
            }
        };
        let (path, index) = match path.strip_suffix(']').and_then(|p| p.split_once('[')) {
            None => (path, None),
            Some((path, index)) => {
                let index = index.parse();
                (path, Some(index.map_err(|_| bad("an index looks like nand.read_ns[1]"))?))
            }
        };
        if !path.contains('.') || path.contains(['[', ']', ' ']) {
            return Err(bad("a path looks like nand.read_ns"));
        }
        Ok(FreeParameter { index, range, ..FreeParameter::whole(path) })
    }

    pub fn whole(path: impl Into<String>) -> FreeParameter {
        FreeParameter { path: path.into(), index: None, range: None }
    }

    /// Parameters of heat and energy, to which short runs of rates and latencies are not sensitive.
    pub fn is_heat(&self) -> bool {
        self.path.starts_with("thermal.")
            || ["power.idle_mw", "power.core_mw"].contains(&self.path.as_str())
            || (self.path.starts_with("power.") && self.path.ends_with("_nj"))
    }

    pub fn name(&self) -> String {
        match self.index {
            None => self.path.clone(),
            Some(index) => format!("{}[{index}]", self.path),
        }
    }
}

/// Quantities marked `fitted` that are not 0, and any number with a `range`.
pub fn free_by_default(text: &str) -> Result<Vec<FreeParameter>, ProfileError> {
    let mut document = parse(text)?;
    let mut numbers = Profile::numbers(text)?;
    numbers.retain(|number| {
        let Some(entry) = entry(&mut document, &number.path) else {
            return false;
        };
        let is_quantity = is_quantity(&number.path);
        let above_0 = |n: Numbers| n.values.iter().all(|&v| v > 0.0);
        let fitted = number.provenance == Provenance::Fitted;
        (fitted && is_quantity && numbers_of(entry, "value").is_some_and(above_0))
            || entry.contains_key("range")
    });
    let paths = numbers.into_iter().map(|number| number.path);
    Ok(paths.map(FreeParameter::whole).collect())
}

#[derive(Clone, Debug, PartialEq)]
struct Parameter {
    free: FreeParameter,
    low: f64,
    high: f64,
    /// The profile's value, or the list that it is part of.
    start: Numbers,
}

impl Parameter {
    fn new(document: &mut DocumentMut, free: &FreeParameter) -> Result<Parameter, CalibrateError> {
        let bad = |what: &str| CalibrateError::parameter(free.name(), what);
        let entry =
            entry(document, &free.path).ok_or_else(|| bad("the profile has no such number"))?;
        let start = numbers_of(entry, "value")
            .ok_or_else(|| bad("is not a number, so it cannot be fitted"))?;
        let count = start.values.len();
        if free.index.is_some_and(|index| !start.list || index >= count) {
            return Err(bad(&format!("the profile's list has {count} numbers")));
        }
        let leader = start.values[free.index.unwrap_or(0)];
        let written = numbers_of(entry, "range").and_then(|range| match range.values[..] {
            [low, high] => Some((low, high)),
            _ => None,
        });
        let (low, high) = match free.range.or(written) {
            Some(range) => range,
            None if leader > 0.0 => (leader / DEFAULT_SPAN, leader * DEFAULT_SPAN),
            None => return Err(bad("is not above 0 and needs a range, as in path=0..1000")),
        };
        if low >= high {
            return Err(bad(&format!("the range {low}..{high} is empty")));
        }
        Ok(Parameter { free: free.clone(), low, high, start })
    }

    fn leader(&self) -> f64 {
        self.start.values[self.free.index.unwrap_or(0)]
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

    fn values(&self, coordinate: f64) -> Vec<f64> {
        let rounded = |value: f64| {
            let value = significant(value);
            if self.start.whole { value.round() } else { value }
        };
        let (value, leader) = (self.value(coordinate), self.leader());
        let mut out = self.start.values.clone();
        match self.free.index {
            Some(index) => out[index] = rounded(value),
            None if out.len() == 1 || leader == 0.0 => out.fill(rounded(value)),
            None => out.iter_mut().for_each(|v| *v = rounded(*v * (value / leader))),
        }
        out
    }
}

/// One coordinate from 0 to 1 per free parameter.
#[derive(Clone, Debug)]
pub struct ParameterSpace {
    document: DocumentMut,
    parameters: Vec<Parameter>,
}

impl ParameterSpace {
    /// [`CalibrateError::Parameter`] when the profile has no such number or it cannot vary.
    pub fn new(text: &str, free: &[FreeParameter]) -> Result<ParameterSpace, CalibrateError> {
        let mut document = parse(text)?;
        let mut parameters: Vec<Parameter> = Vec::new();
        for one in free {
            let clash = parameters.iter().any(|Parameter { free, .. }| {
                let both = free.index.is_some() && one.index.is_some();
                free.path == one.path && (free.index == one.index || !both)
            });
            if clash {
                return Err(CalibrateError::parameter(one.name(), "given twice; keep one"));
            }
            parameters.push(Parameter::new(&mut document, one)?);
        }
        Ok(ParameterSpace { document, parameters })
    }

    pub fn start(&self) -> Vec<f64> {
        let coordinates = self.parameters.iter().map(|p| p.coordinate(p.leader()));
        coordinates.collect()
    }

    /// Per coordinate, the logarithm of the ratio of its bounds, of 10 if it is linear.
    pub fn log_spans(&self) -> Vec<f64> {
        let span = |p: &Parameter| match p.low > 0.0 {
            true => (p.high / p.low).ln(),
            false => 10.0_f64.ln(),
        };
        self.parameters.iter().map(span).collect()
    }

    /// Parameters at or next to a bound: the true value may lie beyond.
    pub fn at_bounds(&self, point: &[f64]) -> Vec<String> {
        let coordinates = self.parameters.iter().zip(point);
        coordinates
            .filter(|(_, u)| !(0.01..=0.99).contains(*u))
            .map(|(p, _)| p.free.name())
            .collect()
    }

    /// An error when the values at the point contradict each other.
    pub fn profile_at(&self, point: &[f64]) -> Result<Profile, ProfileError> {
        Profile::from_toml(&self.write(point, "a candidate", true)?)
    }

    /// The values of each path once: several parameters of one list give one list.
    fn merged(&self, point: &[f64]) -> Vec<(&Parameter, Vec<f64>)> {
        let mut out: Vec<(&Parameter, Vec<f64>)> = Vec::new();
        for (parameter, &u) in self.parameters.iter().zip(point) {
            let values = parameter.values(u);
            let same = out.iter_mut().find(|(other, _)| other.free.path == parameter.free.path);
            match (same, parameter.free.index) {
                (Some((_, list)), Some(index)) => list[index] = values[index],
                _ => out.push((parameter, values)),
            }
        }
        out
    }

    /// The profile's text with the values of a point; comments, order and spacing stay. Numbers are
    /// marked `fitted` to `to`; previously fitted ones keep their text with `keep_sources`.
    pub fn write(
        &self,
        point: &[f64],
        to: &str,
        keep_sources: bool,
    ) -> Result<String, ProfileError> {
        let mut document = self.document.clone();
        for (Parameter { free, start, .. }, values) in self.merged(point) {
            let entry = entry(&mut document, &free.path).expect("a parameter is in its document");
            let numbers = Numbers { values, ..start.clone() };
            let value = numbers.text().parse();
            let value = value.map_err(|e: TomlError| ProfileError::Syntax(e.to_string()))?;
            replace(entry, "value", value);
            if !entry.contains_key("fitted") {
                entry.remove("published");
                entry.remove("assumed");
                replace(entry, "fitted", to.into());
            } else if !keep_sources {
                replace(entry, "fitted", to.into());
            }
            entry.fmt();
        }
        Ok(document.to_string())
    }
}

#[cfg(test)]
#[path = "../tests/unit/parameter.rs"]
mod tests;
