//! 90 % predictive intervals of simulated figures: where the real drive's figure is expected.

use assay_store::model::{CellResult, ModelledHost, PredictiveFactors};

use crate::format::{distinct, figure};
use crate::grid::Point;

/// The intervals of a point's rate and of its latency percentiles, as
/// [`assay_store::model::DriveRecord::predictive`].
pub fn factors_of_point<'a>(point: &Point<'a>) -> [Option<&'a PredictiveFactors>; 2] {
    match point.result().is_some_and(CellResult::is_set_by_host) {
        true => [None; 2],
        false => point.set.drives[point.drive].info.predictive(point.plan()),
    }
}

/// What the link of a drive carries, where it is less than the end of a point's interval.
fn link_limit(points: &[&Point<'_>]) -> Option<String> {
    let mib_per_s = |p: &&&Point<'_>| {
        let link = p.set.drives[p.drive].info.link_bytes_per_second?;
        let link = link as f64 / f64::from(1 << 20);
        let [rate, _] = factors_of_point(p);
        let [_, high] = rate?.of_rate(p.result()?.mib_per_s());
        (high > link).then_some(link)
    };
    let link = points.iter().find_map(|p| mib_per_s(&p))?;
    Some(format!("; at most the {} MiB/s of its link", figure(link)))
}

/// An interval in the common notation, to three significant digits: its ends are estimates.
pub fn text(ends: [f64; 2]) -> String {
    text_up_to(ends, f64::INFINITY)
}

/// The same of a rate that the link of the drive limits to `most`, which is no estimate: rounded,
/// it could be less than what was measured, or more than the link carries.
pub fn text_up_to([low, high]: [f64; 2], most: f64) -> String {
    // The end is the product of the rate and a rounded factor.
    let is_limit = (high / most - 1.0).abs() < 1e-9;
    let high = if is_limit { most } else { to_three_digits(high) };
    format!("{} to {}", figure(to_three_digits(low)), figure(high))
}

fn to_three_digits(value: f64) -> f64 {
    let step = 10_f64.powf(value.abs().log10().floor() - 2.0);
    match step > 0.0 && step.is_finite() {
        true => (value / step).round() * step,
        false => value,
    }
}

/// Whose rate a line for a single job predicts, and what; `None` without an interval of the rate.
pub fn line(point: &Point<'_>, result: &CellResult) -> Option<(&'static str, String)> {
    let info = point.set.drives[point.drive].info;
    let most = info.most_by_link(result);
    let rates = |[low, high]: [f64; 2]| {
        let ends = |value: f64| text_up_to([value * low, value * high], value * most);
        let (iops, mib_per_s) = (ends(result.iops()), ends(result.mib_per_s()));
        format!("90 % predictive interval {iops} IOPS, {mib_per_s} MiB/s")
    };
    if let Some((factors, host)) = info.host_interval(point.plan(), result) {
        let (rates, host) = (rates(factors), host_name(host));
        return Some(("real hosts", format!("{rates}; none of the drive ({host})")));
    }
    let [rate, percentiles] = info.predictive_of(point.plan(), result);
    let rate = rate?;
    let mut out = rates([rate.low, rate.high]);
    if let Some(factors) = &percentiles {
        out.push_str(&format!(", latency percentiles {}", times(factors)));
    }
    Some(("real drive", format!("{out} ({})", basis(&rate))))
}

/// `host 2025: 2.30 us per asynchronous 4 KiB I/O`.
fn host_name(host: &ModelledHost) -> String {
    let us = |ns: u64| (ns + 4 * host.kib_ns) as f64 / 1e3;
    let (asynchronous, synchronous) = (us(host.async_io_ns), us(host.sync_io_ns));
    format!(
        "host {}: {asynchronous:.2} \u{b5}s of a processor per asynchronous 4 KiB I/O, \
         {synchronous:.2} \u{b5}s per synchronous one",
        host.name
    )
}

