//! Tables that only joined tables of many runs have, and what they know of a run beside its folder.

use assay_analysis::conclusions::Conclusions;
use assay_store::model::{CellKind, DriveRecord, Warning};
use assay_store::read::Run;
use serde::{Deserialize, Serialize};

use super::{
    Column, Columns, Table, conclusion_table, intervals, mode_table, phase_table, run_table,
};

/// Facts that a run folder, which is published, does not have, and what a plan knows of its drives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The plan that the run is of.
    pub plan: Option<String>,
    /// Group of the drive in comparisons.
    pub group: Option<String>,
    /// Production lot of the drive; else that of a simulated drive's specification.
    pub lot: Option<String>,
    /// The host that measured.
    pub host: Option<String>,
    /// Slot of the drive in it.
    pub slot: Option<String>,
    /// PCIe link of the drive; else the one recorded in the run folder.
    pub link: Option<String>,
    /// Which attempt at the drive it was, from 1.
    pub attempt: Option<u64>,
}

/// A run among others in joined tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedRun {
    /// What is known of it beside its folder.
    pub facts: RunFacts,
    /// SHA-256 of `manifest.json`, in lower-case hex: two runs of one name differ in it.
    pub manifest_sha256: String,
    /// Length of the journal when the run was read: a resumed run has grown.
    pub journal_bytes: u64,
}

impl JoinedRun {
    /// Names of the joined tables.
    pub const NAMES: [&'static str; 9] = [
        "runs",
        "cells",
        "intervals",
        "telemetry",
        "warnings",
        "inventory",
        "conclusions",
        "phases",
        "modes",
    ];

    /// The tables of a run that was read with [`Run::open_minutes`].
    pub fn tables<'a>(&'a self, run: &'a Run, found: &'a Conclusions) -> [Table<'a>; 9] {
        [
            run_table(run, Some(self)),
            super::cell_table(run, found),
            soak_table(run),
            super::telemetry_table(run),
            warning_table(run),
            inventory_table(run, self),
            conclusion_table(run, found),
            phase_table(run, found),
            mode_table(run, found),
        ]
    }

    /// Columns of the joined tables, in the order of [`JoinedRun::NAMES`].
    pub fn definitions() -> [Vec<Column>; 9] {
        let (joined, run, found) = (JoinedRun::default(), Run::default(), Conclusions::default());
        joined.tables(&run, &found).map(|table| table.columns)
    }

    /// The facts in `runs`, with what the run folder knows where they are silent.
    pub fn of_drive(&self, drive: &DriveRecord) -> RunFacts {
        RunFacts {
            lot: lot(&self.facts, drive).map(str::to_owned),
            link: link(&self.facts, drive).map(str::to_owned),
            ..self.facts.clone()
        }
    }

    /// The plan is no column: it is in the path of a partition.
    pub(super) fn columns<'a>(&'a self, c: &mut Columns<'a, (usize, &'a DriveRecord)>) {
        let facts = &self.facts;
        c.add("group", |_| facts.group.as_deref());
        c.add("lot", |(_, d)| lot(facts, d).map(str::to_owned));
        c.add("host", |_| facts.host.as_deref());
        c.add("slot", |_| facts.slot.as_deref());
        c.add("link", |(_, d)| link(facts, d).map(str::to_owned));
        c.add("attempt", |_| facts.attempt);
        c.add("manifest_sha256", |_| self.manifest_sha256.as_str());
        c.add("journal_bytes", |_| self.journal_bytes);
    }
}

/// As given, else the one that a simulated drive's specification names.
fn lot<'a>(facts: &'a RunFacts, drive: &'a DriveRecord) -> Option<&'a str> {
    let simulated = || {
        // "7; its numbers differ from the profile's: ..."
        let text = drive.details.get("lot")?;
        Some(text.split(';').next().unwrap_or(text))
    };
    facts.lot.as_deref().or_else(simulated)
}

fn link<'a>(facts: &'a RunFacts, drive: &'a DriveRecord) -> Option<&'a str> {
    let recorded = || drive.details.get("PCIe link now").map(String::as_str);
    facts.link.as_deref().or_else(recorded)
}

/// `intervals` of soaks only: of a run read with [`Run::open_minutes`], by the minute.
pub fn soak_table(run: &Run) -> Table<'_> {
    intervals(run, |cell| cell.plan.kind == CellKind::Soak)
}

/// `warnings`: one row per warning of the run.
pub fn warning_table(run: &Run) -> Table<'_> {
    let mut c: Columns<'_, &Warning> = Columns::new();
    c.add("run_id", |_| run.manifest.run_id.as_str());
    c.add("simulated", |w| match w.drive {
        Some(drive) => run.manifest.drives.get(drive).is_some_and(|d| d.simulated),
        None => run.has_simulated(),
    });
    c.add("drive", |w| w.drive);
    c.add("cell", |w| w.cell.as_deref());
    c.add("code", |w| w.code.as_str());
    c.add("message", |w| w.message.as_str());
    c.add("advice", |w| w.advice.as_str());
    c.table("warnings", run.warnings.iter())
}

/// `inventory`: one row per run and drive: which drive was where, and how worn, when the run began.
pub fn inventory_table<'a>(run: &'a Run, joined: &'a JoinedRun) -> Table<'a> {
    let mut c: Columns<'a, (usize, &'a DriveRecord)> = Columns::new();
    let facts = &joined.facts;
    let manifest = &run.manifest;
    c.add("run_id", |_| manifest.run_id.as_str());
    c.add("simulated", |(_, d)| d.simulated);
    c.add("drive", |(drive, _)| *drive);
    c.add("seen", |_| manifest.created.as_str());
    c.add("serial", |(_, d)| d.serial.as_str());
    c.add("model", |(_, d)| d.model.as_str());
    c.add("firmware", |(_, d)| d.firmware.as_str());
    c.add("capacity_bytes", |(_, d)| d.capacity_bytes);
    c.add("host", |_| facts.host.as_deref());
    c.add("slot", |_| facts.slot.as_deref());
    c.add("pcie_address", |(_, d)| detail(d, "PCIe address"));
    c.add("link", |(_, d)| link(facts, d).map(str::to_owned));
    c.add("link_possible", |(_, d)| detail(d, "PCIe link possible"));
    c.add("numa_node", |(_, d)| {
        let node: Option<u64> = d.details.get("NUMA node")?.parse().ok();
        node
    });
    // The first reading of the run: wear counts up during it.
    let first = |drive: usize| {
        let parts = run.cells.iter().filter_map(move |cell| cell.drive(drive));
        parts.flat_map(|part| &part.telemetry).next()
    };
    c.add("percentage_used", move |&(drive, _)| first(drive)?.percentage_used.map(u32::from));
    c.add("available_spare_pct", move |&(drive, _)| {
        first(drive)?.available_spare_pct.map(u32::from)
    });
    c.add("host_bytes_written", move |&(drive, _)| first(drive)?.host_bytes_written);
    c.add("nand_bytes_written", move |&(drive, _)| first(drive)?.nand_bytes_written);
    c.add("media_errors", move |&(drive, _)| first(drive)?.media_errors);
    c.add("power_on_hours", move |&(drive, _)| first(drive)?.power_on_hours);
    c.table("inventory", manifest.drives.iter().enumerate())
}

fn detail(drive: &DriveRecord, name: &str) -> Option<String> {
    drive.details.get(name).cloned()
}
