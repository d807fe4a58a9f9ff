//! Number formatting common to the page and the terminal.
//!
//! Rates and latencies (microseconds) have three significant digits below 100 and whole units with
//! grouped thousands above, at least the three significant digits that histograms resolve.

pub use assay_units::text::decimal_size;
use assay_units::text::{format_size, group_digits};

/// A rate or another positive figure: `0`, `4.56`, `45.6`, `456`, `4,567`.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let value = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if value < 0.005 {
        format!("{sign}{value:.1e}")
    } else if value < 9.995 {
        format!("{sign}{value:.2}")
    } else if value < 99.95 {
        format!("{sign}{value:.1}")
    } else {
        format!("{sign}{}", group_digits(value.round() as u64))
    }
}

/// Nanoseconds as a figure of microseconds.
pub fn micros(nanoseconds: f64) -> String {
    figure(nanoseconds / 1e3)
}

/// A finite value with this many decimals.
fn fixed(value: f64, decimals: usize, unit: &str) -> String {
    if value.is_finite() { format!("{value:.decimals$}{unit}") } else { "n/a".to_owned() }
}

/// Percent with one decimal, without the sign.
pub fn percent(value: f64) -> String {
    fixed(value, 1, "")
}

/// A ratio: `3.12x`.
pub fn ratio(value: f64) -> String {
    fixed(value, 2, "\u{d7}")
}

/// A duration: `5 s`, `2 min`, `1 h 30 min`, `250 ms`.
pub fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    if seconds < 1.0 {
        return format!("{} ms", figure(nanoseconds as f64 / 1e6));
    }
    if seconds < 60.0 {
        return if seconds.fract() < 0.05 {
            format!("{seconds:.0} s")
        } else {
            format!("{seconds:.1} s")
        };
    }
    let whole = seconds.round() as u64;
    let (hours, minutes) = (whole / 3600, whole % 3600 / 60);
    let part = |n: u64, unit: &str| {
        if n > 0 { format!("{n} {unit}") } else { String::new() }
    };
    let parts = [part(hours, "h"), part(minutes, "min"), part(whole % 60, "s")];
    joined(parts, " ")
}

/// A capacity in decimal and binary units: `128 GB (119 GiB)`.
pub fn capacity(bytes: u64) -> String {
    if bytes == 0 {
        return "unknown".to_owned();
    }
    if bytes < 1_000_000_000 {
        return format_size(bytes);
    }
    let (value, unit) = if bytes >= 1_000_000_000_000 {
        (bytes as f64 / 1e12, "TB")
    } else {
        (bytes as f64 / 1e9, "GB")
    };
    let decimals = if value < 10.0 { 2 } else { 0 };
    format!("{value:.decimals$} {unit} ({})", format_size(bytes))
}

/// An RFC 3339 stamp as `2026-11-21 03:15 UTC`; anything else unchanged.
pub fn stamp(rfc3339: &str) -> String {
    let bytes = rfc3339.as_bytes();
    let is_stamp = bytes.len() >= 20
        && rfc3339.is_ascii()
        && bytes[4] == b'-'
        && bytes[10] == b'T'
        && bytes[13] == b':'
        && rfc3339.ends_with('Z');
    if is_stamp {
        format!("{} {} UTC", &rfc3339[..10], &rfc3339[11..16])
    } else {
        rfc3339.to_owned()
    }
}

/// A key of a value as text, its unit last: `zero_blocks_pct` as `zero blocks, %`.
pub fn humanise(key: &str) -> String {
    const UNITS: [(&str, &str); 8] = [
        ("_pct", "%"),
        ("_c", "°C"),
        ("_ns", "ns"),
        ("_bytes", "bytes"),
        ("_mib_per_s", "MiB/s"),
        ("_iops", "IOPS"),
        ("_w", "W"),
        ("_s", "s"),
    ];
    let unit = UNITS.iter().find(|(suffix, _)| key.ends_with(suffix));
    let (suffix, unit) = unit.unwrap_or(&("", ""));
    let name = key[..key.len() - suffix.len()].replace('_', " ");
    joined([name.as_str(), unit], ", ")
}

pub use assay_units::text::printable;

/// The parts that are not empty, with `separator` between them.
pub fn joined(parts: impl IntoIterator<Item = impl AsRef<str>>, separator: &str) -> String {
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() && !part.as_ref().is_empty() {
            out.push_str(separator);
        }
        out.push_str(part.as_ref());
    }
    out
}

/// The text, or a substitute for an empty one.
pub fn text_or<'t>(text: &'t str, substitute: &'t str) -> &'t str {
    if text.is_empty() { substitute } else { text }
}

/// A title up to its first colon or comma, where that leaves at least two words: details follow in
/// the section.
pub fn short_title(title: &str) -> &str {
    let cut = title.match_indices([':', ',']).map(|(at, _)| &title[..at]);
    let mut words = cut.filter(|short| short.trim().contains(' '));
    words.next().unwrap_or(title)
}

/// The short title, or the whole one where another title has the same short one.
pub fn short_title_among<'t, 'o>(
    title: &'t str,
    all: impl IntoIterator<Item = &'o str>,
) -> &'t str {
    let short = short_title(title);
    let mut others = all.into_iter().filter(|other| *other != title);
    if others.any(|other| short_title(other) == short) { title } else { short }
}

/// Lower-case letters, digits and hyphens: part of an id in a link.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// `1 thread`, `16 threads`.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Each value once, in the order of their first occurrence.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Rounded to five significant digits for drawing: finer than a pixel, a third of the bytes.
pub fn for_drawing(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 4 - value.abs().log10().floor() as i32;
    if digits >= 0 {
        let factor = 10f64.powi(digits);
        (value * factor).round() / factor
    } else {
        let factor = 10f64.powi(-digits);
        (value / factor).round() * factor
    }
}

#[cfg(test)]
#[path = "../tests/unit/format.rs"]
mod tests;