/// A note per host that set a rate, with the interval of those rates.
fn host_notes(points: &[Point<'_>]) -> Vec<String> {
    let interval = |p: &Point<'_>| {
        let set = p.set;
        let (info, result) = (set.drives[p.drive].info, p.result()?);
        let (_, host) = info.host_interval(p.plan(), result)?;
        let (low, high) = (1.0 / host.spread, host.spread);
        Some(format!(
            "{}: 90 % predictive interval of real hosts {low:.2} to {high:.2} times where the host \
             set the rate, none of the drive ({})",
            set.full_name(p.drive),
            host_name(host)
        ))
    };
    distinct(points.iter().filter_map(interval))
}

fn times(factors: &PredictiveFactors) -> String {
    format!("{:.2} to {:.2} times", factors.low, factors.high)
}

/// What the profile's fit knew of such figures.
fn knew(factors: &PredictiveFactors) -> &str {
    match factors.situation.as_str() {
        "this_drive" => "fitted to this drive",
        "another_block" => "fitted depth",
        "another_depth" => "other depth",
        "other_kinds" => "other kind of figure",
        "facts_only" => "from facts only",
        other => other,
    }
}

/// What the interval is estimated from; run folders of earlier versions have no number of drives.
fn from_drives(known: &str, drives: u32) -> String {
    match drives {
        0 => known.to_owned(),
        drives => format!("{known}; from {drives} drives"),
    }
}

fn basis(factors: &PredictiveFactors) -> String {
    from_drives(knew(factors), factors.drives)
}

/// A note per simulated drive with its intervals relative to the figures, and one where its host
/// set a rate; none for real drives.
pub fn notes(points: &[Point<'_>]) -> Vec<String> {
    let mut notes = drive_notes(points);
    notes.extend(host_notes(points));
    notes
}

fn drive_notes(points: &[Point<'_>]) -> Vec<String> {
    // Run folders of earlier versions have no intervals.
    let with = |p: &&Point<'_>| {
        let is_of_drive = p.result().is_some_and(|result| !result.is_set_by_host());
        is_of_drive && !p.set.drives[p.drive].info.predictive.is_empty()
    };
    let points: Vec<&Point<'_>> = points.iter().filter(with).collect();
    let of_drive = |drive: usize| {
        let mine: Vec<&Point<'_>> = points.iter().copied().filter(|p| p.drive == drive).collect();
        let pairs = mine.iter().map(|p| factors_of_point(p));
        let (rates, percentiles): (Vec<_>, Vec<_>) = pairs.map(|[r, p]| (r, p)).unzip();
        let list = |all: Vec<Option<&PredictiveFactors>>| {
            let all: Vec<&PredictiveFactors> = all.into_iter().flatten().collect();
            let equal = |times: &String| {
                let same: Vec<_> = all.iter().filter(|f| self::times(f) == *times).collect();
                let known = distinct(same.iter().map(|f| knew(f))).join(", ");
                let drives = same.iter().map(|f| f.drives).max().unwrap_or(0);
                format!("{times} ({})", from_drives(&known, drives))
            };
            let intervals = distinct(all.iter().map(|f| times(f)));
            intervals.iter().map(equal).collect::<Vec<_>>().join(", ")
        };
        let (rates, percentiles) = (list(rates), list(percentiles));
        let intervals = match (rates.as_str(), percentiles.as_str()) {
            ("", _) => {
                "unknown: such figures of drives that no fit had seen are not predicted".to_owned()
            }
            (rates, "") => rates.to_owned(),
            (rates, percentiles) => format!("{rates}, of latency percentiles {percentiles}"),
        };
        let name = mine[0].set.full_name(drive);
        let limit = link_limit(&mine).unwrap_or_default();
        format!("{name}: 90 % predictive interval of the real drive {intervals}{limit}")
    };
    let drives = distinct(points.iter().map(|p| p.drive));
    drives.into_iter().map(of_drive).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/tables/predictive.rs"]
mod tests;
