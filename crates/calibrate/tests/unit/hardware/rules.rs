//! The rules of `reference/hardware.toml` beyond its syntax.

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;

use assay_ssd::Profile;

use super::super::{Controller, Drive, Fact, Flash, Hardware, Origin, RatedFigure, Rating};

pub(super) struct Broken {
    /// Start of the line of the table concerned.
    pub heading: String,
    pub key: Option<&'static str>,
    /// The defect and what is accepted.
    pub what: String,
}

struct Checks<'a> {
    table: &'a Hardware,
    heading: String,
}

impl Checks<'_> {
    fn fail<T>(&self, key: Option<&'static str>, what: impl Display) -> Result<T, Broken> {
        Err(Broken { heading: self.heading.clone(), key, what: what.to_string() })
    }

    fn origin(&self, key: &'static str, origin: Origin) -> Result<(), Broken> {
        if !self.table.sources.contains_key(origin.source) {
            let what = format!("source {:?} is not in [sources]", origin.source);
            return self.fail(Some(key), what);
        }
        match origin.class {
            Some(class) if class.trim().is_empty() => {
                self.fail(Some(key), "class must give a reason; remove it otherwise")
            }
            _ => Ok(()),
        }
    }

    fn within<T: PartialOrd + Debug>(
        &self,
        key: &'static str,
        fact: &Option<Fact<T>>,
        range: RangeInclusive<T>,
    ) -> Result<(), Broken> {
        match fact {
            Some(fact) if !range.contains(&fact.value) => {
                self.fail(Some(key), format!("{:?} is not within {range:?}", fact.value))
            }
            _ => Ok(()),
        }
    }

    fn interval(
        &self,
        key: &'static str,
        fact: &Option<Fact<[f64; 2]>>,
        range: RangeInclusive<f64>,
    ) -> Result<(), Broken> {
        let Some(fact) = fact else { return Ok(()) };
        let [low, high] = fact.value;
        if low > high || !range.contains(&low) || !range.contains(&high) {
            let what = format!("[{low}, {high}] is not [lowest, highest] within {range:?}");
            return self.fail(Some(key), what);
        }
        Ok(())
    }

    fn page(&self, fact: &Option<Fact<u64>>) -> Result<(), Broken> {
        self.within("page_bytes", fact, 512..=65_536)?;
        match fact {
            Some(fact) if !fact.value.is_power_of_two() => {
                self.fail(Some("page_bytes"), "not a power of two")
            }
            _ => Ok(()),
        }
    }
}

/// Keys of sources in use.
fn used_sources(table: &Hardware) -> BTreeSet<&str> {
    let controllers = table.controllers.values().flat_map(Controller::origins);
    let flash = table.flash.values().flat_map(Flash::origins);
    let drives = table.drives.values();
    let rated = drives.clone().flat_map(|drive| &drive.rated);
    let facts = controllers.chain(flash).chain(drives.flat_map(Drive::origins));
    let sources = facts.map(|(_, origin)| origin.source);
    sources.chain(rated.map(|r| r.source.as_str())).collect()
}

pub(super) fn check(table: &Hardware) -> Result<(), Broken> {
    let checks = |heading: String| Checks { table, heading };
    let used = used_sources(table);
    for (key, source) in &table.sources {
        let at = checks(key.clone());
        if !used.contains(key.as_str()) {
            return at.fail(None, format!("source {key} is not used; remove it"));
        }
        if source.title.trim().is_empty() || source.place.trim().is_empty() {
            return at.fail(None, format!("source {key} needs a title and a place"));
        }
    }
    for (id, controller) in &table.controllers {
        check_controller(&checks(format!("[controllers.{id}]")), controller)?;
    }
    for (id, flash) in &table.flash {
        check_flash(&checks(format!("[flash.{id}]")), flash)?;
    }
    for (name, drive) in &table.drives {
        let at = checks(format!("[drives.{name}]"));
        if !Profile::names().contains(&name.as_str()) {
            return at.fail(None, format!("there is no profile called {name:?}"));
        }
        check_drive(&at, name, drive)?;
    }
    let is_missing = |name: &&&str| !table.drives.contains_key(**name);
    match Profile::names().iter().find(is_missing) {
        None => Ok(()),
        Some(name) => {
            let what = format!("the profile {name:?} has no table here: add [drives.{name}]");
            checks("[drives".to_owned()).fail(None, what)
        }
    }
}

fn check_controller(at: &Checks, controller: &Controller) -> Result<(), Broken> {
    for (key, origin) in controller.origins() {
        at.origin(key, origin)?;
    }
    at.within("cores", &controller.cores, 1..=64)?;
    at.within("channels", &controller.channels, 1..=64)?;
    at.within("process_nm", &controller.process_nm, 3..=130)
}

fn check_flash(at: &Checks, flash: &Flash) -> Result<(), Broken> {
    for (key, origin) in flash.origins() {
        at.origin(key, origin)?;
    }
    at.within("cell_bits", &flash.cell_bits, 1..=5)?;
    at.within("layers", &flash.layers, 0..=1_000)?;
    at.within("process_nm", &flash.process_nm, 10..=100)?;
    at.within("die_gbit", &flash.die_gbit, 1..=4_096)?;
    at.within("planes", &flash.planes, 1..=16)?;
    at.page(&flash.page_bytes)?;
    at.interval("sense_us", &flash.sense_us, 1.0..=1_000.0)?;
    at.interval("program_us", &flash.program_us, 10.0..=20_000.0)?;
    at.within("bus_mt_s", &flash.bus_mt_s, 20..=10_000)
}

