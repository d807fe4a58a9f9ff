use serde_json::{Value, json};

use super::*;
use crate::assignment::tests::inventory;
use crate::claim;
use crate::shared_store::{Condition, open};

#[test]
fn states_come_from_claims_and_inventories() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path().to_str().unwrap()).unwrap();
    let text = "name = \"x\"\nsuites = [{ suite = \"quick\" }, { suite = \"quick\", set = { area \
                = \"1GiB\" } }]\n[drives]\nserials = \"l\"\n[store]\nat = \"/s\"\n";
    let plan = Plan::parse("plan.toml", text, &|_| Ok("A1\nA2\nB1\nC1\nTWO\n".to_owned())).unwrap();
    let id = plan.id().unwrap();
    let inventories = [inventory("h1", &["A1", "A2", "TWO"]), inventory("h2", &["B1", "TWO"])];
    let put = |serial: &str, state: &str, first: Value, reason: Value| {
        let suite = |outcome: Value, folder: &str| json!({ "folder": folder, "outcome": outcome, "io_error_attempts": 0, "bases": [{ "attempt": 1, "bytes": 0, "crc": 0 }] });
        let claim = json!({
            "format": claim::FORMAT, "plan": id, "serial": serial, "attempt": 2, "sequence": 3,
            "holder": { "host": "h9", "boot_id": null, "slot": null, "job": null, "token": "t" },
            "state": state, "reason": reason,
            "suites": [suite(first, "00-quick"), suite(Value::Null, "01-quick")],
        });
        let key = format!("claims/{id}/{serial}.json");
        store.put(&key, claim.to_string().as_bytes(), Condition::Any).unwrap();
    };
    put("A1", "running", json!("passed"), Value::Null);
    let prefix = format!("runs/{id}/A1/00-quick");
    let piece = format!("journal/000001-{:015}-3-{:08x}", 0, crc32c::crc32c(b"{}\n"));
    for name in ["manifest.json", "SHA256SUMS", &piece] {
        let key = format!("{prefix}/{name}");
        store.put(&key, b"{}\n", Condition::Any).unwrap();
    }
    put("B1", "interrupted", Value::Null, json!("drive-lost"));
    let status = status(&plan, &id, store.as_ref(), &inventories).unwrap();
    let rows: Vec<_> =
        status.drives.iter().map(|d| (d.serial.as_str(), d.state, d.progress)).collect();
    assert_eq!(
        rows,
        [
            ("A1", DriveTaskState::Running, 0.5),
            ("A2", DriveTaskState::Waiting, 0.0),
            ("B1", DriveTaskState::Interrupted, 0.0),
            ("C1", DriveTaskState::NotFound, 0.0),
            ("TWO", DriveTaskState::Refused, 0.0),
        ]
    );
    let host = |at: usize| status.drives[at].host.as_ref().map(HostName::as_str);
    // Of the last attempt; of the inventory; none.
    assert_eq!((host(0), host(1), host(3)), (Some("h9"), Some("h1"), None));
    assert_eq!(status.drives[0].suite.as_deref(), Some("01-quick"));
    assert_eq!(status.drives[2].reason.as_deref(), Some("drive-lost"));
    assert_eq!(status.drives[0].left_ns.map(|left| left * 2), status.drives[1].left_ns);
    // A complete suite that the store has lost does not count.
    assert_eq!(status.drives[0].missing, []);
    store.delete(&format!("{prefix}/SHA256SUMS")).unwrap();
    let now = super::status(&plan, &id, store.as_ref(), &inventories).unwrap();
    let a1 = &now.drives[0];
    assert_eq!((a1.state, a1.progress), (DriveTaskState::Running, 0.0));
    assert!(a1.missing[0].what.contains("SHA256SUMS"), "{a1:?}");
    // A damaged claim is named.
    store.put(&format!("claims/{id}/A2.json"), b"{", Condition::Any).unwrap();
    let error = super::status(&plan, &id, store.as_ref(), &inventories).unwrap_err().to_string();
    assert!(error.contains("A2.json") && error.contains("damaged"), "{error}");
}
