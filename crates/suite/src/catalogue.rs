//! Built-in suites, and suite files of users.

use std::path::Path;

use crate::SuiteError;
use crate::schema::Suite;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../suites/", $name, ".toml")))),*]
    };
}

/// Name and text of the files in `suites/`.
const BUILT_IN: [(&str, &str); 29] = built_in![
    "bandwidth",
    "quick",
    "twin",
    "consistency",
    "consistency-steady",
    "client",
    "enterprise",
    "snia-iops",
    "snia-throughput",
    "snia-latency",
    "snia-saturation",
    "snia-hir",
    "snia-ecw",
    "snia-dirth",
    "snia-xsr",
    "jesd219",
    "thermal",
    "capacity",
    "streamer-peak",
    "streamer-continuous",
    "load",
    "interference",
    "database",
    "ai",
    "indirection",
    "placement",
    "fill",
    "cache",
    "iocost",
];

/// Name and text of the built-in policy of `assay verdict`.
pub const POLICY: (&str, &str) =
    ("policies/client.toml", include_str!("../../../policies/client.toml"));

pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// A built-in suite by name, or a suite file by its path (`.toml`).
pub fn load(name: &str) -> Result<Suite, SuiteError> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Suite::parse(name, text);
    }
    let path = Path::new(name);
    let name = name.to_owned();
    if path.extension().is_none_or(|e| e != "toml") {
        let known = names().join(", ");
        return Err(SuiteError::Unknown { name, known });
    }
    match assay_output::read_text(path) {
        Ok(text) => Suite::parse(&name, &text),
        Err(source) => Err(SuiteError::File { path: name, source }),
    }
}

#[cfg(test)]
#[path = "../tests/unit/catalogue.rs"]
mod tests;
