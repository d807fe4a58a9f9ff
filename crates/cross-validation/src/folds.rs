//! Cross-validation: what is left out, and the predictions of it.
//!
//! | fold | left out | learned from |
//! |---|---|---|
//! | `threads=64`, `threads=16` | this column of random reads | the other column |
//! | `long blocks` | random reads of 32 KiB and more | shorter ones |
//! | `drive` | all figures of the drive | hardware facts, other drives, data sheet |
//! | `sequential` | sequential reads | random reads |
//! | `writes` | sequential writes | flash class, other drives, data sheet |
//! | `temperature`, `throttling` | temperatures; figures of a throttled drive | other drives |
//! | `percentiles` | percentiles of latency | means of the same cells, facts, other drives |
//!
//! In each fold, template, prior, starts and structures are made anew without the drive's figures
//! that are left out. The discrepancy is learned from the other drives alone. Every figure of a
//! fold has a prediction: a template that is no valid drive is an error.

mod heat;
mod percentiles;
mod writes;

use std::collections::BTreeMap;

use toml::Value;

use crate::alternatives::Alternatives;
use crate::anchor::{anchors, rated, ratio};
use crate::discrepancy::{Discrepancy, ReadCell, ShippedResiduals};
use crate::hierarchy::{Estimate, shared_prior};
use crate::learn::{Evidence, Learned, SimulatedMember, centre_and_spread, in_unit, learn};
use crate::template::by_facts;
use assay_calibrate::CalibrateError;
use assay_calibrate::hardware::Hardware;
use assay_calibrate::inference::posterior::Prior;
use assay_calibrate::measurement::{Measurement, Procedure, ReferenceWorkload};
use assay_calibrate::numbers::get;
use assay_calibrate::observed::on_scale;
use assay_calibrate::predictive::{FigureKind, Situation};
use assay_calibrate::published::published;
use assay_calibrate::structures::{Structure, number};
use assay_calibrate::template::{ReferenceDrive, Template};

pub const MEMBERS: usize = 40;
/// Members of a fold: more structures than in an ensemble have a share.
const FOLD_MEMBERS: usize = 60;
/// Shortest long block.
const LONG_BYTES: u32 = 32 << 10;
/// The prediction of a figure that was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub fold: String,
    pub drive: String,
    pub measurement: Measurement,
    pub situation: Situation,
    /// The members' figure; 0: most have none (without throttling there are no periods).
    pub simulated: f64,
    /// Spread of the members: a logarithm, kelvin for temperatures.
    pub spread: f64,
    /// Expectation from the data sheet (its figure times the ratio that the other drives reach) and
    /// the ratio's spread; of writes, and of random reads where nothing of the drive is known.
    pub anchor: Option<(f64, f64)>,
    /// 0.8 times the data sheet, where it has the figure.
    pub data_sheet: Option<f64>,
    /// The nearest figure that was not left out, or the mean of the other drives.
    pub nearest: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoldGroup {
    /// Random and sequential reads.
    Reads,
    Writes,
    Heat,
    Percentiles,
}

impl FoldGroup {
    pub const ALL: [FoldGroup; 4] = [
        FoldGroup::Reads,
        FoldGroup::Writes,
        FoldGroup::Heat,
        FoldGroup::Percentiles,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FoldGroup::Reads => "reads",
            FoldGroup::Writes => "writes",
            FoldGroup::Heat => "heat",
            FoldGroup::Percentiles => "percentiles",
        }
    }

    pub fn of(fold: &str) -> Option<FoldGroup> {
        Some(match fold {
            "threads=64" | "threads=16" | "long blocks" | "drive" | "sequential" => {
                FoldGroup::Reads
            }
            "writes" => FoldGroup::Writes,
            "temperature" | "throttling" => FoldGroup::Heat,
            "percentiles" => FoldGroup::Percentiles,
            _ => return None,
        })
    }
}

pub struct Study {
    hardware: Hardware,
    drives: Vec<ReferenceDrive>,
    figures: BTreeMap<String, Vec<Measurement>>,
    /// By drive and path: what its random reads say, without a prior.
    estimates: BTreeMap<String, BTreeMap<String, Estimate>>,
    residuals: ShippedResiduals,
    learned: BTreeMap<String, Learned>,
    seed: u64,
    threads: usize,
}

