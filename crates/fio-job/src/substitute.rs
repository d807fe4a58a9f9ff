//! Variables and keywords in the values of a job file.
//!
//! HOWTO.rst, "Environment variables" and "Reserved keywords": `${VARIABLE}` is the environment's,
//! `$pagesize`, `$mb_memory` and `$ncpus` are numbers, and a value with a keyword may be arithmetic
//! (`size=8*$mb_memory`), of numbers without units, as for fio's bc. fio replaces a variable that
//! is not set by nothing; here that is an error, because `filename=${DISK}` would name another
//! file.

use crate::number;

pub struct Substitution<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Bytes of a memory page.
    pub page_bytes: u64,
    /// Memory of the host, in units of 2^20 bytes.
    pub memory_mib: u64,
    pub cpus: u64,
}

pub fn substitute(value: &str, with: &Substitution<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let Some(end) = from.find('}') else {
            return Err(format!("{value:?} has ${{ without a }}"));
        };
        let name = &from[2..end];
        let text = (with.variable)(name).ok_or_else(|| match name {
            "pagesize" | "mb_memory" | "ncpus" => {
                format!("the environment variable {name} is not set: the number is ${name}")
            }
            _ => format!(
                "the environment variable {name} is not set: run it as {name}=VALUE assay ..."
            ),
        })?;
        out.push_str(&text);
        rest = &from[end + 1..];
    }
    out.push_str(rest);
    let keywords =
        [("$pagesize", with.page_bytes), ("$mb_memory", with.memory_mib), ("$ncpus", with.cpus)];
    if !keywords.iter().any(|(name, _)| out.contains(name)) {
        return Ok(out);
    }
    for (name, number) in keywords {
        out = out.replace(name, &number.to_string());
    }
    let is_arithmetic = |c: char| "+-*/() ".contains(c);
    if !out.contains(is_arithmetic) {
        return Ok(out);
    }
    number::arithmetic(&out, &|unit| unit.is_empty().then_some(1.0))
        .filter(|result| result.fract() == 0.0 && (0.0..1e18).contains(result))
        .map(|result| format!("{result:.0}"))
        .ok_or_else(|| {
            format!(
                "{out:?} is not arithmetic with a whole result, of numbers without units, as fio's \
                 bc takes them"
            )
        })
}

#[cfg(test)]
#[path = "../tests/unit/substitute.rs"]
mod tests;
