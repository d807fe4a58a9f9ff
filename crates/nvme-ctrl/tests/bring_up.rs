//! Bring-up: identification, configuration, registers, reset, shutdown.

use crate::support;

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::identify::{Cns, NamespaceIdType, namespace_descriptors, namespace_list};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::register::{self, Configuration, Version, shutdown_status};
use assay_units::Nanos;
use support::{PAGE, TestDriver, drive, read_at};

#[test]
fn identify_describes_the_profile() {
    let mut driver = TestDriver::powered_on(drive("samsung-951", &[]));
    let cap = driver.capabilities();
    assert_eq!(
        (cap.mqes(), cap.contiguous_queues(), cap.mps_min(), cap.css()),
        (16_383, true, 0, 1)
    );
    assert_eq!(Version::from_raw(driver.read32(register::VS)).to_string(), "1.1");
    assert!(!driver.status().ready());
    driver.enable();
    let data = driver.controller_data();
    assert_eq!(data.model(), "SAMSUNG MZVPV128HDGM-00000 (simulated)");
    assert_eq!(data.serial(), "SIM-SAMSUNG-951-0");
    assert_eq!(data.max_transfer_bytes(0), Some(131_072));
    let states: Vec<_> = data.power_state_descriptors().collect();
    assert_eq!(states.len(), 5);
    let last = states[4];
    assert_eq!(
        (
            last.max_power_uw(),
            last.non_operational(),
            last.entry_latency_us(),
            last.exit_latency_us()
        ),
        (5_000, true, 2_000, 22_000)
    );
    assert_eq!(states[0].max_power_uw(), 9_000_000);
    assert_eq!(data.apsta(), 1);
    let space = driver.namespace_data();
    assert_eq!(
        (space.size_bytes(), space.format().block_bytes()),
        (Some(128_035_676_160), Some(512))
    );
    assert_eq!(
        space.formats().filter_map(|format| format.block_bytes()).collect::<Vec<_>>(),
        [512, 4096]
    );
    let (_, list) = driver.identify(Cns::ACTIVE_NAMESPACES, 0);
    assert_eq!(namespace_list(&list).collect::<Vec<_>>(), [1]);
    let (_, list) = driver.identify(Cns::ACTIVE_NAMESPACES, 1);
    assert_eq!(namespace_list(&list).count(), 0);
    let (_, list) = driver.identify(Cns::NAMESPACE_DESCRIPTORS, 1);
    let kinds: Vec<_> = namespace_descriptors(&list).map(|found| found.kind).collect();
    assert_eq!(
        kinds,
        [
            NamespaceIdType::EUI64,
            NamespaceIdType::NGUID,
            NamespaceIdType::UUID,
            NamespaceIdType::CSI
        ]
    );
    for (cns, nsid, status) in [
        (Cns::NAMESPACE, 2, StatusCode::INVALID_NAMESPACE),
        (Cns::NAMESPACE, 0, StatusCode::INVALID_NAMESPACE),
        (Cns::NAMESPACE_DESCRIPTORS, 7, StatusCode::INVALID_NAMESPACE),
        (Cns::ACTIVE_NAMESPACES, 0xffff_ffff, StatusCode::INVALID_NAMESPACE),
        (Cns::PRIMARY_CAPABILITIES, 0, StatusCode::INVALID_FIELD),
        (Cns(0xee), 1, StatusCode::INVALID_FIELD),
        (Cns::NAMESPACE, 0xffff_ffff, StatusCode::SUCCESS),
        (Cns::COMMAND_SET_CONTROLLER, 0, StatusCode::SUCCESS),
        (Cns::COMMAND_SET_NAMESPACE, 1, StatusCode::SUCCESS),
        (Cns::INDEPENDENT_NAMESPACE, 1, StatusCode::SUCCESS),
        (Cns::COMMAND_SETS, 0, StatusCode::SUCCESS),
        (Cns::CONTROLLERS, 0, StatusCode::SUCCESS),
    ] {
        assert_eq!(driver.identify(cns, nsid).0, status, "{cns} of {nsid}");
    }
}