fn no_valid_drive(name: &str, fold: &str) -> CalibrateError {
    CalibrateError::NoTargets {
        what: format!("{name}, fold {fold}"),
        why: "its template is not a valid drive; correct it in crates/cross-validation/src"
            .to_owned(),
    }
}

fn random_read(m: &Measurement) -> Option<ReferenceWorkload> {
    ReadCell::of(m)?;
    match m.procedure {
        Procedure::Steady(w) => Some(w),
        _ => None,
    }
}

fn is_sequential(m: &Measurement) -> bool {
    FigureKind::of(m) == FigureKind::SequentialRead
}

/// Controller family or flash class that a number belongs to.
fn class(hardware: &Hardware, drive: &str, path: &str) -> Option<String> {
    let own = hardware.drives.get(drive)?;
    let id = match path.split('.').next()? {
        "firmware" | "data_path" | "prefetch" => own.controller.as_ref(),
        "nand" => own.flash.as_ref(),
        _ => None,
    };
    id.map(|id| id.value.clone())
}

impl Study {
    /// The drives of which random reads are published.
    pub fn new(seed: u64, threads: usize) -> Result<Study, CalibrateError> {
        let mut figures = BTreeMap::new();
        let mut drives: Vec<ReferenceDrive> = Vec::new();
        for name in assay_ssd::Profile::names() {
            let all = published(name)?;
            if all
                .iter()
                .any(|m| random_read(m).is_some_and(|w| w.threads == 16))
            {
                drives.push(ReferenceDrive::new(name)?);
                figures.insert(name.to_owned(), all);
            }
        }
        Ok(Study {
            hardware: Hardware::embedded()?,
            drives,
            figures,
            estimates: BTreeMap::new(),
            residuals: ShippedResiduals::default(),
            learned: BTreeMap::new(),
            seed,
            threads,
        })
    }

    pub fn drives(&self) -> Vec<String> {
        self.drives.iter().map(|d| d.name.clone()).collect()
    }

    fn own_and_others(&self, name: &str) -> (&ReferenceDrive, Vec<&ReferenceDrive>) {
        let is = |d: &&ReferenceDrive| d.name == name;
        let own = self.drives.iter().find(is).expect("a drive of the study");
        (own, self.drives.iter().filter(|d| !is(d)).collect())
    }

    fn others(&self, name: &str) -> Vec<&str> {
        let names = self.drives.iter().map(|d| d.name.as_str());
        names.filter(|other| *other != name).collect()
    }

    /// Discrepancy learned from the other drives; of unknown size before [`Study::bases`].
    fn lacks(&self, name: &str) -> Discrepancy {
        self.residuals.lacks(name)
    }

    fn template(&self, name: &str) -> (Template, Vec<Alternatives>) {
        let (own, others) = self.own_and_others(name);
        by_facts(own, &others, &self.hardware)
    }

    /// The prior of a drive from the estimates of the others.
    fn prior(&self, name: &str, template: &Template) -> Prior {
        let mut prior = template.wide.clone();
        for (j, path) in template.paths.iter().enumerate() {
            let estimates = self.others(name).into_iter();
            let estimates = estimates.filter_map(|o| self.estimates.get(o)?.get(path).cloned());
            let wide = (prior.mean[j], prior.width[j]);
            let class = class(&self.hardware, name, path);
            (prior.mean[j], prior.width[j]) =
                shared_prior(&estimates.collect::<Vec<_>>(), &class, wide);
        }
        prior
    }

    /// Learn from all random reads, before any fold of reads; `progress` gets each discrepancy.
    pub fn bases(
        &mut self,
        progress: &mut dyn FnMut(&str, &Discrepancy),
    ) -> Result<(), CalibrateError> {
        let names = self.drives();
        self.residuals = ShippedResiduals::of(names.iter().map(String::as_str), self.threads)?;
        for name in &names {
            progress(name, &self.lacks(name));
            self.base(name)?;
        }
        Ok(())
    }

