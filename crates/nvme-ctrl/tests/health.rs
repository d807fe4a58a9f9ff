//! Logs, features, power and heat: the admin commands act on the model, and the model shows in them.

mod support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::admin::{AsyncEventRequest, GetFeatures, GetLogPage, SetFeatures, select};
use assay_nvme_spec::feature::{
    AsyncEvent, AsyncEventConfig, AsyncEventType, AutonomousTable, FeatureId, HostThermal,
    TemperatureThreshold, event,
};
use assay_nvme_spec::log::{
    CommandEffectsLog, FirmwareSlotLog, LogId, OcpSmartLog, SmartLog, SupportedPagesLog,
    TelemetryHeader, critical_warning,
};
use assay_nvme_spec::nvm::{Read, Write};
use assay_nvme_spec::opcode::{AdminOpcode, NvmOpcode};
use assay_nvme_spec::{StatusCode, register};
use assay_units::Nanos;
use support::{BASE, Host, PAGE};

fn smart(host: &mut Host) -> SmartLog {
    SmartLog::read_from(&host.log(LogId::SMART, 512)).expect("512 bytes")
}

/// Reads of 128 KiB at depth 32 until `until`: work that heats.
fn work(host: &mut Host, until: Nanos) {
    let at = host.pages(32 * PAGE);
    let prps = host.prps(at, 131_072);
    let read = |place: u64| {
        let mut entry = Read::of(1, place * 77_773 % 200_000_000, 256).entry();
        entry.set_prps(prps.0, prps.1);
        entry
    };
    let mut sent = 0;
    for _ in 0..32 {
        host.put(1, read(sent));
        sent += 1;
    }
    host.ring(1);
    while host.now < until && host.next() {
        let done = host.poll(1).len();
        for _ in 0..done {
            host.put(1, read(sent));
            sent += 1;
        }
        host.ring(1);
    }
    host.live(host.now + Nanos::from_millis(100));
    host.poll(1);
}

#[test]
fn smart_counts_what_was_done() {
    let mut host = Host::new("samsung-951", &[("cycles", "300")]);
    let at = host.pages(PAGE);
    for n in 0..10 {
        let mut read = Read::of(1, n * 8, 8).entry();
        read.set_prps(at, 0);
        host.run(1, read);
        let mut write = Write::of(1, n * 8, 1).entry();
        write.set_prps(at, 0);
        host.run(1, write);
    }
    let log = smart(&mut host);
    assert_eq!((log.host_reads(), log.host_writes()), (10, 10));
    assert_eq!((log.data_units_read(), log.data_units_written()), (1, 1));
    assert_eq!(
        (
            log.percentage_used(),
            log.available_spare(),
            log.critical_warning()
        ),
        (10, 100, 0)
    );
    assert_eq!(
        (
            log.power_cycles(),
            log.unsafe_shutdowns(),
            log.media_errors()
        ),
        (1, 0, 0)
    );
    let telemetry = host.controller.drive_mut().telemetry(Nanos::ZERO);
    assert_eq!(log.composite_celsius(), telemetry.composite_celsius);
    host.live(Nanos::from_secs(7200));
    assert_eq!(
        (
            smart(&mut host).power_on_hours(),
            smart(&mut host).busy_minutes()
        ),
        (2, 0)
    );
    host.now = host.now.max(Nanos::from_secs(7200));
    let now = host.now;
    host.controller.drive_mut().power_loss(now);
    let log = smart(&mut host);
    assert_eq!((log.power_cycles(), log.unsafe_shutdowns()), (2, 1));
}

