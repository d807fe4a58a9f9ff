//! The specification's terms: the segments are of equal size, the start of each is random, they
//! span the range and do not touch. Each lies in its own equal share of the range, at a random
//! place that depends on the number of segments and the range alone: preconditioning and tests
//! access the same blocks.

use std::sync::Arc;

use assay_units::Rng;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    segment_bytes: u64,
    first_bytes: u64,
    starts: Arc<[u64]>,
}

impl Segments {
    /// Places are multiples of `unit_bytes`.
    pub fn new(
        count: u32,
        area_bytes: u64,
        (first_bytes, range_bytes): (u64, u64),
        unit_bytes: u64,
    ) -> Result<Segments, String> {
        let of = u64::from(count.max(1));
        let segment_bytes = area_bytes / of;
        if !area_bytes.is_multiple_of(of)
            || segment_bytes == 0
            || !segment_bytes.is_multiple_of(unit_bytes)
        {
            return Err(format!(
                "--segments {count}: --size is not so many segments of a multiple of {unit_bytes} \
                 bytes"
            ));
        }
        let share_bytes = range_bytes / of / unit_bytes * unit_bytes;
        // One unit at least between two, so that they do not touch.
        let Some(room_bytes) = share_bytes.checked_sub(segment_bytes + unit_bytes) else {
            return Err(format!(
                "--segments {count}: the area does not leave a gap between its segments; lower \
                 --size"
            ));
        };
        let mut rng = Rng::stream(of, "active-range-segments");
        let starts = (0..of).map(|n| {
            let places = room_bytes / unit_bytes + 1;
            first_bytes + n * share_bytes + rng.below(places) * unit_bytes
        });
        Ok(Segments { segment_bytes, first_bytes, starts: starts.collect() })
    }

    pub fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    #[inline]
    pub fn place(&self, offset_bytes: u64) -> u64 {
        let within = offset_bytes - self.first_bytes;
        let segment = (within / self.segment_bytes) as usize;
        self.starts[segment] + within % self.segment_bytes
    }
}

#[cfg(test)]
#[path = "../tests/unit/segments.rs"]
mod tests;
