//! Profile validation: everything the model divides by, indexes with or adds up, so that no profile can make it
//! panic.

use super::{MAP_UNIT_BYTES, Profile, ProfileError, Sourced};

/// Turns a failed condition into an error of the profile.
pub(super) type Check<'a> = &'a dyn Fn(bool, &str) -> Result<(), ProfileError>;

/// Longest time of a single operation: 1000 seconds, in nanoseconds.
const LONGEST_NS: u64 = 1_000_000_000_000;

/// An optional time as a list.
fn optional(time: &Option<Sourced<u64>>) -> &[u64] {
    time.as_ref()
        .map_or(&[], |time| std::slice::from_ref(&time.value))
}

impl Profile {
    /// Check all sections.
    pub(super) fn validate(&self) -> Result<(), ProfileError> {
        let check = |ok: bool, what: &str| {
            if ok {
                Ok(())
            } else {
                Err(ProfileError::Invalid {
                    profile: self.name.clone(),
                    what: what.to_owned(),
                })
            }
        };
        for (name, times) in self.times() {
            check(
                times.iter().all(|&ns| ns <= LONGEST_NS),
                &format!("{name} must not exceed 1000 seconds"),
            )?;
        }
        let id = &self.identity;
        let block = id.logical_block_bytes.value;
        check(
            block.is_power_of_two() && (512..=MAP_UNIT_BYTES).contains(&block),
            "identity.logical_block_bytes must be a power of two from 512 to 4096",
        )?;
        check(
            id.capacity_bytes.value > 0 && id.capacity_bytes.value.is_multiple_of(block),
            "identity.capacity_bytes must be a multiple of the logical block size",
        )?;
        check(
            id.capacity_bytes.value >= 64 << 20 && id.capacity_bytes.value <= 1 << 43,
            "identity.capacity_bytes must lie between 64 MiB and 8 TiB (addresses are 32 bits of 4 KiB)",
        )?;
        check(
            (1..=128).contains(&id.queue_pairs.value),
            "identity.queue_pairs must be 1 to 128",
        )?;
        check(
            id.max_transfer_bytes.value >= MAP_UNIT_BYTES
                && id.max_transfer_bytes.value.is_multiple_of(MAP_UNIT_BYTES)
                && id.max_transfer_bytes.value <= 64 << 20,
            "identity.max_transfer_bytes must be a multiple of 4096, at most 64 MiB",
        )?;
        check(
            !id.power_states_mw.value.is_empty(),
            "identity.power_states_mw must name at least state 0",
        )?;
        if let Some(states) = &self.power.states
            && let Some(fault) = states.fault(id, &self.power)
        {
            check(false, &fault)?;
        }
        let link = &self.link;
        check(
            (1..=5).contains(&link.generation.value),
            "link.generation must be 1 to 5",
        )?;
        let longest_payload = if link.sata.is_some() { 8192 } else { 4096 };
        check(
            (1..=16).contains(&link.lanes.value) && link.lanes.value.is_power_of_two(),
            "link.lanes must be 1, 2, 4, 8 or 16",
        )?;
        check(
            (128..=longest_payload).contains(&link.max_payload_bytes.value)
                && link.packet_overhead_bytes.value <= 64,
            "link.max_payload_bytes must be 128 to 4096 (8192 for SATA) and packet_overhead_bytes at most 64",
        )?;
        check(
            (1..=16).contains(&self.firmware.cores.value),
            "firmware.cores must be 1 to 16",
        )?;
        check(
            self.data_path.direct_bytes_per_second.value >= 1_000_000
                && self.data_path.staged_bytes_per_second.value >= 1_000_000,
            "data_path rates must be at least 1 MB/s",
        )?;
        check(
            self.prefetch.streams.value <= 64,
            "prefetch.streams must be at most 64",
        )?;
        self.validate_media(&check)?;
        if self.in_place.is_none() {
            self.validate_flash(&check)?;
        }
        self.validate_map_cache(&check)?;
        self.validate_heat(&check)
    }

