//! Starting points of a twin's search (every cost of a read is a free number) and alternatives to a
//! structure.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use crate::inference::posterior::Prior;
use crate::numbers::{get, leader, put, remove};
use crate::parameter::{HOST_COSTS, is_quantity};
use crate::structures::{Structure, changed, flipped, layout, layouts, number, numbers, shape};
use crate::template::{ReferenceDrive, Template, is_read_path};

/// Width of a number's prior, a logarithm: a factor of two.
const WIDTH: f64 = 0.7;
/// Prior width of sense times, which differ less within their class.
const SENSE_WIDTH: f64 = 0.4;
const CORES: [i64; 7] = [1, 2, 3, 4, 5, 6, 8];
/// Lengths up to which the short data path takes a read; the last: all.
const LIMITS_KIB: [i64; 5] = [8, 16, 32, 64, 16 << 10];
/// 0: no read-ahead.
const WINDOWS_KIB: [i64; 13] = [0, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048];
/// Reads at a time; the last stands for as many as there are.
const SLOTS: [i64; 7] = [8, 12, 16, 24, 32, 48, UNLIMITED_SLOTS];
const UNLIMITED_SLOTS: i64 = 255;
/// Streams of a drive that reads ahead: more than the measured cells have.
const PREFETCH_STREAMS: i64 = 16;
/// Of the host that measured the published figures; assay sends the pieces of an I/O at once.
pub const NOT_OF_THE_DRIVE: [&str; 1] = ["bench.max_io_bytes"];
/// Structural numbers: those that alternatives change, and the capacity.
pub const STRUCTURE: [&str; 15] = [
    "identity.capacity_bytes",
    "firmware.cores",
    "firmware.read_block_by_hardware",
    "firmware.read_slots",
    "data_path.direct_limit_bytes",
    "nand.channels",
    "nand.dies",
    "nand.planes",
    "nand.page_bytes",
    "nand.blocks_per_plane",
    "nand.stripe_bytes",
    "nand.single_plane_bytes",
    "nand.cache_read",
    "prefetch.window_bytes",
    "prefetch.streams",
];
/// Costs that every profile gets, so that the figures can ask for them: median of the prior in ns.
pub const MECHANISMS: [(&str, i64); 9] = [
    ("firmware.read_latency_ns", 3_000),
    ("firmware.read_page_ns", 100),
    ("firmware.read_kib_ns", 20),
    ("firmware.read_partial_ns", 200),
    ("firmware.read_split_ns", 200),
    ("data_path.setup_ns", 100),
    ("data_path.prp_list_ns", 100),
    ("nand.channel_command_ns", 200),
    ("nand.read_jitter_ns", 1_000),
];
/// Prior width of added mechanisms: within a factor of ten.
const MECHANISM_WIDTH: f64 = 1.4;

/// A profile as a starting point: all quantities of its read path are free.
pub fn template(base: &ReferenceDrive, capacity_bytes: Option<u64>) -> Template {
    let mut table = base.table.clone();
    for path in NOT_OF_THE_DRIVE {
        remove(&mut table, path);
    }
    let mut added = Vec::new();
    for (path, value) in MECHANISMS {
        if get(&table, path).and_then(leader).unwrap_or(0.0) <= 0.0 {
            put(&mut table, path, Value::Integer(value));
            added.push(path);
        }
    }
    if let Some(bytes) = capacity_bytes {
        resize(&mut table, bytes);
    }
    let mut wide = Prior { mean: Vec::new(), width: Vec::new() };
    let mut paths = Vec::new();
    let numbers = base.numbers.iter().map(|n| n.path.as_str());
    let mut all: Vec<&str> = numbers.filter(|path| is_read_path(path)).collect();
    all.extend(MECHANISMS.iter().map(|m| m.0));
    all.extend(HOST_COSTS.map(|(path, _)| path));
    all.sort_unstable();
    all.dedup();
    for path in all {
        let value = get(&table, path).and_then(leader);
        let Some(value) = value.filter(|&v| v > 0.0 && is_quantity(path)) else {
            continue;
        };
        paths.push(path.to_owned());
        wide.mean.push(value.ln());
        wide.width.push(match path {
            "nand.read_ns" => SENSE_WIDTH,
            _ if added.contains(&path) => MECHANISM_WIDTH,
            _ => WIDTH,
        });
    }
    Template { table, paths, wide }
}

