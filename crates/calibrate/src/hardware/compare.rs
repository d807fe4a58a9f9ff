//! Profiles against the hardware facts of their drives.

use std::fmt::Debug;

use assay_ssd::Profile;

use super::{DriveFacts, Fact, Hardware, Origin, RatedFigure, Rating};

/// Published sense and program times are typical ones of new flash; a profile may differ so much.
const TIME_FACTOR: f64 = 1.25;
/// Share of spare blocks beyond a die's nominal density, or left out as defective.
const DIE_SHARE: f64 = 0.1;
/// Nominal capacities are rounded.
const CAPACITY_SHARE: f64 = 0.01;
/// Share of a rated rate that the controller's cores must be able to serve.
const RATED_SHARE: f64 = 0.95;

#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// Dotted path; the first of several where the fact concerns their sum or product.
    pub field: &'static str,
    pub profile: String,
    pub table: String,
    pub source: String,
    pub checked: bool,
    pub class: Option<String>,
}

#[derive(Default)]
struct Found {
    contradictions: Vec<Contradiction>,
    known: Vec<&'static str>,
}

impl Found {
    fn report(&mut self, field: &'static str, profile: String, table: String, origin: Origin) {
        self.contradictions.push(Contradiction {
            field,
            profile,
            table,
            source: origin.source.to_owned(),
            checked: origin.checked,
            class: origin.class.map(str::to_owned),
        });
    }

    fn equal<T: PartialEq + Debug>(
        &mut self,
        field: &'static str,
        value: &T,
        fact: Option<&Fact<T>>,
    ) {
        let Some(fact) = fact else { return };
        self.known.push(field);
        if fact.value != *value {
            let (profile, table) = (format!("{value:?}"), format!("{:?}", fact.value));
            self.report(field, profile, table, fact.origin());
        }
    }

    fn between(&mut self, field: &'static str, value: f64, [low, high]: [f64; 2], origin: Origin) {
        if !(low..=high).contains(&value) {
            let table = match high.is_finite() {
                true => format!("{low:.0} to {high:.0}"),
                false => format!("at least {low:.0}"),
            };
            self.report(field, format!("{value:.0}"), table, origin);
        }
    }
}

/// Numbers that disagree with what is known of the drive; none for an unknown drive.
pub fn contradictions(profile: &Profile, hardware: &Hardware) -> Vec<Contradiction> {
    compare(profile, hardware).contradictions
}

/// Paths of numbers that are known of the drive, so that a fit may not choose them.
pub fn known_numbers(profile: &Profile, hardware: &Hardware) -> Vec<&'static str> {
    compare(profile, hardware).known
}

fn compare(profile: &Profile, hardware: &Hardware) -> Found {
    let mut found = Found::default();
    if let Some(facts) = hardware.drive(&profile.name) {
        identity(&mut found, profile, facts);
        parts(&mut found, profile, facts);
        if profile.in_place.is_none() {
            flash(&mut found, profile, facts);
        }
        ratings(&mut found, profile, facts);
    }
    found
}

fn identity(found: &mut Found, profile: &Profile, facts: DriveFacts) {
    let (own, reported) = (facts.drive, &profile.identity);
    if let Some(gb) = &own.capacity_gb {
        let bounds =
            [1.0 - CAPACITY_SHARE, 1.0 + CAPACITY_SHARE].map(|share| share * gb.value * 1e9);
        let bytes = reported.capacity_bytes.value as f64;
        found.between("identity.capacity_bytes", bytes, bounds, gb.origin());
    }
    let version = own.nvme_version.as_ref();
    found.equal("identity.nvme_version", &reported.nvme_version, version);
    let (pairs, entries) = (reported.queue_pairs.value, reported.max_queue_entries.value);
    found.equal("identity.queue_pairs", &pairs, own.queue_pairs.as_ref());
    let known = own.max_queue_entries.as_ref();
    found.equal("identity.max_queue_entries", &entries, known);
    let (bytes, known) = (reported.max_transfer_bytes.value, own.max_transfer_bytes.as_ref());
    found.equal("identity.max_transfer_bytes", &bytes, known);
    let (warning, critical) = (reported.warning_celsius.value, reported.critical_celsius.value);
    found.equal("identity.warning_celsius", &warning, own.warning_celsius.as_ref());
    found.equal("identity.critical_celsius", &critical, own.critical_celsius.as_ref());
    let states = &reported.power_states_mw.value;
    found.equal("identity.power_states_mw", states, own.power_states_mw.as_ref());
    if let Some(table) = &profile.power.states {
        for (field, times_ns, known) in [
            ("power.states.enter_ns", &table.enter_ns.value, &own.enter_us),
            ("power.states.exit_ns", &table.exit_ns.value, &own.exit_us),
        ] {
            let times_us: Vec<u64> = times_ns.iter().map(|ns| ns / 1_000).collect();
            found.equal(field, &times_us, known.as_ref());
        }
    }
}

