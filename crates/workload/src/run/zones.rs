//! The zones of the drives of jobs that run at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_io::TargetError;
use assay_io::drive_handle::DriveHandle;
use assay_io::system_calls::{Zone, report_zones};

use super::RunError;
use crate::access::fio::{ZoneJob, ZoneReport, ZoneTable};
use crate::plan::Workload;

/// `BLK_ZONE_COND_...` of include/uapi/linux/blkzoned.h.
mod condition {
    pub(super) const IMPLICITLY_OPEN: u8 = 2;
    pub(super) const EXPLICITLY_OPEN: u8 = 3;
    pub(super) const FULL: u8 = 14;
    pub(super) const OFFLINE: u8 = 15;
}

/// Those of each job, by drive, workload and open device; jobs on one drive share them.
pub(super) fn tables<'a>(
    jobs: impl Iterator<Item = (usize, &'a Workload, Option<&'a DriveHandle>)>,
) -> Result<Vec<Option<Arc<ZoneTable>>>, RunError> {
    let mut of_drives: BTreeMap<usize, Arc<ZoneTable>> = BTreeMap::new();
    let table = |(drive, workload, open): (usize, &Workload, Option<&DriveHandle>)| {
        let Some((access, area)) = &workload.fio else {
            return Ok(None);
        };
        let Some(job) = &access.zoned else {
            return Ok(None);
        };
        if let Some(table) = of_drives.get(&drive) {
            return Ok(Some(Arc::clone(table)));
        }
        let table = match open.filter(|_| workload.features.in_zones) {
            Some(open) => reported(job, open, area.capacity_bytes)?,
            None => ZoneTable::imagined(job, area.capacity_bytes),
        };
        let table = of_drives.entry(drive).or_insert_with(|| Arc::new(table));
        Ok(Some(Arc::clone(table)))
    };
    jobs.map(table).collect()
}

fn reported(
    job: &ZoneJob,
    open: &DriveHandle,
    capacity_bytes: u64,
) -> Result<ZoneTable, TargetError> {
    let count = capacity_bytes.div_ceil(job.zone_bytes.max(1));
    let zones = report_zones(open.file(), usize::try_from(count).unwrap_or(usize::MAX));
    let zones = zones.map_err(|source| TargetError::Io {
        drive: open.name().to_owned(),
        what: "the report of its zones",
        source,
    })?;
    let zones: Vec<ZoneReport> = zones.iter().map(report).collect();
    Ok(ZoneTable::of_drive(job, &zones))
}

fn report(zone: &Zone) -> ZoneReport {
    let end = zone.start_bytes.saturating_add(zone.capacity_bytes);
    let is_offline = zone.condition == condition::OFFLINE;
    ZoneReport {
        start_bytes: zone.start_bytes,
        capacity_bytes: zone.capacity_bytes,
        written_to: match zone.is_conventional || zone.condition == condition::FULL {
            true => end,
            false if is_offline => zone.start_bytes,
            false => zone.write_pointer_bytes.clamp(zone.start_bytes, end),
        },
        is_conventional: zone.is_conventional,
        is_offline,
        is_open: matches!(zone.condition, condition::IMPLICITLY_OPEN | condition::EXPLICITLY_OPEN),
    }
}
