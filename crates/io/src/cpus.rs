//! Processor affinity of worker threads.

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::TargetError;

/// A list as fio and taskset(1) write it, `0-3,8`, with `node1` for the processors of a NUMA node:
/// in order, each processor once, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(Vec<u32>);

/// Why a list of processors cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// Not a list.
    #[error(
        "{0:?} is not a list of processors; write numbers and ranges with commas between, e.g. \
         0-3,8"
    )]
    Text(String),
    /// A NUMA node that this host does not have, or whose processors cannot be read.
    #[error("NUMA node {node}: {why}")]
    Node {
        /// Given.
        node: String,
        /// The error.
        why: String,
    },
    /// A number beyond what Linux masks hold.
    #[error("processor {cpu} does not exist; the greatest number possible is {greatest}")]
    Number {
        /// Given.
        cpu: u32,
        /// Greatest possible.
        greatest: usize,
    },
    /// A processor outside the affinity mask of this process.
    #[error("processor {cpu} is not in this process's affinity mask: {allowed}")]
    NotAllowed {
        /// The processor.
        cpu: u32,
        /// Allowed processors.
        allowed: String,
    },
}

impl CpuList {
    /// The affinity mask of this process.
    pub fn allowed() -> CpuList {
        let mask = sched_getaffinity(None).unwrap_or_default();
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| mask.is_set(*cpu));
        CpuList(cpus.map(|cpu| cpu as u32).collect())
    }

    /// Checks that all processors are in the affinity mask of this process.
    pub fn check(&self) -> Result<(), CpuListError> {
        let allowed = CpuList::allowed();
        match self.0.iter().find(|cpu| !allowed.0.contains(cpu)) {
            None => Ok(()),
            Some(&cpu) => Err(CpuListError::NotAllowed { cpu, allowed: allowed.to_string() }),
        }
    }

    /// The one at this place, counted on from the first again behind the last.
    pub fn one(&self, place: u32) -> CpuList {
        CpuList(vec![self.0[place as usize % self.0.len()]])
    }

    /// Sets the affinity of the calling thread, which threads it starts later inherit.
    pub fn set_thread_affinity(&self) -> Result<(), TargetError> {
        let mut mask = CpuSet::new();
        for &cpu in &self.0 {
            mask.set(cpu as usize);
        }
        sched_setaffinity(None, &mask)
            .map_err(|errno| TargetError::Cpus { cpus: self.to_string(), source: errno.into() })
    }
}

fn of_node(node: &str) -> Result<CpuList, CpuListError> {
    let failed = |why: String| CpuListError::Node { node: node.to_owned(), why };
    node.parse::<u32>().map_err(|error| failed(error.to_string()))?;
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let list = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    match list.trim() {
        "" => Err(failed("it has no processors".to_owned())),
        list => list.parse(),
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<CpuList, CpuListError> {
        let wrong = || CpuListError::Text(text.to_owned());
        let number = |word: &str| -> Result<u32, CpuListError> {
            let cpu: u32 = word.trim().parse().map_err(|_| wrong())?;
            if cpu as usize >= CpuSet::MAX_CPU {
                return Err(CpuListError::Number { cpu, greatest: CpuSet::MAX_CPU - 1 });
            }
            Ok(cpu)
        };
        let mut cpus = Vec::new();
        for part in text.split(',') {
            if let Some(node) = part.trim().strip_prefix("node") {
                cpus.extend(of_node(node)?.0);
                continue;
            }
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(wrong());
            }
            cpus.extend(first..=last);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(CpuList(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for run in self.0.chunk_by(|a, b| a + 1 == *b) {
            match run {
                [only] => write!(f, "{separator}{only}")?,
                [first, .., last] => write!(f, "{separator}{first}-{last}")?,
                [] => {}
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/cpus.rs"]
mod tests;
