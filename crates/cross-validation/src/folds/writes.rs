//! The fold of sequential writes: flash class, other drives, data sheet.

use toml::Table;

use super::heat::HEAT_MEMBERS;
use super::{Prediction, Study, no_valid_drive};
use crate::learn::{Evidence, learn};
use crate::template::unlearn;
use assay_calibrate::CalibrateError;
use assay_calibrate::inference::posterior::Prior;
use assay_calibrate::measurement::{FillFigure, Measurement, Procedure};
use assay_calibrate::numbers::{get, leader, put, scaled};
use assay_calibrate::predictive::Situation;
use assay_calibrate::structures::Structure;
use assay_calibrate::template::{ReferenceDrive, Template};
use assay_ssd::Provenance;
use assay_ssd::profile::ProfileNumber;

const WRITE_PATH: [&str; 7] = [
    "nand.program_",
    "nand.erase_",
    "nand.blocks_per_plane",
    "firmware.write_",
    "buffer.",
    "slc.",
    "ftl.",
];

const PROGRAM: &str = "nand.program_ns";
/// Width of times other than that of a program: unrelated drives differ by a factor of two.
const WRITE_WIDTH: f64 = 0.7;

/// Rates of sequential writes; the size of a cache is none.
fn is_write_rate(m: &Measurement) -> bool {
    matches!(
        m.procedure,
        Procedure::Fill(FillFigure::Steady | FillFigure::Full | FillFigure::First)
    )
}

/// Times of the path of a write that no source gives.
fn write_times(table: &Table, drive: &ReferenceDrive) -> Vec<String> {
    let is_free = |n: &&ProfileNumber| {
        let is_time = n.path.ends_with("_ns") && WRITE_PATH.iter().any(|s| n.path.starts_with(s));
        let value = get(table, &n.path).and_then(leader);
        is_time && n.provenance != Provenance::Published && value.is_some_and(|ns| ns > 0.0)
    };
    let free = drive.numbers.iter().filter(is_free);
    free.map(|n| n.path.clone()).collect()
}

impl Study {
    /// A drive with the write path of the other drives and the program time of its class of flash,
    /// and the prior of its free times. `None` where the class is not known.
    fn write_template(&self, name: &str) -> Option<(Template, Prior)> {
        let facts = self.hardware.drive(name).and_then(|f| f.flash)?;
        let program = facts.program_us.as_ref()?;
        let (mut template, _) = self.template(name);
        let (own, others) = self.own_and_others(name);
        unlearn(&mut template.table, own, &others, &|n| {
            n.provenance == Provenance::Fitted && WRITE_PATH.iter().any(|s| n.path.starts_with(s))
        });
        let [low, high] = program.value.map(|us| us * 1000.0);
        let pages = get(&template.table, "nand.program_pages")
            .and_then(leader)
            .unwrap_or(1.0);
        if let Some(old) = get(&template.table, PROGRAM).cloned()
            && let Some(list) = old.as_array()
        {
            let mean = list.iter().filter_map(leader).sum::<f64>() / list.len().max(1) as f64;
            let wanted = (low * high).sqrt() * pages;
            put(&mut template.table, PROGRAM, scaled(&old, wanted / mean));
        }
        let width = |free: &String| match free == PROGRAM {
            true => ((high / low).ln() / 3.3).max(0.3),
            false => WRITE_WIDTH,
        };
        template.paths = write_times(&template.table, own);
        let start = |free: &String| get(&template.table, free).and_then(leader);
        let mean = template.paths.iter().filter_map(start).map(f64::ln);
        let prior = Prior {
            mean: mean.collect(),
            width: template.paths.iter().map(width).collect(),
        };
        Some((template, prior))
    }

    pub fn write_fold(&self, name: &str) -> Result<Vec<Prediction>, CalibrateError> {
        let figures = self.figures[name].iter();
        let left_out: Vec<Measurement> = figures.filter(|m| is_write_rate(m)).cloned().collect();
        let Some((template, prior)) = self.write_template(name).filter(|_| !left_out.is_empty())
        else {
            return Ok(Vec::new());
        };
        let seeds = (self.seed, self.threads);
        let starts = [(Structure::new(), prior.mean.clone())];
        let evidence = Evidence::new(&[], &[], &self.lacks(name));
        let learned = learn(template, prior, evidence, &starts, None, seeds)
            .ok_or_else(|| no_valid_drive(name, "writes"))?;
        let members = learned.members(&left_out, HEAT_MEMBERS, &[], seeds);
        let fold = ("writes", Situation::OtherKinds);
        let mut out = self.predictions(fold, name, &left_out, &[], (&learned, &members));
        // No single figure of writes has a rating of two other drives, so they share one ratio.
        for one in &mut out {
            one.anchor = self.expected(name, &one.measurement, &is_write_rate)?;
        }
        Ok(out)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/writes.rs"]
mod tests;