/// A block size of the profile other than 512 bytes and 4 KiB is an LBA format of its own.
#[test]
fn identify_reports_the_block_size_of_the_profile() {
    for bytes in [512, 1024, 2048, 4096] {
        let mut profile = assay_ssd::Profile::builtin("samsung-951").expect("a profile");
        profile.identity.logical_block_bytes.value = bytes;
        let drive = assay_ssd::Drive::new(profile, Default::default()).expect("a drive");
        let mut driver = TestDriver::powered_on(drive);
        driver.enable();
        let space = driver.namespace_data();
        assert_eq!(space.format().block_bytes(), Some(bytes));
        assert_eq!(space.size_bytes(), Some(128_035_676_160));
        let sizes: Vec<_> = space.formats().filter_map(|f| f.block_bytes()).collect();
        assert!(sizes.is_sorted() && sizes.contains(&512) && sizes.contains(&4096), "{sizes:?}");
    }
}

/// Every profile initializes, reads, and reports its own properties.
#[test]
fn every_profile_initializes() {
    for name in assay_ssd::Profile::names() {
        let mut driver = TestDriver::new(name, &[]);
        let identity = driver.controller.drive().identity().clone();
        let granted = driver.get_feature(FeatureId::NUMBER_OF_QUEUES, 0, 0).dw0();
        assert_eq!(granted & 0xffff, u32::from(identity.queue_pairs) - 1, "{name}");
        assert_eq!(driver.namespace_data().size_bytes(), Some(identity.capacity_bytes), "{name}");
        assert_eq!(
            driver.controller_data().power_state_descriptors().count(),
            identity.power_states.len(),
            "{name}"
        );
        let at = driver.pages(PAGE);
        assert_eq!(driver.run(1, read_at(0, at)).status(), StatusCode::SUCCESS, "{name}");
        assert!(driver.raised.contains(1), "{name}");
    }
}

#[test]
fn bad_configurations_are_fatal_until_reset() {
    let mut enable = Configuration::default();
    enable.set_enable(true);
    for (aqa, change) in [
        (0, 0),
        (0x001f_0000, 0),
        (0x001f_001f, 5 << 7),
        (0x001f_001f, 1 << 11),
        (0x001f_001f, 6 << 4),
    ] {
        let mut driver = TestDriver::powered_on(drive("samsung-951", &[]));
        driver.write32(register::AQA, aqa);
        driver.write32(register::CC, enable.raw() | change);
        driver.advance_to(Nanos::from_secs(1));
        assert!(driver.status().fatal() && !driver.status().ready(), "{aqa:x} {change:x}");
        driver.enable();
        assert!(!driver.status().fatal());
    }
    // Queues in unmapped memory.
    let mut driver = TestDriver::powered_on(drive("samsung-951", &[]));
    driver.write32(register::AQA, 0x001f_001f);
    driver.write32(register::CC, enable.raw());
    driver.advance_to(Nanos::from_millis(2));
    assert!(driver.status().ready());
    driver.write32(register::sq_doorbell(0, 0), 1);
    driver.advance_to(Nanos::from_millis(3));
    assert!(driver.status().fatal());
    assert_eq!(driver.controller.next_event(), None);
}

#[test]
fn registers_keep_their_writable_bits() {
    let mut driver = TestDriver::powered_on(drive("samsung-951", &[]));
    driver.controller.write_register(Nanos::ZERO, register::ASQ, 8, u64::MAX);
    assert_eq!(driver.controller.read_register(register::ASQ, 8), !0xfff);
    assert_eq!(driver.controller.read_register(register::ASQ + 4, 4), 0xffff_ffff);
    assert_eq!(driver.controller.read_register(register::ASQ + 1, 1), 0xf0);
    driver.write32(register::INTMS, 0b110);
    driver.write32(register::INTMC, 0b010);
    assert_eq!((driver.read32(register::INTMS), driver.read32(register::INTMC)), (0b100, 0b100));
    driver.write32(register::VS, 7);
    driver.controller.write_register(Nanos::ZERO, register::AQA + 2, 4, 7);
    driver.controller.write_register(Nanos::ZERO, register::AQA, 2, 7);
    assert_eq!(driver.read32(register::AQA), 0);
    assert_eq!(driver.controller.read_register(1 << 40, 8), 0);
}

