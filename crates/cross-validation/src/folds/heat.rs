//! The folds of temperatures and of throttling: heat from the other drives, rates from the drive's
//! own profile.
//!
//! The temperature at which throttling begins is a setting of the firmware, not a result of heat.
//! Its prior combines by precision that of the other drives, and the drive's warning temperature
//! with the other drives' difference to theirs. Members that stay below it answer with it too, as
//! the figure is asked only of drives that throttle.

use toml::{Table, Value};

use super::{Prediction, Study};
use crate::learn::{Evidence, SimulatedMember, learn};
use crate::score::combined;
use crate::template::unlearn;
use assay_calibrate::CalibrateError;
use assay_calibrate::inference::posterior::Prior;
use assay_calibrate::measurement::{Measurement, Procedure, ReferenceMetric, SoakFigure};
use assay_calibrate::numbers::{get, leader, put};
use assay_calibrate::predictive::Situation;
use assay_calibrate::structures::{Structure, number};
use assay_calibrate::template::{ReferenceDrive, Template};
use assay_ssd::Provenance;
use assay_units::median;

/// A soak costs a hundred cells.
pub(super) const HEAT_MEMBERS: usize = 16;
/// Spread of ambient conditions (temperature, airflow) and of the module's thermal contact.
const AMBIENT_K: f64 = 3.0;
/// Least spread of thresholds and their margins: firmware and sensors round to a kelvin.
const LEAST_THRESHOLD_K: f64 = 1.0;
/// Hysteresis where only the warning temperature is known.
const HYSTERESIS_K: f64 = 2.0;
/// Strata of a normal distribution from which members take ambient temperature and threshold.
const STRATA: [f64; 5] = [-1.5, -0.5, 0.0, 0.5, 1.5];
/// Numbers that vary between members, with the spread of the other drives.
const VARIED: [&str; 3] = [
    "thermal.resistance_k_per_w",
    "thermal.controller.resistance_k_per_w",
    "thermal.time_constant_s",
];
/// Least spread, a logarithm: some profiles assume these numbers alike, but boards differ.
const LEAST_WIDTH: f64 = 0.2;
const IDLE: &str = "power.idle_mw";
const STATES_IDLE: &str = "power.states.idle_mw";
const ON: &str = "thermal.throttle_on_celsius";
const OFF: &str = "thermal.throttle_off_celsius";

/// The figure that a drive has in place of `figure` when it does not throttle, if any.
fn unthrottled(figure: SoakFigure) -> Option<SoakFigure> {
    match figure {
        SoakFigure::ThrottledRead => Some(SoakFigure::SettledRead),
        _ => None,
    }
}

/// Mean and spread for a further value; `None` with fewer than two.
fn further(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let variance = (squares / (n - 1.0)).max(LEAST_THRESHOLD_K.powi(2));
    (values.len() > 1).then(|| (mean, (variance * (1.0 + 1.0 / n)).sqrt()))
}

