//! JSON of nvme-cli, smartctl and `assay probe` to the structures of the specification. The names
//! of nvme-cli's keys are those of the specification's fields in lower case; 128-bit counters are
//! numbers or text. smartctl's (7.0 to 7.5) have names of their own.

use assay_nvme_spec::identify::{
    IdentifyController, IdentifyNamespace, LbaFormat, PowerStateDescriptor,
};
use assay_nvme_spec::log::{OCP_GUID, OcpSmartLog, SmartLog};
use serde_json::Value;

use super::{Saved, SavedDrive};

/// Kelvin of 0 degrees Celsius, as the specification rounds it.
const ZERO_CELSIUS: u128 = 273;

/// What the report is, is told by a key that only it has.
pub(super) fn add(saved: &mut Saved, report: &Value) -> Result<(), String> {
    if report.get("model_name").is_some() || report.get("smartctl").is_some() {
        smartctl(saved, report);
    } else if report.get("drive").is_some() && report.get("nvme").is_some() {
        own(saved, report)?;
    } else if report.get("mn").is_some() {
        saved.set_controller(controller(report));
    } else if report.get("nsze").is_some() {
        saved.namespaces.push(namespace(report));
    } else if report.get("data_units_written").is_some() {
        let mut log = SmartLog::default();
        stored(&mut log, report, &SMART);
        stored(&mut log, report, &SMART_OF_NVME_CLI);
        log.set_sensors_kelvin(std::array::from_fn(|at| {
            narrow(number(report, &format!("temperature_sensor_{}", at + 1)).unwrap_or(0))
        }));
        saved.smart = Some(log);
    } else if report.get(MEDIA_WRITTEN).is_some() {
        let mut log = OcpSmartLog::default();
        stored(&mut log, report, &OCP);
        stored(&mut log, report, &BAD_BLOCKS);
        log.set_guid(OCP_GUID);
        saved.ocp = Some(log);
    } else {
        return Err("its keys are of no known report".to_owned());
    }
    Ok(())
}

/// The output of `assay probe --json`.
fn own(saved: &mut Saved, report: &Value) -> Result<(), String> {
    let text = |key: &str| {
        let value = report["drive"][key].as_str().unwrap_or_default();
        value.trim().to_owned()
    };
    let nvme = match &report["nvme"] {
        Value::Null => None,
        nvme => Some(serde_json::from_value(nvme.clone()).map_err(|error| error.to_string())?),
    };
    let has_all = nvme.is_some();
    saved.drive = SavedDrive {
        model: text("model"),
        serial: text("serial"),
        firmware: text("firmware"),
        capacity_bytes: report["drive"]["capacity_bytes"].as_u64().unwrap_or(0),
        nvme,
        is_extract: false,
        has_identity: has_all,
        has_health: has_all,
    };
    Ok(())
}

/// A number, a text of one, or the `value` of an object.
fn number(report: &Value, key: &str) -> Option<u128> {
    match report.get(key)? {
        Value::Number(number) => match number.as_u64() {
            Some(value) => Some(u128::from(value)),
            // Above 64 bits nvme-cli writes digits, which the parser keeps as a real number.
            None => number.as_f64().filter(|v| *v >= 0.0).map(|v| v as u128),
        },
        Value::String(text) => {
            let plain: String = text.chars().filter(|c| *c != ',').collect();
            match plain.strip_prefix("0x") {
                Some(hex) => u128::from_str_radix(hex, 16).ok(),
                None => plain.parse().ok(),
            }
        }
        // A 128-bit counter of the Open Compute log, or a value with more beside it.
        value => match number(value, "lo") {
            Some(low) => Some(low | number(value, "hi").unwrap_or(0) << 64),
            None => number(value, "value").or_else(|| number(value, "raw")),
        },
    }
}

/// The largest value where it does not fit.
fn narrow<T: TryFrom<u128> + num::Largest>(value: u128) -> T {
    T::try_from(value).unwrap_or(T::LARGEST)
}

/// Of degrees Celsius.
fn kelvin(celsius: u128) -> u16 {
    narrow(celsius.saturating_add(ZERO_CELSIUS))
}

