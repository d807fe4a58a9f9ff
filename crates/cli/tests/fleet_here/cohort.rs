//! `assay fleet cohort` on drives of a lot whose truth is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::fixture::Fixture;

/// Drives beyond the limit in a headline figure, with the names of those figures.
fn outliers(cohort: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for outlier in cohort["outliers"].as_array().unwrap() {
        let at = |list: &str, index: &str| &cohort[list][outlier[index].as_u64().unwrap() as usize];
        let name = at("figures", "figure")["figure"].as_str().unwrap();
        let serial = at("drives", "drive")["serial"].as_str().unwrap();
        // Figures of single cells have a slash.
        if !name.contains('/') {
            let figures = found.entry(serial.to_owned()).or_default();
            figures.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn the_one_drive_with_slower_flash_is_found_in_its_lot() {
    let fixture = Fixture::new();
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/samsung-951.toml");
    let profile = fs::read_to_string(profile).unwrap();
    // Sense times a tenth longer than those of the lot, which vary by 2 %.
    let slower = profile.replace("value = [34_000, 42_500]", "value = [37_400, 46_750]");
    assert_ne!(slower, profile);
    fixture.write("slow.toml", &slower);
    let slow = fixture.path("slow.toml").display().to_string();
    let lot: String = (1..=15).map(|seed| format!("sim:samsung-951,lot=1,seed={seed}\n")).collect();
    fixture.write("drives/alpha", &format!("{lot}sim:{slow},lot=1,seed=99\n"));
    fixture.plan("model = \"SAMSUNG\"", "share = \"together\"\nscale = 0.05");
    let submit = ["fleet", "submit", "plan.toml", "--here", "--host", "alpha"];
    assert_eq!(fixture.json(&submit)["counts"]["done"], 16);
    let cohort = fixture.json(&["fleet", "cohort", "plan.toml", "-o", "cohort.html"]);
    let found = outliers(&cohort["cohort"]);
    let serials: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(serials, ["SIM-SAMSUNG-951-L1-99"], "{found:#?}");
    assert!(found.values().all(|figures| figures.len() >= 3), "{found:#?}");
    let page = fs::read_to_string(fixture.path("cohort.html")).unwrap();
    assert!(page.contains("SIM-SAMSUNG-951-L1-99"));
    // The lot alone has none.
    fixture.text(0, &["fleet", "collect", "plan.toml", "-o", "collected"]);
    fs::remove_dir_all(fixture.path("collected/SIM-SAMSUNG-951-L1-99")).unwrap();
    let lot = fixture.json(&["fleet", "cohort", "collected"]);
    assert_eq!(lot["cohort"]["drives"].as_array().unwrap().len(), 15);
    assert_eq!(outliers(&lot["cohort"]), BTreeMap::new());
}
