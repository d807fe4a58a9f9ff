//! Decoding of a controller's replies, on a controller with known replies.

use std::collections::BTreeMap;

use assay_nvme_spec::admin::{
    FormatNvm, GetFeatures, GetLogPage, IdentifyCommand, Sanitize, SetFeatures,
};
use assay_nvme_spec::fdp::EnduranceGroupLog;
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::identify::{
    Cns, IdentifyController, IdentifyNamespace, LbaFormat, PowerStateDescriptor, oacs, oncs,
};
use assay_nvme_spec::log::{
    CriticalWarning, LogId, OcpSmartLog, SanitizeLog, SanitizeState, SmartLog,
};
use assay_nvme_spec::opcode::AdminOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};

use super::commands::Commands;
use super::display::facts;
use super::endurance::EnduranceLogs;
use super::health::{self, Health};
use super::probe::{ControllerContext, probe};
use super::{AdminPort, CommandError};
use crate::identity::{DriveInfo, DriveKind};
use assay_io::Telemetry;

#[path = "nvme/endurance.rs"]
mod endurance;
#[path = "nvme/erase.rs"]
mod erase;
#[path = "nvme/power.rs"]
mod power;

/// A controller with tabulated replies.
#[derive(Default)]
struct TableController {
    controller: IdentifyController,
    namespaces: BTreeMap<u32, IdentifyNamespace>,
    /// Namespaces that exist and are attached to no controller here.
    elsewhere: Vec<u32>,
    /// It rejects the list of those.
    no_allocated_list: bool,
    smart: SmartLog,
    /// Page C0h, with or without its GUID; none: rejected.
    ocp: Option<OcpSmartLog>,
    /// Page 09h of an endurance group.
    group: Option<(u16, EnduranceGroupLog)>,
    /// Page CAh.
    vendor: Option<[u8; 512]>,
    /// Log pages that were requested.
    logs: Vec<u8>,
    features: BTreeMap<u8, u32>,
    /// Every value that a feature was set to, in order.
    set: Vec<u32>,
    /// Features that accept a value and keep the old one.
    stubborn: bool,
    /// Features cannot be set.
    unchangeable: bool,
    /// Progress in successive sanitize logs, and the final status.
    sanitize: Vec<u16>,
    sanitize_ends: SanitizeState,
    /// Status of a rejected secure erase.
    no_secure_erase: Option<StatusCode>,
    /// Namespace, format, secure erase.
    formatted: Vec<(u32, u8, u8)>,
    /// Of the last format: extended metadata, protection, protection location.
    kept: (bool, u8, bool),
    sanitized: Vec<u8>,
}

impl AdminPort for TableController {
    fn name(&self) -> &str {
        "/dev/nvme9"
    }

