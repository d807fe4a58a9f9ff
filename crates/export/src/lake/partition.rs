//! Partitions: one directory per plan and month, named as Hive names them.

use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::ExportError;

/// Plan of runs without one; a plan's own name ends in twelve hex digits.
pub const NO_PLAN: &str = "none";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    pub plan: String,
    /// Month of the runs' creation, UTC: `2026-11`.
    pub month: String,
}

impl Partition {
    /// `created` is a date in RFC 3339; `None` if it is no date.
    pub(crate) fn new(plan: Option<&str>, created: &str) -> Option<Partition> {
        let month = created.get(..7)?;
        let is_month = month.bytes().enumerate().all(|(at, byte)| match at {
            4 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        let plan = plan.filter(|plan| !plan.is_empty()).unwrap_or(NO_PLAN);
        is_month.then(|| Partition { plan: plan.to_owned(), month: month.to_owned() })
    }

    pub(crate) fn folder(&self, root: &Path) -> PathBuf {
        root.join(format!("plan={}", escaped(&self.plan))).join(format!("month={}", self.month))
    }
}

/// Escapes as Hive does in paths: percent signs and two hex digits.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                escaped.push(char::from(byte));
            }
            _ => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    escaped
}

fn unescaped(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = tail;
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}

/// Partitions in order; none of a directory that does not exist.
pub(crate) fn list(root: &Path) -> Result<Vec<Partition>, ExportError> {
    let mut found = Vec::new();
    for plan in values(root, "plan=")? {
        let folder = root.join(format!("plan={}", escaped(&plan)));
        for month in values(&folder, "month=")? {
            let plan = plan.clone();
            found.push(Partition { plan, month });
        }
    }
    found.sort();
    Ok(found)
}

/// The values of the sub-directories with this key.
fn values(folder: &Path, key: &str) -> Result<Vec<String>, ExportError> {
    let names = names(folder)?.into_iter();
    Ok(names.filter_map(|name| unescaped(name.strip_prefix(key)?)).collect())
}

pub(crate) fn files(folder: &Path, table: &str) -> Result<Vec<PathBuf>, ExportError> {
    let is_of_table = |name: &String| {
        let rest = name.strip_prefix(table);
        rest.is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".parquet"))
    };
    let mut names: Vec<String> = names(folder)?.into_iter().filter(is_of_table).collect();
    names.sort();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

pub(crate) fn file_name(table: &str, number: usize) -> String {
    format!("{table}-{number:04}.parquet")
}

/// None of a directory that does not exist.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, ExportError> {
    let failed = |error| ExportError::lake("look into the folder", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        names.extend(name.into_string().ok());
    }
    Ok(names)
}

#[cfg(test)]
#[path = "../../tests/unit/lake/partition.rs"]
mod tests;
