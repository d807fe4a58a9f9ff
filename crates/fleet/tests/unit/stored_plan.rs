use std::io;
use std::path::Path;

use super::*;
use crate::shared_store::open;

const SUITE: &str = include_str!("../../../../suites/quick.toml");

fn plan(drives: &str) -> Plan {
    let text = format!(
        "name = \"x\"\nsuites = [{{ suite = \"quick\" }}, {{ suite = \"my/own.toml\" \
         }}]\n[drives]\n{drives}\n[store]\nat = \"/s\"\n"
    );
    let read = |file: &str| match file {
        "my/own.toml" => Ok(SUITE.to_owned()),
        "list.csv" => Ok("serial,batch\nA1,x\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    Plan::parse("plan.toml", &text, &read).unwrap()
}

fn serials(texts: &[&str]) -> BTreeSet<Serial> {
    texts.iter().map(|text| Serial::parse(text).unwrap()).collect()
}

#[test]
fn a_stored_plan_is_the_same_plan() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path().to_str().unwrap()).unwrap();
    let plan = plan("serials = \"list.csv\"\ngroups = \"batch\"");
    let id = plan.id().unwrap();
    assert!(matches!(read(store.as_ref(), &id), Err(FleetError::NoPlan(_))));
    write(store.as_ref(), &id, &plan, []).unwrap();
    let stored = read(store.as_ref(), &id).unwrap();
    assert_eq!(stored.serials, serials(&["A1"]));
    assert_eq!(stored.plan.id().unwrap(), id);
    assert_eq!(stored.plan.suites[1].name, "own.toml");
    assert_eq!(stored.plan.suites[1].label, "own");
    assert_eq!(stored.plan.drives.groups.as_deref(), Some("batch"));
    // Another suite text under the same key is noticed.
    let key = format!("plans/{id}/own.toml");
    let changed = format!("{SUITE}\n# changed\n");
    store.put(&key, changed.as_bytes(), Condition::Any).unwrap();
    let error = read(store.as_ref(), &id).unwrap_err();
    assert!(matches!(error, FleetError::ChangedPlan { .. }), "{error}");
    assert!(Path::new(folder.path()).exists());
}

#[test]
fn drives_found_later_are_added_to_a_plan_without_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path().to_str().unwrap()).unwrap();
    let plan = plan("model = \"M\"");
    let id = plan.id().unwrap();
    write(store.as_ref(), &id, &plan, serials(&["A1"])).unwrap();
    write(store.as_ref(), &id, &plan, serials(&["B2"])).unwrap();
    let stored = read(store.as_ref(), &id).unwrap();
    assert_eq!(stored.serials, serials(&["A1", "B2"]));
    assert_eq!(stored.plan.drives.serials, None);
}
