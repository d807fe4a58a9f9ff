//! Format, Sanitize and Device Self-test: effect, duration, and commands rejected meanwhile.

use crate::support;

use assay_nvme_spec::admin::{
    AsyncEventRequest, DeviceSelfTest, FormatNvm, Sanitize, SanitizeAction, SecureErase,
    SelfTestCode,
};
use assay_nvme_spec::feature::{AsyncEvent, AsyncEventType, FeatureId, event};
use assay_nvme_spec::log::{LogId, SanitizeLog, SanitizeState, SelfTestLog};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::{NSID_ALL, StatusCode, register};
use assay_units::Nanos;
use support::{PAGE, TestDriver};

fn format(index: u8, nsid: u32) -> FormatNvm {
    let mut format = FormatNvm::new();
    format.set_nsid(nsid).set_lba_format(index);
    format
}

fn with_data() -> TestDriver {
    let mut driver = TestDriver::new("samsung-951", &[("data", "keep")]);
    assert_eq!(driver.write(0, &[6; 4096]).status(), StatusCode::SUCCESS);
    driver
}

#[test]
fn a_format_purges_and_changes_the_block_size() {
    let mut driver = with_data();
    let from = driver.now;
    assert_eq!(driver.admin(format(1, 1).entry(), 0).status(), StatusCode::SUCCESS);
    assert!(driver.now > from + Nanos::from_millis(3), "at least one erase");
    let space = driver.namespace_data();
    assert_eq!(space.format().block_bytes(), Some(4096));
    assert_eq!(space.size_bytes(), Some(driver.controller.drive().identity().capacity_bytes));
    driver.block_bytes = 4096;
    assert_eq!(driver.read(0, 1), (StatusCode::SUCCESS, vec![0; 4096]));
    assert_eq!(driver.write(5, &[8; 8192]).status(), StatusCode::SUCCESS);
    assert_eq!(driver.read(5, 2).1, [8; 8192]);
    let blocks = space.size_blocks();
    assert_eq!(driver.read(blocks, 1).0, StatusCode::LBA_OUT_OF_RANGE);
    let mut erase = format(0, NSID_ALL);
    erase.set_secure_erase(SecureErase::USER_DATA.0);
    assert_eq!(driver.admin(erase.entry(), 0).status(), StatusCode::SUCCESS);
    driver.block_bytes = 512;
    assert_eq!(driver.read(40, 16).1, [0; 8192]);
    let mut protected = format(0, 1);
    protected.set_protection(1);
    let mut crypto = format(0, 1);
    crypto.set_secure_erase(SecureErase::CRYPTOGRAPHIC.0);
    for (command, status) in [
        (format(2, 1), StatusCode::INVALID_FORMAT),
        (format(17, 1), StatusCode::INVALID_FORMAT),
        (protected, StatusCode::INVALID_FORMAT),
        (crypto, StatusCode::INVALID_FIELD),
        (format(0, 3), StatusCode::INVALID_NAMESPACE),
    ] {
        assert_eq!(driver.admin(command.entry(), 0).status(), status, "{command:?}");
    }
}

#[test]
fn io_fails_during_a_format() {
    let mut driver = with_data();
    let at = driver.pages(PAGE);
    let cid = driver.put(0, format(0, 1).entry());
    let second = driver.put(0, format(0, 1).entry());
    driver.ring(0);
    driver.advance_to(driver.now + Nanos::from_micros(1));
    let mut read = Read::for_blocks(1, 0, 8).entry();
    read.set_prps(at, 0);
    assert_eq!(driver.run(1, read).status(), StatusCode::FORMAT_IN_PROGRESS);
    assert_eq!(driver.wait(0, second).status(), StatusCode::FORMAT_IN_PROGRESS);
    assert_eq!(driver.wait(0, cid).status(), StatusCode::SUCCESS);
    assert_eq!(driver.run(1, read).status(), StatusCode::SUCCESS);
}

#[test]
fn a_sanitize_runs_in_the_background_and_reports_its_end() {
    let mut driver = with_data();
    let log = |driver: &mut TestDriver| {
        SanitizeLog::read_from(&driver.log(LogId::SANITIZE, 512)).unwrap()
    };
    assert_eq!(log(&mut driver).sanitize_state(), SanitizeState::NEVER);
    let reported = driver.put(0, AsyncEventRequest::new().entry());
    driver.ring(0);
    let mut sanitize = Sanitize::new();
    for action in [
        SanitizeAction::OVERWRITE,
        SanitizeAction::CRYPTO_ERASE,
        SanitizeAction(0),
        SanitizeAction(7),
    ] {
        sanitize.set_action(action.0);
        assert_eq!(driver.admin(sanitize.entry(), 0).status(), StatusCode::INVALID_FIELD);
    }
    sanitize.set_action(SanitizeAction::BLOCK_ERASE.0);
    let from = driver.now;
    assert_eq!(driver.admin(sanitize.entry(), 0).status(), StatusCode::SUCCESS);
    assert!(driver.now < from + Nanos::from_millis(1), "it completes at once");
    let first = log(&mut driver);
    assert_eq!((first.sanitize_state(), first.command()), (SanitizeState::IN_PROGRESS, 2));
    driver.advance_to(driver.now + Nanos::from_millis(20));
    let second = log(&mut driver);
    assert!(second.progress() > first.progress(), "{first:?} {second:?}");
    assert_eq!(driver.read(0, 8).0, StatusCode::SANITIZE_IN_PROGRESS);
    for command in [sanitize.entry(), format(0, 1).entry(), DeviceSelfTest::new().entry()] {
        assert_eq!(driver.admin(command, 0).status(), StatusCode::SANITIZE_IN_PROGRESS);
    }
    let event = AsyncEvent::from_raw(driver.wait(0, reported).dw0());
    assert_eq!(
        (event.event_type(), event.information(), event.lid()),
        (AsyncEventType::IO_SPECIFIC.0, event::SANITIZE_COMPLETED, LogId::SANITIZE.0)
    );
    let done = log(&mut driver);
    assert_eq!(
        (done.sanitize_state(), done.progress(), done.erased()),
        (SanitizeState::COMPLETED, 0xffff, true)
    );
    assert_eq!(driver.read(0, 8), (StatusCode::SUCCESS, vec![0; 4096]));
    driver.write(0, &[1; 512]);
    assert!(!log(&mut driver).erased());
    sanitize.set_action(SanitizeAction::EXIT_FAILURE_MODE.0);
    assert_eq!(driver.admin(sanitize.entry(), 0).status(), StatusCode::SUCCESS);
}

