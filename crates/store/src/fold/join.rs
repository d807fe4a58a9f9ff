//! Segments of a long cell joined to the cell that readers see. Series follow each other on one
//! time axis, in which an interruption of a real drive is a hole as long as it was. Histograms are
//! summed before figures are made of them, so nothing is lost.

use std::collections::{BTreeMap, BTreeSet};

use assay_stats::{HostLoad, JobTotals, ProcessLoad};
use assay_units::{Nanos, Op};

use super::TotalsSink;
use super::cell::Dates;
use crate::model::{
    CellPlan, CellResult, Manifest, NOT_NEEDED, VerifySummary, WRITE_AMPLIFICATION,
};
use crate::read::{CellDrive, CellRecord, CellState, Gap, SegmentPlace};
use crate::thin::thin;

/// Dates are whole seconds, and a cell takes a moment to begin: a longer time between two segments
/// is a gap.
const LONGEST_CHANGE_S: i64 = 5;

pub(super) struct JoinedSegments {
    /// For each planned cell: its number for readers, and whether it is a segment.
    numbers: Vec<(usize, bool)>,
    /// Of segments, by planned cell and drive within it.
    totals: BTreeMap<(usize, usize), JobTotals>,
    places: BTreeMap<String, SegmentPlace>,
}

impl JoinedSegments {
    pub(super) fn new(cells: &[CellPlan]) -> JoinedSegments {
        let mut numbers: Vec<(usize, bool)> = Vec::with_capacity(cells.len());
        let mut next = 0;
        for (at, cell) in cells.iter().enumerate() {
            if !continues(at.checked_sub(1).map(|before| &cells[before]), cell) {
                next += 1;
            }
            numbers.push((next - 1, cell.segment.is_some()));
        }
        JoinedSegments { numbers, totals: BTreeMap::new(), places: BTreeMap::new() }
    }

    /// Kept of a segment, else passed on.
    pub(super) fn take(
        &mut self,
        at: usize,
        place: usize,
        totals: JobTotals,
        sink: TotalsSink<'_>,
    ) {
        match self.numbers[at] {
            (_, true) => {
                self.totals.insert((at, place), totals);
            }
            (number, false) => sink(number, place, &totals),
        }
    }

    pub(super) fn join(
        mut self,
        cells: Vec<(CellRecord, Dates)>,
        manifest: &Manifest,
        sink: TotalsSink<'_>,
    ) -> (Vec<CellRecord>, BTreeMap<String, SegmentPlace>) {
        let mut joined: Vec<CellRecord> = Vec::with_capacity(cells.len());
        let mut segments: Vec<(usize, CellRecord, Dates)> = Vec::new();
        let mut cells = cells.into_iter().enumerate().peekable();
        while let Some((at, (record, dates))) = cells.next() {
            if record.plan.segment.is_none() {
                joined.push(record);
                continue;
            }
            let next = cells.peek().map(|(_, (next, _))| &next.plan);
            let ends = next.is_none_or(|next| !continues(Some(&record.plan), next));
            segments.push((at, record, dates));
            if ends {
                let whole = self.whole(&segments, manifest, joined.len(), sink);
                joined.push(whole);
                segments.clear();
            }
        }
        (joined, self.places)
    }

