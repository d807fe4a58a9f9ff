//! Get Log Page (Base 5.16).

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::GetLogPage;
use assay_nvme_spec::log::{
    CommandEffect, CommandEffectsLog, FirmwareSlotLog, LogId, OCP_GUID, OcpSmartLog, SmartLog,
    SupportedPage, SupportedPagesLog, TelemetryHeader, critical_warning,
};
use assay_nvme_spec::opcode::{AdminOpcode, NvmOpcode};
use assay_nvme_spec::wire::padded;
use assay_units::Nanos;

use super::Answer;
use super::background::HOUR_NS;
use super::feature::kelvin_of;
use crate::controller::{Controller, NAMESPACE};
use crate::memory::HostMemory;
use crate::transfer::DataPointer;

/// Program/erase cycles that a block is rated for by bits per cell, from one: usual figures of makers (SLC 60,000, two-bit MLC 3,000,
/// TLC 1,500), of which profiles have none. Percentage Used is wear over this.
pub const RATED_CYCLES: [u64; 3] = [60_000, 3_000, 1_500];
/// Bytes of a data unit of SMART: a thousand of 512.
const DATA_UNIT_BYTES: u64 = 512_000;
const MINUTE_NS: u64 = 60_000_000_000;
/// Bytes of a telemetry data block.
const BLOCK_BYTES: usize = 512;

/// The log pages there are.
const PAGES: [LogId; 10] = [
    LogId::SUPPORTED_PAGES,
    LogId::ERROR,
    LogId::SMART,
    LogId::FIRMWARE_SLOT,
    LogId::COMMAND_EFFECTS,
    LogId::SELF_TEST,
    LogId::TELEMETRY_HOST,
    LogId::TELEMETRY_CONTROLLER,
    LogId::SANITIZE,
    LogId::OCP_SMART,
];

impl Controller {
    pub(super) fn get_log_page<M: HostMemory>(
        &mut self,
        now_ns: u64,
        command: GetLogPage,
        pointer: DataPointer,
        memory: &mut M,
    ) -> Answer {
        let lid = LogId(command.lid());
        let len = command.dwords() * 4;
        if len > self.max_transfer_bytes
            || command.offset_counts_entries()
            || !command.offset().is_multiple_of(4)
        {
            return Err(StatusCode::INVALID_FIELD);
        }
        let page = match lid {
            LogId::SUPPORTED_PAGES => supported_pages().as_bytes().to_vec(),
            LogId::ERROR => self.errors.page(),
            LogId::SMART => {
                if !matches!(command.nsid(), 0 | NAMESPACE | assay_nvme_spec::NSID_ALL) {
                    return Err(StatusCode::INVALID_NAMESPACE);
                }
                self.smart(now_ns).as_bytes().to_vec()
            }
            LogId::FIRMWARE_SLOT => self.firmware_slots().as_bytes().to_vec(),
            LogId::COMMAND_EFFECTS => self.effects().as_bytes().to_vec(),
            LogId::SELF_TEST => self.self_test_log(now_ns).as_bytes().to_vec(),
            LogId::TELEMETRY_HOST | LogId::TELEMETRY_CONTROLLER => {
                self.telemetry_log(now_ns, &command)
            }
            LogId::SANITIZE => self.sanitize_log(now_ns).as_bytes().to_vec(),
            LogId::OCP_SMART => self.ocp_smart(now_ns).as_bytes().to_vec(),
            _ => return Err(StatusCode::INVALID_LOG_PAGE),
        };
        let offset = usize::try_from(command.offset())
            .ok()
            .filter(|&offset| offset <= page.len());
        let rest = offset
            .and_then(|offset| page.get(offset..))
            .ok_or(StatusCode::INVALID_FIELD)?;
        let answer = self.answer_with(rest, len as usize, pointer, memory)?;
        if !command.retain_event() {
            self.events.log_was_read(lid);
        }
        Ok(answer)
    }

