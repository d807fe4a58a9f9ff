//! Preconditioning to steady state: the cells of a step with `precondition = "steady"`.

use assay_units::rate::transfer_time;
use assay_units::{Nanos, parse_size};

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
