use super::*;
use crate::identity::DriveKind;

#[test]
fn a_drive_without_telemetry_gives_no_reading() {
    let info = DriveInfo::new(DriveKind::File, "disk", "disk", 1 << 20);
    let watch = TelemetryMonitor::start(&info, None);
    assert_eq!(watch.telemetry(), None);
}

/// A drive without a health log uses the kernel's sensors; a health log takes precedence.
#[test]
fn kernel_sensors_replace_a_missing_health_log() {
    let dir = tempfile::TempDir::new().unwrap();
    let at = |path: &str| dir.path().join(path);
    let device = "sys/devices/ata1/0:0:0:0";
    std::fs::create_dir_all(at(&format!("{device}/hwmon/hwmon3"))).unwrap();
    std::fs::create_dir_all(at(&format!("{device}/block/sdz"))).unwrap();
    std::fs::create_dir_all(at("sys/dev/block")).unwrap();
    std::fs::write(at(&format!("{device}/block/sdz/dev")), "8:400").unwrap();
    for (link, to) in [
        (format!("{device}/block/sdz/device"), at(device)),
        ("sys/dev/block/8:400".to_owned(), at(&format!("{device}/block/sdz"))),
    ] {
        std::os::unix::fs::symlink(to, at(&link)).unwrap();
    }
    let mut info = DriveInfo::new(DriveKind::Block, "/dev/sdz", "sdz", 1 << 20);
    info.device = Some(crate::identity::DeviceNumber { major: 8, minor: 400 });
    let root = SystemRoot::at(dir.path());
    let sensor = |name: &str, text: &str| {
        std::fs::write(at(&format!("{device}/hwmon/hwmon3/{name}")), text).unwrap();
    };
    assert_eq!(reading(&root, &info, None), None, "no sensor, no reading");
    sensor("temp1_input", "41500\n");
    let reported = reading(&root, &info, None).unwrap();
    assert_eq!(reported, Telemetry { temperature_c: Some(41.5), ..Telemetry::default() });
    sensor("power1_average", "3250000\n");
    let reported = reading(&root, &info, None).unwrap();
    assert_eq!((reported.temperature_c, reported.power_mw), (Some(41.5), Some(3250)));
    let health = Health { composite_c: 60, ..Health::default() };
    let reported = reading(&root, &info, Some(health)).unwrap();
    assert_eq!(
        (reported.temperature_c, reported.power_mw, reported.media_errors),
        (Some(60.0), Some(3250), Some(0))
    );
}

#[test]
fn meter_power_is_a_separate_reading() {
    let info = DriveInfo::new(DriveKind::File, "disk", "disk", 1 << 20);
    let meter = Arc::new(PowerMeter::start("while echo 3.25 W; do sleep 0.01; done").unwrap());
    let watch = TelemetryMonitor::start(&info, Some(Arc::clone(&meter)));
    meter.wait_for_a_reading();
    let reported = watch.telemetry().unwrap();
    assert_eq!(reported.power_mw, Some(3250));
    assert_eq!(reported.temperature_c, None);
}
