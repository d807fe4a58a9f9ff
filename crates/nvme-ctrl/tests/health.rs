//! Log pages and temperatures: admin commands act on the model and report its state.

use crate::support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{AsyncEventRequest, GetLogPage};
use assay_nvme_spec::feature::{
    AsyncEvent, AsyncEventConfig, AsyncEventType, FeatureId, HostThermal, TemperatureThreshold,
    event,
};
use assay_nvme_spec::log::{
    CommandEffectsLog, CriticalWarning, FirmwareSlotLog, LogId, OcpSmartLog, SmartLog,
    SupportedPagesLog, TelemetryHeader,
};
use assay_nvme_spec::nvm::{Flush, Read, Write};
use assay_nvme_spec::opcode::{AdminOpcode, NvmOpcode};
use assay_units::Nanos;
use support::{PAGE, TestDriver};

fn smart(driver: &mut TestDriver) -> SmartLog {
    SmartLog::read_from(&driver.log(LogId::SMART, 512)).expect("512 bytes")
}

/// Reads of 128 KiB at queue depth 32 until `until`, to heat the drive.
fn heat_up(driver: &mut TestDriver, until: Nanos) {
    let at = driver.pages(32 * PAGE);
    let prps = driver.prps(at, 131_072);
    let read = |place: u64| {
        let mut entry = Read::for_blocks(1, place * 77_773 % 200_000_000, 256).entry();
        entry.set_prps(prps.0, prps.1);
        entry
    };
    let mut sent = 0;
    for _ in 0..32 {
        driver.put(1, read(sent));
        sent += 1;
    }
    driver.ring(1);
    while driver.now < until && driver.next_event() {
        let done = driver.poll(1).len();
        for _ in 0..done {
            driver.put(1, read(sent));
            sent += 1;
        }
        driver.ring(1);
    }
    driver.advance_to(driver.now + Nanos::from_millis(100));
    driver.poll(1);
}

#[test]
fn smart_counts_commands_and_data() {
    let mut driver = TestDriver::new("samsung-951", &[("cycles", "300")]);
    let at = driver.pages(PAGE);
    for n in 0..10 {
        let mut read = Read::for_blocks(1, n * 8, 8).entry();
        read.set_prps(at, 0);
        driver.run(1, read);
        let mut write = Write::for_blocks(1, n * 8, 1).entry();
        write.set_prps(at, 0);
        driver.run(1, write);
    }
    let log = smart(&mut driver);
    assert_eq!((log.host_reads(), log.host_writes()), (10, 10));
    assert_eq!((log.data_units_read(), log.data_units_written()), (1, 1));
    assert_eq!(
        (log.percentage_used(), log.available_spare(), log.critical_warning()),
        (10, 100, 0)
    );
    assert_eq!((log.power_cycles(), log.unsafe_shutdowns(), log.media_errors()), (1, 0, 0));
    let telemetry = driver.controller.drive_mut().telemetry(Nanos::ZERO);
    assert_eq!(log.composite_celsius(), telemetry.composite_celsius);
    driver.advance_to(Nanos::from_secs(7200));
    assert_eq!((smart(&mut driver).power_on_hours(), smart(&mut driver).busy_minutes()), (2, 0));
    driver.now = driver.now.max(Nanos::from_secs(7200));
    let now = driver.now;
    driver.controller.drive_mut().power_loss(now);
    let log = smart(&mut driver);
    assert_eq!((log.power_cycles(), log.unsafe_shutdowns()), (2, 1));
}

/// The endurance log belongs to data-centre drives.
#[test]
fn client_drives_have_no_ocp_log() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let at = driver.pages(PAGE);
    let mut command = GetLogPage::for_log(LogId::OCP_SMART, 0, 512);
    command.set_nsid(0xffff_ffff);
    let status = driver.admin(command.entry(), at).status();
    assert_eq!(status, StatusCode::INVALID_LOG_PAGE);
    let pages = SupportedPagesLog::read_from(&driver.log(LogId::SUPPORTED_PAGES, 1024)).unwrap();
    assert!(!pages.pages()[usize::from(LogId::OCP_SMART.0)].supported());
}

