//! Features: power states, autonomous transitions, values and their limits, requests of events.

use crate::support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::admin::{AsyncEventRequest, GetFeatures, SetFeatures, select};
use assay_nvme_spec::feature::{AutonomousTable, FeatureId};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::{StatusCode, register};
use assay_units::Nanos;
use support::{BASE, PAGE, TestDriver};

#[test]
fn power_states_change_latency_and_power() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let at = driver.pages(PAGE);
    let read = |driver: &mut TestDriver, place: u64| {
        let mut read = Read::for_blocks(1, place << 21, 8).entry();
        read.set_prps(at, 0);
        let from = driver.now;
        assert_eq!(driver.run(1, read).status(), StatusCode::SUCCESS);
        driver.now - from
    };
    assert!(read(&mut driver, 1) < Nanos::from_millis(1));
    assert_eq!(driver.set_feature(FeatureId::POWER_MANAGEMENT, 4).status(), StatusCode::SUCCESS);
    assert_eq!(driver.get_feature(FeatureId::POWER_MANAGEMENT, 0, 0).dw0(), 4);
    driver.advance_to(Nanos::from_secs(10));
    assert_eq!(driver.controller.drive_mut().telemetry(Nanos::from_secs(10)).power_mw, 5);
    assert!(read(&mut driver, 2) >= Nanos::from_millis(22), "it leaves state 4 in 22 ms");
    assert_eq!(
        driver.set_feature(FeatureId::POWER_MANAGEMENT, 5).status(),
        StatusCode::INVALID_FIELD
    );
    assert_eq!(driver.get_feature(FeatureId::POWER_MANAGEMENT, select::DEFAULT, 0).dw0(), 0);
    let mut lower = TestDriver::new("samsung-951", &[("ps", "2")]);
    assert_eq!(lower.get_feature(FeatureId::POWER_MANAGEMENT, 0, 0).dw0(), 2);
    // A reset restores the initial state.
    driver.set_feature(FeatureId::POWER_MANAGEMENT, 2);
    driver.enable();
    assert_eq!(driver.get_feature(FeatureId::POWER_MANAGEMENT, 0, 0).dw0(), 0);
    assert_eq!(driver.controller.drive_mut().telemetry(Nanos::ZERO).power_state, 0);
}

#[test]
fn a_host_sets_up_autonomous_transitions() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    assert_eq!(driver.get_feature(FeatureId::AUTONOMOUS_POWER, 0, 0).dw0(), 0);
    let at = driver.pages(PAGE);
    let mut table = AutonomousTable::default();
    let mut entries = table.transitions();
    for entry in &mut entries[..3] {
        entry.set_state(3).set_idle_ms(100);
    }
    entries[3].set_state(4).set_idle_ms(400);
    table.set_transitions(entries);
    let set = |driver: &mut TestDriver, table: &AutonomousTable| {
        driver.memory.write(at, table.as_bytes()).expect("mapped memory");
        let mut set = SetFeatures::new();
        set.set_fid(FeatureId::AUTONOMOUS_POWER.0).set_value(1);
        driver.admin(set.entry(), at).status()
    };
    assert_eq!(set(&mut driver, &table), StatusCode::SUCCESS);
    let from = driver.now;
    for (after_ms, state) in [(90, 0), (200, 3), (490, 3), (1000, 4)] {
        let at = from + Nanos::from_millis(after_ms);
        assert_eq!(driver.controller.drive_mut().telemetry(at).power_state, state, "{after_ms} ms");
    }
    // A non-operational state selected by a driver does not change later autonomous transitions.
    driver.now = from + Nanos::from_secs(1);
    assert_eq!(driver.set_feature(FeatureId::POWER_MANAGEMENT, 4).status(), StatusCode::SUCCESS);
    let buffer = driver.pages(PAGE);
    let mut wake = Read::for_blocks(1, 0, 8).entry();
    wake.set_prps(buffer, 0);
    assert_eq!(driver.run(1, wake).status(), StatusCode::SUCCESS);
    let transitions = driver.controller.drive_mut().autonomous_transitions();
    assert_eq!(transitions, [(Nanos::from_millis(100), 3), (Nanos::from_millis(500), 4)]);
    let from = driver.now;
    for (after_ms, state) in [(90, 0), (200, 3), (490, 3), (1000, 4)] {
        let at = from + Nanos::from_millis(after_ms);
        assert_eq!(
            driver.controller.drive_mut().telemetry(at).power_state,
            state,
            "{after_ms} ms after the wake-up"
        );
    }
    let mut get = GetFeatures::new();
    get.set_fid(FeatureId::AUTONOMOUS_POWER.0);
    driver.now = from + Nanos::from_secs(1);
    let page = driver.pages(PAGE);
    assert_eq!(driver.admin(get.entry(), page).dw0(), 1);
    assert_eq!(driver.bytes(page, 256), table.as_bytes());
    let mut wrong = table;
    entries[0].set_state(2);
    wrong.set_transitions(entries);
    assert_eq!(set(&mut driver, &wrong), StatusCode::INVALID_FIELD, "state 2 is operational");
    entries[0].set_state(9);
    wrong.set_transitions(entries);
    assert_eq!(set(&mut driver, &wrong), StatusCode::INVALID_FIELD, "there is no state 9");
    // The profile's own table with autonomous transitions on.
    let mut driver = TestDriver::new("samsung-951", &[("apst", "on")]);
    let page = driver.pages(PAGE);
    assert_eq!(driver.admin(get.entry(), page).dw0(), 1);
    let entries = AutonomousTable::read_from(&driver.bytes(page, 256)).unwrap().transitions();
    let reported: Vec<_> =
        entries[..5].iter().map(|entry| (entry.state(), entry.idle_ms())).collect();
    assert_eq!(reported, [(3, 275), (3, 275), (3, 275), (4, 925), (0, 0)]);
    let mut never = TestDriver::new("intel-p3700", &[]);
    assert_eq!(
        never.get_feature(FeatureId::AUTONOMOUS_POWER, 0, 0).status(),
        StatusCode::INVALID_FIELD
    );
}

