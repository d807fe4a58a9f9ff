use std::collections::BTreeMap;

use assay_stats::{HostLoad, JobTotals, OpSummary};
use assay_units::{Nanos, Op};

use crate::model::CellResult;
use crate::series::OpSample;

pub(super) fn untraced(journalled: &CellResult, summed: Option<&CellResult>) -> Option<String> {
    let nothing = CellResult::default();
    let summed = summed.unwrap_or(&nothing);
    // Integers only: their sums are exact.
    let counts = |s: &OpSummary| {
        let latency = &s.latency_ns;
        [s.ios, s.bytes, s.errors, latency.samples, latency.min, latency.max]
    };
    let text = |s: &OpSummary| {
        let slowest_ns = s.latency_ns.max;
        format!("{} I/Os, {} bytes, {} errors, slowest {slowest_ns} ns", s.ios, s.bytes, s.errors)
    };
    let (journalled, summed) = (journalled.operations(), summed.operations());
    let sides = journalled.into_iter().zip(summed);
    let mut sides = sides.map(|((op, stated), (_, found))| (op, stated, found));
    let (op, stated, found) = sides.find(|(_, stated, found)| counts(stated) != counts(found))?;
    let (stated, found) = (text(stated), text(found));
    Some(format!("{op}: stated {stated}; the intervals have {found}"))
}

/// `None` when no interval was measured.
pub(super) fn summed(
    drive: usize,
    totals: &JobTotals,
    series: &[OpSample],
    host: Option<&BTreeMap<u32, HostLoad>>,
) -> Option<CellResult> {
    if totals.elapsed() == Nanos::ZERO {
        return None;
    }
    let is_measured = |index: u32| {
        let at = series.binary_search_by_key(&(index, true), |p| (p.index, !p.ramp));
        at.is_ok()
    };
    let loads = host.into_iter().flatten();
    let measured = loads.filter(|(index, _)| is_measured(**index));
    let measured: Vec<HostLoad> = measured.map(|(_, load)| *load).collect();
    Some(CellResult {
        drive,
        elapsed: totals.elapsed(),
        read: totals.summary(Op::Read),
        write: totals.summary(Op::Write),
        discard: totals.summary(Op::Discard),
        flush: totals.summary(Op::Flush),
        host: HostLoad::mean(&measured),
        ..CellResult::default()
    })
}
