use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::FoundSignature;

/// Fixed paths instead of `PATH`, because this usually runs as root.
const PLACES: [&str; 4] = ["/usr/sbin/wipefs", "/sbin/wipefs", "/usr/bin/wipefs", "/bin/wipefs"];

/// Empty when `wipefs` is not installed, too old for JSON (before util-linux 2.33) or fails: the
/// built-in detection remains.
pub fn wipefs(path: &Path) -> Vec<FoundSignature> {
    let Some(program) = PLACES.iter().find(|place| Path::new(place).exists()) else {
        return Vec::new();
    };
    let output = Command::new(program)
        .args(["--no-act", "--json", "--"])
        .arg(path)
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => parse(&output.stdout),
        _ => Vec::new(),
    }
}

#[derive(Deserialize)]
struct Listing {
    #[serde(default)]
    signatures: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    offset: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Empty for malformed input.
pub(super) fn parse(json: &[u8]) -> Vec<FoundSignature> {
    let Ok(listing) = serde_json::from_slice::<Listing>(json) else {
        return Vec::new();
    };
    listing
        .signatures
        .into_iter()
        .filter_map(|entry| {
            let kind = entry.kind?;
            // The protective MBR is part of a GPT and would only require a second value for it.
            let word = if kind == "PMBR" { "gpt".to_owned() } else { kind };
            let offset = entry.offset.trim_start_matches("0x");
            let offset_bytes = u64::from_str_radix(offset, 16).unwrap_or(0);
            Some(FoundSignature { what: format!("a signature of type {word}"), word, offset_bytes })
        })
        .collect()
}
