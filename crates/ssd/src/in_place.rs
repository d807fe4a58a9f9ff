//! Media written in place: 3D XPoint.
//!
//! Units are striped over *die groups* that work as one (a P4800X has 7 channels and spreads 4 KiB
//! over several dies: AT11930p1 in docs/sources.md). A read looks up the indirection table (units
//! move for wear levelling) and occupies its die group until its data has left the channel. A write
//! passes the shared write current (one serial resource) and its channel, unbuffered. One that
//! begins or ends inside a granule reads the old content first, through a single merge engine:
//! hence slow unaligned large writes (AT11930ts: about 1.3 instead of 2.0 GB/s at depth 1) and slow
//! writes below 4 KiB.
//!
//! # Non-goals
//! Wear levelling moves: too rare to observe. Deallocation: units are read and written as before.

use crate::profile::{InPlaceProfile, MAP_UNIT_BYTES};
use crate::retry::ReadVariation;
use crate::timeline::{ByteTime, Timeline};

#[derive(Clone, Debug)]
pub struct InPlace {
    die_groups_free_ns: Vec<u64>,
    /// Channels over which a unit is striped count as one.
    channels: Vec<Timeline>,
    writing: Timeline,
    merge_free_ns: u64,
    granule_bytes: u64,
    merge_ns: u64,
    indirection_ns: u64,
    read_ns: u64,
    write_ns: u64,
    writing_time: ByteTime,
    channel_time: ByteTime,
    variation: ReadVariation,
    read_nj: u64,
    write_nj: u64,
    energy_nj: u64,
    pub written_bytes: u64,
}

impl InPlace {
    /// Energies per unit in nanojoules.
    pub fn new(profile: &InPlaceProfile, seed: u64, [read_nj, write_nj]: [u64; 2]) -> InPlace {
        let die_groups = profile.dies.value / profile.stripe_dies.value.max(1);
        let together = profile.stripe_channels.value.max(1);
        let channel_rate = profile.channel_bytes_per_second.value * u64::from(together);
        let channels = usize::from((profile.channels.value / together).max(1));
        let sigma_ns = profile.read_sigma_ns.as_ref();
        InPlace {
            die_groups_free_ns: vec![0; usize::from(die_groups.max(1))],
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
            variation: ReadVariation::new(sigma_ns, profile.retry.as_ref(), seed),
            read_nj,
            write_nj,
            energy_nj: 0,
            written_bytes: 0,
        }
    }

    #[inline]
    fn die_group(&self, unit: u32) -> usize {
        unit as usize % self.die_groups_free_ns.len()
    }

    pub fn read(&mut self, now_ns: u64, issue_ns: u64, unit: u32) -> u64 {
        self.energy_nj += self.read_nj;
        let read_ns = self.variation.around_ns(self.read_ns);
        let group = self.die_group(unit);
        let sensed_ns =
            self.die_groups_free_ns[group].max(issue_ns + self.indirection_ns) + read_ns;
        let moved_ns = self.move_over_channel(now_ns, sensed_ns, group, MAP_UNIT_BYTES);
        self.die_groups_free_ns[group] = moved_ns;
        moved_ns
    }

    /// Write bytes, each unit `unit_ns` before the next, the last at `arrival_ns`; returns the end.
    pub fn write(
        &mut self,
        now_ns: u64,
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
            // The merge engine blocks later writes. A rounded-up `unit_ns` may reach before time 0.
            let sent_ns = arrival_ns.saturating_sub(early_ns).max(now_ns);
            let ready_ns = sent_ns.max(self.merge_free_ns);
            let whole = (from | (from + bytes)).is_multiple_of(self.granule_bytes);
            let stored_ns = if whole {
                self.store(now_ns, unit as u32, ready_ns, bytes)
            } else {
                // A command's last piece is merged after those before it.
                let is_later = unit > offset / MAP_UNIT_BYTES;
                let start_ns = ready_ns.max(if is_later { latest_ns } else { 0 });
                self.merge(now_ns, unit as u32, from - start, bytes, start_ns)
            };
            latest_ns = latest_ns.max(stored_ns);
        }
        latest_ns
    }

    fn merge(&mut self, now_ns: u64, unit: u32, from: u64, bytes: u64, start_ns: u64) -> u64 {
        let first = from - from % self.granule_bytes;
        let granules = (from + bytes).next_multiple_of(self.granule_bytes) - first;
        let old_ns = self.read(now_ns, start_ns, unit);
        self.merge_free_ns = self.store(now_ns, unit, old_ns + self.merge_ns, granules);
        self.merge_free_ns
    }

    fn store(&mut self, now_ns: u64, unit: u32, ready_ns: u64, bytes: u64) -> u64 {
        self.energy_nj += self.write_nj * bytes / MAP_UNIT_BYTES;
        self.written_bytes += bytes;
        let found_ns = ready_ns + self.indirection_ns;
        let writing_ns = self.writing_time.duration_ns(bytes);
        let powered_ns = self.writing.reserve(now_ns, found_ns, writing_ns);
        let group = self.die_group(unit);
        let moved_ns = self.move_over_channel(now_ns, powered_ns, group, bytes);
        let end_ns = self.die_groups_free_ns[group].max(moved_ns) + self.write_ns;
        self.die_groups_free_ns[group] = end_ns;
        end_ns
    }

    fn move_over_channel(&mut self, now_ns: u64, ready_ns: u64, group: usize, bytes: u64) -> u64 {
        let channel = group % self.channels.len();
        let duration_ns = self.channel_time.duration_ns(bytes);
        self.channels[channel].reserve(now_ns, ready_ns, duration_ns)
    }

    pub fn take_energy_nj(&mut self) -> u64 {
        std::mem::take(&mut self.energy_nj)
    }
}

#[cfg(test)]
#[path = "../tests/unit/in_place.rs"]
mod tests;