    fn admin(
        &mut self,
        command: &SubmissionEntry,
        data: &mut [u8],
        _timeout_ms: u32,
    ) -> Result<u32, CommandError> {
        let refuse = |status: StatusCode| {
            Err(CommandError::Status {
                controller: "/dev/nvme9".to_owned(),
                command: "command".to_owned(),
                status,
            })
        };
        let list = |data: &mut [u8], ids: &[u32]| {
            for (place, id) in data.chunks_exact_mut(4).zip(ids) {
                place.copy_from_slice(&id.to_le_bytes());
            }
        };
        match AdminOpcode(command.opcode()) {
            AdminOpcode::IDENTIFY => {
                let asked = IdentifyCommand::from(*command);
                let active: Vec<u32> = self.namespaces.keys().copied().collect();
                match Cns(asked.cns()) {
                    Cns::CONTROLLER => data.copy_from_slice(self.controller.as_bytes()),
                    Cns::NAMESPACE => match self.namespaces.get(&asked.nsid()) {
                        Some(namespace) => data.copy_from_slice(namespace.as_bytes()),
                        None => return refuse(StatusCode::INVALID_NAMESPACE),
                    },
                    Cns::ACTIVE_NAMESPACES => list(data, &active),
                    Cns::ALLOCATED_NAMESPACES if self.no_allocated_list => {
                        return refuse(StatusCode::INVALID_FIELD);
                    }
                    Cns::ALLOCATED_NAMESPACES => {
                        let all: Vec<u32> = active.iter().chain(&self.elsewhere).copied().collect();
                        list(data, &all);
                    }
                    _ => return refuse(StatusCode::INVALID_FIELD),
                }
            }
            AdminOpcode::GET_LOG_PAGE => match self.log_id(command) {
                LogId::ENDURANCE_GROUP
                    if self.group.is_some_and(|(id, _)| {
                        id == GetLogPage::from(*command).endurance_group()
                    }) =>
                {
                    data.copy_from_slice(self.group.unwrap().1.as_bytes());
                }
                LogId::VENDOR_CA if self.vendor.is_some() => {
                    data.copy_from_slice(&self.vendor.unwrap());
                }
                LogId::SMART => data.copy_from_slice(self.smart.as_bytes()),
                LogId::OCP_SMART if self.ocp.is_some() => {
                    data.copy_from_slice(self.ocp.unwrap().as_bytes());
                }
                LogId::SANITIZE => {
                    let mut log = SanitizeLog::default();
                    if self.sanitize.is_empty() {
                        log.set_state(self.sanitize_ends.0);
                    } else {
                        log.set_state(SanitizeState::IN_PROGRESS.0);
                        log.set_progress(self.sanitize.remove(0));
                    }
                    data.copy_from_slice(log.as_bytes());
                }
                _ => return refuse(StatusCode::INVALID_FIELD),
            },
            AdminOpcode::GET_FEATURES => {
                let fid = GetFeatures::from(*command).fid();
                return match self.features.get(&fid) {
                    Some(value) => Ok(*value),
                    None => refuse(StatusCode::INVALID_FIELD),
                };
            }
            AdminOpcode::SET_FEATURES if self.unchangeable => {
                return refuse(StatusCode::FEATURE_NOT_CHANGEABLE);
            }
            AdminOpcode::SET_FEATURES => {
                let asked = SetFeatures::from(*command);
                self.set.push(asked.value());
                if !self.stubborn {
                    self.features.insert(asked.fid(), asked.value());
                }
            }
            AdminOpcode::FORMAT_NVM => {
                let asked = FormatNvm::from(*command);
                if let Some(status) = self.no_secure_erase.filter(|_| asked.secure_erase() != 0) {
                    return refuse(status);
                }
                self.kept =
                    (asked.extended_metadata(), asked.protection(), asked.protection_first());
                let what = (asked.nsid(), asked.lba_format(), asked.secure_erase());
                self.formatted.push(what);
            }
            AdminOpcode::SANITIZE => self.sanitized.push(Sanitize::from(*command).action()),
            _ => return refuse(StatusCode::INVALID_OPCODE),
        }
        Ok(0)
    }
}

impl TableController {
    fn log_id(&mut self, command: &SubmissionEntry) -> LogId {
        let lid = GetLogPage::from(*command).lid();
        self.logs.push(lid);
        LogId(lid)
    }

    /// Its health with the endurance logs that it has.
    fn health(&mut self) -> Health {
        let logs = EnduranceLogs::find(&mut Commands::to(self), None).unwrap();
        health::read(self, &logs).unwrap()
    }
}

fn namespace(blocks: u64) -> IdentifyNamespace {
    let mut found = IdentifyNamespace::default();
    let mut formats = found.lba_formats();
    formats[0] = *LbaFormat::default().set_data_size(9);
    formats[1] = *LbaFormat::default().set_data_size(12);
    *found
        .set_size_blocks(blocks)
        .set_capacity_blocks(blocks)
        .set_used_blocks(blocks / 2)
        .set_lba_format_count(1)
        .set_formatted(1)
        .set_lba_formats(formats)
}

fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [b' '; N];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

