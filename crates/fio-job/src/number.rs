//! As `str_to_decimal`, `get_mult_bytes` and `get_mult_time` in fio's parse.c: digits (0x for
//! hexadecimal), then a unit in any case. With `kb_base=1024`, fio's default, `k`, `kb` and `ki`
//! are 1024 and `kib` is 1000; with `kb_base=1000` they are the other way round, but for `ki`,
//! which follows `k`. A number in parentheses is arithmetic. Unlike fio, which ignores it, an
//! unknown unit is an error. As in fio 3.33, a number ends at a decimal point: of `1.5m` the digit
//! 1 counts, without its unit.

/// A size, or a share of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Bytes(u64),
    Percent(u64),
    /// Zones of a zoned drive.
    Zones(u64),
}

impl Size {
    /// As `assay job` reads it.
    pub fn text(self) -> String {
        match self {
            Size::Bytes(bytes) => bytes.to_string(),
            Size::Percent(percent) => format!("{percent}%"),
            Size::Zones(count) => format!("{count}z"),
        }
    }
}

/// Nesting of parentheses.
const MAX_DEPTH: usize = 32;

pub fn size_factor(unit: &str, kb_base: u64) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() || unit == "b" {
        return Some(1.0);
    }
    let mut letters = unit.chars();
    let power = match letters.next()? {
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        _ => return None,
    };
    let base = match letters.as_str() {
        "" | "b" | "i" => kb_base,
        "ib" => 2024 - kb_base,
        _ => return None,
    };
    Some((base as f64).powi(power))
}

/// The factor of a unit of time, in microseconds; `default_us` without one.
pub fn time_factor(unit: &str, default_us: f64) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" => default_us,
        "us" | "usec" => 1.0,
        "ms" | "msec" => 1e3,
        "s" | "sec" => 1e6,
        "m" => 60e6,
        "h" => 3600e6,
        "d" => 86_400e6,
        _ => return None,
    })
}

fn split_unit(text: &str) -> Option<(i64, &str)> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    if let Some(digits) = hexadecimal {
        let value = i64::from_str_radix(digits, 16).ok()?;
        return (value >= 0).then_some((sign * value, ""));
    }
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value: i64 = digits[..end].parse().ok()?;
    let unit = match digits[end..].strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => "",
        _ => digits[end..].trim(),
    };
    Some((sign * value, unit))
}

/// What counts of a number with a decimal point.
pub fn before_point(text: &str) -> Option<&str> {
    let (whole, fraction) = text.trim().split_once('.')?;
    let all_digits = !whole.is_empty() && whole.chars().all(|c| c.is_ascii_digit());
    (all_digits && fraction.starts_with(|c: char| c.is_ascii_digit())).then_some(whole)
}

fn whole(value: f64) -> Option<i64> {
    (value.is_finite() && value.abs() < 9e18).then_some(value as i64)
}

pub fn signed_bytes(text: &str, kb_base: u64) -> Option<i64> {
    if text.trim().starts_with('(') {
        return arithmetic(text, &|unit| size_factor(unit, kb_base)).and_then(whole);
    }
    let (value, unit) = split_unit(text)?;
    let factor = whole(size_factor(unit, kb_base)?)?;
    value.checked_mul(factor)
}

pub fn bytes(text: &str, kb_base: u64) -> Option<u64> {
    signed_bytes(text, kb_base).and_then(|value| value.try_into().ok())
}

pub fn size(text: &str, kb_base: u64) -> Option<Size> {
    match text.trim().strip_suffix('%') {
        // fio-plot doubles the character, and fio ignores the second one.
        Some(percent) => percent.trim_end_matches('%').trim().parse().ok().map(Size::Percent),
        None => bytes(text, kb_base).map(Size::Bytes),
    }
}

/// A time in microseconds; `default_us` is the unit of a plain number.
pub fn micros(text: &str, default_us: f64) -> Option<u64> {
    let value = match text.trim().starts_with('(') {
        true => arithmetic(text, &|unit| time_factor(unit, default_us)).and_then(whole)?,
        false => {
            let (value, unit) = split_unit(text)?;
            value.checked_mul(whole(time_factor(unit, default_us)?)?)?
        }
    };
    value.try_into().ok()
}

pub fn arithmetic(text: &str, unit: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut rest = text.trim();
    let value = sum(&mut rest, unit, 0)?;
    rest.is_empty().then_some(value).filter(|v| v.is_finite())
}

fn take(rest: &mut &str, symbols: &str) -> Option<char> {
    *rest = rest.trim_start();
    let first = rest.chars().next().filter(|c| symbols.contains(*c))?;
    *rest = &rest[first.len_utf8()..];
    Some(first)
}

type Unit<'a> = &'a dyn Fn(&str) -> Option<f64>;

fn sum(rest: &mut &str, unit: Unit<'_>, depth: usize) -> Option<f64> {
    let mut value = product(rest, unit, depth)?;
    while let Some(symbol) = take(rest, "+-") {
        let right = product(rest, unit, depth)?;
        value += if symbol == '+' { right } else { -right };
    }
    Some(value)
}

fn product(rest: &mut &str, unit: Unit<'_>, depth: usize) -> Option<f64> {
    let mut value = power(rest, unit, depth)?;
    while let Some(symbol) = take(rest, "*/%") {
        let right = power(rest, unit, depth)?;
        match symbol {
            '*' => value *= right,
            _ if right == 0.0 => return None,
            '/' => value /= right,
            _ => value %= right,
        }
    }
    Some(value)
}

fn power(rest: &mut &str, unit: Unit<'_>, depth: usize) -> Option<f64> {
    let value = atom(rest, unit, depth)?;
    match take(rest, "^") {
        Some(_) => Some(value.powf(atom(rest, unit, depth)?)),
        None => Some(value),
    }
}

fn atom(rest: &mut &str, unit: Unit<'_>, depth: usize) -> Option<f64> {
    if depth > MAX_DEPTH {
        return None;
    }
    if take(rest, "-").is_some() {
        return atom(rest, unit, depth + 1).map(|value| -value);
    }
    if take(rest, "(").is_some() {
        let value = sum(rest, unit, depth + 1)?;
        take(rest, ")")?;
        return with_unit(rest, unit, value);
    }
    *rest = rest.trim_start();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    let value: f64 = rest[..end].parse().ok()?;
    *rest = &rest[end..];
    with_unit(rest, unit, value)
}

fn with_unit(rest: &mut &str, unit: Unit<'_>, value: f64) -> Option<f64> {
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let factor = match end {
        0 => 1.0,
        _ => unit(&rest[..end])?,
    };
    *rest = &rest[end..];
    Some(value * factor)
}

#[cfg(test)]
#[path = "../tests/unit/number.rs"]
mod tests;
