//! Priorities of threads and of their I/Os.

use assay_io::priority::IoPriority;

use super::ordered::Order;
use super::values::invalid;
use super::{Engine, PlanError, Workload};
use crate::access::fio::{FioAccess, PerDirection, PriorityShare, priority_shares};
use crate::options::JobOptions;

pub(super) fn io_priority(options: &JobOptions) -> Result<Option<IoPriority>, PlanError> {
    let read = |text: &String| {
        let wrong = |()| {
            invalid(format!(
                "--ioprio {text} is none of: rt:LEVEL, be:LEVEL, idle, with levels from 0 to 7 and \
                 a hint up to 1023 after a further colon"
            ))
        };
        text.parse().map_err(wrong)
    };
    options.ioprio.as_ref().map(read).transpose()
}

/// As in fio the reads of a read-back have none where the job itself only writes.
pub(super) fn priorities(
    order: &Order<'_>,
    word: &str,
    mixes: bool,
) -> Result<PerDirection<Vec<PriorityShare>>, PlanError> {
    let given = order.each("cmdprio_bssplit", priority_shares)?;
    let [mut reads, mut writes, trims] = given.unwrap_or_default();
    reads.retain(|_| mixes || word == "read");
    writes.retain(|_| mixes || word.ends_with("write"));
    Ok([reads, writes, trims])
}

pub(super) fn check_engine(access: &FioAccess, workload: &Workload) -> Result<(), PlanError> {
    let is_plain = access.priorities.iter().all(Vec::is_empty);
    let takes = matches!(workload.engine, Engine::Uring | Engine::Sim | Engine::Null);
    match is_plain || takes {
        true => Ok(()),
        false => Err(invalid(format!(
            "cmdprio needs --engine uring: I/Os of {} have the priority of their thread; use prio \
             and prioclass",
            workload.engine.name()
        ))),
    }
}
