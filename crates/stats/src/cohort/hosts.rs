//! Is it the host or the drive? Drives are compared with the other drives of their host, and hosts with each other.

use crate::mean;
use crate::student;

use super::multiple::holm;

/// Comparison of hosts: one value per drive, classes are hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostComparison {
    /// Probability of differences between hosts at least as large if hosts do not matter (F test of the one-way analysis of variance).
    pub probability: f64,
    /// Standard deviation of drives within a host.
    pub within: f64,
    /// Per host, in the order given: its mean less the mean of the other hosts' drives, and the probability of a deviation at least as
    /// large if hosts do not matter, corrected by Holm for the number of hosts.
    pub hosts: Vec<(f64, f64)>,
}

/// Compare hosts. `None` unless there are two hosts, none of them empty, and one host has two drives: with one drive per host, host
/// and drive cannot be separated.
pub fn compare_hosts(hosts: &[Vec<f64>]) -> Option<HostComparison> {
    let count: usize = hosts.iter().map(Vec::len).sum();
    if hosts.len() < 2 || count <= hosts.len() || hosts.iter().any(Vec::is_empty) {
        return None;
    }
    let all = count as f64;
    let sum: f64 = hosts.iter().flatten().sum();
    let (mut inside, mut outside) = (0.0, 0.0);
    for host in hosts {
        let own = mean(host);
        inside += host.iter().map(|v| (v - own).powi(2)).sum::<f64>();
        outside += host.len() as f64 * (own - sum / all).powi(2);
    }
    let (between, degrees) = (hosts.len() as f64 - 1.0, (count - hosts.len()) as f64);
    let within = inside / degrees;
    if within.is_nan() || within.sqrt() <= 1e-12 {
        return None;
    }
    let deviation = |host: &Vec<f64>| {
        let own = host.len() as f64;
        let others = (sum - host.iter().sum::<f64>()) / (all - own);
        let deviation = mean(host) - others;
        let error = (within * (1.0 / own + 1.0 / (all - own))).sqrt();
        let probability = student::two_sided_probability(deviation / error, degrees);
        (deviation, probability)
    };
    let (deviations, single): (Vec<f64>, Vec<f64>) = hosts.iter().map(deviation).unzip();
    Some(HostComparison {
        probability: student::f_probability(outside / between / within, between, degrees),
        within: within.sqrt(),
        hosts: deviations.into_iter().zip(holm(&single)).collect(),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/hosts.rs"]
mod tests;