#[test]
fn the_other_logs_say_what_there_is() {
    let mut host = Host::new("samsung-983-dct", &[("data", "keep")]);
    let ocp = OcpSmartLog::read_from(&host.log(LogId::OCP_SMART, 512)).unwrap();
    assert!(ocp.is_ocp());
    assert_eq!(ocp.media_bytes_written(), 0);
    assert_eq!(host.write(0, &[1; 4096]).status(), StatusCode::SUCCESS);
    let slots = FirmwareSlotLog::read_from(&host.log(LogId::FIRMWARE_SLOT, 512)).unwrap();
    let revision = host.controller.drive().identity().firmware.clone();
    assert_eq!(slots.slots().collect::<Vec<_>>(), [(1, revision)]);
    let effects = CommandEffectsLog::read_from(&host.log(LogId::COMMAND_EFFECTS, 4096)).unwrap();
    let (admin, io) = (effects.admin(), effects.io());
    assert!(admin[usize::from(AdminOpcode::FORMAT_NVM.0)].content_change());
    assert!(
        io[usize::from(NvmOpcode::COMPARE.0)].supported()
            && !io[usize::from(NvmOpcode::COPY.0)].supported()
    );
    let pages = SupportedPagesLog::read_from(&host.log(LogId::SUPPORTED_PAGES, 1024)).unwrap();
    for (lid, page) in (0..=255).zip(pages.pages()) {
        let at = host.pages(PAGE);
        let mut command = GetLogPage::of(LogId(lid), 0, 64);
        command.set_nsid(0xffff_ffff);
        let status = host.admin(command.entry(), at).status();
        let expected = if page.supported() {
            StatusCode::SUCCESS
        } else {
            StatusCode::INVALID_LOG_PAGE
        };
        assert_eq!(status, expected, "log {lid:#x}");
    }
    let mut capture = GetLogPage::of(LogId::TELEMETRY_HOST, 0, 1024);
    capture.set_log_specific(1);
    let at = host.pages(PAGE);
    assert_eq!(
        host.admin(capture.entry(), at).status(),
        StatusCode::SUCCESS
    );
    let header = TelemetryHeader::read_from(&host.bytes(at, 512)).unwrap();
    assert_eq!((header.lid(), header.host_generation()), (7, 1));
    assert!(header.area1_last_block() > 0);
    let text = String::from_utf8(host.bytes(at + 512, 512)).unwrap();
    assert!(text.contains("composite_celsius"), "{text}");
}

#[test]
fn log_pages_are_read_in_parts_and_not_beyond() {
    let mut host = Host::new("samsung-951", &[]);
    let whole = host.log(LogId::COMMAND_EFFECTS, 4096);
    let at = host.pages(2 * PAGE);
    let get = |offset, len| GetLogPage::of(LogId::COMMAND_EFFECTS, offset, len);
    assert_eq!(
        host.admin(get(1032, 100).entry(), at + 8).status(),
        StatusCode::SUCCESS
    );
    assert_eq!(host.bytes(at + 8, 100), whole[1032..1132]);
    host.memory.write(at, &[9; 32]).unwrap();
    assert_eq!(
        host.admin(get(4088, 16).entry(), at).status(),
        StatusCode::SUCCESS
    );
    assert_eq!(host.bytes(at + 8, 8), [0; 8], "zeroes behind the end");
    let mut entries = get(0, 64);
    entries.set_offset_counts_entries(true);
    for (command, status) in [
        (get(4100, 4), StatusCode::INVALID_FIELD),
        (get(2, 4), StatusCode::INVALID_FIELD),
        (get(0, 1 << 20), StatusCode::INVALID_FIELD),
        (get(u64::MAX - 3, 4), StatusCode::INVALID_FIELD),
        (entries, StatusCode::INVALID_FIELD),
        (
            GetLogPage::of(LogId::ANA, 0, 4),
            StatusCode::INVALID_LOG_PAGE,
        ),
    ] {
        assert_eq!(
            host.admin(command.entry(), at).status(),
            status,
            "{command:?}"
        );
    }
    assert_eq!(
        host.admin(get(0, 64).entry(), 0).status(),
        StatusCode::DATA_TRANSFER_ERROR
    );
    let mut smart = GetLogPage::of(LogId::SMART, 0, 512);
    smart.set_nsid(5);
    assert_eq!(
        host.admin(smart.entry(), at).status(),
        StatusCode::INVALID_NAMESPACE
    );
    let mut sgl = get(0, 64).entry();
    sgl.set_psdt(1);
    assert_eq!(
        host.run(0, sgl).status(),
        StatusCode::INVALID_FIELD,
        "admin commands have PRPs"
    );
    let mut unknown = get(0, 64).entry();
    unknown.set_opcode(AdminOpcode::FIRMWARE_COMMIT.0);
    assert_eq!(host.run(0, unknown).status(), StatusCode::INVALID_OPCODE);
}

