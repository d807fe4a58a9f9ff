//! Syncs of a job (`fsync`, `fdatasync`, `sync_file_range`): their number and latencies.

use assay_units::Nanos;
use serde::Deserialize;

use super::Times;
use super::number::count;
use crate::fio::rates;
use crate::{Direction, Note};

#[derive(Deserialize)]
pub struct Syncs<'a> {
    /// Without those of `fdatasync`, of which fio 3.33 counts the latencies only.
    #[serde(default, deserialize_with = "count")]
    total_ios: u64,
    #[serde(default, borrow)]
    lat_ns: Option<Times<'a>>,
}

impl Syncs<'_> {
    fn samples(&self) -> u64 {
        self.lat_ns.as_ref().map_or(0, |times| times.n)
    }

    /// fio 3.33 counts each `fdatasync` as a short read instead.
    pub fn counted_as_short_reads(&self) -> u64 {
        self.samples().saturating_sub(self.total_ios)
    }

    /// Flushes within this time, with the latency from their submission to their completion.
    pub fn flushes(&self, elapsed: Nanos, notes: &mut Vec<Note>) -> Direction {
        let mut flushes = rates(self.total_ios.max(self.samples()), 0, elapsed);
        if let Some((times, ns)) = Times::in_either_unit(self.lat_ns.as_ref(), None) {
            times.fill_moments(&mut flushes, ns);
            times.fill(&mut flushes, ns, &times.percentiles(), notes);
        }
        flushes
    }
}
