//! Writes to host-managed zones: from the start of each zone on, one at a time per zone. A zone is
//! emptied before the write at its start.

use std::num::NonZeroU64;

use assay_device::session::{TargetKind, TargetProperties, WriteZones};

use super::checks::Places;
use super::values::out_of_range;
use super::{Engine, PlanError, Workload};
use crate::access::{AccessConfig, AddressPattern, StridedZones};
use crate::options::JobOptions;

pub(super) fn write_zones(target: &TargetProperties) -> Option<WriteZones> {
    match target.kind {
        TargetKind::Block { zones, .. } => zones,
        _ => None,
    }
}

pub(super) fn refused(target: &TargetProperties, why: impl std::fmt::Display) -> PlanError {
    PlanError::Unsupported(format!(
        "{}: its zones take writes at their write pointers only (it is host-managed): {why}",
        target.name
    ))
}

/// `size=16z` and its like, of a zoned drive, in bytes.
pub(super) fn in_bytes(
    options: &JobOptions,
    target: &TargetProperties,
) -> Result<JobOptions, PlanError> {
    let mut options = options.clone();
    let given: [(&'static str, &mut Option<String>); 5] = [
        ("size", &mut options.size),
        ("io_size", &mut options.io_size),
        ("offset", &mut options.offset),
        ("offset_increment", &mut options.offset_increment),
        ("zoneskip", &mut options.zoneskip),
    ];
    for (name, text) in given {
        let Some(count) = text.as_deref().and_then(|text| text.strip_suffix('z')) else {
            continue;
        };
        let zone_bytes = write_zones(target).map(|zones| zones.zone_bytes);
        let count = count.parse::<u64>().ok();
        let bytes =
            count.zip(zone_bytes).and_then(|(count, zone_bytes)| count.checked_mul(zone_bytes));
        let bytes = bytes.ok_or_else(|| {
            let shown = text.as_deref().unwrap_or_default();
            let why = "a number of zones, of a zoned drive or with zonesize=";
            out_of_range(name, shown, why)
        })?;
        *text = Some(bytes.to_string());
    }
    Ok(options)
}

/// A trace writes anywhere.
pub(super) fn refuse_traces(
    options: &JobOptions,
    target: &TargetProperties,
) -> Result<(), PlanError> {
    match write_zones(target).filter(|_| options.trace.is_some() && options.writes()) {
        Some(_) => Err(refused(target, "--trace writes elsewhere too; use --rw write without it")),
        None => Ok(()),
    }
}

/// Whether what lies below this end takes writes in any order.
pub(super) fn is_conventional(target: &TargetProperties, end_bytes: u64) -> bool {
    write_zones(target).is_some_and(|zones| end_bytes <= zones.conventional_bytes)
}

/// Strides over what can be written of each zone, of which the rest has no data.
pub(super) fn strided(access: &mut AccessConfig, target: &TargetProperties) {
    let Some(zones) = write_zones(target).filter(|zones| zones.conventional_bytes == 0) else {
        return;
    };
    let whole = access.pattern == AddressPattern::Sequential && access.zones.is_none();
    if whole && zones.capacity_bytes < zones.zone_bytes {
        access.zones = Some(StridedZones {
            size_bytes: zones.capacity_bytes,
            range_bytes: zones.zone_bytes,
            skip_bytes: 0,
        });
    }
}

/// What can be written of a thread's part.
pub(super) fn writable_bytes(places: &Places, target: &TargetProperties) -> u64 {
    match write_zones(target).filter(|zones| zones.conventional_bytes == 0) {
        Some(zones) => places.part_bytes / zones.zone_bytes * zones.capacity_bytes,
        None => places.part_bytes,
    }
}

fn end_bytes(workload: &Workload, places: &Places) -> u64 {
    let ahead = u64::from(workload.numjobs - 1).saturating_mul(places.offset_increment_bytes);
    let end = places.area.offset_bytes + places.area.size_bytes;
    end.saturating_add(ahead)
}

/// The length of the zones that it appends to.
pub(super) fn appends(
    options: &JobOptions,
    workload: &Workload,
    target: &TargetProperties,
) -> Result<Option<NonZeroU64>, PlanError> {
    if options.zone_append != Some(true) {
        return Ok(None);
    }
    let zones = write_zones(target).filter(|_| workload.engine == Engine::Passthru);
    match zones {
        Some(zones) if workload.rw == "write" => Ok(NonZeroU64::new(zones.zone_bytes)),
        _ => Err(PlanError::Unsupported(format!(
            "{}: --zone_append needs a zoned drive, --rw write and --engine passthru",
            target.name
        ))),
    }
}

/// What keeps writes at the pointers of their zones.
fn in_order(
    workload: &Workload,
    options: &JobOptions,
    places: &Places,
    target: &TargetProperties,
    zones: WriteZones,
) -> Result<(), PlanError> {
    let refuse = |why: String| Err(refused(target, why));
    if zones.conventional_bytes > places.area.offset_bytes {
        return refuse(format!(
            "--offset: its first {} bytes are conventional zones; end before them with --size, or \
             begin there",
            zones.conventional_bytes
        ));
    }
    if zones.conventional_bytes > 0 && zones.capacity_bytes < zones.zone_bytes {
        return refuse("a job file of fio with zonemode=zbd finds their ends".to_owned());
    }
    let appends = options.zone_append == Some(true);
    if workload.iodepth > 1 && !appends {
        return refuse(
            "writes in flight together may overtake one another; use --iodepth 1, --zone_append \
             with --engine passthru, or --numjobs with --split for more zones at once"
                .to_owned(),
        );
    }
    if workload.iodepth > 1 && workload.verify_bytes.is_some() {
        return refuse(
            "appended blocks do not go where --verify expects them; use --iodepth 1".to_owned(),
        );
    }
    Ok(())
}

/// The length of the zones that it empties.
pub(super) fn resets(
    workload: &Workload,
    options: &JobOptions,
    places: &Places,
    target: &TargetProperties,
) -> Result<Option<NonZeroU64>, PlanError> {
    let Some(zones) = write_zones(target).filter(|_| workload.writes()) else {
        return Ok(None);
    };
    if is_conventional(target, end_bytes(workload, places)) {
        return Ok(None);
    }
    let zone = zones.zone_bytes;
    let refuse = |why: String| Err(refused(target, why));
    if workload.rw != "write" || workload.access.step != Default::default() {
        return refuse(format!(
            "--rw {} writes elsewhere too; use --rw write, and `assay purge` to empty them",
            workload.rw
        ));
    }
    in_order(workload, options, places, target, zones)?;
    let access = &workload.access;
    let block = access.min_bytes();
    let is_whole = access.max_bytes() == block && zones.capacity_bytes.is_multiple_of(block.into());
    let own = access.zones.is_none_or(|strides| {
        (strides.size_bytes, strides.range_bytes, strides.skip_bytes)
            == (zones.capacity_bytes, zone, 0)
    });
    if !is_whole || !own {
        return refuse(format!(
            "give one --bs that divides the {} bytes that can be written of a zone, and no \
             --zonesize",
            zones.capacity_bytes
        ));
    }
    let starts = [places.area.offset_bytes, places.part_bytes, places.offset_increment_bytes];
    if starts.iter().any(|bytes| !bytes.is_multiple_of(zone)) {
        return refuse(format!(
            "--offset, --offset_increment, and the part of --size that each thread has must be \
             multiples of a zone of {zone} bytes"
        ));
    }
    let alone = places.split || places.offset_increment_bytes >= places.area.size_bytes;
    if workload.numjobs > 1 && !alone {
        return refuse("threads need zones of their own; add --split".to_owned());
    }
    let most = zones.most_at_once.unwrap_or(u32::MAX);
    if workload.numjobs > most {
        return refuse(format!("it allows {most} at once; lower --numjobs to that"));
    }
    let passes_on = |bytes| bytes > writable_bytes(places, target);
    if workload.verify_bytes.is_some() && workload.io_bytes.is_none_or(passes_on) {
        return refuse(
            "a second pass empties zones that are to be verified; leave out --runtime, and lower \
             --io_size"
                .to_owned(),
        );
    }
    Ok(NonZeroU64::new(zone))
}
