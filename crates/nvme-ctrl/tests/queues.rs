//! Queues: creation and deletion, wrap-around, doorbells, shared completion queues, interrupts.

use crate::support;

use assay_nvme_spec::admin::{
    CreateCompletionQueue, CreateSubmissionQueue, DeleteCompletionQueue, DeleteSubmissionQueue,
};
use assay_nvme_spec::feature::{
    AsyncEvent, AsyncEventType, FeatureId, InterruptCoalescing, InterruptVector, event,
};
use assay_nvme_spec::register;
use assay_nvme_spec::{StatusCode, admin};
use assay_units::Nanos;
use support::{PAGE, TestDriver, drive, read_at};

#[test]
fn queues_are_created_and_deleted_as_specified() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let page = driver.pages(PAGE);
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
        create.set_qid(qid).set_size(size).set_contiguous(true).set_cqid(cqid);
        create.entry()
    };
    let mut scattered = CreateCompletionQueue::from(create_cq(2, 3, 0));
    scattered.set_contiguous(false);
    for (entry, prp1, status) in [
        (create_cq(0, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_cq(1, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_cq(9, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_cq(2, 0, 0), page, StatusCode::INVALID_QUEUE_SIZE),
        (create_cq(2, 16_384, 0), page, StatusCode::INVALID_QUEUE_SIZE),
        (create_cq(2, 3, 9), page, StatusCode::INVALID_INTERRUPT_VECTOR),
        (create_cq(2, 3, 0), page + 64, StatusCode::INVALID_PRP_OFFSET),
        (scattered.entry(), page, StatusCode::INVALID_FIELD),
        (create_sq(2, 3, 0), page, StatusCode::INVALID_QUEUE_ID),
        (create_sq(2, 3, 3), page, StatusCode::COMPLETION_QUEUE_INVALID),
        (create_sq(1, 3, 1), page, StatusCode::INVALID_QUEUE_ID),
        (create_sq(2, 0, 1), page, StatusCode::INVALID_QUEUE_SIZE),
    ] {
        assert_eq!(driver.admin(entry, prp1).status(), status, "{entry:?}");
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
    assert_eq!(driver.admin(delete_cq(1), 0).status(), StatusCode::INVALID_QUEUE_DELETION);
    assert_eq!(driver.admin(delete_cq(0), 0).status(), StatusCode::INVALID_QUEUE_ID);
    assert_eq!(driver.admin(delete_sq(5), 0).status(), StatusCode::INVALID_QUEUE_ID);
    let at = driver.pages(PAGE);
    driver.put(1, read_at(0, at));
    driver.ring(1);
    assert_eq!(driver.admin(delete_sq(1), 0).status(), StatusCode::SUCCESS);
    assert_eq!(driver.admin(delete_cq(1), 0).status(), StatusCode::SUCCESS);
    driver.advance_to(Nanos::from_secs(1));
    assert_eq!(driver.set_queues(4).submission(), 3, "allowed while no I/O queue exists");
    driver.create_pair(1, 8);
    assert_eq!(driver.run(1, read_at(0, at)).status(), StatusCode::SUCCESS);
    let again = driver.set_feature(FeatureId::NUMBER_OF_QUEUES, 0);
    assert_eq!(again.status(), StatusCode::COMMAND_SEQUENCE_ERROR);
}

/// More commands than the completion queue has entries, over many wraps: all complete, with correct
/// phase tags.
#[test]
fn queues_wrap_and_completion_queues_fill_up() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    driver.create_pair(2, 5);
    let at = driver.pages(PAGE);
    let mut waiting = std::collections::HashSet::new();
    let mut seen = 0;
    for round in 0..300_u64 {
        for _ in 0..4 {
            waiting.insert(driver.put(2, read_at(round * 8, at)));
        }
        driver.ring(2);
        // The completions are not consumed: a second batch finds the queue full.
        driver.advance_to(driver.now + Nanos::from_millis(1));
        for _ in 0..4 {
            waiting.insert(driver.put(2, read_at(round * 16, at)));
        }
        driver.ring(2);
        driver.advance_to(driver.now + Nanos::from_millis(1));
        while !waiting.is_empty() {
            for entry in driver.poll(2) {
                assert_eq!((entry.status(), entry.sqid()), (StatusCode::SUCCESS, 2));
                assert!(waiting.remove(&entry.cid()), "{entry:?}");
                seen += 1;
            }
            assert!(waiting.is_empty() || driver.next_event());
        }
    }
    assert_eq!(seen, 2400);
}

#[test]
fn invalid_doorbell_writes_raise_events() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let request = admin::AsyncEventRequest::new().entry();
    let cid = driver.put(0, request);
    driver.ring(0);
    driver.write32(register::sq_doorbell(7, 0), 1);
    let event_dw0 = AsyncEvent::from_raw(driver.wait(0, cid).dw0());
    assert_eq!(
        (event_dw0.event_type(), event_dw0.information(), event_dw0.lid()),
        (AsyncEventType::ERROR.0, event::INVALID_DOORBELL_REGISTER, 1)
    );
    driver.log(assay_nvme_spec::log::LogId::ERROR, 64);
    for offset in [register::sq_doorbell(1, 0), register::cq_doorbell(1, 0)] {
        let cid = driver.put(0, request);
        driver.ring(0);
        driver.write32(offset, 64);
        let event_dw0 = AsyncEvent::from_raw(driver.wait(0, cid).dw0());
        assert_eq!(event_dw0.information(), event::INVALID_DOORBELL_VALUE);
        driver.log(assay_nvme_spec::log::LogId::ERROR, 64);
    }
    driver.write32(register::cq_doorbell(1, 0), 3);
    driver.write32(1 << 20, 3);
    let at = driver.pages(PAGE);
    assert_eq!(
        driver.run(1, read_at(0, at)).status(),
        StatusCode::SUCCESS,
        "the controller still works"
    );
}

#[test]
fn interrupts_are_coalesced_and_the_pin_follows_the_queues() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let at = driver.pages(PAGE);
    let mut setting = InterruptCoalescing::default();
    setting.set_threshold(1).set_time_100us(10);
    assert_eq!(
        driver.set_feature(FeatureId::INTERRUPT_COALESCING, setting.raw()).status(),
        StatusCode::SUCCESS
    );
    assert_eq!(driver.get_feature(FeatureId::INTERRUPT_COALESCING, 0, 0).dw0(), setting.raw());
    assert!(!driver.controller.is_pin_asserted());
    let quiet = |driver: &mut TestDriver, reads: u64| {
        driver.raised = assay_nvme_ctrl::VectorSet::default();
        let from = driver.now;
        for n in 0..reads {
            driver.put(1, read_at(n * 8, at));
        }
        driver.ring(1);
        while !driver.raised.contains(1) {
            assert!(driver.next_event());
        }
        let waited = driver.now - from;
        assert!(driver.controller.is_pin_asserted());
        driver.write32(register::INTMS, 0b10);
        assert!(!driver.controller.is_pin_asserted());
        driver.write32(register::INTMC, 0b10);
        driver.advance_to(driver.now + Nanos::from_secs(1));
        driver.poll(1);
        assert!(!driver.controller.is_pin_asserted());
        waited
    };
    let alone = quiet(&mut driver, 1);
    assert!(alone > Nanos::from_millis(1), "{alone}");
    let two = quiet(&mut driver, 2);
    assert!(two < Nanos::from_millis(1), "{two}");
    let mut vector = InterruptVector::default();
    vector.set_vector(1).set_coalescing_disabled(true);
    assert_eq!(
        driver.set_feature(FeatureId::INTERRUPT_VECTOR, vector.raw()).status(),
        StatusCode::SUCCESS
    );
    let alone = quiet(&mut driver, 1);
    assert!(alone < Nanos::from_millis(1), "{alone}");
    assert_eq!(driver.get_feature(FeatureId::INTERRUPT_VECTOR, 0, 1).dw0(), vector.raw());
    assert_eq!(
        driver.set_feature(FeatureId::INTERRUPT_VECTOR, 99).status(),
        StatusCode::INVALID_FIELD
    );
}

