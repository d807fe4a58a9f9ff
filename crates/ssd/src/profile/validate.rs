//! Validation of everything by which the model divides, indexes or adds, so that no profile makes
//! it panic.

use super::{MAP_UNIT_BYTES, Profile, ProfileError};
use crate::sourced::Sourced;

pub(super) type Validity = Result<(), String>;

/// Longest time of a single operation: 1000 seconds, in nanoseconds.
const LONGEST_NS: u64 = 1_000_000_000_000;
/// Most energy of a single operation: 10 mJ, in nanojoules.
const MAX_OPERATION_NJ: u64 = 10_000_000;
/// Greatest power: 1 kW, in milliwatts.
const MAX_POWER_MW: u32 = 1_000_000;
/// Largest capacity with units of 4 KiB: 32-bit addresses, half of them spare.
pub(super) const MAX_CAPACITY_BYTES: u64 = 1 << 43;
/// Largest indirection unit in bytes.
const MAX_UNIT_BYTES: u64 = 64 << 10;

/// Returns the message of the first rule whose condition does not hold.
macro_rules! rules {
    ($($holds:expr => $message:expr;)+) => {
        $(if !$holds { return Err(($message).to_owned()); })+
    };
}
pub(super) use rules;

pub(super) fn absent_or<T>(number: &Option<Sourced<T>>, holds: impl Fn(&T) -> bool) -> bool {
    number.as_ref().is_none_or(|number| holds(&number.value))
}

trait Times {
    fn times(&self) -> &[u64];
}

impl Times for Sourced<u64> {
    fn times(&self) -> &[u64] {
        std::slice::from_ref(&self.value)
    }
}

impl Times for Sourced<Vec<u64>> {
    fn times(&self) -> &[u64] {
        &self.value
    }
}

impl<T: Times> Times for Option<T> {
    fn times(&self) -> &[u64] {
        self.as_ref().map_or(&[], Times::times)
    }
}

/// Checks the limit of the times of sections (of one, or of an optional one).
macro_rules! check_times {
    ($name:literal, $sections:expr; $($field:ident)+) => {
        let sections = $sections.into_iter();
        for section in sections {
            $(if section.$field.times().iter().any(|&ns| ns > LONGEST_NS) {
                let path = concat!($name, ".", stringify!($field));
                return Err(format!("{path} must not exceed 1000 seconds"));
            })+
        }
    };
}

impl Profile {
    /// The profile, unless a rule is violated.
    pub(super) fn validated(self) -> Result<Profile, ProfileError> {
        self.validate()
            .map_err(|what| ProfileError::Invalid { profile: self.name.clone(), what })?;
        Ok(self)
    }

    fn validate(&self) -> Validity {
        self.validate_times()?;
        self.validate_controller()?;
        self.validate_media()?;
        if self.in_place.is_none() {
            self.validate_flash()?;
            self.validate_background()?;
        }
        self.validate_map_cache()?;
        self.validate_energy()?;
        self.validate_fit()?;
        self.validate_thermal()
    }