    fn smart(&mut self, now_ns: u64) -> SmartLog {
        let telemetry = self.drive.telemetry(Nanos(now_ns));
        let mut log = SmartLog::default();
        let mut warnings = 0;
        if self.features.thresholds.is_crossed(&telemetry) {
            warnings |= critical_warning::TEMPERATURE;
        }
        let used = self.percentage_used(telemetry.superblocks_erased);
        let spare = 100;
        let units = |bytes: u64| u128::from(bytes.div_ceil(DATA_UNIT_BYTES));
        let minutes = |seconds: u64| u32::try_from(seconds / 60).unwrap_or(u32::MAX);
        let busy_ns = self.busy_ns_until(now_ns);
        let mut sensors = [0; 8];
        for (place, &celsius) in sensors.iter_mut().zip(&telemetry.sensors) {
            *place = kelvin_of(celsius);
        }
        let [(light, light_s), (heavy, heavy_s)] = self.drive.host_throttling_counts();
        let seconds = |s: u64| u32::try_from(s).unwrap_or(u32::MAX);
        log.set_critical_warning(warnings)
            .set_composite_kelvin(kelvin_of(telemetry.composite_celsius))
            .set_available_spare(spare)
            .set_spare_threshold(10)
            .set_percentage_used(used)
            .set_data_units_read(units(telemetry.host_bytes_read))
            .set_data_units_written(units(telemetry.host_bytes_written))
            .set_host_reads(telemetry.host_reads.into())
            .set_host_writes(telemetry.host_writes.into())
            .set_busy_minutes(u128::from(busy_ns / MINUTE_NS))
            .set_power_cycles(u128::from(telemetry.unsafe_shutdowns) + 1)
            .set_power_on_hours(u128::from(now_ns / HOUR_NS))
            .set_unsafe_shutdowns(telemetry.unsafe_shutdowns.into())
            .set_media_errors(telemetry.media_errors.into())
            .set_error_entries(self.errors.count().into())
            .set_warning_minutes(minutes(telemetry.warning_time_s))
            .set_critical_minutes(minutes(telemetry.critical_time_s))
            .set_sensors_kelvin(sensors)
            .set_thermal1_transitions(light)
            .set_thermal2_transitions(heavy)
            .set_thermal1_s(seconds(light_s))
            .set_thermal2_s(seconds(heavy_s));
        log
    }

    /// Mean erase cycles of a block, those at power-on included.
    fn mean_cycles(&self, superblocks_erased: u64) -> u64 {
        let profile = self.drive.profile();
        let blocks = u64::from(profile.nand.blocks_per_plane.value);
        let erased = if profile.in_place.is_some() {
            0
        } else {
            superblocks_erased / blocks.max(1)
        };
        u64::from(self.drive.age().cycles) + erased
    }

    fn percentage_used(&self, superblocks_erased: u64) -> u8 {
        let bits = self
            .drive
            .profile()
            .nand
            .read_ns
            .value
            .len()
            .clamp(1, RATED_CYCLES.len());
        let percent = self.mean_cycles(superblocks_erased) * 100 / RATED_CYCLES[bits - 1];
        percent.min(255) as u8
    }

    /// Of the Open Compute Project's fields, those that the model has; the others are zero.
    fn ocp_smart(&mut self, now_ns: u64) -> OcpSmartLog {
        let telemetry = self.drive.telemetry(Nanos(now_ns));
        let cycles =
            u32::try_from(self.mean_cycles(telemetry.superblocks_erased)).unwrap_or(u32::MAX);
        let buffer = &self.drive.profile().buffer;
        let has_capacitor = buffer
            .power_loss_protected
            .as_ref()
            .is_some_and(|is| is.value);
        let mut log = OcpSmartLog::default();
        log.set_media_bytes_written(telemetry.nand_bytes_written.into())
            .set_bad_user_normalized(100)
            .set_bad_system_normalized(100)
            .set_uncorrectable_reads(telemetry.media_errors)
            .set_max_erases(cycles)
            .set_min_erases(cycles)
            .set_throttling(u8::from(telemetry.throttled))
            .set_dssd_major(2)
            .set_incomplete_shutdowns(u32::try_from(telemetry.unsafe_shutdowns).unwrap_or(u32::MAX))
            .set_capacitor_health(if has_capacitor { 100 } else { u16::MAX })
            .set_used_blocks(self.blocks)
            .set_power_state_changes(self.features.power_state_changes)
            .set_version(3)
            .set_guid(OCP_GUID);
        log
    }

