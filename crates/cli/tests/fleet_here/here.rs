//! `assay fleet submit --here`: plan, submit, status of eight drives on two hosts.

use crate::fixture::{Fixture, MODEL};

/// `submit` as both hosts.
const SUBMIT: [&str; 8] =
    ["fleet", "submit", "plan.toml", "--here", "--host", "alpha", "--host", "beta"];

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
    assert!(drives.iter().all(|d| d["attempts"] == 1 && d["progress"] == 1.0), "{first:#}");
    // Again: nothing is left to do, and no drive has another attempt.
    let again = fixture.json(&SUBMIT);
    assert_eq!(again["drives"], first["drives"]);
    let status = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(status["drives"], first["drives"]);
}

#[test]
fn a_cancelled_plan_measures_nothing_more() {
    let fixture = Fixture::new();
    fixture.plan(&format!("model = \"{MODEL}\""), "share = \"together\"\nscale = 0.02");
    let alpha = &SUBMIT[..6];
    fixture.json(alpha);
    fixture.text(0, &["fleet", "cancel", "plan.toml", "--here"]);
    fixture.error(3, &SUBMIT);
    let status = fixture.json(&["fleet", "status", "plan.toml"]);
    assert_eq!(status["counts"]["done"], 4);
    let resumed: Vec<&str> = SUBMIT.into_iter().chain(["--resume"]).collect();
    assert_eq!(fixture.json(&resumed)["counts"]["done"], 8);
}

#[test]
fn a_task_keeps_live_figures_of_its_drives_in_a_folder_of_the_host() {
    let fixture = Fixture::new();
    let folder = fixture.path("metrics");
    let run = format!("scale = 0.02\nmetrics = \"{}\"", folder.display());
    fixture.plan(&format!("model = \"{MODEL}\""), &run);
    let alpha = &SUBMIT[..6];
    let missing = fixture.error(2, alpha);
    assert!(missing.contains("the task of host alpha"), "{missing}");
    std::fs::create_dir(&folder).unwrap();
    fixture.json(alpha);
    let text = std::fs::read_to_string(folder.join("assay-fleet.prom")).unwrap();
    let value = |family: &str, serial: &str| -> f64 {
        let name = format!("assay_fleet_task_{family}{{");
        let label = format!("serial=\"{serial}\"");
        let mut lines = text.lines();
        let line = lines.find(|l| l.starts_with(&name) && l.contains(&label));
        let line = line.unwrap_or_else(|| panic!("{family} {serial} in {text}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    for drive in 1..=4 {
        let serial = format!("SIM-SAMSUNG-951-L1-{drive}");
        assert_eq!(value("progress_ratio", &serial), 1.0);
        assert_eq!(value("attempt", &serial), 1.0);
        assert_eq!(value("unshipped_bytes", &serial), 0.0);
        assert!(value("shipment_timestamp_seconds", &serial) > 1.7e9);
        assert!(value("temperature_celsius", &serial) > 20.0);
    }
    assert_eq!(text.matches("state=\"ended\"} 1\n").count(), 4);
}

#[test]
fn a_lost_drive_is_a_finding_and_the_others_of_its_host_are_measured() {
    let fixture = Fixture::new();
    // Gone again at every attempt, after as many I/Os.
    fixture.write(
        "drives/alpha",
        "sim:samsung-951,lot=1,seed=1,fault=vanish@30000\nsim:samsung-951,lot=1,seed=2\n",
    );
    fixture.plan(&format!("model = \"{MODEL}\""), "scale = 0.05");
    let alpha = &SUBMIT[..6];
    let words: Vec<&str> = alpha.iter().copied().chain(["--json"]).collect();
    let status: serde_json::Value = serde_json::from_str(&fixture.text(130, &words)).unwrap();
    let drive = |at: usize| {
        let drive = &status["drives"][at];
        (drive["state"].as_str().unwrap(), drive["reason"].as_str(), drive["attempts"].as_u64())
    };
    assert_eq!(drive(0), ("interrupted", Some("drive-lost"), Some(1)));
    assert_eq!(drive(1), ("done", None, Some(1)));
    let cell = status["drives"][0]["cell"].as_str().unwrap();
    assert!(cell.contains("random-read-threads"), "{cell}");
}

#[test]
fn a_plan_that_finds_no_drive_is_an_error() {
    let fixture = Fixture::new();
    fixture.plan("model = \"SAMSNUG\"", "");
    let error = fixture.error(2, &SUBMIT);
    assert!(error.contains("finds no drive"), "{error}");
}

#[test]
fn tasks_and_their_runs_write_events_that_are_no_reasons() {
    let fixture = Fixture::new();
    fixture.write("drives/alpha", "sim:samsung-951,lot=1,seed=1,fault=vanish@30000\n");
    fixture.plan(&format!("model = \"{MODEL}\""), "scale = 0.05");
    let words: Vec<&str> = SUBMIT[..6].iter().copied().chain(["--log", "info"]).collect();
    let stderr = fixture.error(130, &words);
    let serial = "SIM-SAMSUNG-951-L1-1";
    for event in [
        "INFO assay_fleet::claim: claim taken".to_owned(),
        "INFO assay_fleet::claim: claim released".to_owned(),
        format!("serial={serial} attempt=1 state=Interrupted reason=Some(\"drive-lost\")"),
        format!("action=Start {{ serial: Serial(\"{serial}\")"),
    ] {
        assert!(stderr.contains(&event), "{event} is missing: {stderr}");
    }
    let work = fixture.path("work");
    let found = std::process::Command::new("/usr/bin/find")
        .arg(&work)
        .args(["-name", "*.messages"])
        .output()
        .unwrap();
    let path = String::from_utf8(found.stdout).unwrap();
    let messages = std::fs::read_to_string(path.trim()).unwrap();
    assert!(messages.contains("WARN assay_execute::events: drive lost"), "{messages}");
}
