//! Values of options: read from text, and refused by the name of their option.

use std::fmt::Display;

use assay_device::session::TargetProperties;
use assay_units::{Nanos, SECTOR_BYTES, parse_duration, parse_size, text};

use super::PlanError;

pub(super) fn invalid(message: impl Into<String>) -> PlanError {
    PlanError::Invalid(message.into())
}

pub(super) fn out_of_range(option: &str, given: impl Display, range: &str) -> PlanError {
    invalid(format!("--{option} {given} is out of range: {range}"))
}

pub(super) fn not_a_choice(option: &str, given: &str, choices: &str) -> PlanError {
    let similar = text::did_you_mean(given, choices);
    invalid(format!("--{option} {given:?} is not one of: {choices}{similar}"))
}

pub(super) fn size(option: &'static str, text: &str) -> Result<u64, PlanError> {
    parse_size(text).map_err(|source| PlanError::Text { option, source })
}

pub(super) fn percentage(text: &str) -> Option<f64> {
    let percent = text.trim().strip_suffix('%')?;
    Some(percent.trim().parse().unwrap_or(f64::NAN))
}

pub(super) fn duration(
    option: &'static str,
    given: &Option<String>,
) -> Result<Option<Nanos>, PlanError> {
    let parsed = given.as_deref().map(parse_duration).transpose();
    parsed.map_err(|source| PlanError::Text { option, source })
}

pub(super) fn within(
    option: &'static str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<u32, PlanError> {
    if range.contains(&value) {
        return Ok(value);
    }
    let range = format!("from {} to {}", range.start(), range.end());
    Err(out_of_range(option, value, &range))
}

pub(super) fn aligned(
    target: &TargetProperties,
    option: &'static str,
    bytes: u64,
    unit: u32,
) -> Result<(), PlanError> {
    if bytes.is_multiple_of(u64::from(unit)) {
        return Ok(());
    }
    Err(PlanError::Misaligned {
        drive: target.name.clone(),
        option,
        given_bytes: bytes,
        block_bytes: unit,
        suggestion: bytes.next_multiple_of(u64::from(unit)),
    })
}

/// A size, or a percentage of the thread's part: `200%` goes over it twice.
pub(super) fn size_or_passes(text: &str, part_bytes: u64) -> Result<u64, PlanError> {
    const OPTION: &str = "io_size";
    const RANGE: &str = "a percentage of the area is above 0% and at most 100000%";
    match percentage(text) {
        None => size(OPTION, text),
        Some(passes) if passes > 0.0 && passes <= 100_000.0 => {
            Ok((part_bytes as f64 * passes / 100.0) as u64)
        }
        Some(_) => Err(out_of_range(OPTION, text, RANGE)),
    }
}

/// What sizes and offsets are multiples of.
pub(super) fn unit_bytes(direct: bool, target: &TargetProperties) -> u32 {
    match direct {
        true => target.min_io_bytes,
        false => SECTOR_BYTES as u32,
    }
}

/// Shares of a drive of at least so many bytes are whole MiB.
pub(super) const ROUNDED_FROM_BYTES: u64 = 100 << 20;

/// A percentage is rounded down to whole MiB (or blocks on a tiny drive).
pub(super) fn size_or_share(
    option: &'static str,
    text: &str,
    target: &TargetProperties,
) -> Result<u64, PlanError> {
    let capacity_bytes = target.capacity_bytes;
    let Some(share) = percentage(text) else {
        return size(option, text);
    };
    if !(0.0..=100.0).contains(&share) {
        return Err(out_of_range(option, text, "a percentage is from 0% to 100%"));
    }
    let bytes = (capacity_bytes as f64 * share / 100.0) as u64;
    let unit = match capacity_bytes >= ROUNDED_FROM_BYTES {
        true => 1 << 20,
        false => u64::from(target.min_io_bytes),
    };
    Ok(match share == 100.0 {
        true => capacity_bytes,
        false => bytes / unit * unit,
    })
}