/// Write amplification by the logs alone: small writes to units of 16 KiB.
#[test]
fn the_logs_show_the_write_amplification_of_a_coarse_indirection_unit() {
    let mut driver = TestDriver::new("solidigm-d5-p5336", &[]);
    let granularity = driver.namespace_data().write_granularity();
    assert_eq!((u64::from(granularity) + 1) * 512, 16_384);
    let at = driver.pages(PAGE);
    let writes = 2_000_u64;
    for n in 0..writes {
        // One sector of every other unit.
        let mut write = Write::for_blocks(1, n * 64 + 8, 8).entry();
        write.set_prps(at, 0);
        assert_eq!(driver.run(1, write).status(), StatusCode::SUCCESS);
    }
    let host = smart(&mut driver).data_units_written() * 512_000;
    let ocp = OcpSmartLog::read_from(&driver.log(LogId::OCP_SMART, 512)).unwrap();
    let amplification = ocp.media_bytes_written() as f64 / host as f64;
    assert!((3.7..4.1).contains(&amplification), "{amplification}");
    // Three sectors of each unit were read first.
    let read = ocp.media_bytes_read() as f64 / (writes * 3 * 4096) as f64;
    assert!((0.98..1.02).contains(&read), "{read}");
}

#[test]
fn the_other_log_pages_report_the_drive() {
    let mut driver = TestDriver::new("samsung-983-dct", &[("data", "keep")]);
    let ocp = OcpSmartLog::read_from(&driver.log(LogId::OCP_SMART, 512)).unwrap();
    assert!(ocp.is_ocp());
    assert_eq!(ocp.media_bytes_written(), 0);
    assert_eq!(driver.write(0, &[1; 4096]).status(), StatusCode::SUCCESS);
    let slots = FirmwareSlotLog::read_from(&driver.log(LogId::FIRMWARE_SLOT, 512)).unwrap();
    let revision = driver.controller.drive().identity().firmware.clone();
    assert_eq!(slots.slots().collect::<Vec<_>>(), [(1, revision)]);
    let effects = CommandEffectsLog::read_from(&driver.log(LogId::COMMAND_EFFECTS, 4096)).unwrap();
    let (admin, io) = (effects.admin(), effects.io());
    assert!(admin[usize::from(AdminOpcode::FORMAT_NVM.0)].content_change());
    assert!(
        io[usize::from(NvmOpcode::COMPARE.0)].supported()
            && !io[usize::from(NvmOpcode::COPY.0)].supported()
    );
    let pages = SupportedPagesLog::read_from(&driver.log(LogId::SUPPORTED_PAGES, 1024)).unwrap();
    for (lid, page) in (0..=255).zip(pages.pages()) {
        let at = driver.pages(PAGE);
        let mut command = GetLogPage::for_log(LogId(lid), 0, 64);
        command.set_nsid(0xffff_ffff);
        let status = driver.admin(command.entry(), at).status();
        let expected =
            if page.supported() { StatusCode::SUCCESS } else { StatusCode::INVALID_LOG_PAGE };
        assert_eq!(status, expected, "log {lid:#x}");
    }
    // On the flash once its program group is full. A flush of a drive with capacitors does nothing.
    for chunk in 0..64 {
        let written = driver.write(128 * chunk, &[1; 65_536]);
        assert_eq!(written.status(), StatusCode::SUCCESS);
    }
    let mut flush = Flush::new();
    flush.set_nsid(1);
    let flushed = driver.run(1, flush.entry());
    assert_eq!(flushed.status(), StatusCode::SUCCESS);
    let ocp = OcpSmartLog::read_from(&driver.log(LogId::OCP_SMART, 512)).unwrap();
    let telemetry = {
        let now = driver.now;
        driver.controller.drive_mut().telemetry(now)
    };
    assert!(telemetry.nand_bytes_written >= 4096);
    assert_eq!(ocp.media_bytes_written(), telemetry.nand_bytes_written.into());
    assert_eq!(ocp.media_bytes_read(), telemetry.nand_bytes_read.into());
    assert!((1..=100).contains(&ocp.free_percent()));
    assert_eq!((ocp.bad_user_blocks(), ocp.throttling_events()), (0, 0));
    let mut capture = GetLogPage::for_log(LogId::TELEMETRY_HOST, 0, 1024);
    capture.set_log_specific(1);
    let at = driver.pages(PAGE);
    assert_eq!(driver.admin(capture.entry(), at).status(), StatusCode::SUCCESS);
    let header = TelemetryHeader::read_from(&driver.bytes(at, 512)).unwrap();
    assert_eq!((header.lid(), header.host_generation()), (7, 1));
    assert!(header.area1_last_block() > 0);
    let text = String::from_utf8(driver.bytes(at + 512, 512)).unwrap();
    assert!(text.contains("composite_celsius"), "{text}");
}

