//! The table `figures`: the observations of runs, as statistics on cohorts take them. The caller of
//! [`crate::Lake::join`] observes, because figures are defined above this crate.

use assay_analysis::cohort::Observation;
use assay_analysis::cohort::observe::{Origin, serial_of};
use assay_stats::compare::Better;
use assay_store::Run;

use crate::ExportError;
use crate::lake::Lake;
use crate::lake::partition::NO_PLAN;
use crate::table::{Column, JoinedRun, Row, Value, ValueType};

pub(crate) const NAME: &str = "figures";

pub type Observe<'a> = &'a (dyn Fn(&Run, &Origin) -> Vec<Observation> + Sync);

/// Empty text is absent.
fn text(value: &str) -> Value {
    match value {
        "" => Value::Absent,
        value => Value::Text(value.to_owned()),
    }
}

/// The plan is no column: it is in the path of the partition.
pub(crate) fn columns() -> Vec<Column> {
    [
        ("run_id", ValueType::Text),
        ("simulated", ValueType::Flag),
        ("figure", ValueType::Text),
        ("unit", ValueType::Text),
        ("better", ValueType::Text),
        ("value", ValueType::Figure),
        ("serial", ValueType::Text),
        ("model", ValueType::Text),
        ("firmware", ValueType::Text),
        ("lot", ValueType::Text),
        ("group", ValueType::Text),
        ("host", ValueType::Text),
        ("slot", ValueType::Text),
        ("began", ValueType::Text),
    ]
    .map(|(name, kind)| (name.to_owned(), kind))
    .to_vec()
}

pub(crate) fn rows(run: &Run, joined: &JoinedRun, observe: Observe<'_>) -> Vec<Row> {
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let facts = &joined.facts;
    let origin = Origin {
        plan: known(&facts.plan),
        lot: known(&facts.lot),
        group: known(&facts.group),
        host: known(&facts.host),
        slot: known(&facts.slot),
    };
    let lot = |serial: &str| {
        let mut drives = run.manifest.drives.iter();
        let drive = drives.find(|drive| serial_of(drive) == serial)?;
        joined.of_drive(drive).lot
    };
    let row = |observation: Observation| {
        // A lot that the run folder knows.
        let lot = match observation.lot.as_str() {
            "" => lot(&observation.serial).unwrap_or_default(),
            known => known.to_owned(),
        };
        let better = match observation.better {
            Some(Better::More) => "more",
            Some(Better::Less) => "less",
            None => "",
        };
        vec![
            text(&observation.run_id),
            Value::Flag(observation.simulated),
            text(&observation.figure),
            text(&observation.unit),
            text(better),
            Value::Figure(observation.value),
            text(&observation.serial),
            text(&observation.model),
            text(&observation.firmware),
            text(&lot),
            text(&observation.group),
            text(&observation.host),
            text(&observation.slot),
            text(&observation.began),
        ]
    };
    observe(run, &origin).into_iter().map(row).collect()
}

fn observation(plan: &str, row: &Row) -> Observation {
    let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
    Observation {
        plan: if plan == NO_PLAN { String::new() } else { plan.to_owned() },
        run_id: text(0),
        simulated: row[1] == Value::Flag(true),
        figure: text(2),
        unit: text(3),
        better: match row[4].text() {
            Some("more") => Some(Better::More),
            Some("less") => Some(Better::Less),
            _ => None,
        },
        value: row[5].figure().unwrap_or(f64::NAN),
        serial: text(6),
        model: text(7),
        firmware: text(8),
        lot: text(9),
        group: text(10),
        host: text(11),
        slot: text(12),
        began: text(13),
    }
}

impl Lake {
    /// Observations of all plans or of one, in order of plan, month, run, and of what was observed.
    pub fn observations(&self, plan: Option<&str>) -> Result<Vec<Observation>, ExportError> {
        let mut found = Vec::new();
        self.read::<ExportError>(NAME, &columns(), &mut |partition, row| {
            if plan.is_none_or(|plan| plan == partition.plan) {
                found.push(observation(&partition.plan, &row));
            }
            Ok(())
        })?;
        Ok(found)
    }
}
