//! Host or drive: drives are compared with the other drives of their host, and hosts with each
//! other.

use crate::mean;
use crate::student;

use super::FALSE_ALARM;

/// One value per drive, classes are hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostComparison {
    /// Probability of such differences if hosts do not matter (F test, one-way analysis).
    pub probability: f64,
    /// Standard deviation of drives within a host.
    pub within: f64,
    /// Per host: its mean less the mean of the drives of hosts that are not off, and the
    /// probability of such a deviation if hosts do not matter, corrected for the number of hosts
    /// compared.
    pub hosts: Vec<(f64, f64)>,
}

/// `None` unless there are two hosts, none of them empty, and one has two drives: with one drive
/// per host, host and drive cannot be separated.
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
    Some(HostComparison {
        probability: student::f_probability(outside / between / within, between, degrees),
        within: within.sqrt(),
        hosts: deviations(hosts, within, degrees),
    })
}

/// The host that is farthest off is compared with all others, at a probability corrected for their
/// number (Bonferroni). If it is off, it is taken out, because it would make the others appear off
/// to the other side, and the next is compared.
fn deviations(hosts: &[Vec<f64>], within: f64, degrees: f64) -> Vec<(f64, f64)> {
    let mut found = vec![(0.0, 1.0); hosts.len()];
    let mut left: Vec<usize> = (0..hosts.len()).collect();
    while left.len() > 1 {
        let sum: f64 = left.iter().flat_map(|h| &hosts[*h]).sum();
        let all: f64 = left.iter().map(|h| hosts[*h].len() as f64).sum();
        for h in &left {
            let own = hosts[*h].len() as f64;
            let others = (sum - hosts[*h].iter().sum::<f64>()) / (all - own);
            let deviation = mean(&hosts[*h]) - others;
            let error = (within * (1.0 / own + 1.0 / (all - own))).sqrt();
            let probability = student::two_sided_probability(deviation / error, degrees);
            found[*h] = (deviation, (probability * left.len() as f64).min(1.0));
        }
        let far = |a: &usize, b: &usize| found[*a].1.total_cmp(&found[*b].1);
        let Some(farthest) = left.iter().copied().min_by(far) else {
            break;
        };
        if found[farthest].1 > FALSE_ALARM {
            break;
        }
        left.retain(|h| *h != farthest);
        // The others must not appear off because of the farthest host.
        for h in &left {
            found[*h].1 = 1.0;
        }
    }
    found
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/hosts.rs"]
mod tests;
