//! Drift of soaks: drives whose figures move away from those of the others. The median curve of the
//! drives of a group, by time of the soak, is what they have in common; it is judged by itself
//! ([`CommonDrift`]). A drive is judged by the slope that is left without the curve: it drifts if
//! that is beyond the limit of so many drives, its own interval excludes zero, and the change over
//! the soak is at least the minimum effect. A change is the slope times the usual length of the
//! cohort's soaks, so that drives with shorter ones are comparable.

mod found;

use std::collections::BTreeMap;

use assay_stats::cohort::drift::{self, Slope, Span};
use assay_stats::cohort::errors::against_limit;
use assay_stats::cohort::outliers::{Distances, FEWEST_DRIVES};
use assay_stats::cohort::spread;
use assay_stats::compare::Better;
use assay_stats::confidence::LEVEL;
use assay_stats::median;

use super::observe;
use super::outliers::separation;
use super::settings::CohortSettings;
use super::soak::{SoakErrors, SoakSeries, Soaks};
pub use found::{Change, CommonDrift, DriftVerdict, DriveDrift, ErrorRate, SoakDrift};

/// In shorter soaks a drive warms up.
pub const LEAST_HOURS: f64 = 1.0 / 6.0;

/// Limit where none is stated: the uncorrectable bit error rate of client drives (JESD218, table
/// 1).
pub const ERRORS_PER_BIT: f64 = 1e-15;

/// Error rates of all drives, by soak.
pub fn error_rates(
    soaks: &Soaks,
    index: &BTreeMap<&str, usize>,
    settings: &CohortSettings,
) -> Vec<ErrorRate> {
    let mut figures: BTreeMap<&str, BTreeMap<usize, (u64, f64)>> = BTreeMap::new();
    for SoakErrors { about, errors, bits } in &soaks.errors {
        let Some(drive) = index.get(about.serial.as_str()) else {
            continue;
        };
        let sum = figures.entry(&about.figure).or_default();
        let sum = sum.entry(*drive).or_default();
        *sum = (sum.0.saturating_add(*errors), sum.1 + bits);
    }
    let mut found = Vec::new();
    for (figure, drives) in figures {
        let limit = limit_of(settings, figure).unwrap_or(ERRORS_PER_BIT);
        for (drive, (errors, bits)) in &drives {
            found.push(ErrorRate {
                figure: figure.to_owned(),
                drive: *drive,
                errors: *errors,
                bits: *bits,
                limit,
                result: against_limit(*errors, bits * limit, drives.len()),
            });
        }
    }
    found
}

fn limit_of(settings: &CohortSettings, figure: &str) -> Option<f64> {
    let mut limits = settings.limits.iter();
    let of = limits.find(|(name, _)| observe::is_named(figure, name));
    of.map(|(_, limit)| *limit)
}

pub fn unused_limits(soaks: &Soaks, settings: &CohortSettings) -> Vec<String> {
    let names = settings.limits.keys();
    let is_unused =
        |name: &&String| !soaks.about().any(|o| observe::is_named(&o.figure, name.as_str()));
    let text = |name: &String| format!("limit of {name}: no soak has this figure");
    names.filter(is_unused).map(text).collect()
}

/// Figures are in the order first seen.
pub fn conclude(
    soaks: &Soaks,
    index: &BTreeMap<&str, usize>,
    groups: &[String],
    settings: &CohortSettings,
    left_out: &mut Vec<String>,
) -> Vec<SoakDrift> {
    let mut by_figure: Vec<(&str, Vec<&SoakSeries>)> = Vec::new();
    for series in &soaks.series {
        let figure = series.about.figure.as_str();
        match by_figure.iter_mut().find(|(known, _)| *known == figure) {
            Some((_, own)) => own.push(series),
            None => by_figure.push((figure, vec![series])),
        }
    }
    let mut found = Vec::new();
    for (figure, series) in &by_figure {
        let lengths: Vec<f64> = series.iter().map(|s| drift::measured(&s.spans)).collect();
        let hours = median(&lengths);
        if hours < LEAST_HOURS {
            left_out.push(format!(
                "drift of {figure}: a soak of {:.0} min is too short, {:.0} min are needed",
                60.0 * hours,
                60.0 * LEAST_HOURS
            ));
            continue;
        }
        found.push(of_figure(figure, series, index, groups, settings));
    }
    found
}

/// A drive of a group, on the figure's scale.
struct Member<'a> {
    drive: usize,
    group: usize,
    host: &'a str,
    /// The drive's own limit.
    limit: Option<f64>,
    spans: Vec<Span>,
}