mod num {
    pub(super) trait Largest {
        const LARGEST: Self;
    }
    impl Largest for u8 {
        const LARGEST: u8 = u8::MAX;
    }
    impl Largest for u16 {
        const LARGEST: u16 = u16::MAX;
    }
    impl Largest for u32 {
        const LARGEST: u32 = u32::MAX;
    }
    impl Largest for u128 {
        const LARGEST: u128 = u128::MAX;
    }
    impl Largest for u64 {
        const LARGEST: u64 = u64::MAX;
    }
}

/// A key, and how its number is stored.
type Field<T> = (&'static str, fn(&mut T, u128));

fn stored<T>(structure: &mut T, report: &Value, fields: &[Field<T>]) {
    for (key, store) in fields {
        if let Some(value) = number(report, key) {
            store(structure, value);
        }
    }
}

macro_rules! fields {
    ($ty:ty: $($key:expr => $set:ident,)+) => {
        [$(($key, |of: &mut $ty, value: u128| { of.$set(narrow(value)); }),)+]
    };
}

const CONTROLLER: [Field<IdentifyController>; 27] = fields! { IdentifyController:
    "vid" => set_vendor_id,
    "ssvid" => set_subsystem_vendor_id,
    "mdts" => set_mdts,
    "cntlid" => set_controller_id,
    "ver" => set_version,
    "ctratt" => set_attributes,
    "oacs" => set_oacs,
    "npss" => set_power_states,
    "apsta" => set_apsta,
    "wctemp" => set_warning_kelvin,
    "cctemp" => set_critical_kelvin,
    "hmpre" => set_preferred_host_pages,
    "hmmin" => set_least_host_pages,
    "edstt" => set_self_test_minutes,
    "tnvmcap" => set_total_capacity_bytes,
    "hctma" => set_hctma,
    "mntmt" => set_min_thermal_kelvin,
    "mxtmt" => set_max_thermal_kelvin,
    "sanicap" => set_sanitize_capabilities,
    "endgidmax" => set_endurance_groups,
    "nn" => set_namespaces,
    "oncs" => set_oncs,
    "fuses" => set_fused_operations,
    "vwc" => set_volatile_write_cache,
    "awun" => set_atomic_write,
    "awupf" => set_atomic_power_fail,
    "acwu" => set_atomic_compare,
};

const NAMESPACE: [Field<IdentifyNamespace>; 17] = fields! { IdentifyNamespace:
    "nsze" => set_size_blocks,
    "ncap" => set_capacity_blocks,
    "nuse" => set_used_blocks,
    "nsfeat" => set_features,
    "nlbaf" => set_lba_format_count,
    "flbas" => set_formatted,
    "dps" => set_protection_settings,
    "dlfeat" => set_deallocate_features,
    "nawun" => set_atomic_write,
    "nawupf" => set_atomic_power_fail,
    "nacwu" => set_atomic_compare,
    "nabspf" => set_atomic_boundary_power_fail,
    "nvmcap" => set_capacity_bytes,
    "npwg" => set_write_granularity,
    "npwa" => set_write_alignment,
    "nows" => set_optimal_write_size,
    "endgid" => set_endurance_group,
};

/// What both programs call by one name.
const SMART: [Field<SmartLog>; 10] = fields! { SmartLog:
    "critical_warning" => set_critical_warning,
    "data_units_read" => set_data_units_read,
    "data_units_written" => set_data_units_written,
    "controller_busy_time" => set_busy_minutes,
    "power_cycles" => set_power_cycles,
    "power_on_hours" => set_power_on_hours,
    "unsafe_shutdowns" => set_unsafe_shutdowns,
    "media_errors" => set_media_errors,
    "num_err_log_entries" => set_error_entries,
    "warning_temp_time" => set_warning_minutes,
};

/// The temperature is in kelvin.
const SMART_OF_NVME_CLI: [Field<SmartLog>; 11] = fields! { SmartLog:
    "temperature" => set_composite_kelvin,
    "avail_spare" => set_available_spare,
    "spare_thresh" => set_spare_threshold,
    "percent_used" => set_percentage_used,
    "host_read_commands" => set_host_reads,
    "host_write_commands" => set_host_writes,
    "critical_comp_time" => set_critical_minutes,
    "thm_temp1_trans_count" => set_thermal1_transitions,
    "thm_temp2_trans_count" => set_thermal2_transitions,
    "thm_temp1_total_time" => set_thermal1_s,
    "thm_temp2_total_time" => set_thermal2_s,
};

/// Its temperature is in degrees Celsius, and read apart.
const SMART_OF_SMARTCTL: [Field<SmartLog>; 6] = fields! { SmartLog:
    "available_spare" => set_available_spare,
    "available_spare_threshold" => set_spare_threshold,
    "percentage_used" => set_percentage_used,
    "host_reads" => set_host_reads,
    "host_writes" => set_host_writes,
    "critical_comp_time" => set_critical_minutes,
};

/// Key of the Open Compute log; its other keys are sentences too.
const MEDIA_WRITTEN: &str = "Physical media units written";

const OCP: [Field<OcpSmartLog>; 6] = fields! { OcpSmartLog:
    MEDIA_WRITTEN => set_media_bytes_written,
    "Physical media units read" => set_media_bytes_read,
    "Max User data erase counts" => set_max_erases,
    "Min User data erase counts" => set_min_erases,
    "Percent free blocks" => set_free_percent,
    "Number of Thermal throttling events" => set_throttling_events,
};

/// Its name differs between versions of nvme-cli.
const BAD_BLOCKS: [Field<OcpSmartLog>; 2] =
    [("Bad user nand blocks - Raw", bad_blocks), ("Bad user nand blocks", bad_blocks)];

fn bad_blocks(log: &mut OcpSmartLog, value: u128) {
    let [low, high] = [value & u128::from(u32::MAX), value >> 32];
    log.set_bad_user_low(narrow(low)).set_bad_user_high(narrow(high));
}

/// ASCII, filled with blanks (Base 5.17.2.1).
fn ascii<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = text.trim().bytes();
    std::array::from_fn(|_| bytes.next().unwrap_or(b' '))
}

