//! Format, Sanitize and self-test: what is erased is gone, how long it takes, and what is refused meanwhile.

mod support;

use assay_nvme_spec::admin::{
    AsyncEventRequest, DeviceSelfTest, FormatNvm, Sanitize, SanitizeAction, SecureErase,
    SelfTestCode,
};
use assay_nvme_spec::feature::{AsyncEvent, AsyncEventType, FeatureId, event};
use assay_nvme_spec::log::{LogId, SanitizeLog, SanitizeState, SelfTestLog};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::{NSID_ALL, StatusCode, register};
use assay_units::Nanos;
use support::{Host, PAGE};

fn format(index: u8, nsid: u32) -> FormatNvm {
    let mut format = FormatNvm::new();
    format.set_nsid(nsid).set_lba_format(index);
    format
}

fn keeping() -> Host {
    let mut host = Host::new("samsung-951", &[("data", "keep")]);
    assert_eq!(host.write(0, &[6; 4096]).status(), StatusCode::SUCCESS);
    host
}

#[test]
fn a_format_forgets_and_changes_the_block_size() {
    let mut host = keeping();
    let from = host.now;
    assert_eq!(
        host.admin(format(1, 1).entry(), 0).status(),
        StatusCode::SUCCESS
    );
    assert!(
        host.now > from + Nanos::from_millis(3),
        "at least one erase"
    );
    let space = host.namespace_data();
    assert_eq!(space.format().block_bytes(), Some(4096));
    assert_eq!(
        space.size_bytes(),
        Some(host.controller.drive().identity().capacity_bytes)
    );
    host.block_bytes = 4096;
    assert_eq!(host.read(0, 1), (StatusCode::SUCCESS, vec![0; 4096]));
    assert_eq!(host.write(5, &[8; 8192]).status(), StatusCode::SUCCESS);
    assert_eq!(host.read(5, 2).1, [8; 8192]);
    let blocks = space.size_blocks();
    assert_eq!(host.read(blocks, 1).0, StatusCode::LBA_OUT_OF_RANGE);
    let mut erase = format(0, NSID_ALL);
    erase.set_secure_erase(SecureErase::USER_DATA.0);
    assert_eq!(host.admin(erase.entry(), 0).status(), StatusCode::SUCCESS);
    host.block_bytes = 512;
    assert_eq!(host.read(40, 16).1, [0; 8192]);
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
        assert_eq!(
            host.admin(command.entry(), 0).status(),
            status,
            "{command:?}"
        );
    }
}

#[test]
fn nothing_is_served_while_the_namespace_is_formatted() {
    let mut host = keeping();
    let at = host.pages(PAGE);
    let cid = host.put(0, format(0, 1).entry());
    let second = host.put(0, format(0, 1).entry());
    host.ring(0);
    host.live(host.now + Nanos::from_micros(1));
    let mut read = Read::of(1, 0, 8).entry();
    read.set_prps(at, 0);
    assert_eq!(host.run(1, read).status(), StatusCode::FORMAT_IN_PROGRESS);
    assert_eq!(
        host.wait(0, second).status(),
        StatusCode::FORMAT_IN_PROGRESS
    );
    assert_eq!(host.wait(0, cid).status(), StatusCode::SUCCESS);
    assert_eq!(host.run(1, read).status(), StatusCode::SUCCESS);
}

#[test]
fn a_sanitize_goes_on_in_the_background_and_tells_of_its_end() {
    let mut host = keeping();
    let log = |host: &mut Host| SanitizeLog::read_from(&host.log(LogId::SANITIZE, 512)).unwrap();
    assert_eq!(log(&mut host).sanitize_state(), SanitizeState::NEVER);
    let told = host.put(0, AsyncEventRequest::new().entry());
    host.ring(0);
    let mut sanitize = Sanitize::new();
    for action in [
        SanitizeAction::OVERWRITE,
        SanitizeAction::CRYPTO_ERASE,
        SanitizeAction(0),
        SanitizeAction(7),
    ] {
        sanitize.set_action(action.0);
        assert_eq!(
            host.admin(sanitize.entry(), 0).status(),
            StatusCode::INVALID_FIELD
        );
    }
    sanitize.set_action(SanitizeAction::BLOCK_ERASE.0);
    let from = host.now;
    assert_eq!(
        host.admin(sanitize.entry(), 0).status(),
        StatusCode::SUCCESS
    );
    assert!(host.now < from + Nanos::from_millis(1), "it does not wait");
    let first = log(&mut host);
    assert_eq!(
        (first.sanitize_state(), first.command()),
        (SanitizeState::IN_PROGRESS, 2)
    );
    host.live(host.now + Nanos::from_millis(20));
    let second = log(&mut host);
    assert!(second.progress() > first.progress(), "{first:?} {second:?}");
    assert_eq!(host.read(0, 8).0, StatusCode::SANITIZE_IN_PROGRESS);
    for command in [
        sanitize.entry(),
        format(0, 1).entry(),
        DeviceSelfTest::new().entry(),
    ] {
        assert_eq!(
            host.admin(command, 0).status(),
            StatusCode::SANITIZE_IN_PROGRESS
        );
    }
    let event = AsyncEvent::from_raw(host.wait(0, told).dw0());
    assert_eq!(
        (event.event_type(), event.information(), event.lid()),
        (
            AsyncEventType::IO_SPECIFIC.0,
            event::SANITIZE_COMPLETED,
            LogId::SANITIZE.0
        )
    );
    let done = log(&mut host);
    assert_eq!(
        (done.sanitize_state(), done.progress(), done.erased()),
        (SanitizeState::COMPLETED, 0xffff, true)
    );
    assert_eq!(host.read(0, 8), (StatusCode::SUCCESS, vec![0; 4096]));
    host.write(0, &[1; 512]);
    assert!(!log(&mut host).erased());
    sanitize.set_action(SanitizeAction::EXIT_FAILURE_MODE.0);
    assert_eq!(
        host.admin(sanitize.entry(), 0).status(),
        StatusCode::SUCCESS
    );
}

