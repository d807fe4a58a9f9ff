//! Get Log Page (Base 5.16).

use assay_nvme_spec::admin::GetLogPage;
use assay_nvme_spec::fdp::HOST_EVENTS;
use assay_nvme_spec::log::{
    CommandEffect, CommandEffectsLog, CriticalWarning, FirmwareSlotLog, LogId, OCP_GUID,
    OcpSmartLog, SmartLog, SupportedPage, SupportedPagesLog, TelemetryHeader,
};
use assay_nvme_spec::wire::{Wire, padded};
use assay_nvme_spec::{NSID_ALL, StatusCode};
use assay_ssd::SPARE_THRESHOLD_PERCENT;
use assay_units::Nanos;

use super::background::HOUR_NS;
use super::fdp::ENDURANCE_GROUP;
use super::feature::kelvin;
use super::{AdminCommand, AdminOutcome, AdminResult, CommandEffects};
use crate::controller::{Controller, NAMESPACE};

/// 1000 times 512 bytes.
const DATA_UNIT_BYTES: u64 = 512_000;
const MINUTE_NS: u64 = 60_000_000_000;
const BLOCK_BYTES: usize = 512;

type LogPage = fn(&mut Controller, u64, &GetLogPage) -> Vec<u8>;

/// Contents at a time in nanoseconds.
const LOG_PAGES: [(LogId, LogPage); 16] = [
    (LogId::SUPPORTED_PAGES, |controller, _, _| bytes(controller.supported_pages())),
    (LogId::ERROR, |controller, _, _| controller.errors.page()),
    (LogId::SMART, |controller, now_ns, _| bytes(controller.smart(now_ns))),
    (LogId::FIRMWARE_SLOT, |controller, _, _| bytes(controller.firmware_slots())),
    (LogId::CHANGED_NAMESPACES, |controller, _, get| {
        controller.events.changed_namespaces(!get.retain_event())
    }),
    (LogId::COMMAND_EFFECTS, |controller, _, _| bytes(controller.effects())),
    (LogId::SELF_TEST, |controller, now_ns, _| bytes(controller.self_test_log(now_ns))),
    (LogId::TELEMETRY_HOST, Controller::telemetry_log),
    (LogId::TELEMETRY_CONTROLLER, Controller::telemetry_log),
    (LogId::ENDURANCE_GROUP, |controller, now_ns, _| bytes(controller.endurance_group_log(now_ns))),
    (LogId::FDP_CONFIGURATIONS, |controller, _, _| controller.placement_configurations()),
    (LogId::HANDLE_USAGE, |controller, _, _| controller.handle_usage()),
    (LogId::FDP_STATISTICS, |controller, now_ns, _| bytes(controller.placement_statistics(now_ns))),
    (LogId::FDP_EVENTS, |controller, _, get| {
        controller.fdp_events.page(get.log_specific() & HOST_EVENTS != 0)
    }),
    (LogId::SANITIZE, |controller, now_ns, _| bytes(controller.sanitize_log(now_ns))),
    (LogId::OCP_SMART, |controller, now_ns, _| bytes(controller.ocp_smart(now_ns))),
];

fn bytes<T: Wire>(page: T) -> Vec<u8> {
    let mut bytes = vec![0; T::BYTES];
    page.store(&mut bytes);
    bytes
}

/// A 32-bit counter stops at its maximum.
fn counter(value: u64) -> u32 {
    value.min(u64::from(u32::MAX)) as u32
}

