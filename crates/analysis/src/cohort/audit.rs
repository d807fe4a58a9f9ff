//! Self-audits of the hosts against each other: is a host unlike the others before any drive is
//! measured? Figures of the audits ([`HostAudit`]) are compared between hosts as figures of drives
//! are ([`compare_hosts`]), with runs as values, and corrected by Holm for their number.

use std::collections::BTreeMap;

use assay_stats::HostAudit;
use assay_stats::cohort::FALSE_ALARM;
use assay_stats::cohort::hosts::{HostComparison, compare_hosts};
use assay_stats::cohort::multiple::holm;
use serde::Serialize;

use super::progress::RunProgress;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditFigure {
    /// I/Os per second of one thread on the null target.
    NullIops,
    /// Cost of reading the clock.
    ClockNs,
}

impl AuditFigure {
    /// Without the drift of the clock: its differences are parts per million, and change no figure.
    pub const ALL: [AuditFigure; 2] = [AuditFigure::NullIops, AuditFigure::ClockNs];

    pub fn label(self) -> &'static str {
        match self {
            AuditFigure::NullIops => "IOPS of a thread without a drive",
            AuditFigure::ClockNs => "time to read the clock",
        }
    }

    fn value(self, audit: &HostAudit) -> f64 {
        match self {
            AuditFigure::NullIops => audit.null_iops_per_thread,
            AuditFigure::ClockNs => audit.clock_ns,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditComparison {
    pub figure: AuditFigure,
    pub hosts: usize,
    pub runs: usize,
    /// Probability by chance, corrected for the number of figures.
    pub adjusted: f64,
    /// Name and deviation, share of 1, of hosts off by more than chance and the minimum effect.
    pub off: Vec<(String, f64)>,
}

/// Empty where no two hosts have audits, or no host twice.
pub fn compare(runs: &[RunProgress], minimum_effect: f64) -> Vec<AuditComparison> {
    // A run of several drives has one audit.
    let mut audits: BTreeMap<(&str, &str), &HostAudit> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.host.is_empty()) {
        if let Some(audit) = &run.audit {
            audits.insert((&run.host, &run.run_id), audit);
        }
    }
    let mut found: Vec<(AuditFigure, Vec<&str>, usize, HostComparison)> = Vec::new();
    for figure in AuditFigure::ALL {
        let mut hosts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for ((host, _), audit) in &audits {
            let value = figure.value(audit);
            if value.is_finite() && value > 0.0 {
                hosts.entry(host).or_default().push(value.ln());
            }
        }
        let values: Vec<Vec<f64>> = hosts.values().cloned().collect();
        if let Some(comparison) = compare_hosts(&values) {
            let runs = values.iter().map(Vec::len).sum();
            found.push((figure, hosts.into_keys().collect(), runs, comparison));
        }
    }
    let single: Vec<f64> = found.iter().map(|(.., c)| c.probability).collect();
    let mut concluded = Vec::new();
    for ((figure, names, runs, comparison), adjusted) in found.into_iter().zip(holm(&single)) {
        let mut off = Vec::new();
        for (name, (deviation, probability)) in names.iter().zip(&comparison.hosts) {
            let share = deviation.exp_m1();
            let is_sure = adjusted <= FALSE_ALARM && *probability <= FALSE_ALARM;
            if is_sure && share.abs() >= minimum_effect {
                off.push(((*name).to_owned(), share));
            }
        }
        concluded.push(AuditComparison { figure, hosts: names.len(), runs, adjusted, off });
    }
    concluded
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/audit.rs"]
mod tests;
