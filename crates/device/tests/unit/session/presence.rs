use crate::spec::DriveSpec;

use super::super::SessionOptions;
use super::*;

fn open(spec: &str) -> DriveSession {
    DriveSession::open(&DriveSpec::parse(spec).unwrap(), &SessionOptions::default()).unwrap()
}

#[test]
fn a_drive_that_errs_answers_and_one_that_is_gone_does_not() {
    assert!(open("null:").answers());
    assert!(open("sim:samsung-951").answers());
    assert!(
        open("sim:samsung-951,fault=media-error@0+1m").answers(),
        "bad media at its start only"
    );
    let mut vanishing = open("sim:samsung-951,fault=vanish@2");
    assert!(vanishing.answers(), "its first read");
    assert!(!vanishing.answers());
}

#[test]
fn a_file_answers_until_it_is_cut_off_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let mut drive = open(path.to_str().unwrap());
    assert!(drive.answers());
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    assert!(!drive.answers());
    file.set_len(1 << 20).unwrap();
    assert!(drive.answers());
    std::fs::remove_file(&path).unwrap();
    assert!(!drive.answers());
}