fn text<'r>(report: &'r Value, key: &str) -> &'r str {
    report.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn controller(report: &Value) -> IdentifyController {
    let mut found = IdentifyController::default();
    stored(&mut found, report, &CONTROLLER);
    found.set_serial_number(ascii(text(report, "sn")));
    found.set_model_number(ascii(text(report, "mn")));
    found.set_firmware_revision(ascii(text(report, "fr")));
    let [low, mid, high, ..] = narrow::<u32>(number(report, "ieee").unwrap_or(0)).to_le_bytes();
    found.set_ieee_oui([low, mid, high]);
    let states = report.get("psds").and_then(Value::as_array);
    let mut descriptors = found.descriptors();
    for (place, state) in descriptors.iter_mut().zip(states.into_iter().flatten()) {
        *place = power_state(state);
    }
    found.set_descriptors(descriptors);
    found
}

fn power_state(report: &Value) -> PowerStateDescriptor {
    let mut state = PowerStateDescriptor::default();
    let value = |key: &str| number(report, key).unwrap_or(0);
    state.set_max_power(narrow(value("max_power")));
    state.set_max_power_scale(value("max_power_scale") != 0);
    state.set_non_operational(value("non-operational_state") != 0);
    state.set_entry_latency_us(narrow(value("entry_lat")));
    state.set_exit_latency_us(narrow(value("exit_lat")));
    state.set_idle_power(narrow(value("idle_power")));
    state.set_idle_power_scale(narrow(value("idle_scale") & 3));
    state.set_active_power(narrow(value("active_power")));
    state.set_active_power_scale(narrow(value("active_scale") & 3));
    state
}

fn namespace(report: &Value) -> IdentifyNamespace {
    let mut found = IdentifyNamespace::default();
    stored(&mut found, report, &NAMESPACE);
    let bytes = |key: &str| {
        let digits = text(report, key).trim_start_matches("0x");
        u128::from_str_radix(digits, 16).unwrap_or(0).to_be_bytes()
    };
    found.set_nguid(bytes("nguid"));
    let eui64 = bytes("eui64");
    found.set_eui64(std::array::from_fn(|at| eui64[8 + at]));
    let formats = report.get("lbafs").and_then(Value::as_array);
    let mut places = found.lba_formats();
    for (place, format) in places.iter_mut().zip(formats.into_iter().flatten()) {
        let value = |key: &str| number(format, key).unwrap_or(0);
        let mut found = LbaFormat::default();
        found.set_metadata_bytes(narrow(value("ms")));
        found.set_data_size(narrow(value("ds")));
        found.set_relative_performance(narrow(value("rp") & 3));
        *place = found;
    }
    found.set_lba_formats(places);
    found
}

