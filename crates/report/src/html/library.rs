//! plotly's JavaScript as embedded in the page.
//!
//! `vendor/plotly-basic.min.js.gz` is plotly's own partial bundle of lines, bars and pies, from the
//! npm package `plotly.js-basic-dist-min` (`scripts/renew-plotly`): a quarter of the whole bundle.
//! It is embedded compressed, which halves a page of seven drives, and decompressed by
//! `page/library.js`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The bundle, compressed.
const BUNDLE: &[u8] = include_bytes!("../../vendor/plotly-basic.min.js.gz");

/// The licence under which the bundle may be distributed.
pub const LICENCE: &str = "plotly.js, copyright Plotly, Inc., MIT licence";

/// plotly's JavaScript, compressed with gzip, in base64.
pub fn library() -> String {
    STANDARD.encode(BUNDLE)
}

#[cfg(test)]
#[path = "../../tests/unit/html/library.rs"]
mod tests;