    fn validate_controller(&self) -> Validity {
        let (id, link, path) = (&self.identity, &self.link, &self.data_path);
        let (block, capacity) = (id.logical_block_bytes.value, id.capacity_bytes.value);
        let transfer = id.max_transfer_bytes.value;
        let unit = self.indirection_unit_bytes();
        rules! {
            block.is_power_of_two() && (512..=MAP_UNIT_BYTES).contains(&block)
                => "identity.logical_block_bytes must be a power of two from 512 to 4096";
            capacity > 0 && capacity.is_multiple_of(block)
                => "identity.capacity_bytes must be a multiple of the logical block size";
            unit.is_power_of_two() && (MAP_UNIT_BYTES..=MAX_UNIT_BYTES).contains(&unit)
                => "nand.indirection_unit_bytes must be 4, 8, 16, 32 or 64 KiB";
            (64 << 20..=MAX_CAPACITY_BYTES / MAP_UNIT_BYTES * unit).contains(&capacity)
                => "identity.capacity_bytes must lie between 64 MiB and 8 TiB (addresses are 32 \
                    bits of 4 KiB; more with a larger nand.indirection_unit_bytes)";
            (1..=128).contains(&id.queue_pairs.value) => "identity.queue_pairs must be 1 to 128";
            (MAP_UNIT_BYTES..=64 << 20).contains(&transfer)
                && transfer.is_multiple_of(MAP_UNIT_BYTES)
                => "identity.max_transfer_bytes must be a multiple of 4096, at most 64 MiB";
            !id.power_states_mw.value.is_empty()
                => "identity.power_states_mw must contain at least state 0";
        }
        if let Some(states) = &self.power.states {
            states.validate(id, &self.power)?;
        }
        let longest_payload = if link.sata.is_some() { 8192 } else { 4096 };
        rules! {
            (1..=5).contains(&link.generation.value) => "link.generation must be 1 to 5";
            (1..=16).contains(&link.lanes.value) && link.lanes.value.is_power_of_two()
                => "link.lanes must be 1, 2, 4, 8 or 16";
            (128..=longest_payload).contains(&link.max_payload_bytes.value)
                && link.packet_overhead_bytes.value <= 64
                => "link.max_payload_bytes must be 128 to 4096 (8192 for SATA) and \
                    packet_overhead_bytes at most 64";
            (1..=16).contains(&self.firmware.cores.value) => "firmware.cores must be 1 to 16";
            path.direct_bytes_per_second.value >= 1_000_000
                && path.staged_bytes_per_second.value >= 1_000_000
                => "data_path rates must be at least 1 MB/s";
            path.read_cache.as_ref()
                .is_none_or(|cache| cache.exceeded_bytes_per_second.value >= 1_000_000)
                => "data_path.read_cache.exceeded_bytes_per_second must be at least 1 MB/s";
            self.prefetch.streams.value <= 64 => "prefetch.streams must be at most 64";
            absent_or(&self.firmware.read_slots, |&slots| slots > 0)
                => "firmware.read_slots must not be 0; omit it for no limit";
            absent_or(&self.bench.max_io_bytes, |&bytes| bytes > 0 && bytes.is_multiple_of(4096))
                => "bench.max_io_bytes must be a multiple of 4096; omit it for no limit";
            absent_or(&self.bench.host_cores, |&cores| cores > 0)
                => "bench.host_cores must not be 0; omit it for one per thread";
        }
        Ok(())
    }

