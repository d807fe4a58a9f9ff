//! Structural numbers that facts leave open, with the values and prior probabilities over which
//! folds average.

use assay_calibrate::hardware::DriveFacts;
use assay_calibrate::numbers::get;
use assay_calibrate::structures::{
    PIECE_BYTES, STRIPE, Structure, flipped, integer, number, numbers, shape,
};
use assay_calibrate::template::ReferenceDrive;
use toml::Table;

const DIRECT_LIMITS: [i64; 3] = [16 << 10, 32 << 10, 64 << 10];
const READ_SLOTS: [i64; 2] = [16, 32];

/// Values of one structural number, or of several that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternatives {
    /// Probabilities add up to 1. The first value is the template's own, with no number to change.
    pub values: Vec<(Structure, f64)>,
}

impl Alternatives {
    /// The template's own value and `further` ones. Prior probabilities are the posterior means of
    /// a multinomial distribution with a uniform prior (P. Laplace's rule of succession), by how
    /// many of the other drives have each.
    fn new(table: &Table, further: Vec<Structure>, others: &[&ReferenceDrive]) -> Alternatives {
        let paths: Vec<String> = further.iter().flat_map(|s| s.keys().cloned()).collect();
        let is_number = |path: &&String| !path.ends_with("blocks_per_plane");
        let own = paths.iter().map(|path| (path.clone(), get(table, path).cloned()));
        let own: Structure = own.collect();
        let has = |drive: &ReferenceDrive, structure: &Structure| {
            let mut numbers = paths.iter().filter(is_number);
            numbers.all(|path| {
                let value = structure.get(path).and_then(Option::as_ref);
                get(&drive.table, path) == value
            })
        };
        let all = [vec![own], further].concat();
        let counts: Vec<f64> =
            all.iter().map(|s| 1.0 + others.iter().filter(|o| has(o, s)).count() as f64).collect();
        let total: f64 = counts.iter().sum();
        let mut values: Vec<(Structure, f64)> =
            all.into_iter().zip(counts.iter().map(|c| c / total)).collect();
        values[0].0.clear();
        Alternatives { values }
    }
}

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
    // One page and then the next die: planes come last, as by MQSim's default. Planes sensed one
    // after the other are not averaged over, because the evidence of a column seldom tells them
    // apart: left-out columns were predicted worse (medians of 6.9 and 4.0 % in place of 5.4 and
    // 2.7).
    let known = integer(table, STRIPE);
    if known.is_none() {
        further.push(vec![number(STRIPE, page)]);
    }
    if facts.and_then(DriveFacts::cores).is_none() {
        let seen = others.iter();
        let mut seen: Vec<i64> = seen.filter_map(|o| integer(&o.table, "firmware.cores")).collect();
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
    further.map(|values| Alternatives::new(table, values, others)).collect()
}
