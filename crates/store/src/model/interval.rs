use assay_stats::{Interval, OpInterval};
use assay_units::{Nanos, Op};
use serde::{Deserialize, Serialize};

/// One drive's counts in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// [`super::CellPlan::id`].
    pub cell: String,
    /// Index into [`super::Manifest::drives`].
    pub drive: usize,
    /// Interval index; one that occurs more than once (a late worker) adds up.
    pub index: u32,
    /// Part of the ramp.
    pub ramp: bool,
    /// Since the cell's start.
    pub start: Nanos,
    /// Since the cell's start.
    pub end: Nanos,
    /// Per operation.
    pub ops: Vec<OpRecord>,
}

/// One operation in one interval; its histograms are the raw data, of which results are sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpRecord {
    /// Operation.
    pub op: Op,
    /// Counts.
    #[serde(flatten)]
    pub counts: OpInterval,
}

impl IntervalRecord {
    /// Record of a measured interval.
    pub fn new(cell: &str, drive: usize, interval: Interval) -> IntervalRecord {
        let ops = interval.ops.into_iter();
        IntervalRecord {
            cell: cell.to_owned(),
            drive,
            index: interval.index,
            ramp: interval.ramp,
            start: interval.start,
            end: interval.end,
            ops: ops.map(|(op, counts)| OpRecord { op, counts }).collect(),
        }
    }

    /// The measured interval.
    pub fn interval(self) -> Interval {
        Interval {
            index: self.index,
            ramp: self.ramp,
            start: self.start,
            end: self.end,
            ops: self.ops.into_iter().map(|o| (o.op, o.counts)).collect(),
            submitted: Vec::new(),
        }
    }
}

/// [`super::Entry::Interval`] without a copy of the interval.
#[derive(Serialize)]
#[serde(tag = "event", rename = "interval")]
pub(crate) struct BorrowedIntervalEntry<'a> {
    cell: &'a str,
    drive: usize,
    index: u32,
    ramp: bool,
    start: Nanos,
    end: Nanos,
    ops: Vec<BorrowedOpRecord<'a>>,
}

#[derive(Serialize)]
struct BorrowedOpRecord<'a> {
    op: Op,
    #[serde(flatten)]
    counts: &'a OpInterval,
}

impl<'a> BorrowedIntervalEntry<'a> {
    pub(crate) fn new(cell: &'a str, drive: usize, interval: &'a Interval) -> Self {
        let ops = interval.ops.iter();
        BorrowedIntervalEntry {
            cell,
            drive,
            index: interval.index,
            ramp: interval.ramp,
            start: interval.start,
            end: interval.end,
            ops: ops.map(|(op, counts)| BorrowedOpRecord { op: *op, counts }).collect(),
        }
    }
}