fn parts(found: &mut Found, profile: &Profile, facts: DriveFacts) {
    let (own, link) = (facts.drive, &profile.link);
    let generation = link.generation.value;
    match (&own.sata_gb_s, &link.sata) {
        (Some(rate), Some(_)) => {
            let gb_s = 0.75 * f64::from(1_u32 << generation);
            found.between("link.generation", gb_s, [rate.value; 2], rate.origin());
        }
        (Some(rate), None) => {
            let table = format!("SATA of {} Gbit/s", rate.value);
            found.report("link.sata", "PCIe".to_owned(), table, rate.origin());
        }
        (None, _) => {
            found.equal("link.generation", &generation, own.pcie_generation.as_ref());
            found.equal("link.lanes", &link.lanes.value, own.pcie_lanes.as_ref());
        }
    }
    found.equal("firmware.cores", &profile.firmware.cores.value, facts.cores());
    let (channels, dies) = (facts.channels(), own.dies.as_ref());
    match &profile.in_place {
        Some(media) => {
            found.equal("in_place.channels", &media.channels.value, channels);
            found.equal("in_place.dies", &media.dies.value, dies);
        }
        None => {
            found.equal("nand.channels", &profile.nand.channels.value, channels);
            found.equal("nand.dies", &profile.nand.dies.value, dies);
        }
    }
}

fn flash(found: &mut Found, profile: &Profile, facts: DriveFacts) {
    let nand = &profile.nand;
    found.equal("nand.planes", &nand.planes.value, facts.planes());
    found.equal("nand.page_bytes", &nand.page_bytes.value, facts.page_bytes());
    if let Some(gbit) = facts.die_gbit() {
        let blocks = u64::from(nand.planes.value) * u64::from(nand.blocks_per_plane.value);
        let bytes = blocks * u64::from(nand.pages_per_block.value) * nand.page_bytes.value;
        let nominal = f64::from(gbit.value) * f64::from(1 << 27);
        let bounds = [1.0 - DIE_SHARE, 1.0 + DIE_SHARE].map(|share| share * nominal);
        found.between("nand.blocks_per_plane", bytes as f64, bounds, gbit.origin());
    }
    if let (Some(dram), bytes) = (&facts.drive.dram_mb, profile.buffer.bytes.value) {
        let most = f64::from(dram.value) * f64::from(1 << 20);
        found.between("buffer.bytes", bytes as f64, [0.0, most], dram.origin());
    }
    let Some(class) = facts.flash else { return };
    if let Some(bits) = &class.cell_bits {
        let types = nand.read_ns.value.len() as f64;
        let bounds = [f64::from(bits.value); 2];
        found.between("nand.read_ns.page_types", types, bounds, bits.origin());
    }
    if let Some(bus) = &class.bus_mt_s {
        let most = f64::from(bus.value) * 1e6;
        let rate = nand.channel_bytes_per_second.value as f64;
        found.between("nand.channel_bytes_per_second", rate, [0.0, most], bus.origin());
    }
    let is_independent = (nand.independent_plane_reads.as_ref()).is_some_and(|reads| reads.value);
    let known = class.independent_plane_reads.as_ref();
    found.equal("nand.independent_plane_reads", &is_independent, known);
    let allowed = |[low, high]: [f64; 2]| [low * 1e3 / TIME_FACTOR, high * 1e3 * TIME_FACTOR];
    if let Some(sense) = &class.sense_us {
        let jitter = nand.read_jitter_ns.value as f64 / 2.0;
        let time = mean(&nand.read_ns.value) + jitter;
        found.between("nand.read_ns", time, allowed(sense.value), sense.origin());
        // No source gives a shorter sense of a part of a page.
        let saving = nand.partial_read_saving_ns.value as f64;
        found.between("nand.partial_read_saving_ns", saving, [0.0; 2], sense.origin());
    }
    if let Some(program) = &class.program_us {
        let time = mean(&nand.program_ns.value) / f64::from(nand.program_pages.value);
        found.between("nand.program_ns", time, allowed(program.value), program.origin());
    }
}

/// The cores must be able to serve the rated random reads and writes.
fn ratings(found: &mut Found, profile: &Profile, facts: DriveFacts) {
    let firmware = &profile.firmware;
    let cores = f64::from(firmware.cores.value);
    let reads = firmware.read_command_ns.value + firmware.read_page_ns.value;
    let writes = firmware.write_command_ns.value + firmware.write_unit_ns.value;
    for (field, ns, figure) in [
        ("firmware.read_command_ns", reads, Rating::RandomReadIops),
        ("firmware.write_command_ns", writes, Rating::RandomWriteIops),
    ] {
        if let Some(rated) = facts.highest(figure) {
            let per_second = cores * 1e9 / ns.max(1) as f64;
            let least = rated.value * RATED_SHARE;
            found.between(field, per_second, [least, f64::INFINITY], origin(rated));
        }
    }
}

fn origin(rated: &RatedFigure) -> Origin<'_> {
    Origin { source: &rated.source, checked: rated.checked, class: rated.class.as_deref() }
}

fn mean(times_ns: &[u64]) -> f64 {
    times_ns.iter().sum::<u64>() as f64 / times_ns.len().max(1) as f64
}

#[cfg(test)]
#[path = "../../tests/unit/hardware/compare.rs"]
mod tests;
