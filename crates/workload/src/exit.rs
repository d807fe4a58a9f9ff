//! As fio 3.33's `fio_terminate_threads`: a thread that has done its work, or was ended itself,
//! ends the other threads of its group, or all that run at the same time. A thread that is ended
//! issues nothing more; its I/Os in flight complete, and what it wrote is read back where it
//! verifies, as at the end of a runtime.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use assay_units::Nanos;

use crate::plan::Workload;

/// Longest time after which a waiting thread learns that it was ended.
pub const EXIT_POLL: Nanos = Nanos::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitScope {
    Group,
    /// All that run at the same time and have this option.
    Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    pub group: u32,
    pub scope: ExitScope,
}

#[derive(Debug, Default)]
pub struct ExitGroups {
    groups: BTreeMap<u32, Arc<AtomicBool>>,
    stage: Arc<AtomicBool>,
    ends: Arc<AtomicU32>,
}

impl ExitGroups {
    pub fn new<'a>(workloads: impl Iterator<Item = &'a Workload>) -> ExitGroups {
        let mut groups = ExitGroups::default();
        for exit in workloads.filter_map(|workload| workload.exit) {
            groups.groups.entry(exit.group).or_default();
        }
        groups
    }

    pub fn share(&self, workload: &Workload) -> Option<ExitShare> {
        let exit = workload.exit?;
        Some(ExitShare {
            scope: exit.scope,
            group: Arc::clone(self.groups.get(&exit.group)?),
            stage: Arc::clone(&self.stage),
            ends: Arc::clone(&self.ends),
            has_left: false,
        })
    }
}

#[derive(Clone, Debug)]
pub struct ExitShare {
    scope: ExitScope,
    group: Arc<AtomicBool>,
    stage: Arc<AtomicBool>,
    ends: Arc<AtomicU32>,
    has_left: bool,
}

impl ExitShare {
    pub fn is_ended(&self) -> bool {
        self.group.load(Ordering::Relaxed) || self.stage.load(Ordering::Relaxed)
    }

    /// What [`ExitShare::is_ended`] says changes only with it.
    #[inline]
    pub fn ends(&self) -> u32 {
        self.ends.load(Ordering::Acquire)
    }

    pub fn leave(&mut self) {
        if std::mem::replace(&mut self.has_left, true) {
            return;
        }
        match self.scope {
            ExitScope::Group => self.group.store(true, Ordering::Relaxed),
            ExitScope::Stage => self.stage.store(true, Ordering::Relaxed),
        }
        self.ends.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
#[path = "../tests/unit/exit.rs"]
mod tests;
