//! Flexible Data Placement of an endurance group (Base 2.1): configurations, and the bytes that the
//! host and the drive have written.

use assay_nvme_spec::fdp::{
    FdpConfiguration, FdpConfigurationsHead, FdpFeature, FdpStatistics, HandleDescriptor,
    INITIALLY_ISOLATED,
};
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::log::LogId;
use assay_nvme_spec::wire::Wire;
use serde::{Deserialize, Serialize};

use super::commands::Commands;
use super::health::counter;

/// Most of a log page of configurations that is read.
const MOST_BYTES: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub endurance_group: u16,
    /// Index of the configuration in use; `None` where placement is off.
    pub enabled: Option<u8>,
    pub configurations: Vec<PlacementConfiguration>,
    /// `None` while placement is off.
    pub statistics: Option<PlacementStatistics>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementConfiguration {
    pub groups: u32,
    pub handles: u16,
    /// Nominal size of a reclaim unit.
    pub unit_bytes: u64,
    /// Garbage collection mixes what it moves from units of several handles.
    pub mixes_when_moving: bool,
}

/// Since placement was enabled, with metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementStatistics {
    pub host_bytes: u64,
    pub media_bytes: u64,
    pub erased_bytes: u64,
}

impl Placement {
    /// Of the configuration in use; 0 where placement is off.
    pub(crate) fn handles(&self) -> u16 {
        let used = self.enabled.map(usize::from);
        let used = used.and_then(|index| self.configurations.get(index));
        used.map_or(0, |configuration| configuration.handles)
    }
}

/// `None` where the controller rejects the log of configurations.
pub(super) fn placement(commands: &mut Commands<'_>, group: u16) -> Option<Placement> {
    let page = commands.group_log(LogId::FDP_CONFIGURATIONS, group, MOST_BYTES);
    let configurations = configurations(&page.ok()?);
    let feature = commands.feature(FeatureId::FLEXIBLE_DATA_PLACEMENT, group.into(), &mut []);
    let feature = FdpFeature::from_raw(feature.unwrap_or(0));
    let enabled = feature.enabled().then(|| feature.configuration());
    Some(Placement {
        endurance_group: group,
        enabled,
        configurations,
        statistics: enabled.and_then(|_| statistics(commands, group)),
    })
}

/// `None` where the controller rejects the log.
pub(super) fn statistics(commands: &mut Commands<'_>, group: u16) -> Option<PlacementStatistics> {
    let page = commands.group_log(LogId::FDP_STATISTICS, group, FdpStatistics::SIZE);
    let log = FdpStatistics::load(&page.ok()?);
    Some(PlacementStatistics {
        host_bytes: counter(log.host_bytes()),
        media_bytes: counter(log.media_bytes()),
        erased_bytes: counter(log.erased_bytes()),
    })
}

/// Ends at a truncated descriptor, or one whose length cannot be.
fn configurations(page: &[u8]) -> Vec<PlacementConfiguration> {
    let count = FdpConfigurationsHead::load(page).configurations();
    let mut rest = &page[FdpConfigurationsHead::SIZE..];
    let mut found = Vec::new();
    for _ in 0..=count {
        let Some((head, handles)) = rest.split_at_checked(FdpConfiguration::SIZE) else {
            break;
        };
        let configuration = FdpConfiguration::load(head);
        let size = usize::from(configuration.size_bytes());
        let Some(next) = rest.get(size..).filter(|_| size >= FdpConfiguration::SIZE) else {
            break;
        };
        rest = next;
        if configuration.valid() {
            let first = handles.get(..HandleDescriptor::SIZE);
            let first = first.map(|raw| HandleDescriptor::load(raw).isolation());
            found.push(PlacementConfiguration {
                groups: configuration.groups(),
                handles: configuration.handles(),
                unit_bytes: configuration.unit_bytes(),
                mixes_when_moving: first == Some(INITIALLY_ISOLATED),
            });
        }
    }
    found
}

#[cfg(test)]
#[path = "../../tests/unit/nvme/placement.rs"]
mod tests;