    fn validate_flash(&self) -> Validity {
        let (nand, buffer) = (&self.nand, &self.buffer);
        let unit = self.indirection_unit_bytes();
        let (page, saving_ns) = (nand.page_bytes.value, nand.partial_read_saving_ns.value);
        let pages = nand.pages_per_block.value;
        let program_pages = u32::from(nand.program_pages.value);
        rules! {
            (1..=64).contains(&nand.channels.value) && (1..=4096).contains(&nand.dies.value)
                => "nand.channels must be 1 to 64 and nand.dies 1 to 4096";
            (1..=16).contains(&nand.planes.value) => "nand.planes must be 1 to 16";
            (MAP_UNIT_BYTES..=1 << 20).contains(&page) && page.is_multiple_of(MAP_UNIT_BYTES)
                => "nand.page_bytes must be a multiple of 4096, at most 1 MiB";
            (u64::from(nand.planes.value) * page).is_multiple_of(unit)
                && (page.is_multiple_of(unit) || unit.is_multiple_of(page))
                => "nand.indirection_unit_bytes must divide a page or be whole pages, and divide a \
                    page of all planes";
            absent_or(&nand.stripe_bytes, |&stripe| {
                stripe >= unit && stripe.is_multiple_of(unit)
                    && (u64::from(nand.planes.value) * page).is_multiple_of(stripe)
            }) => "nand.stripe_bytes must be a multiple of 4096 (of nand.indirection_unit_bytes, \
                where given) that divides a page of all planes";
            nand.single_plane_bytes.is_none()
                || nand.independent_plane_reads.as_ref().is_none_or(|reads| !reads.value)
                => "nand.single_plane_bytes and nand.independent_plane_reads exclude each other";
            absent_or(&nand.single_plane_bytes, |&bytes| {
                let all_planes = u64::from(nand.planes.value) * page;
                let stripe = nand.stripe_bytes.as_ref().map_or(all_planes, |stripe| stripe.value);
                bytes >= unit && bytes.is_multiple_of(unit) && page.is_multiple_of(bytes)
                    && stripe.is_multiple_of(bytes)
                    && (bytes == page || stripe <= bytes * u64::from(nand.planes.value))
            }) => "nand.single_plane_bytes must be nand.page_bytes, or a divisor of it and of a \
                stripe that is not below the stripe divided by the planes, in mapping units";
            (1..=4).contains(&program_pages) && (1..=1 << 14).contains(&pages)
                && pages.is_multiple_of(program_pages)
                => "nand.pages_per_block must be a multiple of nand.program_pages \
                    (1 to 4), at most 16384";
            !nand.read_ns.value.is_empty() && !nand.program_ns.value.is_empty()
                => "nand.read_ns and nand.program_ns need at least one number";
            nand.read_ns.value.iter().all(|&ns| ns > saving_ns)
                => "nand.partial_read_saving_ns must be below every nand.read_ns";
            nand.channel_bytes_per_second.value >= 1_000_000
                => "nand.channel_bytes_per_second must be at least 1 MB/s";
        }
        let superblock_senses = u64::from(nand.dies.value) * u64::from(pages);
        let sense_bytes = u64::from(nand.planes.value) * page;
        let fewest_bytes = 4 * nand.group_bytes();
        rules! {
            superblock_senses * (sense_bytes / unit) <= 1 << 24
                => "a superblock (one block of every plane of every die) must not exceed 64 GiB \
                    (16777216 mapping units)";
            buffer.bytes.value >= fewest_bytes
                => "buffer.bytes must hold at least four program groups (planes x pages \
                    programmed together)";
            buffer.overflow.as_ref().is_none_or(|overflow| {
                (fewest_bytes..=buffer.bytes.value).contains(&overflow.through_bytes.value)
            }) => "buffer.overflow.through_bytes must hold at least four program groups and not \
                exceed buffer.bytes";
        }
        Ok(())
    }

    fn validate_background(&self) -> Validity {
        let low = self.ftl.gc_low_superblocks.value;
        rules! { (2..=1 << 20).contains(&low) => "ftl.gc_low_superblocks must be 2 to 1048576"; }
        if let Some(gc) = &self.gc {
            rules! {
                absent_or(&gc.high_superblocks, |&high| high >= low)
                    => "gc.high_superblocks must not be below ftl.gc_low_superblocks";
                absent_or(&gc.surplus_permille, |&surplus| surplus <= 1000)
                    => "gc.surplus_permille must be at most 1000";
                absent_or(&gc.wear_gap_erases, |&gap| gap >= 2)
                    => "gc.wear_gap_erases must be at least 2";
            }
        }
        if let Some(slc) = &self.slc {
            rules! {
                slc.fold_parallel.value >= 1 && slc.fold_ns.value > 0
                    => "slc.fold_parallel and slc.fold_ns must not be 0";
                slc.bytes.value > 0 || slc.borrowed_bytes.is_some()
                    => "slc.bytes must not be 0 unless slc.borrowed_bytes gives the \
                        size of the cache";
                slc.bytes.value <= MAX_CAPACITY_BYTES
                    && absent_or(&slc.borrowed_bytes, |&bytes| bytes <= MAX_CAPACITY_BYTES)
                    => "slc.bytes and slc.borrowed_bytes must not exceed 8 TiB";
                slc.read_ns.value > self.nand.partial_read_saving_ns.value
                    => "nand.partial_read_saving_ns must be below slc.read_ns";
            }
        }
        Ok(())
    }

    fn validate_energy(&self) -> Validity {
        let (power, max_mw) = (&self.power, &self.identity.power_states_mw.value);
        let idle_mw = power.states.iter().flat_map(|states| &states.idle_mw.value);
        let energies = [
            &power.command_nj,
            &power.read_page_nj,
            &power.program_page_nj,
            &power.transfer_kib_nj,
        ];
        let optional = [
            &power.sense_nj,
            &power.erase_block_nj,
            &power.flash_transfer_kib_nj,
            &power.decode_kib_nj,
        ];
        let energies = energies.into_iter().chain(optional.into_iter().flatten());
        rules! {
            energies.map(|energy| energy.value).all(|nj| nj <= MAX_OPERATION_NJ)
                => "power energies must not exceed 10 mJ";
            absent_or(&power.core_mw, |&mw| mw <= MAX_POWER_MW)
                => "power.core_mw must not exceed 1 kW";
            power.idle_mw.value <= MAX_POWER_MW
                && max_mw.iter().chain(idle_mw).all(|&mw| mw <= MAX_POWER_MW)
                => "power.idle_mw, power.states.idle_mw and \
                    identity.power_states_mw must not exceed 1 kW";
        }
        Ok(())
    }

