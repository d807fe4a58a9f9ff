//! Profiles of drives from facts: what a fold starts from.
//!
//! A shipped profile was fitted, and its structure chosen, with all figures of its drive in view. A
//! template keeps of it what other sources say (identity, link, geometry by hardware facts, host)
//! and replaces the numbers of the read path: known ones by the fact in `reference/hardware.toml`,
//! structure by the median and quantities by the geometric mean of the other drives.

use std::collections::BTreeSet;

use assay_calibrate::hardware::{DriveFacts, Hardware};
use assay_calibrate::inference::posterior::Prior;
use assay_calibrate::numbers::{get, leader, put, remove, scaled};
use assay_calibrate::parameter::is_quantity;
use assay_calibrate::structures::reshape;
use assay_calibrate::template::{ReferenceDrive, Template, is_read_path};
use assay_ssd::{Profile, Provenance};
use assay_units::median;
use toml::{Table, Value};

use crate::alternatives::{Alternatives, alternatives};

/// A quantity is free where so many other profiles have fitted it.
const LEAST_DRIVES: usize = 3;
/// Least width of a wide prior: numbers of unrelated drives differ by a factor of two.
const WIDE: f64 = 0.7;
/// Width where a fact gives the class of the flash.
const BY_FACT: f64 = 0.3;
/// Payload share of a flash channel, beside command, address and status cycles and idle time.
const CHANNEL_SHARE: f64 = 0.7;
/// One path for all lengths: no read is longer.
const ONE_PATH: i64 = 16 << 20;

/// Mechanisms of every drive, with median and width. `firmware.read_latency_ns`: NVMeVirt's
/// `fw_4kb_rd_lat` is 21.5 us for a 970 PRO and contains the time that occupies a core here, so
/// half of it, within a factor of three. `data_path.prp_list_ns`: a round trip of a PCIe DMA engine
/// takes 0.5 us and more (R. Neugebauer et al., "Understanding PCIe performance for end host
/// networking", SIGCOMM 2018); controllers that fetch the list early hide it.
const MECHANISMS: [(&str, f64, f64); 2] =
    [("firmware.read_latency_ns", 10_000.0, 1.0), ("data_path.prp_list_ns", 500.0, 1.0)];

fn mean_and_width(values: &[f64]) -> (f64, f64) {
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let n = logs.len().max(1) as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance.sqrt().max(WIDE))
}

/// Of a drive of which only facts are known: page bytes, planes, dies.
fn geometry(facts: Option<DriveFacts>, table: &Table) -> (i64, i64, i64) {
    let tlc = facts.and_then(|f| f.flash?.cell_bits.as_ref()).is_some_and(|b| b.value >= 3);
    let page = facts.and_then(|f| f.page_bytes()).map(|f| f.value as i64);
    // flash_times.csv: pages of planar MLC have 8 or 16 KiB, of TLC 16.
    let page = page.unwrap_or(if tlc { 16_384 } else { 8_192 });
    let planes = facts.and_then(|f| f.planes()).map_or(2, |f| i64::from(f.value));
    let dies = facts.and_then(|f| f.drive.dies.as_ref()).map(|f| i64::from(f.value));
    let own = get(table, "nand.dies").and_then(Value::as_integer).unwrap_or(16);
    (page, planes, dies.unwrap_or(own))
}

/// Fitted and not 0; the first number of a list.
fn fitted(drive: &ReferenceDrive, path: &str) -> Option<f64> {
    let number = drive.numbers.iter().find(|n| n.path == path)?;
    let value = leader(get(&drive.table, path)?)?;
    (number.provenance == Provenance::Fitted && value > 0.0).then_some(value)
}

