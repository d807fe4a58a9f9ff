//! Suite parameters and typed option values.

use std::collections::BTreeMap;

use assay_units::{parse_duration, parse_size};
use assay_workload::options::{JobOption, OptionKind, parse_bool};

use crate::SuiteError;
use crate::schema::{ParameterKind, Suite};

pub(super) fn parameters(
    suite: &Suite,
    set: &[(String, String)],
) -> Result<BTreeMap<String, String>, SuiteError> {
    let mut values: BTreeMap<String, String> = suite
        .parameters
        .iter()
        .map(|(key, parameter)| (key.clone(), parameter.default.clone()))
        .collect();
    for (key, value) in set {
        let Some(slot) = values.get_mut(key) else {
            let known: Vec<&str> = suite.parameters.keys().map(String::as_str).collect();
            return Err(SuiteError::UnknownParameter {
                suite: suite.name.clone(),
                key: key.clone(),
                known: if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                },
            });
        };
        slot.clone_from(value);
    }
    for (key, value) in &values {
        let why = match suite.parameters[key].kind {
            ParameterKind::Size => parse_size(value).err().map(|e| e.to_string()),
            ParameterKind::Duration => parse_duration(value).err().map(|e| e.to_string()),
            ParameterKind::List | ParameterKind::Text => {
                value.trim().is_empty().then(|| "is empty".to_owned())
            }
        };
        if let Some(why) = why {
            return Err(SuiteError::BadParameter {
                suite: suite.name.clone(),
                key: key.clone(),
                value: value.clone(),
                why,
            });
        }
    }
    Ok(values)
}

/// A TOML value as text, without quotes.
pub(super) fn toml_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Text from a parameter, converted to the type of its option.
pub(super) fn typed_option(key: &str, value: &toml::Value) -> Result<toml::Value, String> {
    let toml::Value::String(text) = value else {
        return Ok(value.clone());
    };
    match JobOption::find(key).map(|option| option.kind) {
        Some(OptionKind::Number) => text
            .trim()
            .parse()
            .map(toml::Value::Integer)
            .map_err(|_| format!("{key} = {text:?} is not a whole number")),
        Some(OptionKind::Bool | OptionKind::Flag) => parse_bool(text)
            .map(toml::Value::Boolean)
            .map_err(|_| format!("{key} = {text:?} is not true or false")),
        Some(OptionKind::Text) | None => Ok(value.clone()),
    }
}
