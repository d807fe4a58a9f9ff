//! Flexible Data Placement: what a host finds, and what its placement identifiers do.

use crate::support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::admin::{GetFeatures, GetLogPage, SetFeatures, select};
use assay_nvme_spec::fdp::{
    DATA_PLACEMENT, EnduranceGroupLog, FdpConfiguration, FdpConfigurationsHead, FdpEvent,
    FdpEventDescriptor, FdpEventType, FdpEventsHead, FdpEventsSelection, FdpFeature, FdpStatistics,
    HANDLE_STATUS, HANDLE_UPDATE, HOST_EVENTS, HandleStatus, HandleStatusHead, HandleUsage,
    HandleUsageHead, INITIALLY_ISOLATED, IoManagementReceive, IoManagementSend,
};
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::identify::ctratt;
use assay_nvme_spec::log::LogId;
use assay_nvme_spec::nvm::Write;
use assay_nvme_spec::{NSID_ALL, StatusCode};
use support::{PAGE, TestDriver};

fn placing() -> TestDriver {
    TestDriver::new("samsung-pm9d3a", &[("fdp", "4")])
}

/// A log page of the endurance group.
fn group_log(driver: &mut TestDriver, lid: LogId, len: u32) -> Vec<u8> {
    let at = driver.pages(PAGE);
    let mut command = GetLogPage::for_log(lid, 0, len);
    command.set_nsid(NSID_ALL).set_endurance_group(1);
    let status = driver.admin(command.entry(), at).status();
    assert_eq!(status, StatusCode::SUCCESS, "{lid}");
    driver.bytes(at, len as usize)
}

/// Logical blocks left in the reclaim unit of each handle.
fn left_blocks(driver: &mut TestDriver) -> Vec<u64> {
    let at = driver.pages(PAGE);
    let mut receive = IoManagementReceive::new();
    receive.set_nsid(1).set_operation(HANDLE_STATUS).set_dwords(1023);
    let mut entry = receive.entry();
    entry.set_prps(at, 0);
    assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
    let data = driver.bytes(at, 4096);
    let head = HandleStatusHead::read_from(&data).expect("the head is complete");
    let all = data[HandleStatusHead::SIZE..].chunks_exact(HandleStatus::SIZE);
    let all = all.map(|raw| HandleStatus::read_from(raw).expect("a descriptor is complete"));
    let all: Vec<_> = all.take(head.descriptors().into()).collect();
    for (n, status) in (0..).zip(&all) {
        assert_eq!((status.placement_id(), status.handle()), (n, n));
    }
    all.iter().map(HandleStatus::left_blocks).collect()
}

fn write(driver: &mut TestDriver, slba: u64, directive: u8, specific: u16) -> StatusCode {
    let at = driver.pages(PAGE);
    let mut write = Write::for_blocks(1, slba, 8);
    write.set_directive(directive).set_directive_specific(specific);
    let mut entry = write.entry();
    entry.set_prps(at, 0);
    driver.run(1, entry).status()
}

#[test]
fn a_host_finds_handles_and_units() {
    let mut driver = placing();
    let data = driver.controller_data();
    assert!(data.attributes() & ctratt::FLEXIBLE_DATA_PLACEMENT != 0);
    assert_eq!(data.endurance_groups(), 1);
    assert_eq!(driver.namespace_data().endurance_group(), 1);
    let feature = driver.get_feature(FeatureId::FLEXIBLE_DATA_PLACEMENT, select::CURRENT, 1);
    assert!(FdpFeature::from_raw(feature.dw0()).enabled());
    let len = (FdpConfigurationsHead::SIZE + FdpConfiguration::SIZE + 16) as u32;
    let log = group_log(&mut driver, LogId::FDP_CONFIGURATIONS, len);
    let head = FdpConfigurationsHead::read_from(&log).unwrap();
    assert_eq!((head.configurations(), head.size_bytes()), (0, len));
    let found = FdpConfiguration::read_from(&log[FdpConfigurationsHead::SIZE..]).unwrap();
    let unit_bytes = driver.controller.drive().reclaim_unit_bytes();
    assert!(found.valid());
    assert_eq!((found.groups(), found.handles()), (1, 4));
    assert_eq!(found.unit_bytes(), unit_bytes);
    let types = log[FdpConfigurationsHead::SIZE + FdpConfiguration::SIZE..].chunks(4);
    assert!(types.map(|raw| raw[0]).all(|kind| kind == INITIALLY_ISOLATED));
    let log = group_log(&mut driver, LogId::HANDLE_USAGE, 40);
    assert_eq!(HandleUsageHead::read_from(&log).unwrap().handles(), 4);
    let usage = HandleUsage::read_from(&log[HandleUsageHead::SIZE..]).unwrap();
    assert_eq!(usage.attributes(), 1);
    assert_eq!(left_blocks(&mut driver), [unit_bytes / 512; 4]);
}