/// Template and open structures of a drive, learned from `others`, which must not include it.
pub fn by_facts(
    drive: &ReferenceDrive,
    others: &[&ReferenceDrive],
    hardware: &Hardware,
) -> (Template, Vec<Alternatives>) {
    assert!(others.iter().all(|other| other.name != drive.name));
    let facts = hardware.drive(&drive.name);
    let mut table = drive.table.clone();
    let mut open: Vec<(String, (f64, f64))> = Vec::new();
    let drives = std::iter::once(drive).chain(others.iter().copied());
    let known: BTreeSet<&str> = drives
        .flat_map(|d| d.numbers.iter().map(|n| n.path.as_str()))
        .filter(|path| is_read_path(path))
        .collect();
    for path in known {
        let values: Vec<f64> = others.iter().filter_map(|o| fitted(o, path)).collect();
        let own = drive.numbers.iter().find(|n| n.path == path);
        let is_own_fit = own.is_some_and(|n| n.provenance == Provenance::Fitted);
        // No source gives a saving, see hardware::contradictions.
        let is_saving = path == "nand.partial_read_saving_ns";
        if is_quantity(path) && !is_saving && values.len() >= LEAST_DRIVES {
            let (mean, width) = by_fact(path, facts).unwrap_or(mean_and_width(&values));
            let template =
                get(&table, path).or_else(|| others.iter().find_map(|o| get(&o.table, path)));
            let Some(old) = template.cloned() else {
                continue;
            };
            let value = match leader(&old) {
                Some(at) if at > 0.0 => scaled(&old, mean.exp() / at),
                _ => Value::Integer(mean.exp().round() as i64),
            };
            put(&mut table, path, value);
            open.push((path.to_owned(), (mean, width)));
        } else if is_saving {
            put(&mut table, path, Value::Integer(0));
        } else if is_own_fit {
            structural(&mut table, path, others);
        }
    }
    for (path, middle, width) in MECHANISMS {
        if !open.iter().any(|(known, _)| known == path) {
            put(&mut table, path, Value::Integer(middle.round() as i64));
            open.push((path.to_owned(), (middle.ln(), width)));
        }
    }
    if let Some(cores) = facts.and_then(DriveFacts::cores) {
        let cores = Value::Integer(i64::from(cores.value));
        put(&mut table, "firmware.cores", cores);
    } else {
        structural(&mut table, "firmware.cores", others);
    }
    let (page, planes, dies) = geometry(facts, &table);
    reshape(&mut table, page, planes, dies);
    let one_path = Value::Integer(ONE_PATH);
    put(&mut table, "data_path.direct_limit_bytes", one_path);
    put(&mut table, "nand.cache_read", Value::Boolean(true));
    remove(&mut table, "firmware.read_block_by_hardware");
    let alternatives = alternatives(&table, facts, others, (page, planes, dies));
    let (paths, wide): (_, Vec<_>) = open.into_iter().unzip();
    let (mean, width) = wide.into_iter().unzip();
    let wide = Prior { mean, width };
    let template = Template { table, paths, wide };
    (template, alternatives)
}

/// Prior mean and width (logarithms) by the class of the flash, if that gives the number.
fn by_fact(path: &str, facts: Option<DriveFacts>) -> Option<(f64, f64)> {
    let flash = facts?.flash?;
    match path {
        "nand.read_ns" => {
            let [low, high] = flash.sense_us.as_ref()?.value;
            Some(((low * high).sqrt().ln() + 1000.0_f64.ln(), BY_FACT))
        }
        "nand.channel_bytes_per_second" => {
            let bus = f64::from(flash.bus_mt_s.as_ref()?.value) * 1e6;
            Some(((bus * CHANNEL_SHARE).ln(), BY_FACT))
        }
        _ => None,
    }
}

/// Replace by the other drives' median (of switches, majority), or remove where most have none.
fn structural(table: &mut Table, path: &str, others: &[&ReferenceDrive]) {
    let values: Vec<&Value> = others.iter().filter_map(|o| get(&o.table, path)).collect();
    if 2 * values.len() <= others.len() {
        let before = table.clone();
        remove(table, path);
        if Profile::from_table(table.clone()).is_err() {
            *table = before;
        }
        return;
    }
    let numbers: Vec<f64> = values.iter().filter_map(|v| leader(v)).collect();
    match (median(numbers), get(table, path)) {
        (Some(middle), Some(Value::Float(_))) => put(table, path, Value::Float(middle)),
        (Some(middle), _) => put(table, path, Value::Integer(middle.round() as i64)),
        (None, _) => {
            let on = values.iter().filter(|v| v.as_bool() == Some(true)).count();
            put(table, path, Value::Boolean(2 * on > values.len()));
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/template.rs"]
mod tests;
