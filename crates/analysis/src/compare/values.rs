use assay_stats::compare::RunValue;
use assay_stats::{LatencySummary, mean};
use assay_store::model::{CellPlan, CellResult};
use assay_store::read::{CellDrive, Run};
use assay_units::Op;

use super::workload::{Key, Measured, measured};
use super::{DriveGroup, Metric};
use crate::estimate::{self, Estimates, Missing};

fn latency_of(result: &CellResult, op: Op) -> &LatencySummary {
    match op {
        Op::Read => &result.read.latency_ns,
        Op::Write => &result.write.latency_ns,
        _ => result.latency(),
    }
}

fn repeat(metric: Metric, op: Op, parts: &[&CellDrive], estimates: &Estimates) -> Option<RunValue> {
    let estimate = match metric {
        Metric::MibPerS => estimates.mib_per_s.ok(),
        Metric::Iops => estimates.iops.ok(),
        Metric::LatencyMean => estimates.latency_mean_ns.ok(),
        Metric::P99 => None,
    };
    let figure = |r: &CellResult| match metric {
        Metric::MibPerS => r.mib_per_s(),
        Metric::Iops => r.iops(),
        Metric::LatencyMean => latency_of(r, op).mean,
        Metric::P99 => latency_of(r, op).p99 as f64,
    };
    let results = parts.iter().filter_map(|p| p.result.as_ref());
    // Percentiles that an imported file does not have.
    let is_known = |r: &&CellResult| {
        let latency = latency_of(r, op);
        metric != Metric::P99 || latency.p99 > 0 || latency.samples == 0
    };
    let figures: Vec<f64> = results.filter(is_known).map(figure).collect();
    // A run in which nothing completed counts: leaving it out would bias its side.
    (!figures.is_empty()).then(|| RunValue { value: mean(&figures), estimate })
}

/// Per run, the workloads with their estimates: with latencies of reads, and of writes.
pub(super) struct Side<'a>(Vec<Vec<(Measured<'a>, [Estimates; 2])>>);

impl<'a> Side<'a> {
    pub(super) fn new(runs: &'a [Run], group: &DriveGroup, order_known: bool) -> Side<'a> {
        let with_estimates = |measured: Measured<'a>| {
            let with = |writes| estimate::of_several_with(measured.parts.iter().copied(), writes);
            let estimates = [false, true].map(with);
            (measured, estimates)
        };
        let of_run = |&(run, drive): &(usize, usize)| {
            let measured = measured(&runs[run], drive, order_known).into_iter();
            measured.map(with_estimates).collect()
        };
        Side(group.members.iter().map(of_run).collect())
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.0.iter().flatten().any(|(m, _)| m.key == *key)
    }

    /// Each workload once.
    pub(super) fn keys(&self) -> Vec<(&Key, &'a CellPlan)> {
        let mut keys: Vec<(&Key, &CellPlan)> = Vec::new();
        for (m, _) in self.0.iter().flatten() {
            if !keys.iter().any(|(k, _)| **k == m.key) {
                keys.push((&m.key, m.plan));
            }
        }
        keys
    }

    fn measured(&self, key: &Key) -> impl Iterator<Item = &(Measured<'a>, [Estimates; 2])> {
        let of_run =
            |run: &'_ [(Measured<'a>, [Estimates; 2])]| run.iter().position(|(m, _)| m.key == *key);
        self.0.iter().filter_map(move |run| Some(&run[of_run(run)?]))
    }

    pub(super) fn values(&self, metric: Metric, op: Op, key: &Key) -> Vec<RunValue> {
        let measured = self.measured(key);
        let value = |(m, estimates): &(Measured<'_>, [Estimates; 2])| {
            repeat(metric, op, &m.parts, &estimates[usize::from(op == Op::Write)])
        };
        measured.filter_map(value).collect()
    }

    /// Why the first run without an interval has none.
    pub(super) fn missing(&self, metric: Metric, op: Op, key: &Key) -> Option<Missing> {
        let of_run = |(_, estimates): &(Measured<'_>, [Estimates; 2])| {
            let estimates = estimates[usize::from(op == Op::Write)];
            let estimate = match metric {
                Metric::MibPerS => estimates.mib_per_s,
                Metric::Iops => estimates.iops,
                Metric::LatencyMean => estimates.latency_mean_ns,
                Metric::P99 => return None,
            };
            estimate.err()
        };
        self.measured(key).find_map(of_run)
    }
}

/// The operation that there was most of on both sides together: of an even mix each run by itself
/// could have another.
pub(super) fn most_frequent(a: &Side<'_>, b: &Side<'_>, key: &Key) -> Op {
    let mut ios = [(Op::Read, 0), (Op::Write, 0), (Op::Discard, 0)];
    let measured = a.measured(key).chain(b.measured(key));
    for result in measured.flat_map(|(m, _)| m.parts.iter().filter_map(|p| p.result.as_ref())) {
        for ((_, sum), of) in ios.iter_mut().zip([&result.read, &result.write, &result.discard]) {
            *sum += of.ios;
        }
    }
    let [first, rest @ ..] = ios;
    let most = rest.into_iter().fold(first, |most, op| match op.1 > most.1 {
        true => op,
        false => most,
    });
    most.0
}
