use crate::spec::DriveSpec;

use super::super::SessionOptions;
use super::*;

fn open(spec: &str) -> DriveSession {
    DriveSession::open(&DriveSpec::parse(spec).unwrap(), &SessionOptions::default()).unwrap()
}

#[test]
fn a_failing_drive_is_present_and_a_removed_one_is_not() {
    assert!(open("null:").is_present());
    assert!(open("sim:samsung-951").is_present());
    assert!(
        open("sim:samsung-951,fault=media-error@0+1m").is_present(),
        "bad media at its start only"
    );
    let mut vanishing = open("sim:samsung-951,fault=vanish@2");
    assert!(vanishing.is_present(), "its first read");
    assert!(!vanishing.is_present());
}

#[test]
fn a_file_is_present_until_truncated_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let mut drive = open(path.to_str().unwrap());
    assert!(drive.is_present());
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    assert!(!drive.is_present());
    file.set_len(1 << 20).unwrap();
    assert!(drive.is_present());
    std::fs::remove_file(&path).unwrap();
    assert!(!drive.is_present());
}
