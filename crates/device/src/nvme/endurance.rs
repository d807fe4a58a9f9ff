//! Endurance logs of a controller. Bytes written to the media, erases and bad blocks come from the
//! first of these logs that the drive has:
//! 1. C0h of the Open Compute Project, recognised by its GUID; counts bytes.
//! 2. 22h, FDP Statistics, of the namespace's group, where data placement is on; counts bytes.
//! 3. 09h, Endurance Group Information, of the namespace's group, where it counts media units;
//!    counts 10^9 bytes.
//! 4. The vendor's log CAh ([`VendorLog`]), of vendors that publish its layout. Nothing in such a
//!    page identifies its layout, so it is used only where it agrees with the health log.
//!
//! A vendor's log comes last because a firmware can change its layout. The rated endurance is that
//! of 09h. Host bytes are those of the health log (02h, steps of 512,000 bytes), which like C0h and
//! CAh is about the whole controller; one group of several, and 22h, have their own host counter.

use assay_nvme_spec::identify::ctratt;
use assay_nvme_spec::log::VendorLog;
use assay_units::endurance::{CounterOrigin, CounterSource, RatedEndurance};

use super::CommandError;
use super::commands::Commands;
use super::health::{DATA_UNIT_BYTES, Endurance, Health, counter};
use super::placement::{placement, statistics};

/// Unit of log 09h (Base 2.0c, 5.16.1.10).
const GROUP_UNIT_BYTES: u64 = 1_000_000_000;
/// Counters of a new drive may differ by this without contradiction.
const SLACK_BYTES: u64 = 1 << 30;
/// Largest write amplification over a life that a vendor's log may claim.
const MAX_AMPLIFICATION: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MediaLog {
    Ocp,
    Placement(u16),
    /// Whether the controller can have no other group.
    Group(u16, bool),
    Vendor(VendorLog),
}

/// A log that the drive lacks is requested once: each rejected command is an entry of its error
/// log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnduranceLogs {
    media: Option<MediaLog>,
    pub(super) rated: Option<RatedEndurance>,
}

impl EnduranceLogs {
    /// `nsid`: the namespace whose endurance group counts; without it, the first one. Fails when
    /// Identify Controller or the health log fails, which are mandatory.
    pub(crate) fn find(
        commands: &mut Commands<'_>,
        nsid: Option<u32>,
    ) -> Result<EnduranceLogs, CommandError> {
        let controller = commands.identify_controller()?;
        let health = Health::from(&commands.smart()?);
        let has_groups = controller.attributes() & ctratt::ENDURANCE_GROUPS != 0;
        let group = has_groups.then(|| group_of(commands, nsid)).flatten();
        let group = group.and_then(|id| Some((id, commands.endurance_group(id).ok()?)));
        let rated = group.and_then(|(_, log)| {
            let media_bytes = u64::try_from(log.endurance_gigabytes()).ok()?;
            Some(RatedEndurance {
                source: CounterSource::EnduranceGroup,
                media_bytes: media_bytes.checked_mul(GROUP_UNIT_BYTES)?,
            })
        });
        let media = if commands.ocp_smart().is_some() {
            Some(MediaLog::Ocp)
        } else if let Some((id, _)) = group
            && controller.attributes() & ctratt::FLEXIBLE_DATA_PLACEMENT != 0
            && placement(commands, id).is_some_and(|found| found.statistics.is_some())
        {
            Some(MediaLog::Placement(id))
        } else if let Some((id, log)) = group
            && log.media_gigabytes_written() > 0
        {
            Some(MediaLog::Group(id, controller.endurance_groups() == 1))
        } else {
            let vendor = VendorLog::of_vendor(controller.vendor_id());
            vendor.filter(|log| is_believable(commands, *log, &health)).map(MediaLog::Vendor)
        };
        Ok(EnduranceLogs { media, rated: rated.filter(|rated| rated.media_bytes > 0) })
    }

