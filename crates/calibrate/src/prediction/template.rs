//! Profiles of drives from facts: what a fold starts from.
//!
//! A shipped profile was fitted, and its structure chosen, with all figures of its drive in view. A
//! template keeps of it what other sources say (identity, link, geometry by hardware facts, host)
//! and replaces the numbers of the read path: those that `reference/hardware.toml` knows by the
//! fact, structure by the median of the other drives, quantities by the geometric mean of the other
//! drives. [`Template::alternatives`] are the structures over which a fold averages.

use assay_ssd::profile::ProfileNumber;
use assay_ssd::{Profile, Provenance};
use assay_units::median;
use toml::{Table, Value};

use super::alternatives::{Alternatives, Structure, alternatives, apply};
use crate::CalibrateError;
use crate::hardware::{DriveFacts, Hardware};
use crate::inference::posterior::Prior;
use crate::parameter::{free_by_default, is_quantity};

/// Sections of the read path.
const SECTIONS: [&str; 4] = ["firmware.", "data_path.", "nand.", "prefetch."];
/// Numbers of the flash that reads do not depend on.
const WRITES: [&str; 3] = ["nand.program_", "nand.erase_", "firmware.write_"];
/// A quantity is free where so many other profiles have it as a fitted one.
const LEAST_DRIVES: usize = 3;
/// Width of the priors of a shipped profile's numbers: a factor of two either way.
pub const SHIPPED_WIDTH: f64 = 0.7;
/// Least width of a wide prior: numbers of unrelated drives differ by a factor of two.
const WIDE: f64 = 0.7;
/// Width where a fact gives the class of the flash: times within [lowest, highest] and by page
/// type.
const BY_FACT: f64 = 0.3;
/// Payload share of a flash channel: command, address and status cycles, and idle time between
/// transfers.
const CHANNEL_SHARE: f64 = 0.7;
/// One path for all lengths: no read is longer.
const ONE_PATH: i64 = 16 << 20;

/// Mechanisms that every drive has, with median and width by a source, whether or not other
/// profiles have fitted them. `firmware.read_latency_ns`: NVMeVirt's `fw_4kb_rd_lat` is 21.5 us for
/// a 970 PRO and contains the time that occupies a core here, so half of it, within a factor of
/// three. `data_path.prp_list_ns`: a round trip of a PCIe DMA engine takes 0.5 us and more (R.
/// Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018);
/// controllers that fetch the list early hide it.
const MECHANISMS: [(&str, f64, f64); 2] = [
    ("firmware.read_latency_ns", 10_000.0, 1.0),
    ("data_path.prp_list_ns", 500.0, 1.0),
];

/// A drive of whose kind figures are published.
#[derive(Clone, Debug)]
pub struct ReferenceDrive {
    /// Its profile's name.
    pub name: String,
    /// The shipped profile.
    pub table: Table,
    pub numbers: Vec<ProfileNumber>,
}

impl ReferenceDrive {
    /// The shipped profile of a name.
    pub fn new(name: &str) -> Result<ReferenceDrive, CalibrateError> {
        let text = Profile::builtin_text(name)?;
        let table = toml::from_str(text).map_err(assay_ssd::ProfileError::from)?;
        Ok(ReferenceDrive {
            name: name.to_owned(),
            table,
            numbers: Profile::numbers(text)?,
        })
    }

    /// Fitted and not 0: the leader of a list.
    fn fitted(&self, path: &str) -> Option<f64> {
        let number = self.numbers.iter().find(|n| n.path == path)?;
        let value = leader(get(&self.table, path)?)?;
        (number.provenance == Provenance::Fitted && value > 0.0).then_some(value)
    }
}

/// A drive from facts and other drives.
#[derive(Clone, Debug)]
pub struct Template {
    /// The profile.
    pub table: Table,
    /// Free numbers.
    pub paths: Vec<String>,
    /// Their wide priors, logarithms: of the mechanism's class.
    pub wide: Prior,
    /// Structural numbers that facts leave open, each with its values.
    pub alternatives: Vec<Alternatives>,
}

/// The value of a number.
pub fn get<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let mut keys = path.split('.');
    let first = table.get(keys.next()?)?;
    keys.try_fold(first, |at, key| at.as_table()?.get(key))?
        .as_table()?
        .get("value")
}

