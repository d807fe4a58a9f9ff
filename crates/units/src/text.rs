//! Parsing and formatting of sizes, rates and durations.
//!
//! Sizes follow fio (`kb_base=1024`): `4k`, `4K`, `4KiB` and `4KB` are all 4096 bytes, because
//! scripts written for fio must mean the same here.

use crate::Nanos;

/// The microsecond in data formats that are ASCII: its code in UCUM, the Unified Code for Units of
/// Measure. Text for people has the micro sign.
pub const UCUM_MICROSECOND: &str = "us";

/// Characters that act on a terminal or on the order of a line instead of being seen: control
/// characters (Unicode category Cc, line breaks included), line and paragraph separators,
/// bidirectional controls (Unicode Standard Annex #9, property Bidi_Control), the byte order mark,
/// and tags (U+E0000 to U+E007F). Names of drives, files and folders may hold them.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
                | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Text without [`is_unprintable`] characters: each is shown as U+FFFD.
pub fn printable(text: &str) -> String {
    text.replace(is_unprintable, "\u{fffd}")
}

/// Text that was made for a terminal, without [`is_unprintable`] characters but for line breaks,
/// tabs and colours: sequences that select a graphic rendition (ECMA-48, 8.3.117), which change
/// nothing else.
pub fn printable_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unprintable) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let parameters = found.strip_prefix("\u{1b}[").map(|after| {
            let end = after.find(|c: char| !(c.is_ascii_digit() || c == ';'));
            let end = end.unwrap_or(after.len());
            (end, after[end..].starts_with('m'))
        });
        let length = match parameters {
            Some((end, true)) => "\u{1b}[m".len() + end,
            _ => found.chars().next().map_or(0, char::len_utf8),
        };
        let (shown, after) = found.split_at(length);
        let kept = length > 1 && shown.starts_with('\u{1b}') || shown == "\n" || shown == "\t";
        out.push_str(if kept { shown } else { "\u{fffd}" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A size, rate or duration that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Nothing, or no number at the start.
    #[error("{text:?} does not start with a number; write {expected}")]
    NoNumber {
        /// Given.
        text: String,
        /// Expected form.
        expected: &'static str,
    },
    /// Unknown unit.
    #[error("{unit:?} in {text:?} is not a known unit; write {expected}")]
    UnknownUnit {
        /// Given.
        text: String,
        /// The part that is not a unit.
        unit: String,
        /// Expected form.
        expected: &'static str,
    },
    /// Does not fit into 64 bits.
    #[error("{0:?} is too large")]
    TooLarge(String),
}

const SIZE_FORMS: &str = "a size such as 512, 4k, 128KiB or 16GiB";
const RATE_FORMS: &str =
    "such as 800MB/s, 1.5GiB/s or 100k (bytes per second), or 6.4Gb/s (bits per second)";
const DURATION_FORMS: &str = "a duration such as 500ms, 5s, 2m or 1h";

/// Split `text` into its leading decimal number and the rest, trimmed.
fn number_and_unit<'a>(
    text: &'a str,
    expected: &'static str,
) -> Result<(f64, &'a str), ParseError> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let number = trimmed[..end]
        .parse()
        .map_err(|_| ParseError::NoNumber { text: text.to_owned(), expected })?;
    Ok((number, trimmed[end..].trim()))
}

fn unknown_unit(text: &str, unit: &str, expected: &'static str) -> ParseError {
    ParseError::UnknownUnit { text: text.to_owned(), unit: unit.to_owned(), expected }
}

fn scaled(text: &str, number: f64, factor: u64) -> Result<u64, ParseError> {
    let value = number * factor as f64;
    let scaled = match number {
        // 2^64; anything at or above it does not fit.
        _ if value >= 18_446_744_073_709_551_616.0 => None,
        // A whole number keeps all its digits, which a float of over 2^53 would lose.
        whole if whole.fract() == 0.0 && whole < 9e15 => (whole as u64).checked_mul(factor),
        _ => Some(value.round() as u64),
    };
    scaled.ok_or_else(|| ParseError::TooLarge(text.to_owned()))
}

/// Bytes from `512`, `4k`, `128KiB`, `1.5GiB`. Powers of 1024, as fio reads them.
///
/// # Errors
/// When the text has no number, an unknown unit, or does not fit in 64 bits.
pub fn parse_size(text: &str) -> Result<u64, ParseError> {
    let (number, unit) = number_and_unit(text, SIZE_FORMS)?;
    let lower = unit.to_ascii_lowercase();
    let factor = match lower.trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        "p" => 1 << 50,
        _ => return Err(unknown_unit(text, unit, SIZE_FORMS)),
    };
    scaled(text, number, factor)
}

