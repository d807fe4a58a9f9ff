use std::io;
use std::path::PathBuf;

use anyhow::Context;

use super::*;

const EIO: i32 = 5;

#[test]
fn an_unknown_error_is_an_io_error() {
    assert_eq!(code_of(&anyhow::anyhow!("something else")), 4);
    let error = anyhow::Error::from(io::Error::from_raw_os_error(EIO));
    assert_eq!(code_of(&error), 4);
}

#[test]
fn every_class_has_the_status_of_the_contract() {
    let statuses = [
        (ErrorClass::DriveFailed, 1),
        (ErrorClass::Usage, 2),
        (ErrorClass::Refused, 3),
        (ErrorClass::Io, 4),
        (ErrorClass::Internal, 4),
        (ErrorClass::InUse, 75),
    ];
    for (class, status) in statuses {
        assert_eq!(code_of_class(class), status, "{class:?}");
    }
}

#[test]
fn the_first_cause_with_a_class_determines_the_status() {
    let busy = || StoreError::Busy(PathBuf::from("run"));
    let error = Err::<(), _>(ExecuteError::from(busy())).context("cannot run");
    assert_eq!(code_of(&error.expect_err("an error")), 75);
    let error = anyhow::Error::from(UsageError("--x".into())).context("more");
    assert_eq!(code_of(&error), 2);
    let task = TaskStatus { status: 3, plan: "p".into() };
    assert_eq!(code_of(&task.into()), 3);
}

#[test]
fn a_file_on_a_failing_disk_is_no_matter_of_usage() {
    let source = || io::Error::from_raw_os_error(EIO);
    let profile = ProfileFileError::File(PathBuf::from("a.toml"), source());
    assert_eq!(code_of(&profile.into()), 4);
    let profile = ProfileFileError::File(PathBuf::from("a.toml"), io::ErrorKind::NotFound.into());
    assert_eq!(code_of(&profile.into()), 2);
    let path = "p.toml".to_owned();
    let plan = assay_fleet::plan::PlanError::File { path, source: source() };
    assert_eq!(code_of(&FleetError::from(plan).into()), 4);
}
