//! Flexible Data Placement: what a host finds, and what its placement identifiers do.

mod support;

use assay_nvme_spec::admin::{GetLogPage, SetFeatures, select};
use assay_nvme_spec::fdp::{
    DATA_PLACEMENT, EnduranceGroupLog, FdpConfiguration, FdpConfigurationsHead, FdpFeature,
    FdpStatistics, HANDLE_STATUS, HandleStatus, HandleStatusHead, HandleUsage, HandleUsageHead,
    INITIALLY_ISOLATED, IoManagementReceive,
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
    let mut command = GetLogPage::of(lid, 0, len);
    command.set_nsid(NSID_ALL).set_endurance_group(1);
    let status = driver.admin(command.entry(), at).status();
    assert_eq!(status, StatusCode::SUCCESS, "{lid}");
    driver.bytes(at, len as usize)
}

/// Logical blocks left in the reclaim unit of each handle.
fn left_blocks(driver: &mut TestDriver) -> Vec<u64> {
    let at = driver.pages(PAGE);
    let mut receive = IoManagementReceive::new();
    receive
        .set_nsid(1)
        .set_operation(HANDLE_STATUS)
        .set_dwords(1023);
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
    let mut write = Write::of(1, slba, 8);
    write
        .set_directive(directive)
        .set_directive_specific(specific);
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
    assert!(
        types
            .map(|raw| raw[0])
            .all(|kind| kind == INITIALLY_ISOLATED)
    );
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
    assert_eq!(
        left_blocks(&mut driver),
        [size - 16, size - 8, size - 16, size]
    );
    let streams = write(&mut driver, 0, 1, 1);
    assert_eq!(
        streams,
        StatusCode::INVALID_FIELD,
        "streams are not supported"
    );
    let log = group_log(&mut driver, LogId::FDP_STATISTICS, 64);
    let statistics = FdpStatistics::read_from(&log).unwrap();
    assert_eq!(statistics.host_bytes(), 5 * 4096);
    let now = driver.now;
    let health = driver.controller.drive_mut().telemetry(now);
    assert_eq!(statistics.media_bytes(), health.nand_bytes_written.into());
    let log = group_log(&mut driver, LogId::ENDURANCE_GROUP, 512);
    let group = EnduranceGroupLog::read_from(&log).unwrap();
    assert_eq!((group.host_writes(), group.gigabytes_written()), (5, 1));
}

#[test]
fn it_can_neither_be_switched_off_nor_used_without_handles() {
    let mut driver = placing();
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::FLEXIBLE_DATA_PLACEMENT.0)
        .set_value(1);
    let off = driver.admin(set.entry(), 0).status();
    assert_eq!(
        off,
        StatusCode::COMMAND_SEQUENCE_ERROR,
        "a namespace exists"
    );
    set.set_second_value(1);
    assert_eq!(driver.admin(set.entry(), 0).status(), StatusCode::SUCCESS);
    let other = driver.get_feature(FeatureId::FLEXIBLE_DATA_PLACEMENT, select::CURRENT, 2);
    assert_eq!(other.status(), StatusCode::INVALID_FIELD);

    let mut plain = TestDriver::new("samsung-pm9d3a", &[]);
    let data = plain.controller_data();
    assert_eq!((data.attributes(), data.endurance_groups()), (0, 0));
    let at = plain.pages(PAGE);
    let mut command = GetLogPage::of(LogId::FDP_STATISTICS, 0, 64);
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
