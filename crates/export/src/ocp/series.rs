//! Measurement series of a cell. Threads can report an interval in parts, and the completions in
//! flight at the end make an interval of microseconds, so the last two intervals of a drive are
//! held back until a later one begins, or the cell ends.

use std::collections::BTreeMap;

use assay_stats::{Interval, LatencySummary};
use assay_units::{Nanos, Op, rate};

pub(super) struct Element {
    pub(super) figure: Figure,
    /// Since the cell's start.
    pub(super) at: Nanos,
    pub(super) value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Figure {
    Iops(Op),
    MibPerS(Op),
    P99Us(Op),
    TemperatureC,
}

impl Figure {
    pub(super) fn name(self) -> String {
        match self {
            Figure::Iops(op) => format!("{}.iops", op.name()),
            Figure::MibPerS(op) => format!("{}.bandwidth", op.name()),
            Figure::P99Us(op) => format!("{}.latency.p99", op.name()),
            Figure::TemperatureC => "temperature".to_owned(),
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Figure::Iops(_) => super::IOPS,
            Figure::MibPerS(_) => super::MIB_PER_S,
            Figure::P99Us(_) => super::MICROSECONDS,
            Figure::TemperatureC => super::CELSIUS,
        }
    }
}

/// Intervals of a drive that are held back, by index.
#[derive(Default)]
pub(super) struct Pending {
    open: BTreeMap<u32, Interval>,
    /// The first index whose figures were not returned.
    next: u32,
}

impl Pending {
    /// Returns the figures of intervals that are over; `None` for a part of an interval whose
    /// figures were returned before.
    pub(super) fn add(&mut self, interval: Interval) -> Option<Vec<Element>> {
        let index = interval.index;
        if index < self.next {
            return None;
        }
        self.open.entry(index).and_modify(|known| known.merge(&interval)).or_insert(interval);
        let mut over = Vec::new();
        while let Some(first) = self.open.first_entry()
            && index.saturating_sub(*first.key()) >= 2
        {
            let (index, interval) = first.remove_entry();
            self.next = index + 1;
            over.extend(elements(&interval));
        }
        Some(over)
    }

    /// A last interval that is shorter than half of the one before is part of it.
    pub(super) fn end(&mut self) -> Vec<Element> {
        let mut left: Vec<Interval> = std::mem::take(&mut self.open).into_values().collect();
        self.next = 0;
        if let [.., before, last] = &mut left[..] {
            let span = |interval: &Interval| interval.end.0.saturating_sub(interval.start.0);
            if u128::from(span(last)) * 2 < u128::from(span(before)) {
                before.merge(last);
                left.pop();
            }
        }
        left.iter().flat_map(elements).collect()
    }
}

fn elements(interval: &Interval) -> Vec<Element> {
    let at = interval.end;
    // Damaged times must not cause a panic.
    let elapsed = Nanos(interval.end.0.saturating_sub(interval.start.0));
    let mut elements = Vec::new();
    for (op, counts) in &interval.ops {
        let mut add = |figure, value| elements.push(Element { figure, at, value });
        add(Figure::Iops(*op), rate::per_second(counts.ios, elapsed));
        let mib_per_s = rate::mib_per_second(counts.bytes, elapsed);
        add(Figure::MibPerS(*op), mib_per_s);
        if !counts.latency.is_empty() {
            let p99 = LatencySummary::new(&counts.latency).p99;
            add(Figure::P99Us(*op), p99 as f64 / 1e3);
        }
    }
    elements
}