    pub(super) fn read(&self, commands: &mut Commands<'_>, health: &Health) -> Option<Endurance> {
        let origin = |source, unit_bytes| CounterOrigin { source, unit_bytes };
        let by = |source, unit_bytes, media_written_bytes| Endurance {
            media: origin(source, unit_bytes),
            media_written_bytes,
            host: origin(CounterSource::Smart, DATA_UNIT_BYTES),
            host_written_bytes: health.written_bytes,
            media_read_bytes: None,
            bad_blocks: None,
            free_blocks_pct: None,
            erases: None,
            mean_erases: None,
            throttling_events: None,
        };
        match self.media? {
            MediaLog::Ocp => {
                let log = commands.ocp_smart()?;
                let media_written_bytes = counter(log.media_bytes_written());
                Some(Endurance {
                    media_read_bytes: Some(counter(log.media_bytes_read())),
                    bad_blocks: Some(log.bad_user_blocks()),
                    free_blocks_pct: Some(log.free_percent()),
                    erases: Some((log.min_erases(), log.max_erases())),
                    throttling_events: Some(log.throttling_events()),
                    ..by(CounterSource::OcpSmart, 1, media_written_bytes)
                })
            }
            MediaLog::Placement(id) => {
                let log = statistics(commands, id)?;
                let source = CounterSource::FdpStatistics;
                Some(Endurance {
                    host: origin(source, 1),
                    host_written_bytes: log.host_bytes,
                    ..by(source, 1, log.media_bytes)
                })
            }
            MediaLog::Group(id, alone) => {
                let log = commands.endurance_group(id).ok()?;
                let bytes = |units: u128| counter(units.saturating_mul(GROUP_UNIT_BYTES.into()));
                let source = CounterSource::EnduranceGroup;
                let media = bytes(log.media_gigabytes_written());
                let mut found = by(source, GROUP_UNIT_BYTES, media);
                if !alone {
                    found.host = origin(source, GROUP_UNIT_BYTES);
                    found.host_written_bytes = bytes(log.gigabytes_written());
                }
                Some(found)
            }
            MediaLog::Vendor(log) => {
                let page = commands.vendor_log(log).ok()?;
                let found = log.counters(&page)?;
                let source = match log {
                    VendorLog::Intel => CounterSource::IntelVendor,
                    VendorLog::Wdc => CounterSource::WdcVendor,
                };
                Some(Endurance {
                    media_read_bytes: found.media_read_bytes,
                    bad_blocks: found.bad_blocks,
                    erases: found.erases,
                    mean_erases: found.mean_erases,
                    ..by(source, found.media_unit_bytes, found.media_written_bytes)
                })
            }
        }
    }
}

fn group_of(commands: &mut Commands<'_>, nsid: Option<u32>) -> Option<u16> {
    let nsid = match nsid {
        Some(nsid) => nsid,
        None => *commands.active_namespaces().ok()?.first()?,
    };
    let group = commands.identify_namespace(nsid).ok()?.endurance_group();
    (group != 0).then_some(group)
}

/// The page agrees with the health log when a host counter is equal within its step and a
/// hundredth, and media bytes without a host counter are between half and [`MAX_AMPLIFICATION`]
/// times the host's.
fn is_believable(commands: &mut Commands<'_>, log: VendorLog, health: &Health) -> bool {
    let page = commands.vendor_log(log).ok();
    let Some(found) = page.and_then(|page| log.counters(&page)) else {
        return false;
    };
    let host_bytes = health.written_bytes;
    let media = found.media_written_bytes;
    let is_possible = media.saturating_add(SLACK_BYTES) >= host_bytes / 2
        && media / MAX_AMPLIFICATION <= host_bytes.saturating_add(SLACK_BYTES);
    let agrees = found.host_written_bytes.is_none_or(|bytes| {
        bytes.abs_diff(host_bytes) <= 2 * found.media_unit_bytes + host_bytes / 100
    });
    is_possible && agrees
}