#[test]
fn power_states_change_what_commands_take_and_what_the_drive_draws() {
    let mut host = Host::new("samsung-951", &[]);
    let at = host.pages(PAGE);
    let read = |host: &mut Host, place: u64| {
        let mut read = Read::of(1, place << 21, 8).entry();
        read.set_prps(at, 0);
        let from = host.now;
        assert_eq!(host.run(1, read).status(), StatusCode::SUCCESS);
        host.now - from
    };
    assert!(read(&mut host, 1) < Nanos::from_millis(1));
    assert_eq!(
        host.set_feature(FeatureId::POWER_MANAGEMENT, 4).status(),
        StatusCode::SUCCESS
    );
    assert_eq!(host.get_feature(FeatureId::POWER_MANAGEMENT, 0, 0).dw0(), 4);
    host.live(Nanos::from_secs(10));
    assert_eq!(
        host.controller
            .drive_mut()
            .telemetry(Nanos::from_secs(10))
            .power_mw,
        5
    );
    assert!(
        read(&mut host, 2) >= Nanos::from_millis(22),
        "it leaves state 4 in 22 ms"
    );
    assert_eq!(
        host.set_feature(FeatureId::POWER_MANAGEMENT, 5).status(),
        StatusCode::INVALID_FIELD
    );
    assert_eq!(
        host.get_feature(FeatureId::POWER_MANAGEMENT, select::DEFAULT, 0)
            .dw0(),
        0
    );
    let mut lower = Host::new("samsung-951", &[("ps", "2")]);
    assert_eq!(
        lower.get_feature(FeatureId::POWER_MANAGEMENT, 0, 0).dw0(),
        2
    );
    // A reset brings the first state back.
    host.set_feature(FeatureId::POWER_MANAGEMENT, 2);
    host.enable();
    assert_eq!(host.get_feature(FeatureId::POWER_MANAGEMENT, 0, 0).dw0(), 0);
    assert_eq!(
        host.controller
            .drive_mut()
            .telemetry(Nanos::ZERO)
            .power_state,
        0
    );
}

