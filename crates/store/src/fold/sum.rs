//! Sums over a cell's intervals, and their comparison with the journalled result.

use std::collections::BTreeMap;

use assay_stats::{HostLoad, Interval, JobTotals, OpInterval, OpSummary};
use assay_units::{Nanos, Op};

use crate::model::CellResult;
use crate::series::OpSample;

/// The interval with repeated operations summed.
pub(super) fn joined(mut interval: Interval) -> Interval {
    let mut ops: Vec<(Op, OpInterval)> = Vec::with_capacity(interval.ops.len());
    for (op, counts) in interval.ops {
        match ops.iter_mut().find(|(known, _)| *known == op) {
            Some((_, sum)) => sum.merge(&counts),
            None => ops.push((op, counts)),
        }
    }
    interval.ops = ops;
    interval
}

/// Difference between a journalled result and the sum of its intervals.
pub(super) fn untraced(journalled: &CellResult, summed: Option<&CellResult>) -> Option<String> {
    let nothing = CellResult::default();
    let summed = summed.unwrap_or(&nothing);
    let sides = [
        ("read", &journalled.read, &summed.read),
        ("write", &journalled.write, &summed.write),
    ];
    for (op, stated, found) in sides {
        // Integers only: their sums are exact.
        let counts = |s: &OpSummary| {
            let latency = &s.latency_ns;
            [
                s.ios,
                s.bytes,
                s.errors,
                latency.samples,
                latency.min,
                latency.max,
            ]
        };
        if counts(stated) != counts(found) {
            return Some(format!(
                "{op}: stated {} I/Os, {} bytes, {} errors, slowest {} ns; the intervals have {} I/Os, {} bytes, {} errors, slowest {} ns",
                stated.ios,
                stated.bytes,
                stated.errors,
                stated.latency_ns.max,
                found.ios,
                found.bytes,
                found.errors,
                found.latency_ns.max
            ));
        }
    }
    None
}

/// The result as the sum of the measured intervals; `None` when none was measured.
pub(super) fn summed(
    drive: usize,
    totals: &JobTotals,
    series: &[OpSample],
    host: &BTreeMap<u32, HostLoad>,
    simulated: &[bool],
) -> Option<CellResult> {
    if totals.elapsed() == Nanos::ZERO {
        return None;
    }
    let measured: Vec<HostLoad> = host
        .iter()
        .filter(|(index, _)| {
            series
                .binary_search_by_key(&(**index, true), |p| (p.index, !p.ramp))
                .is_ok()
        })
        .map(|(_, load)| *load)
        .collect();
    Some(CellResult {
        drive,
        elapsed: totals.elapsed(),
        read: totals.summary(Op::Read),
        write: totals.summary(Op::Write),
        host: if simulated.get(drive) == Some(&true) {
            None
        } else {
            HostLoad::mean(&measured)
        },
        ..CellResult::default()
    })
}
