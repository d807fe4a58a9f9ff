//! Parts of a drive from its profile and options.

use assay_units::text::decimal_size;

use super::{DriveError, map_access};
use crate::coalescing::CoalescingSetting;
use crate::data::DataStore;
use crate::faults::FaultPlan;
use crate::link::Link;
use crate::map_cache::MapCache;
use crate::medium::Medium;
use crate::options::{Age, DriveOptions, InitialState};
use crate::power::PowerStates;
use crate::prefetch::Prefetcher;
use crate::profile::Profile;
use crate::telemetry::Identity;
use crate::thermal::Thermal;

/// Apply the options that override numbers of the profile.
pub(super) fn adapt(profile: &mut Profile, options: &DriveOptions) -> Result<(), DriveError> {
    if options.external_link_bytes_per_second.is_some() {
        profile.link.fetch_ns.value = 0;
        profile.link.completion_ns.value = 0;
    }
    if let Some(mounted) = options.heat_sink {
        let Some(sink) = &mut profile.thermal.heat_sink else {
            let profile = profile.name.clone();
            return Err(DriveError::NoHeatSink { profile });
        };
        sink.mounted.value = mounted;
    }
    if profile.in_place.is_some() && options.age != Age::default() {
        let profile = profile.name.clone();
        return Err(DriveError::NoAgeing { profile });
    }
    Ok(())
}

pub(super) fn capacity_bytes(profile: &Profile, options: &DriveOptions) -> u64 {
    let whole_bytes = profile.identity.capacity_bytes.value;
    match options.over_provisioning_percent.unwrap_or(0).min(90) {
        0 => whole_bytes,
        // Whole MiB, as is usual for namespaces.
        percent => (whole_bytes / 100 * (100 - u64::from(percent))) & !((1 << 20) - 1),
    }
}

pub(super) fn medium(
    profile: &Profile,
    options: &DriveOptions,
    capacity_bytes: u64,
) -> Result<Medium, DriveError> {
    let user_units = profile.nand.map_unit().from(capacity_bytes);
    let filled = options.state == InitialState::Filled;
    Medium::new(profile, user_units, filled, options.age, options.seed)
        .map_err(|reason| DriveError::Flash { profile: profile.name.clone(), reason })
}

pub(super) fn map_cache(
    profile: &Profile,
    options: &DriveOptions,
    capacity_bytes: u64,
) -> Result<Option<MapCache>, DriveError> {
    map_access::cache_of(
        profile,
        options.map_cache_bytes,
        options.host_memory_bytes,
        profile.nand.map_unit().from(capacity_bytes),
        options.state == InitialState::Filled,
    )
}

pub(super) fn host_memory_bytes(profile: &Profile, options: &DriveOptions) -> Option<u64> {
    options.host_memory_bytes.or_else(|| {
        let cache = (profile.map_cache.as_ref()).filter(|cache| cache.is_in_host_memory())?;
        let own_bytes = cache.capacity_bytes.value;
        Some(options.map_cache_bytes.unwrap_or(own_bytes))
    })
}

pub(super) fn identity(
    profile: &Profile,
    options: &DriveOptions,
    capacity_bytes: u64,
    power: &PowerStates,
) -> Identity {
    let id = &profile.identity;
    let reported = |celsius: u16| (celsius > 0).then_some(celsius);
    let chosen = profile.coalescing.as_ref().map(CoalescingSetting::from);
    let name = profile.name.to_uppercase();
    Identity {
        model: {
            let size = profile.capacity_chosen.map(|bytes| decimal_size(bytes as f64));
            let size = size.map_or_else(String::new, |size| format!(", {size}"));
            let part = profile.shrink.map_or_else(String::new, |times| format!(", 1/{times}"));
            format!("{} (simulated{size}{part})", id.model)
        },
        serial: match options.lot {
            None => format!("SIM-{name}-{}", options.seed),
            Some(lot) => format!("SIM-{name}-L{lot}-{}", options.seed),
        },
        firmware: env!("CARGO_PKG_VERSION").to_owned(),
        nvme_version: id.nvme_version.clone(),
        capacity_bytes,
        logical_block_bytes: id.logical_block_bytes.value,
        namespaces: 1,
        queue_pairs: id.queue_pairs.value,
        max_queue_entries: id.max_queue_entries.value,
        atomic_bytes: options.atomic_bytes.unwrap_or(id.logical_block_bytes.value),
        max_transfer_bytes: id.max_transfer_bytes.value,
        warning_celsius: reported(id.warning_celsius.value),
        critical_celsius: reported(id.critical_celsius.value),
        power_states: power.states.to_vec(),
        coalescing: options.coalescing.or(chosen).filter(|set| set.is_on()),
    }
}

pub(super) fn data(
    options: &DriveOptions,
    faults: &FaultPlan,
    capacity_bytes: u64,
) -> Option<DataStore> {
    let data = (options.keep_data)
        .then(|| DataStore::new(options.seed, options.state, faults.has_stale()))?;
    let data = match options.regenerate_data {
        true => data.regenerate(),
        false => data,
    };
    Some(match faults.true_bytes() {
        Some(bytes) if bytes < capacity_bytes => data.wrap(bytes),
        _ => data,
    })
}

pub(super) fn link(profile: &Profile, options: &DriveOptions) -> Link {
    Link::new(&profile.link, &profile.data_path, options.external_link_bytes_per_second)
}

pub(super) fn prefetcher(profile: &Profile) -> Prefetcher {
    let ahead = &profile.prefetch;
    Prefetcher::new(ahead.window_bytes.value, ahead.streams.value, ahead.trigger_commands.value)
}

pub(super) fn thermal(profile: &Profile, options: &DriveOptions) -> Thermal {
    let (heat, power) = (&profile.thermal, &profile.power);
    Thermal::new(heat, power, &profile.identity, options.ambient_celsius)
}
