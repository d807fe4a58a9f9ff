//! What a cohort's page and its terminal output state alike: drives, hosts and groups in words.

use std::collections::BTreeMap;

use assay_analysis::cohort::conclude::Cohort;
use assay_analysis::cohort::groups::GroupComparison;
use assay_analysis::cohort::outliers::{Outlier, Separation};
use assay_stats::compare::Difference;

use crate::cohort::tables;
use crate::format::{distinct, plural};

/// Title of a cohort's page.
pub fn title(cohort: &Cohort) -> String {
    let models = distinct(cohort.drives.iter().map(|d| d.model.as_str()));
    match models[..] {
        [one] if !one.is_empty() => {
            format!("Cohort of {}: {one}", plural(cohort.drives.len(), "drive"))
        }
        _ => format!("Cohort of {}", plural(cohort.drives.len(), "drive")),
    }
}

/// Drives, hosts, groups and figures in one line.
pub fn subject(cohort: &Cohort) -> String {
    let hosts = cohort.drives.iter().map(|d| d.host.as_str());
    let hosts = distinct(hosts.filter(|host| !host.is_empty())).len();
    let simulated = cohort.drives.iter().filter(|d| d.simulated).count();
    let mut parts = vec![match simulated {
        0 => plural(cohort.drives.len(), "drive"),
        n if n == cohort.drives.len() => plural(n, "simulated drive"),
        n => format!("{}, {n} of them simulated", plural(cohort.drives.len(), "drive")),
    }];
    if hosts > 0 {
        parts.push(plural(hosts, "host"));
    }
    if cohort.groups.len() > 1 {
        parts.push(format!(
            "{} by {}",
            plural(cohort.groups.len(), "group"),
            cohort.settings.grouping.label()
        ));
    }
    parts.push(plural(cohort.figures.len(), "figure"));
    parts.join(" \u{b7} ")
}

/// A group's name.
pub fn group_name(name: &str) -> String {
    crate::format::text_or(name, "no group").to_owned()
}

/// Outliers by drive, in the order of their first one.
pub fn by_drive(cohort: &Cohort) -> Vec<(usize, Vec<&Outlier>)> {
    let mut position: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found: Vec<(usize, Vec<&Outlier>)> = Vec::new();
    for o in &cohort.outliers {
        let at = *position.entry(o.drive).or_insert_with(|| {
            found.push((o.drive, Vec::new()));
            found.len() - 1
        });
        found[at].1.push(o);
    }
    found
}

/// The cause by comparison with the host's other drives.
pub fn cause(outlier: &Outlier) -> &'static str {
    separated(outlier.separation)
}

/// Host or drive, in words.
pub fn separated(separation: Separation) -> &'static str {
    match separation {
        Separation::Drive => "the drive, not its host",
        Separation::Host => "its host is off as well",
        Separation::DriveAndHost => "the drive, and its host is off as well",
        Separation::NotSeparable => "host or drive: not separable",
    }
}

/// `Firmware 1.1 against 1.0`, `Groups by firmware, against 1.0`.
pub fn groups_title(cohort: &Cohort) -> String {
    let by = cohort.settings.grouping.label();
    match &cohort.groups[..] {
        [baseline, other] => {
            let mut by = by.to_owned();
            by[..1].make_ascii_uppercase();
            format!("{by} {} against {}", group_name(other), group_name(baseline))
        }
        groups => {
            let baseline = groups.first().map_or("", String::as_str);
            format!("Groups by {by}, against {}", group_name(baseline))
        }
    }
}

/// Hosts that are off, with the figures in which they are.
pub fn hosts_off(cohort: &Cohort) -> Vec<(String, String)> {
    let mut hosts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for f in &cohort.figures {
        for (host, share) in &f.hosts.off {
            let text = format!("{} {}", tables::name(cohort, f), tables::signed(*share));
            hosts.entry(host).or_default().push(text);
        }
    }
    let text = |(host, figures): (&str, Vec<String>)| {
        let more = figures.len().saturating_sub(FEW_FIGURES);
        let mut shown = figures[..figures.len() - more].join(", ");
        if more > 0 {
            shown.push_str(&format!(" and {more} more"));
        }
        if let Some(reason) = audit_of(cohort, host) {
            shown.push_str(&format!("; without a drive it differs too: {reason}"));
        }
        (host.to_owned(), shown)
    };
    hosts.into_iter().map(text).collect()
}

/// What the self-audit of a host has unlike those of other hosts.
fn audit_of(cohort: &Cohort, host: &str) -> Option<String> {
    let own = cohort.audits.iter().flat_map(|audit| {
        let own = audit.off.iter().filter(|(name, _)| name == host);
        own.map(|(_, share)| format!("{} {}", audit.figure.label(), tables::signed(*share)))
    });
    let own: Vec<String> = own.collect();
    (!own.is_empty()).then(|| own.join(", "))
}

/// What the self-audits say about hosts of which no figure is off; nothing where they cannot be
/// compared.
pub fn audits(cohort: &Cohort) -> Vec<String> {
    let Some(first) = cohort.audits.first() else {
        return Vec::new();
    };
    let off = cohort.audits.iter().flat_map(|audit| &audit.off);
    let off = distinct(off.map(|(host, _)| host.as_str()));
    let drives_off = hosts_off(cohort);
    let others = off.iter().filter(|host| !drives_off.iter().any(|(name, _)| name == *host));
    let text = |host: &&str| {
        let reason = audit_of(cohort, host).unwrap_or_default();
        format!("Host {host} differs without a drive: {reason}. Its drives are not off together.")
    };
    let mut found: Vec<String> = others.map(text).collect();
    if off.is_empty() {
        found.push(format!(
            "Self-audits of {} in {}: no host differs.",
            plural(first.hosts, "host"),
            plural(first.runs, "run")
        ));
    }
    found
}

/// Figures listed for a host.
const FEW_FIGURES: usize = 4;

/// A significant difference that matters.
pub fn is_different(comparison: &GroupComparison) -> bool {
    matches!(comparison.answer, Difference::Faster | Difference::Slower)
}

/// Comparisons in the terminal: those of primary figures, and others that differ.
pub fn shown_comparisons(cohort: &Cohort) -> Vec<&GroupComparison> {
    let of_interest = |c: &&GroupComparison| cohort.figures[c.figure].primary || is_different(c);
    cohort.comparisons.iter().filter(of_interest).collect()
}