#[test]
fn a_host_sets_up_autonomous_transitions() {
    let mut host = Host::new("samsung-951", &[]);
    assert_eq!(host.get_feature(FeatureId::AUTONOMOUS_POWER, 0, 0).dw0(), 0);
    let at = host.pages(PAGE);
    let mut table = AutonomousTable::default();
    let mut entries = table.transitions();
    for entry in &mut entries[..3] {
        entry.set_state(3).set_idle_ms(100);
    }
    entries[3].set_state(4).set_idle_ms(400);
    table.set_transitions(entries);
    let set = |host: &mut Host, table: &AutonomousTable| {
        host.memory
            .write(at, table.as_bytes())
            .expect("mapped memory");
        let mut set = SetFeatures::new();
        set.set_fid(FeatureId::AUTONOMOUS_POWER.0).set_value(1);
        host.admin(set.entry(), at).status()
    };
    assert_eq!(set(&mut host, &table), StatusCode::SUCCESS);
    let from = host.now;
    for (after_ms, state) in [(90, 0), (200, 3), (490, 3), (1000, 4)] {
        let at = from + Nanos::from_millis(after_ms);
        assert_eq!(
            host.controller.drive_mut().telemetry(at).power_state,
            state,
            "{after_ms} ms"
        );
    }
    // A host that sends the drive to sleep itself changes nothing about what it does by itself afterwards.
    host.now = from + Nanos::from_secs(1);
    assert_eq!(
        host.set_feature(FeatureId::POWER_MANAGEMENT, 4).status(),
        StatusCode::SUCCESS
    );
    let buffer = host.pages(PAGE);
    let mut wake = Read::of(1, 0, 8).entry();
    wake.set_prps(buffer, 0);
    assert_eq!(host.run(1, wake).status(), StatusCode::SUCCESS);
    let transitions = host.controller.drive_mut().autonomous_transitions();
    assert_eq!(
        transitions,
        [(Nanos::from_millis(100), 3), (Nanos::from_millis(500), 4)]
    );
    let from = host.now;
    for (after_ms, state) in [(90, 0), (200, 3), (490, 3), (1000, 4)] {
        let at = from + Nanos::from_millis(after_ms);
        assert_eq!(
            host.controller.drive_mut().telemetry(at).power_state,
            state,
            "{after_ms} ms after it was woken"
        );
    }
    let mut get = GetFeatures::new();
    get.set_fid(FeatureId::AUTONOMOUS_POWER.0);
    host.now = from + Nanos::from_secs(1);
    let page = host.pages(PAGE);
    assert_eq!(host.admin(get.entry(), page).dw0(), 1);
    assert_eq!(host.bytes(page, 256), table.as_bytes());
    let mut wrong = table;
    entries[0].set_state(2);
    wrong.set_transitions(entries);
    assert_eq!(
        set(&mut host, &wrong),
        StatusCode::INVALID_FIELD,
        "state 2 works"
    );
    entries[0].set_state(9);
    wrong.set_transitions(entries);
    assert_eq!(
        set(&mut host, &wrong),
        StatusCode::INVALID_FIELD,
        "there is no state 9"
    );
    // The profile's own table, as the drive reports it where it is on.
    let mut host = Host::new("samsung-951", &[("apst", "on")]);
    let page = host.pages(PAGE);
    assert_eq!(host.admin(get.entry(), page).dw0(), 1);
    let entries = AutonomousTable::read_from(&host.bytes(page, 256))
        .unwrap()
        .transitions();
    let said: Vec<_> = entries[..5]
        .iter()
        .map(|entry| (entry.state(), entry.idle_ms()))
        .collect();
    assert_eq!(said, [(3, 275), (3, 275), (3, 275), (4, 925), (0, 0)]);
    let mut never = Host::new("intel-p3700", &[]);
    assert_eq!(
        never
            .get_feature(FeatureId::AUTONOMOUS_POWER, 0, 0)
            .status(),
        StatusCode::INVALID_FIELD
    );
}

/// A threshold above the drive's temperature is crossed as it heats: the event comes, once, and the log says so.
#[test]
fn a_threshold_crossed_is_told_of() {
    let mut host = Host::new("samsung-951", &[]);
    let idle = smart(&mut host).composite_kelvin();
    let mut threshold = TemperatureThreshold::default();
    threshold.set_kelvin(idle + 5);
    assert_eq!(
        host.set_feature(FeatureId::TEMPERATURE_THRESHOLD, threshold.raw())
            .status(),
        StatusCode::SUCCESS
    );
    assert_eq!(
        host.get_feature(FeatureId::TEMPERATURE_THRESHOLD, 0, 0)
            .dw0(),
        u32::from(idle) + 5
    );
    let mut config = AsyncEventConfig::default();
    config.set_critical_warnings(critical_warning::TEMPERATURE);
    host.set_feature(FeatureId::ASYNC_EVENT, config.raw());
    let cid = host.put(0, AsyncEventRequest::new().entry());
    host.ring(0);
    host.live(Nanos::from_secs(5));
    assert_eq!(host.poll(0).len(), 0, "nothing happened yet");
    work(&mut host, Nanos::from_secs(20));
    let told = AsyncEvent::from_raw(host.wait(0, cid).dw0());
    assert_eq!(
        (told.event_type(), told.information(), told.lid()),
        (AsyncEventType::SMART.0, event::TEMPERATURE, LogId::SMART.0)
    );
    let log = smart(&mut host);
    assert!(log.composite_kelvin() >= idle + 5);
    assert_eq!(log.critical_warning(), critical_warning::TEMPERATURE);
    // Under a threshold that it is not under, and selectors that there are not.
    for (value, status) in [
        (1 << 20 | 1, StatusCode::SUCCESS),
        (3 << 20, StatusCode::INVALID_FIELD),
        (9 << 16, StatusCode::INVALID_FIELD),
        (0xf << 16 | 0xffff, StatusCode::SUCCESS),
    ] {
        assert_eq!(
            host.set_feature(FeatureId::TEMPERATURE_THRESHOLD, value)
                .status(),
            status,
            "{value:x}"
        );
    }
    assert_eq!(smart(&mut host).critical_warning(), 0);
    threshold.set_threshold_type(1).set_kelvin(400);
    host.set_feature(FeatureId::TEMPERATURE_THRESHOLD, threshold.raw());
    assert_eq!(
        smart(&mut host).critical_warning(),
        critical_warning::TEMPERATURE,
        "it is below 400 K"
    );
}

