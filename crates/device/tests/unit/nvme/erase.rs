//! Scope and commands of an erase.

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{SanitizeAction, SecureErase};
use assay_nvme_spec::identify::{cmic, oacs, sanicap};
use assay_nvme_spec::log::SanitizeState;

use super::super::purge::{EraseError, PurgeMethod, erase, offers};
use super::{TableController, namespace, table_controller};

#[test]
fn the_scope_of_an_erase_is_determined_before_any_command() {
    let mut port = table_controller();
    let only = |port: &mut TableController| offers(port, 1).unwrap();
    let [format] = &only(&mut port)[..] else { panic!() };
    assert!(format.reaches_only(1));
    // A second namespace: a format still affects one.
    port.namespaces.insert(2, namespace(8));
    assert!(only(&mut port)[0].reaches_only(1));
    // Unless a secure erase affects all namespaces (FNA).
    port.controller.set_format_attributes(0b10);
    assert_eq!(only(&mut port)[0].reaches, [1, 2]);
    // A sanitize always affects all, including those attached to other controllers.
    port.controller
        .set_sanitize_capabilities(sanicap::BLOCK_ERASE | sanicap::CRYPTO_ERASE)
        .set_oacs(oacs::FORMAT | oacs::NAMESPACES);
    port.elsewhere = vec![7];
    let found = only(&mut port);
    assert_eq!(found.len(), 3);
    assert!(found[0].method == PurgeMethod::Sanitize(SanitizeAction::BLOCK_ERASE));
    assert_eq!(found[0].reaches, [1, 2, 7]);
    assert!(port.formatted.is_empty() && port.sanitized.is_empty());
}

#[test]
fn namespaces_of_other_controllers_are_considered() {
    let all_of = |port: &mut TableController| {
        port.controller.set_sanitize_capabilities(sanicap::BLOCK_ERASE);
        let found = offers(port, 1).unwrap();
        let beyond: Vec<bool> = found.iter().map(|o| o.beyond.is_some()).collect();
        let alone: Vec<bool> = found.iter().map(|o| o.reaches_only(1)).collect();
        (beyond, alone)
    };
    // Sanitize first, then format. Several ports to one controller hide nothing.
    let mut port = table_controller();
    port.controller.set_cmic(cmic::PORTS);
    assert_eq!(all_of(&mut port), (vec![false, false], vec![true, true]), "one controller");
    for several in [cmic::CONTROLLERS, cmic::VIRTUAL_FUNCTION] {
        let mut port = table_controller();
        port.controller.set_cmic(several);
        assert_eq!(all_of(&mut port), (vec![true, false], vec![false, true]));
        // A format of one that affects all has the same scope.
        port.controller.set_format_attributes(0b01);
        assert_eq!(all_of(&mut port), (vec![true, true], vec![false, false]));
        // It supports the list of all namespaces but rejects it.
        port.controller.set_format_attributes(0).set_oacs(oacs::FORMAT | oacs::NAMESPACES);
        port.no_allocated_list = true;
        assert_eq!(all_of(&mut port), (vec![true, false], vec![false, true]));
        // The list identifies namespaces of other controllers.
        port.no_allocated_list = false;
        assert_eq!(all_of(&mut port), (vec![false, false], vec![true, true]));
        port.elsewhere = vec![3];
        assert_eq!(all_of(&mut port), (vec![false, false], vec![false, true]));
    }
    // A full list may be incomplete.
    let mut port = table_controller();
    port.namespaces = (1..=1024).map(|nsid| (nsid, namespace(8))).collect();
    assert_eq!(all_of(&mut port), (vec![true, false], vec![false, true]));
    assert!(port.formatted.is_empty() && port.sanitized.is_empty());
}

#[test]
fn a_format_keeps_the_lba_format_and_falls_back_without_secure_erase() {
    let mut port = table_controller();
    let method = PurgeMethod::Format(SecureErase::USER_DATA);
    let done = erase(&mut port, 1, method, &mut |_| true).unwrap();
    assert_eq!((done, done.is_complete()), (method, true));
    assert_eq!(port.formatted, [(1, 1, 1)]);
    for status in
        [StatusCode::INVALID_FIELD, StatusCode::INVALID_OPCODE, StatusCode::INVALID_FORMAT]
    {
        port.no_secure_erase = Some(status);
        port.formatted.clear();
        let done = erase(&mut port, 1, method, &mut |_| true).unwrap();
        assert_eq!(done, PurgeMethod::Format(SecureErase::NONE));
        assert_eq!(done.words(), "formatted without a secure erase");
        assert!(!done.is_complete());
        assert_eq!(port.formatted, [(1, 1, 0)]);
    }
    // A supported command that failed is reported to the user.
    port.no_secure_erase = Some(StatusCode::FORMAT_IN_PROGRESS);
    port.formatted.clear();
    let error = erase(&mut port, 1, method, &mut |_| true).unwrap_err();
    assert!(matches!(error, EraseError::Command(_)), "{error:?}");
    assert!(port.formatted.is_empty());
}

#[test]
fn a_format_keeps_metadata_and_protection() {
    let mut port = table_controller();
    let method = PurgeMethod::Format(SecureErase::USER_DATA);
    // FLBAS (format 1, in bits 3:0) and DPS of the namespace; the requested format.
    for (formatted, protection, kept) in [
        (0x01, 0, (false, 0, false)),
        (0x11, 0, (true, 0, false)),
        (0x01, 0b0011, (false, 3, false)),
        (0x11, 0b1001, (true, 1, true)),
    ] {
        let namespace = port.namespaces.get_mut(&1).unwrap();
        namespace.set_formatted(formatted).set_protection_settings(protection);
        erase(&mut port, 1, method, &mut |_| true).unwrap();
        assert_eq!(port.kept, kept, "{formatted:#x} {protection:#b}");
        assert_eq!(port.formatted.pop(), Some((1, 1, 1)));
    }
}

#[test]
fn a_sanitize_is_awaited_and_reported() {
    let method = PurgeMethod::Sanitize(SanitizeAction::BLOCK_ERASE);
    let mut port = table_controller();
    port.sanitize = vec![0x4000, 0x8000];
    let mut seen = Vec::new();
    erase(&mut port, 1, method, &mut |share| {
        seen.push(share);
        true
    })
    .unwrap();
    assert_eq!(seen, [0.25, 0.5]);
    port.sanitize_ends = SanitizeState::FAILED;
    let failed = erase(&mut port, 1, method, &mut |_| true);
    assert!(matches!(failed, Err(EraseError::SanitizeFailed { .. })));
    port.sanitize = vec![0x8000];
    let left = erase(&mut port, 1, method, &mut |_| false);
    assert!(matches!(left, Err(EraseError::StillGoing { percent: 50, .. })), "{left:?}");
}
