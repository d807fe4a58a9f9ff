//! Suite parameters and typed option values.

use std::collections::BTreeMap;

use assay_units::{parse_duration, parse_size};
use assay_workload::options::{JobOption, OptionKind, parse_bool};

use crate::SuiteError;
use crate::schema::{ParameterKind, Suite};

/// Parameter of every suite: the engine of its asynchronous workloads.
pub const ENGINE: &str = "engine";

pub(super) fn parameters(
    suite: &Suite,
    set: &[(String, String)],
) -> Result<BTreeMap<String, String>, SuiteError> {
    let defaults = suite.parameters.iter();
    let mut values: BTreeMap<String, String> =
        defaults.map(|(key, parameter)| (key.clone(), parameter.default.clone())).collect();
    let mut engine = None;
    for (key, value) in set {
        if key == ENGINE && !values.contains_key(key) {
            engine = Some(value.clone());
            continue;
        }
        let Some(slot) = values.get_mut(key) else {
            let known: Vec<&str> = suite.parameters.keys().map(String::as_str).collect();
            return Err(SuiteError::UnknownParameter {
                suite: suite.name.clone(),
                key: key.clone(),
                known: match known.as_slice() {
                    [] => "none".to_owned(),
                    known => known.join(", "),
                },
            });
        };
        slot.clone_from(value);
    }
    for (key, value) in &values {
        let invalid = match suite.parameters[key].kind {
            ParameterKind::Size => SizeParameter::parse(value).err(),
            ParameterKind::Duration => parse_duration(value).err().map(|e| e.to_string()),
            ParameterKind::List | ParameterKind::Text => {
                value.trim().is_empty().then(|| "is empty".to_owned())
            }
        };
        if let Some(why) = invalid {
            let message = format!("parameter {key}={value}: {why}");
            return Err(SuiteError::invalid("suite", &suite.name, message));
        }
    }
    values.extend(engine.map(|engine| (ENGINE.to_owned(), engine)));
    Ok(values)
}

/// Value of a parameter of kind `size`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SizeParameter {
    Bytes(u64),
    /// Of the drive's capacity, above 0, at most 1.
    Share(f64),
}

impl SizeParameter {
    pub(super) fn parse(text: &str) -> Result<SizeParameter, String> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            let bytes = parse_size(text).map_err(|error| error.to_string())?;
            return Ok(SizeParameter::Bytes(bytes));
        };
        let share = percent.trim().parse().unwrap_or(f64::NAN) / 100.0;
        (share > 0.0 && share <= 1.0)
            .then_some(SizeParameter::Share(share))
            .ok_or_else(|| String::from("a percentage of the drive is above 0% and at most 100%"))
    }
}

pub(super) fn toml_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Text from a parameter, converted to the type of its option.
pub(super) fn typed_option(key: &str, value: &toml::Value) -> Result<toml::Value, String> {
    let kind = JobOption::find(key).map(|option| option.kind);
    let (typed, what) = match (value, kind) {
        (toml::Value::String(text), Some(OptionKind::Number)) => {
            let number = text.trim().parse().ok();
            (number.map(toml::Value::Integer), "a whole number")
        }
        (toml::Value::String(text), Some(OptionKind::Bool | OptionKind::Flag)) => {
            let flag = parse_bool(text).ok();
            (flag.map(toml::Value::Boolean), "true or false")
        }
        _ => return Ok(value.clone()),
    };
    typed.ok_or_else(|| format!("{key} = {:?} is not {what}", toml_text(value)))
}
