//! The tables of what is concluded from a run: `conclusions`, `phases`, `modes`.

use assay_analysis::conclusions::{Conclusion, Conclusions, ModeRow, PhaseRow};
use assay_store::Run;
use assay_store::model::DriveRecord;
use serde_json::Map;

use super::{Columns, Table, Value};

impl<'a, R: 'a> Columns<'a, R> {
    fn concluded(
        &mut self,
        run: &'a Run,
        drive: impl Fn(&R) -> usize + Copy + 'a,
        cell: impl Fn(&R) -> Option<&'a str> + 'a,
        step: impl Fn(&R) -> Option<&'a str> + 'a,
    ) {
        let record =
            move |row: &R| -> Option<&'a DriveRecord> { run.manifest.drives.get(drive(row)) };
        self.add("run_id", move |_| run.manifest.run_id.as_str());
        self.add("simulated", move |row| record(row).is_some_and(|d| d.simulated));
        self.add("drive", drive);
        self.add("drive_label", move |row| record(row).map(|d| d.label.as_str()));
        self.add("cell", cell);
        self.add("step", step);
    }
}

/// `conclusions`: one row per figure or answer.
pub fn conclusion_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    let mut c: Columns<'a, &'a Conclusion> = Columns::new();
    c.concluded(run, |c| c.drive, |c| c.cell.as_deref(), |c| c.step.as_deref());
    c.add("kind", |c| c.kind);
    c.add("name", |c| c.name);
    c.add("from_s", |c| c.span_s.map(|span| span.0));
    c.add("to_s", |c| c.span_s.map(|span| span.1));
    c.add("value", |c| c.value);
    c.add("unit", |c| Some(c.unit).filter(|unit| !unit.is_empty()));
    c.add("lower", |c| c.interval.map(|interval| interval.0));
    c.add("upper", |c| c.interval.map(|interval| interval.1));
    c.add("text", |c| c.text.as_deref());
    c.table("conclusions", found.conclusions.iter())
}

/// `phases`: one row per phase of a drive in a cell.
pub fn phase_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    let mut c: Columns<'a, &'a PhaseRow> = Columns::new();
    c.concluded(run, |p| p.drive, |p| Some(&p.cell), |p| Some(&p.step));
    c.add("from_s", |p| p.span_s.0);
    c.add("to_s", |p| p.span_s.1);
    c.add("cause", |p| p.cause.as_str());
    c.add("mean_mib_per_s", |p| p.mean_mib_per_s);
    c.add("mean_iops", |p| p.mean_iops);
    c.add("cache_bytes", |p| p.cache_bytes);
    c.add("write_amplification", |p| p.write_amplification);
    c.add("onset_c", |p| p.onset_c);
    c.add("onset_s", |p| p.onset_s);
    c.add("duty_pct", |p| p.duty_pct);
    c.add("period_s", |p| p.period_s);
    c.add("power_state", |p| p.power_state);
    c.add("asked_iops", |p| p.asked_iops);
    c.add("evidence", |p| p.evidence.as_str());
    c.table("phases", found.phases.iter())
}

/// `modes`: one row per mode of a drive in a cell; a single one where the rate has one level.
pub fn mode_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    let mut c: Columns<'a, &'a ModeRow> = Columns::new();
    c.concluded(run, |m| m.drive, |m| Some(&m.cell), |m| Some(&m.step));
    c.add("from_s", |m| m.span_s.0);
    c.add("to_s", |m| m.span_s.1);
    c.add("mode", |m| m.number);
    c.add("level_iops", |m| m.mode.level);
    c.add("stddev_iops", |m| m.mode.stddev);
    c.add("share_pct", |m| m.mode.share_pct);
    c.add("visits", |m| m.mode.visits);
    c.add("dwell_s", |m| m.mode.dwell);
    c.add("longest_s", |m| m.mode.longest);
    c.table("modes", found.modes.iter())
}

impl Table<'_> {
    /// The rows as JSON objects with the columns' names as keys, null where a value is absent.
    pub fn objects(self) -> impl Iterator<Item = Map<String, serde_json::Value>> {
        let names: Vec<String> = self.columns.into_iter().map(|(name, _)| name).collect();
        self.rows.map(move |row| {
            let values = row.into_iter().map(|value| match value {
                Value::Absent => serde_json::Value::Null,
                Value::Count(n) => n.into(),
                Value::Figure(x) => x.into(),
                Value::Flag(flag) => flag.into(),
                Value::Text(text) => text.into(),
            });
            names.iter().cloned().zip(values).collect()
        })
    }
}
