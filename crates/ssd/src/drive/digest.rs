//! Digests of drive state, for comparing two drives.

use assay_units::rng::mix;

use super::Drive;
use crate::data::DataStore;

/// Digests of the state; times are not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateDigest {
    /// Maps, validity, and counts of programmed, relocated and erased flash.
    pub flash: u64,
    /// Host commands and bytes as in the health log.
    pub host: u64,
    /// Kept data and deallocations; 0 without kept data.
    pub data: u64,
}

pub(crate) fn take(digest: u64, numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(digest, mix)
}

impl Drive {
    /// Digest of the state, equal for equal profile, options and history; nothing may be in flight.
    pub fn digest(&mut self) -> StateDigest {
        self.start_waiting(self.last_submit_ns);
        self.medium.apply_map_updates();
        let ftl = self.medium.counters();
        let units = [ftl.programmed_units, ftl.relocated_units];
        let mut flash = take(take(0, units), [ftl.erased_superblocks]);
        if let Some(tables) = self.medium.tables() {
            flash = take(flash, tables.l2p.iter().map(|&entry| u64::from(entry)));
            flash = take(flash, tables.p2l.iter().map(|&entry| u64::from(entry)));
            flash = take(flash, tables.stale.iter().copied());
        }
        let host = &self.host;
        let host = [
            host.host_reads,
            host.host_writes,
            host.host_bytes_read,
            host.host_bytes_written,
            host.media_errors,
            host.unsafe_shutdowns,
        ];
        StateDigest {
            flash,
            host: take(0, host),
            data: self.data.as_ref().map_or(0, DataStore::digest),
        }
    }
}
