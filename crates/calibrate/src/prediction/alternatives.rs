//! Structural numbers of a profile: values of one or of several that belong together, and which
//! others are tried.
//!
//! Folds average over a few values with prior probabilities ([`Alternatives`]); twins
//! ([`crate::twin`]) search more of them for the one that explains the figures best.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::template::{ReferenceDrive, get, put, remove, reshape};
use crate::hardware::DriveFacts;

/// A structure: numbers of a profile that are not free; `None` takes one out, so that the profile
/// has its default.
pub type Structure = BTreeMap<String, Option<Value>>;

/// Bytes of the smallest piece of a page, a mapping unit.
const PIECE_BYTES: i64 = 4096;
/// Consecutive bytes on a die or a plane, and pieces of a page, beside a whole page.
const PIECES: [i64; 2] = [PIECE_BYTES, 8192];
/// Lengths up to which the short data path takes a read, in folds.
const DIRECT_LIMITS: [i64; 3] = [16 << 10, 32 << 10, 64 << 10];
/// Reads that a controller works on at a time, in folds.
const READ_SLOTS: [i64; 2] = [16, 32];
/// Numbers of the geometry.
const SHAPE: [&str; 4] = [
    "nand.page_bytes",
    "nand.planes",
    "nand.blocks_per_plane",
    "nand.dies",
];
const STRIPE: &str = "nand.stripe_bytes";
const SINGLE: &str = "nand.single_plane_bytes";

fn integer(table: &Table, path: &str) -> Option<i64> {
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

/// A switch the other way; absent is off.
pub fn flipped(table: &Table, path: &str) -> Structure {
    let on = get(table, path).and_then(Value::as_bool).unwrap_or(false);
    number(path, !on)
}

/// Set the numbers of a structure.
pub fn apply(table: &mut Table, structure: &Structure) {
    for (path, value) in structure {
        match value {
            Some(value) => put(table, path, value.clone()),
            None => remove(table, path),
        }
    }
}

/// The numbers of a structure that the table does not have so.
pub fn changed(table: &Table, mut structure: Structure) -> Structure {
    structure.retain(|path, value| get(table, path) != value.as_ref());
    structure
}

/// Geometry with the same bytes in all.
pub fn shape(table: &Table, (page, planes, dies): (i64, i64, i64)) -> Structure {
    let mut reshaped = table.clone();
    reshape(&mut reshaped, page, planes, dies);
    let values = SHAPE.map(|path| (path.to_owned(), get(&reshaped, path).cloned()));
    values.into()
}

/// Consecutive bytes on a die, and on a plane where one plane is sensed after the other (`None`:
/// all at once).
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

/// The numbers of a layout. A stripe of all planes is the default.
pub fn layout(table: &Table, (stripe, single): Layout) -> Structure {
    let is_whole = whole_bytes(table).is_some_and(|(_, whole)| whole == stripe);
    let stripe = (!is_whole).then_some(Value::Integer(stripe));
    Structure::from([
        (STRIPE.to_owned(), stripe),
        (SINGLE.to_owned(), single.map(Value::Integer)),
    ])
}

/// Values of one structural number, or of several that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternatives {
    /// Each with its prior probability; they add up to 1. The first is the template's own, with no
    /// number to change.
    pub values: Vec<(Structure, f64)>,
}

impl Alternatives {
    /// The template's own value and `further` ones. Prior probabilities are the posterior means of
    /// a multinomial distribution with a uniform prior (P. Laplace's rule of succession), by how
    /// many of the other drives have each.
    fn new(table: &Table, further: Vec<Structure>, others: &[&ReferenceDrive]) -> Alternatives {
        let paths: Vec<String> = further.iter().flat_map(|s| s.keys().cloned()).collect();
        let is_number = |path: &&String| !path.ends_with("blocks_per_plane");
        let own = paths
            .iter()
            .map(|path| (path.clone(), get(table, path).cloned()));
        let own: Structure = own.collect();
        let has = |drive: &ReferenceDrive, structure: &Structure| {
            let mut numbers = paths.iter().filter(is_number);
            numbers.all(|path| {
                let value = structure.get(path).and_then(Option::as_ref);
                get(&drive.table, path) == value
            })
        };
        let all = [vec![own], further].concat();
        let counts: Vec<f64> = all
            .iter()
            .map(|s| 1.0 + others.iter().filter(|o| has(o, s)).count() as f64)
            .collect();
        let total: f64 = counts.iter().sum();
        let mut values: Vec<(Structure, f64)> = all
            .into_iter()
            .zip(counts.iter().map(|c| c / total))
            .collect();
        values[0].0.clear();
        Alternatives { values }
    }
}

/// What facts leave open of a template, each with its values.
pub fn alternatives(
    table: &Table,
    facts: Option<DriveFacts>,
    others: &[&ReferenceDrive],
    (page, planes, dies): (i64, i64, i64),
) -> Vec<Alternatives> {
    let mut further = vec![
        vec![flipped(table, "nand.cache_read")],
        vec![flipped(table, "firmware.read_block_by_hardware")],
        numbers(table, "data_path.direct_limit_bytes", DIRECT_LIMITS),
        numbers(table, "firmware.read_slots", READ_SLOTS),
    ];
    // One page and then the next die: planes come last, as by MQSim's default. Planes that are
    // sensed one after the other are not averaged over: left-out columns were then predicted worse
    // (medians of 6.9 and 4.0 % in place of 5.4 and 2.7), as the evidence of a column seldom tells
    // them apart.
    let known = integer(table, STRIPE);
    if known.is_none() {
        further.push(vec![number(STRIPE, page)]);
    }
    if facts.and_then(DriveFacts::cores).is_none() {
        let seen = others.iter();
        let mut seen: Vec<i64> = seen
            .filter_map(|o| integer(&o.table, "firmware.cores"))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        further.push(numbers(table, "firmware.cores", seen));
    }
    // Reads cost by the piece of a page, of all planes at once or of one at a time.
    let mut shapes = Vec::new();
    for piece in [PIECE_BYTES, 8192, 16_384] {
        let together = (planes * page / piece).max(1);
        shapes.extend([(piece, together), (piece, 1)]);
    }
    shapes.dedup();
    shapes.retain(|&(piece, n)| piece <= page && (piece, n) != (page, planes));
    shapes.retain(|&(piece, n)| known.is_none_or(|stripe| (piece * n) % stripe.max(1) == 0));
    let of = |(piece, planes)| {
        let mut numbers = shape(table, (piece, planes, dies));
        numbers.remove("nand.dies");
        numbers
    };
    further.push(shapes.into_iter().map(of).collect());
    let further = further.into_iter().filter(|values| !values.is_empty());
    further
        .map(|values| Alternatives::new(table, values, others))
        .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/prediction/alternatives.rs"]
mod tests;