/// Set the value of a number; one that the profile leaves at its default is added. Nothing where
/// the section does not exist. Unlike the numbers of an ensemble's file
/// ([`assay_ssd::profile::ensemble`]), which must fit the profile, lists are replaced and
/// mechanisms that the template lacks are skipped.
pub fn put(table: &mut Table, path: &str, value: Value) {
    let Some((section, key)) = path.rsplit_once('.') else {
        return;
    };
    let mut at = table;
    for step in section.split('.') {
        let Some(next) = at.get_mut(step).and_then(Value::as_table_mut) else {
            return;
        };
        at = next;
    }
    let number = at.entry(key).or_insert_with(|| {
        let source = Value::from("by other drives");
        Table::from_iter([("assumed".to_owned(), source)]).into()
    });
    if let Some(number) = number.as_table_mut() {
        number.insert("value".to_owned(), value);
    }
}

/// Take a number out; the profile then has its default.
pub fn remove(table: &mut Table, path: &str) {
    let Some((section, key)) = path.rsplit_once('.') else {
        return;
    };
    let mut keys = section.split('.');
    let found = keys.try_fold(table, |at, key| at.get_mut(key)?.as_table_mut());
    if let Some(section) = found {
        section.remove(key);
    }
}

/// A number, or the first of a list.
pub fn leader(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Array(list) => list.first().and_then(leader),
        _ => None,
    }
}

/// A number with another size; a list by one factor, in the same type.
pub fn scaled(value: &Value, factor: f64) -> Value {
    match value {
        Value::Integer(n) => Value::Integer((*n as f64 * factor).round().clamp(1.0, 1e15) as i64),
        Value::Float(n) => Value::Float(n * factor),
        Value::Array(list) => Value::Array(list.iter().map(|v| scaled(v, factor)).collect()),
        other => other.clone(),
    }
}

/// Whether a number belongs to the path of a read.
pub fn is_read_path(path: &str) -> bool {
    SECTIONS.iter().any(|s| path.starts_with(s)) && !WRITES.iter().any(|w| path.starts_with(w))
}

fn mean_and_width(values: &[f64]) -> (f64, f64) {
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let n = logs.len().max(1) as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance.sqrt().max(WIDE))
}

/// Geometry with the same bytes in all.
pub fn reshape(table: &mut Table, page_bytes: i64, planes: i64, dies: i64) {
    let number = |path| {
        get(table, path)
            .and_then(Value::as_integer)
            .unwrap_or(1)
            .max(1)
    };
    let blocks = number("nand.blocks_per_plane");
    let before = number("nand.page_bytes") * number("nand.planes") * number("nand.dies") * blocks;
    let after = (page_bytes * planes * dies).max(1);
    put(
        table,
        "nand.blocks_per_plane",
        Value::Integer((before + after - 1) / after),
    );
    put(table, "nand.page_bytes", Value::Integer(page_bytes));
    put(table, "nand.planes", Value::Integer(planes));
    put(table, "nand.dies", Value::Integer(dies));
}

/// Values of structural numbers for a drive of which only facts are known.
fn geometry(facts: Option<DriveFacts>, table: &Table) -> (i64, i64, i64) {
    let tlc = facts
        .and_then(|f| f.flash?.cell_bits.as_ref())
        .is_some_and(|b| b.value >= 3);
    let page = facts.and_then(|f| f.page_bytes()).map(|f| f.value as i64);
    // flash_times.csv: pages of planar MLC have 8 or 16 KiB, of TLC 16.
    let page = page.unwrap_or(if tlc { 16_384 } else { 8_192 });
    let planes = facts
        .and_then(|f| f.planes())
        .map_or(2, |f| i64::from(f.value));
    let dies = facts
        .and_then(|f| f.drive.dies.as_ref())
        .map(|f| i64::from(f.value));
    let own = get(table, "nand.dies")
        .and_then(Value::as_integer)
        .unwrap_or(16);
    (page, planes, dies.unwrap_or(own))
}

