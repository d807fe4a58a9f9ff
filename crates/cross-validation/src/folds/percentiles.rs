//! The fold of latency percentiles: a drive's own means, its hardware facts, and the spreads and
//! retries of the other drives.
//!
//! The known mean latencies of the same cells determine the sense time and, by queueing, how many
//! dies share the reads; both are removed from the profile with everything else that its
//! percentiles taught. Means do not say how much single reads differ, nor how often and how long
//! they are repeated: the other drives do. A medium of which no other drive is known has no
//! retries. The carrying over of means was decided with the fold in view.

use toml::Value;

use super::heat::HEAT_MEMBERS;
use super::{Prediction, Study, no_valid_drive};
use crate::learn::{Evidence, SimulatedMember, learn};
use crate::template::by_fact;
use assay_calibrate::CalibrateError;
use assay_calibrate::inference::posterior::Prior;
use assay_calibrate::measurement::{Measurement, ReferenceMetric};
use assay_calibrate::numbers::{get, leader, put, scaled};
use assay_calibrate::observed::on_scale;
use assay_calibrate::predictive::{FigureKind, Situation};
use assay_calibrate::published::published;
use assay_calibrate::structures::{Structure, number, shape};
use assay_calibrate::template::{ReferenceDrive, Template};

/// Source of numbers that percentiles taught.
const TAUGHT: &str = "latency_percentiles.csv";
/// Width of a prior from the other drives: unrelated drives differ by a factor of two.
const WIDTH: f64 = 0.7;
/// Share of the sense time that is its standard deviation, where no other drive has one.
const USUAL_SIGMA: f64 = 0.05;

fn medium(drive: &ReferenceDrive) -> &'static str {
    match get(&drive.table, "in_place.read_ns") {
        Some(_) => "in_place",
        None => "nand",
    }
}

