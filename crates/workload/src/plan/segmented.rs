use assay_device::session::TargetProperties;

use super::PlanError;
use super::values::{invalid, out_of_range};
use crate::access::{AccessConfig, AccessStep, Region};
use crate::options::JobOptions;
use crate::segments::Segments;

/// An I/O must lie in one segment: blocks of one size at multiples of it, in segments of multiples
/// of it.
pub(super) fn segments(
    options: &JobOptions,
    target: &TargetProperties,
    area: Region,
    access: &AccessConfig,
    unit: u32,
) -> Result<Option<Segments>, PlanError> {
    let Some(count) = options.segments else {
        return Ok(None);
    };
    if count == 1 {
        return Ok(None);
    }
    if count == 0 {
        return Err(out_of_range("segments", 0, "at least 1"));
    }
    let block_bytes = u64::from(access.max_bytes());
    let one_size = access.block_sizes.entries().count() == 1 && access.write_sizes.is_none();
    let align_bytes = access.align_bytes.map_or(block_bytes, u64::from);
    if !one_size || !align_bytes.is_multiple_of(block_bytes) {
        return Err(invalid("--segments needs blocks of one size at multiples of it"));
    }
    if access.zones.is_some() || access.step != AccessStep::Plain {
        return Err(invalid("--segments needs --rw and zones without gaps and runs"));
    }
    if options.verify == Some(true) || options.offset_increment.is_some() {
        return Err(invalid("--segments cannot be used with --verify and --offset_increment"));
    }
    let unit = u64::from(unit);
    let range_bytes = target.capacity_bytes / unit * unit - area.offset_bytes;
    let range = (area.offset_bytes, range_bytes);
    let segments = Segments::new(count, area.size_bytes, range, unit).map_err(invalid)?;
    if !segments.segment_bytes().is_multiple_of(block_bytes) {
        return Err(invalid(format!(
            "--segments {count}: a segment of {} bytes is not a multiple of the block size; use \
             fewer segments or a larger --size",
            segments.segment_bytes()
        )));
    }
    Ok(Some(segments))
}