    fn whole(
        &mut self,
        segments: &[(usize, CellRecord, Dates)],
        manifest: &Manifest,
        number: usize,
        sink: TotalsSink<'_>,
    ) -> CellRecord {
        let first = &segments[0].1.plan;
        let runtimes = segments.iter().map(|(_, s, _)| s.plan.workload.runtime_ns);
        let mut plan = first.clone();
        if let Some(segment) = plan.segment.take() {
            plan.id = segment.of;
        }
        plan.workload.runtime_ns = runtimes.fold(0, u64::saturating_add);
        // Bytes that were written in time need no segments of their own.
        let needed = |segment: &&CellRecord| match &segment.state {
            CellState::Skipped(why) => !why.starts_with(NOT_NEEDED),
            _ => true,
        };
        let all = segments.iter().map(|(_, segment, _)| segment);
        let states: Vec<&CellState> = all.filter(needed).map(|segment| &segment.state).collect();
        let mut whole = CellRecord {
            state: state_of(&states, &segments[0].1.state),
            drives: Vec::with_capacity(plan.drives.len()),
            host: Vec::new(),
            plan,
        };
        let drives = whole.plan.drives.clone();
        for (place, &drive) in drives.iter().enumerate() {
            let simulated = manifest.drives[drive].simulated;
            let mut axis = Axis::default();
            let mut part = CellDrive { drive, ..CellDrive::default() };
            let mut totals = JobTotals::default();
            for (at, segment, dates) in segments {
                if let Some(measured) = self.totals.remove(&(*at, place)) {
                    totals.append(&measured);
                }
                let base = axis.begin(segment, dates, simulated, &mut part.gaps);
                let own = self.places.entry(segment.plan.id.clone());
                let own = own.or_insert(SegmentPlace { cell: number, begins: Vec::new() });
                own.begins.push((base, axis.index));
                axis.append(&mut part, &segment.drives[place], base);
                if place == 0 {
                    let loads = segment.host.iter();
                    let moved = loads.map(|(i, load)| (axis.index.saturating_add(*i), *load));
                    whole.host.extend(moved);
                }
                axis.end(segment, dates, &segment.drives[place], base);
            }
            let measured = segments.iter().map(|(_, s, _)| s.drives[place].result.as_ref());
            let measured: Vec<&CellResult> = measured.flatten().collect();
            part.result = (!measured.is_empty()).then(|| sum(drive, &measured, &totals));
            part.distributions = totals
                .ops()
                .filter_map(|op| {
                    let latency = &totals.counts(op)?.latency;
                    let deadlines_ns = &whole.plan.deadlines_ns;
                    (!latency.is_empty()).then(|| (op, thin(&latency.cumulative(), deadlines_ns)))
                })
                .collect();
            sink(number, place, &totals);
            whole.drives.push(part);
        }
        whole
    }
}

/// Whether `cell` is the next segment of the same whole.
fn continues(before: Option<&CellPlan>, cell: &CellPlan) -> bool {
    let (Some(before), Some(segment)) = (before, &cell.segment) else {
        return false;
    };
    let is_before = |other: &crate::model::Segment| {
        other.of == segment.of && other.number.checked_add(1) == Some(segment.number)
    };
    before.segment.as_ref().is_some_and(is_before) && before.drives == cell.drives
}

/// Finished when all segments are, else the state of the first that failed or was skipped.
/// That of one that was not needed where none was.
fn state_of(segments: &[&CellState], not_needed: &CellState) -> CellState {
    if segments.is_empty() {
        return not_needed.clone();
    }
    let is = |wanted: fn(&CellState) -> bool| segments.iter().find(|state| wanted(state));
    let all = |wanted: CellState| segments.iter().all(|state| **state == wanted);
    let failed = is(|state| matches!(state, CellState::Failed(_)));
    let skipped = is(|state| matches!(state, CellState::Skipped(_)));
    if all(CellState::Finished) {
        CellState::Finished
    } else if all(CellState::Planned) {
        CellState::Planned
    } else if let Some(state) = failed.or(skipped) {
        (**state).clone()
    } else {
        CellState::Unfinished
    }
}

#[derive(Default)]
struct Axis {
    end: Nanos,
    next_index: u32,
    /// Added to the indices of the present segment.
    index: u32,
    /// Attempt and end of the segment before, if it was measured.
    before: Option<(usize, String)>,
}

impl Axis {
    /// After the gap before the segment.
    fn begin(
        &mut self,
        segment: &CellRecord,
        dates: &Dates,
        simulated: bool,
        gaps: &mut Vec<Gap>,
    ) -> Nanos {
        self.index = self.next_index;
        let Some((attempt, ended)) = self.before.take() else {
            return self.end;
        };
        if segment.state == CellState::Planned {
            return self.end;
        }
        let span = between(&ended, &dates.began);
        if attempt == dates.attempt
            && (simulated || span.0 <= LONGEST_CHANGE_S as u64 * 1_000_000_000)
        {
            return self.end;
        }
        let span_ns = if simulated { Nanos::ZERO } else { span };
        gaps.push(Gap { start_ns: self.end, span_ns, from: ended, to: dates.began.clone() });
        Nanos(self.end.0.saturating_add(span_ns.0))
    }

    fn append(&self, part: &mut CellDrive, segment: &CellDrive, base: Nanos) {
        let later = |at: Nanos| Nanos(base.0.saturating_add(at.0));
        part.series.extend(segment.series.iter().cloned().map(|mut sample| {
            sample.index = self.index.saturating_add(sample.index);
            (sample.start, sample.end) = (later(sample.start), later(sample.end));
            sample
        }));
        part.telemetry.extend(segment.telemetry.iter().cloned().map(|mut reading| {
            reading.at = later(reading.at);
            reading.cell = part_of(&reading.cell).to_owned();
            reading
        }));
    }

