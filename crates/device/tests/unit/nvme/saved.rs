use assay_nvme_spec::log::OCP_GUID;
use serde_json::json;

use super::*;

fn text<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = text.bytes();
    std::array::from_fn(|_| bytes.next().unwrap_or(b' '))
}

fn controller(serial: &str) -> IdentifyController {
    let mut of = IdentifyController::default();
    of.set_vendor_id(0x144d)
        .set_serial_number(text(serial))
        .set_model_number(text("MODEL 1TB"))
        .set_firmware_revision(text("FW1"))
        .set_ieee_oui([0x38, 0x25, 0x00])
        .set_mdts(5)
        .set_version(0x0001_0300)
        .set_warning_kelvin(355)
        .set_critical_kelvin(358)
        .set_total_capacity_bytes(1_000_204_886_016)
        .set_power_states(1)
        .set_oncs(0x5f);
    let mut states = of.descriptors();
    states[0]
        .set_max_power(800)
        .set_entry_latency_us(7)
        .set_active_power(780)
        .set_active_power_scale(2);
    states[1].set_max_power(500).set_max_power_scale(true).set_non_operational(true);
    of.set_descriptors(states);
    of
}

fn namespace() -> IdentifyNamespace {
    let mut of = IdentifyNamespace::default();
    of.set_size_blocks(1_953_525_168).set_capacity_blocks(1_953_525_168).set_used_blocks(1000);
    of.set_eui64([0, 0x25, 0x38, 1, 2, 3, 4, 5]);
    let mut formats = of.lba_formats();
    formats[0].set_data_size(9).set_relative_performance(2);
    of.set_lba_formats(formats);
    of
}

fn smart() -> SmartLog {
    let mut of = SmartLog::default();
    of.set_critical_warning(4)
        .set_composite_kelvin(301)
        .set_available_spare(99)
        .set_spare_threshold(10)
        .set_percentage_used(7)
        .set_data_units_read(499_296_134)
        .set_data_units_written(1 << 70)
        .set_host_reads(9_347_931_143)
        .set_power_on_hours(38_313)
        .set_media_errors(2)
        .set_warning_minutes(5);
    of.set_sensors_kelvin([306, 301, 0, 0, 0, 0, 0, 0]);
    of
}

/// The same in nvme-cli's JSON; numbers above 64 bits are its digits.
fn files_of_nvme_cli() -> [String; 3] {
    let id_ctrl = json!({
        "vid": 0x144d, "ssvid": 0, "sn": "S1                  ", "mn": "MODEL 1TB", "fr": "FW1",
        "ieee": 0x2538, "mdts": 5, "ver": 0x10300, "wctemp": 355, "cctemp": 358,
        "tnvmcap": 1_000_204_886_016_u64, "npss": 1, "oncs": 0x5f,
        "psds": [
            {"max_power": 800, "max_power_scale": 0, "non-operational_state": 0, "entry_lat": 7,
             "exit_lat": 0, "idle_power": 0, "idle_scale": 0, "active_power": 780,
             "active_scale": 2},
            {"max_power": 500, "max_power_scale": 1, "non-operational_state": 1, "entry_lat": 0},
        ],
    });
    let id_ns = json!({
        "nsze": 1_953_525_168, "ncap": 1_953_525_168, "nuse": 1000, "nlbaf": 0, "flbas": 0,
        "eui64": "0025380102030405", "nguid": "00000000000000000000000000000000",
        "lbafs": [{"ms": 0, "ds": 9, "rp": 2}],
    });
    let smart_log = r#"{"critical_warning": 4, "temperature": 301, "avail_spare": 99,
        "spare_thresh": 10, "percent_used": 7, "data_units_read": "499,296,134",
        "data_units_written": 1180591620717411303424, "host_read_commands": 9347931143,
        "power_on_hours": 38313, "media_errors": 2, "warning_temp_time": 5,
        "temperature_sensor_1": 306, "temperature_sensor_2": 301}"#;
    [id_ctrl.to_string(), id_ns.to_string(), smart_log.to_owned()]
}

fn read_files(files: &[(&str, &[u8])]) -> Result<SavedDrive, SavedError> {
    let folder = tempfile::tempdir().unwrap();
    let paths = files.iter().map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    });
    let paths: Vec<_> = paths.collect();
    read(&paths)
}

#[test]
fn binary_dumps_and_json_say_the_same() {
    let (id, ns, log) = (controller("S1"), namespace(), smart());
    let binary = read_files(&[
        ("id-ctrl", id.as_bytes()),
        ("id-ns", ns.as_bytes()),
        ("smart", log.as_bytes()),
    ])
    .unwrap();
    let texts = files_of_nvme_cli();
    let [id, ns, log] = texts.each_ref().map(|text| text.as_bytes());
    let json = read_files(&[("a", id), ("b", ns), ("c", log)]).unwrap();
    assert_eq!(binary, json);
    assert!(binary.has_identity && binary.has_health);
    assert_eq!((json.model.as_str(), json.serial.as_str()), ("MODEL 1TB", "S1"));
    assert_eq!(json.capacity_bytes, 1_000_204_886_016);
    let probe = json.nvme.unwrap();
    assert_eq!(probe.health.composite_c, 28);
    assert_eq!(probe.health.critical_warnings, ["reliability degraded"]);
    assert_eq!(probe.health.written_bytes, u64::MAX);
    assert_eq!(probe.namespaces[0].size_bytes, 1_953_525_168 * 512);
    assert_eq!(probe.power_states[0].max_mw, 8000.0);
    assert_eq!(probe.power_states[1].max_mw, 50.0);
    assert_eq!(probe.thermal.warning_c, Some(82));
}

