//! From power-on to the first command, queues, resets and shutdown.

mod support;

use assay_nvme_spec::admin::{
    CreateCompletionQueue, CreateSubmissionQueue, DeleteCompletionQueue, DeleteSubmissionQueue,
};
use assay_nvme_spec::feature::{
    AsyncEvent, AsyncEventType, FeatureId, InterruptCoalescing, InterruptVector, event,
};
use assay_nvme_spec::identify::{Cns, NamespaceIdType, namespace_descriptors, namespace_list};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::register::{self, Configuration, Version, shutdown_status};
use assay_nvme_spec::{StatusCode, SubmissionEntry, admin};
use assay_units::Nanos;
use support::{Host, PAGE, drive};

fn read_at(slba: u64, at: u64) -> SubmissionEntry {
    let mut entry = Read::of(1, slba, 8).entry();
    entry.set_prps(at, 0);
    entry
}

#[test]
fn a_host_finds_the_drive_that_the_profile_describes() {
    let mut host = Host::cold(drive("samsung-951", &[]));
    let cap = host.capabilities();
    assert_eq!(
        (
            cap.mqes(),
            cap.contiguous_queues(),
            cap.mps_min(),
            cap.css()
        ),
        (16_383, true, 0, 1)
    );
    assert_eq!(
        Version::from_raw(host.read32(register::VS)).to_string(),
        "1.1"
    );
    assert!(!host.status().ready());
    host.enable();
    let data = host.controller_data();
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
    let space = host.namespace_data();
    assert_eq!(
        (space.size_bytes(), space.format().block_bytes()),
        (Some(128_035_676_160), Some(512))
    );
    assert_eq!(
        space
            .formats()
            .filter_map(|format| format.block_bytes())
            .collect::<Vec<_>>(),
        [512, 4096]
    );
    let (_, list) = host.identify(Cns::ACTIVE_NAMESPACES, 0);
    assert_eq!(namespace_list(&list).collect::<Vec<_>>(), [1]);
    let (_, list) = host.identify(Cns::ACTIVE_NAMESPACES, 1);
    assert_eq!(namespace_list(&list).count(), 0);
    let (_, list) = host.identify(Cns::NAMESPACE_DESCRIPTORS, 1);
    let kinds: Vec<_> = namespace_descriptors(&list)
        .map(|found| found.kind)
        .collect();
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
        (
            Cns::ACTIVE_NAMESPACES,
            0xffff_ffff,
            StatusCode::INVALID_NAMESPACE,
        ),
        (Cns::PRIMARY_CAPABILITIES, 0, StatusCode::INVALID_FIELD),
        (Cns(0xee), 1, StatusCode::INVALID_FIELD),
        (Cns::NAMESPACE, 0xffff_ffff, StatusCode::SUCCESS),
        (Cns::COMMAND_SET_CONTROLLER, 0, StatusCode::SUCCESS),
        (Cns::COMMAND_SET_NAMESPACE, 1, StatusCode::SUCCESS),
        (Cns::INDEPENDENT_NAMESPACE, 1, StatusCode::SUCCESS),
        (Cns::COMMAND_SETS, 0, StatusCode::SUCCESS),
        (Cns::CONTROLLERS, 0, StatusCode::SUCCESS),
    ] {
        assert_eq!(host.identify(cns, nsid).0, status, "{cns} of {nsid}");
    }
}