impl Controller {
    pub(super) fn get_log_page(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let get: GetLogPage = command.view();
        let lid = LogId(get.lid());
        let len = get.dwords() * 4;
        let is_valid_offset = get.offset().is_multiple_of(4) && !get.offset_counts_entries();
        StatusCode::INVALID_FIELD.fail_if(len > self.max_transfer_bytes || !is_valid_offset)?;
        let is_known = matches!(get.nsid(), 0 | NAMESPACE | NSID_ALL);
        StatusCode::INVALID_NAMESPACE.fail_if(lid == LogId::SMART && !is_known)?;
        let supported =
            LOG_PAGES.into_iter().find(|&(supported, _)| supported == lid && self.has_page(lid));
        let (_, contents) = supported.ok_or(StatusCode::INVALID_LOG_PAGE)?;
        let is_elsewhere = Controller::is_of_group(lid) && get.endurance_group() != ENDURANCE_GROUP;
        StatusCode::INVALID_FIELD.fail_if(is_elsewhere)?;
        let page = contents(self, command.now_ns, &get);
        let offset = usize::try_from(get.offset()).ok();
        let part = offset.and_then(|offset| page.get(offset..));
        let part = part.ok_or(StatusCode::INVALID_FIELD)?;
        command.reply(part, len as usize, self.page_bytes)?;
        if !get.retain_event() {
            self.events.log_was_read(lid);
        }
        Ok(AdminOutcome::Done(0))
    }

    fn smart(&mut self, now_ns: u64) -> SmartLog {
        let telemetry = self.drive.telemetry(Nanos(now_ns));
        let mut log = SmartLog::default();
        let mut warnings = 0;
        if self.features.thresholds.is_crossed(&telemetry) {
            warnings |= CriticalWarning::TEMPERATURE.0;
        }
        if telemetry.spare_percent < SPARE_THRESHOLD_PERCENT {
            warnings |= CriticalWarning::SPARE.0;
        }
        if telemetry.read_only {
            warnings |= CriticalWarning::READ_ONLY.0;
        }
        let units = |bytes: u64| u128::from(bytes.div_ceil(DATA_UNIT_BYTES));
        let mut sensors = [0; 8];
        for (sensor, &celsius) in sensors.iter_mut().zip(&telemetry.sensors) {
            *sensor = kelvin(celsius);
        }
        let [(light, light_s), (heavy, heavy_s)] = self.drive.host_throttling_counts();
        log.set_critical_warning(warnings)
            .set_composite_kelvin(kelvin(telemetry.composite_celsius))
            .set_available_spare(telemetry.spare_percent)
            .set_spare_threshold(SPARE_THRESHOLD_PERCENT)
            .set_percentage_used(telemetry.used_percent.min(255) as u8)
            .set_data_units_read(units(telemetry.host_bytes_read))
            .set_data_units_written(units(telemetry.host_bytes_written))
            .set_host_reads(telemetry.host_reads.into())
            .set_host_writes(telemetry.host_writes.into())
            .set_busy_minutes(u128::from(self.busy_ns_until(now_ns) / MINUTE_NS))
            .set_power_cycles(u128::from(telemetry.unsafe_shutdowns) + 1)
            .set_power_on_hours(u128::from(now_ns / HOUR_NS))
            .set_unsafe_shutdowns(telemetry.unsafe_shutdowns.into())
            .set_media_errors(telemetry.media_errors.into())
            .set_error_entries(self.errors.count.into())
            .set_warning_minutes(counter(telemetry.warning_time_s / 60))
            .set_critical_minutes(counter(telemetry.critical_time_s / 60))
            .set_sensors_kelvin(sensors)
            .set_thermal1_transitions(light)
            .set_thermal2_transitions(heavy)
            .set_thermal1_s(counter(light_s))
            .set_thermal2_s(counter(heavy_s));
        log
    }

    /// Drives with reclaim unit handles have the pages of endurance groups; data-centre drives,
    /// which have power-loss protection (Datacenter NVMe SSD Specification 2.0, section 4.3), that
    /// of OCP.
    fn has_page(&self, lid: LogId) -> bool {
        match lid {
            LogId::OCP_SMART => self.is_protected(),
            _ => !Controller::is_of_group(lid) || self.has_placement(),
        }
    }

    fn is_protected(&self) -> bool {
        let protected = self.drive.profile().buffer.power_loss_protected.as_ref();
        protected.is_some_and(|protected| protected.value)
    }