impl Template {
    /// The template of a drive. `others` are the drives it may learn from; it must not be among
    /// them.
    pub fn new(
        drive: &ReferenceDrive,
        others: &[&ReferenceDrive],
        hardware: &Hardware,
    ) -> Template {
        assert!(others.iter().all(|other| other.name != drive.name));
        let facts = hardware.drive(&drive.name);
        let mut table = drive.table.clone();
        let (mut paths, mut wide) = (
            Vec::new(),
            Prior {
                mean: Vec::new(),
                width: Vec::new(),
            },
        );
        let mut known: Vec<&str> = drive.numbers.iter().map(|n| n.path.as_str()).collect();
        known.extend(
            others
                .iter()
                .flat_map(|o| o.numbers.iter().map(|n| n.path.as_str())),
        );
        known.retain(|path| is_read_path(path));
        known.sort_unstable();
        known.dedup();
        for path in known {
            let values: Vec<f64> = others.iter().filter_map(|o| o.fitted(path)).collect();
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
                paths.push(path.to_owned());
                wide.mean.push(mean);
                wide.width.push(width);
            } else if is_saving {
                put(&mut table, path, Value::Integer(0));
            } else if is_own_fit {
                structural(&mut table, path, others);
            }
        }
        for (path, middle, width) in MECHANISMS {
            if !paths.iter().any(|known| known == path) {
                put(&mut table, path, Value::Integer(middle.round() as i64));
                paths.push(path.to_owned());
                wide.mean.push(middle.ln());
                wide.width.push(width);
            }
        }
        if let Some(cores) = facts.and_then(DriveFacts::cores) {
            put(
                &mut table,
                "firmware.cores",
                Value::Integer(i64::from(cores.value)),
            );
        } else {
            structural(&mut table, "firmware.cores", others);
        }
        let (page, planes, dies) = geometry(facts, &table);
        reshape(&mut table, page, planes, dies);
        put(
            &mut table,
            "data_path.direct_limit_bytes",
            Value::Integer(ONE_PATH),
        );
        put(&mut table, "nand.cache_read", Value::Boolean(true));
        remove(&mut table, "firmware.read_block_by_hardware");
        let alternatives = alternatives(&table, facts, others, (page, planes, dies));
        Template {
            table,
            paths,
            wide,
            alternatives,
        }
    }

    /// A shipped profile as it is: its free numbers that reads depend on, with priors around their
    /// values.
    pub fn shipped(drive: &ReferenceDrive) -> Result<Template, CalibrateError> {
        let free = free_by_default(Profile::builtin_text(&drive.name)?)?;
        let free = free
            .into_iter()
            .filter(|f| !f.is_heat() && !f.path.contains("program"));
        let (mut paths, mut mean) = (Vec::new(), Vec::new());
        for path in free.map(|f| f.path) {
            if let Some(value) = get(&drive.table, &path).and_then(leader) {
                paths.push(path);
                mean.push(value.ln());
            }
        }
        let width = vec![SHIPPED_WIDTH; mean.len()];
        Ok(Template {
            table: drive.table.clone(),
            paths,
            wide: Prior { mean, width },
            alternatives: Vec::new(),
        })
    }

    /// The profile of a structure and a point; an error when it is not valid.
    pub fn profile(&self, structure: &Structure, point: &[f64]) -> Result<Profile, CalibrateError> {
        Ok(Profile::from_table(self.table_at(structure, point))?)
    }

    /// Its text as a table.
    pub fn table_at(&self, structure: &Structure, point: &[f64]) -> Table {
        let mut table = self.table.clone();
        apply(&mut table, structure);
        for (path, x) in self.paths.iter().zip(point) {
            let old = get(&table, path).cloned();
            if let Some((old, at)) = old.and_then(|old| leader(&old).map(|at| (old, at))) {
                put(&mut table, path, scaled(&old, x.exp() / at));
            }
        }
        table
    }
}

/// A prior by the class of the flash: mean and width, logarithms; `None` of numbers that the class
/// does not give.
pub fn by_fact(path: &str, facts: Option<DriveFacts>) -> Option<(f64, f64)> {
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

/// Replace numbers that a drive's own figures may have taught, fitted or assumed, by the geometric
/// mean of the other drives (of structural ones by their median). Those that no other drive has
/// stay, as nothing replaces them.
pub fn unlearn(
    table: &mut Table,
    drive: &ReferenceDrive,
    others: &[&ReferenceDrive],
    is_taught: &dyn Fn(&ProfileNumber) -> bool,
) {
    for number in drive.numbers.iter().filter(|n| is_taught(n)) {
        let path = number.path.as_str();
        let leaders = others.iter().filter_map(|o| leader(get(&o.table, path)?));
        let logs: Vec<f64> = leaders.filter(|v| *v > 0.0).map(f64::ln).collect();
        let old = get(table, path).cloned();
        match old.and_then(|old| leader(&old).map(|at| (old, at))) {
            Some((old, at)) if at > 0.0 && is_quantity(path) => {
                if !logs.is_empty() {
                    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
                    put(table, path, scaled(&old, mean.exp() / at));
                }
            }
            Some((Value::Array(_), _)) | None => {}
            Some(_) => structural(table, path, others),
        }
    }
}

/// Replace a structural number by the median of the other drives (of switches, the more frequent),
/// or leave it out where most have none.
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
#[path = "../../tests/unit/prediction/template.rs"]
mod tests;