#[test]
fn placement_identifiers_choose_the_reclaim_unit() {
    let mut driver = placing();
    let size = driver.controller.drive().reclaim_unit_bytes() / 512;
    for (slba, directive, specific) in [
        (0, 0, 3),
        (8, DATA_PLACEMENT, 2),
        (16, DATA_PLACEMENT, 2),
        (24, DATA_PLACEMENT, 1),
        // No such handle: the first.
        (32, DATA_PLACEMENT, 99),
    ] {
        let status = write(&mut driver, slba, directive, specific);
        assert_eq!(status, StatusCode::SUCCESS);
    }
    assert_eq!(left_blocks(&mut driver), [size - 16, size - 8, size - 16, size]);
    let streams = write(&mut driver, 0, 1, 1);
    assert_eq!(streams, StatusCode::INVALID_FIELD, "streams are not supported");
    let log = group_log(&mut driver, LogId::FDP_STATISTICS, 64);
    let statistics = FdpStatistics::read_from(&log).unwrap();
    assert_eq!(statistics.host_bytes(), 5 * 4096);
    let now = driver.now;
    let health = driver.controller.drive_mut().telemetry(now);
    assert_eq!(statistics.media_bytes(), health.nand_bytes_written.into());
    let log = group_log(&mut driver, LogId::ENDURANCE_GROUP, 512);
    let group = EnduranceGroupLog::read_from(&log).unwrap();
    assert_eq!((group.host_writes(), group.gigabytes_written()), (5, 1));
    // The rated cycles of all flash, in billions of bytes, rounded up.
    let rated_bytes = driver.controller.drive().rated_media_bytes().unwrap();
    assert!(rated_bytes > driver.controller.drive().identity().capacity_bytes);
    let estimate = group.endurance_gigabytes();
    assert_eq!(estimate, u128::from(rated_bytes.div_ceil(1_000_000_000)));
}

#[test]
fn it_can_neither_be_switched_off_nor_used_without_handles() {
    let mut driver = placing();
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::FLEXIBLE_DATA_PLACEMENT.0).set_value(1);
    let off = driver.admin(set.entry(), 0).status();
    assert_eq!(off, StatusCode::COMMAND_SEQUENCE_ERROR, "a namespace exists");
    set.set_second_value(1);
    assert_eq!(driver.admin(set.entry(), 0).status(), StatusCode::SUCCESS);
    let other = driver.get_feature(FeatureId::FLEXIBLE_DATA_PLACEMENT, select::CURRENT, 2);
    assert_eq!(other.status(), StatusCode::INVALID_FIELD);

    let mut plain = TestDriver::new("samsung-pm9d3a", &[]);
    let data = plain.controller_data();
    assert_eq!((data.attributes(), data.endurance_groups()), (0, 0));
    let at = plain.pages(PAGE);
    let mut command = GetLogPage::for_log(LogId::FDP_STATISTICS, 0, 64);
    command.set_nsid(NSID_ALL).set_endurance_group(1);
    let status = plain.admin(command.entry(), at).status();
    assert_eq!(status, StatusCode::INVALID_LOG_PAGE);
    let mut receive = IoManagementReceive::new();
    receive.set_nsid(1).set_operation(HANDLE_STATUS);
    let mut entry = receive.entry();
    entry.set_prps(at, 0);
    assert_eq!(plain.run(1, entry).status(), StatusCode::INVALID_OPCODE);
    let feature = plain.get_feature(FeatureId::FLEXIBLE_DATA_PLACEMENT, select::CURRENT, 1);
    assert_eq!(feature.status(), StatusCode::INVALID_FIELD);
}

/// I/O Management Send of a list of placement identifiers.
fn update(driver: &mut TestDriver, identifiers: &[u16]) -> StatusCode {
    let at = driver.pages(PAGE);
    let list: Vec<u8> = identifiers.iter().flat_map(|id| id.to_le_bytes()).collect();
    driver.memory.write(at, &list).expect("mapped");
    let mut send = IoManagementSend::new();
    send.set_nsid(1).set_operation(HANDLE_UPDATE).set_count(identifiers.len() as u16 - 1);
    let mut entry = send.entry();
    entry.set_prps(at, 0);
    driver.run(1, entry).status()
}

