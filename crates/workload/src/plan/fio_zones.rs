//! `zonemode=zbd` of a job of fio, on a drive with zones or without (`zbd.c` of fio 3.33).

use assay_device::session::{TargetKind, TargetProperties};

use super::PlanError;
use super::ordered::Order;
use super::values::{invalid, out_of_range, size};
use super::zones::write_zones;
use crate::access::fio::{FioAccess, MAX_OPEN_ZONES, ZoneJob};
use crate::options::JobOptions;

/// Least zone of a drive without zones, bytes (`init_zone_info`).
const LEAST_ZONE_BYTES: u64 = 512;

/// `None`: the job has no such zones.
pub(super) fn zone_job(
    options: &JobOptions,
    order: &Order<'_>,
    target: &TargetProperties,
) -> Result<Option<ZoneJob>, PlanError> {
    if order.text("zonemode") != Some("zbd") {
        return Ok(None);
    }
    let length = |option, text: &Option<String>| {
        let bytes = text.as_deref().map(|text| size(option, text));
        bytes.transpose().map(Option::unwrap_or_default)
    };
    let count = |name| {
        let number = order.number(name, 0)?;
        u32::try_from(number).map_err(|_| order.wrong(name))
    };
    let share = |name: &str| match order.text(name) {
        None => Ok(0.0),
        Some(text) => (text.parse().ok())
            .filter(|share| (0.0..=1.0).contains(share))
            .ok_or_else(|| order.wrong(name)),
    };
    let mut job = ZoneJob {
        zone_bytes: length("zonesize", &options.zonesize)?,
        capacity_bytes: order.number("zonecapacity", 0)?,
        max_open: count("max_open_zones")?,
        job_max_open: count("job_max_open_zones")?,
        skip_bytes: length("zoneskip", &options.zoneskip)?,
        read_beyond_wp: order.flag("read_beyond_wp", false)?,
        reset_threshold: share("zone_reset_threshold")?,
        reset_frequency: share("zone_reset_frequency")?,
    };
    match write_zones(target) {
        Some(zones) => {
            if job.zone_bytes != 0 && job.zone_bytes != zones.zone_bytes {
                return Err(invalid(format!(
                    "zonesize={}: the drive's zones have {} bytes",
                    job.zone_bytes, zones.zone_bytes
                )));
            }
            job.zone_bytes = zones.zone_bytes;
            job.max_open = open_limit(&job, zones.most_at_once, order)?;
        }
        None => on_plain_drive(&job, target)?,
    }
    check(&job)?;
    Ok(Some(job))
}

/// `zbd_set_max_open_zones`.
fn open_limit(job: &ZoneJob, of_drive: Option<u32>, order: &Order<'_>) -> Result<u32, PlanError> {
    let of_drive = of_drive.filter(|&most| most > 0);
    match of_drive.filter(|_| !order.flag("ignore_zone_limits", false).unwrap_or(false)) {
        Some(most) if job.max_open > most => {
            Err(invalid(format!("max_open_zones={}: the drive allows {most}", job.max_open)))
        }
        Some(most) if job.max_open == 0 => Ok(most),
        _ => Ok(job.max_open),
    }
}

/// `init_zone_info`.
fn on_plain_drive(job: &ZoneJob, target: &TargetProperties) -> Result<(), PlanError> {
    if job.zone_bytes < LEAST_ZONE_BYTES {
        return Err(invalid(format!(
            "zonemode=zbd: {} has no zones; give their length, as zonesize=64m",
            target.name
        )));
    }
    if job.capacity_bytes > job.zone_bytes {
        return Err(invalid("zonecapacity is more than zonesize"));
    }
    match target.capacity_bytes < job.zone_bytes {
        true => Err(invalid(format!(
            "zonesize={}: the drive has {} bytes",
            job.zone_bytes, target.capacity_bytes
        ))),
        false => Ok(()),
    }
}

fn check(job: &ZoneJob) -> Result<(), PlanError> {
    if job.max_open as usize > MAX_OPEN_ZONES {
        return Err(invalid(format!("max_open_zones is at most {MAX_OPEN_ZONES}")));
    }
    if job.job_max_open > 0 && job.max_open == 0 {
        return Err(invalid("job_max_open_zones needs max_open_zones"));
    }
    match job.skip_bytes.is_multiple_of(job.zone_bytes) {
        true => Ok(()),
        false => Err(out_of_range("zoneskip", job.skip_bytes, "a multiple of zonesize")),
    }
}

/// What the job may do on such zones.
pub(super) fn check_access(
    access: &FioAccess,
    options: &JobOptions,
    target: &TargetProperties,
) -> Result<(), PlanError> {
    let Some(job) = &access.zoned else {
        return Ok(());
    };
    if access.trims {
        return Err(invalid(
            "zonemode=zbd: trims are resets of zones; use rw=write, which resets full ones, or \
             `assay purge`",
        ));
    }
    let is_real = write_zones(target).is_some();
    if is_real && access.writes && options.direct == Some(false) {
        return Err(invalid("zonemode=zbd: a zoned drive is written with direct=1 only"));
    }
    let divides = |bytes: u64| bytes > 0 && job.zone_bytes.is_multiple_of(bytes);
    let all = access.sizes.iter().all(|sizes| divides(sizes.most_bytes));
    match access.verifies && !all {
        true => Err(invalid("zonemode=zbd with verify: bs must divide zonesize")),
        false => Ok(()),
    }
}

/// The drive as the other options are checked on it: where the writes go is fio's matter.
pub(super) fn without_zones(target: &TargetProperties) -> TargetProperties {
    let mut plain = target.clone();
    if let TargetKind::Block { zones, .. } = &mut plain.kind {
        *zones = None;
    }
    plain
}