fn table_controller() -> TableController {
    let mut controller = IdentifyController::default();
    let mut states = controller.descriptors();
    states[0].set_max_power_mw(8_500);
    states[1] = PowerStateDescriptor::default();
    states[1]
        .set_max_power_mw(5)
        .set_non_operational(true)
        .set_entry_latency_us(2_000)
        .set_exit_latency_us(8_000);
    controller
        .set_serial_number(padded("S1"))
        .set_model_number(padded("TableController"))
        .set_firmware_revision(padded("1.0"))
        .set_version(0x0001_0400)
        .set_mdts(5)
        .set_ieee_oui([0x38, 0x25, 0x00])
        .set_oacs(oacs::FORMAT)
        .set_oncs(oncs::COMPARE | oncs::WRITE_ZEROES)
        .set_power_states(1)
        .set_warning_kelvin(343)
        .set_volatile_write_cache(1)
        .set_descriptors(states);
    let mut smart = SmartLog::default();
    smart
        .set_critical_warning(CriticalWarning::SPARE.0 | CriticalWarning::READ_ONLY.0)
        .set_composite_kelvin(313)
        .set_data_units_written(10)
        .set_warning_minutes(3)
        .set_percentage_used(101);
    TableController {
        controller,
        smart,
        namespaces: BTreeMap::from([(1, namespace(1 << 20))]),
        features: BTreeMap::from([
            (FeatureId::POWER_MANAGEMENT.0, 0),
            (FeatureId::NUMBER_OF_QUEUES.0, 7 | 7 << 16),
            (FeatureId::VOLATILE_WRITE_CACHE.0, 0),
        ]),
        sanitize_ends: SanitizeState::COMPLETED,
        ..TableController::default()
    }
}

#[test]
fn a_probe_reports_supported_fields_and_omits_rejected_ones() {
    let mut port = table_controller();
    let found = probe(&mut port, ControllerContext::default()).unwrap();
    assert_eq!((found.version.as_str(), found.model.as_str()), ("1.4", "TableController"));
    assert_eq!(found.ieee_oui, "00-25-38");
    assert_eq!(found.max_transfer_bytes, Some(128 << 10));
    assert_eq!(found.queues_granted, Some((8, 8)));
    assert_eq!(found.coalescing, None, "it refuses that feature");
    assert_eq!(found.write_cache_on, Some(false));
    assert_eq!(found.thermal.warning_c, Some(70));
    assert_eq!(found.thermal.critical_c, None);
    let [first, second] = &found.power_states[..] else { panic!("{:?}", found.power_states) };
    assert!(first.current && first.operational && first.max_mw == 8500.0);
    assert!(!second.operational && second.exit_us == Some(8000));
    let only = &found.namespaces[0];
    assert_eq!(only.size_bytes, 4 << 30);
    assert_eq!(only.formats.len(), 2);
    assert!(only.formats[1].in_use && only.formats[1].block_bytes == 4096);
    assert_eq!(found.io_commands, ["compare", "write zeroes"]);
    let mut words = Vec::new();
    facts(&found, &mut |group, name, value| words.push((group, name, value)));
    let value = |name: &str| {
        let fact = words.iter().find(|(_, known, _)| known == name);
        fact.map(|(_, _, value)| value.as_str())
    };
    assert_eq!(words[0].0, "controller");
    assert_eq!(value("largest command"), Some("128 KiB"));
    assert_eq!(
        value("state 0 (now)"),
        Some("at most 8.50 W, operational, enter not reported, leave not reported")
    );
    assert_eq!(
        value("critical warnings"),
        Some("available spare below threshold, media read-only")
    );
}

#[test]
fn health_is_converted_to_si_units_and_telemetry() {
    let health = health::read(&mut table_controller(), &EnduranceLogs::default()).unwrap();
    assert_eq!((health.composite_c, health.written_bytes), (40, 5_120_000));
    let telemetry = health.telemetry();
    assert_eq!(telemetry.temperature_c, Some(40.0));
    assert_eq!(telemetry.warning_time_s, Some(180));
    assert_eq!(telemetry.percentage_used, Some(101));
    let mut worn = SmartLog::default();
    worn.set_data_units_written(u128::MAX).set_data_units_read(u128::MAX);
    let worn = Health::from(&worn);
    assert_eq!((worn.read_bytes, worn.written_bytes), (u64::MAX, u64::MAX));
}

