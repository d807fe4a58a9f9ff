//! As fio 3.33's flow.c: a thread whose share of all I/Os of its group exceeds its weight's share
//! of all weights waits. A thread that ends takes its weight and its I/Os with it. fio's threads
//! count without order between them, and so do those of a real drive here; on a simulated drive one
//! thread runs all workers, and the order is always the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_units::Nanos;

use crate::plan::Workload;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub group: u32,
    /// Share of the I/Os, relative to the weights of the other threads.
    pub weight: u32,
    pub pause: Nanos,
}

#[derive(Debug)]
struct Group {
    weights: AtomicU64,
    ios: AtomicU64,
}

#[derive(Debug, Default)]
pub struct FlowGroups(BTreeMap<u32, Arc<Group>>);

impl FlowGroups {
    pub fn new<'a>(workloads: impl Iterator<Item = &'a Workload>) -> FlowGroups {
        let mut groups = FlowGroups::default();
        for workload in workloads {
            let Some(flow) = workload.flow else { continue };
            let empty = || Arc::new(Group { weights: AtomicU64::new(0), ios: AtomicU64::new(0) });
            let group = groups.0.entry(flow.group).or_insert_with(empty);
            let weights = u64::from(flow.weight) * u64::from(workload.numjobs);
            group.weights.fetch_add(weights, Ordering::Relaxed);
        }
        groups
    }

    pub fn share(&self, workload: &Workload) -> Option<FlowShare> {
        let flow = workload.flow?;
        Some(FlowShare {
            group: Arc::clone(self.0.get(&flow.group)?),
            weight: u64::from(flow.weight),
            pause: flow.pause,
            ios: 0,
        })
    }
}

#[derive(Debug)]
pub struct FlowShare {
    group: Arc<Group>,
    weight: u64,
    pause: Nanos,
    ios: u64,
}

impl FlowShare {
    pub fn take(&mut self) -> Result<(), Nanos> {
        let weights = u128::from(self.group.weights.load(Ordering::Relaxed));
        let all = u128::from(self.group.ios.load(Ordering::Relaxed));
        if u128::from(self.ios) * weights > u128::from(self.weight) * all {
            return Err(self.pause);
        }
        self.ios += 1;
        self.group.ios.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub fn leave(&mut self) {
        let (weight, ios) = (std::mem::take(&mut self.weight), std::mem::take(&mut self.ios));
        self.group.weights.fetch_sub(weight, Ordering::Relaxed);
        self.group.ios.fetch_sub(ios, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "../tests/unit/flow.rs"]
mod tests;
