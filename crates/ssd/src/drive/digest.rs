//! Is one drive as another is? One number per kind of state.

use assay_units::rng::mix;

use super::Drive;
use crate::data::DataStore;

/// What a drive has become, as numbers that are equal where the state is. Times are no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateDigest {
    /// Where every unit lies, which flash holds what, and how much was programmed, moved and erased.
    pub flash: u64,
    /// What the host did: commands and bytes, as the health log counts them.
    pub host: u64,
    /// The bytes kept, with what was deallocated; 0 where none are.
    pub data: u64,
}

/// Take some numbers into a digest.
pub(crate) fn take(digest: u64, numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(digest, mix)
}

impl Drive {
    /// What the drive has become. Two drives of one profile, options and history have the same; nothing may be in flight.
    pub fn digest(&mut self) -> StateDigest {
        self.start_waiting(self.last_submit_ns);
        self.medium.settle();
        let counters = self.medium.counters();
        let mut flash = take(
            0,
            [
                counters.programmed_units,
                counters.relocated_units,
                counters.erased_superblocks,
            ],
        );
        if let Some(tables) = self.medium.tables() {
            flash = take(flash, tables.l2p.iter().map(|&entry| u64::from(entry)));
            flash = take(flash, tables.p2l.iter().map(|&entry| u64::from(entry)));
            flash = take(flash, tables.stale.iter().copied());
        }
        let host = &self.host;
        StateDigest {
            flash,
            host: take(
                0,
                [
                    host.reads,
                    host.writes,
                    host.bytes_read,
                    host.bytes_written,
                    host.media_errors,
                    host.unsafe_shutdowns,
                ],
            ),
            data: self.data.as_ref().map_or(0, DataStore::digest),
        }
    }
}
