//! Zoned block devices (NVMe ZNS, SMR). Host-managed ones accept writes at the write pointer of
//! each zone only; a zone is emptied as a whole. Sources: Linux
//! Documentation/ABI/stable/sysfs-block, include/uapi/linux/blkzoned.h.

use std::collections::BTreeMap;
use std::fs::File;

use assay_io::system_calls::report_zones;
use serde::{Deserialize, Serialize};

use super::DriveInfo;
use super::block::{BlockNode, SYSFS_SECTOR_BYTES};
use crate::open::open_file;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zones {
    /// Writes elsewhere than at the write pointer of a zone fail; else they are slow.
    pub host_managed: bool,
    pub count: u32,
    pub zone_bytes: u64,
    /// What can be written of a zone, from its start on; `None` where it is not known.
    pub capacity_bytes: Option<u64>,
    /// Zones whose writes go anywhere.
    pub conventional: u32,
    /// The first zone that is written at its write pointer.
    #[serde(skip)]
    pub first_sequential: u32,
    /// Zones that are written at once; `None`: no limit.
    pub max_open: Option<u32>,
    /// Zones that are neither empty nor full; `None`: no limit.
    pub max_active: Option<u32>,
}

/// `BLK_ZONE_COND_...` of include/uapi/linux/blkzoned.h.
const CONDITIONS: [(u8, &str); 8] = [
    (0, "conventional"),
    (1, "empty"),
    (2, "open"),
    (3, "open"),
    (4, "closed"),
    (13, "read-only"),
    (14, "full"),
    (15, "offline"),
];

impl Zones {
    /// `None` of drives without zones.
    pub(super) fn read(whole: &BlockNode) -> Option<Zones> {
        let queue = |name: &str| whole.attribute(&format!("queue/{name}"));
        let limit = |name| queue(name)?.parse().ok().filter(|&zones| zones > 0);
        let host_managed = match queue("zoned")?.as_str() {
            "host-managed" => true,
            "host-aware" => false,
            _ => return None,
        };
        let sectors: u64 = queue("chunk_sectors")?.parse().ok()?;
        Some(Zones {
            host_managed,
            count: queue("nr_zones")?.parse().ok()?,
            zone_bytes: sectors.checked_mul(SYSFS_SECTOR_BYTES).filter(|&b| b > 0)?,
            capacity_bytes: None,
            conventional: 0,
            first_sequential: 0,
            max_open: limit("max_open_zones"),
            max_active: limit("max_active_zones"),
        })
    }

    pub(super) fn with_report(self, device: &File) -> Zones {
        let zones = report_zones(device, self.count as usize).unwrap_or_default();
        let conventional = zones.iter().filter(|zone| zone.is_conventional).count();
        let first = zones.iter().position(|zone| !zone.is_conventional);
        Zones {
            capacity_bytes: first.map(|first| zones[first].capacity_bytes),
            conventional: conventional as u32,
            first_sequential: first.unwrap_or(zones.len()) as u32,
            ..self
        }
    }
}

/// Zones by their condition; `None` of drives without zones, or where they cannot be read.
pub fn zone_conditions(info: &DriveInfo) -> Option<BTreeMap<&'static str, u32>> {
    let zones = info.zones?;
    let device = open_file(info.path.as_ref()?, false, libc::O_NONBLOCK).ok()?;
    let mut counts = BTreeMap::new();
    for zone in report_zones(&device, zones.count as usize).ok()? {
        let name = CONDITIONS.iter().find(|(code, _)| *code == zone.condition);
        *counts.entry(name.map_or("unknown", |(_, name)| name)).or_default() += 1;
    }
    Some(counts)
}