    fn validate_fit(&self) -> Validity {
        let is_spread = |&spread: &f64| spread > 0.0 && spread < 10.0;
        rules! {
            absent_or(&self.fit.random_read_spread, is_spread)
                && absent_or(&self.fit.sequential_read_spread, is_spread)
                => "fit.random_read_spread and sequential_read_spread must be between 0 and 10";
        }
        Ok(())
    }

    fn validate_thermal(&self) -> Validity {
        let heat = &self.thermal;
        heat.validate_nodes()?;
        let on = heat.throttle_on_celsius.value;
        let off = heat.throttle_off_celsius.value;
        rules! {
            heat.resistance_k_per_w.value >= 0.0 && heat.time_constant_s.value >= 1.0
                => "thermal.resistance_k_per_w must not be negative and time_constant_s at least 1";
            on == 0.0 || off < on
                => "thermal.throttle_off_celsius must be below throttle_on_celsius";
            absent_or(&heat.idle_jitter_k, |jitter| (0.0..=100.0).contains(jitter))
                => "thermal.idle_jitter_k must be 0 to 100";
        }
        if let Some(levels) = &heat.levels {
            let (ons, offs) = (&levels.on_celsius.value, &levels.off_celsius.value);
            let duties = &levels.duty_percent.value;
            rules! {
                (1..=8).contains(&ons.len()) && offs.len() == ons.len() && duties.len() == ons.len()
                    => "thermal.levels needs 1 to 8 levels and as many off_celsius and \
                        duty_percent as on_celsius";
                ons.is_sorted() && offs.is_sorted()
                    && ons.iter().zip(offs).all(|(on, off)| off < on)
                    => "thermal.levels must rise, with each off_celsius below its on_celsius";
                duties.iter().all(|&duty| duty <= 100)
                    => "thermal.levels.duty_percent must be at most 100";
                on == 0.0
                    => "thermal.throttle_on_celsius must be 0 where \
                        thermal.levels has the thresholds";
            }
        }
        rules! {
            (100..=100_000).contains(&heat.throttle_percent.value)
                => "thermal.throttle_percent must be 100 to 100000";
        }
        Ok(())
    }

    fn validate_times(&self) -> Validity {
        check_times!("link", [&self.link]; fetch_ns completion_ns);
        check_times!("firmware", [&self.firmware]; read_command_ns read_partial_ns read_split_ns
            read_page_ns read_kib_ns read_latency_ns write_command_ns write_unit_ns
            other_command_ns);
        check_times!("data_path", [&self.data_path]; setup_ns prp_list_ns);
        check_times!("nand", [&self.nand]; read_ns read_jitter_ns read_sigma_ns program_ns erase_ns
            channel_command_ns);
        check_times!("buffer", [&self.buffer]; ack_ns ack_unit_ns);
        check_times!("bench", [&self.bench]; sync_io_ns async_io_ns wake_ns kib_ns);
        check_times!("buffer.overflow", &self.buffer.overflow; pause_ns);
        check_times!("gc", &self.gc; unit_ns idle_after_ns);
        check_times!("slc", &self.slc; read_ns program_ns fold_ns idle_fold_after_ns);
        check_times!("map_cache", &self.map_cache; read_ns program_ns host_access_ns);
        check_times!("in_place", &self.in_place; indirection_ns merge_ns read_ns read_sigma_ns
            write_ns);
        check_times!("retry", self.retries(); extra_ns);
        check_times!("nand.suspend", &self.nand.suspend; suspend_ns resume_ns);
        check_times!("link.sata", &self.link.sata; frame_ns);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/validate.rs"]
mod tests;