/// Another capacity by other blocks per plane.
fn resize(table: &mut toml::Table, bytes: u64) {
    let (Some(old), Some(blocks)) = (
        get(table, "identity.capacity_bytes").and_then(leader),
        get(table, "nand.blocks_per_plane").and_then(leader),
    ) else {
        return;
    };
    let ratio = bytes as f64 / old;
    put(table, "identity.capacity_bytes", Value::Integer(bytes as i64));
    let blocks = (blocks * ratio).ceil().max(1.0);
    put(table, "nand.blocks_per_plane", Value::Integer(blocks as i64));
}

/// Structural numbers to set, and values (logarithms) of free numbers to climb from.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub structure: Structure,
    pub moved: BTreeMap<&'static str, f64>,
}

impl Change {
    /// `None` where both change the same number.
    pub fn with(&self, other: &Change) -> Option<Change> {
        let is_shared = self.structure.keys().any(|p| other.structure.contains_key(p))
            || self.moved.keys().any(|p| other.moved.contains_key(p));
        let mut both = self.clone();
        both.structure.extend(other.structure.clone());
        both.moved.extend(&other.moved);
        (!is_shared).then_some(both)
    }

    /// A point with the free numbers moved.
    pub fn start(&self, template: &Template, point: &[f64]) -> Vec<f64> {
        let both = template.paths.iter().zip(point);
        both.map(|(path, x)| *self.moved.get(path.as_str()).unwrap_or(x)).collect()
    }
}

/// Rates of the data paths: of short reads, and of long ones.
const DATA_PATHS: [&str; 2] =
    ["data_path.direct_bytes_per_second", "data_path.staged_bytes_per_second"];
/// How much faster a data path is tried than one that limited random reads.
const FASTER_PATHS: [f64; 3] = [1.25, 1.6, 2.2];

/// Share of a cost that stays when the rest is exchanged for another cost.
const KEPT: f64 = 0.1;

/// Bytes of a page, planes of a die, and dies.
type Geometry = (i64, i64, i64);

fn geometry(table: &toml::Table) -> Option<Geometry> {
    let integer = |path| get(table, path).and_then(Value::as_integer);
    let page = integer("nand.page_bytes")?;
    Some((page, integer("nand.planes")?, integer("nand.dies")?))
}

/// Pieces of so many bytes in place of pages.
fn in_pieces(table: &toml::Table, (page, planes, dies): Geometry, piece_bytes: i64) -> Structure {
    let pieces = (page * planes / piece_bytes).max(1);
    changed(table, shape(table, (piece_bytes, pieces, dies)))
}

fn positive(table: &toml::Table, path: &str) -> Option<f64> {
    get(table, path).and_then(leader).filter(|&v| v > 0.0)
}

/// A cost exchanged for `ratio` of another per one of the first; `None` without the first.
fn exchanged(
    table: &toml::Table,
    (from, to): (&'static str, &'static str),
    ratio: f64,
) -> Option<BTreeMap<&'static str, f64>> {
    let (before, after) = (positive(table, from)?, positive(table, to)?);
    let gained = after + (1.0 - KEPT) * before * ratio;
    Some(BTreeMap::from([(from, (before * KEPT).ln()), (to, gained.ln())]))
}

/// Exchanges of costs that some lengths cannot tell apart: derivatives do not lead to a cost so
/// small that no figure depends on it. Core time of a KiB is also tried as that of a piece of a
/// page.
fn exchanges(table: &toml::Table) -> Vec<Change> {
    let Some(geometry) = geometry(table) else {
        return Vec::new();
    };
    let page_kib = geometry.0 as f64 / 1024.0;
    let pairs = [
        ("firmware.read_page_ns", "firmware.read_kib_ns", 1.0 / page_kib),
        ("firmware.read_command_ns", "firmware.read_page_ns", 1.0),
        ("firmware.read_command_ns", "firmware.read_latency_ns", 1.0),
        ("firmware.read_latency_ns", "firmware.read_command_ns", 1.0),
    ];
    let one = |(from, to, ratio)| {
        let moved = exchanged(table, (from, to), ratio)?;
        Some(Change { moved, ..Change::default() })
    };
    let mut out: Vec<Change> = pairs.into_iter().filter_map(one).collect();
    for piece in [4096, 8192, 16_384] {
        let costs = ("firmware.read_kib_ns", "firmware.read_page_ns");
        let moved = exchanged(table, costs, piece as f64 / 1024.0);
        out.extend(
            moved.map(|moved| Change { structure: in_pieces(table, geometry, piece), moved }),
        );
    }
    out
}