/// Bytes from `960GB`, `1.92TB`: powers of 1000, as drives are sold; of 1024 with an `i` (`1TiB`).
///
/// # Errors
/// As [`parse_size`].
pub fn parse_capacity(text: &str) -> Result<u64, ParseError> {
    let (number, unit) = number_and_unit(text, SIZE_FORMS)?;
    let lower = unit.to_ascii_lowercase();
    let factor = match lower.strip_suffix('b').unwrap_or(&lower) {
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        _ => return parse_size(text),
    };
    scaled(text, number, factor)
}

/// Bytes per second from `800MB/s`, `1.5GiB/s`, `100k`. Decimal prefixes with a `B` are powers of
/// 1000, as rates are quoted; `KiB`, `MiB`, ... and bare letters, as fio reads them, are powers of
/// 1024. `Gb/s`, `Gbit/s` and `Gbps` are bits, in powers of 1000.
///
/// # Errors
/// As [`parse_size`]; `mb/s` could be either.
pub fn parse_rate(text: &str) -> Result<u64, ParseError> {
    let trimmed = text.trim();
    let size = trimmed.strip_suffix("/s").unwrap_or(trimmed);
    let (number, unit) = number_and_unit(size, RATE_FORMS)?;
    let prefix = |unit: &str| match unit {
        "" => Some(1),
        "k" | "K" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        "T" => Some(1_000_000_000_000),
        _ => None,
    };
    let bits = ["bps", "bit", "bits", "b"].iter().find_map(|end| unit.strip_suffix(end));
    if let Some(bits) = bits {
        let factor = prefix(bits).ok_or_else(|| unknown_unit(text, unit, RATE_FORMS))?;
        return scaled(text, number / 8.0, factor);
    }
    match unit.strip_suffix('B').filter(|unit| !unit.is_empty()).and_then(prefix) {
        Some(decimal) => scaled(text, number, decimal),
        None => parse_size(size),
    }
}

/// A duration from `500ms`, `5s`, `5` (seconds), `2m`, `1h`, `10us`.
///
/// # Errors
/// When the text has no number, an unknown unit, or does not fit.
pub fn parse_duration(text: &str) -> Result<Nanos, ParseError> {
    let (number, unit) = number_and_unit(text, DURATION_FORMS)?;
    let factor = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(unknown_unit(text, unit, DURATION_FORMS)),
    };
    scaled(text, number, factor).map(Nanos)
}

/// The shortest exact form of a size: `4 KiB`, `16 GiB`, `1000 B`, else three significant digits
/// (`931 GiB`).
pub fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut unit = 0;
    let mut value = bytes as f64;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = match value {
        value if value.fract() == 0.0 || value >= 100.0 => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Bytes in decimal units, as drives are sold and endurance is rated: `13.9 PB`.
pub fn decimal_size(bytes: f64) -> String {
    let units = [("PB", 1e15), ("TB", 1e12), ("GB", 1e9)];
    let large = units.into_iter().find(|(_, unit)| bytes >= *unit);
    let (name, unit) = large.unwrap_or(("MB", 1e6));
    let value = bytes / unit;
    let decimals = match value {
        _ if value >= 100.0 => 0,
        _ if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {name}")
}

/// A size in fio's compact spelling, for cell names: `512`, `4k`, `128k`, `1m`, `16g`.
pub fn compact_size(bytes: u64) -> String {
    for (shift, suffix) in [(40, "t"), (30, "g"), (20, "m"), (10, "k")] {
        if bytes != 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{suffix}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Two lower-case digits per byte, as of a checksum: `00ff`.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A whole number with thousands separated by thin groups of three: `1,234,567`.
pub fn group_digits(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A measured value as a whole number, thousands separated: `258,838`.
pub fn whole(value: f64) -> String {
    // Saturates; a rate is never negative.
    group_digits(value.round() as u64)
}

/// Words in lines of at most `columns` characters, as many in each as fit; a longer word has a line
/// of its own. Without words one empty line.
pub fn word_lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > columns {
            lines.push(String::new());
            width = 0;
        }
        if let Some(line) = lines.last_mut() {
            let gap = if width > 0 { " " } else { "" };
            line.push_str(gap);
            line.push_str(word);
            width += gap.len() + length;
        }
    }
    lines
}

/// Names less similar than this are no likely typing errors (Jaro similarity, the limit that clap
/// uses for its own suggestions).
const LEAST_SIMILAR: f64 = 0.7;

/// `; did you mean "samsung-951"?` with the most similar of the known names, which are separated by
/// commas; empty without a similar one.
pub fn did_you_mean(given: &str, known: &str) -> String {
    let given = given.to_ascii_lowercase();
    let rated = known.split(',').map(|name| {
        let name = name.trim();
        (strsim::jaro(&given, &name.to_ascii_lowercase()), name)
    });
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
    match best.filter(|(similarity, _)| *similarity > LEAST_SIMILAR) {
        Some((_, name)) => format!("; did you mean {name:?}?"),
        None => String::new(),
    }
}

#[cfg(test)]
#[path = "../tests/unit/text.rs"]
mod tests;