/// Every profile can be brought up, read from, and says its own numbers.
#[test]
fn every_profile_comes_up() {
    for name in assay_ssd::Profile::names() {
        let mut host = Host::new(name, &[]);
        let identity = host.controller.drive().identity().clone();
        let granted = host.get_feature(FeatureId::NUMBER_OF_QUEUES, 0, 0).dw0();
        assert_eq!(
            granted & 0xffff,
            u32::from(identity.queue_pairs) - 1,
            "{name}"
        );
        assert_eq!(
            host.namespace_data().size_bytes(),
            Some(identity.capacity_bytes),
            "{name}"
        );
        assert_eq!(
            host.controller_data().power_state_descriptors().count(),
            identity.power_states.len(),
            "{name}"
        );
        let at = host.pages(PAGE);
        assert_eq!(
            host.run(1, read_at(0, at)).status(),
            StatusCode::SUCCESS,
            "{name}"
        );
        assert!(host.raised.contains(1), "{name}");
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
        let mut host = Host::cold(drive("samsung-951", &[]));
        host.write32(register::AQA, aqa);
        host.write32(register::CC, enable.raw() | change);
        host.live(Nanos::from_secs(1));
        assert!(
            host.status().fatal() && !host.status().ready(),
            "{aqa:x} {change:x}"
        );
        host.enable();
        assert!(!host.status().fatal());
    }
    // Queues that are not in memory.
    let mut host = Host::cold(drive("samsung-951", &[]));
    host.write32(register::AQA, 0x001f_001f);
    host.write32(register::CC, enable.raw());
    host.live(Nanos::from_millis(2));
    assert!(host.status().ready());
    host.write32(register::sq_doorbell(0, 0), 1);
    host.live(Nanos::from_millis(3));
    assert!(host.status().fatal());
    assert_eq!(host.controller.next_event(), None);
}

#[test]
fn registers_hold_what_they_should() {
    let mut host = Host::cold(drive("samsung-951", &[]));
    host.controller
        .write_register(Nanos::ZERO, register::ASQ, 8, u64::MAX);
    assert_eq!(host.controller.read_register(register::ASQ, 8), !0xfff);
    assert_eq!(
        host.controller.read_register(register::ASQ + 4, 4),
        0xffff_ffff
    );
    assert_eq!(host.controller.read_register(register::ASQ + 1, 1), 0xf0);
    host.write32(register::INTMS, 0b110);
    host.write32(register::INTMC, 0b010);
    assert_eq!(
        (host.read32(register::INTMS), host.read32(register::INTMC)),
        (0b100, 0b100)
    );
    host.write32(register::VS, 7);
    host.controller
        .write_register(Nanos::ZERO, register::AQA + 2, 4, 7);
    host.controller
        .write_register(Nanos::ZERO, register::AQA, 2, 7);
    assert_eq!(host.read32(register::AQA), 0);
    assert_eq!(host.controller.read_register(1 << 40, 8), 0);
    assert!(host.controller.register_bytes() >= 0x1000 + 9 * 8);
}