    fn supported_pages(&self) -> SupportedPagesLog {
        let mut log = SupportedPagesLog::default();
        let mut pages = [SupportedPage::default(); 256];
        for (lid, _) in LOG_PAGES.into_iter().filter(|&(lid, _)| self.has_page(lid)) {
            pages[usize::from(lid.0)].set_supported(true);
        }
        log.set_pages(pages);
        log
    }

    /// Fields that the model does not have are 0.
    fn ocp_smart(&mut self, now_ns: u64) -> OcpSmartLog {
        let telemetry = self.drive.telemetry(Nanos(now_ns));
        let mut log = OcpSmartLog::default();
        log.set_media_bytes_written(telemetry.nand_bytes_written.into())
            .set_media_bytes_read(telemetry.nand_bytes_read.into())
            .set_bad_user_low(telemetry.bad_blocks as u32)
            .set_bad_user_high((telemetry.bad_blocks >> 32) as u16)
            .set_bad_user_normalized(u16::from(telemetry.spare_percent))
            .set_bad_system_normalized(100)
            .set_uncorrectable_reads(telemetry.media_errors)
            .set_max_erases(counter(telemetry.most_cycles))
            .set_min_erases(counter(telemetry.least_cycles))
            .set_throttling_events(telemetry.throttling_events.min(255) as u8)
            .set_throttling(u8::from(telemetry.throttled))
            .set_dssd_major(2)
            .set_incomplete_shutdowns(counter(telemetry.unsafe_shutdowns))
            .set_free_percent(telemetry.free_percent)
            .set_capacitor_health(if self.is_protected() { 100 } else { u16::MAX })
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
        let effect = |effects: CommandEffects| {
            let mut effect = CommandEffect::default();
            effect
                .set_supported(true)
                .set_content_change(effects != CommandEffects::NoChange)
                .set_namespace_capability_change(effects == CommandEffects::FormatNamespace)
                .set_execution(match effects {
                    CommandEffects::NoChange | CommandEffects::Content => 0,
                    CommandEffects::FormatNamespace => 1,
                    CommandEffects::EraseSubsystem => 2,
                });
            effect
        };
        let mut admin = [CommandEffect::default(); 256];
        for (opcode, effects, _) in self.admin_commands() {
            admin[usize::from(opcode.0)] = effect(effects);
        }
        let mut io = [CommandEffect::default(); 256];
        for (opcode, effects, _) in self.io_commands() {
            io[usize::from(opcode.0)] = effect(effects);
        }
        let mut log = CommandEffectsLog::default();
        log.set_admin(admin).set_io(io);
        log
    }

    /// Base 5.16.1.8, 5.16.1.9: data area 1 of the host-initiated log is the model's telemetry as
    /// text; the controller-initiated log is empty.
    fn telemetry_log(&mut self, now_ns: u64, command: &GetLogPage) -> Vec<u8> {
        const CREATE: u8 = 1;
        let is_host_initiated = command.lid() == LogId::TELEMETRY_HOST.0;
        if is_host_initiated && command.log_specific() & CREATE != 0 {
            let telemetry = self.drive.telemetry(Nanos(now_ns));
            let mut text = format!("{telemetry:#?}").into_bytes();
            text.resize(text.len().next_multiple_of(BLOCK_BYTES), b'\n');
            self.features.telemetry = text;
            self.features.telemetry_generation = self.features.telemetry_generation.wrapping_add(1);
        }
        let text: &[u8] = if is_host_initiated { &self.features.telemetry } else { &[] };
        let blocks = (text.len() / BLOCK_BYTES) as u16;
        let mut header = TelemetryHeader::default();
        header
            .set_lid(command.lid())
            .set_area1_last_block(blocks)
            .set_area2_last_block(blocks)
            .set_area3_last_block(blocks)
            .set_host_generation(self.features.telemetry_generation);
        [header.as_bytes(), text].concat()
    }
}
