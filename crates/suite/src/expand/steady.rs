//! Preconditioning to steady state: the cells of a step with `precondition = "steady"`.

use assay_store::model::Segment;
use assay_units::rate::transfer_time;
use assay_units::{Nanos, parse_size};
use assay_workload::plan::DEFAULT_BLOCK_BYTES;

use super::Cell;
use super::matrix::{Combination, StepOnDrive};
use crate::schema::Precondition;

/// Most writes of the pass, of its area: garbage collection of a drive with half as much spare as
/// data begins before.
const PASS_LIMIT: &str = "160%";
/// Most writes of the probe, of its area.
const PROBE_LIMIT: &str = "40%";
/// Their intervals show when they are to end: a thousandth of the drive at this rate.
const PASS_BYTES_PER_S: u64 = 2_000_000_000;
const INTERVALS: u64 = 1000;
/// A pass that is interrupted goes on with the segment that it was in: a twentieth of the area is
/// written again, at most.
const PASS_SEGMENTS: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SteadyPhase {
    /// The area once, and what fills the drive's spare space.
    Pass,
    /// Random writes until they are steady.
    Probe,
}

impl StepOnDrive<'_> {
    pub(super) fn in_phases(
        &self,
        combinations: Vec<Combination>,
    ) -> Result<Vec<Combination>, String> {
        if self.step.precondition() != Some(Precondition::Steady) {
            return Ok(combinations);
        }
        let phases = [SteadyPhase::Pass, SteadyPhase::Probe];
        let cells = combinations.iter();
        let cells = cells.flat_map(|cell| phases.map(|phase| self.in_phase(cell, phase)));
        cells.collect()
    }

    fn in_phase(&self, of: &Combination, phase: SteadyPhase) -> Result<Combination, String> {
        let mut combination = of.clone();
        let options = &mut combination.options;
        if options.rw.as_deref() != Some("randwrite") {
            return Err("precondition = \"steady\" needs rw = \"randwrite\"".to_owned());
        }
        let capacity_bytes = self.drive.info().capacity_bytes;
        let interval = transfer_time(capacity_bytes / INTERVALS, PASS_BYTES_PER_S);
        let interval = interval.max(Nanos::MILLISECOND);
        options.interval = Some(format!("{}us", interval.0 / 1000));
        let (name, distribution, limit) = match phase {
            SteadyPhase::Pass => ("pass", "steady", PASS_LIMIT),
            SteadyPhase::Probe => ("probe", "random", PROBE_LIMIT),
        };
        options.random_distribution = Some(distribution.to_owned());
        options.io_size = Some(limit.to_owned());
        let unit_bytes = self.drive.write_unit_bytes().unwrap_or(0);
        if phase == SteadyPhase::Pass
            && let Some(bs) = &options.bs
            && parse_size(bs).is_ok_and(|bytes| bytes < unit_bytes)
        {
            // Smaller first writes of a unit would each take a whole one.
            options.bs = Some(unit_bytes.to_string());
        }
        combination.axes.push(("phase".to_owned(), name.to_owned()));
        combination.phase = Some(phase);
        Ok(combination)
    }
}

/// Of the random writes for which a step prepares.
pub(super) fn block_bytes(combinations: &[Combination]) -> Option<u64> {
    let is_probe = |of: &&Combination| of.phase == Some(SteadyPhase::Probe);
    let probe = combinations.iter().find(is_probe)?;
    let bs = probe.options.bs.as_deref();
    bs.map_or(Some(DEFAULT_BLOCK_BYTES.into()), |bs| parse_size(bs).ok())
}

/// The parts of a pass, each of which continues the order of the one before. Those after the end
/// of the drive's free space are not needed.
pub(super) fn segments(cell: Cell) -> Vec<Cell> {
    let [workload] = cell.workloads.as_slice() else {
        return vec![cell];
    };
    let block_bytes = u64::from(workload.access.min_bytes());
    let blocks = workload.planned_bytes().unwrap_or(0) / block_bytes;
    let threads = u64::from(workload.numjobs);
    let goal_bytes = |number: u32| {
        let blocks = u128::from(blocks) * u128::from(number) / u128::from(PASS_SEGMENTS);
        blocks as u64 * block_bytes
    };
    let parts = (1..=PASS_SEGMENTS).map(|number| {
        let mut part = cell.clone();
        let share_bytes = goal_bytes(number) - goal_bytes(number - 1);
        for workload in &mut part.workloads {
            workload.io_bytes = Some((share_bytes / threads).max(1));
            // Each block is written by the whole pass, not by a segment.
            workload.counts_coverage = false;
        }
        if number > 1 {
            part.plan.idle_ns = 0;
            part.start = None;
        }
        part.plan.segment = Some(Segment {
            of: cell.plan.id.clone(),
            number,
            count: PASS_SEGMENTS,
            written_bytes: Some(goal_bytes(number)),
        });
        part.plan.id = format!("{}/segment={number}", cell.plan.id);
        part
    });
    parts.collect()
}
