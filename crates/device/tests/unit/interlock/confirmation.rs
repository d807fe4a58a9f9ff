use super::*;
use crate::identity::DriveKind;
use crate::interlock::Refusal;

fn drive(serial: &str) -> DriveInfo {
    let mut info = DriveInfo::new(DriveKind::Block, "/dev/nvme0n1", "nvme0n1", 1 << 30);
    info.serial = serial.into();
    info.model = Some("Acme 9".into());
    info
}

fn found(word: &str) -> OnDevice {
    let signature = FoundSignature {
        word: word.into(),
        what: format!("an {word} filesystem"),
        offset_bytes: 1080,
    };
    OnDevice { device: "/dev/nvme0n1".into(), signature }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

#[test]
fn only_the_exact_serial_confirms_a_drive() {
    let info = drive("S5H9NX0R123");
    assert_eq!(missing(&info, &[], &strings(&["S5H9NX0R123"])), []);
    for (given, expected) in [
        ("s5h9nx0r123", "upper and lower"),
        (" S5H9NX0R123", "blanks"),
        ("S5H9NX0R12", "whole serial"),
        ("S5H9NX0R128", "one character"),
        ("nvme0n1", "kernel name"),
        ("/dev/nvme0n1", "path"),
        ("acme 9", "model"),
    ] {
        let Some(RefusalReason::NotNamed { near, .. }) = not_named(&info, &strings(&[given]))
        else {
            panic!("{given} counted")
        };
        assert!(near.len() == 1 && near[0].difference.contains(expected), "{given}: {near:?}");
    }
    let Some(RefusalReason::NotNamed { near, .. }) =
        not_named(&info, &strings(&["WD-OTHER", "ext4"]))
    else {
        panic!("counted")
    };
    assert_eq!(near, []);
}

#[test]
fn every_signature_must_be_named() {
    let info = drive("S1");
    let signatures = [found("gpt"), found("ext4"), found("ext4")];
    assert_eq!(missing(&info, &signatures, &strings(&["S1", "GPT", "ext4"])), []);
    let refusal = Refusal::new(&info, missing(&info, &signatures, &strings(&["gpt"])));
    assert_eq!(refusal.missing_words(), ["S1", "ext4"]);
    assert!(refusal.to_string().ends_with("add: --destroy S1 --destroy ext4"), "{refusal}");
}

#[test]
fn a_drive_named_like_its_file_system_needs_two_confirmations() {
    let info = drive("ext4");
    let refusal = Refusal::new(&info, missing(&info, &[found("ext4")], &strings(&["ext4"])));
    assert_eq!(refusal.missing_words(), ["ext4"]);
    assert_eq!(missing(&info, &[found("ext4")], &strings(&["ext4", "ext4"])), []);
    let refusal = Refusal::new(&info, missing(&info, &[found("ext4")], &[]));
    assert_eq!(refusal.missing_words(), ["ext4", "ext4"]);
}

#[test]
fn confirmations_are_quoted_for_the_shell() {
    let refusal = Refusal::new(&drive("AB 12'3"), missing(&drive("AB 12'3"), &[], &[]));
    assert!(refusal.to_string().ends_with("--destroy 'AB 12'\\''3'"), "{refusal}");
}

#[test]
fn no_confirmation_is_offered_for_a_drive_in_use() {
    let info = drive("S1");
    let mut reasons = missing(&info, &[found("ext4")], &[]);
    reasons.push(RefusalReason::Swap { device: "/dev/nvme0n1".into() });
    let refusal = Refusal::new(&info, reasons);
    assert!(matches!(refusal.reasons[0], RefusalReason::Swap { .. }));
    assert_eq!(refusal.missing_words(), Vec::<String>::new());
    assert!(!refusal.to_string().contains("add:"), "{refusal}");
}

#[test]
fn edit_distances() {
    for (a, b, edits) in [
        ("", "", 0),
        ("", "abc", 3),
        ("kitten", "sitting", 3),
        ("abc", "abc", 0),
        ("ab", "ba", 2),
        ("é", "e", 1),
    ] {
        assert_eq!(edit_distance(a, b), edits, "{a} {b}");
        assert_eq!(edit_distance(b, a), edits, "{b} {a}");
    }
}
