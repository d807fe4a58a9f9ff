//! `assay fleet inventory` and `assay fleet plan`.

use serde_json::json;

use crate::fixture::{Fixture, MODEL};

/// `--here` as both hosts.
const HERE: [&str; 5] = ["--here", "--host", "alpha", "--host", "beta"];

fn plan(here: &[&'static str]) -> Vec<&'static str> {
    ["fleet", "plan", "plan.toml"].iter().chain(here).copied().collect()
}

#[test]
fn an_inventory_names_the_drives_of_a_host() {
    let fixture = Fixture::new();
    let inventory = fixture.json(&["fleet", "inventory", "--host", "alpha"]);
    assert_eq!(inventory["host"], "alpha");
    let drives = inventory["drives"].as_array().unwrap();
    let simulated = drives.iter().filter(|drive| drive["simulated"] == true);
    let serials: Vec<&str> = simulated.map(|drive| drive["serial"].as_str().unwrap()).collect();
    let expected: Vec<String> = (1..=4).map(|n| format!("SIM-SAMSUNG-951-L1-{n}")).collect();
    assert_eq!(serials, expected);
    let text = fixture.text(0, &["fleet", "inventory", "--host", "alpha"]);
    assert!(text.contains("SIM-SAMSUNG-951-L1-4"), "{text}");
    fixture.error(2, &["fleet", "inventory", "--host", "a b"]);
}

#[test]
fn a_plan_shows_what_would_run_where() {
    let fixture = Fixture::new();
    fixture.write(
        "serials.txt",
        "SIM-SAMSUNG-951-L1-1\nSIM-SAMSUNG-951-L1-2\nSIM-SAMSUNG-951-L2-3\nGONE-1\n",
    );
    fixture.plan("serials = \"serials.txt\"\ngroups = \"lot\"", "share = \"together\"");
    let text = fixture.text(0, &plan(&HERE));
    insta::assert_snapshot!("plan", text);
    let json = fixture.json(&plan(&HERE));
    assert_eq!(json["hosts"][1]["drives"][0]["serial"], "SIM-SAMSUNG-951-L2-3");
    assert_eq!(json["hosts"][1]["drives"][0]["group"], "2");
    assert_eq!(json["left_out"][0]["reason"], "not_found");
    assert_eq!(json["share"], json!("together"));
    // A plan that is only looked at writes nothing.
    let written = std::fs::read_dir(fixture.path("store")).unwrap();
    assert_eq!(written.count(), 0);
    // Another host shows a drive of this one.
    fixture.write("drives/beta", "sim:samsung-951,lot=1,seed=1\n");
    let json = fixture.json(&plan(&HERE));
    let left: Vec<&str> = json["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l["reason"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["not_found", "on_several_hosts", "not_found"]);
}

#[test]
fn a_plan_of_a_model_needs_no_list() {
    let fixture = Fixture::new();
    fixture.plan(&format!("model = \"{MODEL}\""), "");
    let json = fixture.json(&plan(&HERE));
    let drives = |host: usize| json["hosts"][host]["drives"].as_array().unwrap().len();
    assert_eq!((drives(0), drives(1)), (4, 4));
    let id = json["plan"].as_str().unwrap();
    assert!(id.starts_with("lots-") && id.len() == 17, "{id}");
}

#[test]
fn errors_of_plans_end_before_anything_runs() {
    let fixture = Fixture::new();
    let none = fixture.error(2, &["fleet", "plan", "none.toml"]);
    assert!(none.contains("cannot read none.toml"), "{none}");
    fixture.plan("model = \"M\"", "shared = \"alone\"");
    let unknown = fixture.error(2, &plan(&HERE));
    assert!(
        unknown.contains("plan.toml: run.shared: there is no such key; did you mean \"share\"?"),
        "{unknown}"
    );
    // Destroying without a list is refused.
    fixture.plan("model = \"M\"", "destroy = true");
    let refused = fixture.error(3, &plan(&HERE));
    assert!(refused.contains("destroy = true needs the serials"), "{refused}");
    let schema = fixture.text(0, &["fleet", "plan", "--schema"]);
    assert!(schema.contains("\"$schema\"") && schema.contains("minimum_effect"));
}

#[test]
fn a_plan_tells_the_share_of_the_endurance_and_keeps_a_limit() {
    let fixture = Fixture::new();
    fixture.write("serials.txt", "SIM-SAMSUNG-951-L1-1\nSIM-SAMSUNG-951-L1-2\n");
    let consistency = |drives: &str, run: &str| {
        fixture.plan(
            &format!("serials = \"serials.txt\"\n{drives}"),
            &format!("destroy = true\n{run}"),
        );
        let text = std::fs::read_to_string(fixture.path("plan.toml")).unwrap();
        fixture.write("plan.toml", &text.replace("\"quick\"", "\"consistency\""));
    };
    consistency("endurance_tb = 75", "");
    let text = fixture.text(0, &plan(&HERE));
    let written = text.lines().find(|line| line.contains("written ")).unwrap();
    insta::assert_snapshot!("endurance", written);
    // Of the drive model, without the plan's.
    consistency("", "");
    let json = fixture.json(&plan(&HERE));
    let share = &json["hosts"][0]["drives"][0]["endurance"];
    assert_eq!(share["rated_by"], "simulated");
    assert!(share["by_size_pct"].as_f64() < share["most_pct"].as_f64(), "{share}");
    consistency("endurance_tb = 75", "endurance_limit_pct = 0.01");
    let json = fixture.json(&plan(&HERE));
    assert_eq!(json["hosts"], json!([]));
    assert_eq!(json["left_out"][1]["reason"], "over_endurance_limit");
}
