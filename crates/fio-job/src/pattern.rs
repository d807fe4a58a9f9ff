//! Bytes that buffers are filled with, as `parse_and_fill_pattern` in fio's lib/pattern.c: parts
//! one after the other, each a text in double quotes, a hexadecimal number (its bytes from the
//! first digits on) or a decimal one (its bytes from the lowest on, as many as it has; four below
//! zero).

use std::path::Path;

use crate::JobFileError;
use crate::ini::{JobFile, ReadFile};

/// `None`: no such pattern, the name of a file, or more than 512 bytes.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (quoted, after) = quoted.split_once('"')?;
            bytes.extend_from_slice(quoted.as_bytes());
            rest = after;
        } else {
            let digits = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
            rest = match digits {
                Some(digits) => hexadecimal(digits, &mut bytes)?,
                None => decimal(rest, &mut bytes)?,
            };
        }
    }
    (1..=MAX_BYTES).contains(&bytes.len()).then_some(bytes)
}

/// `buffer_pattern='FILE'`: the begin of the file takes the place of its name, which fio takes from
/// the working directory.
pub fn read_files(file: &mut JobFile, read: &mut ReadFile<'_>) -> Result<(), JobFileError> {
    for section in &mut file.sections {
        for option in &mut section.options {
            let value = option.value.as_deref().unwrap_or_default().trim();
            let name = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\''));
            let Some(name) = name.filter(|_| option.name == "buffer_pattern") else {
                continue;
            };
            let content = read(Path::new(name)).map_err(|error| JobFileError {
                place: option.place.clone(),
                section: Some(section.name.clone()),
                message: format!("buffer_pattern: cannot read {name}: {error}"),
            })?;
            let head = &content[..content.len().min(MAX_BYTES)];
            option.value = Some(format!("0x{}", assay_units::text::hexadecimal(head)));
        }
    }
    Ok(())
}

/// `MAX_PATTERN_SIZE`.
const MAX_BYTES: usize = 512;

fn split_digits(text: &str, radix: u32) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn hexadecimal<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let (digits, rest) = split_digits(text, 16)?;
    let whole = match digits.len().is_multiple_of(2) {
        true => digits.to_owned(),
        false => format!("0{digits}"),
    };
    for at in (0..whole.len()).step_by(2) {
        bytes.push(u8::from_str_radix(&whole[at..at + 2], 16).ok()?);
    }
    Some(rest)
}

fn decimal<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let (digits, rest) = split_digits(text.strip_prefix('-').unwrap_or(text), 10)?;
    // The zero of 0x belongs to the next part.
    let is_followed = rest.starts_with(['x', 'X']);
    let digits = digits.strip_suffix('0').filter(|_| is_followed).unwrap_or(digits);
    let magnitude: u32 = digits.parse().ok()?;
    let sign_bytes = text.len() - text.trim_start_matches('-').len();
    let is_negative = sign_bytes > 0;
    let value = if is_negative { magnitude.wrapping_neg() } else { magnitude };
    let used = (4 - value.leading_zeros() as usize / 8).max(1);
    bytes.extend_from_slice(&value.to_le_bytes()[..used]);
    Some(&text[sign_bytes.min(1) + digits.len()..])
}

#[cfg(test)]
#[path = "../tests/unit/pattern.rs"]
mod tests;