    fn base(&mut self, name: &str) -> Result<(), CalibrateError> {
        let (template, alternatives) = self.template(name);
        let figures = self.figures[name].iter();
        let training: Vec<Measurement> = figures
            .filter(|m| random_read(m).is_some())
            .cloned()
            .collect();
        let prior = template.wide.clone();
        let evidence = Evidence::new(&training, &[], &self.lacks(name));
        let seeds = (self.seed, self.threads);
        let learned = learn(template, prior, evidence, &[], Some(&alternatives), seeds)
            .ok_or_else(|| no_valid_drive(name, "base"))?;
        let of = learned.estimates(&|path| class(&self.hardware, name, path));
        self.estimates
            .insert(name.to_owned(), of.into_iter().collect());
        self.learned.insert(name.to_owned(), learned);
        Ok(())
    }

    /// Predict what `is_left_out` selects from what `is_trained` selects and the data sheet.
    fn predict(
        &self,
        (fold, situation): (&str, Situation),
        name: &str,
        is_trained: &dyn Fn(&Measurement) -> bool,
        is_left_out: &dyn Fn(&Measurement) -> bool,
        vary: &[Structure],
    ) -> Result<Vec<Prediction>, CalibrateError> {
        let figures = &self.figures[name];
        let training: Vec<Measurement> =
            figures.iter().filter(|m| is_trained(m)).cloned().collect();
        let left_out: Vec<Measurement> =
            figures.iter().filter(|m| is_left_out(m)).cloned().collect();
        if left_out.is_empty() {
            return Ok(Vec::new());
        }
        let (template, alternatives) = self.template(name);
        let prior = self.prior(name, &template);
        let anchors = anchors(&self.hardware, name, &self.others(name), &training)?;
        let evidence = Evidence::new(&training, &anchors, &self.lacks(name));
        let seeds = (self.seed, self.threads);
        let learned = learn(template, prior, evidence, &[], Some(&alternatives), seeds)
            .ok_or_else(|| no_valid_drive(name, fold))?;
        let members = learned.members(&left_out, FOLD_MEMBERS, vary, seeds);
        let fold = (fold, situation);
        Ok(self.predictions(fold, name, &left_out, &training, (&learned, &members)))
    }

    fn predictions(
        &self,
        (fold, situation): (&str, Situation),
        name: &str,
        left_out: &[Measurement],
        training: &[Measurement],
        (learned, members): (&Learned, &[SimulatedMember]),
    ) -> Vec<Prediction> {
        let one = |(place, m): (usize, &Measurement)| {
            let found = centre_and_spread(members, (place, m));
            let (simulated, spread) = found.map_or((0.0, 0.0), |(centre, between)| {
                (in_unit(m, centre), between.hypot(learned.unexplained(m)))
            });
            Prediction {
                fold: fold.to_owned(),
                drive: name.to_owned(),
                measurement: m.clone(),
                situation,
                simulated,
                spread,
                anchor: None,
                data_sheet: rated(&self.hardware, name, m).map(|rated| 0.8 * rated),
                nearest: self.nearest(name, m, training),
            }
        };
        left_out.iter().enumerate().map(one).collect()
    }

    /// See [`Prediction::anchor`]; the ratio is that of others in the figures that `is` selects.
    fn expected(
        &self,
        name: &str,
        m: &Measurement,
        is: &dyn Fn(&Measurement) -> bool,
    ) -> Result<Option<(f64, f64)>, CalibrateError> {
        let ratio = ratio(&self.hardware, &self.others(name), is)?;
        let claimed = rated(&self.hardware, name, m);
        let both = claimed.zip(ratio);
        Ok(both.map(|(claimed, (mean, spread))| (claimed * mean.exp(), spread)))
    }