/// Each field has a distinct number.
#[test]
fn health_log_fields_have_their_units() {
    let mut port = table_controller();
    port.smart
        .set_composite_kelvin(273 + 81)
        .set_sensors_kelvin([273 + 71, 273 + 72, 0, 273 + 74, 0, 0, 0, 273 - 8])
        .set_available_spare(97)
        .set_spare_threshold(11)
        .set_percentage_used(12)
        .set_data_units_read(21)
        .set_data_units_written(22)
        .set_host_reads(23)
        .set_host_writes(24)
        .set_busy_minutes(25)
        .set_power_cycles(26)
        .set_power_on_hours(27)
        .set_unsafe_shutdowns(28)
        .set_media_errors(29)
        .set_error_entries(30)
        .set_warning_minutes(31)
        .set_critical_minutes(32)
        .set_thermal1_transitions(33)
        .set_thermal2_transitions(34)
        .set_thermal1_s(35)
        .set_thermal2_s(36);
    let health = port.health();
    let expected = Health {
        critical_warnings: health.critical_warnings.clone(),
        composite_c: 81,
        sensors_c: vec![(1, 71), (2, 72), (4, 74), (8, -8)],
        available_spare_pct: 97,
        spare_threshold_pct: 11,
        percentage_used: 12,
        read_bytes: 21 * 512_000,
        written_bytes: 22 * 512_000,
        read_commands: 23,
        write_commands: 24,
        busy_minutes: 25,
        power_cycles: 26,
        power_on_hours: 27,
        unsafe_shutdowns: 28,
        media_errors: 29,
        error_log_entries: 30,
        warning_minutes: 31,
        critical_minutes: 32,
        thermal_transitions: (33, 34),
        thermal_s: (35, 36),
        endurance: None,
        rated: None,
    };
    assert_eq!(health, expected);
    let expected = Telemetry {
        temperature_c: Some(81.0),
        sensors_c: vec![71.0, 72.0, 74.0, -8.0],
        throttled: None,
        warning_time_s: Some(31 * 60),
        critical_time_s: Some(32 * 60),
        thermal_transitions: Some(33 + 34),
        media_errors: Some(29),
        error_log_entries: Some(30),
        percentage_used: Some(12),
        available_spare_pct: Some(97),
        critical_warnings: vec![
            "available spare below threshold".to_owned(),
            "media read-only".to_owned(),
        ],
        power_mw: None,
        power_state: None,
        host_bytes_read: Some(21 * 512_000),
        host_bytes_written: Some(22 * 512_000),
        nand_bytes_written: None,
        power_on_hours: Some(27),
        erases_least: None,
        erases_most: None,
        erases_mean: None,
        bad_blocks: None,
        cache_reads: None,
        cache_read_hits: None,
        cache_dirty_bytes: None,
    };
    assert_eq!(health.telemetry(), expected);
}

#[test]
fn interrupt_coalescing_is_reported_in_microseconds_and_completions() {
    let mut port = table_controller();
    // 3 x 100 us, 5 completions and one (the number counts from 0).
    port.features.insert(FeatureId::INTERRUPT_COALESCING.0, 3 << 8 | 5);
    let found = probe(&mut port, ControllerContext::default()).unwrap();
    let coalescing = serde_json::to_value(found.coalescing).unwrap();
    assert_eq!(coalescing, serde_json::json!({"time_us": 300, "completions": 6}));
    let mut words = Vec::new();
    facts(&found, &mut |_, name, value| words.push((name, value)));
    let coalescing = words.iter().find(|(name, _)| name == "interrupt coalescing");
    let (_, coalescing) = coalescing.unwrap();
    assert!(coalescing.contains("300") && coalescing.contains('6'), "{coalescing}");
}

#[test]
fn another_drives_controller_is_detected_by_its_serial() {
    let mut info = DriveInfo::new(DriveKind::Block, "/dev/nvme9n1", "nvme9n1", 1 << 30);
    for (of_drive, of_controller, is_it) in [
        ("S1", "S1", true),
        // Padded as by drives, also in front.
        ("S1", "   S1", true),
        ("S1", "S1\0\0junk", true),
        ("S1", "S12", false),
        ("S1", "", false),
        // A drive without a serial is identified by its name.
        ("nvme9n1", "", true),
        ("nvme9n1", "S1", false),
    ] {
        let mut port = table_controller();
        port.controller.set_serial_number(padded(of_controller));
        info.serial = of_drive.to_owned();
        let answer = Commands::to(&mut port).expect_drive(&info);
        assert_eq!(answer.is_ok(), is_it, "{of_drive} {of_controller:?}");
        let Err(error) = answer else { continue };
        assert!(!error.refused(), "must be distinguishable from a missing feature");
        for said in ["/dev/nvme9", "/dev/nvme9n1", of_drive, "assay list"] {
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