/// Random reads limited by the core time of a page or piece instead of the data path, which can
/// then be faster, because sequential reads need no such time.
pub fn core_limits(table: &toml::Table) -> Vec<Change> {
    let (Some(bytes_per_second), Some(cores), Some(geometry)) =
        (positive(table, DATA_PATHS[0]), positive(table, "firmware.cores"), geometry(table))
    else {
        return Vec::new();
    };
    let kib_ns = positive(table, "firmware.read_kib_ns").unwrap_or(0.0);
    let mut out = Vec::new();
    for piece in BTreeSet::from([geometry.0, 4096, 8192, 16_384]) {
        let limit_ns = cores * piece as f64 * 1e9 / bytes_per_second;
        let page_ns = limit_ns - kib_ns * piece as f64 / 1024.0;
        // Core time of a KiB is the limit already.
        if page_ns < KEPT * limit_ns {
            continue;
        }
        let structure = in_pieces(table, geometry, piece);
        for ratio in FASTER_PATHS {
            let faster = |path| positive(table, path).map(|rate| (path, (rate * ratio).ln()));
            let mut moved: BTreeMap<_, _> = DATA_PATHS.into_iter().filter_map(faster).collect();
            moved.insert("firmware.read_page_ns", page_ns.ln());
            out.push(Change { structure: structure.clone(), moved });
        }
    }
    out
}

/// Structural alternatives, and costs exchanged for others.
pub fn changes(table: &toml::Table) -> Vec<Change> {
    let structures =
        alternatives(table).into_iter().map(|structure| Change { structure, ..Change::default() });
    structures.chain(exchanges(table)).collect()
}

/// One number, or several that belong together.
pub fn alternatives(table: &toml::Table) -> Vec<Structure> {
    let integer = |path: &str| get(table, path).and_then(Value::as_integer);
    let mut out = Vec::new();
    for path in ["nand.cache_read", "firmware.read_block_by_hardware"] {
        out.push(flipped(table, path));
    }
    let limits = LIMITS_KIB.map(|kib| kib << 10);
    out.extend(numbers(table, "data_path.direct_limit_bytes", limits));
    for kib in WINDOWS_KIB {
        let streams = if kib == 0 { 0 } else { PREFETCH_STREAMS };
        for mut window in numbers(table, "prefetch.window_bytes", [kib << 10]) {
            window.extend(number("prefetch.streams", streams));
            out.push(changed(table, window));
        }
    }
    out.extend(numbers(table, "firmware.cores", CORES));
    if let Some(now) = integer("nand.channels") {
        let others = [now / 2, now * 2].into_iter().filter(|&n| n > 0);
        out.extend(numbers(table, "nand.channels", others));
    }
    let slots = integer("firmware.read_slots").unwrap_or(UNLIMITED_SLOTS);
    let others = SLOTS.into_iter().filter(|&n| n != slots);
    out.extend(others.map(|n| number("firmware.read_slots", n)));
    let found = layouts(table).into_iter();
    out.extend(found.map(|one| changed(table, layout(table, one))));
    let Some((page, planes, dies)) = geometry(table) else {
        return out;
    };
    let shapes = [
        (page, planes, dies / 2),
        (page, planes, dies * 2),
        (page, (planes / 2).max(1), dies),
        (page, planes * 2, dies),
        (page / 2, planes, dies),
        (page * 2, planes, dies),
        (page / 2, planes * 2, dies),
        (page * 2, (planes / 2).max(1), dies),
    ];
    let shapes = shapes.into_iter().filter(|s| s.0 >= 4096 && s.2 >= 1);
    let shapes = shapes.map(|one| changed(table, shape(table, one)));
    out.extend(shapes.filter(|changed| changed.len() > 1));
    out
}