/// A purge gives the flash back: the drive that was full of data writes as a fresh one does.
#[test]
fn a_sanitized_drive_holds_nothing_in_its_map() {
    let mut host = keeping();
    let full = host.controller.drive_mut().digest();
    let mut sanitize = Sanitize::new();
    sanitize.set_action(SanitizeAction::BLOCK_ERASE.0);
    host.admin(sanitize.entry(), 0);
    assert_ne!(host.controller.drive_mut().digest(), full);
    host.live(host.now + Nanos::from_secs(60));
    let from = host.now;
    let (status, bytes) = host.read(1 << 20, 8);
    assert_eq!((status, bytes), (StatusCode::SUCCESS, vec![0; 4096]));
    assert!(
        host.now - from < Nanos::from_micros(60),
        "no flash is read: {}",
        host.now - from
    );
}

#[test]
fn a_format_and_a_sanitize_end_a_self_test() {
    let mut host = Host::new("samsung-951", &[]);
    let log = |host: &mut Host| SelfTestLog::read_from(&host.log(LogId::SELF_TEST, 564)).unwrap();
    let mut test = DeviceSelfTest::new();
    test.set_nsid(NSID_ALL).set_code(SelfTestCode::EXTENDED.0);
    let mut sanitize = Sanitize::new();
    sanitize.set_action(SanitizeAction::BLOCK_ERASE.0);
    for (entry, result) in [(format(0, 1).entry(), 4), (sanitize.entry(), 9)] {
        let begun = host.admin(test.entry(), 0).status();
        assert_eq!(begun, StatusCode::SUCCESS);
        host.live(host.now + Nanos::from_secs(1));
        assert_eq!(host.admin(entry, 0).status(), StatusCode::SUCCESS);
        let ended = log(&mut host);
        let latest = ended.results()[0];
        assert_eq!(
            (ended.current(), latest.result(), latest.code()),
            (0, result, SelfTestCode::EXTENDED.0)
        );
        host.live(host.now + Nanos::from_secs(700));
        let later = log(&mut host).results()[1].result();
        assert_ne!(later, result, "told of once");
    }
}

#[test]
fn self_tests_run_end_and_are_logged() {
    let mut host = Host::new("samsung-951", &[("fault", "media-error@1m+4k")]);
    let log = |host: &mut Host| SelfTestLog::read_from(&host.log(LogId::SELF_TEST, 564)).unwrap();
    let test = |host: &mut Host, code: SelfTestCode| {
        let mut test = DeviceSelfTest::new();
        test.set_nsid(NSID_ALL).set_code(code.0);
        host.admin(test.entry(), 0).status()
    };
    assert!(
        log(&mut host)
            .results()
            .iter()
            .all(|result| result.result() == 0xf)
    );
    assert_eq!(test(&mut host, SelfTestCode::SHORT), StatusCode::SUCCESS);
    assert_eq!(
        test(&mut host, SelfTestCode::SHORT),
        StatusCode::SELF_TEST_IN_PROGRESS
    );
    host.live(host.now + Nanos::from_secs(30));
    let half = log(&mut host);
    assert_eq!(half.current(), SelfTestCode::SHORT.0);
    assert!(
        (49..=50).contains(&half.completion()),
        "{}",
        half.completion()
    );
    host.live(host.now + Nanos::from_secs(31));
    let done = log(&mut host);
    assert_eq!(
        (
            done.current(),
            done.results()[0].result(),
            done.results()[0].code()
        ),
        (0, 0, SelfTestCode::SHORT.0)
    );
    assert_eq!(test(&mut host, SelfTestCode::EXTENDED), StatusCode::SUCCESS);
    host.live(host.now + Nanos::from_secs(601));
    let bad = log(&mut host).results()[0];
    assert_eq!(
        (bad.result(), bad.failing_lba(), bad.lba_valid()),
        (7, 2048, true)
    );
    assert_eq!(test(&mut host, SelfTestCode::EXTENDED), StatusCode::SUCCESS);
    assert_eq!(test(&mut host, SelfTestCode::ABORT), StatusCode::SUCCESS);
    assert_eq!(log(&mut host).results()[0].result(), 1);
    assert_eq!(test(&mut host, SelfTestCode::SHORT), StatusCode::SUCCESS);
    host.write32(register::CC, 0);
    host.enable();
    let aborted = log(&mut host);
    assert_eq!((aborted.current(), aborted.results()[0].result()), (0, 2));
    assert_eq!(test(&mut host, SelfTestCode(9)), StatusCode::INVALID_FIELD);
    assert_eq!(
        host.get_feature(FeatureId::ARBITRATION, 0, 0).status(),
        StatusCode::SUCCESS
    );
}
