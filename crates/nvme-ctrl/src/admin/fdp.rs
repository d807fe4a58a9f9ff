//! Flexible Data Placement (NVM Express Base Specification 2.1; TP4146) of drives with reclaim unit
//! handles: one configuration, enabled at power-on, of one reclaim group; all handles belong to the
//! namespace, handle `n` under placement identifier `n`. Other configurations are not modelled.

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::fdp::{
    EnduranceGroupLog, FdpConfiguration, FdpConfigurationsHead, FdpFeature, FdpStatistics,
    HANDLE_STATUS, HandleDescriptor, HandleStatus, HandleStatusHead, HandleUsage, HandleUsageHead,
    INITIALLY_ISOLATED, IoManagementReceive,
};
use assay_nvme_spec::log::LogId;
use assay_units::Nanos;

use crate::controller::Controller;
use assay_ssd::SPARE_THRESHOLD_PERCENT;

pub(crate) mod events;

pub(crate) const ENDURANCE_GROUP: u16 = 1;
/// The host specifies the handle: it belongs to a namespace.
const BY_HOST: u8 = 1;
const BYTES_PER_UNIT: u64 = 1_000_000_000;

impl Controller {
    pub(crate) fn has_placement(&self) -> bool {
        self.drive.placement_handles() > 0
    }

    pub(super) fn is_of_group(lid: LogId) -> bool {
        [
            LogId::ENDURANCE_GROUP,
            LogId::FDP_CONFIGURATIONS,
            LogId::HANDLE_USAGE,
            LogId::FDP_STATISTICS,
            LogId::FDP_EVENTS,
        ]
        .contains(&lid)
    }

    /// The feature's value for an endurance group (dword 11).
    pub(super) fn placement_feature(&self, value: u32) -> Result<u32, StatusCode> {
        let is_there = self.has_placement() && value as u16 == ENDURANCE_GROUP;
        StatusCode::INVALID_FIELD.fail_if(!is_there)?;
        let mut feature = FdpFeature::default();
        Ok(feature.set_enabled(true).raw())
    }

    /// Placement can only be changed while the endurance group has no namespace, and it has one.
    pub(super) fn set_placement(&self, wanted: u32) -> Result<(), StatusCode> {
        let wanted = FdpFeature::from_raw(wanted);
        StatusCode::INVALID_FIELD.fail_if(wanted.enabled() && wanted.configuration() != 0)?;
        StatusCode::COMMAND_SEQUENCE_ERROR.fail_if(!wanted.enabled())
    }

    pub(super) fn endurance_group_log(&mut self, now_ns: u64) -> EnduranceGroupLog {
        let telemetry = self.drive.telemetry(Nanos(now_ns));
        let units = |bytes: u64| u128::from(bytes.div_ceil(BYTES_PER_UNIT));
        let mut log = EnduranceGroupLog::default();
        log.set_available_spare(telemetry.spare_percent)
            .set_spare_threshold(SPARE_THRESHOLD_PERCENT)
            .set_percentage_used(telemetry.used_percent.min(255) as u8)
            .set_endurance_gigabytes(units(self.drive.rated_media_bytes().unwrap_or(0)))
            .set_gigabytes_read(units(telemetry.host_bytes_read))
            .set_gigabytes_written(units(telemetry.host_bytes_written))
            .set_media_gigabytes_written(units(telemetry.nand_bytes_written))
            .set_host_reads(telemetry.host_reads.into())
            .set_host_writes(telemetry.host_writes.into())
            .set_media_errors(telemetry.media_errors.into())
            .set_capacity_bytes(self.drive.identity().capacity_bytes.into());
        log
    }

    pub(super) fn placement_configurations(&self) -> Vec<u8> {
        let handles = self.drive.placement_handles();
        let size = FdpConfiguration::SIZE + usize::from(handles) * HandleDescriptor::SIZE;
        let mut head = FdpConfigurationsHead::default();
        head.set_size_bytes((FdpConfigurationsHead::SIZE + size) as u32);
        let mut configuration = FdpConfiguration::default();
        configuration
            .set_size_bytes(size as u16)
            .set_volatile_cache(true)
            .set_valid(true)
            .set_groups(1)
            .set_handles(handles)
            .set_max_placement_ids(handles - 1)
            .set_namespaces(1)
            .set_unit_bytes(self.drive.reclaim_unit_bytes());
        let mut handle = HandleDescriptor::default();
        handle.set_isolation(INITIALLY_ISOLATED);
        let handles = handle.as_bytes().repeat(usize::from(handles));
        [&head.as_bytes()[..], configuration.as_bytes(), &handles].concat()
    }

    pub(super) fn handle_usage(&self) -> Vec<u8> {
        let handles = self.drive.placement_handles();
        let mut head = HandleUsageHead::default();
        head.set_handles(handles);
        let mut usage = HandleUsage::default();
        usage.set_attributes(BY_HOST);
        let usages = usage.as_bytes().repeat(usize::from(handles));
        [&head.as_bytes()[..], &usages].concat()
    }

    pub(super) fn placement_statistics(&mut self, now_ns: u64) -> FdpStatistics {
        let telemetry = self.drive.telemetry(Nanos(now_ns));
        let erased = telemetry.superblocks_erased * self.drive.reclaim_unit_bytes();
        let mut log = FdpStatistics::default();
        log.set_host_bytes(telemetry.host_bytes_written.into())
            .set_media_bytes(telemetry.nand_bytes_written.into())
            .set_erased_bytes(erased.into());
        log
    }

    /// Reply of I/O Management Receive.
    pub(crate) fn handle_status(
        &self,
        receive: IoManagementReceive,
    ) -> Result<Vec<u8>, StatusCode> {
        StatusCode::INVALID_FIELD.fail_if(receive.operation() != HANDLE_STATUS)?;
        let len = (u64::from(receive.dwords()) + 1) * 4;
        StatusCode::INVALID_FIELD.fail_if(len > self.max_transfer_bytes)?;
        let units = self.drive.reclaim_units();
        let mut head = HandleStatusHead::default();
        head.set_descriptors(units.len() as u16);
        let mut reply = head.as_bytes().to_vec();
        for (handle, unit) in (0..).zip(units) {
            let mut status = HandleStatus::default();
            status
                .set_placement_id(handle)
                .set_handle(handle)
                .set_left_blocks(unit.left_bytes >> self.block_shift);
            reply.extend_from_slice(status.as_bytes());
        }
        reply.resize(len as usize, 0);
        Ok(reply)
    }
}
