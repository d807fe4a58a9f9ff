//! Structural numbers of a profile, one or several that belong together. Twins ([`crate::twin`])
//! search the structure that explains the figures best.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::numbers::{get, put, remove};

/// Numbers of a profile that are not free; `None` takes one out, so that it has its default.
pub type Structure = BTreeMap<String, Option<Value>>;

/// The smallest piece of a page, a mapping unit.
pub const PIECE_BYTES: i64 = 4096;
/// Pieces of a page beside a whole one, in bytes.
const PIECES: [i64; 2] = [PIECE_BYTES, 8192];
const SHAPE: [&str; 4] = ["nand.page_bytes", "nand.planes", "nand.blocks_per_plane", "nand.dies"];
/// Consecutive bytes on a die.
pub const STRIPE: &str = "nand.stripe_bytes";
/// Consecutive bytes on a plane.
const SINGLE: &str = "nand.single_plane_bytes";

pub fn integer(table: &Table, path: &str) -> Option<i64> {
    get(table, path).and_then(Value::as_integer)
}

pub fn number(path: &str, value: impl Into<Value>) -> Structure {
    Structure::from([(path.to_owned(), Some(value.into()))])
}

/// One number with each of these values that is not the table's.
pub fn numbers(table: &Table, path: &str, values: impl IntoIterator<Item = i64>) -> Vec<Structure> {
    let now = integer(table, path);
    let others = values.into_iter().filter(|&value| Some(value) != now);
    others.map(|value| number(path, value)).collect()
}

/// Absent is off.
pub fn flipped(table: &Table, path: &str) -> Structure {
    let on = get(table, path).and_then(Value::as_bool).unwrap_or(false);
    number(path, !on)
}

pub fn apply(table: &mut Table, structure: &Structure) {
    for (path, value) in structure {
        match value {
            Some(value) => put(table, path, value.clone()),
            None => remove(table, path),
        }
    }
}

/// Keep the numbers that the table does not have so.
pub fn changed(table: &Table, mut structure: Structure) -> Structure {
    structure.retain(|path, value| get(table, path) != value.as_ref());
    structure
}

/// Change the geometry and keep the total bytes.
pub fn reshape(table: &mut Table, page_bytes: i64, planes: i64, dies: i64) {
    let number = |path| get(table, path).and_then(Value::as_integer).unwrap_or(1).max(1);
    let blocks = number("nand.blocks_per_plane");
    let before = number("nand.page_bytes") * number("nand.planes") * number("nand.dies") * blocks;
    let after = (page_bytes * planes * dies).max(1);
    put(table, "nand.blocks_per_plane", Value::Integer((before + after - 1) / after));
    put(table, "nand.page_bytes", Value::Integer(page_bytes));
    put(table, "nand.planes", Value::Integer(planes));
    put(table, "nand.dies", Value::Integer(dies));
}

/// [`reshape`] as a structure.
pub fn shape(table: &Table, (page, planes, dies): (i64, i64, i64)) -> Structure {
    let mut reshaped = table.clone();
    reshape(&mut reshaped, page, planes, dies);
    let values = SHAPE.map(|path| (path.to_owned(), get(&reshaped, path).cloned()));
    values.into()
}

/// Consecutive bytes on a die, and on a plane if one plane is sensed after the other.
pub type Layout = (i64, Option<i64>);

fn whole_bytes(table: &Table) -> Option<(i64, i64)> {
    let page = integer(table, "nand.page_bytes")?;
    Some((page, page * integer(table, "nand.planes")?))
}

pub fn layout_of(table: &Table) -> Option<Layout> {
    let (_, whole) = whole_bytes(table)?;
    let stripe = integer(table, STRIPE).unwrap_or(whole);
    Some((stripe, integer(table, SINGLE)))
}

/// Valid layouts of a table's geometry but its own, by the rules of the profile.
pub fn layouts(table: &Table) -> Vec<Layout> {
    let Some((page, whole)) = whole_bytes(table) else {
        return Vec::new();
    };
    let independent = get(table, "nand.independent_plane_reads").and_then(Value::as_bool);
    let mut pieces = [PIECES.as_slice(), &[page, whole]].concat();
    pieces.sort_unstable();
    pieces.dedup();
    let mut out: Vec<Layout> = Vec::new();
    for &stripe in pieces.iter().filter(|&&stripe| whole % stripe == 0) {
        out.push((stripe, None));
        let single = pieces.iter().filter(|&&bytes| {
            let divides = page % bytes == 0 && stripe % bytes == 0;
            divides && (bytes == page || stripe <= bytes * (whole / page))
        });
        if independent != Some(true) {
            out.extend(single.map(|&bytes| (stripe, Some(bytes))));
        }
    }
    out.retain(|&layout| Some(layout) != layout_of(table));
    out
}

/// A stripe of all planes is the default.
pub fn layout(table: &Table, (stripe, single): Layout) -> Structure {
    let is_whole = whole_bytes(table).is_some_and(|(_, whole)| whole == stripe);
    let stripe = (!is_whole).then_some(Value::Integer(stripe));
    Structure::from([(STRIPE.to_owned(), stripe), (SINGLE.to_owned(), single.map(Value::Integer))])
}

#[cfg(test)]
#[path = "../tests/unit/structures.rs"]
mod tests;