    /// Check flash, buffer, translation layer and SLC cache.
    fn validate_flash(&self, check: Check<'_>) -> Result<(), ProfileError> {
        let nand = &self.nand;
        check(
            (1..=64).contains(&nand.channels.value) && (1..=4096).contains(&nand.dies.value),
            "nand.channels must be 1 to 64 and nand.dies 1 to 4096",
        )?;
        check(
            (1..=16).contains(&nand.planes.value),
            "nand.planes must be 1 to 16",
        )?;
        check(
            nand.page_bytes.value >= MAP_UNIT_BYTES
                && nand.page_bytes.value.is_multiple_of(MAP_UNIT_BYTES)
                && nand.page_bytes.value <= 1 << 20,
            "nand.page_bytes must be a multiple of 4096, at most 1 MiB",
        )?;
        check(
            (1..=4).contains(&nand.program_pages.value)
                && nand.pages_per_block.value > 0
                && nand
                    .pages_per_block
                    .value
                    .is_multiple_of(u32::from(nand.program_pages.value))
                && nand.pages_per_block.value <= 1 << 14,
            "nand.pages_per_block must be a multiple of nand.program_pages (1 to 4), at most 16384",
        )?;
        check(
            !nand.read_ns.value.is_empty() && !nand.program_ns.value.is_empty(),
            "nand.read_ns and nand.program_ns need at least one number",
        )?;
        check(
            nand.read_ns
                .value
                .iter()
                .all(|&ns| ns > nand.partial_read_saving_ns.value),
            "nand.partial_read_saving_ns must be below every nand.read_ns",
        )?;
        check(
            nand.channel_bytes_per_second.value >= 1_000_000,
            "nand.channel_bytes_per_second must be at least 1 MB/s",
        )?;
        let superblock_pages = u64::from(nand.dies.value)
            * u64::from(nand.planes.value)
            * u64::from(nand.pages_per_block.value);
        check(
            superblock_pages * (nand.page_bytes.value / MAP_UNIT_BYTES) <= 1 << 24,
            "a superblock (one block of every plane of every die) must not exceed 64 GiB",
        )?;
        check(
            self.bench
                .host_cores
                .as_ref()
                .is_none_or(|cores| cores.value > 0),
            "bench.host_cores must not be 0; leave it out for as many as there are threads",
        )?;
        let group_bytes = self.nand.group_bytes();
        check(
            self.buffer.bytes.value >= 4 * group_bytes,
            "buffer.bytes must hold at least four program groups (planes x pages programmed together)",
        )?;
        check(
            self.buffer.overflow.as_ref().is_none_or(|overflow| {
                (4 * group_bytes..=self.buffer.bytes.value).contains(&overflow.through_bytes.value)
                    && overflow.pause_ns.value <= LONGEST_NS
            }),
            "buffer.overflow.through_bytes must hold at least four program groups and not exceed buffer.bytes; pause_ns must not exceed 1000 seconds",
        )?;
        check(
            self.ftl.gc_low_superblocks.value >= 2,
            "ftl.gc_low_superblocks must be at least 2",
        )?;
        if let Some(gc) = &self.gc {
            let low = self.ftl.gc_low_superblocks.value;
            check(
                gc.high_superblocks
                    .as_ref()
                    .is_none_or(|high| high.value >= low),
                "gc.high_superblocks must not be below ftl.gc_low_superblocks",
            )?;
            check(
                gc.surplus_permille
                    .as_ref()
                    .is_none_or(|surplus| surplus.value <= 1000),
                "gc.surplus_permille must be at most 1000",
            )?;
            check(
                gc.wear_gap_erases.as_ref().is_none_or(|gap| gap.value >= 2),
                "gc.wear_gap_erases must be at least 2",
            )?;
        }
        if let Some(slc) = &self.slc {
            check(
                slc.fold_parallel.value >= 1 && slc.fold_ns.value > 0,
                "slc.fold_parallel and slc.fold_ns must not be 0",
            )?;
            check(
                slc.bytes.value > 0 || slc.borrowed_bytes.is_some(),
                "slc.bytes must not be 0 unless slc.borrowed_bytes says what the cache is made of",
            )?;
            check(
                slc.borrowed_bytes
                    .as_ref()
                    .is_none_or(|bytes| bytes.value <= 1 << 43),
                "slc.borrowed_bytes must not exceed 8 TiB",
            )?;
        }
        Ok(())
    }

