//! Media written in place: 3D XPoint.
//!
//! # Mechanism
//! No pages, no erase blocks: a unit is overwritten where it is, so there is no map to rebuild, no garbage to collect and no
//! difference between the first write and the millionth. Units lie in turn on *lanes*, groups of dies over which one unit is
//! spread and which work as one (a P4800X has 7 channels and spreads 4 KiB over several dies: AT11930p1 and AT11930ts
//! in the reference's sources.yaml). A read finds the unit in the indirection table (units move for wear levelling), occupies its
//! lane for the read time and until its data has left over the channel. A write is acknowledged when the media has it: there is
//! no write buffer. It passes what limits writing in all dies together (the current that writing draws, as one serial resource),
//! its channel, and occupies its lane for the write time.
//!
//! A write that begins or ends inside a granule reads the old content first. The controller has one merge engine, used after the
//! data has arrived, so that each such end costs a read and a write in full: this is what makes unaligned large writes slow
//! (AT11930ts: about 1.3 instead of 2.0 GB/s at depth 1) and writes below 4 KiB slower than larger ones.
//!
//! # Non-goals
//! The moves of wear levelling are too rare and too small to see from outside. Deallocation frees nothing and costs nothing here;
//! a deallocated unit is read like any other.

use crate::options::Age;
use crate::profile::{InPlaceProfile, MAP_UNIT_BYTES};
use crate::retry::Retry;
use crate::spread::Spread;
use crate::timeline::{ByteTime, Timeline};

/// The media of a drive without flash.
#[derive(Clone, Debug)]
pub struct InPlace {
    /// When each lane is free, in nanoseconds.
    lanes: Vec<u64>,
    /// Channels that a unit's dies share, as one.
    channels: Vec<Timeline>,
    writing: Timeline,
    /// When the merge engine is free, in nanoseconds.
    merge_free_ns: u64,
    granule_bytes: u64,
    merge_ns: u64,
    indirection_ns: u64,
    read_ns: u64,
    write_ns: u64,
    writing_time: ByteTime,
    channel_time: ByteTime,
    spread: Option<Spread>,
    retry: Option<Retry>,
    read_nj: u64,
    write_nj: u64,
    energy_nj: u64,
    written_bytes: u64,
}

impl InPlace {
    /// Idle media. The energies are those of a unit, in nanojoules.
    pub fn new(
        profile: &InPlaceProfile,
        age: Age,
        seed: u64,
        read_nj: u64,
        write_nj: u64,
    ) -> InPlace {
        let lanes = profile.dies.value / profile.stripe_dies.value.max(1);
        let together = profile.stripe_channels.value.max(1);
        let channel_rate = profile
            .channel_bytes_per_second
            .value
            .saturating_mul(u64::from(together));
        let channels = usize::from((profile.channels.value / together).max(1));
        let sigma_ns = profile.read_sigma_ns.as_ref();
        InPlace {
            lanes: vec![0; usize::from(lanes.max(1))],
            channels: vec![Timeline::new(); channels],
            writing: Timeline::new(),
            merge_free_ns: 0,
            granule_bytes: profile.granule_bytes.value,
            merge_ns: profile.merge_ns.value,
            indirection_ns: profile.indirection_ns.value,
            read_ns: profile.read_ns.value,
            write_ns: profile.write_ns.value,
            writing_time: ByteTime::of_rate(profile.write_bytes_per_second.value),
            channel_time: ByteTime::of_rate(channel_rate),
            spread: sigma_ns.map(|sigma| Spread::new(sigma.value, seed)),
            retry: profile
                .retry
                .as_ref()
                .map(|retry| Retry::new(retry, age, seed)),
            read_nj,
            write_nj,
            energy_nj: 0,
            written_bytes: 0,
        }
    }

    #[inline]
    fn lane(&self, unit: u32) -> usize {
        unit as usize % self.lanes.len()
    }