fn check_power_states(at: &Checks, drive: &Drive) -> Result<(), Broken> {
    let states = drive.power_states_mw.as_ref().map(|states| &states.value);
    if states.is_some_and(|states| states.is_empty() || states.contains(&0)) {
        return at.fail(Some("power_states_mw"), "needs a state, and each above 0");
    }
    for (key, times) in [("enter_us", &drive.enter_us), ("exit_us", &drive.exit_us)] {
        let count = times.as_ref().map(|times| times.value.len());
        if count.is_some_and(|count| states.map(Vec::len) != Some(count)) {
            return at.fail(Some(key), "needs a time for each of power_states_mw");
        }
    }
    Ok(())
}

fn check_drive(at: &Checks, name: &str, drive: &Drive) -> Result<(), Broken> {
    for (key, origin) in drive.origins() {
        at.origin(key, origin)?;
    }
    for (key, id, exists) in [
        (
            "controller",
            &drive.controller,
            at.table.controllers.contains_key(value(&drive.controller)),
        ),
        ("flash", &drive.flash, at.table.flash.contains_key(value(&drive.flash))),
    ] {
        if let (Some(id), false) = (id, exists) {
            return at
                .fail(Some(key), format!("{:?} has no table of its own in this file", id.value));
        }
    }
    at.within("cores", &drive.cores, 1..=64)?;
    at.within("channels", &drive.channels, 1..=64)?;
    at.within("dies", &drive.dies, 1..=4_096)?;
    at.within("die_gbit", &drive.die_gbit, 1..=4_096)?;
    at.within("planes", &drive.planes, 1..=16)?;
    at.page(&drive.page_bytes)?;
    at.within("dram_mb", &drive.dram_mb, 0..=1 << 20)?;
    at.within("capacity_gb", &drive.capacity_gb, 1.0..=1e6)?;
    at.within("pcie_generation", &drive.pcie_generation, 1..=7)?;
    at.within("pcie_lanes", &drive.pcie_lanes, 1..=16)?;
    at.within("sata_gb_s", &drive.sata_gb_s, 1.5..=6.0)?;
    at.within("queue_pairs", &drive.queue_pairs, 1..=u16::MAX)?;
    at.within("max_queue_entries", &drive.max_queue_entries, 2..=65_536)?;
    at.within("max_transfer_bytes", &drive.max_transfer_bytes, 4_096..=1 << 30)?;
    at.within("warning_celsius", &drive.warning_celsius, 40..=150)?;
    at.within("critical_celsius", &drive.critical_celsius, 40..=150)?;
    let is_pcie = drive.pcie_generation.is_some() && drive.pcie_lanes.is_some();
    if is_pcie == drive.sata_gb_s.is_some() {
        return at.fail(None, "a drive has pcie_generation and pcie_lanes, or sata_gb_s");
    }
    check_power_states(at, drive)?;
    if let Some(facts) = at.table.drive(name) {
        let raw = |dies: u16, gbit: u32| f64::from(dies) * f64::from(gbit) * f64::from(1 << 27);
        let dies = drive.dies.as_ref().zip(facts.die_gbit());
        if let (Some((dies, gbit)), Some(gb)) = (dies, &drive.capacity_gb)
            && raw(dies.value, gbit.value) < gb.value * 1e9
        {
            return at.fail(Some("dies"), "less flash than capacity");
        }
    }
    for rated in &drive.rated {
        check_rated(at, rated)?;
    }
    Ok(())
}

fn value(id: &Option<Fact<String>>) -> &str {
    id.as_ref().map_or("", |id| &id.value)
}

fn check_rated(at: &Checks, rated: &RatedFigure) -> Result<(), Broken> {
    use Rating::*;
    let origin =
        Origin { source: &rated.source, checked: rated.checked, class: rated.class.as_deref() };
    at.origin("rated", origin)?;
    let range = match rated.figure {
        SequentialReadMbS | SequentialWriteMbS | CachedWriteMbS => 10.0..=100_000.0,
        RandomReadIops | RandomWriteIops | Mixed7030Iops => 1_000.0..=1e8,
        ReadLatencyUs | WriteLatencyUs | SequentialReadLatencyUs | SequentialWriteLatencyUs => {
            1.0..=100_000.0
        }
        CacheGb => 0.1..=10_000.0,
        ActivePowerW | ReadPowerW | WritePowerW | IdlePowerW => 0.001..=100.0,
        EnduranceTb => 1.0..=1e6,
        EnduranceDwpd => 0.01..=100.0,
    };
    let is_latency = matches!(rated.figure, ReadLatencyUs | WriteLatencyUs);
    let percentile = rated.percentile;
    if !range.contains(&rated.value) {
        let (value, figure) = (rated.value, rated.figure);
        return at.fail(Some("rated"), format!("{figure:?}: {value} is not within {range:?}"));
    }
    if percentile.is_some_and(|p| !is_latency || !(50.0..100.0).contains(&p)) {
        return at.fail(Some("rated"), "a percentile of 50 to below 100 belongs to a latency");
    }
    match rated.queue_depth {
        Some(0) => at.fail(Some("rated"), "queue_depth must be at least 1"),
        _ => Ok(()),
    }
}