#[test]
fn features_are_read_set_and_rejected() {
    let mut driver = TestDriver::new("samsung-951", &[]);
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
                driver.get_feature(fid, select, 0).status(),
                StatusCode::SUCCESS,
                "{fid}, select {select}"
            );
        }
        assert_eq!(driver.get_feature(fid, 4, 0).status(), StatusCode::INVALID_FIELD);
    }
    assert_eq!(
        driver.get_feature(FeatureId::HOST_MEMORY_BUFFER, 0, 0).status(),
        StatusCode::INVALID_FIELD
    );
    assert_eq!(
        driver.set_feature(FeatureId::SOFTWARE_PROGRESS, 0).status(),
        StatusCode::INVALID_FIELD
    );
    let mut save = SetFeatures::new();
    save.set_fid(FeatureId::ARBITRATION.0).set_save(true);
    assert_eq!(driver.admin(save.entry(), 0).status(), StatusCode::FEATURE_NOT_SAVEABLE);
    driver.set_feature(FeatureId::ARBITRATION, 0x0102_0305);
    assert_eq!(driver.get_feature(FeatureId::ARBITRATION, 0, 0).dw0(), 0x0102_0305);
    assert_eq!(driver.get_feature(FeatureId::ARBITRATION, select::SAVED, 0).dw0(), 0);
    // Default and saved values of the interrupt features differ from the current ones.
    driver.set_feature(FeatureId::INTERRUPT_COALESCING, 0x0507);
    driver.set_feature(FeatureId::INTERRUPT_VECTOR, 1 << 16 | 1);
    for (fid, value, now, shipped) in [
        (FeatureId::INTERRUPT_COALESCING, 0, 0x0507, 0),
        (FeatureId::INTERRUPT_VECTOR, 1, 1 << 16 | 1, 1),
    ] {
        for (which, expected) in
            [(select::CURRENT, now), (select::DEFAULT, shipped), (select::SAVED, shipped)]
        {
            let got = driver.get_feature(fid, which, value).dw0();
            assert_eq!(got, expected, "{fid}, select {which}");
        }
    }
    assert_eq!(
        driver.set_feature(FeatureId::ERROR_RECOVERY, 1 << 16).status(),
        StatusCode::INVALID_FIELD
    );
    assert_eq!(driver.set_feature(FeatureId::ERROR_RECOVERY, 50).status(), StatusCode::SUCCESS);
    assert_eq!(
        driver.set_feature(FeatureId::NUMBER_OF_QUEUES, 0xffff_0000).status(),
        StatusCode::INVALID_FIELD
    );
    // The timestamp counts on from its set value.
    driver.memory.write(BASE + (61 << 20), &1_000_000_u64.to_le_bytes()).unwrap();
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::TIMESTAMP.0);
    assert_eq!(driver.admin(set.entry(), BASE + (61 << 20)).status(), StatusCode::SUCCESS);
    driver.advance_to(driver.now + Nanos::from_secs(5));
    driver.get_feature(FeatureId::TIMESTAMP, 0, 0);
    let stamp = driver.bytes(BASE + (60 << 20), 8);
    let ms = u64::from_le_bytes([stamp[0], stamp[1], stamp[2], stamp[3], stamp[4], stamp[5], 0, 0]);
    assert!((1_005_000..1_005_010).contains(&ms), "{ms}");
    assert_eq!(stamp[6] >> 1 & 7, 1);
    assert_eq!(driver.read32(register::CSTS) & 1, 1);
}

#[test]
fn event_requests_are_limited_and_can_be_aborted() {
    use assay_nvme_spec::admin::Abort;
    let mut driver = TestDriver::new("samsung-951", &[]);
    let cids: Vec<u16> = (0..5).map(|_| driver.put(0, AsyncEventRequest::new().entry())).collect();
    driver.ring(0);
    assert_eq!(driver.wait(0, cids[4]).status(), StatusCode::AER_LIMIT_EXCEEDED);
    let mut abort = Abort::new();
    abort.set_aborted_cid(cids[1]);
    assert_eq!(driver.admin(abort.entry(), 0).dw0(), 0);
    let aborted = driver.others.iter().find(|other| other.cid() == cids[1]).unwrap();
    assert_eq!(aborted.status(), StatusCode::ABORT_REQUESTED);
    assert_eq!(driver.admin(abort.entry(), 0).dw0(), 1, "it is gone");
    abort.set_sqid(1).set_aborted_cid(77);
    assert_eq!(driver.admin(abort.entry(), 0).dw0(), 1);
}