/// Of any drive; the rest only of NVMe.
fn smartctl(saved: &mut Saved, report: &Value) {
    let at = |pointer: &str| report.pointer(pointer);
    let capacity = at("/user_capacity/bytes").or_else(|| at("/nvme_total_capacity"));
    saved.drive = SavedDrive {
        model: text(report, "model_name").trim().to_owned(),
        serial: text(report, "serial_number").trim().to_owned(),
        firmware: text(report, "firmware_version").trim().to_owned(),
        capacity_bytes: capacity.and_then(Value::as_u64).unwrap_or(0),
        ..SavedDrive::default()
    };
    let Some(health) = at("/nvme_smart_health_information_log") else {
        return;
    };
    let mut log = SmartLog::default();
    stored(&mut log, health, &SMART);
    stored(&mut log, health, &SMART_OF_SMARTCTL);
    if let Some(celsius) = number(health, "temperature") {
        log.set_composite_kelvin(kelvin(celsius));
    }
    let sensors = health.get("temperature_sensors").and_then(Value::as_array);
    let sensors: Vec<u64> = sensors.into_iter().flatten().filter_map(Value::as_u64).collect();
    log.set_sensors_kelvin(std::array::from_fn(|at| {
        let celsius = sensors.get(at).map(|celsius| u128::from(*celsius));
        celsius.map_or(0, kelvin)
    }));
    saved.smart = Some(log);
    // All of Identify Controller, of another file, says more.
    if saved.controller.is_none() {
        saved.controller = Some(controller_of_smartctl(report, &saved.drive));
        saved.drive.is_extract = true;
    }
    for namespace in at("/nvme_namespaces").and_then(Value::as_array).into_iter().flatten() {
        saved.namespaces.push(namespace_of_smartctl(namespace));
    }
}

fn controller_of_smartctl(report: &Value, drive: &SavedDrive) -> IdentifyController {
    let value = |pointer: &str| {
        let number = report.pointer(pointer).and_then(Value::as_u64);
        u128::from(number.unwrap_or(0))
    };
    let mut found = IdentifyController::default();
    found.set_serial_number(ascii(&drive.serial));
    found.set_model_number(ascii(&drive.model));
    found.set_firmware_revision(ascii(&drive.firmware));
    found.set_vendor_id(narrow(value("/nvme_pci_vendor/id")));
    found.set_subsystem_vendor_id(narrow(value("/nvme_pci_vendor/subsystem_id")));
    found.set_controller_id(narrow(value("/nvme_controller_id")));
    found.set_version(narrow(value("/nvme_version/value")));
    found.set_namespaces(narrow(value("/nvme_number_of_namespaces")));
    found.set_total_capacity_bytes(value("/nvme_total_capacity"));
    let threshold = |pointer: &str| match value(pointer) {
        0 => 0,
        celsius => kelvin(celsius),
    };
    found.set_warning_kelvin(threshold("/nvme_composite_temperature_threshold/warning"));
    found.set_critical_kelvin(threshold("/nvme_composite_temperature_threshold/critical"));
    let [low, mid, high, ..] = narrow::<u32>(value("/nvme_ieee_oui_identifier")).to_le_bytes();
    found.set_ieee_oui([low, mid, high]);
    found
}

fn namespace_of_smartctl(report: &Value) -> IdentifyNamespace {
    let value = |pointer: &str| {
        let number = report.pointer(pointer).and_then(Value::as_u64);
        number.unwrap_or(0)
    };
    let mut found = IdentifyNamespace::default();
    found.set_size_blocks(value("/size/blocks"));
    found.set_capacity_blocks(value("/capacity/blocks"));
    found.set_used_blocks(value("/utilization/blocks"));
    let mut formats = found.lba_formats();
    let block_bytes = value("/formatted_lba_size");
    if block_bytes.is_power_of_two() {
        formats[0].set_data_size(narrow(u128::from(block_bytes.ilog2())));
    }
    found.set_lba_formats(formats);
    found
}
