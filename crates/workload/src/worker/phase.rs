//! What a worker does, and why it ends.

use assay_integrity::blocks::VerifyError;
use assay_integrity::checker::CheckerOptions;
use assay_units::rng::mix;
use assay_units::{Nanos, Rng};

use crate::access::{AccessError, Region};
use crate::arrival::{Arrivals, Rate};
use crate::plan::{Pacing, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkerPhase {
    Main,
    /// A pass of fio's order is issued; the I/Os in flight complete before the next one.
    DrainPass,
    /// The backlog of writes is full; the I/Os in flight complete before it is read back.
    DrainBacklog,
    ReadBacklog,
    /// What a pass has written is read back before the next one.
    ReadPass,
    /// The workload is issued; the I/Os in flight complete before the last flush and the read-back.
    Drain,
    ReadBack,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextIssue {
    Completion,
    Due(Nanos),
}

#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(
        "{} {len_bytes} bytes at {offset_bytes} cannot be verified: whole blocks of the {} bytes \
         at {} can; this is a defect of assay, please report it with the job's options",
        if *.is_write { "a write of" } else { "a read of" }, .area.1, .area.0
    )]
    OutsideVerified { is_write: bool, offset_bytes: u64, len_bytes: u32, area: (u64, u64) },
}

/// What a worker verifies in blocks of `interval_bytes`.
pub(super) fn checker_options(
    workload: &Workload,
    region: Region,
    interval_bytes: u32,
) -> CheckerOptions {
    let seed = workload.verify_seed;
    CheckerOptions {
        seed: seed.or(workload.writes().then_some(workload.seed)),
        pattern: workload.data,
        interval_bytes,
        offset_bytes: region.offset_bytes,
        size_bytes: region.size_bytes,
        writes: workload.writes(),
        reads_back: workload.reads_back,
        max_io_bytes: workload.access.max_bytes(),
        atomic: workload.features.atomic,
    }
}

pub(super) fn arrivals(workload: &Workload, index: u32) -> Arrivals {
    match workload.pacing {
        Pacing::Closed => Arrivals::closed(),
        Pacing::Limited { rate } => Arrivals::constant(rate, index, workload.workers()),
        Pacing::Open { iops, poisson } if poisson => {
            let rng = Rng::stream(mix(workload.seed, u64::from(index)), "arrivals");
            Arrivals::poisson(iops, workload.workers(), rng)
        }
        Pacing::Open { iops, .. } => {
            Arrivals::constant(Rate::iops(iops), index, workload.workers())
        }
    }
}