/// The host's throttling temperatures keep the drive cooler, and the health log counts them.
#[test]
fn host_controlled_thermal_management_throttles() {
    let heat = |limits: Option<(u16, u16)>| {
        let mut host = Host::new("plextor-m8pe-g", &[("ambient", "40")]);
        assert_eq!(host.controller_data().hctma(), 1);
        if let Some((light, heavy)) = limits {
            let mut thermal = HostThermal::default();
            thermal.set_light_kelvin(light).set_heavy_kelvin(heavy);
            assert_eq!(
                host.set_feature(FeatureId::HOST_THERMAL, thermal.raw())
                    .status(),
                StatusCode::SUCCESS
            );
            assert_eq!(
                host.get_feature(FeatureId::HOST_THERMAL, 0, 0).dw0(),
                thermal.raw()
            );
        }
        work(&mut host, Nanos::from_secs(30));
        let log = smart(&mut host);
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
    let mut host = Host::new("plextor-m8pe-g", &[]);
    for wrong in [0x0150_0150, 0x0160_0150, 0x0001_0150, 0x0150_0fff] {
        assert_eq!(
            host.set_feature(FeatureId::HOST_THERMAL, wrong).status(),
            StatusCode::INVALID_FIELD,
            "{wrong:x}"
        );
    }
    let mut cannot = Host::new("samsung-951", &[]);
    assert_eq!(
        cannot.set_feature(FeatureId::HOST_THERMAL, 0).status(),
        StatusCode::INVALID_FIELD
    );
}

#[test]
fn features_are_got_set_and_refused() {
    let mut host = Host::new("samsung-951", &[]);
    for fid in [
        FeatureId::ARBITRATION,
        FeatureId::POWER_MANAGEMENT,
        FeatureId::TEMPERATURE_THRESHOLD,
        FeatureId::ERROR_RECOVERY,
        FeatureId::VOLATILE_WRITE_CACHE,
        FeatureId::NUMBER_OF_QUEUES,
        FeatureId::INTERRUPT_COALESCING,
        FeatureId::INTERRUPT_VECTOR,
        FeatureId::WRITE_ATOMICITY,
        FeatureId::ASYNC_EVENT,
        FeatureId::AUTONOMOUS_POWER,
        FeatureId::TIMESTAMP,
        FeatureId::NON_OPERATIONAL_POWER,
    ] {
        for select in 0..4 {
            assert_eq!(
                host.get_feature(fid, select, 0).status(),
                StatusCode::SUCCESS,
                "{fid}, select {select}"
            );
        }
        assert_eq!(
            host.get_feature(fid, 4, 0).status(),
            StatusCode::INVALID_FIELD
        );
    }
    assert_eq!(
        host.get_feature(FeatureId::HOST_MEMORY_BUFFER, 0, 0)
            .status(),
        StatusCode::INVALID_FIELD
    );
    assert_eq!(
        host.set_feature(FeatureId::SOFTWARE_PROGRESS, 0).status(),
        StatusCode::INVALID_FIELD
    );
    let mut save = SetFeatures::new();
    save.set_fid(FeatureId::ARBITRATION.0).set_save(true);
    assert_eq!(
        host.admin(save.entry(), 0).status(),
        StatusCode::FEATURE_NOT_SAVEABLE
    );
    host.set_feature(FeatureId::ARBITRATION, 0x0102_0305);
    assert_eq!(
        host.get_feature(FeatureId::ARBITRATION, 0, 0).dw0(),
        0x0102_0305
    );
    assert_eq!(
        host.get_feature(FeatureId::ARBITRATION, select::SAVED, 0)
            .dw0(),
        0
    );
    // Interrupts have their values elsewhere; what is shipped and saved is still not what is set.
    host.set_feature(FeatureId::INTERRUPT_COALESCING, 0x0507);
    host.set_feature(FeatureId::INTERRUPT_VECTOR, 1 << 16 | 1);
    for (fid, value, now, shipped) in [
        (FeatureId::INTERRUPT_COALESCING, 0, 0x0507, 0),
        (FeatureId::INTERRUPT_VECTOR, 1, 1 << 16 | 1, 1),
    ] {
        for (which, expected) in [
            (select::CURRENT, now),
            (select::DEFAULT, shipped),
            (select::SAVED, shipped),
        ] {
            let got = host.get_feature(fid, which, value).dw0();
            assert_eq!(got, expected, "{fid}, select {which}");
        }
    }
    assert_eq!(
        host.set_feature(FeatureId::ERROR_RECOVERY, 1 << 16)
            .status(),
        StatusCode::INVALID_FIELD
    );
    assert_eq!(
        host.set_feature(FeatureId::ERROR_RECOVERY, 50).status(),
        StatusCode::SUCCESS
    );
    assert_eq!(
        host.set_feature(FeatureId::NUMBER_OF_QUEUES, 0xffff_0000)
            .status(),
        StatusCode::INVALID_FIELD
    );
    // A clock that goes on from what it was set to.
    host.memory
        .write(BASE + (61 << 20), &1_000_000_u64.to_le_bytes())
        .unwrap();
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::TIMESTAMP.0);
    assert_eq!(
        host.admin(set.entry(), BASE + (61 << 20)).status(),
        StatusCode::SUCCESS
    );
    host.live(host.now + Nanos::from_secs(5));
    host.get_feature(FeatureId::TIMESTAMP, 0, 0);
    let stamp = host.bytes(BASE + (60 << 20), 8);
    let ms = u64::from_le_bytes([
        stamp[0], stamp[1], stamp[2], stamp[3], stamp[4], stamp[5], 0, 0,
    ]);
    assert!((1_005_000..1_005_010).contains(&ms), "{ms}");
    assert_eq!(stamp[6] >> 1 & 7, 1);
    assert_eq!(host.read32(register::CSTS) & 1, 1);
}

#[test]
fn requests_for_events_have_a_limit_and_can_be_aborted() {
    use assay_nvme_spec::admin::Abort;
    let mut host = Host::new("samsung-951", &[]);
    let cids: Vec<u16> = (0..5)
        .map(|_| host.put(0, AsyncEventRequest::new().entry()))
        .collect();
    host.ring(0);
    assert_eq!(
        host.wait(0, cids[4]).status(),
        StatusCode::AER_LIMIT_EXCEEDED
    );
    let mut abort = Abort::new();
    abort.set_aborted_cid(cids[1]);
    assert_eq!(host.admin(abort.entry(), 0).dw0(), 0);
    let aborted = host
        .strays
        .iter()
        .find(|stray| stray.cid() == cids[1])
        .unwrap();
    assert_eq!(aborted.status(), StatusCode::ABORT_REQUESTED);
    assert_eq!(host.admin(abort.entry(), 0).dw0(), 1, "it is gone");
    abort.set_sqid(1).set_aborted_cid(77);
    assert_eq!(host.admin(abort.entry(), 0).dw0(), 1);
}
