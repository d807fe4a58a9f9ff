//! A long soak as a sequence of cells of an hour, so that an interrupted one is resumed at its last hour. Readers see one cell
//! ([`assay_store::read::Run::open`]).

use assay_store::model::{CellKind, Segment};
use assay_units::Nanos;
use assay_units::rng::mix;

use super::Cell;

/// Length of a segment; the last one is shorter.
pub const SEGMENT: Nanos = Nanos::from_secs(3600);

/// The cells that a cell is measured as: itself, or its segments.
///
/// Only a soak that ends by its runtime is split: one that ends by bytes or by a rule has no segments known in advance.
pub(super) fn segments(cell: Cell) -> Vec<Cell> {
    let [workload] = cell.workloads.as_slice() else {
        return vec![cell];
    };
    let is_soak = cell.plan.kind == CellKind::Soak && cell.until.is_none();
    let runtime = workload.runtime.filter(|_| workload.io_bytes.is_none());
    let Some(runtime) = runtime.filter(|runtime| is_soak && *runtime > SEGMENT) else {
        return vec![cell];
    };
    let count = runtime.0.div_ceil(SEGMENT.0);
    // More hours than 32 bits count are no plan.
    let Ok(count) = u32::try_from(count) else {
        return vec![cell];
    };
    let parts = (1..=count).map(|number| {
        let before = Nanos(SEGMENT.0 * u64::from(number - 1));
        let mut part = cell.clone();
        let span = SEGMENT.min(runtime - before);
        part.plan.workload.runtime_ns = span.0;
        for workload in &mut part.workloads {
            workload.runtime = Some(span);
            if number > 1 {
                // Other random addresses than those of the hour before.
                workload.seed = mix(workload.seed, u64::from(number));
                workload.ramp = Nanos::ZERO;
                workload.start_delay = Nanos::ZERO;
            }
        }
        if number > 1 {
            part.plan.workload.ramp_ns = 0;
            part.plan.rest_ns = 0;
            part.drop_cache = false;
        }
        part.plan.segment = Some(Segment {
            of: cell.plan.id.clone(),
            number,
            count,
        });
        part.plan.id = format!("{}/segment={number}", cell.plan.id);
        part
    });
    parts.collect()
}
