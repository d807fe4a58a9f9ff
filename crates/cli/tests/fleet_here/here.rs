//! `assay fleet submit --here`: plan, submit, status of eight drives on two hosts.

use crate::fixture::{Fixture, MODEL};

/// `submit` as both hosts.
const SUBMIT: [&str; 8] = [
    "fleet",
    "submit",
    "plan.toml",
    "--here",
    "--host",
    "alpha",
    "--host",
    "beta",
];

#[test]
fn eight_drives_of_two_hosts_are_measured_once() {
    let fixture = Fixture::new();
    fixture.plan(
        &format!("model = \"{MODEL}\"\ngroups = \"lot\""),
        "share = \"together\"\nscale = 0.02",
    );
    let first = fixture.json(&SUBMIT);
    assert_eq!(first["counts"]["done"], 8, "{first:#}");
    let drives = first["drives"].as_array().unwrap();
    let hosts = |host: &str| drives.iter().filter(|d| d["host"] == host).count();
    assert_eq!((hosts("alpha"), hosts("beta")), (4, 4));
    assert!(
        drives
            .iter()
            .all(|d| d["attempts"] == 1 && d["progress"] == 1.0),
        "{first:#}"
    );
    // Again: nothing is left to do, and no drive has another attempt.
    let again = fixture.json(&SUBMIT);
    assert_eq!(again["drives"], first["drives"]);
    let status = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(status["drives"], first["drives"]);
}

#[test]
fn a_cancelled_plan_measures_nothing_more() {
    let fixture = Fixture::new();
    fixture.plan(
        &format!("model = \"{MODEL}\""),
        "share = \"together\"\nscale = 0.02",
    );
    let alpha = &SUBMIT[..6];
    fixture.json(alpha);
    fixture.text(0, &["fleet", "cancel", "plan.toml", "--here"]);
    fixture.error(3, &SUBMIT);
    let status = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(status["counts"]["done"], 4);
    let resumed: Vec<&str> = SUBMIT.into_iter().chain(["--resume"]).collect();
    assert_eq!(fixture.json(&resumed)["counts"]["done"], 8);
}