/// Enable all supported event types of a handle.
fn enable_events(driver: &mut TestDriver, handle: u16) {
    let at = driver.pages(PAGE);
    let kinds = [FdpEventType::NOT_FULLY_WRITTEN.0, FdpEventType::INVALID_PLACEMENT_ID.0];
    driver.memory.write(at, &kinds).expect("mapped");
    let mut selection = FdpEventsSelection::default();
    selection.set_placement_handle(handle).set_types(2);
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::FDP_EVENTS.0).set_value(selection.raw()).set_second_value(1);
    assert_eq!(driver.admin(set.entry(), at).status(), StatusCode::SUCCESS);
}

/// Supported event types of a handle with their states, by Get Features with room for so many.
fn enabled_events(driver: &mut TestDriver, handle: u16, select: u8, types: u8) -> Vec<(u8, bool)> {
    let at = driver.pages(PAGE);
    let mut selection = FdpEventsSelection::default();
    selection.set_placement_handle(handle).set_types(types);
    let mut get = GetFeatures::new();
    get.set_fid(FeatureId::FDP_EVENTS.0).set_select(select).set_value(selection.raw());
    let reply = driver.admin(get.entry(), at);
    assert_eq!(reply.status(), StatusCode::SUCCESS);
    let data = driver.bytes(at, reply.dw0() as usize * FdpEventDescriptor::SIZE);
    data.chunks_exact(FdpEventDescriptor::SIZE)
        .map(|raw| FdpEventDescriptor::read_from(raw).expect("a descriptor"))
        .map(|descriptor| (descriptor.kind(), descriptor.enabled()))
        .collect()
}

/// Logged host events: type, placement identifier, handle.
fn events(driver: &mut TestDriver) -> Vec<(u8, u16, u8)> {
    let at = driver.pages(PAGE);
    let mut command = GetLogPage::for_log(LogId::FDP_EVENTS, 0, 4096);
    command.set_nsid(NSID_ALL).set_endurance_group(1).set_log_specific(HOST_EVENTS);
    let status = driver.admin(command.entry(), at).status();
    assert_eq!(status, StatusCode::SUCCESS);
    let log = driver.bytes(at, 4096);
    let count = FdpEventsHead::read_from(&log).expect("a head").events() as usize;
    let all = log[FdpEventsHead::SIZE..].chunks_exact(FdpEvent::SIZE);
    all.take(count)
        .map(|raw| FdpEvent::read_from(raw).expect("an event"))
        .map(|event| (event.kind(), event.placement_id(), event.handle()))
        .collect()
}

#[test]
fn a_host_that_leaves_a_reclaim_unit_early_gets_an_empty_one_and_an_event() {
    let mut driver = placing();
    let size = driver.controller.drive().reclaim_unit_bytes() / 512;
    let (not_full, unknown) =
        (FdpEventType::NOT_FULLY_WRITTEN.0, FdpEventType::INVALID_PLACEMENT_ID.0);
    for slba in [0, 8] {
        assert_eq!(write(&mut driver, slba, DATA_PLACEMENT, 2), StatusCode::SUCCESS);
    }
    assert_eq!(update(&mut driver, &[2]), StatusCode::SUCCESS);
    assert_eq!(left_blocks(&mut driver)[2], size, "an empty unit");
    assert_eq!(events(&mut driver), [], "no event is enabled at power-on");
    enable_events(&mut driver, 2);
    enable_events(&mut driver, 0);
    let known = |enabled: bool| [(not_full, enabled), (unknown, enabled)];
    for (handle, select, enabled) in
        [(2, select::CURRENT, true), (2, select::DEFAULT, false), (1, select::CURRENT, false)]
    {
        let found = enabled_events(&mut driver, handle, select, 255);
        assert_eq!(found, known(enabled), "{handle} {select}");
    }
    assert_eq!(enabled_events(&mut driver, 2, select::CURRENT, 1), [(not_full, true)]);
    assert_eq!(write(&mut driver, 16, DATA_PLACEMENT, 2), StatusCode::SUCCESS);
    // Nothing was written to handle 1, and no event of it is enabled.
    assert_eq!(update(&mut driver, &[1, 2]), StatusCode::SUCCESS);
    assert_eq!(write(&mut driver, 24, DATA_PLACEMENT, 99), StatusCode::SUCCESS);
    assert_eq!(events(&mut driver), [(not_full, 2, 2), (unknown, 99, 0)]);
    assert_eq!(update(&mut driver, &[1, 4]), StatusCode::INVALID_FIELD);
    // The data are where they were written.
    assert_eq!(left_blocks(&mut driver), [size - 8, size, size, size]);
    for slba in [0, 8, 16, 24] {
        assert_eq!(driver.read(slba, 8).0, StatusCode::SUCCESS);
    }
    let len = FdpEventsHead::SIZE as u32;
    let of_controller = group_log(&mut driver, LogId::FDP_EVENTS, len);
    assert_eq!(FdpEventsHead::read_from(&of_controller).unwrap().events(), 0);
}