#[test]
fn media_writes_of_the_open_compute_log() {
    let mut log = OcpSmartLog::default();
    log.set_media_bytes_written(3 << 40).set_free_percent(80).set_guid(OCP_GUID);
    log.set_bad_user_high(1);
    let mut smart = smart();
    smart.set_data_units_written(2_097_152);
    let binary = read_files(&[("smart", smart.as_bytes()), ("c0", log.as_bytes())]).unwrap();
    let text = json!({
        "Physical media units written": {"hi": 0, "lo": 3_u64 << 40},
        "Physical media units read": {"hi": 0, "lo": 0},
        "Bad user nand blocks - Raw": 1_u64 << 32, "Percent free blocks": 80,
    })
    .to_string();
    let json = read_files(&[("smart", smart.as_bytes()), ("c0", text.as_bytes())]).unwrap();
    assert_eq!(binary, json);
    let endurance = json.nvme.unwrap().health.endurance.unwrap();
    assert_eq!(endurance.media_written_bytes, 3 << 40);
    assert_eq!((endurance.bad_blocks, endurance.free_blocks_pct), (Some(1 << 32), Some(80)));
}

#[test]
fn smartctl_of_nvme_and_of_sata() {
    let nvme = json!({
        "smartctl": {"version": [7, 3]}, "model_name": "MODEL 1TB", "serial_number": "S1",
        "firmware_version": "FW1", "nvme_total_capacity": 1_000_204_886_016_u64,
        "nvme_version": {"string": "1.3", "value": 66304},
        "nvme_namespaces": [{"id": 1, "size": {"blocks": 1_953_525_168_u64},
            "capacity": {"blocks": 1_953_525_168_u64}, "utilization": {"blocks": 1000},
            "formatted_lba_size": 512}],
        "nvme_composite_temperature_threshold": {"warning": 82, "critical": 85},
        "nvme_smart_health_information_log": {"critical_warning": 0, "temperature": 28,
            "available_spare": 99, "available_spare_threshold": 10, "percentage_used": 7,
            "data_units_written": 1_474_968_593_u64, "temperature_sensors": [33, 28]},
    });
    let text = nvme.to_string();
    let found = read_files(&[("smartctl.json", text.as_bytes())]).unwrap();
    // Identify Controller of another file says more, in either order.
    assert!(found.is_extract);
    let own = controller("S1");
    for files in [
        [("smartctl.json", text.as_bytes()), ("id", own.as_bytes())],
        [("id", own.as_bytes()), ("smartctl.json", text.as_bytes())],
    ] {
        let both = read_files(&files).unwrap();
        assert!(!both.is_extract && both.has_health);
        assert!(both.nvme.unwrap().max_transfer_bytes.is_some());
    }
    let probe = found.nvme.unwrap();
    assert_eq!((probe.model.as_str(), probe.version.as_str()), ("MODEL 1TB", "1.3"));
    assert_eq!((probe.health.composite_c, probe.thermal.critical_c), (28, Some(85)));
    assert_eq!(probe.health.sensors_c, [(1, 33), (2, 28)]);
    assert_eq!(probe.health.written_bytes, 1_474_968_593 * 512_000);
    assert_eq!(probe.namespaces[0].size_bytes, 1_953_525_168 * 512);
    let sata = br#"{"smartctl": {}, "model_name": "S", "serial_number": "2",
        "user_capacity": {"blocks": 1, "bytes": 250059350016}}"#;
    let found = read_files(&[("sata.json", sata)]).unwrap();
    assert_eq!((found.nvme, found.capacity_bytes), (None, 250_059_350_016));
}

/// Without Identify data the health log alone is read; files of two drives are not mixed.
#[test]
fn parts_and_strangers() {
    let found = read_files(&[("smart", smart().as_bytes())]).unwrap();
    assert!(found.has_health && !found.has_identity);
    assert_eq!(found.nvme.unwrap().health.percentage_used, 7);
    let (one, two) = (controller("S1"), controller("S2"));
    let mixed = read_files(&[("one", one.as_bytes()), ("two", two.as_bytes())]);
    assert!(matches!(mixed, Err(SavedError::OtherDrive { .. })), "{mixed:?}");
    for (content, reason) in [
        (&b"abc"[..], "3 bytes"),
        (b"{", "EOF"),
        (b"{\"a\": 1}", "no known report"),
        (b"", "0 bytes"),
    ] {
        let error = read_files(&[("x", content)]).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("nvme id-ctrl"), "{error}");
    }
}

/// Any JSON of known keys is read or refused, without a panic.
#[test]
fn senseless_values() {
    for key in ["mn", "nsze", "data_units_written", "model_name", "Physical media units written"] {
        for value in [json!(null), json!(-1), json!(1e300), json!("0xzz"), json!([[]]), json!({})] {
            let report = json!({
                key: value, "psds": value, "lbafs": value, "ieee": value, "eui64": value,
                "nvme_namespaces": [value], "nvme_smart_health_information_log": {"temperature": value},
            });
            let _ = read_files(&[("x", report.to_string().as_bytes())]);
        }
    }
}
