use sha2::{Digest, Sha256};

use super::*;

/// Checksum of the vendored bundle, as `scripts/renew-plotly` prints it; `tests/browser.rs` checks
/// the version.
const SHA256: &str = "f6ad9b2e84c4d46d1cceef112f5ffe9185c6cf994b0ef62d3ec87abbc436acbf";

#[test]
fn the_vendored_bundle_is_the_published_one() {
    let digest: String = Sha256::digest(BUNDLE).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, SHA256);
    let licence = include_str!("../../../vendor/plotly-LICENSE");
    assert!(licence.contains("MIT License"), "{licence}");
}

#[test]
fn the_bundle_is_embedded_as_it_is() {
    let text = library();
    assert!(text.len() < 600_000, "{} bytes", text.len());
    assert_eq!(STANDARD.decode(text).unwrap(), BUNDLE);
}
