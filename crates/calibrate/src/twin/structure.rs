//! Where a twin's search begins and goes: a profile with every cost of a read as a free number, and the structures beside one.

use toml::Value;

use crate::inference::posterior::Prior;
use crate::parameter::is_quantity;
use crate::prediction::template::{
    ReferenceDrive, Structure, Template, get, is_read_path, leader, put, remove, reshape,
};

/// Width of a number's prior, a logarithm: a factor of two.
const WIDTH: f64 = 0.7;
/// The same of sense times, whose class is narrower than the factor of two between makers' firmwares.
const SENSE_WIDTH: f64 = 0.4;
/// Cores that controllers have.
const CORES: [i64; 7] = [1, 2, 3, 4, 5, 6, 8];
/// Windows of read-ahead, KiB; 0: none.
const WINDOWS_KIB: [i64; 13] = [0, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048];
/// Reads that a controller works on at a time; the last stands for as many as there are.
const SLOTS: [i64; 7] = [8, 12, 16, 24, 32, 48, UNLIMITED_SLOTS];
const UNLIMITED_SLOTS: i64 = 255;
/// Streams of a drive that reads ahead: more than the measured cells have.
const PREFETCH_STREAMS: i64 = 16;
/// Of the host that measured the published figures; assay sends the pieces of an I/O at once.
pub const NOT_OF_THE_DRIVE: [&str; 1] = ["bench.max_io_bytes"];
/// Structural numbers: those that alternatives change, and the capacity.
pub const STRUCTURE: [&str; 14] = [
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
    "nand.cache_read",
    "prefetch.window_bytes",
    "prefetch.streams",
];
/// Costs that every profile gets, small where it has none, so that the figures can ask for them: nanoseconds, median of the prior.
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
/// Width of their priors: within a factor of ten.
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
    let mut wide = Prior {
        mean: Vec::new(),
        width: Vec::new(),
    };
    let mut paths = Vec::new();
    let numbers = base.numbers.iter().map(|n| n.path.as_str());
    let mut all: Vec<&str> = numbers.filter(|path| is_read_path(path)).collect();
    all.extend(MECHANISMS.iter().map(|m| m.0));
    all.push("bench.host_overhead_ns");
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
    Template {
        table,
        paths,
        wide,
        alternatives: Vec::new(),
    }
}

/// Another capacity with as many dies, planes and pages: other blocks.
fn resize(table: &mut toml::Table, bytes: u64) {
    let (Some(old), Some(blocks)) = (
        get(table, "identity.capacity_bytes").and_then(leader),
        get(table, "nand.blocks_per_plane").and_then(leader),
    ) else {
        return;
    };
    let ratio = bytes as f64 / old;
    put(
        table,
        "identity.capacity_bytes",
        Value::Integer(bytes as i64),
    );
    let blocks = (blocks * ratio).ceil().max(1.0);
    put(
        table,
        "nand.blocks_per_plane",
        Value::Integer(blocks as i64),
    );
}

/// Structures beside that of a table: one number, or several that belong together.
pub fn alternatives(table: &toml::Table) -> Vec<Structure> {
    let number = |path: &str| get(table, path).and_then(Value::as_integer);
    let one = |path: &str, value: Value| Structure::from([(path.to_owned(), value)]);
    let mut out = Vec::new();
    for path in ["nand.cache_read", "firmware.read_block_by_hardware"] {
        let on = get(table, path).and_then(Value::as_bool).unwrap_or(false);
        out.push(one(path, Value::Boolean(!on)));
    }
    if let Some(limit) = number("data_path.direct_limit_bytes") {
        for kib in [8, 16, 32, 64, 16 << 10] {
            if limit != kib << 10 {
                out.push(one(
                    "data_path.direct_limit_bytes",
                    Value::Integer(kib << 10),
                ));
            }
        }
    }
    for kib in WINDOWS_KIB {
        let streams = if kib == 0 { 0 } else { PREFETCH_STREAMS };
        if number("prefetch.window_bytes").is_some_and(|now| now != kib << 10) {
            let mut window = one("prefetch.window_bytes", Value::Integer(kib << 10));
            if number("prefetch.streams") != Some(streams) {
                window.extend(one("prefetch.streams", Value::Integer(streams)));
            }
            out.push(window);
        }
    }
    if let Some(now) = number("firmware.cores") {
        let others = CORES.into_iter().filter(|&cores| cores != now);
        out.extend(others.map(|cores| one("firmware.cores", Value::Integer(cores))));
    }
    if let Some(now) = number("nand.channels") {
        let others = [now / 2, now * 2].into_iter().filter(|&n| n > 0);
        out.extend(others.map(|n| one("nand.channels", Value::Integer(n))));
    }
    let slots = number("firmware.read_slots").unwrap_or(UNLIMITED_SLOTS);
    let others = SLOTS.into_iter().filter(|&n| n != slots);
    out.extend(others.map(|n| one("firmware.read_slots", Value::Integer(n))));
    let (Some(page), Some(planes), Some(dies)) = (
        number("nand.page_bytes"),
        number("nand.planes"),
        number("nand.dies"),
    ) else {
        return out;
    };
    let whole = page * planes;
    let stripe = number("nand.stripe_bytes").unwrap_or(whole);
    let stripes = [4096, page, whole].into_iter().filter(|&n| n != stripe);
    out.extend(stripes.map(|n| one("nand.stripe_bytes", Value::Integer(n))));
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
    for (page, planes, dies) in shapes {
        if page < 4096 || dies < 1 {
            continue;
        }
        let mut reshaped = table.clone();
        reshape(&mut reshaped, page, planes, dies);
        let paths = [
            "nand.page_bytes",
            "nand.planes",
            "nand.dies",
            "nand.blocks_per_plane",
        ];
        let changed = paths.iter().filter_map(|path| {
            let value = get(&reshaped, path)?;
            (get(table, path) != Some(value)).then(|| ((*path).to_owned(), value.clone()))
        });
        let changed: Structure = changed.collect();
        if changed.len() > 1 {
            out.push(changed);
        }
    }
    out
}