    /// By the segment's plan, or later where its last I/Os completed later.
    fn end(&mut self, segment: &CellRecord, dates: &Dates, part: &CellDrive, base: Nanos) {
        let planned = &segment.plan.workload;
        let planned = planned.ramp_ns.saturating_add(planned.runtime_ns);
        let last = part.series.iter().map(|sample| sample.end.0).max();
        let span = match segment.state {
            CellState::Finished => planned.max(last.unwrap_or(0)),
            _ => last.unwrap_or(0),
        };
        self.end = Nanos(base.0.saturating_add(span));
        let indices = part.series.iter().map(|sample| sample.index);
        let used = indices.max().map_or(0, |last| last.saturating_add(1));
        self.next_index = self.index.saturating_add(used);
        if segment.state != CellState::Planned {
            self.before = Some((dates.attempt, dates.ended.clone()));
        }
    }
}

/// The identifier of the whole is that of a segment without its last part.
fn part_of(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(whole, _)| whole)
}

/// Zero where a date is not readable, or not before the other.
fn between(from: &str, to: &str) -> Nanos {
    let date = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let (Some(from), Some(to)) = (date(from), date(to)) else {
        return Nanos::ZERO;
    };
    let seconds = to.as_second().saturating_sub(from.as_second());
    Nanos(u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000))
}

/// Rates and latencies come from all raw histograms, other figures are weighted by time.
fn sum(drive: usize, segments: &[&CellResult], totals: &JobTotals) -> CellResult {
    let hosts: Vec<HostLoad> = segments.iter().filter_map(|r| r.host).collect();
    let process = segments.iter().filter_map(|r| Some((r.process?, r.elapsed)));
    let process: Vec<(ProcessLoad, Nanos)> = process.collect();
    let busiest = segments.iter().filter_map(|r| r.busiest_thread_pct);
    let loads = |of: fn(&ProcessLoad) -> f64| {
        weighted(process.iter().map(|(load, span)| (of(load), span.0 as f64)))
    };
    CellResult {
        drive,
        elapsed: totals.elapsed(),
        read: totals.summary(Op::Read),
        write: totals.summary(Op::Write),
        discard: totals.summary(Op::Discard),
        flush: totals.summary(Op::Flush),
        host: HostLoad::mean(&hosts),
        process: loads(|l| l.cpu_user_pct)
            .zip(loads(|l| l.cpu_system_pct))
            .map(|(cpu_user_pct, cpu_system_pct)| ProcessLoad { cpu_user_pct, cpu_system_pct }),
        busiest_thread_pct: busiest.reduce(f64::max),
        verify: verified(segments),
        // A replay is never measured in segments.
        trace: None,
        values: values(segments),
    }
}

/// `None` without any weight.
fn weighted(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weight) =
        values.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    (weight > 0.0).then_some(sum / weight)
}

/// The highest temperature, write amplification by bytes written, others by time.
fn values(segments: &[&CellResult]) -> BTreeMap<String, f64> {
    let names: BTreeSet<&String> = segments.iter().flat_map(|r| r.values.keys()).collect();
    let joined = names.into_iter().filter_map(|name| {
        let known = segments.iter().filter_map(|r| Some((*r.values.get(name)?, *r)));
        let value = match name.as_str() {
            "temperature_max_c" => known.map(|(value, _)| value).reduce(f64::max),
            WRITE_AMPLIFICATION => weighted(known.map(|(v, r)| (v, r.write.bytes as f64))),
            _ => weighted(known.map(|(value, r)| (value, r.elapsed.0 as f64))),
        };
        Some((name.clone(), value?))
    });
    joined.collect()
}

fn add_counts(sum: &mut BTreeMap<String, u64>, part: &BTreeMap<String, u64>) {
    for (key, n) in part {
        let count = sum.entry(key.clone()).or_default();
        *count = count.saturating_add(*n);
    }
}

/// The first examples stay.
fn verified(segments: &[&CellResult]) -> Option<VerifySummary> {
    let mut parts = segments.iter().filter_map(|r| r.verify.as_ref());
    let mut sum = parts.next()?.clone();
    let kept = sum.examples.len().max(1);
    for part in parts {
        sum.blocks_checked = sum.blocks_checked.saturating_add(part.blocks_checked);
        add_counts(&mut sum.found, &part.found);
        add_counts(&mut sum.not_judged, &part.not_judged);
        sum.examples.extend(part.examples.iter().cloned());
        sum.examples.truncate(kept);
        // Each segment has a seed of its own.
        sum.seed = None;
    }
    Some(sum)
}
