//! Parts of an open loop's latency. The mean latency from the intended start is the sum of three
//! parts (means add, percentiles do not):
//!
//! - *service*: what an I/O takes while no other is in flight;
//! - *queueing*: completion minus submission minus service: the wait for the drive's own resources
//!   behind other I/Os, inside of the drive or the kernel;
//! - *lateness*: submission minus intended start: the I/O was due, but its worker had all of its
//!   I/Os in flight, or got no processor time.
//!
//! A drive that is asked for more I/Os than a worker has slots is late; one with slots enough
//! queues. So the difference between the two latencies that an open loop measures is the lateness
//! alone, and can be zero while nearly all of the latency is queueing. The service time is
//! estimated by the mean latency from submission of the same workload on the same drive in the same
//! run: of the same step, in a closed loop with one I/O in flight, which has no queueing, or else
//! at the lowest load of its curve, if that is at most [`UNLOADED_PCT`] of the saturated rate; then
//! of other steps with one I/O in flight. A load `r` has queueing of its own in it: `r / (1 - r)`
//! of the service time where one server works and service times are exponentially distributed, half
//! of that where they are constant (M/M/1 and M/D/1; L. Kleinrock, "Queueing Systems, volume 1",
//! 1975), less with more servers.

use assay_store::model::{CellResult, WorkloadRecord};
use assay_store::read::{CellRecord, CellState, Run};

use crate::knee::total_depth;

/// Highest load whose latency from submission estimates the service time, percent of the saturated
/// rate.
pub const UNLOADED_PCT: f64 = 10.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceBasis {
    /// A closed loop with one I/O in flight.
    Depth1,
    /// The lowest load of the curve, percent of the saturated rate.
    LowestLoad(f64),
}

impl ServiceBasis {
    /// Description with the bound of the error.
    pub fn text(self) -> String {
        match self {
            ServiceBasis::Depth1 => "mean latency with one I/O in flight".to_owned(),
            ServiceBasis::LowestLoad(percent) => format!(
                "mean latency from submission at {percent} % load, up to {:.1} % of the service \
                 time too high by that load's own queueing",
                percent / (100.0 - percent) * 100.0
            ),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    pub mean_ns: f64,
    pub basis: ServiceBasis,
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyParts {
    /// Time from the intended start to the completion.
    pub latency_ns: f64,
    /// `None` where it is not known.
    pub service: Option<Service>,
    /// From submission to completion, less the service time. Negative where I/Os took longer at the
    /// load that stands for the service time, such as those of a drive that falls asleep between
    /// them.
    pub queueing_ns: Option<f64>,
    /// Time from intended start to submission.
    pub lateness_ns: f64,
}

/// Parts for the operation there was more of; `None` of a closed loop or without a result.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<LatencyParts> {
    let (latency_ns, from_submission) = mean_latencies(cell.drive(drive)?.result.as_ref()?);
    let from_submission_ns = from_submission?;
    let service = service(run, cell, drive);
    Some(LatencyParts {
        latency_ns,
        service,
        queueing_ns: service.map(|service| from_submission_ns - service.mean_ns),
        lateness_ns: latency_ns - from_submission_ns,
    })
}

/// Nanoseconds; from submission in an open loop.
fn mean_latencies(result: &CellResult) -> (f64, Option<f64>) {
    let op = match result.read.ios >= result.write.ios {
        true => &result.read,
        false => &result.write,
    };
    (op.latency_ns.mean, op.service_ns.map(|from| from.mean))
}

/// The best estimate.
fn service(run: &Run, cell: &CellRecord, drive: usize) -> Option<Service> {
    let (plan, wanted) = (&cell.plan, alike(&cell.plan.workload));
    let alike = run.cells.iter().filter(|other| {
        other.state == CellState::Finished
            && other.plan.drives == plan.drives
            && other.plan.variant == plan.variant
            && alike(&other.plan.workload) == wanted
    });
    // The state of the drive is that of the step; lower loads have less queueing.
    let rank = |other: &CellRecord, basis: ServiceBasis| match basis {
        ServiceBasis::Depth1 if other.plan.step == plan.step => (0, 0.0),
        ServiceBasis::LowestLoad(percent) => (1, percent),
        ServiceBasis::Depth1 => (2, 0.0),
    };
    let estimates = alike.filter_map(|other| {
        let service = estimate(other, drive)?;
        let is_own = other.plan.step == plan.step || service.basis == ServiceBasis::Depth1;
        is_own.then(|| (rank(other, service.basis), service))
    });
    let best = estimates.min_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    best.map(|(_, service)| service)
}

/// `None` where the cell's I/Os queue.
fn estimate(cell: &CellRecord, drive: usize) -> Option<Service> {
    let (latency_ns, from_submission) = mean_latencies(cell.drive(drive)?.result.as_ref()?);
    let load_pct = cell.plan.load.as_ref().map(|load| load.percent);
    let (mean_ns, basis) = match (from_submission, load_pct) {
        (None, None) => {
            let alone = total_depth(&cell.plan.workload) == 1;
            alone.then_some((latency_ns, ServiceBasis::Depth1))?
        }
        (Some(mean_ns), Some(percent)) if percent <= UNLOADED_PCT => {
            (mean_ns, ServiceBasis::LowestLoad(percent))
        }
        _ => return None,
    };
    (mean_ns > 0.0).then_some(Service { mean_ns, basis })
}

/// Cells that are equal in it have the same service times.
fn alike(workload: &WorkloadRecord) -> WorkloadRecord {
    WorkloadRecord {
        iodepth: 0,
        numjobs: 0,
        rate_iops: 0.0,
        runtime_ns: 0,
        ramp_ns: 0,
        offset_bytes: 0,
        options: String::new(),
        ..workload.clone()
    }
}

#[cfg(test)]
#[path = "../tests/unit/queueing.rs"]
mod tests;