    /// Read a unit; returns when it is in the controller.
    pub fn read(&mut self, floor_ns: u64, issue_ns: u64, unit: u32) -> u64 {
        self.energy_nj += self.read_nj;
        let mut read_ns = self.read_ns;
        if let Some(spread) = &mut self.spread {
            read_ns = spread.around_ns(read_ns);
        }
        if let Some(retry) = &mut self.retry {
            read_ns += retry.draw_ns();
        }
        let lane = self.lane(unit);
        let sensed_ns = self.lanes[lane].max(issue_ns + self.indirection_ns) + read_ns;
        let moved_ns = self.move_over_channel(floor_ns, sensed_ns, lane, MAP_UNIT_BYTES);
        self.lanes[lane] = moved_ns;
        moved_ns
    }

    /// Write bytes `offset..end`, which arrive in order, the last of them at `arrival_ns` and each unit `unit_ns` before the one
    /// after it; returns when the media has them.
    pub fn write(
        &mut self,
        floor_ns: u64,
        offset: u64,
        end: u64,
        arrival_ns: u64,
        unit_ns: u64,
    ) -> u64 {
        let last = (end - 1) / MAP_UNIT_BYTES;
        let mut latest_ns = arrival_ns;
        for unit in offset / MAP_UNIT_BYTES..=last {
            let start = unit * MAP_UNIT_BYTES;
            let from = offset.max(start);
            let bytes = end.min(start + MAP_UNIT_BYTES) - from;
            let early_ns = (last - unit) * unit_ns;
            // Nothing passes the merge engine while it works.
            let ready_ns = arrival_ns
                .saturating_sub(early_ns)
                .max(floor_ns)
                .max(self.merge_free_ns);
            let whole = (from | (from + bytes)).is_multiple_of(self.granule_bytes);
            let stored_ns = if whole {
                self.store(floor_ns, unit as u32, ready_ns, bytes)
            } else {
                // The pieces before it are on their way when a command's last piece is merged.
                let start_ns = if unit > offset / MAP_UNIT_BYTES {
                    ready_ns.max(latest_ns)
                } else {
                    ready_ns
                };
                self.merge(floor_ns, unit as u32, from - start, bytes, start_ns)
            };
            latest_ns = latest_ns.max(stored_ns);
        }
        latest_ns
    }

    /// Read the old content of the granules that a piece of a unit touches and write them anew.
    fn merge(&mut self, floor_ns: u64, unit: u32, from: u64, bytes: u64, start_ns: u64) -> u64 {
        let first = from - from % self.granule_bytes;
        let granules = (from + bytes).next_multiple_of(self.granule_bytes) - first;
        let old_ns = self.read(floor_ns, start_ns, unit);
        self.merge_free_ns = self.store(floor_ns, unit, old_ns + self.merge_ns, granules);
        self.merge_free_ns
    }

    fn store(&mut self, floor_ns: u64, unit: u32, ready_ns: u64, bytes: u64) -> u64 {
        self.energy_nj += self.write_nj * bytes / MAP_UNIT_BYTES;
        self.written_bytes += bytes;
        let found_ns = ready_ns + self.indirection_ns;
        let powered_ns =
            self.writing
                .reserve(floor_ns, found_ns, self.writing_time.duration_ns(bytes));
        let lane = self.lane(unit);
        let moved_ns = self.move_over_channel(floor_ns, powered_ns, lane, bytes);
        let end_ns = self.lanes[lane].max(moved_ns) + self.write_ns;
        self.lanes[lane] = end_ns;
        end_ns
    }

    fn move_over_channel(&mut self, floor_ns: u64, ready_ns: u64, lane: usize, bytes: u64) -> u64 {
        let channels = self.channels.len();
        self.channels[lane % channels].reserve(
            floor_ns,
            ready_ns,
            self.channel_time.duration_ns(bytes),
        )
    }

    /// When everything written until now is in the media: every write waits for that before it is acknowledged.
    pub fn flush(&self, floor_ns: u64) -> u64 {
        floor_ns
    }

    /// Energy used since the last call, in nanojoules.
    pub fn take_energy_nj(&mut self) -> u64 {
        std::mem::take(&mut self.energy_nj)
    }

    /// Bytes written to the media, merged ones included.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }
}

#[cfg(test)]
#[path = "../tests/unit/in_place.rs"]
mod tests;
