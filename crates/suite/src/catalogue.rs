//! The built-in suites, and users' own.

use std::path::Path;

use crate::SuiteError;
use crate::schema::Suite;

/// The suites in `suites/`, by name.
const BUILT_IN: [(&str, &str); 15] = [
    ("bandwidth", include_str!("../../../suites/bandwidth.toml")),
    ("quick", include_str!("../../../suites/quick.toml")),
    (
        "consistency",
        include_str!("../../../suites/consistency.toml"),
    ),
    ("client", include_str!("../../../suites/client.toml")),
    (
        "enterprise",
        include_str!("../../../suites/enterprise.toml"),
    ),
    ("snia-iops", include_str!("../../../suites/snia-iops.toml")),
    (
        "snia-throughput",
        include_str!("../../../suites/snia-throughput.toml"),
    ),
    (
        "snia-latency",
        include_str!("../../../suites/snia-latency.toml"),
    ),
    (
        "snia-saturation",
        include_str!("../../../suites/snia-saturation.toml"),
    ),
    ("jesd219", include_str!("../../../suites/jesd219.toml")),
    ("thermal", include_str!("../../../suites/thermal.toml")),
    ("capacity", include_str!("../../../suites/capacity.toml")),
    (
        "streamer-peak",
        include_str!("../../../suites/streamer-peak.toml"),
    ),
    (
        "streamer-continuous",
        include_str!("../../../suites/streamer-continuous.toml"),
    ),
    ("load", include_str!("../../../suites/load.toml")),
];

/// The built-in policy of `assay verdict`: its name and its text.
pub const POLICY: (&str, &str) = (
    "policies/client.toml",
    include_str!("../../../policies/client.toml"),
);

/// Names of the built-in suites.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// A built-in suite by name, or a user's by the path of its `.toml` file.
///
/// # Errors
/// When there is no such suite or file, or it makes no sense.
pub fn load(name: &str) -> Result<Suite, SuiteError> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Suite::parse(name, text);
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|e| e == "toml") {
        let text = std::fs::read_to_string(path).map_err(|source| SuiteError::File {
            path: name.to_owned(),
            source,
        })?;
        return Suite::parse(name, &text);
    }
    Err(SuiteError::Unknown {
        name: name.to_owned(),
        known: names().join(", "),
    })
}

#[cfg(test)]
#[path = "../tests/unit/catalogue.rs"]
mod tests;