/// Mean and spread of the logarithms of a number of the other drives; `None` with fewer than two.
fn of_others(others: &[&ReferenceDrive], path: &str) -> Option<(f64, f64)> {
    let values = others.iter().filter_map(|o| leader(get(&o.table, path)?));
    let logs: Vec<f64> = values.filter(|v| *v > 0.0).map(f64::ln).collect();
    if logs.len() < 2 {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>();
    Some((mean, (squares / (logs.len() - 1) as f64).sqrt()))
}

/// Operational states idle alike: replace the idle power in the table of the states too.
fn idle_alike(table: &mut Table, before: Option<&Value>) {
    let (Some(before), Some(after)) = (before, get(table, IDLE).cloned()) else {
        return;
    };
    let states = get(table, STATES_IDLE).and_then(Value::as_array).cloned();
    if let Some(mut states) = states {
        for state in states.iter_mut().filter(|state| *state == before) {
            *state = after.clone();
        }
        put(table, STATES_IDLE, Value::Array(states));
    }
}

impl Study {
    /// A drive with power, resistances, time constant and throttling of the other drives and its
    /// own warning temperature; and mean and spread of its throttling threshold.
    pub(super) fn heat_template(&self, name: &str) -> (Template, (f64, f64)) {
        let (own, others) = self.own_and_others(name);
        let mut table = own.table.clone();
        unlearn(&mut table, own, &others, &|n| {
            let is_heat = n.path.starts_with("power.") || n.path.starts_with("thermal.");
            is_heat && n.provenance != Provenance::Published && !n.path.starts_with("power.states.")
        });
        idle_alike(&mut table, get(&own.table, IDLE));
        let mut wide = Prior {
            mean: Vec::new(),
            width: Vec::new(),
        };
        let mut paths = Vec::new();
        for path in VARIED {
            let has = get(&table, path).is_some();
            if let Some((mean, spread)) = of_others(&others, path).filter(|_| has) {
                put(&mut table, path, Value::Float(mean.exp()));
                paths.push(path.to_owned());
                wide.mean.push(mean);
                wide.width.push(spread.max(LEAST_WIDTH));
            }
        }
        let (on, on_spread) = self.threshold(name);
        put(&mut table, ON, Value::Float(on));
        let off = Value::Float(on - HYSTERESIS_K);
        put(&mut table, OFF, off);
        let percent = others
            .iter()
            .filter_map(|o| get(&o.table, "thermal.throttle_percent")?.as_integer());
        let percent: Vec<f64> = percent.filter(|&p| p > 100).map(|p| p as f64).collect();
        let percent = median(percent).unwrap_or(200.0).round() as i64;
        put(
            &mut table,
            "thermal.throttle_percent",
            Value::Integer(percent),
        );
        if let Some(thermal) = table.get_mut("thermal").and_then(Value::as_table_mut) {
            thermal.remove("levels");
        }
        let template = Template { table, paths, wide };
        (template, (on, on_spread))
    }

    /// Where throttling begins: published of the drive, else by a source in its profile.
    fn known_threshold(&self, drive: &ReferenceDrive) -> Option<f64> {
        let is = |m: &&Measurement| m.procedure == Procedure::Soak(SoakFigure::ThrottleCelsius);
        if let Some(measured) = self.figures[&drive.name].iter().find(is) {
            return Some(measured.value);
        }
        let number = drive.numbers.iter().find(|n| n.path == ON)?;
        let celsius = leader(get(&drive.table, ON)?)?;
        (number.provenance == Provenance::Published && celsius > 0.0).then_some(celsius)
    }

    /// Mean and spread of the throttling threshold, see the module header.
    fn threshold(&self, name: &str) -> (f64, f64) {
        let (_, others) = self.own_and_others(name);
        let warning = |name: &str| {
            let facts = self.hardware.drive(name)?;
            let celsius = facts.drive.warning_celsius.as_ref()?;
            Some(f64::from(celsius.value))
        };
        let known = others
            .iter()
            .filter_map(|o| Some((*o, self.known_threshold(o)?)));
        let known: Vec<(&ReferenceDrive, f64)> = known.collect();
        let all: Vec<f64> = known.iter().map(|(_, celsius)| *celsius).collect();
        let beyond = known
            .iter()
            .filter_map(|(o, celsius)| Some(celsius - warning(&o.name)?));
        let beyond = further(&beyond.collect::<Vec<_>>());
        let class = further(&all).expect("several drives throttle");
        match warning(name).zip(beyond) {
            Some((warning, (distance, spread))) => combined(class, (warning + distance, spread)),
            None => class,
        }
    }

    /// A member that does not throttle has the rate of its steady state and its threshold, and no
    /// periods; a figure that most members do not have is predicted as 0 and missed.
    pub fn heat_fold(&self, name: &str) -> Result<Vec<Prediction>, CalibrateError> {
        // One of the two published second sensors is stuck, so no other drive can be learned from.
        let is_heat = |m: &&Measurement| {
            m.procedure.is_heat() && m.procedure != Procedure::Soak(SoakFigure::SecondSensor)
        };
        let figures = self.figures[name].iter();
        let left_out: Vec<Measurement> = figures.filter(is_heat).cloned().collect();
        if left_out.is_empty() {
            return Ok(Vec::new());
        }
        let (template, threshold) = self.heat_template(name);
        let prior = template.wide.clone();
        let thresholds = STRATA.map(|z| threshold.0 + z * threshold.1);
        // Each ambient temperature with another threshold: a Latin square's diagonal.
        let vary: Vec<Structure> = (0..STRATA.len())
            .map(|k| {
                let on = thresholds[(2 * k + 1) % STRATA.len()];
                let mut one = number("thermal.ambient_celsius", 25.0 + STRATA[k] * AMBIENT_K);
                one.extend(number(ON, on));
                one.extend(number(OFF, on - HYSTERESIS_K));
                one
            })
            .collect();
        let seeds = (self.seed, self.threads);
        let starts = [(Structure::new(), prior.mean.clone())];
        let evidence = Evidence::new(&[], &[], &self.lacks(name));
        let learned = learn(template, prior, evidence, &starts, None, seeds)
            .ok_or_else(|| super::no_valid_drive(name, "heat"))?;
        let asked = with_unthrottled(&left_out);
        let mut members = learned.members(&asked, HEAT_MEMBERS, &vary, seeds);
        steady_where_not_throttled(&mut members, &asked);
        threshold_where_not_throttled(&mut members, &asked);
        let fold = ("temperature", Situation::OtherKinds);
        let mut out = self.predictions(fold, name, &left_out, &[], (&learned, &members));
        for one in &mut out {
            if one.measurement.metric != ReferenceMetric::Celsius {
                one.fold = "throttling".to_owned();
            }
        }
        Ok(out)
    }
}

/// The figures, then those that drives have in their place when they do not throttle.
fn with_unthrottled(figures: &[Measurement]) -> Vec<Measurement> {
    let other = figures.iter().filter_map(|m| match m.procedure {
        Procedure::Soak(figure) => Some(Measurement {
            procedure: Procedure::Soak(unthrottled(figure)?),
            ..m.clone()
        }),
        _ => None,
    });
    let other: Vec<Measurement> = other.collect();
    [figures, &other].concat()
}

/// Set where throttling would begin of members that stay below.
fn threshold_where_not_throttled(members: &mut [SimulatedMember], asked: &[Measurement]) {
    let is = |m: &Measurement| m.procedure == Procedure::Soak(SoakFigure::ThrottleCelsius);
    let Some(place) = asked.iter().position(is) else {
        return;
    };
    for member in members.iter_mut() {
        let on = member.structure.get(ON).and_then(Option::as_ref);
        member.figures[place] = member.figures[place].or(on.and_then(leader));
    }
}

fn steady_where_not_throttled(members: &mut [SimulatedMember], asked: &[Measurement]) {
    for (place, m) in asked.iter().enumerate() {
        let Procedure::Soak(figure) = m.procedure else {
            continue;
        };
        let steady = unthrottled(figure).map(Procedure::Soak);
        let is_steady = |a: &Measurement| Some(a.procedure) == steady && a.metric == m.metric;
        let Some(other) = asked.iter().position(is_steady) else {
            continue;
        };
        for member in members.iter_mut() {
            member.figures[place] = member.figures[place].or(member.figures[other]);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/heat.rs"]
mod tests;