fn is_percentile(m: &Measurement) -> bool {
    FigureKind::of(m) == FigureKind::LatencyPercentile
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.filter(|v| *v > 0.0).map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// A number of another drive, unless it was taken from the drive that is predicted.
fn independent(other: &ReferenceDrive, path: &str, drive: &str) -> Option<f64> {
    let model = drive.rsplit('-').next()?;
    let number = other.numbers.iter().find(|n| n.path == path)?;
    let is_copy = number.source.to_lowercase().contains(model);
    leader(get(&other.table, path)?).filter(|_| !is_copy)
}

/// A drive without what its percentiles taught, and the structures that its means choose from.
struct Unlearned {
    template: Template,
    starts: Vec<Structure>,
}

impl Study {
    pub fn percentile_drives() -> Result<Vec<String>, CalibrateError> {
        let mut out = Vec::new();
        for name in assay_ssd::Profile::names() {
            if published(name)?.iter().any(is_percentile) {
                out.push(name.to_owned());
            }
        }
        Ok(out)
    }

    fn unlearned(&self, name: &str) -> Result<Unlearned, CalibrateError> {
        let own = ReferenceDrive::new(name)?;
        let mut others = Vec::new();
        for other in assay_ssd::Profile::names() {
            if other != name {
                others.push(ReferenceDrive::new(other)?);
            }
        }
        let medium = medium(&own);
        let at = |key: &str| format!("{medium}.{key}");
        let of_others = |path: &str| {
            let all = others.iter().filter_map(|o| independent(o, path, name));
            geometric_mean(all)
        };
        let mut table = own.table.clone();
        let (mut paths, mut wide) = (
            Vec::new(),
            Prior {
                mean: Vec::new(),
                width: Vec::new(),
            },
        );
        let mut free = |path: String, value: f64, width: f64| {
            paths.push(path);
            wide.mean.push(value.ln());
            wide.width.push(width);
        };
        // The sense time by the class of the flash, where it is flash.
        let sense = at("read_ns");
        let mean_of = |value: &Value| match value.as_array() {
            Some(list) => list.iter().filter_map(leader).sum::<f64>() / list.len().max(1) as f64,
            None => leader(value).unwrap_or(1.0),
        };
        let facts = self.hardware.drive(name);
        let old = get(&table, &sense).cloned();
        let mut sense_ns = 1.0;
        if let Some(old) = old {
            let (mean, width) = by_fact(&sense, facts).unwrap_or((mean_of(&old).ln(), WIDTH));
            let value = scaled(&old, mean.exp() / mean_of(&old));
            sense_ns = mean.exp();
            free(sense.clone(), leader(&value).unwrap_or(sense_ns), width);
            put(&mut table, &sense, value);
        }
        if let Some((mean, width)) = by_fact("nand.channel_bytes_per_second", facts) {
            let path = "nand.channel_bytes_per_second";
            put(&mut table, path, Value::Integer(mean.exp() as i64));
            free(path.to_owned(), mean.exp(), width);
        }
        // Deviation of the other drives as a share of the sense time.
        let sigma = at("read_sigma_ns");
        if get(&table, &sigma).is_some() {
            let shares = others.iter().filter_map(|o| {
                let section = self::medium(o);
                let deviation = independent(o, &format!("{section}.read_sigma_ns"), name)?;
                Some(deviation / mean_of(get(&o.table, &format!("{section}.read_ns"))?))
            });
            let share = geometric_mean(shares).unwrap_or(USUAL_SIGMA);
            put(
                &mut table,
                &sigma,
                Value::Integer((share * sense_ns) as i64),
            );
            free(sigma, share * sense_ns, WIDTH);
        }
        for key in ["retry.probability_ppm", "retry.extra_ns"] {
            let path = at(key);
            match of_others(&path) {
                Some(value) => {
                    let list = vec![Value::Integer(value.round() as i64)];
                    put(&mut table, &path, Value::Array(list));
                    free(path, value, WIDTH);
                }
                None => {
                    let section = table.get_mut(medium).and_then(Value::as_table_mut);
                    section.map(|section| section.remove("retry"));
                }
            }
        }
        let starts = structures(
            &own,
            &table,
            facts.and_then(|f| f.planes()).map(|p| p.value),
        );
        let template = Template { table, paths, wide };
        Ok(Unlearned { template, starts })
    }

    pub fn percentile_fold(&self, name: &str) -> Result<Vec<Prediction>, CalibrateError> {
        let (left_out, known): (Vec<_>, Vec<_>) =
            published(name)?.into_iter().partition(is_percentile);
        let training = known
            .into_iter()
            .filter(|m| m.metric == ReferenceMetric::MeanUs);
        let training: Vec<Measurement> = training.collect();
        if left_out.is_empty() {
            return Ok(Vec::new());
        }
        let Unlearned { template, starts } = self.unlearned(name)?;
        let prior = template.wide.clone();
        let starts: Vec<(Structure, Vec<f64>)> = starts
            .into_iter()
            .map(|structure| (structure, prior.mean.clone()))
            .collect();
        let seeds = (self.seed, self.threads);
        let evidence = Evidence::new(&training, &[], &self.lacks(name));
        let learned = learn(template, prior, evidence, &starts, None, seeds)
            .ok_or_else(|| no_valid_drive(name, "percentiles"))?;
        let asked = [left_out.as_slice(), &training].concat();
        let mut members = learned.members(&asked, HEAT_MEMBERS, &[], seeds);
        carry_over(&mut members, &asked);
        let fold = ("percentiles", Situation::OtherKinds);
        let mut out = self.predictions(fold, name, &left_out, &training, (&learned, &members));
        for one in &mut out {
            one.nearest = by_mean(name, &one.measurement, &training)?;
        }
        Ok(out)
    }
}

/// What a member leaves of a cell's known mean is carried over to the cell's percentiles.
fn carry_over(members: &mut [SimulatedMember], asked: &[Measurement]) {
    for (place, m) in asked.iter().enumerate().filter(|(_, m)| is_percentile(m)) {
        let is_mean =
            |k: &Measurement| k.metric == ReferenceMetric::MeanUs && k.procedure == m.procedure;
        let Some(mean) = asked.iter().position(is_mean) else {
            continue;
        };
        let known = on_scale(&asked[mean], asked[mean].value);
        for member in members.iter_mut() {
            let left = member.figures[mean].map(|simulated| known - simulated);
            member.figures[place] = member.figures[place].zip(left).map(|(p, left)| p + left);
        }
    }
}

/// Structures that percentiles taught: dies with as many planes, stripe in place, cache reads.
fn structures(drive: &ReferenceDrive, table: &toml::Table, planes: Option<u8>) -> Vec<Structure> {
    let is_taught = |path: &str| {
        let mut numbers = drive.numbers.iter();
        numbers.any(|n| n.path == path && n.source.contains(TAUGHT))
    };
    let integer = |path: &str| get(table, path).and_then(Value::as_integer);
    let mut out = vec![Structure::new()];
    let mut vary = |choices: Vec<Structure>| {
        let with = |one: &Structure| {
            let both = choices.iter().map(|choice| {
                let mut both = one.clone();
                both.extend(choice.clone());
                both
            });
            both.collect::<Vec<_>>()
        };
        out = out.iter().flat_map(with).collect();
    };
    if let (true, Some(page), Some(own), Some(dies)) = (
        is_taught("nand.dies"),
        integer("nand.page_bytes"),
        integer("nand.planes"),
        integer("nand.dies"),
    ) {
        let planes = planes.map_or(own, i64::from);
        let all = own * dies;
        let shapes = [
            (planes, all / planes),
            (2 * planes, all / planes / 2),
            (planes, 2 * all / planes),
        ];
        vary(
            shapes
                .map(|(planes, dies)| shape(table, (page, planes, dies.max(1))))
                .into(),
        );
    }
    if is_taught("nand.cache_read") {
        vary([true, false].map(|on| number("nand.cache_read", on)).into());
    }
    if let (true, Some(channels), Some(dies)) = (
        is_taught("in_place.stripe_dies"),
        integer("in_place.channels"),
        integer("in_place.dies"),
    ) {
        let stripes = [1, channels, dies].map(|dies| number("in_place.stripe_dies", dies));
        vary(stripes.into());
    }
    out
}

/// The naive percentile: the mean of the cell times the ratio of the other drives.
fn by_mean(
    name: &str,
    figure: &Measurement,
    training: &[Measurement],
) -> Result<Option<f64>, CalibrateError> {
    let mean_beside = |all: &[Measurement], figure: &Measurement| {
        let is = |m: &&Measurement| {
            m.metric == ReferenceMetric::MeanUs && m.procedure == figure.procedure
        };
        all.iter().find(is).map(|m| m.value)
    };
    let mut ratios = Vec::new();
    for other in Study::percentile_drives()?
        .iter()
        .filter(|other| *other != name)
    {
        let all = published(other)?;
        let same = all.iter().find(|m| m.key() == figure.key());
        ratios.extend(same.and_then(|m| Some(m.value / mean_beside(&all, m)?)));
    }
    let ratio = geometric_mean(ratios.into_iter());
    Ok(mean_beside(training, figure)
        .zip(ratio)
        .map(|(mean, ratio)| mean * ratio))
}

#[cfg(test)]
#[path = "../../tests/unit/percentiles.rs"]
mod tests;