fn members<'a>(
    series: &[&'a SoakSeries],
    index: &BTreeMap<&str, usize>,
    groups: &[String],
    settings: &CohortSettings,
    logarithmic: bool,
) -> Vec<Member<'a>> {
    let scale = |v: f64| if logarithmic { v.ln() } else { v };
    let mut members: BTreeMap<(usize, usize), Member<'_>> = BTreeMap::new();
    for one in series {
        let name = settings.grouping.name(&one.about);
        let group = groups.iter().position(|g| g == name).unwrap_or(0);
        let Some(&drive) = index.get(one.about.serial.as_str()) else {
            continue;
        };
        let member = members.entry((group, drive)).or_insert_with(|| Member {
            drive,
            group,
            host: &one.about.host,
            limit: one.limit,
            spans: Vec::new(),
        });
        member.host = &one.about.host;
        let scaled = |span: &Span| span.iter().map(|(t, v)| (*t, scale(*v))).collect();
        member.spans.extend(one.spans.iter().map(scaled));
    }
    members.into_values().collect()
}

/// What the drives of a group have in common and how each of them differs from that.
fn add_group<'a>(
    found: &mut SoakDrift,
    group: usize,
    own: &[&Member<'a>],
    limit: Option<f64>,
    settings: &CohortSettings,
    (slopes, hosts): (&mut Vec<(usize, Slope)>, &mut Vec<&'a str>),
) {
    let spans: Vec<Vec<Span>> = own.iter().map(|m| m.spans.clone()).collect();
    let relative = drift::relative(&spans);
    if let Some(common) = drift::common(&relative.curve, LEVEL) {
        let drives = own.len();
        found.common.push(common_drift(found, group, drives, &common, relative.curve, settings));
    }
    let mut short = 0;
    for (member, residuals) in own.iter().zip(&relative.residuals) {
        let Some(slope) = drift::slope(residuals, LEVEL) else {
            short += 1;
            continue;
        };
        let mut drive = drive_drift(found, member, residuals, &slope, limit, settings);
        if own.len() >= FEWEST_DRIVES {
            slopes.push((group, slope));
            hosts.push(member.host);
        } else {
            drive.verdict = DriftVerdict::NotJudged;
        }
        found.values.push(drive);
    }
    if short > 0 && own.len() > 1 {
        found.notes.push(format!(
            "{short} drives with too little measured at the times of the others have no slope"
        ));
    }
    if own.len() < FEWEST_DRIVES && !own.is_empty() {
        found.notes.push(format!(
            "{} drives in a group of fewer than {FEWEST_DRIVES}: none of them is judged",
            own.len()
        ));
    }
}

fn of_figure(
    figure: &str,
    series: &[&SoakSeries],
    index: &BTreeMap<&str, usize>,
    groups: &[String],
    settings: &CohortSettings,
) -> SoakDrift {
    let first = &series[0].about;
    let values = || series.iter().flat_map(|s| s.spans.iter().flatten()).map(|p| p.1);
    let logarithmic = values().all(|v| v > 0.0) && first.unit != "\u{b0}C";
    let members = members(series, index, groups, settings, logarithmic);
    let lengths: Vec<f64> = members.iter().map(|m| drift::measured(&m.spans)).collect();
    let medians: Vec<f64> = series.iter().map(|s| s.about.value).collect();
    let mut found = SoakDrift {
        figure: figure.to_owned(),
        unit: first.unit.clone(),
        better: first.better,
        logarithmic,
        hours: median(&lengths),
        median: median(&medians),
        spread_and_limit: None,
        heavy_tails: None,
        common: Vec::new(),
        notes: Vec::new(),
        values: Vec::new(),
    };
    let silent: usize = series.iter().map(|s| s.silent).sum();
    if silent > 0 {
        found.notes.push(format!("{silent} intervals in which nothing completed are left out"));
    }
    let mut slopes: Vec<(usize, Slope)> = Vec::new();
    let mut hosts: Vec<&str> = Vec::new();
    let limit = limit_of(settings, figure);
    for group in 0..groups.len() {
        let own: Vec<&Member<'_>> = members.iter().filter(|m| m.group == group).collect();
        let judged = (&mut slopes, &mut hosts);
        add_group(&mut found, group, &own, limit, settings, judged);
    }
    if let Some(distances) = drift::distances(&slopes) {
        judge(&mut found, &slopes, &hosts, &distances, settings);
    }
    found
}

fn change(found: &SoakDrift, slope: &Slope) -> Change {
    let over = |v: f64| found.shown(v * found.hours);
    Change { change: over(slope.slope), interval: (over(slope.low), over(slope.high)) }
}

fn share(found: &SoakDrift, change: f64) -> f64 {
    match found.logarithmic {
        true => change,
        false if change == 0.0 => 0.0,
        false => change / found.median.abs(),
    }
}

fn is_worse(found: &SoakDrift, change: f64) -> Option<bool> {
    let better = found.better?;
    Some((better == Better::More) == (change < 0.0))
}

fn common_drift(
    found: &SoakDrift,
    group: usize,
    drives: usize,
    common: &drift::Common,
    curve: Vec<Span>,
    settings: &CohortSettings,
) -> CommonDrift {
    let change = change(found, &common.slope);
    let matters = |change: f64| share(found, change).abs() >= settings.minimum_effect;
    let step = common.step.map(|(hour, height)| (hour, found.shown(height)));
    let height = step.map_or(change.change, |(_, height)| height);
    let drifts = drift::excludes_zero(&common.slope) && matters(height);
    CommonDrift {
        group,
        drives,
        change,
        step,
        drifts,
        worse: drifts.then(|| is_worse(found, height)).flatten(),
        curve: levelled(&curve, &common.slope),
    }
}

/// Spans for a chart: each on the level that the slope gives it, which is zero at the soak's begin.
fn levelled(spans: &[Span], slope: &Slope) -> Vec<Span> {
    let moved = |span: &Span| -> Span {
        let (times, values): (Vec<f64>, Vec<f64>) = span.iter().copied().unzip();
        let level = assay_stats::mean(&values) - slope.slope * assay_stats::mean(&times);
        span.iter().map(|(time, value)| (*time, value - level)).collect()
    };
    spans.iter().map(moved).collect()
}

fn drive_drift(
    found: &SoakDrift,
    member: &Member<'_>,
    residuals: &[Span],
    slope: &Slope,
    limit: Option<f64>,
    settings: &CohortSettings,
) -> DriveDrift {
    let relative = change(found, slope);
    let own = drift::slope(&member.spans, LEVEL);
    let within = |end: f64| share(found, end).abs() <= settings.minimum_effect;
    let alike = within(relative.interval.0) && within(relative.interval.1);
    let to_limit = own.zip(limit.or(member.limit)).and_then(|(own, limit)| {
        let scaled = if found.logarithmic { limit.ln() } else { limit };
        Some((limit, drift::time_to(&own, scaled)?))
    });
    DriveDrift {
        drive: member.drive,
        group: member.group,
        hours: drift::measured(&member.spans),
        spans: member.spans.len(),
        relative,
        own: own.as_ref().map(|own| change(found, own)),
        distance: None,
        verdict: if alike { DriftVerdict::Alike } else { DriftVerdict::CannotTell },
        worse: None,
        separation: None,
        to_limit,
        line: levelled(&drift::block_medians(residuals), slope),
    }
}

/// Judges drives of groups large enough; slopes are in the order of the values.
fn judge(
    found: &mut SoakDrift,
    slopes: &[(usize, Slope)],
    hosts: &[&str],
    distances: &Distances,
    settings: &CohortSettings,
) {
    let limit = distances.limit * distances.qn;
    let hours = found.hours;
    found.spread_and_limit = Some((distances.qn * hours, limit * hours));
    let drifting = drift::drifting(slopes, distances);
    let values: Vec<f64> = slopes.iter().map(|(_, slope)| slope.slope).collect();
    let inner =
        values.iter().enumerate().filter(|(at, _)| !drifting.iter().take(2).any(|d| d == at));
    found.heavy_tails = spread::heavy_tails(&inner.map(|(_, v)| *v).collect::<Vec<f64>>());
    let residuals: Vec<(&str, f64)> = hosts.iter().copied().zip(values).collect();
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    slopes.iter().for_each(|(group, _)| *sizes.entry(*group).or_default() += 1);
    let judged: Vec<usize> =
        (0..found.values.len()).filter(|at| sizes.contains_key(&found.values[*at].group)).collect();
    for (position, at) in judged.into_iter().enumerate() {
        let change = found.values[at].relative.change;
        let matters = share(found, change).abs() >= settings.minimum_effect;
        let worse = is_worse(found, change);
        let value = &mut found.values[at];
        value.distance = Some((distances.distances[position], distances.limit));
        if matters && drifting.contains(&position) {
            value.verdict = DriftVerdict::Drifts;
            value.worse = worse;
            value.separation =
                Some(separation(&residuals, position, distances.qn, distances.limit));
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/drift.rs"]
mod tests;