#[test]
fn log_pages_are_read_in_parts_and_padded() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let whole = driver.log(LogId::COMMAND_EFFECTS, 4096);
    let at = driver.pages(2 * PAGE);
    let get = |offset, len| GetLogPage::for_log(LogId::COMMAND_EFFECTS, offset, len);
    assert_eq!(driver.admin(get(1032, 100).entry(), at + 8).status(), StatusCode::SUCCESS);
    assert_eq!(driver.bytes(at + 8, 100), whole[1032..1132]);
    driver.memory.write(at, &[9; 32]).unwrap();
    assert_eq!(driver.admin(get(4088, 16).entry(), at).status(), StatusCode::SUCCESS);
    assert_eq!(driver.bytes(at + 8, 8), [0; 8], "zeroes beyond the end");
    let mut entries = get(0, 64);
    entries.set_offset_counts_entries(true);
    for (command, status) in [
        (get(4100, 4), StatusCode::INVALID_FIELD),
        (get(2, 4), StatusCode::INVALID_FIELD),
        (get(0, 1 << 20), StatusCode::INVALID_FIELD),
        (get(u64::MAX - 3, 4), StatusCode::INVALID_FIELD),
        (entries, StatusCode::INVALID_FIELD),
        (GetLogPage::for_log(LogId::ANA, 0, 4), StatusCode::INVALID_LOG_PAGE),
    ] {
        assert_eq!(driver.admin(command.entry(), at).status(), status, "{command:?}");
    }
    assert_eq!(driver.admin(get(0, 64).entry(), 0).status(), StatusCode::DATA_TRANSFER_ERROR);
    let mut smart = GetLogPage::for_log(LogId::SMART, 0, 512);
    smart.set_nsid(5);
    assert_eq!(driver.admin(smart.entry(), at).status(), StatusCode::INVALID_NAMESPACE);
    let mut sgl = get(0, 64).entry();
    sgl.set_psdt(1);
    assert_eq!(driver.run(0, sgl).status(), StatusCode::INVALID_FIELD, "admin commands have PRPs");
    let mut unknown = get(0, 64).entry();
    unknown.set_opcode(AdminOpcode::FIRMWARE_COMMIT.0);
    assert_eq!(driver.run(0, unknown).status(), StatusCode::INVALID_OPCODE);
}

