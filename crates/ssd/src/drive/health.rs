use assay_units::Nanos;

use super::Drive;
use crate::data::DataStore;
use crate::profile::MAP_UNIT_BYTES;
use crate::telemetry::Telemetry;
use crate::wear::WearCounters;

impl Drive {
    /// Health at `now`, without effect on later behaviour unless `now` is after the next command.
    pub fn telemetry(&mut self, now: Nanos) -> Telemetry {
        self.start_waiting(now.0);
        self.run_background(now.0.min(super::MAX_TIME_NS));
        self.observe_power(now.0);
        self.thermal.advance(now.0.max(self.now_ns));
        let celsius = self.thermal.celsius();
        let (warning_time_s, critical_time_s, throttled_time_s) = self.thermal.counters_s();
        let ftl = self.medium.counters();
        let new = WearCounters { spare_percent: 100, ..WearCounters::default() };
        let (wear, read_only) = self.medium.wear().unwrap_or((new, false));
        let heat = &self.profile.thermal;
        let nodes = heat.sensor_nodes.as_ref().map(|nodes| &nodes.value);
        let measured =
            |n: usize| nodes.map_or(celsius, |nodes| self.thermal.node_celsius(nodes[n]));
        let offsets = heat.sensor_offsets_k.value.iter().enumerate();
        let sensors = offsets.map(|(n, offset)| (measured(n) + offset) as i32);
        let stuck = heat.stuck_sensors_celsius.iter();
        let stuck = stuck.flat_map(|list| &list.value).map(|&at| at as i32);
        Telemetry {
            composite_celsius: celsius as i32,
            sensors: sensors.chain(stuck).collect(),
            throttled: self.thermal.level > 0,
            warning_time_s,
            critical_time_s,
            throttling_events: self.thermal.throttling_events,
            throttled_time_s,
            nand_bytes_written: ftl.programmed_units * self.unit.bytes(),
            nand_bytes_read: ftl.read_sectors * MAP_UNIT_BYTES,
            free_percent: self.medium.free_percent(),
            relocated_bytes: ftl.relocated_units * self.unit.bytes(),
            superblocks_erased: ftl.erased_superblocks,
            mean_cycles: wear.mean_cycles,
            least_cycles: wear.least_cycles,
            most_cycles: wear.most_cycles,
            used_percent: wear.used_percent,
            spare_percent: wear.spare_percent,
            bad_blocks: wear.bad_blocks,
            read_only,
            power_mw: (self.thermal.power_w * 1000.0) as u32,
            energy_uj: self.thermal.used_uj(),
            energy_until: Nanos(self.thermal.stepped_ns()),
            power_state: self.power.current as u8,
            ..self.host.clone()
        }
    }

    /// Lifetime bytes that may be programmed until multi-bit flash has its rated cycles; `None` for
    /// media written in place. Programs of an SLC cache count too, although they wear less.
    pub fn rated_media_bytes(&self) -> Option<u64> {
        self.medium.rated_bytes()
    }

    /// The tables that grow with capacity, for memory advice; `None` if there are none.
    pub fn tables(&self) -> Option<crate::ftl::MapTables<'_>> {
        self.medium.tables()
    }

    /// Bytes of memory of maps and kept data.
    pub fn resident_bytes(&self) -> u64 {
        let cache = self.map_cache.as_ref();
        self.medium.resident_bytes()
            + cache.map_or(0, |cache| cache.resident_bytes())
            + self.data.as_ref().map_or(0, DataStore::resident_bytes)
    }
}