#[test]
fn a_reset_discards_queues_and_commands() {
    let mut driver = TestDriver::new("samsung-951", &[("data", "keep")]);
    assert_eq!(driver.write(0, &[5; 4096]).status(), StatusCode::SUCCESS);
    let at = driver.pages(PAGE);
    driver.put(1, read_at(0, at));
    driver.ring(1);
    driver.step_to_fetch();
    driver.write32(register::CC, 0);
    assert!(!driver.status().ready());
    driver.advance_to(driver.now + Nanos::from_secs(1));
    assert_eq!(driver.bytes(at, 4096), [0; 4096], "no transfer after a reset");
    driver.enable();
    driver.set_queues(1);
    driver.create_pair(1, 16);
    assert_eq!(driver.read(0, 8).1, [5; 4096]);
}

impl TestDriver {
    /// Fetches commands without completing them.
    fn step_to_fetch(&mut self) {
        let raised = self.controller.advance(self.now, &mut self.memory);
        assert!(raised.is_empty());
    }
}

/// Data is durable after a completed shutdown; without one, a loss of power may lose cached data.
#[test]
fn a_shutdown_flushes_the_write_cache() {
    for (notify, kept) in [(true, true), (false, false)] {
        let mut driver = TestDriver::new("samsung-951", &[("data", "keep"), ("state", "fresh")]);
        for n in 0..8 {
            assert_eq!(driver.write(n * 8, &[7; 4096]).status(), StatusCode::SUCCESS);
        }
        if notify {
            let mut cc = Configuration::from_raw(driver.read32(register::CC));
            cc.set_shutdown(1);
            driver.write32(register::CC, cc.raw());
            assert_eq!(driver.status().shutdown(), shutdown_status::OCCURRING);
            while driver.status().shutdown() != shutdown_status::COMPLETE {
                assert!(driver.next_event());
            }
        }
        let now = driver.now;
        driver.controller.drive_mut().power_loss(now);
        driver.enable();
        driver.set_queues(1);
        driver.create_pair(1, 16);
        let all = (0..8).all(|n| driver.read(n * 8, 8).1 == [7; 4096]);
        assert_eq!(all, kept);
    }
}

/// Memory pages of 64 KiB.
#[test]
fn larger_memory_pages() {
    let mut driver = TestDriver::powered_on(drive("samsung-951", &[("data", "keep")]));
    driver.write32(register::AQA, 0x001f_001f);
    let (sq, cq) = (driver.pages(PAGE), driver.pages(PAGE));
    driver.controller.write_register(driver.now, register::ASQ, 8, sq);
    driver.controller.write_register(driver.now, register::ACQ, 8, cq);
    let mut cc = Configuration::default();
    cc.set_enable(true).set_mps(4).set_io_sq_entry_size(6).set_io_cq_entry_size(4);
    driver.write32(register::CC, cc.raw());
    driver.advance_to(Nanos::from_millis(2));
    assert!(driver.status().ready());
    driver.adopt_admin(sq, cq);
    let queues = (support::BASE + (1 << 20)).next_multiple_of(1 << 16);
    driver.create_pair_at(1, 16, queues, queues + (1 << 16));
    let data = queues + (2 << 16);
    let bytes: Vec<u8> = (0..131_072_u32).map(|n| (n / 7) as u8).collect();
    assay_nvme_ctrl::HostMemory::write(&mut driver.memory, data + 4096, &bytes).unwrap();
    let mut write = assay_nvme_spec::nvm::Write::for_blocks(1, 0, 256).entry();
    // From 4 KiB into the first page: 60 KiB, 64 KiB, 4 KiB.
    let list = data + (4 << 16);
    for (n, page) in [1_u64, 2].into_iter().enumerate() {
        let page = data + (page << 16);
        assay_nvme_ctrl::HostMemory::write(
            &mut driver.memory,
            list + 8 * n as u64,
            &page.to_le_bytes(),
        )
        .unwrap();
    }
    write.set_prps(data + 4096, list);
    assert_eq!(driver.run(1, write).status(), StatusCode::SUCCESS);
    let mut read = Read::for_blocks(1, 0, 256).entry();
    let out = data + (8 << 16);
    for (n, page) in [1_u64, 2].into_iter().enumerate() {
        let page = out + (page << 16);
        assay_nvme_ctrl::HostMemory::write(
            &mut driver.memory,
            list + 8 * n as u64,
            &page.to_le_bytes(),
        )
        .unwrap();
    }
    read.set_prps(out + 4096, list);
    assert_eq!(driver.run(1, read).status(), StatusCode::SUCCESS);
    assert_eq!(driver.bytes(out + 4096, 131_072), bytes);
}