/// The controller takes over the coalescing of the drive.
#[test]
fn coalescing_comes_from_the_drive() {
    let mut driver = TestDriver::powered_on(drive("samsung-951", &[("coalescing", "100us/4")]));
    driver.enable();
    assert_eq!(driver.get_feature(FeatureId::INTERRUPT_COALESCING, 0, 0).dw0(), 0x0103);
}

/// Two submission queues share a completion queue and its free entries.
#[test]
fn submission_queues_share_a_completion_queue() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    driver.create_pair(2, 4);
    let sq = driver.pages(PAGE);
    let mut create = CreateSubmissionQueue::new();
    create.set_qid(3).set_size(7).set_contiguous(true).set_cqid(2);
    assert_eq!(driver.admin(create.entry(), sq).status(), StatusCode::SUCCESS);
    let at = driver.pages(PAGE);
    let mut seen = Vec::new();
    for round in 0..50_u16 {
        for n in 0..3 {
            driver.put(2, read_at(u64::from(round) * 8 + n, at));
        }
        let (slot, mut other) = (u64::from(round % 8), read_at(u64::from(round) * 800, at));
        other.set_cid(round);
        assay_nvme_ctrl::HostMemory::write(&mut driver.memory, sq + slot * 64, other.as_bytes())
            .unwrap();
        driver.ring(2);
        driver.write32(register::sq_doorbell(3, 0), u32::from(round + 1) % 8);
        let mut got = 0;
        while got < 4 {
            driver.advance_to(driver.now + Nanos::from_millis(1));
            let entries = driver.poll(2);
            assert!(!entries.is_empty() && entries.len() <= 3);
            got += entries.len();
            seen.extend(entries.iter().filter(|entry| entry.sqid() == 3).map(|entry| entry.cid()));
        }
    }
    assert_eq!(seen, (0..50).collect::<Vec<_>>());
}