    fn validate_heat(&self, check: Check<'_>) -> Result<(), ProfileError> {
        let heat = &self.thermal;
        check(
            heat.resistance_k_per_w.value >= 0.0 && heat.time_constant_s.value >= 1.0,
            "thermal.resistance_k_per_w must not be negative and time_constant_s at least 1",
        )?;
        check(
            heat.throttle_on_celsius.value == 0.0
                || heat.throttle_off_celsius.value < heat.throttle_on_celsius.value,
            "thermal.throttle_off_celsius must be below throttle_on_celsius",
        )?;
        check(
            heat.idle_jitter_k
                .as_ref()
                .is_none_or(|jitter| (0.0..=100.0).contains(&jitter.value)),
            "thermal.idle_jitter_k must be 0 to 100",
        )?;
        if let Some(levels) = &heat.levels {
            let (on, off) = (&levels.on_celsius.value, &levels.off_celsius.value);
            check(
                (1..=8).contains(&on.len())
                    && off.len() == on.len()
                    && levels.duty_percent.value.len() == on.len(),
                "thermal.levels needs 1 to 8 levels and as many off_celsius and duty_percent as on_celsius",
            )?;
            check(
                on.is_sorted() && off.is_sorted() && on.iter().zip(off).all(|(on, off)| off < on),
                "thermal.levels must rise, with each off_celsius below its on_celsius",
            )?;
            check(
                levels.duty_percent.value.iter().all(|&duty| duty <= 100),
                "thermal.levels.duty_percent must be at most 100",
            )?;
            check(
                heat.throttle_on_celsius.value == 0.0,
                "thermal.throttle_on_celsius must be 0 where thermal.levels has the thresholds",
            )?;
        }
        check(
            (100..=100_000).contains(&heat.throttle_percent.value),
            "thermal.throttle_percent must be 100 to 100000",
        )
    }

    /// All times, by name.
    fn times(&self) -> Vec<(&'static str, &[u64])> {
        use std::slice::from_ref as one;
        let (link, firmware, nand) = (&self.link, &self.firmware, &self.nand);
        let mut times = self.media_times();
        times.extend(self.map_cache_times());
        times.extend([
            ("link.fetch_ns", one(&link.fetch_ns.value)),
            ("link.completion_ns", one(&link.completion_ns.value)),
            (
                "firmware.read_command_ns",
                one(&firmware.read_command_ns.value),
            ),
            (
                "firmware.read_partial_ns",
                optional(&firmware.read_partial_ns),
            ),
            ("firmware.read_split_ns", optional(&firmware.read_split_ns)),
            ("firmware.read_page_ns", one(&firmware.read_page_ns.value)),
            ("firmware.read_kib_ns", one(&firmware.read_kib_ns.value)),
            (
                "firmware.write_command_ns",
                one(&firmware.write_command_ns.value),
            ),
            ("firmware.write_unit_ns", one(&firmware.write_unit_ns.value)),
            (
                "firmware.other_command_ns",
                one(&firmware.other_command_ns.value),
            ),
            ("data_path.setup_ns", optional(&self.data_path.setup_ns)),
            ("nand.read_ns", &nand.read_ns.value[..]),
            ("nand.read_jitter_ns", one(&nand.read_jitter_ns.value)),
            ("nand.program_ns", &nand.program_ns.value[..]),
            ("nand.erase_ns", one(&nand.erase_ns.value)),
            (
                "nand.channel_command_ns",
                one(&nand.channel_command_ns.value),
            ),
            ("buffer.ack_ns", one(&self.buffer.ack_ns.value)),
            ("buffer.ack_unit_ns", one(&self.buffer.ack_unit_ns.value)),
            (
                "bench.host_overhead_ns",
                one(&self.bench.host_overhead_ns.value),
            ),
        ]);
        if let Some(gc) = &self.gc {
            let times_of = [
                ("gc.unit_ns", &gc.unit_ns),
                ("gc.idle_after_ns", &gc.idle_after_ns),
            ];
            times.extend(
                times_of
                    .into_iter()
                    .filter_map(|(name, ns)| Some((name, one(&ns.as_ref()?.value)))),
            );
        }
        if let Some(slc) = &self.slc {
            times.extend([
                ("slc.read_ns", one(&slc.read_ns.value)),
                ("slc.program_ns", one(&slc.program_ns.value)),
                ("slc.fold_ns", one(&slc.fold_ns.value)),
                ("slc.idle_fold_after_ns", one(&slc.idle_fold_after_ns.value)),
            ]);
        }
        times
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/validate.rs"]
mod tests;
