//! Health changes injected over QMP, and a controller with one power state.

use serde_json::{Value, json};

use crate::fixture::{MIB, number};
use crate::guest::Setup;

#[test]
fn health_changes_are_reported_and_missing_power_states_refused() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup.drive("disk", "GUEST-0001", "one", 64 * MIB).boot();
    let device = &guest.device("GUEST-0001");

    // Registers are not readable here; all other fields are reported.
    let probe = guest.json(&format!("probe {device}"));
    assert_eq!(probe["nvme"]["registers"], Value::Null);
    assert!(probe["nvme"]["registers_missing"].is_string(), "{probe:#}");
    assert_eq!(probe["nvme"]["health"]["critical_warnings"], json!([]));

    // Every flag by its name (Base 5.16.1.3, Critical Warning), set from outside.
    for (bits, names) in [
        (1, vec!["available spare below threshold"]),
        (4, vec!["reliability degraded"]),
        (8 | 16, vec!["media read-only", "volatile memory backup failed"]),
    ] {
        guest.qmp.set("disk", "smart_critical_warning", json!(bits));
        let probe = guest.json(&format!("probe {device}"));
        assert_eq!(probe["nvme"]["health"]["critical_warnings"], json!(names));
    }
    // A run on such a drive has a warning.
    let job = guest.json(&format!("job {device} --rw randread --io_size 1m"));
    let warnings = job["warnings"].as_array().unwrap();
    let of_drive = warnings.iter().find(|w| w["code"] == "critical-warning");
    let message = of_drive.unwrap()["message"].as_str().unwrap();
    assert!(message.contains("media read-only"), "{job:#}");

    // A flag raised during a job is in the job's telemetry from then on.
    guest.qmp.set("disk", "smart_critical_warning", json!(0));
    guest.ok(&format!(
        "assay job {device} --rw randread --runtime 1h --out watched --json >job 2>errors & true"
    ));
    guest.ok("until grep -qs telemetry watched/journal.log; do sleep 0.1; done");
    guest.ok("! grep -q 'reliability degraded' watched/journal.log");
    guest.qmp.set("disk", "smart_critical_warning", json!(4));
    guest.ok("until grep -q 'reliability degraded' watched/journal.log; do sleep 0.1; done");
    guest.ok("kill -INT $(pidof assay); while pidof assay >/dev/null; do sleep 0.1; done");
    let job: Value = serde_json::from_str(&guest.ok("cat job")).unwrap();
    assert_eq!(job["outcome"], "interrupted", "{job:#}");
    // And it is one warning with its cell, also in an interrupted job.
    let raised = |warnings: &Value| -> Vec<Value> {
        let all = warnings.as_array().unwrap().iter();
        all.filter(|w| w["code"] == "critical-warning-raised").cloned().collect()
    };
    let raised = raised(&job["warnings"]);
    assert_eq!(raised.len(), 1, "{job:#}");
    assert!(raised[0]["message"].as_str().unwrap().contains("reliability degraded"));
    assert!(
        raised[0]["cells"].as_array().unwrap().len() == 1 && raised[0]["drive"] == 0,
        "{job:#}"
    );
    guest.ok("assay report watched -o page.html && grep -q 'set a critical warning' page.html");
    let journal = guest.ok("cut -d ' ' -f 2- watched/journal.log");
    let telemetry: Vec<Value> = journal
        .lines()
        .filter(|line| line.contains("\"telemetry\""))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let degraded = |reading: &Value| {
        let names = reading["critical_warnings"].as_array();
        names.is_some_and(|names| names.contains(&json!("reliability degraded")))
    };
    let first = telemetry.iter().position(degraded).unwrap();
    assert!(first > 0 && telemetry[first..].iter().all(degraded), "{journal}");
    // This controller is always at 323 K.
    assert!(telemetry.iter().all(|t| number(t, "/temperature_c") == 50.0));
    guest.qmp.set("disk", "smart_critical_warning", json!(0));

    // It has one power state: that one is accepted, any other is refused before the start.
    let suite = "name = \"power\"\\ntitle = \"t\"\\nsource = \"a test\"\\nduration = \"a \
                 second\"\\nsummary = \"s\"\\n[parameters.states]\\nkind = \"list\"\\ndefault = \
                 \"0\"\\nhelp = \"h\"\\n[[step]]\\nid = \"reads\"\\ntitle = \"t\"\\nkind = \
                 \"measure\"\\nmatrix = { power_state = \"{states}\" }\\njob = { rw = \
                 \"randread\", bs = \"4k\", io_size = \"1m\", runtime = \"1s\" }\\n";
    guest.ok(&format!("printf '{suite}' >power.toml"));
    guest
        .assay(&format!("run ./power.toml {device} --set states=0,1 --out refused"))
        .refuses(2, &[device, "it has no power state 1, only 0;"]);
    guest.ok("[ ! -e refused ]");
    let run = guest.json(&format!("run ./power.toml {device} --set states=0"));
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    assert!(cells.len() == 1 && cells[0]["state"] == "finished", "{run:#}");
    guest.end();
}