/// A threshold above the temperature is crossed as the drive heats up: one event, and the log page
/// reports it.
#[test]
fn a_crossed_threshold_raises_an_event() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let idle = smart(&mut driver).composite_kelvin();
    let mut threshold = TemperatureThreshold::default();
    threshold.set_kelvin(idle + 5);
    assert_eq!(
        driver.set_feature(FeatureId::TEMPERATURE_THRESHOLD, threshold.raw()).status(),
        StatusCode::SUCCESS
    );
    assert_eq!(
        driver.get_feature(FeatureId::TEMPERATURE_THRESHOLD, 0, 0).dw0(),
        u32::from(idle) + 5
    );
    let mut config = AsyncEventConfig::default();
    config.set_critical_warnings(CriticalWarning::TEMPERATURE.0);
    driver.set_feature(FeatureId::ASYNC_EVENT, config.raw());
    let cid = driver.put(0, AsyncEventRequest::new().entry());
    driver.ring(0);
    driver.advance_to(Nanos::from_secs(5));
    assert_eq!(driver.poll(0).len(), 0, "no event yet");
    heat_up(&mut driver, Nanos::from_secs(20));
    let event_dw0 = AsyncEvent::from_raw(driver.wait(0, cid).dw0());
    assert_eq!(
        (event_dw0.event_type(), event_dw0.information(), event_dw0.lid()),
        (AsyncEventType::SMART.0, event::TEMPERATURE, LogId::SMART.0)
    );
    let log = smart(&mut driver);
    assert!(log.composite_kelvin() >= idle + 5);
    assert_eq!(log.critical_warning(), CriticalWarning::TEMPERATURE.0);
    // An under threshold that is not crossed, and invalid selectors.
    for (value, status) in [
        (1 << 20 | 1, StatusCode::SUCCESS),
        (3 << 20, StatusCode::INVALID_FIELD),
        (9 << 16, StatusCode::INVALID_FIELD),
        (0xf << 16 | 0xffff, StatusCode::SUCCESS),
    ] {
        assert_eq!(
            driver.set_feature(FeatureId::TEMPERATURE_THRESHOLD, value).status(),
            status,
            "{value:x}"
        );
    }
    assert_eq!(smart(&mut driver).critical_warning(), 0);
    threshold.set_threshold_type(1).set_kelvin(400);
    driver.set_feature(FeatureId::TEMPERATURE_THRESHOLD, threshold.raw());
    assert_eq!(
        smart(&mut driver).critical_warning(),
        CriticalWarning::TEMPERATURE.0,
        "it is below 400 K"
    );
}

/// Thermal management temperatures of the driver keep the drive cooler, and the health log counts
/// the transitions.
#[test]
fn host_controlled_thermal_management_throttles() {
    let heat = |limits: Option<(u16, u16)>| {
        let mut driver = TestDriver::new("plextor-m8pe-g", &[("ambient", "40")]);
        assert_eq!(driver.controller_data().hctma(), 1);
        if let Some((light, heavy)) = limits {
            let mut thermal = HostThermal::default();
            thermal.set_light_kelvin(light).set_heavy_kelvin(heavy);
            assert_eq!(
                driver.set_feature(FeatureId::HOST_THERMAL, thermal.raw()).status(),
                StatusCode::SUCCESS
            );
            assert_eq!(driver.get_feature(FeatureId::HOST_THERMAL, 0, 0).dw0(), thermal.raw());
        }
        heat_up(&mut driver, Nanos::from_secs(30));
        let log = smart(&mut driver);
        (
            log.composite_kelvin(),
            log.thermal1_transitions(),
            log.thermal2_transitions(),
            log.data_units_read(),
        )
    };
    let (free, t1, t2, moved) = heat(None);
    assert_eq!((t1, t2), (0, 0));
    let (cooled, t1, _, moved_less) = heat(Some((free - 6, free - 4)));
    assert!(
        cooled < free && t1 > 0 && moved_less < moved,
        "{cooled} of {free}, {t1}, {moved_less} of {moved}"
    );
    let mut driver = TestDriver::new("plextor-m8pe-g", &[]);
    for wrong in [0x0150_0150, 0x0160_0150, 0x0001_0150, 0x0150_0fff] {
        assert_eq!(
            driver.set_feature(FeatureId::HOST_THERMAL, wrong).status(),
            StatusCode::INVALID_FIELD,
            "{wrong:x}"
        );
    }
    let mut cannot = TestDriver::new("samsung-951", &[]);
    assert_eq!(cannot.set_feature(FeatureId::HOST_THERMAL, 0).status(), StatusCode::INVALID_FIELD);
}