#[test]
fn queues_are_created_and_deleted_as_the_specification_has_it() {
    let mut host = Host::new("samsung-951", &[]);
    let page = host.pages(PAGE);
    let create_cq = |qid, size, vector| {
        let mut create = CreateCompletionQueue::new();
        create
            .set_qid(qid)
            .set_size(size)
            .set_contiguous(true)
            .set_interrupts(true)
            .set_vector(vector);
        create.entry()
    };
    let create_sq = |qid, size, cqid| {
        let mut create = CreateSubmissionQueue::new();
        create
            .set_qid(qid)
            .set_size(size)
            .set_contiguous(true)
            .set_cqid(cqid);
        create.entry()
    };
    let mut scattered = CreateCompletionQueue::from(create_cq(2, 3, 0));
    scattered.set_contiguous(false);
    for (entry, prp1, status) in [
        (create_cq(0, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_cq(1, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_cq(9, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_cq(2, 0, 0), page, StatusCode::INVALID_QUEUE_SIZE),
        (
            create_cq(2, 16_384, 0),
            page,
            StatusCode::INVALID_QUEUE_SIZE,
        ),
        (
            create_cq(2, 3, 9),
            page,
            StatusCode::INVALID_INTERRUPT_VECTOR,
        ),
        (
            create_cq(2, 3, 0),
            page + 64,
            StatusCode::INVALID_PRP_OFFSET,
        ),
        (scattered.entry(), page, StatusCode::INVALID_FIELD),
        (create_sq(2, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (
            create_sq(2, 3, 3),
            page,
            StatusCode::COMPLETION_QUEUE_INVALID,
        ),
        (create_sq(1, 3, 1), page, StatusCode::INVALID_QUEUE_ID),
        (create_sq(2, 0, 1), page, StatusCode::INVALID_QUEUE_SIZE),
    ] {
        assert_eq!(host.admin(entry, prp1).status(), status, "{entry:?}");
    }
    let delete_cq = |qid| {
        let mut delete = DeleteCompletionQueue::new();
        delete.set_qid(qid);
        delete.entry()
    };
    let delete_sq = |qid| {
        let mut delete = DeleteSubmissionQueue::new();
        delete.set_qid(qid);
        delete.entry()
    };
    assert_eq!(
        host.admin(delete_cq(1), 0).status(),
        StatusCode::INVALID_QUEUE_DELETION
    );
    assert_eq!(
        host.admin(delete_cq(0), 0).status(),
        StatusCode::INVALID_QUEUE_ID
    );
    assert_eq!(
        host.admin(delete_sq(5), 0).status(),
        StatusCode::INVALID_QUEUE_ID
    );
    let at = host.pages(PAGE);
    host.put(1, read_at(0, at));
    host.ring(1);
    assert_eq!(host.admin(delete_sq(1), 0).status(), StatusCode::SUCCESS);
    assert_eq!(host.admin(delete_cq(1), 0).status(), StatusCode::SUCCESS);
    host.live(Nanos::from_secs(1));
    assert_eq!(
        host.set_queues(4).submission(),
        3,
        "no queues: their number may be asked for again"
    );
    host.create_pair(1, 8);
    assert_eq!(host.run(1, read_at(0, at)).status(), StatusCode::SUCCESS);
    let again = host.set_feature(FeatureId::NUMBER_OF_QUEUES, 0);
    assert_eq!(again.status(), StatusCode::COMMAND_SEQUENCE_ERROR);
}

/// More commands than the completion queue holds, around both queues' ends many times; nothing is lost, order and phase are right.
#[test]
fn queues_wrap_and_completion_queues_fill_up() {
    let mut host = Host::new("samsung-951", &[]);
    host.create_pair(2, 5);
    let at = host.pages(PAGE);
    let mut waiting = std::collections::HashSet::new();
    let mut seen = 0;
    for round in 0..300_u64 {
        for _ in 0..4 {
            waiting.insert(host.put(2, read_at(round * 8, at)));
        }
        host.ring(2);
        // They complete, but the host does not look: a second batch finds the queue full.
        host.live(host.now + Nanos::from_millis(1));
        for _ in 0..4 {
            waiting.insert(host.put(2, read_at(round * 16, at)));
        }
        host.ring(2);
        host.live(host.now + Nanos::from_millis(1));
        while !waiting.is_empty() {
            for entry in host.poll(2) {
                assert_eq!((entry.status(), entry.sqid()), (StatusCode::SUCCESS, 2));
                assert!(waiting.remove(&entry.cid()), "{entry:?}");
                seen += 1;
            }
            assert!(waiting.is_empty() || host.next());
        }
    }
    assert_eq!(seen, 2400);
}

#[test]
fn doorbells_that_cannot_be_are_told_of() {
    let mut host = Host::new("samsung-951", &[]);
    let request = admin::AsyncEventRequest::new().entry();
    let cid = host.put(0, request);
    host.ring(0);
    host.write32(register::sq_doorbell(7, 0), 1);
    let told = AsyncEvent::from_raw(host.wait(0, cid).dw0());
    assert_eq!(
        (told.event_type(), told.information(), told.lid()),
        (AsyncEventType::ERROR.0, event::INVALID_DOORBELL_REGISTER, 1)
    );
    host.log(assay_nvme_spec::log::LogId::ERROR, 64);
    for offset in [register::sq_doorbell(1, 0), register::cq_doorbell(1, 0)] {
        let cid = host.put(0, request);
        host.ring(0);
        host.write32(offset, 64);
        let told = AsyncEvent::from_raw(host.wait(0, cid).dw0());
        assert_eq!(told.information(), event::INVALID_DOORBELL_VALUE);
        host.log(assay_nvme_spec::log::LogId::ERROR, 64);
    }
    host.write32(register::cq_doorbell(1, 0), 3);
    host.write32(1 << 20, 3);
    let at = host.pages(PAGE);
    assert_eq!(
        host.run(1, read_at(0, at)).status(),
        StatusCode::SUCCESS,
        "it goes on"
    );
}

#[test]
fn a_reset_forgets_queues_and_commands_and_the_controller_comes_back() {
    let mut host = Host::new("samsung-951", &[("data", "keep")]);
    assert_eq!(host.write(0, &[5; 4096]).status(), StatusCode::SUCCESS);
    let at = host.pages(PAGE);
    host.put(1, read_at(0, at));
    host.ring(1);
    host.step_to_fetch();
    host.write32(register::CC, 0);
    assert!(!host.status().ready());
    host.live(host.now + Nanos::from_secs(1));
    assert_eq!(
        host.bytes(at, 4096),
        [0; 4096],
        "nothing moves after a reset"
    );
    host.enable();
    host.set_queues(1);
    host.create_pair(1, 16);
    assert_eq!(host.read(0, 8).1, [5; 4096]);
}

impl Host {
    /// Commands rung for are fetched, and not done.
    fn step_to_fetch(&mut self) {
        let raised = self.controller.advance(self.now, &mut self.memory);
        assert!(raised.is_empty());
    }
}

/// After a shutdown has completed, a loss of power takes nothing; before it, it may.
#[test]
fn a_shutdown_makes_everything_safe() {
    for (notify, kept) in [(true, true), (false, false)] {
        let mut host = Host::new("samsung-951", &[("data", "keep"), ("state", "fresh")]);
        for n in 0..8 {
            assert_eq!(host.write(n * 8, &[7; 4096]).status(), StatusCode::SUCCESS);
        }
        if notify {
            let mut cc = Configuration::from_raw(host.read32(register::CC));
            cc.set_shutdown(1);
            host.write32(register::CC, cc.raw());
            assert_eq!(host.status().shutdown(), shutdown_status::OCCURRING);
            while host.status().shutdown() != shutdown_status::COMPLETE {
                assert!(host.next());
            }
        }
        let now = host.now;
        host.controller.drive_mut().power_loss(now);
        host.enable();
        host.set_queues(1);
        host.create_pair(1, 16);
        let all = (0..8).all(|n| host.read(n * 8, 8).1 == [7; 4096]);
        assert_eq!(all, kept);
    }
}

#[test]
fn interrupts_gather_as_the_features_say_and_the_pin_follows_the_queues() {
    let mut host = Host::new("samsung-951", &[]);
    let at = host.pages(PAGE);
    let mut setting = InterruptCoalescing::default();
    setting.set_threshold(1).set_time_100us(10);
    assert_eq!(
        host.set_feature(FeatureId::INTERRUPT_COALESCING, setting.raw())
            .status(),
        StatusCode::SUCCESS
    );
    assert_eq!(
        host.get_feature(FeatureId::INTERRUPT_COALESCING, 0, 0)
            .dw0(),
        setting.raw()
    );
    assert!(!host.controller.is_pin_asserted());
    let quiet = |host: &mut Host, reads: u64| {
        host.raised = assay_nvme_ctrl::VectorSet::default();
        let from = host.now;
        for n in 0..reads {
            host.put(1, read_at(n * 8, at));
        }
        host.ring(1);
        while !host.raised.contains(1) {
            assert!(host.next());
        }
        let waited = host.now - from;
        assert!(host.controller.is_pin_asserted());
        host.write32(register::INTMS, 0b10);
        assert!(!host.controller.is_pin_asserted());
        host.write32(register::INTMC, 0b10);
        host.live(host.now + Nanos::from_secs(1));
        host.poll(1);
        assert!(!host.controller.is_pin_asserted());
        waited
    };
    let alone = quiet(&mut host, 1);
    assert!(alone > Nanos::from_millis(1), "{alone}");
    let two = quiet(&mut host, 2);
    assert!(two < Nanos::from_millis(1), "{two}");
    let mut vector = InterruptVector::default();
    vector.set_vector(1).set_coalescing_disabled(true);
    assert_eq!(
        host.set_feature(FeatureId::INTERRUPT_VECTOR, vector.raw())
            .status(),
        StatusCode::SUCCESS
    );
    let alone = quiet(&mut host, 1);
    assert!(alone < Nanos::from_millis(1), "{alone}");
    assert_eq!(
        host.get_feature(FeatureId::INTERRUPT_VECTOR, 0, 1).dw0(),
        vector.raw()
    );
    assert_eq!(
        host.set_feature(FeatureId::INTERRUPT_VECTOR, 99).status(),
        StatusCode::INVALID_FIELD
    );
}

/// A profile's coalescing becomes the controller's.
#[test]
fn coalescing_comes_from_the_drive() {
    let mut host = Host::cold(drive("samsung-951", &[("coalescing", "100us/4")]));
    host.enable();
    assert_eq!(
        host.get_feature(FeatureId::INTERRUPT_COALESCING, 0, 0)
            .dw0(),
        0x0103
    );
}

/// Two submission queues may share a completion queue; entries say whose they are, and no room for one is no room for the other.
#[test]
fn submission_queues_share_a_completion_queue() {
    let mut host = Host::new("samsung-951", &[]);
    host.create_pair(2, 4);
    let sq = host.pages(PAGE);
    let mut create = CreateSubmissionQueue::new();
    create
        .set_qid(3)
        .set_size(7)
        .set_contiguous(true)
        .set_cqid(2);
    assert_eq!(host.admin(create.entry(), sq).status(), StatusCode::SUCCESS);
    let at = host.pages(PAGE);
    let mut seen = Vec::new();
    for round in 0..50_u16 {
        for n in 0..3 {
            host.put(2, read_at(u64::from(round) * 8 + n, at));
        }
        let (slot, mut other) = (u64::from(round % 8), read_at(u64::from(round) * 800, at));
        other.set_cid(round);
        assay_nvme_ctrl::HostMemory::write(&mut host.memory, sq + slot * 64, other.as_bytes())
            .unwrap();
        host.ring(2);
        host.write32(register::sq_doorbell(3, 0), u32::from(round + 1) % 8);
        let mut got = 0;
        while got < 4 {
            host.live(host.now + Nanos::from_millis(1));
            let entries = host.poll(2);
            assert!(!entries.is_empty() && entries.len() <= 3);
            got += entries.len();
            seen.extend(
                entries
                    .iter()
                    .filter(|entry| entry.sqid() == 3)
                    .map(|entry| entry.cid()),
            );
        }
    }
    assert_eq!(seen, (0..50).collect::<Vec<_>>());
}

/// Memory pages of 64 KiB: one PRP entry reaches as far.
#[test]
fn larger_memory_pages() {
    let mut host = Host::cold(drive("samsung-951", &[("data", "keep")]));
    host.write32(register::AQA, 0x001f_001f);
    let (sq, cq) = (host.pages(PAGE), host.pages(PAGE));
    host.controller
        .write_register(host.now, register::ASQ, 8, sq);
    host.controller
        .write_register(host.now, register::ACQ, 8, cq);
    let mut cc = Configuration::default();
    cc.set_enable(true)
        .set_mps(4)
        .set_io_sq_entry_size(6)
        .set_io_cq_entry_size(4);
    host.write32(register::CC, cc.raw());
    host.live(Nanos::from_millis(2));
    assert!(host.status().ready());
    host.adopt_admin(sq, cq);
    let queues = (support::BASE + (1 << 20)).next_multiple_of(1 << 16);
    host.create_pair_at(1, 16, queues, queues + (1 << 16));
    let data = queues + (2 << 16);
    let bytes: Vec<u8> = (0..131_072_u32).map(|n| (n / 7) as u8).collect();
    assay_nvme_ctrl::HostMemory::write(&mut host.memory, data + 4096, &bytes).unwrap();
    let mut write = assay_nvme_spec::nvm::Write::of(1, 0, 256).entry();
    // From 4 KiB into the first page: 60 KiB, 64 KiB, 4 KiB.
    let list = data + (4 << 16);
    for (n, page) in [1_u64, 2].into_iter().enumerate() {
        let page = data + (page << 16);
        assay_nvme_ctrl::HostMemory::write(
            &mut host.memory,
            list + 8 * n as u64,
            &page.to_le_bytes(),
        )
        .unwrap();
    }
    write.set_prps(data + 4096, list);
    assert_eq!(host.run(1, write).status(), StatusCode::SUCCESS);
    let mut read = Read::of(1, 0, 256).entry();
    let out = data + (8 << 16);
    for (n, page) in [1_u64, 2].into_iter().enumerate() {
        let page = out + (page << 16);
        assay_nvme_ctrl::HostMemory::write(
            &mut host.memory,
            list + 8 * n as u64,
            &page.to_le_bytes(),
        )
        .unwrap();
    }
    read.set_prps(out + 4096, list);
    assert_eq!(host.run(1, read).status(), StatusCode::SUCCESS);
    assert_eq!(host.bytes(out + 4096, 131_072), bytes);
}
