//! The folds of temperatures and of throttling: heat from the other drives, rates from the drive's own profile.

use toml::{Table, Value};

use super::{Prediction, Study};
use crate::CalibrateError;
use crate::inference::posterior::Prior;
use crate::measurement::{Measurement, Procedure, ReferenceMetric, SoakFigure};
use crate::prediction::alternatives::{Structure, number};
use crate::prediction::learn::{Observed, SimulatedMember, learn};
use crate::prediction::template::{ReferenceDrive, Template, get, leader, put, unlearn};
use crate::predictive::Situation;
use assay_ssd::Provenance;
use assay_units::median;

/// Members whose soaks are simulated: a soak costs a hundred cells.
pub(super) const HEAT_MEMBERS: usize = 16;
/// Spread of the ambient conditions (room temperature, airflow) and of the thermal contact of the module.
const AMBIENT_K: f64 = 3.0;
/// Hysteresis where only the warning temperature is known.
const HYSTERESIS_K: f64 = 2.0;
/// Numbers that vary between members, with the spread of the other drives.
const VARIED: [&str; 3] = [
    "thermal.resistance_k_per_w",
    "thermal.controller.resistance_k_per_w",
    "thermal.time_constant_s",
];
/// Least spread of them, a logarithm: profiles of other drives assume some of them alike, boards and airflow are not.
const LEAST_WIDTH: f64 = 0.2;
const IDLE: &str = "power.idle_mw";
const STATES_IDLE: &str = "power.states.idle_mw";
const ON: &str = "thermal.throttle_on_celsius";

/// The figure that a drive has in place of one of a throttled drive when it does not throttle; `None` of periods: it has none.
fn unthrottled(figure: SoakFigure) -> Option<SoakFigure> {
    match figure {
        SoakFigure::ThrottledRead => Some(SoakFigure::SettledRead),
        SoakFigure::ThrottleCelsius => Some(SoakFigure::SettledCelsius),
        _ => None,
    }
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
    /// A drive whose power, resistances, time constant and throttling are those of the other drives, and its warning temperature by the facts.
    pub(super) fn heat_template(&self, name: &str) -> Template {
        let (own, others) = self.of(name);
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
        let others_on = others.iter().filter_map(|o| leader(get(&o.table, ON)?));
        let others_on: Vec<f64> = others_on.filter(|&celsius| celsius > 0.0).collect();
        let facts = self.hardware.drive(name);
        let warning = facts.and_then(|f| f.drive.warning_celsius.as_ref());
        let on = warning.map_or(
            others_on.iter().sum::<f64>() / others_on.len() as f64,
            |w| f64::from(w.value),
        );
        put(&mut table, ON, Value::Float(on));
        let off = Value::Float(on - HYSTERESIS_K);
        put(&mut table, "thermal.throttle_off_celsius", off);
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
        Template {
            table,
            paths,
            wide,
            alternatives: Vec::new(),
        }
    }

    /// The folds of temperatures and of throttling. A member that does not throttle has the rate and the temperature of its steady state, and
    /// no periods; a figure that most members do not have is predicted as 0 and missed.
    pub fn heat_fold(&self, name: &str) -> Result<Vec<Prediction>, CalibrateError> {
        // Of the two second sensors that are published one is stuck: there is no other drive to learn from.
        let is_heat = |m: &&Measurement| {
            m.procedure.is_heat() && m.procedure != Procedure::Soak(SoakFigure::SecondSensor)
        };
        let figures = self.figures[name].iter();
        let left_out: Vec<Measurement> = figures.filter(is_heat).cloned().collect();
        if left_out.is_empty() {
            return Ok(Vec::new());
        }
        let template = self.heat_template(name);
        let prior = template.wide.clone();
        let vary = [-1.5, -0.5, 0.0, 0.5, 1.5]
            .map(|z| number("thermal.ambient_celsius", 25.0 + z * AMBIENT_K));
        let seeds = (self.seed, self.threads);
        let starts = [(Structure::new(), prior.mean.clone())];
        let observed = Observed::new(&[], &[], &self.lacks(name));
        let learned = learn(template, prior, observed, &starts, false, seeds)
            .ok_or_else(|| super::no_valid_drive(name, "heat"))?;
        let asked = with_unthrottled(&left_out);
        let mut members = learned.members(&asked, HEAT_MEMBERS, &vary, seeds);
        steady_where_not_throttled(&mut members, &asked);
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

/// The figures, and behind them those that drives have in their place when they do not throttle.
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
#[path = "../../../tests/unit/prediction/heat.rs"]
mod tests;
