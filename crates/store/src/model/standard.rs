use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A test of a standard (`[standard]` of a suite).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standard {
    /// The standard with its version: `SNIA PTS 2.0.2`.
    pub name: String,
    /// The test: `IOPS test`.
    pub test: String,
    /// Parameters whose default is the standard's value: another value is a deviation.
    #[serde(default)]
    pub fixed: Vec<String>,
    /// Required state of the volatile write cache.
    pub write_cache: Option<WriteCache>,
    /// Other conditions under which it is a test of the standard too.
    #[serde(default)]
    pub alternatives: Vec<Alternative>,
    /// Deviations of the suite itself, in every run.
    #[serde(default)]
    pub deviations: Vec<String>,
}

/// Conditions of a class of drives, in place of the defaults where the run has these values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The class: `client`.
    pub class: String,
    /// Required state of the volatile write cache.
    pub write_cache: Option<WriteCache>,
    /// Values of parameters, one of which the run has.
    pub values: BTreeMap<String, Vec<String>>,
}

/// State of a volatile write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// Enabled, as in a client computer.
    On,
    /// Disabled, or none, as in a server.
    Off,
}

impl WriteCache {
    /// The state in words.
    pub fn text(self) -> &'static str {
        match self {
            WriteCache::On => "on",
            WriteCache::Off => "off, or none",
        }
    }
}
