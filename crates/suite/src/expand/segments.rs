//! A soak that ends by the later of runtime and bytes has further cells that end by bytes,
//! each of which is not needed where so much was written before it.

use assay_store::model::{CellKind, Segment};
use assay_units::Nanos;
use assay_units::rng::mix;

use super::Cell;
use crate::schema::EndRule;

/// Length of a segment that ends by its runtime; the last one is shorter.
pub const SEGMENT: Nanos = Nanos::from_secs(3600);
/// Segments that the bytes of a soak are divided into.
const BY_BYTES: u64 = 16;

/// Only a soak that ends by its runtime, or by the later of that and its bytes, is split: one that
/// ends by the sooner of both or by a rule has no segments known in advance.
pub(super) fn segments(cell: Cell, ends: EndRule) -> Vec<Cell> {
    let [workload] = cell.workloads.as_slice() else {
        return vec![cell];
    };
    let is_soak = cell.plan.kind == CellKind::Soak && cell.until.is_none();
    let by_both = ends == EndRule::Last;
    let bytes = workload.planned_bytes().filter(|_| by_both);
    let runtime = workload.runtime.filter(|_| is_soak && (by_both || workload.io_bytes.is_none()));
    let Some(runtime) = runtime.filter(|runtime| by_both || *runtime > SEGMENT) else {
        return vec![cell];
    };
    // More hours than 32 bits count are no plan.
    let hours = u32::try_from(runtime.0.div_ceil(SEGMENT.0));
    let Some((hours, count)) = hours.ok().and_then(|hours| {
        let by_bytes = if bytes.is_some() { BY_BYTES as u32 } else { 0 };
        Some((hours, hours.checked_add(by_bytes)?))
    }) else {
        return vec![cell];
    };
    let parts = (1..=count).map(|number| {
        let mut part = cell.clone();
        part.by_minute = runtime > SEGMENT;
        let before = Nanos(SEGMENT.0 * u64::from(number - 1));
        // All bytes so far, of each further segment.
        let written_bytes = bytes.filter(|_| number > hours).map(|bytes| {
            let sixteenths = u64::from(number - hours);
            (u128::from(bytes) * u128::from(sixteenths) / u128::from(BY_BYTES)) as u64
        });
        let span = match written_bytes {
            None => Some(SEGMENT.min(runtime - before)),
            Some(_) => None,
        };
        part.plan.workload.runtime_ns = span.unwrap_or_default().0;
        for workload in &mut part.workloads {
            workload.runtime = span;
            // The bytes that are left are known when it begins.
            let share = written_bytes.map(|bytes| (bytes / u64::from(workload.numjobs)).max(1));
            workload.io_bytes = share;
            if number > 1 {
                // Other random addresses than those of the segment before.
                workload.seed = mix(workload.seed, u64::from(number));
                workload.ramp = Nanos::ZERO;
                workload.start_delay = Nanos::ZERO;
            }
        }
        if number > 1 {
            part.plan.workload.ramp_ns = 0;
            part.plan.idle_ns = 0;
            part.drop_cache = false;
        }
        part.plan.segment =
            Some(Segment { of: cell.plan.id.clone(), number, count, written_bytes });
        part.plan.id = format!("{}/segment={number}", cell.plan.id);
        part
    });
    parts.collect()
}
