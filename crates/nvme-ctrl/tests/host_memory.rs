//! Host Memory Buffer: what a host finds, lends and takes back.

use crate::support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{SetFeatures, select};
use assay_nvme_spec::feature::{FeatureId, HostMemoryDescriptor};
use support::{PAGE, TestDriver};

/// A drive without DRAM that prefers 4 MiB.
fn lending() -> TestDriver {
    TestDriver::new("samsung-951", &[("map_cache", "64k"), ("hmb", "4m")])
}

/// Set Features: `pages` pages described by ranges of `described` pages each.
fn lend(driver: &mut TestDriver, enable: bool, pages: u32, described: &[u32]) -> StatusCode {
    let list = driver.pages(PAGE);
    for (at, &pages) in (list..).step_by(16).zip(described) {
        let address = driver.pages(u64::from(pages) * PAGE);
        let mut descriptor = HostMemoryDescriptor::default();
        descriptor.set_address(address).set_pages(pages);
        let written = driver.memory.write(at, descriptor.as_bytes());
        written.expect("the list is mapped");
    }
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::HOST_MEMORY_BUFFER.0).set_value(enable.into()).set_second_value(pages);
    let mut entry = set.entry();
    entry.set_cdw13(list as u32).set_cdw14((list >> 32) as u32).set_cdw15(described.len() as u32);
    driver.admin(entry, 0).status()
}

fn is_lent(driver: &mut TestDriver) -> bool {
    let value = driver.get_feature(FeatureId::HOST_MEMORY_BUFFER, select::CURRENT, 0);
    value.dw0() & 1 == 1
}

#[test]
fn a_host_finds_the_sizes_and_lends_memory() {
    let mut driver = lending();
    let data = driver.controller_data();
    assert_eq!((data.preferred_host_pages(), data.least_host_pages()), (1024, 1));
    assert!(!is_lent(&mut driver), "nothing is lent at power-on");
    assert_eq!(lend(&mut driver, true, 1024, &[512, 512]), StatusCode::SUCCESS);
    assert!(is_lent(&mut driver));
    // Enabled memory cannot be enabled again.
    let again = lend(&mut driver, true, 8, &[8]);
    assert_eq!(again, StatusCode::COMMAND_SEQUENCE_ERROR);
    assert_eq!(lend(&mut driver, false, 0, &[]), StatusCode::SUCCESS);
    assert!(!is_lent(&mut driver));
}

#[test]
fn memory_that_is_too_small_or_not_there_is_refused() {
    let mut driver = lending();
    for (pages, described) in [
        (0, &[8][..]),
        (8, &[]),
        (8, &[4, 3]),
        // Beyond the 64 MiB of the host.
        (20_000, &[20_000]),
    ] {
        let status = lend(&mut driver, true, pages, described);
        assert_eq!(status, StatusCode::INVALID_FIELD, "{pages} {described:?}");
    }
    assert!(!is_lent(&mut driver));
}

#[test]
fn drives_with_dram_have_no_host_memory_buffer() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    assert_eq!(driver.controller_data().preferred_host_pages(), 0);
    assert_eq!(lend(&mut driver, true, 8, &[8]), StatusCode::INVALID_FIELD);
}

/// Random reads over the drive: the lent memory holds the map pages that the controller's own
/// cannot.
#[test]
fn lent_memory_saves_fetches_of_map_pages() {
    let fetched = |lends: bool| {
        let mut driver = lending();
        if lends {
            assert_eq!(lend(&mut driver, true, 1024, &[1024]), StatusCode::SUCCESS);
        }
        // 64 map pages, each four times; 16 fit into the controller.
        for round in 0..4 {
            for page in 0..64_u64 {
                driver.read(page * 8192 + round * 8, 8);
            }
        }
        let counters = driver.controller.drive().map_cache();
        counters.expect("a map on flash").misses
    };
    assert_eq!(fetched(true), 64);
    assert_eq!(fetched(false), 256);
}
