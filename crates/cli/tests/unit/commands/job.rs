use assay_device::session::simulated_drives_built;
use clap::Parser;

use super::*;
use crate::args::{Arguments, Command};

/// The measured drive, and the reference instance that its controller is probed on. (The drive was
/// opened twice: four.)
#[test]
fn a_job_opens_its_drive_once() {
    let before = simulated_drives_built();
    let typed = "assay job sim:samsung-951 --rw randread --runtime 10ms";
    let Command::Job(arguments) = Arguments::parse_from(typed.split(' ')).command else {
        panic!("not a job");
    };
    let outcome = run(*arguments, Output { json: true }).unwrap();
    assert_eq!(outcome, CommandOutcome::Done);
    assert_eq!(simulated_drives_built() - before, 2);
}
