//! A cell under construction while its journal lines are read.

use std::collections::BTreeMap;

use assay_stats::{Histogram, HostLoad, Interval, JobTotals};
use assay_units::Op;

use crate::model::CellPlan;
use crate::read::{CellDrive, CellRecord, CellState};
use crate::series::OpSample;
use crate::series::silent::Spans;

pub(super) struct Point {
    pub(super) figures: OpSample,
    /// Offsets of the lines.
    pub(super) first: u64,
    pub(super) more: Vec<u64>,
}

/// Sorts as time does: the ramp's part of an interval comes before the measured part.
pub(super) type PointKey = (u32, bool, Op);

pub(super) fn key(interval: &Interval, op: Op) -> PointKey {
    (interval.index, !interval.ramp, op)
}

#[derive(Default)]
pub(super) struct OpenDrive {
    pub(super) totals: JobTotals,
    pub(super) points: BTreeMap<PointKey, Point>,
    pub(super) spans: Spans,
    pub(super) budget: Budget,
}

/// Sums that must stay within 64 bits, checked before the plain additions of `stats`: a journal is
/// untrusted input.
#[derive(Clone, Copy, Default)]
pub(super) struct Budget([u64; 5]);

impl Budget {
    /// The error is the reason why the counts are implausible.
    pub(super) fn with(mut self, interval: &Interval) -> Result<Budget, &'static str> {
        for (_, counts) in &interval.ops {
            let service = counts.service.as_ref().map_or(0, Histogram::count);
            let latencies = counts.latency.count();
            let added = [counts.ios, counts.bytes, counts.errors, latencies, service];
            for (sum, added) in self.0.iter_mut().zip(added) {
                *sum = sum
                    .checked_add(added)
                    .ok_or("its counts do not fit 64 bits together with those before")?;
            }
            if !plausible(&counts.latency) || !counts.service.as_ref().is_none_or(plausible) {
                return Err("a histogram's sum does not fit its extremes");
            }
        }
        Ok(self)
    }
}

/// The sum of n values lies between n times the smallest and n times the largest.
fn plausible(histogram: &Histogram) -> bool {
    let n = u128::from(histogram.count());
    let (min, max) = (u128::from(histogram.min().0), u128::from(histogram.max().0));
    (n * min..=n * max).contains(&histogram.sum_ns())
}

/// RFC 3339 in UTC; empty where there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Dates {
    /// The attempt of the run, from 1.
    pub(super) attempt: usize,
    pub(super) began: String,
    pub(super) ended: String,
}

pub(super) struct Cell {
    pub(super) record: CellRecord,
    pub(super) started: bool,
    pub(super) dates: Dates,
    pub(super) open: Vec<OpenDrive>,
    pub(super) host: BTreeMap<u32, HostLoad>,
}

impl Cell {
    pub(super) fn new(plan: &CellPlan) -> Cell {
        let skipped = plan.skipped.clone().map(CellState::Skipped);
        let mut cell = Cell {
            record: CellRecord {
                plan: plan.clone(),
                state: skipped.unwrap_or(CellState::Planned),
                drives: Vec::new(),
                host: Vec::new(),
            },
            started: false,
            dates: Dates::default(),
            open: Vec::new(),
            host: BTreeMap::new(),
        };
        cell.clear();
        cell
    }

    pub(super) fn clear(&mut self) {
        let drives = &self.record.plan.drives;
        self.record.drives =
            drives.iter().map(|&drive| CellDrive { drive, ..CellDrive::default() }).collect();
        self.open = drives.iter().map(|_| OpenDrive::default()).collect();
        self.host.clear();
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(
            self.record.state,
            CellState::Planned | CellState::Skipped(_) | CellState::Unfinished
        )
    }
}