    /// Same block at another number of threads, else the longest shorter block, else other drives.
    fn nearest(&self, name: &str, m: &Measurement, training: &[Measurement]) -> Option<f64> {
        let by_distance = |w: ReferenceWorkload| {
            let near = training
                .iter()
                .filter_map(|t| Some((random_read(t)?, t.value)));
            let distance = |(o, _): &(ReferenceWorkload, f64)| {
                let blocks = (f64::from(o.block_bytes) / f64::from(w.block_bytes))
                    .ln()
                    .abs();
                (blocks, o.threads.abs_diff(w.threads))
            };
            let near = near.min_by(|a, b| distance(a).partial_cmp(&distance(b)).expect("finite"));
            near.map(|(_, value)| value)
        };
        if let Some(near) = random_read(m).and_then(by_distance) {
            return Some(near);
        }
        let same = self.others(name).into_iter().filter_map(|other| {
            let found = self.figures[other].iter().find(|o| o.key() == m.key());
            found.map(|o| on_scale(m, o.value))
        });
        let same: Vec<f64> = same.collect();
        let mean = same.iter().sum::<f64>() / same.len() as f64;
        (!same.is_empty()).then(|| in_unit(m, mean))
    }

    pub fn drives_of(&self, group: FoldGroup) -> Result<Vec<String>, CalibrateError> {
        match group {
            FoldGroup::Percentiles => Study::percentile_drives(),
            _ => Ok(self.drives()),
        }
    }

    /// [`FoldGroup::Reads`] needs [`Study::bases`].
    pub fn fold_group(
        &self,
        name: &str,
        group: FoldGroup,
    ) -> Result<Vec<Prediction>, CalibrateError> {
        match group {
            FoldGroup::Reads => self.read_folds(name),
            FoldGroup::Writes => self.write_fold(name),
            FoldGroup::Heat => self.heat_fold(name),
            FoldGroup::Percentiles => self.percentile_fold(name),
        }
    }

    pub fn read_folds(&self, name: &str) -> Result<Vec<Prediction>, CalibrateError> {
        let threads = |m: &Measurement| random_read(m).map(|w| w.threads);
        let mut out = Vec::new();
        if self.figures[name].iter().any(|m| threads(m) == Some(64)) {
            for (fold, left, kept) in [("threads=64", 64, 16), ("threads=16", 16, 64)] {
                out.extend(self.predict(
                    (fold, Situation::AnotherDepth),
                    name,
                    &|m| threads(m) == Some(kept),
                    &|m| threads(m) == Some(left),
                    &[],
                )?);
            }
        }
        let is_long = |m: &Measurement| random_read(m).map(|w| w.block_bytes >= LONG_BYTES);
        out.extend(self.predict(
            ("long blocks", Situation::AnotherBlock),
            name,
            &|m| is_long(m) == Some(false),
            &|m| is_long(m) == Some(true),
            &[],
        )?);
        let windows = self.windows(name);
        let mut unseen = self.predict(
            ("drive", Situation::FactsOnly),
            name,
            &|_| false,
            &|m| random_read(m).is_some() || is_sequential(m),
            &windows,
        )?;
        // Ratings are those of many commands in flight, unlike a single sequential read.
        let is_random = |one: &&mut Prediction| random_read(&one.measurement).is_some();
        for one in unseen.iter_mut().filter(is_random) {
            let key = one.measurement.key();
            one.anchor = self.expected(name, &one.measurement, &|m| m.key() == key)?;
        }
        out.extend(unseen);
        let learned = self.learned.get(name);
        let learned = learned.expect("the base is learned before any fold");
        let figures = self.figures[name].iter();
        let (left_out, training): (Vec<_>, Vec<_>) = figures
            .filter(|m| is_sequential(m) || random_read(m).is_some())
            .cloned()
            .partition(is_sequential);
        let seeds = (self.seed, self.threads);
        let members = learned.members(&left_out, FOLD_MEMBERS, &windows, seeds);
        let fold = ("sequential", Situation::OtherKinds);
        let members = (learned, members.as_slice());
        out.extend(self.predictions(fold, name, &left_out, &training, members));
        Ok(out)
    }

    /// Random reads say nothing of read-ahead: none (600p, and by the rule of succession once
    /// more), or the windows of the other drives.
    fn windows(&self, name: &str) -> Vec<Structure> {
        let path = "prefetch.window_bytes";
        let others = self.own_and_others(name).1.into_iter();
        let mut values: Vec<Value> = others
            .filter_map(|o| get(&o.table, path).cloned())
            .collect();
        values.push(Value::Integer(0));
        values
            .into_iter()
            .map(|value| number(path, value))
            .collect()
    }
}

#[cfg(test)]
#[path = "../tests/unit/folds.rs"]
mod tests;