    fn firmware_slots(&self) -> FirmwareSlotLog {
        let mut log = FirmwareSlotLog::default();
        let mut revisions = [[0; 8]; 7];
        revisions[0] = padded(&self.drive.identity().firmware);
        log.set_active_slot(1).set_revisions(revisions);
        log
    }

    fn effects(&self) -> CommandEffectsLog {
        let mut plain = CommandEffect::default();
        plain.set_supported(true);
        let mut changes = plain;
        changes.set_content_change(true);
        let mut erases = changes;
        // Nothing else in the subsystem meanwhile.
        erases.set_execution(2);
        let mut formats = erases;
        formats
            .set_namespace_capability_change(true)
            .set_execution(1);
        let mut admin = [CommandEffect::default(); 256];
        for (opcode, effect) in [
            (AdminOpcode::DELETE_SUBMISSION_QUEUE, plain),
            (AdminOpcode::CREATE_SUBMISSION_QUEUE, plain),
            (AdminOpcode::GET_LOG_PAGE, plain),
            (AdminOpcode::DELETE_COMPLETION_QUEUE, plain),
            (AdminOpcode::CREATE_COMPLETION_QUEUE, plain),
            (AdminOpcode::IDENTIFY, plain),
            (AdminOpcode::ABORT, plain),
            (AdminOpcode::SET_FEATURES, plain),
            (AdminOpcode::GET_FEATURES, plain),
            (AdminOpcode::ASYNC_EVENT_REQUEST, plain),
            (AdminOpcode::DEVICE_SELF_TEST, plain),
            (AdminOpcode::FORMAT_NVM, formats),
            (AdminOpcode::SANITIZE, erases),
        ] {
            admin[usize::from(opcode.0)] = effect;
        }
        let mut io = [CommandEffect::default(); 256];
        for (opcode, effect) in [
            (NvmOpcode::FLUSH, plain),
            (NvmOpcode::WRITE, changes),
            (NvmOpcode::READ, plain),
            (NvmOpcode::WRITE_ZEROES, changes),
            (NvmOpcode::DATASET_MANAGEMENT, changes),
            (NvmOpcode::VERIFY, plain),
        ] {
            io[usize::from(opcode.0)] = effect;
        }
        if self.keeps_data {
            io[usize::from(NvmOpcode::COMPARE.0)] = plain;
        }
        let mut log = CommandEffectsLog::default();
        log.set_admin(admin).set_io(io);
        log
    }

    /// Telemetry (Base 5.16.1.8, 5.16.1.9): data area 1 of the host-initiated log is the model's health in words, that of the
    /// controller-initiated log is empty.
    fn telemetry_log(&mut self, now_ns: u64, command: &GetLogPage) -> Vec<u8> {
        const CREATE: u8 = 1;
        let of_host = command.lid() == LogId::TELEMETRY_HOST.0;
        if of_host && command.log_specific() & CREATE != 0 {
            let telemetry = self.drive.telemetry(Nanos(now_ns));
            let mut text = format!("{telemetry:#?}").into_bytes();
            text.resize(text.len().next_multiple_of(BLOCK_BYTES), b'\n');
            self.features.telemetry = text;
            self.features.telemetry_generation = self.features.telemetry_generation.wrapping_add(1);
        }
        let blocks = if of_host {
            self.features.telemetry.len() / BLOCK_BYTES
        } else {
            0
        } as u16;
        let mut header = TelemetryHeader::default();
        header
            .set_lid(command.lid())
            .set_area1_last_block(blocks)
            .set_area2_last_block(blocks)
            .set_area3_last_block(blocks)
            .set_host_generation(self.features.telemetry_generation);
        let mut page = header.as_bytes().to_vec();
        if of_host {
            page.extend(&self.features.telemetry);
        }
        page
    }
}

fn supported_pages() -> SupportedPagesLog {
    let mut log = SupportedPagesLog::default();
    let mut page = SupportedPage::default();
    page.set_supported(true);
    let mut pages = [SupportedPage::default(); 256];
    for lid in PAGES {
        pages[usize::from(lid.0)] = page;
    }
    log.set_pages(pages);
    log
}