/// A purge empties the map: reads need no flash access.
#[test]
fn a_sanitized_drive_has_an_empty_map() {
    let mut driver = with_data();
    let full = driver.controller.drive_mut().digest();
    let mut sanitize = Sanitize::new();
    sanitize.set_action(SanitizeAction::BLOCK_ERASE.0);
    driver.admin(sanitize.entry(), 0);
    assert_ne!(driver.controller.drive_mut().digest(), full);
    driver.advance_to(driver.now + Nanos::from_secs(60));
    let from = driver.now;
    let (status, bytes) = driver.read(1 << 20, 8);
    assert_eq!((status, bytes), (StatusCode::SUCCESS, vec![0; 4096]));
    assert!(driver.now - from < Nanos::from_micros(60), "no flash is read: {}", driver.now - from);
}

#[test]
fn format_and_sanitize_abort_a_self_test() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let log = |driver: &mut TestDriver| {
        SelfTestLog::read_from(&driver.log(LogId::SELF_TEST, 564)).unwrap()
    };
    let mut test = DeviceSelfTest::new();
    test.set_nsid(NSID_ALL).set_code(SelfTestCode::EXTENDED.0);
    let mut sanitize = Sanitize::new();
    sanitize.set_action(SanitizeAction::BLOCK_ERASE.0);
    for (entry, result) in [(format(0, 1).entry(), 4), (sanitize.entry(), 9)] {
        let begun = driver.admin(test.entry(), 0).status();
        assert_eq!(begun, StatusCode::SUCCESS);
        driver.advance_to(driver.now + Nanos::from_secs(1));
        assert_eq!(driver.admin(entry, 0).status(), StatusCode::SUCCESS);
        let ended = log(&mut driver);
        let latest = ended.results()[0];
        assert_eq!(
            (ended.current(), latest.result(), latest.code()),
            (0, result, SelfTestCode::EXTENDED.0)
        );
        driver.advance_to(driver.now + Nanos::from_secs(700));
        let later = log(&mut driver).results()[1].result();
        assert_ne!(later, result, "logged once");
    }
}

#[test]
fn self_tests_run_and_are_logged() {
    let mut driver = TestDriver::new("samsung-951", &[("fault", "media-error@1m+4k")]);
    let log = |driver: &mut TestDriver| {
        SelfTestLog::read_from(&driver.log(LogId::SELF_TEST, 564)).unwrap()
    };
    let test = |driver: &mut TestDriver, code: SelfTestCode| {
        let mut test = DeviceSelfTest::new();
        test.set_nsid(NSID_ALL).set_code(code.0);
        driver.admin(test.entry(), 0).status()
    };
    assert!(log(&mut driver).results().iter().all(|result| result.result() == 0xf));
    assert_eq!(test(&mut driver, SelfTestCode::SHORT), StatusCode::SUCCESS);
    assert_eq!(test(&mut driver, SelfTestCode::SHORT), StatusCode::SELF_TEST_IN_PROGRESS);
    driver.advance_to(driver.now + Nanos::from_secs(30));
    let half = log(&mut driver);
    assert_eq!(half.current(), SelfTestCode::SHORT.0);
    assert!((49..=50).contains(&half.completion()), "{}", half.completion());
    driver.advance_to(driver.now + Nanos::from_secs(31));
    let done = log(&mut driver);
    assert_eq!(
        (done.current(), done.results()[0].result(), done.results()[0].code()),
        (0, 0, SelfTestCode::SHORT.0)
    );
    assert_eq!(test(&mut driver, SelfTestCode::EXTENDED), StatusCode::SUCCESS);
    driver.advance_to(driver.now + Nanos::from_secs(601));
    let bad = log(&mut driver).results()[0];
    assert_eq!((bad.result(), bad.failing_lba(), bad.lba_valid()), (7, 2048, true));
    assert_eq!(test(&mut driver, SelfTestCode::EXTENDED), StatusCode::SUCCESS);
    assert_eq!(test(&mut driver, SelfTestCode::ABORT), StatusCode::SUCCESS);
    assert_eq!(log(&mut driver).results()[0].result(), 1);
    assert_eq!(test(&mut driver, SelfTestCode::SHORT), StatusCode::SUCCESS);
    driver.write32(register::CC, 0);
    driver.enable();
    let aborted = log(&mut driver);
    assert_eq!((aborted.current(), aborted.results()[0].result()), (0, 2));
    assert_eq!(test(&mut driver, SelfTestCode(9)), StatusCode::INVALID_FIELD);
    assert_eq!(driver.get_feature(FeatureId::ARBITRATION, 0, 0).status(), StatusCode::SUCCESS);
}
