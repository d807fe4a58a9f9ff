use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::*;

const ENOENT: i32 = 2;
const EIO: i32 = 5;

fn plan_file(code: i32) -> FleetError {
    FleetError::Plan(PlanError::File {
        path: "plan.toml".into(),
        source: io::Error::from_raw_os_error(code),
    })
}

#[test]
fn a_plan_that_is_missing_is_a_matter_of_usage_and_a_failing_disk_is_not() {
    assert_eq!(plan_file(ENOENT).class(), ErrorClass::Usage);
    assert_eq!(plan_file(EIO).class(), ErrorClass::Io);
}

#[test]
fn a_list_of_serials_on_a_failing_disk_is_no_matter_of_usage() {
    let error = PlanError::SerialsFile {
        path: "plan.toml".into(),
        list: "serials".into(),
        source: io::Error::from_raw_os_error(EIO),
    };
    assert_eq!(error.class(), ErrorClass::Io);
}

#[test]
fn a_task_has_the_class_of_its_status() {
    let class = |code: i32| {
        let status = ExitStatus::from_raw(code << 8);
        let host = "h1".parse().expect("a host name");
        FleetError::Task { host, status }.class()
    };
    assert_eq!(class(2), ErrorClass::Usage);
    assert_eq!(class(3), ErrorClass::Refused);
    assert_eq!(class(75), ErrorClass::InUse);
    assert_eq!(class(4), ErrorClass::Io);
    assert_eq!(class(101), ErrorClass::Io);
}
